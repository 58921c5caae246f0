// Control: n goroutines wait for 5 ms, 64 at once.
package main

import (
	"sync"
	"time"

	"taskscale/sdk"
)

func main() {
	sdk.Variant("hold", "semaphore", func(run *sdk.Run) (sdk.Timing, error) {
		n := int(run.Size)
		return run.Time(func(_ *sdk.Phases) (sum uint64) {
			places := make(chan struct{}, 64)
			var all sync.WaitGroup
			for i := 0; i < n; i++ {
				places <- struct{}{}
				all.Add(1)
				go func() {
					defer all.Done()
					time.Sleep(5 * time.Millisecond)
					<-places
				}()
			}
			all.Wait()
			return uint64(n)
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("wait_by_64", "1")
}
