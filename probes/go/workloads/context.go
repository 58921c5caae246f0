package workloads

import (
	"context"
	"fmt"
	"runtime"

	"taskscale/sdk"
)

// declareContext declares `context`: size awaits, behind each of which a goroutine reads one of the `variables` values that
// its context has. Two goroutines share the awaits, each with values of its own, so one of another context is wrong.
// Without variables nothing is read. Answer of an iteration: the number of awaits behind which the value was right.
func declareContext() {
	sdk.Param("context", "variables", 1, "values that the context has: 0, 1 or 8")
	sdk.Variant("context", "WithValue", carrying(suspending), sdk.CreatesTask(false), sdk.Note("runtime.Gosched()"))
	sdk.Variant("context", "WithValue/go", carrying(asking), sdk.Note("a goroutine for each await, with the context as an argument"))
}

// key is what values of this workload are found by.
type key uint64

// carrying performs a form: what a goroutine does that gives so many variables their values.
func carrying(form func(ctx context.Context, awaits, first, variables uint64) uint64) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		variables := run.Integer("variables")
		if variables != 0 && variables != 1 && variables != 8 {
			return sdk.Timing{}, fmt.Errorf("variables is %d; give 0, 1 or 8", variables)
		}
		return run.Time(func(*sdk.Phases) uint64 {
			right := make(chan uint64, 2)
			begin := func(awaits, first uint64) {
				ctx := context.Background()
				for k := uint64(0); k < variables; k++ {
					ctx = context.WithValue(ctx, key(k), first+k)
				}
				right <- form(ctx, awaits, first, variables)
			}
			go begin(run.Size/2, 1000)
			go begin(run.Size-run.Size/2, 2000)
			return <-right + <-right
		}), nil
	}
}

// holds says whether the context has that value.
func holds(ctx context.Context, k key, value uint64) bool {
	got, there := ctx.Value(k).(uint64)
	return there && got == value
}

// suspending gives way to others, and then reads.
func suspending(ctx context.Context, awaits, first, variables uint64) (right uint64) {
	if variables == 0 {
		for i := uint64(0); i < awaits; i++ {
			runtime.Gosched()
		}
		return awaits
	}
	for i := uint64(0); i < awaits; i++ {
		runtime.Gosched()
		if k := i % variables; holds(ctx, key(k), first+k) {
			right++
		}
	}
	return right
}

// asking starts a goroutine that reads, and waits for it.
func asking(ctx context.Context, awaits, first, variables uint64) (right uint64) {
	was := make(chan bool)
	for i := uint64(0); i < awaits; i++ {
		if variables == 0 {
			go func() { was <- true }()
		} else {
			k := i % variables
			go func() { was <- holds(ctx, key(k), first+k) }()
		}
		if <-was {
			right++
		}
	}
	return right
}
