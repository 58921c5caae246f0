//! Context switches and page faults of a process with all its threads, read from outside by its
//! parent, without privileges.
//!
//! The kernel keeps these sums for a whole process, those of ended threads included, and tells them
//! to a parent when the child *stops* (waitid(2) with `WSTOPPED` fills a `rusage`). [`read`] stops
//! the process, which is idle between two requests, takes the sums and lets it go on.
//!
//! | source | loses |
//! |---|---|
//! | `/proc/PID/status`, `/proc/PID/sched` | switches of all threads but the first |
//! | `/proc/PID/task/*/status` | switches of threads that have ended: the sum can fall |
//! | `/proc/PID/stat` | it has no switches; faults are whole |
//! | perf's software events | needs privileges (perf_event_paranoid 1), tells no voluntary from involuntary |
//! | taskstats (netlink) | needs CAP_NET_ADMIN, and has no switches of ended threads |
//! | `wait4` at the end | what is between two requests: it tells the whole life only |
//! | the stop | children that the process has not waited for |
//!
//! **Exact.** Nothing of any thread is lost. The stop itself wakes each living thread and lets it
//! wait again: two switches for each living thread and reading, which a difference of two requests
//! in one process cancels. How often threads wait and are interrupted follows from the schedule,
//! so no two runs of a program with several threads agree.
//!
//! **What it changes.** Some calls that wait (`epoll_wait`, see signal(7)) end with EINTR after a
//! stop. Runtimes call them again.

use std::io;

#[cfg(not(target_os = "linux"))]
use elsewhere::stop_and_ask;
#[cfg(target_os = "linux")]
use linux::stop_and_ask;

use crate::process::Child;

/// What the kernel counted of a process and of the children that it has waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// How often a thread gave up its CPU to wait for something.
    pub voluntary_switches: u64,
    /// How often a thread was made to give up its CPU.
    pub involuntary_switches: u64,
    /// Page faults that were answered from memory.
    pub minor_faults: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
}

impl Usage {
    /// What was counted after `before`.
    #[must_use]
    pub fn since(&self, before: &Usage) -> Usage {
        Usage {
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }
}

/// Reads the counts so far, while the process is idle. It stops for some 100 us, its children go
/// on.
///
/// # Errors
/// The process has ended, or does not stop within a second (it hangs in the kernel).
pub fn read(child: &Child) -> io::Result<Usage> {
    stop_and_ask(child.pid())
}

/// Stands in on other systems, where a stop tells nothing.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;

    pub(super) fn stop_and_ask(_: u32) -> io::Result<super::Usage> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "switches and faults are counted on Linux only"))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code)]

    use std::{io, mem::zeroed, time::Duration};

    use super::Usage;
    use crate::clock::monotonic_ns;

    /// Time that a process gets to stop: an idle one takes some 50 us.
    const PATIENCE_NS: u64 = 1_000_000_000;

    pub(super) fn stop_and_ask(pid: u32) -> io::Result<Usage> {
        let pid = libc::pid_t::try_from(pid)
            .ok()
            .filter(|pid| *pid > 1)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
        signal(pid, libc::SIGSTOP)?;
        let usage = until_stopped(pid);
        // Whatever was told: nothing else lets it go on.
        signal(pid, libc::SIGCONT)?;
        usage
    }

    fn signal(pid: libc::pid_t, signal: libc::c_int) -> io::Result<()> {
        // SAFETY: plain integers.
        if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn until_stopped(pid: libc::pid_t) -> io::Result<Usage> {
        let deadline_ns = monotonic_ns() + PATIENCE_NS;
        loop {
            match ask(pid)? {
                Some((libc::CLD_STOPPED, usage)) => return Ok(usage),
                Some(_) => return Err(io::Error::other("the process has ended")),
                None if monotonic_ns() > deadline_ns => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "the process does not stop"));
                }
                None => std::thread::sleep(Duration::from_micros(20)),
            }
        }
    }

    /// Asks for a change of the child's state and its sums, and leaves both as they are.
    fn ask(pid: libc::pid_t) -> io::Result<Option<(libc::c_int, Usage)>> {
        let options = libc::WSTOPPED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: both are plain data for which all zeros is a value, and the call writes to them
        // alone. The function of the C library has no place for a `rusage`.
        unsafe {
            let mut info: libc::siginfo_t = zeroed();
            let mut sums: libc::rusage = zeroed();
            let place = (&raw mut info, &raw mut sums);
            if libc::syscall(libc::SYS_waitid, libc::P_PID, pid, place.0, options, place.1) != 0 {
                return Err(io::Error::last_os_error());
            }
            // With WNOHANG and nothing to tell, si_pid stays 0.
            if info.si_pid() == 0 {
                return Ok(None);
            }
            let count = |count: libc::c_long| u64::try_from(count).unwrap_or_default();
            let usage = Usage {
                voluntary_switches: count(sums.ru_nvcsw),
                involuntary_switches: count(sums.ru_nivcsw),
                minor_faults: count(sums.ru_minflt),
                major_faults: count(sums.ru_majflt),
            };
            Ok(Some((info.si_code, usage)))
        }
    }
}
