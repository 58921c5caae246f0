package workloads

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"taskscale/sdk"
)

// declareBlocking declares `blocking`: size goroutines, started at once, of which one in so many blocks for a while. A
// goroutine tells how long it was ready before it ran. Answer of an iteration: the number of goroutines done.
func declareBlocking() {
	sdk.Param("blocking", "block_us", 1000, "how long a goroutine blocks that does, in microseconds")
	sdk.Param("blocking", "every", 100, "one goroutine in so many blocks, the first of them")
	limit := sdk.MaxSize(maxTasks)
	sdk.Variant("blocking", "without", blocking(nil), limit, sdk.Note("no goroutine blocks"))
	inline := []sdk.Option{limit, sdk.Note("nanosleep, a system call: the scheduler does not know how long it will take")}
	if !canBlock {
		inline = append(inline, sdk.Unavailable("package syscall has no nanosleep on this system", "use Linux"))
	}
	sdk.Variant("blocking", "inline", blocking(nanosleep), inline...)
	sdk.Variant("blocking", "time.Sleep", blocking(time.Sleep), limit, sdk.Note("no thread blocks: the runtime's timer"))
}

// burst is one iteration.
type burst struct {
	waits   []time.Duration
	blocked atomic.Int64
	tasks   sync.WaitGroup
}

// start starts goroutine i, which is ready from now on, and blocks where it is given what does.
func (b *burst) start(i int, block func()) {
	ready := time.Now()
	go func() {
		b.waits[i] = time.Since(ready)
		if block != nil {
			block()
			b.blocked.Add(1)
		}
		b.tasks.Done()
	}()
}

// blocking performs all iterations of a form, by what blocks, if anything does.
func blocking(block func(time.Duration)) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		size, every := int(run.Size), int(run.Integer("every"))
		lasts := time.Duration(run.Integer("block_us")) * time.Microsecond
		var waits []time.Duration
		blocked := int64(0)
		setup := func() *burst { return &burst{waits: make([]time.Duration, size)} }
		one := func(_ *sdk.Phases, b *burst) uint64 {
			b.tasks.Add(size)
			for i := 0; i < size; i++ {
				if block != nil && i%every == 0 {
					b.start(i, func() { block(lasts) })
				} else {
					b.start(i, nil)
				}
			}
			b.tasks.Wait()
			return uint64(size)
		}
		timing := sdk.TimeEach(run, setup, one, func(b *burst) {
			waits = append(waits, b.waits...)
			blocked += b.blocked.Load()
		})
		sort.Slice(waits, func(i, j int) bool { return waits[i] < waits[j] })
		least := func(percent int) int64 { return int64(waits[(len(waits)*percent+99)/100-1]) }
		timing.Extra["wait_p50_ns"], timing.Extra["wait_p99_ns"], timing.Extra["wait_max_ns"] = least(50), least(99), least(100)
		timing.Extra["blocked"] = blocked
		return timing, nil
	}
}
