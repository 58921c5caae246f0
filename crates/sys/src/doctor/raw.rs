//! Calls for which `std` has no function: CPU clocks, a hardware counter.

#![allow(unsafe_code)]

use taskscale_model::missing::Reading;

/// Reads a clock of the system in nanoseconds; 0 where there is none.
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for one timespec for the length of the call.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return 0;
    }
    // Neither field is negative on CPU clocks and the monotonic one.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Makes a system call that does nothing but enter and leave the kernel. libc answers `getpid` and
/// others from a cache.
pub fn cheapest_system_call() {
    // SAFETY: getppid takes nothing and returns a plain integer.
    unsafe {
        libc::getppid();
    }
}

/// Opens a counter of instructions of this thread in user mode by perf_event_open(2), and closes it
/// again.
pub fn try_hardware_counter() -> Reading<()> {
    crate::counts::instructions::try_to_open().into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_moves_the_clock_of_the_thread() {
        let before = clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        while clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) == before {
            cheapest_system_call();
        }
        assert_eq!(clock_ns(-1), 0, "no such clock");
    }

    #[test]
    fn a_counter_is_there_or_says_why_not() {
        if let Reading::Missing(missing) = try_hardware_counter() {
            assert!(!missing.reason.is_empty());
        }
    }
}
