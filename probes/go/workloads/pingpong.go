package workloads

import (
	"runtime"
	"sync"

	"taskscale/sdk"
)

// declarePingpong declares `pingpong`: size round trips of a token between the two goroutines of a pair, over `pairs` pairs. A
// goroutine passes the token on and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds
// one to the token, and whoever began counts the trip only if that was done. Answer of an iteration: the number of round trips.
func declarePingpong() {
	sdk.Param("pingpong", "pairs", 1, "pairs of goroutines that share the round trips")
	sdk.Param("pingpong", "workers", "cores", "GOMAXPROCS: as it was, one a core by default; or one", "cores", "one")
	sdk.Variant("pingpong", "chan", pingpong(unbuffered))
	sdk.Variant("pingpong", "chan/buffered", pingpong(withPlace))
	sdk.Variant("pingpong", "sync.Cond", pingpong(conditions))
}

// end is what a goroutine of a pair has: what passes the token to the other end, and what waits for it.
type end struct {
	pass func(token uint64)
	take func() uint64
}

// pingpong performs a form, which gives the ends of a new pair.
func pingpong(pair func() (one, other end)) func(*sdk.Run) (sdk.Timing, error) {
	return func(run *sdk.Run) (sdk.Timing, error) {
		pairs := run.Integer("pairs")
		if run.Word("workers") == "one" {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		}
		return run.Time(func(*sdk.Phases) (back uint64) {
			trips := make(chan uint64, pairs)
			for p := uint64(0); p < pairs; p++ {
				share := run.Size / pairs
				if p < run.Size%pairs {
					share++
				}
				one, other := pair()
				go pong(other, share)
				go func() { trips <- ping(one, share) }()
			}
			for p := uint64(0); p < pairs; p++ {
				back += <-trips
			}
			return back
		}), nil
	}
}

// ping begins. It gives the number of trips from which the token came back as it should.
func ping(e end, trips uint64) (back uint64) {
	for token := uint64(0); token < trips; token++ {
		e.pass(token)
		if e.take() == token+1 {
			back++
		}
	}
	return back
}

// pong answers.
func pong(e end, trips uint64) {
	for ; trips > 0; trips-- {
		e.pass(e.take() + 1)
	}
}

func unbuffered() (one, other end) { return channels(0) }
func withPlace() (one, other end)  { return channels(1) }

// channels is a channel in each direction.
func channels(places int) (one, other end) {
	there, back := make(chan uint64, places), make(chan uint64, places)
	along := func(to, from chan uint64) end {
		return end{func(token uint64) { to <- token }, func() uint64 { return <-from }}
	}
	return along(there, back), along(back, there)
}

// place is a token under a lock, with a condition that it is there.
type place struct {
	lock  sync.Mutex
	there *sync.Cond
	full  bool
	token uint64
}

func (p *place) put(token uint64) {
	p.lock.Lock()
	p.token, p.full = token, true
	p.lock.Unlock()
	p.there.Signal()
}

func (p *place) take() uint64 {
	p.lock.Lock()
	for !p.full {
		p.there.Wait()
	}
	p.full = false
	token := p.token
	p.lock.Unlock()
	return token
}

// conditions is a place for each direction.
func conditions() (one, other end) {
	there, back := new(place), new(place)
	there.there, back.there = sync.NewCond(&there.lock), sync.NewCond(&back.lock)
	return end{there.put, back.take}, end{back.put, there.take}
}
