package workloads

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"taskscale/sdk"
)

const mostProducers = 64

// declareRemote declares `remote`: size tasks that threads hand over which run none of them. A thread is a goroutine that is
// locked to it. Threads are started before the timed part, and wait; each iteration lets them go, all at once, and ends when
// the last task has run. A task adds one to a count. Answer of an iteration: the number of tasks that have run.
func declareRemote() {
	sdk.Param("remote", "producers", 1, "threads that share the tasks: goroutines, each locked to its own")
	sdk.Variant("remote", "go", remote(true, starting), sdk.Note("a go statement in a goroutine that is locked to a thread"))
	sdk.Variant("remote", "go/local", remote(false, starting), sdk.Note("goroutines in place of the threads"))
	sdk.Variant("remote", "chan", remote(true, sending), sdk.CreatesTask(false),
		sdk.Note("func values through a buffered channel to a goroutine a core"))
}

// ran counts the tasks of an iteration. The last one says so.
type ran struct {
	count atomic.Uint64
	all   uint64
	done  chan struct{}
}

// one is what a task does.
func (r *ran) one() {
	if r.count.Add(1) == r.all {
		r.done <- struct{}{}
	}
}

// gate is what producers wait at.
type gate struct {
	lock    sync.Mutex
	changed *sync.Cond
	opened  uint64 // how often
	came    int    // how many producers have come to it
	closed  bool   // it opens no more
}

func newGate() *gate {
	g := new(gate)
	g.changed = sync.NewCond(&g.lock)
	return g
}

// open opens it for the next iteration.
func (g *gate) open() {
	g.lock.Lock()
	g.opened++
	g.lock.Unlock()
	g.changed.Broadcast()
}

// close lets producers end.
func (g *gate) close() {
	g.lock.Lock()
	g.closed = true
	g.lock.Unlock()
	g.changed.Broadcast()
}

// pass waits until it was opened so often, and says whether it was.
func (g *gate) pass(iteration uint64) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	if iteration == 1 {
		g.came++
		g.changed.Broadcast()
	}
	for g.opened < iteration && !g.closed {
		g.changed.Wait()
	}
	return g.opened >= iteration
}

// await waits until so many have come.
func (g *gate) await(producers int) {
	g.lock.Lock()
	defer g.lock.Unlock()
	for g.came < producers {
		g.changed.Wait()
	}
}

// starting starts a goroutine for each task.
func starting(r *ran) (submit func(tasks uint64), end func()) {
	submit = func(tasks uint64) {
		for ; tasks > 0; tasks-- {
			go r.one()
		}
	}
	return submit, func() {}
}

// sending sends each task to goroutines that are there, one a core.
func sending(r *ran) (submit func(tasks uint64), end func()) {
	tasks := make(chan func(), 1024)
	for w := runtime.GOMAXPROCS(0); w > 0; w-- {
		go func() {
			for task := range tasks {
				task()
			}
		}()
	}
	one := r.one
	submit = func(share uint64) {
		for ; share > 0; share-- {
			tasks <- one
		}
	}
	return submit, func() { close(tasks) }
}

// remote performs a form, which hands over so many tasks. Its producers are locked to threads, or plain goroutines.
func remote(locked bool, form func(*ran) (submit func(tasks uint64), end func())) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		producers := run.Integer("producers")
		if producers < 1 || producers > mostProducers {
			return sdk.Timing{}, fmt.Errorf("producers is %d; give 1 to %d", producers, mostProducers)
		}
		r := &ran{all: run.Size, done: make(chan struct{}, 1)}
		submit, end := form(r)
		defer end()
		g := newGate()
		var ended sync.WaitGroup
		ended.Add(int(producers))
		defer ended.Wait()
		defer g.close()
		for p := uint64(0); p < producers; p++ {
			share := run.Size / producers
			if p < run.Size%producers {
				share++
			}
			go func() {
				defer ended.Done()
				if locked {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				for iteration := uint64(1); g.pass(iteration); iteration++ {
					submit(share)
				}
			}()
		}
		g.await(int(producers))
		return run.Time(func(*sdk.Phases) uint64 {
			r.count.Store(0)
			g.open()
			<-r.done
			return r.count.Load()
		}), nil
	}
}
