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
// clock.go reads the two clocks, describe.go holds what a probe says of itself, request.go makes a request a Run,
// timing.go is the timed loop, serve.go gives one reply line per request line.
package sdk

import "bufio"
import "encoding/json"
import "fmt"
import "os"

// Lines are those of the tool, and Replies where replies go. Between a request and its sample a workload may have lines
// of its own.
var Lines, Replies = bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)

// Serve serves the declared workloads as runtime name until standard input ends or says exit.
func Serve(name, version string) {
	Lines.Buffer(nil, 1<<30)
	os.Stdout = os.Stderr // whatever a workload prints must not get between the replies
	for Lines.Scan() {
		if said := reply(Lines.Bytes(), name, version); said == nil || Replies.Encode(said) != nil {
			return
		}
	}
}

// reply answers a line; nil to exit. A panic (on this goroutine: Go ends the process where another one panics) is this
// request's failure only.
func reply(line []byte, name, version string) (said object) {
	defer func() {
		if reason := recover(); reason != nil {
			said = object{"type": "error", "message": place() + fmt.Sprint(reason), "protocol": protocol}
		}
	}()
	asked := message{Run: Run{Params: object{}}}
	if err := json.Unmarshal(line, &asked); err != nil {
		panic(fmt.Sprint("the line is not JSON, or no request: ", err))
	}
	switch asked.Type {
	case "describe":
		if asked.Protocol == float64(protocol) {
			return description(name, version)
		}
		panic(fmt.Sprintf("the tool speaks protocol %v, this probe of %s speaks protocol %d; use a tool and a probe of one release", asked.Protocol, name, protocol))
	case "run":
		return run(asked.request())
	case "exit":
		return nil
	}
	panic(fmt.Sprintf("unknown request type %q; known here: describe run exit", asked.Type))
}

// run performs a request.
func run(perform func(*Run) (Timing, error), run *Run) object {
	before := counters(run.Counters)
	timing, err := perform(run)
	if err != nil {
		panic(err)
	}
	if run.Counters != "" {
		timing.Extra["counters"] = before.rise(counters(run.Counters))
	}
	sample := object{"type": "sample", "id": run.ID, "wall_ns": timing.WallNs, "cpu_ns": timing.CPUNs, "answer": timing.Answer}
	if len(timing.Extra) > 0 {
		sample["extra"] = timing.Extra
	}
	return sample
}
