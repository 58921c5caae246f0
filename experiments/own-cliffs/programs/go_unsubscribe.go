// Cliff, tasks, small constant: n goroutines subscribe to a hub; each takes itself out of the slice
// of subscribers when it is told to end. Index and Delete walk the slice.
package main

import (
	"slices"
	"sync"

	"taskscale/sdk"
)

type hub struct {
	sync.Mutex
	subscribers []chan uint64
}

func (h *hub) remove(c chan uint64) {
	h.Lock()
	defer h.Unlock()
	at := slices.Index(h.subscribers, c)
	h.subscribers = slices.Delete(h.subscribers, at, at+1)
}

func broadcast(n int) uint64 {
	var h hub
	var tasks sync.WaitGroup
	results := make([]uint64, n)
	for i := range n {
		c := make(chan uint64, 1)
		h.subscribers = append(h.subscribers, c)
		tasks.Add(1)
		go func() {
			defer tasks.Done()
			results[i] = <-c
			h.remove(c)
		}()
	}
	h.Lock()
	for _, c := range slices.Backward(h.subscribers) { // the newest first
		c <- 3
	}
	h.Unlock()
	tasks.Wait()
	var sum uint64
	for _, result := range results {
		sum += result
	}
	return sum
}

func main() {
	sdk.Variant("broadcast", "slice", func(run *sdk.Run) (sdk.Timing, error) {
		return run.Time(func(_ *sdk.Phases) uint64 { return broadcast(int(run.Size)) }), nil
	})
	sdk.Serve("go_unsubscribe", "1")
}
