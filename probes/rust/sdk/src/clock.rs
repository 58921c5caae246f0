//! The two clocks. They hold the only `unsafe` of the probe.

/// Nanoseconds of the monotonic wall clock (`CLOCK_MONOTONIC`). A reading costs about 25 ns.
#[inline] pub fn wall_ns() -> u64 { read(libc::CLOCK_MONOTONIC) }

/// Nanoseconds of CPU that all threads of this process have used, user and system
/// (`CLOCK_PROCESS_CPUTIME_ID`). A reading is a system call and costs about 300 ns.
#[inline] pub fn cpu_ns() -> u64 { read(libc::CLOCK_PROCESS_CPUTIME_ID) }

/// The smallest of 1,000 steps that `clock` was seen to make. This is what it can really show, the
/// cost of reading it included. `clock_getres` promises 1 ns, which it cannot show.
pub fn resolution_ns(clock: fn() -> u64) -> u64 {
    let (mut smallest, mut last, mut steps) = (u64::MAX, clock(), 0);
    while steps < 1_000 {
        let now = clock();
        if now > last { (smallest, last, steps) = (smallest.min(now - last), now, steps + 1); }
    }
    smallest
}

#[allow(unsafe_code)] fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the one value that the call writes. The call cannot fail:
    // both clocks exist on every Unix that Rust's standard library supports, and the pointer is
    // good.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_move_forward_and_show_their_steps() {
        for clock in [wall_ns, cpu_ns] {
            let before = clock();
            assert!(resolution_ns(clock) > 0);
            assert!(clock() > before);
        }
    }
}
