//! Clocks. All times are in nanoseconds.

#![allow(unsafe_code)]

use std::io;

/// Reads the monotonic clock in nanoseconds. Only differences mean something. Deadlines in
/// [`crate::process`] are on this clock.
///
/// One call costs about 25 ns (vDSO). The clock never goes back, and stands still while the machine
/// sleeps.
///
/// ```
/// let start = taskscale_sys::clock::monotonic_ns();
/// assert!(taskscale_sys::clock::monotonic_ns() >= start);
/// ```
pub fn monotonic_ns() -> u64 {
    // A POSIX system without CLOCK_MONOTONIC does not run Rust's own `Instant` either.
    read(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Reads the time for which the machine has slept since it was started, in nanoseconds: what the
/// clock that counts sleep is ahead of [`monotonic_ns`]. Two readings differ by at most 2 ms where
/// it did not sleep between them, unless this thread waited for a CPU in each of five tries.
pub fn slept_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let look = || {
            let before = monotonic_ns();
            let with_sleep = read(libc::CLOCK_BOOTTIME).unwrap_or(0);
            (monotonic_ns() - before, with_sleep.saturating_sub(before))
        };
        let mut last = look();
        for _ in 1..5 {
            if last.0 < 1_000_000 {
                break;
            }
            last = look();
        }
        last.1
    }
    // macOS has no such pair of clocks in libc that Linux has too.
    #[cfg(not(target_os = "linux"))]
    0
}

/// Returns how often this process was continued after a stop (SIGCONT), counted from the first call
/// on.
pub fn continued() -> u64 {
    crate::ffi::continued()
}

/// Returns the CPU nanoseconds (user and kernel, all threads, ended ones included) that process
/// `pid` has used so far.
///
/// The call reads the kernel's process CPU clock, which counts in ns; `/proc/PID/stat` counts in
/// ticks of 10 ms, which is too coarse. One call costs about 0.5 us. Child processes of `pid` are
/// not included.
///
/// # Errors
/// `NotFound` when there is no such process, `Unsupported` outside Linux.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// let before = taskscale_sys::clock::process_cpu_ns(std::process::id())?;
/// assert!(taskscale_sys::clock::process_cpu_ns(std::process::id())? >= before);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn process_cpu_ns(pid: u32) -> io::Result<u64> {
    #[cfg(target_os = "linux")]
    {
        let gone =
            || io::Error::new(io::ErrorKind::NotFound, format!("no process {pid} to read the CPU clock of"));
        // 0 would mean this process to the kernel. The kernel gives out pids up to PID_MAX_LIMIT,
        // 2^22. A clock id has room for 29 bits; a pid beyond them would silently name the clock of
        // another process.
        let id = libc::pid_t::try_from(pid).ok().filter(|id| (1..=1 << 22).contains(id)).ok_or_else(gone)?;
        let mut clock: libc::clockid_t = 0;
        // SAFETY: `clock` is a valid place for one clockid_t for the length of the call.
        match unsafe { libc::clock_getcpuclockid(id, &mut clock) } {
            0 => {}
            // The function returns the error number; errno is not set.
            libc::ESRCH => return Err(gone()),
            number => return Err(io::Error::from_raw_os_error(number)),
        }
        // The process can end between the two calls; the clock id is then invalid (EINVAL).
        read(clock).map_err(|error| if error.raw_os_error() == Some(libc::EINVAL) { gone() } else { error })
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("the CPU clock of another process ({pid}) can be read on Linux only"),
    ))
}

/// Returns the kernel's number of the calling thread, by which [`thread_cpu_ns`] knows it; `None`
/// outside Linux.
pub fn thread_id() -> Option<u32> {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes nothing and cannot fail.
    return u32::try_from(unsafe { libc::gettid() }).ok();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns the CPU nanoseconds (user and kernel) that the calling thread has used so far. One call
/// costs about 0.3 us, as it enters the kernel.
///
/// # Errors
/// The system has no such clock.
pub fn own_thread_cpu_ns() -> io::Result<u64> {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the CPU nanoseconds (user and kernel) that a thread of this process has used so far;
/// `None` outside Linux and where the thread has ended. One call costs about 0.3 us.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use taskscale_sys::clock::{thread_cpu_ns, thread_id};
/// let me = thread_id().expect("Linux");
/// assert!(thread_cpu_ns(me) <= thread_cpu_ns(me));
/// assert_eq!(thread_cpu_ns(u32::MAX), None);
/// # }
/// ```
pub fn thread_cpu_ns(thread: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // As for processes, a number beyond PID_MAX_LIMIT would name another clock.
        let thread =
            libc::clockid_t::try_from(thread).ok().filter(|thread| (1..=1 << 22).contains(thread))?;
        // The kernel codes the clock as the number's complement above three bits. They say per
        // thread (4) and scheduler's time (2).
        read(!thread << 3 | 6).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = thread;
        None
    }
}

/// Returns the seconds since 1970-01-01 UTC; 0 on a machine whose clock is set before that.
pub fn unix_time_s() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn read(clock: libc::clockid_t) -> io::Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for one timespec for the length of the call.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Neither field is negative on the clocks read here.
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let readings: Vec<u64> = (0..1_000).map(|_| monotonic_ns()).collect();
        assert!(readings.is_sorted());
        assert!(readings[0] > 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn work_moves_the_cpu_clock_of_a_process() {
        let before = process_cpu_ns(std::process::id()).expect("own clock");
        let mut sum = 0u64;
        // The loop ends when the clock has moved: an answer of always the same number would never
        // end here.
        while process_cpu_ns(std::process::id()).expect("own clock") == before {
            sum = std::hint::black_box(sum + 1);
        }
    }

    #[cfg(target_os = "linux")]
    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_uses_no_cpu_time() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(thread_id()).expect("someone listens");
            ended.recv().ok();
        });
        let id = told.recv().expect("a message").expect("Linux");
        let (waits, mine) = (thread_cpu_ns(id).expect("it lives"), thread_id().expect("Linux"));
        assert_ne!(id, mine);
        let begin = thread_cpu_ns(mine).expect("it lives");
        while thread_cpu_ns(mine).expect("it lives") < begin + 5_000_000 {}
        assert!(thread_cpu_ns(id).expect("it lives") < waits + 5_000_000, "it waits meanwhile");
        drop(end);
        thread.join().expect("no panic");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_process_no_clock() {
        for pid in [0, 1 << 22, i32::MAX as u32, u32::MAX] {
            assert_eq!(process_cpu_ns(pid).expect_err("no such process").kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn the_date_is_after_this_was_written() {
        assert!(unix_time_s() > 1_750_000_000);
    }
}
