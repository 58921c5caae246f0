package workloads

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"taskscale/sdk"
)

// declareNop declares `nop`: size tasks that do nothing, started and awaited. Answer of an iteration: the number of tasks
// done.
func declareNop() {
	sdk.Param("nop", "live", 0, "tasks alive at once, in batches; 0: all")
	sdk.Param("nop", "gc", "on", "the garbage collector: on; off; collect: on, run once before", "on", "off", "collect")
	sdk.Variant("nop", "WaitGroup", nop(nopWaitGroup), sdk.MaxSize(maxTasks), sdk.Note(whyMax))
	sdk.Variant("nop", "WaitGroup.Go", nop(nopWaitGroupGo), waitGroupGoOptions...)
	sdk.Variant("nop", "errgroup", nop(nopErrGroup), errGroupOptions...)
}

// nop performs a form, which starts one batch of tasks and waits for it.
func nop(batch func(size int, c *count, phases *sdk.Phases)) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		size, live := int(run.Size), atOnce(run, "live")
		var c *count
		if run.Verify {
			c = new(count)
		}
		one := func(phases *sdk.Phases) uint64 {
			for left := size; left > 0; left -= live {
				batch(min(live, left), c, phases)
			}
			if c != nil {
				return c.takeSum()
			}
			return uint64(size)
		}
		defer collector(run.Word("gc"))()
		before := collections()
		timing := run.Time(one)
		ran, off := collections()-before, run.Word("gc") == "off"
		if off && ran > 0 {
			return timing, fmt.Errorf("gc=off did not hold (collections: %d): the memory limit of %d MB (GOMEMLIMIT) ran out, "+
				"or runtime.GC was called (%d tasks, %d times); lift the limit, ask for fewer tasks (--size), or for gc=on",
				ran, debug.SetMemoryLimit(-1)>>20, run.Size, run.Iterations)
		}
		if off || run.Verify || run.Phases {
			timing.Extra["gc_collections"] = []uint32{ran} // Go's collector has one generation
		}
		if run.Verify {
			return c.report(run, timing)
		}
		return timing, nil
	}
}

// collector has the garbage collector in that state, until what it returns is called.
func collector(state string) (restore func()) {
	switch state {
	case "off":
		percent := debug.SetGCPercent(-1)
		return func() { debug.SetGCPercent(percent) }
	case "collect":
		runtime.GC()
	}
	return func() {}
}

// collections is how many there were so far.
func collections() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}

// nothing is what a task does. Never inlined, as a task of any size would not be.
//
//go:noinline
func nothing() {}

// nopWaitGroup starts that many tasks that do nothing, or count themselves.
func nopWaitGroup(size int, c *count, phases *sdk.Phases) {
	var tasks sync.WaitGroup
	if c == nil {
		for ; size > 0; size-- {
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				nothing()
			}()
		}
	}
	for ; size > 0; size-- {
		c.created()
		tasks.Add(1)
		go func() {
			defer tasks.Done()
			c.executed(1)
		}()
	}
	phases.Created()
	tasks.Wait()
}
