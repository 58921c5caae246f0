// Cliff: prepend to a slice. Each time a new array is made and everything is copied.
package main

import "taskscale/sdk"

func build(n int) []uint64 {
	var list []uint64
	for i := 0; i < n; i++ {
		list = append([]uint64{uint64(i)}, list...)
	}
	return list
}

func main() {
	sdk.Variant("build", "prepend", func(run *sdk.Run) (sdk.Timing, error) {
		return run.Time(func(_ *sdk.Phases) uint64 {
			list := build(int(run.Size))
			return list[0] + uint64(len(list))
		}), nil
	}, sdk.CreatesTask(false))
	sdk.Serve("go_prepend", "1")
}
