package workloads

import "taskscale/sdk"

// declareSpin declares `spin`: size steps of the kernel in one call. Tells how long a step takes, so that work can be
// chosen. Answer of an iteration: spin(seed, size).
func declareSpin() {
	loop := func(run *sdk.Run) (sdk.Timing, error) {
		return run.Time(func(*sdk.Phases) uint64 { return spin(run.Seed, run.Size) }), nil
	}
	sdk.Variant("spin", "loop", loop, sdk.CreatesTask(false), sdk.Note("one call, no task"))
}

// spin does that many dependent steps of xorshift64, started at splitmix(seed). 1 to 2 ns a step. Never inlined, or a
// task might be folded into its caller.
//
//go:noinline
func spin(seed, steps uint64) uint64 {
	x := splitmix(seed)
	for ; steps > 0; steps-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// splitmix is splitmix64's output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13).
func splitmix(seed uint64) uint64 {
	z := seed + 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
