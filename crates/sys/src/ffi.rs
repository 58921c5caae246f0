//! Calls into libc for which `std` has no function, each as one safe function.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// A descriptor and what to wait for on it. `fd` is `None` for one that is closed.
#[derive(Debug, Clone, Copy)]
pub struct Interest<'a> {
    pub fd: Option<BorrowedFd<'a>>,
    pub events: libc::c_short,
}

/// Waits until something happens on one of `interests` or `timeout_ms` are over. A signal ends the
/// wait early; the caller checks its clock anyway.
pub fn poll<const N: usize>(interests: [Interest<'_>; N], timeout_ms: i32) -> io::Result<()> {
    // poll(2) skips negative descriptors.
    let mut fds = interests.map(|interest| libc::pollfd {
        fd: interest.fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: interest.events,
        revents: 0,
    });
    // SAFETY: `fds` is an array of N initialised pollfd, and the borrows keep the descriptors open.
    if unsafe { libc::poll(fds.as_mut_ptr(), N as libc::nfds_t, timeout_ms) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Makes reads and writes on `fd` return `WouldBlock` where they would wait.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: F_GETFL and F_SETFL take and return plain integers.
    let done = unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) >= 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes reads and writes on `fd` wait again.
pub fn set_blocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: F_GETFL and F_SETFL take and return plain integers.
    let done = unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) >= 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the number of bytes that could be read from `fd` at once.
pub fn bytes_waiting(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one c_int to the place given.
    if unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &mut count) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::try_from(count).unwrap_or(0))
}

/// How a process ended, as the kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    Signal(i32),
}

/// Tells whether our child `pid` has ended, and how. The child stays a zombie, so that its pid and
/// its group stay its own.
pub fn peek_exit(pid: u32) -> io::Result<Option<Ended>> {
    // SAFETY: siginfo_t is plain data for which all zeros is a value; waitid writes to the place
    // given.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_PID, pid, &mut info, options) != 0 {
            return Err(io::Error::last_os_error());
        }
        // With WNOHANG and nothing to tell, si_pid stays 0 (POSIX).
        Ok((info.si_pid() != 0).then(|| match info.si_code {
            libc::CLD_EXITED => Ended::Code(info.si_status()),
            _ => Ended::Signal(info.si_status()),
        }))
    }
}

/// Tells whether our child `pid` was stopped or continued since the last call. The kernel keeps the
/// last of such events until it is asked for, so that a stop that is over is told too.
pub fn was_stopped(pid: u32) -> bool {
    // SAFETY: as in `peek_exit`; without WEXITED no child is reaped.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG;
        libc::waitid(libc::P_PID, pid, &mut info, options) == 0 && info.si_pid() != 0
    }
}

/// How often SIGCONT came to this process.
static CONTINUED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_continued(_signal: libc::c_int) {
    CONTINUED.fetch_add(1, Ordering::Relaxed);
}

/// Counts how often this process was continued after a stop, from the first call on.
pub fn continued() -> u64 {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        // SAFETY: the handler adds to an atomic, which a signal handler may do; sigaction is plain
        // data for which all zeros is a value, with no signal in its mask.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = count_continued;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            // Where it cannot be set nothing is counted, and no stop of this process is noticed.
            libc::sigaction(libc::SIGCONT, &action, std::ptr::null_mut());
        }
    });
    CONTINUED.load(Ordering::Relaxed)
}

/// Sends SIGKILL to one process. Returns whether there was one to kill.
pub fn kill(pid: u32) -> bool {
    // 0 and negative numbers mean groups, and 1 is init, which is never ours to kill.
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 1) else { return false };
    // SAFETY: kill takes plain integers.
    unsafe { libc::kill(pid, libc::SIGKILL) == 0 }
}

/// Sends SIGKILL to all members of a process group. Returns whether there was one to kill.
pub fn kill_group(group: u32) -> bool {
    let Some(group) = libc::pid_t::try_from(group).ok().filter(|group| *group > 1) else { return false };
    // SAFETY: killpg takes plain integers.
    unsafe { libc::killpg(group, libc::SIGKILL) == 0 }
}

/// Removes the zombie `pid` if it is a child of ours.
pub fn reap(pid: u32) {
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 1) else { return };
    // SAFETY: a null status pointer is allowed.
    unsafe {
        libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG);
    }
}

/// Opens a descriptor that becomes readable when process `pid` ends; `None` where the kernel has
/// none (before Linux 5.3).
pub fn pidfd(pid: u32) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        // SAFETY: pidfd_open takes plain integers and returns a new descriptor (CLOEXEC) that
        // nobody else owns.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
        // SAFETY: as above; a descriptor always fits an i32.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Makes orphans among our descendants children of this process, where they would become init's, so
/// that they can be reaped. In a container whose init does not reap, they would stay zombies.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl with PR_SET_CHILD_SUBREAPER takes plain integers. A failure leaves the orphans
    // to init.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

/// Arranges that the program started by `command` dies with the thread that spawns it (Linux),
/// inherits no descriptor but its three pipes, and has `mark` as its limit of file locks.
pub fn isolate(command: &mut std::process::Command, mark: Option<u64>) {
    use std::os::unix::process::CommandExt;
    let parent = std::process::id();
    // SAFETY: between fork and exec only async-signal-safe calls are made, and nothing is
    // allocated.
    unsafe {
        command.pre_exec(move || {
            #[cfg(target_os = "linux")]
            {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // A parent that died before the line above would leave this process running for
                // ever.
                if libc::getppid() as u32 != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
            }
            #[cfg(not(target_os = "linux"))]
            let _ = parent;
            if let Some(mark) = mark {
                limit_locks(mark);
            }
            close_on_exec_from(3);
            Ok(())
        });
    }
}

/// Arranges that the program started by `command` is in a session of its own, which no signal of
/// the terminal and of our group reaches, and inherits no descriptor but its three streams.
pub fn detach(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only async-signal-safe calls are made, and nothing is
    // allocated. setsid takes nothing.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            close_on_exec_from(3);
            Ok(())
        });
    }
}

/// Names the only thread of this process, and so the process as `ps`, `pkill` and `killall` see it.
pub fn set_name(name: &std::ffi::CStr) {
    #[cfg(target_os = "linux")]
    // SAFETY: PR_SET_NAME reads a C string, of which the kernel takes 15 bytes.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// Tells whether a signal was ignored when this program was started, as `nohup` does.
pub fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: sigaction is plain data for which all zeros is a value; with no new action the call
    // only writes the present one to the place given.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Returns the most file locks that this process may allow a child; `None` where there is no such
/// limit.
pub fn most_locks() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: getrlimit writes to the place given.
        (unsafe { libc::getrlimit(libc::RLIMIT_LOCKS, &mut limit) } == 0).then_some(limit.rlim_max)
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    None
}

/// Sets the limit of file locks of this process and of all that it starts. Async-signal-safe. A
/// system that refuses leaves it as it is.
fn limit_locks(most: u64) {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    // SAFETY: setrlimit reads the limit given.
    unsafe {
        libc::setrlimit(libc::RLIMIT_LOCKS, &libc::rlimit { rlim_cur: most, rlim_max: most });
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    let _ = most;
}

/// Marks all descriptors from `first` up as close-on-exec. It does not close them, since `std`
/// still has its own pipe open.
fn close_on_exec_from(first: libc::c_int) {
    #[cfg(target_os = "linux")]
    // SAFETY: close_range takes plain integers (Linux 5.11 for this flag).
    unsafe {
        let flag = libc::CLOSE_RANGE_CLOEXEC as libc::c_ulong;
        if libc::syscall(libc::SYS_close_range, first as libc::c_ulong, u32::MAX as libc::c_ulong, flag) == 0
        {
            return;
        }
    }
    // Without that call, descriptors are marked one by one. The limit can be a billion in
    // containers: 4,096 covers what a shell hands down. SAFETY: sysconf and fcntl take plain
    // integers; a descriptor that is not open is an error without effect.
    unsafe {
        let limit = libc::sysconf(libc::_SC_OPEN_MAX).clamp(64, 4_096) as libc::c_int;
        for fd in first..limit {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Returns the user whose rights this process has.
pub fn effective_user() -> u32 {
    // SAFETY: geteuid takes nothing, returns a plain integer and cannot fail.
    unsafe { libc::geteuid() }
}

/// Tells whether an access list says more than the mode about who may write a file.
pub fn has_acl(path: &std::path::Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
        // SAFETY: both strings end with a zero; with size 0 nothing is written.
        unsafe {
            libc::getxattr(path.as_ptr(), c"system.posix_acl_access".as_ptr(), std::ptr::null_mut(), 0) > 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

/// Opens a file in memory that has no name. It is closed when a program is started (Linux).
pub fn memory_file(label: &std::ffi::CStr) -> io::Result<std::fs::File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        // SAFETY: the label is a C string; a new descriptor is returned, which nobody else owns.
        let fd = unsafe { libc::memfd_create(label.as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        Ok(unsafe { std::fs::File::from_raw_fd(fd) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = label;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Counts the CPUs that the scheduler may put this process on; `None` where there is no affinity
/// mask (macOS).
pub fn cpus_in_affinity_mask() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // The kernel wants at least as many bits as it has CPUs: 1,024 as a rule, up to 8,192
        // (NR_CPUS).
        for bytes in [128, 1_024, 8_192_usize] {
            let mut mask = vec![0u64; bytes / 8];
            // SAFETY: `mask` is `bytes` long and plain bits; 0 is this thread.
            if unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) } == 0 {
                return Some(mask.iter().map(|word| u64::from(word.count_ones())).sum());
            }
        }
        None
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Counts the CPUs that are switched on.
pub fn cpus_online() -> Option<u64> {
    system_value(libc::_SC_NPROCESSORS_ONLN)
}

pub fn physical_memory_bytes() -> Option<u64> {
    system_value(libc::_SC_PHYS_PAGES)?.checked_mul(system_value(libc::_SC_PAGESIZE)?)
}

/// The steps per second in which `/proc` counts CPU time.
pub fn ticks_per_second() -> u64 {
    system_value(libc::_SC_CLK_TCK).unwrap_or(100)
}

fn system_value(name: libc::c_int) -> Option<u64> {
    // SAFETY: sysconf takes and returns plain integers.
    u64::try_from(unsafe { libc::sysconf(name) }).ok().filter(|value| *value > 0)
}

/// Returns name and release of the kernel: `Linux 6.18.44`.
pub fn kernel() -> Option<String> {
    // SAFETY: utsname is plain bytes for which all zeros is a value; uname fills it with
    // NUL-terminated strings.
    unsafe {
        let mut name: libc::utsname = std::mem::zeroed();
        if libc::uname(&mut name) != 0 {
            return None;
        }
        let text =
            |field: &[libc::c_char]| std::ffi::CStr::from_ptr(field.as_ptr()).to_string_lossy().into_owned();
        Some(format!("{} {}", text(&name.sysname), text(&name.release)))
    }
}
