//go:build !noerrgroup

package workloads

import (
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"taskscale/sdk"
)

var errGroupOptions = []sdk.Option{sdk.MaxSize(maxTasks), sdk.Note(errGroupVersion() + "; " + whyMax)}

// errGroupVersion is that of the module that was linked.
func errGroupVersion() string {
	const module = "golang.org/x/sync"
	if build, known := debug.ReadBuildInfo(); known {
		for _, linked := range build.Deps {
			if linked.Path == module {
				return module + " " + linked.Version
			}
		}
	}
	return module + " of unknown version"
}

// errGroup is an errgroup.Group, whose tasks return an error. A window is its SetLimit.
func errGroup(p *plan) iteration {
	if p.discard {
		start := errGroupDiscard.of(p)
		return func(phases *sdk.Phases) uint64 {
			grouped(p, nil, start, phases)
			return p.discarded()
		}
	}
	start := errGroupInto.of(p)
	return func(phases *sdk.Phases) uint64 {
		out := make([]uint64, p.size)
		grouped(p, out, start, phases)
		return p.ordered(out)
	}
}

// groupStarter starts all tasks, each of them writing its own slot; out is nil where results are discarded.
type groupStarter func(p *plan, tasks *errgroup.Group, out []uint64)

func grouped(p *plan, out []uint64, start groupStarter, phases *sdk.Phases) {
	var tasks errgroup.Group
	if p.window < p.size {
		tasks.SetLimit(p.window)
	}
	start(p, &tasks, out)
	phases.Created()
	if err := tasks.Wait(); err != nil {
		panic(err)
	}
}

var errGroupInto = kinds[groupStarter]{
	plain: func(p *plan, tasks *errgroup.Group, out []uint64) {
		for i, size := 0, p.size; i < size; i++ {
			i := i
			tasks.Go(func() error {
				out[i] = product(i)
				return nil
			})
		}
	},
	spun: func(p *plan, tasks *errgroup.Group, out []uint64) {
		seed, work := p.seed, p.work
		for i, size := 0, p.size; i < size; i++ {
			i := i
			tasks.Go(func() error {
				out[i] = spin(seed+uint64(i), work)
				return nil
			})
		}
	},
	counted: func(p *plan, tasks *errgroup.Group, out []uint64) {
		for i := 0; i < p.size; i++ {
			i := i
			tasks.Go(func() error {
				out[i] = p.counted(i)
				return nil
			})
			p.count.started() // not before: Go waits for room in the window
		}
	},
}

var errGroupDiscard = kinds[groupStarter]{
	plain: func(p *plan, tasks *errgroup.Group, _ []uint64) {
		for i, size := 0, p.size; i < size; i++ {
			i := i
			tasks.Go(func() error {
				product(i)
				return nil
			})
		}
	},
	spun: func(p *plan, tasks *errgroup.Group, _ []uint64) {
		seed, work := p.seed, p.work
		for i, size := 0, p.size; i < size; i++ {
			i := i
			tasks.Go(func() error {
				spin(seed+uint64(i), work)
				return nil
			})
		}
	},
	counted: func(p *plan, tasks *errgroup.Group, _ []uint64) {
		for i := 0; i < p.size; i++ {
			i := i
			tasks.Go(func() error {
				p.counted(i)
				return nil
			})
			p.count.started() // not before: Go waits for room in the window
		}
	},
}

// nopErrGroup starts that many tasks that do nothing, or count themselves.
func nopErrGroup(size int, c *count, phases *sdk.Phases) {
	var tasks errgroup.Group
	if c == nil {
		for ; size > 0; size-- {
			tasks.Go(succeed)
		}
	}
	for ; size > 0; size-- {
		c.created()
		tasks.Go(func() error {
			c.executed(1)
			return nil
		})
	}
	phases.Created()
	if err := tasks.Wait(); err != nil {
		panic(err)
	}
}

func succeed() error { return nil }
