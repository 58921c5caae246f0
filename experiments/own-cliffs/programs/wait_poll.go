// Cliff in wall time, and nearly in CPU time: what takes n² is polled each 500 us.
package main

import (
	"time"

	"taskscale/sdk"
)

func main() {
	sdk.Variant("poll", "each 500 us", func(run *sdk.Run) (sdk.Timing, error) {
		n := int(run.Size)
		return run.Time(func(_ *sdk.Phases) (sum uint64) {
			end := time.Now().Add(time.Duration(n*n*2) * time.Microsecond)
			for time.Now().Before(end) {
				time.Sleep(500 * time.Microsecond)
			}
			return uint64(n)
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("wait_poll", "1")
}
