// Cliff in fresh processes: a pool has n workers in the end, and starts the next one the later the more it has.
package main

import (
	"time"

	"taskscale/sdk"
)

var workers int

func main() {
	sdk.Variant("grow", "pool", func(run *sdk.Run) (sdk.Timing, error) {
		n := int(run.Size)
		return run.Time(func(_ *sdk.Phases) (sum uint64) {
			for workers < n {
				time.Sleep(time.Duration(workers) * 40 * time.Microsecond)
				workers++
			}
			for i := 0; i < n; i++ {
				sum += uint64(31 * i)
			}
			return sum + 1
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("wait_pool_grows", "1")
}
