// Package sdk is what a probe in Go needs besides its workloads: the loop of probe protocol 1, and the clocks. Import it
// for a probe of your own. This is a whole one, and `taskscale probe check` accepts it:
//
//	package main
//
//	import "taskscale/sdk"
//
//	func main() {
//		sdk.Variant("nop", "handed over", func(run *sdk.Run) (sdk.Timing, error) {
//			done := make(chan uint64)
//			return run.Time(func(phases *sdk.Phases) (sum uint64) {
//				for i := uint64(0); i < run.Size; i++ {
//					go func() { done <- 1 }()
//					sum += <-done
//				}
//				return sum
//			}), nil
//		})
//		sdk.Serve("mypool", "1.0")
//	}
//
// clock.go reads the two clocks, describe.go holds what a probe says of itself, request.go checks a request and makes it
// a Run, timing.go is the timed loop, serve.go gives one reply line per request line.
package sdk
