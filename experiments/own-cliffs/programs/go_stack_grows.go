// Control, a step: recursion n deep in a new goroutine. The stack doubles and is copied, now and
// then, so that the cost is linear with steps.
package main

import "taskscale/sdk"

type tree struct {
	next  *tree
	value uint64
}

//go:noinline
func (t *tree) sum() uint64 {
	if t == nil {
		return 0
	}
	rest := t.next.sum()
	return rest + t.value
}

func main() {
	sdk.Variant("sum", "recursion", func(run *sdk.Run) (sdk.Timing, error) {
		var list *tree
		for range run.Size {
			list = &tree{next: list, value: 3}
		}
		return run.Time(func(_ *sdk.Phases) uint64 {
			done := make(chan uint64)
			go func() { done <- list.sum() }()
			return <-done
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("go_stack_grows", "1")
}
