// Cliff, tasks: n middlewares, each adds a value to the context and asks for the user's name, which
// the first one added: Value walks the whole chain.
package main

import (
	"context"

	"taskscale/sdk"
)

type key int

func serve(n int) uint64 {
	ctx := context.WithValue(context.Background(), key(-1), uint64(1))
	var sum uint64
	for i := 0; i < n; i++ {
		ctx = context.WithValue(ctx, key(i), i)
		sum += ctx.Value(key(-1)).(uint64)
	}
	return sum
}

func main() {
	sdk.Variant("middleware", "WithValue", func(run *sdk.Run) (sdk.Timing, error) {
		return run.Time(func(_ *sdk.Phases) uint64 { return serve(int(run.Size)) }), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("go_context_chain", "1")
}
