package sdk

import "time"

var started = time.Now()

// wallNs reads the monotonic wall clock, in nanoseconds. Costs about 30 ns.
func wallNs() int64 { return int64(time.Since(started)) }

// resolutionNs is the smallest step that a clock was seen to make in 1,000 steps: what it can really show, cost of
// reading it included.
func resolutionNs(clock func() int64) int64 {
	smallest := int64(1<<63 - 1)
	for n := 0; n < 1000; n++ {
		start := clock()
		now := clock()
		for now == start {
			now = clock()
		}
		smallest = min(smallest, now-start)
	}
	return smallest
}
