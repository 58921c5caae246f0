// Code that is no task, weighed: two ways of sorting n numbers. taskscale run --probe sorts.go
package main

import (
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

// drawn gives the same n numbers for the same seed, in every way of doing it: Knuth's generator for MMIX, its upper bits.
func drawn(seed uint64, n int) []uint64 {
	numbers := make([]uint64, n)
	for i := range numbers {
		seed = 6364136223846793005*seed + 1442695040888963407
		numbers[i] = 1 + seed>>44
	}
	return numbers
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
		numbers := drawn(run.Seed, int(run.Size)) // only what is inside run.Time is timed
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
