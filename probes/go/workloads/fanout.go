package workloads

import (
	"fmt"

	"taskscale/sdk"
)

// declareFanout declares `fanout`: start size tasks, collect size results. Answer of an iteration: the sum of the tasks'
// results; in the order discard, where a timed run has no results, the number of tasks started.
func declareFanout() {
	sdk.Param("fanout", "order", "ordered", "how results are collected", "ordered", "completion", "discard")
	sdk.Param("fanout", "work", 0, "steps of spin per task; 0: the task gives 31 * i")
	sdk.Param("fanout", "window", 0, "most tasks alive at once; 0: all")
	sdk.Param("fanout", "extra_spin", 0, "steps of spin once per iteration: a slow-down to be found")
	slots := sdk.Only("order", "ordered", "discard")
	sdk.Variant("fanout", "WaitGroup", fanout(waitGroup), slots, sdk.MaxSize(maxTasks), sdk.Note(whyMax))
	sdk.Variant("fanout", "WaitGroup.Go", fanout(waitGroupGo), append(waitGroupGoOptions, slots)...)
	sdk.Variant("fanout", "errgroup", fanout(errGroup), append(errGroupOptions, slots)...)
	sdk.Variant("fanout", "channel", fanout(channel), sdk.Only("order", "completion"), sdk.MaxSize(maxTasks))
}

// iteration does the workload once and returns its answer.
type iteration func(phases *sdk.Phases) uint64

// fanout performs a form, which makes an iteration of a plan.
func fanout(form func(*plan) iteration) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		p := &plan{
			size: int(run.Size), window: atOnce(run, "window"), seed: run.Seed, work: run.Integer("work"),
			discard: run.Word("order") == "discard",
		}
		if run.Verify {
			p.count = new(count)
		}
		one := form(p)
		if extra := run.Integer("extra_spin"); extra > 0 {
			quick := one
			one = func(phases *sdk.Phases) uint64 {
				answer := quick(phases)
				spin(run.Seed, extra)
				return answer
			}
		}
		timing := run.Time(one)
		if run.Verify {
			return p.count.report(run, timing)
		}
		return timing, nil
	}
}

// plan is a request, read.
type plan struct {
	size, window int // window is size where all tasks may be alive at once
	seed, work   uint64
	discard      bool
	count        *count // of an instrumented run, else nil
}

// kinds holds what a form does, written out for each kind of task: one that gives 31 * i, one that gives
// spin(seed + i, work), and either of them counted.
type kinds[F any] struct{ plain, spun, counted F }

func (k kinds[F]) of(p *plan) F {
	switch {
	case p.count != nil:
		return k.counted
	case p.work > 0:
		return k.spun
	default:
		return k.plain
	}
}

// product is what a plain task does. Never inlined, or the task would be empty; and a call that is not inlined is never
// left out by Go's compiler, even where nobody takes its result.
//
//go:noinline
func product(i int) uint64 { return 31 * uint64(i) }

// result is what task i gives.
func (p *plan) result(i int) uint64 {
	if p.work > 0 {
		return spin(p.seed+uint64(i), p.work)
	}
	return product(i)
}

// counted does task i and counts it.
func (p *plan) counted(i int) uint64 {
	result := p.result(i)
	p.count.executed(result)
	return result
}

// ordered is the answer of results in the order of their tasks.
func (p *plan) ordered(results []uint64) (sum uint64) {
	if p.count != nil {
		// A sum alone would not show that results lie in the wrong places.
		for i, result := range results {
			if result != p.result(i) {
				panic(fmt.Sprintf("result %d is %d, not %d", i, result, p.result(i)))
			}
		}
	}
	for _, result := range results {
		sum += result
	}
	return sum
}

// discarded is the answer of tasks without results.
func (p *plan) discarded() uint64 {
	if p.count != nil {
		return p.count.takeSum()
	}
	return uint64(p.size)
}
