// A probe of your own, whole. Weigh it: taskscale run --probe my_probe.go
package main

import (
	"sync"

	"taskscale/sdk"
)

// task is what one task does; call your own code here, and still give 31 * i: the tool checks the sum of those.
//
//go:noinline
func task(i int) uint64 { return 31 * uint64(i) }

func main() {
	// `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
	sdk.Param("fanout", "order", "ordered", "how results are collected", "ordered")
	// The workload, a name for the table, and how it is done; register as many variants as you like to compare. Add
	// sdk.CreatesTask(false) to one whose units are no goroutines.
	sdk.Variant("fanout", "semaphore", func(run *sdk.Run) (sdk.Timing, error) {
		// Set up what is needed once (workers, say) here: only what is inside run.Time is timed.
		size, room := int(run.Size), make(chan struct{}, 64)
		return run.Time(func(phases *sdk.Phases) (sum uint64) {
			results := make([]uint64, size)
			var tasks sync.WaitGroup
			for i := 0; i < size; i++ {
				room <- struct{}{} // waits while 64 tasks are alive
				tasks.Add(1)
				go func(i int) {
					defer tasks.Done()
					results[i] = task(i)
					<-room
				}(i)
			}
			phases.Created() // optional: the last task is started, so that creation can be told from the rest
			tasks.Wait()
			for _, result := range results {
				sum += result
			}
			return sum
		}), nil
	})
	sdk.Serve("mine", "1.0") // your runtime's name and version
}
