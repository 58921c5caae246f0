package workloads

import (
	"context"

	"taskscale/sdk"
)

// declareCancel declares `cancel`: size goroutines that all wait for what never comes, cancelled and collected, both of which is
// timed. That all wait is made sure of as parked does it. Answer of an iteration: the number that was seen cancelled.
func declareCancel() {
	sdk.Param("cancel", "on", "event", "what goroutines wait for, beside their context: a channel that nothing closes; an hour to "+
		"pass", "event", "timer")
	sdk.Param("cancel", "first", "oldest", "which goroutine is cancelled first", "oldest", "newest")
	oldest := sdk.Only("first", "oldest")
	whyOne := func(what string) sdk.Option { return sdk.Note(what + "; " + whyMax) }
	sdk.Variant("cancel", "context/shared", cancelling(shared), sdk.MaxSize(maxTasks), oldest, whyOne("all wait on one context"))
	sdk.Variant("cancel", "context/derived", cancelling(derived), sdk.MaxSize(maxTasks), oldest,
		whyOne("each has a context of its own, and their parent is cancelled"))
	sdk.Variant("cancel", "context/derived_each", cancelling(derivedEach), sdk.MaxSize(maxTasks),
		whyOne("the same, and each is cancelled for itself"))
	sdk.Variant("cancel", "context/chain", cancelling(chain), sdk.MaxSize(maxChain), oldest,
		sdk.Note("each context is derived from the one before; cancelling them is a call inside a call"))
	sdk.Variant("cancel", "context/AfterFunc", afterFunc, sdk.MaxSize(maxTasks), oldest, sdk.Only("on", "event"),
		whyOne("no goroutine waits: each function is called in one of its own"))
}

// A call that cancels one context has some 200 bytes of stack, which ends at 1 GB.
const maxChain = 1 << 20

// A context for each of n goroutines, and what cancels them all.
type contexts func(n int, newest bool) (all []context.Context, cancel func())

func shared(n int, _ bool) ([]context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	all := make([]context.Context, n)
	for i := range all {
		all[i] = ctx
	}
	return all, cancel
}

func derived(n int, _ bool) ([]context.Context, func()) {
	all, _, cancel := children(n)
	return all, cancel
}

func derivedEach(n int, newest bool) ([]context.Context, func()) {
	all, cancels, _ := children(n)
	return all, func() {
		for i := range cancels {
			if newest {
				i = n - 1 - i
			}
			cancels[i]()
		}
	}
}

func children(n int) ([]context.Context, []context.CancelFunc, context.CancelFunc) {
	parent, cancel := context.WithCancel(context.Background())
	all, cancels := make([]context.Context, n), make([]context.CancelFunc, n)
	for i := range all {
		all[i], cancels[i] = context.WithCancel(parent)
	}
	return all, cancels, cancel
}

func chain(n int, _ bool) ([]context.Context, func()) {
	parent, cancel := context.WithCancel(context.Background())
	all, cancels := make([]context.Context, n), make([]context.CancelFunc, n)
	for i := range all {
		// A child of the one before, which is cancelled with it: what would cancel it alone is not needed.
		parent, cancels[i] = context.WithCancel(parent)
		all[i] = parent
	}
	return all, cancel
}

// cancelling performs a form: goroutines wait, and what cancels them is timed, until all have ended.
func cancelling(form contexts) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		return eachWith(run, func(w *watch) (func(), error) {
			all, cancel := form(int(run.Size), run.Word("first") == "newest")
			w.tasks.Add(int(run.Size))
			never := make(chan struct{})
			for _, ctx := range all {
				go func(ctx context.Context) {
					w.wait()
					if run.Word("on") == "timer" {
						w.done(sleep(ctx))
						return
					}
					select {
					case <-ctx.Done():
						w.done(1)
					case <-never:
						w.done(0)
					}
				}(ctx)
			}
			return cancel, w.untilAll()
		})
	}
}

// afterFunc registers functions that a context calls when it is cancelled.
func afterFunc(run *sdk.Run) (sdk.Timing, error) {
	return eachWith(run, func(w *watch) (func(), error) {
		ctx, cancel := context.WithCancel(context.Background())
		w.tasks.Add(int(run.Size))
		for n := run.Size; n > 0; n-- {
			context.AfterFunc(ctx, func() { w.done(1) })
		}
		return cancel, nil
	})
}

// eachWith times of each iteration the cancelling, which start gives once all wait, and the waiting for all to end.
func eachWith(run *sdk.Run, start func(w *watch) (cancel func(), err error)) (sdk.Timing, error) {
	type made struct {
		w      *watch
		cancel func()
	}
	var failed error
	setup := func() made {
		w := &watch{size: int64(run.Size)}
		cancel, err := start(w)
		if err != nil {
			failed = err
		}
		return made{w, cancel}
	}
	timing := sdk.TimeEach(run, setup, func(_ *sdk.Phases, made made) uint64 {
		made.cancel()
		made.w.tasks.Wait()
		return uint64(made.w.woken.Load())
	})
	return timing, failed
}
