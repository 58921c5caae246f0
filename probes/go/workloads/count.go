package workloads

import (
	"fmt"
	"sync"
	"sync/atomic"

	"taskscale/sdk"
)

// count is what an instrumented run counts: executions, their results, and where and how many at once they were. Never
// part of a run whose time is kept.
type count struct {
	executions, sum atomic.Uint64
	live, maxLive   atomic.Int64
	threads         sync.Map
}

// created says that a task is about to be created; for the one creator.
func (c *count) created() {
	c.saw(c.live.Add(1))
}

// started says that a task has been created; for the one creator of a form that itself waits for room first. The task may
// be done already, but was alive.
func (c *count) started() {
	c.saw(max(c.live.Add(1), 1))
}

func (c *count) saw(live int64) {
	c.maxLive.Store(max(c.maxLive.Load(), live))
}

// executed says that a task has been done, with that result; for the task, last.
func (c *count) executed(result uint64) {
	c.sum.Add(result)
	c.executions.Add(1)
	if thread, known := threadID(); known {
		c.threads.Store(thread, nil)
	}
	c.live.Add(-1)
}

// takeSum gives the sum of the results since it was last taken.
func (c *count) takeSum() uint64 { return c.sum.Swap(0) }

// report adds what was counted to timing, unless tasks are missing or too many.
func (c *count) report(run *sdk.Run, timing sdk.Timing) (sdk.Timing, error) {
	executed, expected := c.executions.Load(), run.Size*run.Iterations
	if executed != expected {
		return timing, fmt.Errorf("%d tasks were executed, %d were asked for", executed, expected)
	}
	timing.Extra["executed"], timing.Extra["max_live"] = executed, c.maxLive.Load()
	threads := 0
	c.threads.Range(func(any, any) bool { threads++; return true })
	if threads > 0 {
		timing.Extra["workers_seen"] = threads
	}
	return timing, nil
}
