// Package bench has the loops of our Go probe once more, written by hand for Go's own harness, `go test -bench`.
//
// The harness tells wall time; these benchmarks add the CPU time of the process, per task.
package bench

import (
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

const size = 2048

//go:noinline
func product(i int) uint64 { return 31 * uint64(i) }

func BenchmarkWaitGroup(b *testing.B) {
	measure(b, func() (sum uint64) {
		results := make([]uint64, size)
		var tasks sync.WaitGroup
		for i := range results {
			tasks.Add(1)
			go func() {
				defer tasks.Done()
				results[i] = product(i)
			}()
		}
		tasks.Wait()
		for _, result := range results {
			sum += result
		}
		return sum
	})
}

func BenchmarkWaitGroupGo(b *testing.B) {
	measure(b, func() (sum uint64) {
		results := make([]uint64, size)
		var tasks sync.WaitGroup
		for i := range results {
			tasks.Go(func() { results[i] = product(i) })
		}
		tasks.Wait()
		for _, result := range results {
			sum += result
		}
		return sum
	})
}

func BenchmarkErrgroup(b *testing.B) {
	measure(b, func() (sum uint64) {
		results := make([]uint64, size)
		var tasks errgroup.Group
		for i := range results {
			tasks.Go(func() error {
				results[i] = product(i)
				return nil
			})
		}
		if err := tasks.Wait(); err != nil {
			b.Error(err)
		}
		for _, result := range results {
			sum += result
		}
		return sum
	})
}

func BenchmarkChannel(b *testing.B) {
	measure(b, func() (sum uint64) {
		results := make(chan uint64, size)
		for i := range size {
			go func() { results <- product(i) }()
		}
		for range size {
			sum += <-results
		}
		return sum
	})
}

// measure runs one b.N times, checks its answers, and reports CPU time per task.
func measure(b *testing.B, one func() uint64) {
	b.ReportAllocs()
	b.ResetTimer()
	sum, start := uint64(0), cpuNs()
	for n := 0; n < b.N; n++ {
		sum += one()
	}
	used := cpuNs() - start
	b.ReportMetric(float64(used)/float64(b.N)/size, "cpu-ns/task")
	if expected := uint64(b.N) * 31 * size * (size - 1) / 2; sum != expected {
		b.Errorf("the answers add up to %d, not %d", sum, expected)
	}
}

// cpuNs is the CPU time of the process, user and system, in nanoseconds; 2 is CLOCK_PROCESS_CPUTIME_ID.
func cpuNs() int64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 2, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}
