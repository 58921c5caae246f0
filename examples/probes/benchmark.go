// A function of go test, weighed as it is. taskscale run --probe benchmark.go
package main

import (
	"runtime"
	"slices"
	"testing"

	"taskscale/sdk"
)

func benchmarkSort(b *testing.B, n int) {
	numbers, sorted := make([]int, n), make([]int, n)
	for i := range numbers {
		numbers[i] = 31 * i % n
	}
	for i := 0; i < b.N; i++ {
		copy(sorted, numbers)
		slices.Sort(sorted)
	}
}

func main() {
	sdk.Variant("sort", "BenchmarkSort", func(run *sdk.Run) (sdk.Timing, error) {
		return run.Benchmark(func(b *testing.B) { benchmarkSort(b, int(run.Size)) })
	}, sdk.CreatesTask(false))
	sdk.Serve("sorting-go", runtime.Version())
}
