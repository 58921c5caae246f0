// Cliff in wall time: n² of waiting behind linear work, which is most below 100.
package main

import (
	"time"

	"taskscale/sdk"
)

func main() {
	sdk.Variant("wait", "squared", func(run *sdk.Run) (sdk.Timing, error) {
		n := int(run.Size)
		return run.Time(func(_ *sdk.Phases) (sum uint64) {
			step := uint64(1)
			for i := 0; i < n*8000; i++ {
				step = step*6364136223846793005 + 1
			}
			time.Sleep(time.Duration(n*n) * 200 * time.Nanosecond)
			return step | 1
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("wait_behind_work", "1")
}
