package sdk

import (
	"errors"
	"flag"
	"fmt"
	"testing"
)

// Benchmark performs a function that was written for go test, by b.N or by b.Loop, until it has looped run.Iterations times. The
// answer of each iteration is 1: what is right, the function says itself, by b.Fatal. All that it does is timed, what it does
// before its loop and with the timer stopped too; TimeEach leaves such a part out. Sub-benchmarks (b.Run) need a call each.
func (run *Run) Benchmark(function func(b *testing.B)) (timing Timing, err error) {
	testing.Init()
	wallBegin, cpuBegin, failed := wallNs(), cpuNs(), false
	for !failed && timing.Answer < run.Iterations {
		// A loop by b.N is asked for 1 first, and then for the rest; one by b.Loop for the rest alone.
		rest := max(run.Iterations-timing.Answer-1, 1)
		if err := flag.Set("test.benchtime", fmt.Sprintf("%dx", rest)); err != nil {
			return timing, err
		}
		testing.Benchmark(func(b *testing.B) {
			failed = true // b.Fatal does not come back
			wall, cpu := wallNs(), cpuNs()
			function(b)
			timing.CPUNs += cpuNs() - cpu
			timing.WallNs += wallNs() - wall
			timing.Answer += uint64(b.N)
			failed = b.Failed() || b.Skipped() || b.N < 1
		})
	}
	if failed {
		return timing, errors.New("the benchmark failed, was skipped or has no loop; go test -bench says why")
	}
	// testing collects garbage before each.
	timing.Extra = object{
		"setup_cpu_ns":  max(cpuNs()-cpuBegin-timing.CPUNs, 0),
		"setup_wall_ns": max(wallNs()-wallBegin-timing.WallNs, 0),
	}
	return timing, nil
}
