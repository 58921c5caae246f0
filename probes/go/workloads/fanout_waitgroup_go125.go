//go:build go1.25

package workloads

import (
	"sync"

	"taskscale/sdk"
)

var waitGroupGoOptions = []sdk.Option{sdk.MaxSize(maxTasks), sdk.Note(whyMax)}

// waitGroupGo is sync.WaitGroup.Go, which counts, starts and recounts itself.
func waitGroupGo(p *plan) iteration { return overWaitGroup(p, waitGroupGoInto, waitGroupGoDiscard) }

var waitGroupGoInto = kinds[starter]{
	plain: func(_ *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		for i := from; i < to; i++ {
			tasks.Go(func() { out[i] = product(i) })
		}
	},
	spun: func(p *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		seed, work := p.seed, p.work
		for i := from; i < to; i++ {
			tasks.Go(func() { out[i] = spin(seed+uint64(i), work) })
		}
	},
	counted: func(p *plan, tasks *sync.WaitGroup, out []uint64, from, to int) {
		for i := from; i < to; i++ {
			p.count.created()
			tasks.Go(func() { out[i] = p.counted(i) })
		}
	},
}

var waitGroupGoDiscard = kinds[starter]{
	plain: func(_ *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		for i := from; i < to; i++ {
			tasks.Go(func() { product(i) })
		}
	},
	spun: func(p *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		seed, work := p.seed, p.work
		for i := from; i < to; i++ {
			tasks.Go(func() { spin(seed+uint64(i), work) })
		}
	},
	counted: func(p *plan, tasks *sync.WaitGroup, _ []uint64, from, to int) {
		for i := from; i < to; i++ {
			p.count.created()
			tasks.Go(func() { p.counted(i) })
		}
	},
}

// nopWaitGroupGo starts that many tasks that do nothing, or count themselves.
func nopWaitGroupGo(size int, c *count, phases *sdk.Phases) {
	var tasks sync.WaitGroup
	if c == nil {
		for ; size > 0; size-- {
			tasks.Go(nothing)
		}
	}
	for ; size > 0; size-- {
		c.created()
		tasks.Go(func() { c.executed(1) })
	}
	phases.Created()
	tasks.Wait()
}
