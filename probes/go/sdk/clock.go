package sdk

import "time"

var started = time.Now()

// wallNs reads the monotonic wall clock, in nanoseconds. Costs about 30 ns.
func wallNs() int64 { return int64(time.Since(started)) }

// resolutionNs is the smallest step that a clock was seen to make in 1,000 steps: what it can really show, cost of
// reading it included.
func resolutionNs(clock func() int64) int64 {
	smallest := int64(1<<63 - 1)
	for steps, last := 0, clock(); steps < 1000; {
		if now := clock(); now > last {
			smallest, last, steps = min(smallest, now-last), now, steps+1
		}
	}
	return smallest
}
