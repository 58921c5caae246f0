package sdk

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// Benchmark performs a function that was written for go test, by b.N or by b.Loop, until it has looped run.Iterations times. The
// answer of each iteration is 1: what is right, the function says itself, by b.Fatal. All that it does is timed: testing.B tells
// for how long its own timer ran, but no CPU time of that. So it is an error where more than a tenth of the CPU time cannot be
// of that timer (b.ResetTimer, b.StopTimer, set-up before b.Loop). Sub-benchmarks (b.Run) need a call each.
func (run *Run) Benchmark(function func(b *testing.B)) (timing Timing, err error) {
	testing.Init()
	wallBegin, cpuBegin := wallNs(), cpuNs()
	// Where a collector works beside the timed part, CPU time may exceed it by chance, but hardly five times of five.
	for attempt := 0; attempt < 5; attempt++ {
		if timing, err = run.looped(function); err != errUntimed {
			break
		}
	}
	// testing collects garbage before each.
	timing.Extra = object{
		"setup_cpu_ns":  max(cpuNs()-cpuBegin-timing.CPUNs, 0),
		"setup_wall_ns": max(wallNs()-wallBegin-timing.WallNs, 0),
	}
	return timing, err
}

var errUntimed = errors.New("use sdk.TimeEach, or prepare before run.Benchmark: more than a tenth of the CPU time " +
	"lies outside of the benchmark's own timer (b.ResetTimer, b.StopTimer, b.Loop) and would count as its loop")

// looped is one attempt.
func (run *Run) looped(function func(b *testing.B)) (timing Timing, err error) {
	failed, own, calls := false, time.Duration(0), int64(0)
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
			own += b.Elapsed()
			timing.CPUNs += cpuNs() - cpu
			timing.WallNs += wallNs() - wall
			timing.Answer += uint64(b.N)
			calls++
			failed = b.Failed() || b.Skipped() || b.N < 1
		})
	}
	if failed {
		return timing, errors.New("the benchmark failed, was skipped or has no loop; go test -bench says why")
	}
	// Wall time outside of that timer says little: a busy machine had 8 ms there once in 100 times. CPU time does, as one
	// thread cannot use more than passes. Where the timer is set back, testing reads counters for some 100 us, or 400.
	threads := int64(1)
	if timing.CPUNs > timing.WallNs {
		threads = int64(runtime.GOMAXPROCS(0))
	}
	if timing.CPUNs-threads*own.Nanoseconds() > timing.CPUNs/10+calls*400_000 {
		return timing, errUntimed
	}
	return timing, nil
}
