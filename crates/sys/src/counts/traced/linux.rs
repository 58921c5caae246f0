//! The tracer on Linux: a process without a program of its own, forked from this one.
//!
//! Between fork and its end it makes system calls only and allocates nothing: another thread of
//! this process may have held the allocator's lock when it was forked.
#![allow(unsafe_code)]

use std::{
    io,
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, RawFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    ptr::{NonNull, null_mut},
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use taskscale_model::missing::Missing;

use super::{Calls, Counter};

/// Words of the shared page: what became of the tracer, calls without a number of their own, and
/// calls by number. Linux has some 470 numbers, and gives out new ones one by one.
const STATE: usize = 0;
const OTHER: usize = 1;
const FIRST: usize = 2;
const WORDS: usize = 1_024;

/// Values of [`STATE`]; what is above [`REFUSED`] is an error number.
const NOTHING_YET: u64 = 0;
const TRACING: u64 = 1;
/// The kernel cannot say which system call a stop is for (before Linux 5.3).
const TOO_OLD: u64 = 2;
const REFUSED: u64 = 1_000;

/// The stop of a system call, as PTRACE_O_TRACESYSGOOD marks it.
const AT_CALL: i32 = libc::SIGTRAP | 0x80;
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;
const PTRACE_GET_SYSCALL_INFO: libc::c_long = 0x420e;
const PTRACE_SYSCALL_INFO_ENTRY: u8 = 1;

/// `struct ptrace_syscall_info` of a stop at the entry. libc has it for glibc alone.
#[repr(C)]
#[derive(Default)]
struct Info {
    op: u8,
    unused: [u8; 3],
    /// Which kind of program called: AUDIT_ARCH.
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    number: u64,
    arguments: [u64; 6],
}

/// Memory that this process and the tracer share.
#[derive(Debug)]
struct Shared(NonNull<AtomicU64>);

// SAFETY: the words are atomic, and the memory is unmapped by the last owner alone.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> io::Result<Self> {
        let (length, rights) = (WORDS * size_of::<AtomicU64>(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new anonymous mapping, which touches no other.
        let at =
            unsafe { libc::mmap(null_mut(), length, rights, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0) };
        match NonNull::new(at.cast::<AtomicU64>()) {
            Some(words) if at != libc::MAP_FAILED => Ok(Shared(words)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `WORDS` words that the kernel filled with zeros, and lives as
        // long as `self`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), WORDS) }
    }

    /// One writer: the tracer. No index panics, since a panic would allocate.
    fn add(&self, word: usize) {
        if let Some(word) = self.words().get(word) {
            word.store(word.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    fn set_state(&self, state: u64) {
        if let Some(word) = self.words().get(STATE) {
            word.store(state, Release);
        }
    }

    fn state(&self) -> u64 {
        self.words().get(STATE).map_or(NOTHING_YET, |word| word.load(Acquire))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more.
        unsafe {
            libc::munmap(self.0.as_ptr().cast(), WORDS * size_of::<AtomicU64>());
        }
    }
}

/// A tracer that lives, and what it has counted.
#[derive(Debug)]
pub(crate) struct Session {
    tracer: libc::pid_t,
    shared: Shared,
}

impl Session {
    pub fn read(&self) -> Calls {
        let mut calls = Calls::default();
        for (at, word) in self.shared.words().iter().enumerate().skip(OTHER) {
            match (at.checked_sub(FIRST), word.load(Relaxed)) {
                (_, 0) => {}
                (None, count) => calls.other = count,
                (Some(number), count) => {
                    calls.by_number.insert(number as u32, count);
                }
            }
        }
        calls
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: plain integers; the tracer is a child that nobody else waits for, so its pid is
        // its own until the second call. It dies at once: it never sleeps uninterruptibly.
        unsafe {
            libc::kill(self.tracer, libc::SIGKILL);
            while libc::waitpid(self.tracer, null_mut(), 0) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }
}

/// Has the next process that is started traced from its first instruction on.
#[derive(Debug)]
pub(crate) struct Tracer {
    session: Arc<Session>,
    /// The end of the socket on which the new process speaks with the tracer.
    theirs: UnixStream,
}

impl Tracer {
    /// Starts the tracer, which waits for a process to be told of.
    ///
    /// # Errors
    /// There is no memory, socket or process for it.
    pub fn prepare() -> Result<Self, Missing> {
        let failed = |what: &str, error: io::Error| {
            Missing::new(
                format!("there is no {what} for the tracer of system calls: {error}"),
                "raise the limits of this process on memory, files and processes (ulimit -a)",
            )
        };
        let shared = Shared::new().map_err(|error| failed("memory", error))?;
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed("socket", error))?;
        let tracer = fork(ours.as_raw_fd(), &shared).map_err(|error| failed("process", error))?;
        // `ours` is closed here: where the tracer dies, the new process reads the end of the
        // socket.
        Ok(Tracer { session: Arc::new(Session { tracer, shared }), theirs })
    }

    /// Arranges that the program of `command` is traced. If that is refused, the program starts all
    /// the same.
    pub fn hook(&self, command: &mut std::process::Command) {
        let socket = self.theirs.as_raw_fd();
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated. The
        // socket is open: `self` is borrowed until the process is started.
        unsafe {
            command.pre_exec(move || {
                let pid = libc::getpid().to_ne_bytes();
                // A tracer that died is told by its state.
                if libc::send(socket, pid.as_ptr().cast(), pid.len(), libc::MSG_NOSIGNAL)
                    == pid.len() as isize
                {
                    read_all(socket, &mut [0]);
                }
                Ok(())
            });
        }
    }

    /// Says what came of it, once the process has been started.
    ///
    /// # Errors
    /// The kernel refused; says why, with the remedy.
    pub fn receive(self) -> Result<Counter, Missing> {
        match self.session.shared.state() {
            TRACING => Ok(Counter { session: self.session }),
            state => Err(refused(state)),
        }
    }

    /// What must live as long as the process does.
    pub fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }
}

fn refused(state: u64) -> Missing {
    let errno = state.checked_sub(REFUSED).and_then(|errno| i32::try_from(errno).ok());
    let (reason, remedy) = match (state, errno) {
        (TOO_OLD, _) => (
            "PTRACE_GET_SYSCALL_INFO is not there".to_owned(),
            "use Linux 5.3 or newer, or run as root with the tracepoint",
        ),
        (_, Some(libc::EPERM | libc::EACCES)) => (
            "ptrace: permission denied".to_owned(),
            "end the debugger or strace that traces this already; let processes be traced \
             (sysctl kernel.yama.ptrace_scope=1); in a container, allow ptrace (CAP_SYS_PTRACE, or its seccomp profile)",
        ),
        (_, Some(errno)) => (format!("ptrace: {}", io::Error::from_raw_os_error(errno)), ""),
        _ => (
            "the tracer ended before it began".to_owned(),
            "run again; see whether something kills processes (dmesg)",
        ),
    };
    Missing::new(format!("system calls cannot be traced: {reason}"), remedy)
}

/// Forks the tracer, with all signals blocked: Ctrl-C is for the tool, which ends it.
fn fork(socket: RawFd, shared: &Shared) -> io::Result<libc::pid_t> {
    let parent = std::process::id();
    // SAFETY: sigset_t is plain data that sigfillset fills. The forked process runs `trace` alone,
    // which makes system calls only and never returns.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let pid = libc::fork();
        if pid == 0 {
            trace(socket, shared, parent);
        }
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }
}

/// Reads until `bytes` is full; tells whether it is.
fn read_all(fd: RawFd, bytes: &mut [u8]) -> bool {
    let mut have = 0;
    while let Some(rest) = bytes.get_mut(have..).filter(|rest| !rest.is_empty()) {
        // SAFETY: `rest` is valid for its length.
        match unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) } {
            count @ 1.. => have += count as usize,
            0 => return false,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
    true
}

/// One request to ptrace. The error is its number.
fn ptrace(request: libc::c_long, pid: libc::pid_t, address: usize, data: usize) -> Result<libc::c_long, i32> {
    // SAFETY: the callers' addresses are 0, plain numbers, or that of an `Info`, whose pointer was
    // exposed and which the kernel fills up to the length given.
    let answer = unsafe { libc::syscall(libc::SYS_ptrace, request, libc::c_long::from(pid), address, data) };
    if answer < 0 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) } else { Ok(answer) }
}

fn info(pid: libc::pid_t) -> Result<Info, i32> {
    let mut info = Info::default();
    ptrace(PTRACE_GET_SYSCALL_INFO, pid, size_of::<Info>(), (&raw mut info).expose_provenance())?;
    Ok(info)
}

/// The tracer's life: learns of a process, seizes it, counts.
fn trace(socket: RawFd, shared: &Shared, parent: u32) -> ! {
    // SAFETY: all of these take plain integers. The tracer dies with the thread that started it,
    // as a probe does. It keeps no descriptor but the socket: what it kept open of another probe's
    // pipes would never be seen to close.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent || libc::dup2(socket, 0) < 0 {
            libc::_exit(1);
        }
        if libc::syscall(libc::SYS_close_range, 1, libc::c_long::from(u32::MAX), 0) < 0 {
            for fd in 1..libc::sysconf(libc::_SC_OPEN_MAX).clamp(64, 4_096) as RawFd {
                libc::close(fd);
            }
        }
    }
    let mut pid = [0; 4];
    if !read_all(0, &mut pid) {
        end();
    }
    let pid = libc::pid_t::from_ne_bytes(pid);
    let arch = match seize(pid) {
        Ok(arch) => {
            shared.set_state(TRACING);
            arch
        }
        Err(state) => {
            shared.set_state(state);
            0
        }
    };
    // SAFETY: one byte is read; the descriptor is not used afterwards.
    unsafe {
        libc::send(0, [1u8].as_ptr().cast(), 1, libc::MSG_NOSIGNAL);
        libc::close(0);
    }
    if shared.state() != TRACING {
        end();
    }
    count(shared, arch)
}

fn end() -> ! {
    // SAFETY: takes an integer and does not return; no handler of the tool's runs.
    unsafe { libc::_exit(0) }
}

/// Takes hold of a process that waits for us, and has it stop at its system calls. Returns which
/// kind of program it is, which is what all programs of this machine are.
fn seize(pid: libc::pid_t) -> Result<u32, u64> {
    let refused = |errno: i32| REFUSED + errno.unsigned_abs() as u64;
    let request = |request: libc::c_uint, data: usize| ptrace(libc::c_long::from(request), pid, 0, data);
    request(libc::PTRACE_SEIZE as _, OPTIONS as usize).map_err(refused)?;
    request(libc::PTRACE_INTERRUPT as _, 0).map_err(refused)?;
    let mut status = 0;
    // SAFETY: `status` is a place for one c_int.
    while unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return Err(refused(libc::ECHILD));
        }
    }
    match info(pid) {
        Ok(info) => {
            request(libc::PTRACE_SYSCALL as _, 0).map_err(refused)?;
            Ok(info.arch)
        }
        Err(_) => {
            // It goes on untraced.
            request(libc::PTRACE_DETACH as _, 0).map_err(refused)?;
            Err(TOO_OLD)
        }
    }
}

/// Counts until the last process has ended. Keeps nothing of any thread: the kernel says at each
/// stop what it is for.
fn count(shared: &Shared, arch: u32) -> ! {
    // What comes before the program's first instruction is ours: the tracepoint does not count it
    // either.
    let mut has_begun = false;
    loop {
        let mut status = 0;
        // SAFETY: `status` is a place for one c_int.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        if pid < 0 {
            match io::Error::last_os_error().kind() {
                io::ErrorKind::Interrupted => continue,
                // Nobody is left.
                _ => end(),
            }
        }
        if !libc::WIFSTOPPED(status) {
            continue;
        }
        let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
        let mut request = libc::PTRACE_SYSCALL as libc::c_long;
        let mut handed_on = 0;
        match (event, signal) {
            (0, AT_CALL) => {
                // A process that was killed meanwhile has nothing to tell.
                if let Ok(info) = info(pid)
                    && has_begun
                    && info.op == PTRACE_SYSCALL_INFO_ENTRY
                {
                    shared.add(place(&info, arch));
                }
            }
            // A signal of the process's own.
            (0, signal) => handed_on = signal as usize,
            (libc::PTRACE_EVENT_EXEC, _) => has_begun = true,
            // The process was stopped, by job control or kill, and stays so until its SIGCONT,
            // which is told by one more stop, with SIGTRAP.
            (libc::PTRACE_EVENT_STOP, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                request = libc::PTRACE_LISTEN as libc::c_long;
            }
            // A new thread or process, which begins with a stop; the same told by its parent.
            _ => {}
        }
        // The error is that of a process that was killed meanwhile. Its end is told by waitpid.
        let _ = ptrace(request, pid, 0, handed_on);
    }
}

/// The word in which a call is counted.
fn place(info: &Info, arch: u32) -> usize {
    match usize::try_from(info.number) {
        Ok(number) if info.arch == arch && number < WORDS - FIRST => FIRST + number,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_place_is_counted_as_other() {
        let at = |number, arch| place(&Info { number, arch, ..Info::default() }, 7);
        assert_eq!(at(0, 7), FIRST);
        assert_eq!(at(1_021, 7), WORDS - 1);
        assert_eq!(at(1_022, 7), OTHER);
        assert_eq!(at(u64::MAX, 7), OTHER, "a call that a filter forbade");
        assert_eq!(at(0, 8), OTHER, "a program of another kind");
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let missing = refused(REFUSED + libc::EPERM as u64);
        assert!(missing.remedy.contains("ptrace_scope") && missing.remedy.contains("strace"), "{missing}");
        assert!(refused(TOO_OLD).remedy.contains("5.3"));
        assert!(refused(NOTHING_YET).reason.contains("ended before"));
    }

    #[test]
    fn a_tracer_that_is_not_needed_ends() {
        let tracer = Tracer::prepare().expect("a tracer");
        let pid = tracer.session.tracer;
        drop(tracer);
        // SAFETY: plain integers; signal 0 is sent to nobody.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1, "it is still there");
    }
}
