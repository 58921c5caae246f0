package workloads

import (
	"sync"

	"taskscale/sdk"
)

// starter starts the tasks from up to to, each of them writing its own slot; out is nil where results are discarded.
type starter func(p *plan, tasks *sync.WaitGroup, out []uint64, from, to int)

// waitGroup is the go statement and a sync.WaitGroup.
func waitGroup(p *plan) iteration { return overWaitGroup(p, goInto, goDiscard) }

// overWaitGroup starts tasks by either into or discard. With a window, one batch is started after another.
func overWaitGroup(p *plan, into, discard kinds[starter]) iteration {
	if p.discard {
		start := discard.of(p)
		return func(phases *sdk.Phases) uint64 {
			batches(p, nil, start, phases)
			return p.discarded()
		}
	}
	start := into.of(p)
	return func(phases *sdk.Phases) uint64 {
		out := make([]uint64, p.size)
		batches(p, out, start, phases)
		return p.ordered(out)
	}
}

func batches(p *plan, out []uint64, start starter, phases *sdk.Phases) {
	var tasks sync.WaitGroup
	for from := 0; from < p.size; from += p.window {
		start(p, &tasks, out, from, min(from+p.window, p.size))
		phases.Created()
		tasks.Wait()
	}
}

var goInto = kinds[starter]{
	plain: func(_ *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		for i := from; i < to; i++ {
			i := i
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				out[i] = product(i)
			}()
		}
	},
	spun: func(p *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		seed, work := p.seed, p.work
		for i := from; i < to; i++ {
			i := i
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				out[i] = spin(seed+uint64(i), work)
			}()
		}
	},
	counted: func(p *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		for i := from; i < to; i++ {
			i := i
			p.count.created()
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				out[i] = p.counted(i)
			}()
		}
	},
}

var goDiscard = kinds[starter]{
	plain: func(_ *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		for i := from; i < to; i++ {
			i := i
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				product(i)
			}()
		}
	},
	spun: func(p *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		seed, work := p.seed, p.work
		for i := from; i < to; i++ {
			i := i
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				spin(seed+uint64(i), work)
			}()
		}
	},
	counted: func(p *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		for i := from; i < to; i++ {
			i := i
			p.count.created()
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				p.counted(i)
			}()
		}
	},
}
