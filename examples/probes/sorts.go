// Code that is no task, weighed: two ways of sorting n numbers. taskscale run --probe sorts.go
package main

import (
	"math/rand"
	"runtime"
	"slices"

	"taskscale/sdk"
)

// checksum follows from the work: another order gives another one. The ways are held to each other by it.
func checksum(numbers []uint64) (sum uint64) {
	for place, number := range numbers {
		sum += uint64(place+1) * number
	}
	return sum
}

func byInsertion(numbers []uint64) {
	for end := range numbers {
		for place := end; place > 0 && numbers[place-1] > numbers[place]; place-- {
			numbers[place-1], numbers[place] = numbers[place], numbers[place-1]
		}
	}
}

func weigh(name string, sort func([]uint64)) {
	sdk.Variant("sort", name, func(run *sdk.Run) (sdk.Timing, error) {
		// The same numbers for the same seed, in every way of doing it. Only what is inside run.Time is timed.
		drawn := rand.New(rand.NewSource(int64(run.Seed)))
		numbers := make([]uint64, run.Size)
		for i := range numbers {
			numbers[i] = 1 + uint64(drawn.Intn(1_000_000))
		}
		return run.Time(func(*sdk.Phases) uint64 {
			copied := slices.Clone(numbers)
			sort(copied)
			return checksum(copied)
		}), nil
	}, sdk.CreatesTask(false))
}

func main() {
	weigh("slices.Sort", slices.Sort[[]uint64])
	weigh("by_insertion", byInsertion)
	sdk.Serve("sorts", runtime.Version())
}
