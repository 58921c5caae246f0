// Control: n goroutines hold a lock for 300 us each.
package main

import (
	"sync"
	"time"

	"taskscale/sdk"
)

func main() {
	sdk.Variant("hold", "lock", func(run *sdk.Run) (sdk.Timing, error) {
		n := int(run.Size)
		return run.Time(func(_ *sdk.Phases) (sum uint64) {
			var lock sync.Mutex
			var all sync.WaitGroup
			for i := 0; i < n; i++ {
				all.Add(1)
				go func() {
					defer all.Done()
					lock.Lock()
					time.Sleep(300 * time.Microsecond)
					sum++
					lock.Unlock()
				}()
			}
			all.Wait()
			return sum
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("wait_lock", "1")
}
