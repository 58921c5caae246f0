// `spin`: `size` steps of the kernel in one call. Tells how long a step takes, so that `work` can be chosen.

import TaskscaleProbe

/// The workload `spin`. Answer of an iteration: `spin(seed, size)`.
func declareSpin() {
    variant("spin", "loop", createsTask: false, note: "one call, no task") { run in
        await run.time { _ in spin(run.seed, UInt64(run.size)) }
    }
}

/// `steps` dependent steps of `xorshift64`, started at `splitmix(seed)`: work that no compiler can fold. Never inlined,
/// or the compiler might interleave the steps of several calls. 1 to 2 ns a step.
@inline(never)
func spin(_ seed: UInt64, _ steps: UInt64) -> UInt64 {
    var x = splitmix(seed)
    var left = steps
    while left > 0 {
        x ^= x << 13
        x ^= x >> 7
        x ^= x << 17
        left -= 1
    }
    return x
}

/// `splitmix64`'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13).
private func splitmix(_ seed: UInt64) -> UInt64 {
    var z = seed &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}

/// Uses a value in a way that the compiler cannot skip.
@inline(never) @_optimize(none)
func blackHole(_ value: UInt64) {}
