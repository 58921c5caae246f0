// The two clocks, both in nanoseconds.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Nanoseconds of the monotonic wall clock. Costs about 25 ns.
public func wallNs() -> UInt64 { read(CLOCK_MONOTONIC) }

/// Nanoseconds of CPU that all threads of this process have used, user and system. Costs a system call, about 300 ns. What
/// runs on another CPU may be short of a tick.
func cpuNs() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

/// The same where a sample begins: exact, for some 5 us. The wall clock is read behind it.
func cpuBeginNs() -> UInt64 {
    countRunningThreads()
    return cpuNs()
}

/// The same where it ends, without what this call takes. The wall clock is read before it.
func cpuEndNs() -> UInt64 {
    let begun = read(CLOCK_THREAD_CPUTIME_ID)
    countRunningThreads()
    let took = read(CLOCK_THREAD_CPUTIME_ID) - begun
    return cpuNs() - took
}

/// The smallest step that `clock` was seen to make in 1,000 steps: what it can really show, cost of reading it
/// included, and not the 1 ns that `clock_getres` promises.
func resolutionNs(_ clock: () -> UInt64) -> UInt64 {
    var (smallest, last, steps) = (UInt64.max, clock(), 0)
    while steps < 1000 {
        let now = clock()
        if now > last { (smallest, last, steps) = (min(smallest, now - last), now, steps + 1) }
    }
    return smallest
}

func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
