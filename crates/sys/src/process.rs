//! A probe as a child process over pipes: one line out, one line in, every wait bounded, and
//! nothing left behind.
//!
//! It is written for the measuring loop: it runs on the caller's thread, without async. While it
//! waits it sleeps in `poll`, so that the tool takes no CPU from what it measures. Deadlines are on
//! [`crate::clock::monotonic_ns`].
//!
//! ```
//! use taskscale_sys::{clock::monotonic_ns, process::{Child, Command}};
//!
//! let mut child = Child::spawn(&Command::new("/bin/sh", ["-c", "read line; echo got $line"]))?;
//! let deadline_ns = monotonic_ns() + 5_000_000_000;
//! child.send_line(b"this", deadline_ns)?;
//! assert_eq!(child.read_line(deadline_ns)?, b"got this");
//! assert_eq!(child.end(5_000_000_000).expect("it ended by itself").to_string(), "exit status 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod exit;
mod family;
mod tail;
mod talk;
pub(crate) mod tree;
pub mod watchdog;

use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::counts::{Counters, Prepared, Wanted, traced::Session};
pub use crate::ffi::is_ignored;
use crate::{clock, ffi};
pub(crate) use command::random_name;
pub use command::{Command, SpawnError};
pub use exit::Exit;
pub use family::Family;
use tail::Tail;
pub use talk::{FLOOD_LIMIT, IoProblem, LINE_LIMIT};

/// The environment variable by which a probe's descendants are found again. Its value is random for
/// each [`Child`]; the first half is this process's own ([`watchdog`]).
pub const COOKIE: &str = "TASKSCALE_PROBE_COOKIE";

/// A running probe. Dropping it kills it with all its descendants.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    /// `NAME=value`, as it stands in the environment.
    cookie: String,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Becomes readable when the process ends.
    ended: Option<OwnedFd>,
    /// Standard output that was read and not handed out.
    unread: Vec<u8>,
    /// How much of `unread` is known to hold no line feed.
    searched: usize,
    tail: Tail,
    stdout_since_request: u64,
    stderr_since_request: u64,
    reaped: Option<Reaped>,
    /// Lives as long as what it traces: the kernel kills that with it.
    #[allow(dead_code, reason = "it is dropped, and never asked")]
    tracer: Option<std::sync::Arc<Session>>,
}

/// What is known about a process after [`Child::kill_tree`], when its pid may be another's.
#[derive(Debug, Clone, Copy)]
struct Reaped {
    /// `None` where it hung in the kernel and could not even be killed.
    exit: Option<Exit>,
}

impl Child {
    /// Starts a process in a group of its own, with pipes for its three streams and no other
    /// descriptor of ours.
    ///
    /// On Linux the process is killed when the *thread* that called this ends: call it on a thread
    /// that stays. This process also inherits orphans among its descendants (as a child subreaper),
    /// so that they can be reaped. What it starts outlives this process only where there is no
    /// [`watchdog`].
    ///
    /// # Errors
    /// [`SpawnError`] says which program, why, and what to do.
    pub fn spawn(command: &Command) -> Result<Child, SpawnError> {
        Child::start(command, None)
    }

    /// Starts a process as [`Child::spawn`] does, and counts what is wanted from its program's
    /// first instruction on, or says why it cannot be counted.
    ///
    /// # Errors
    /// Those of [`Child::spawn`].
    pub fn spawn_wanted(command: &Command, wanted: Wanted) -> Result<(Child, Counters), SpawnError> {
        let prepared = Prepared::of(wanted);
        let mut child = Child::start(command, Some(&prepared))?;
        child.tracer = prepared.tracer();
        Ok((child, prepared.receive()))
    }

    fn start(command: &Command, counted: Option<&Prepared>) -> Result<Child, SpawnError> {
        let (mut process, cookie) = command::start(command, counted)?;
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let child = Child {
            ended: ffi::pidfd(process.id()),
            process,
            cookie,
            stdin,
            stdout,
            stderr,
            unread: Vec::new(),
            searched: 0,
            tail: Tail::default(),
            stdout_since_request: 0,
            stderr_since_request: 0,
            reaped: None,
            tracer: None,
        };
        // A failure below drops `child` and so ends the process.
        child.set_nonblocking().map_err(|source| command::failed(command, source))?;
        Ok(child)
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        use std::os::fd::AsFd;
        let pipes = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        pipes.into_iter().flatten().try_for_each(ffi::set_nonblocking)
    }

    /// Returns the process id. It stays this process's own until [`Child::kill_tree`] or
    /// [`Child::end`].
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the CPU nanoseconds that the process has used without its children ([`Family`] has
    /// them); see [`clock::process_cpu_ns`].
    ///
    /// # Errors
    /// Those of [`clock::process_cpu_ns`].
    pub fn cpu_ns(&self) -> io::Result<u64> {
        clock::process_cpu_ns(self.pid())
    }

    /// Tells whether the process was stopped or continued since the last call. Processes that it
    /// started itself are not seen. Costs about 0.3 us.
    pub fn was_stopped(&self) -> bool {
        self.reaped.is_none() && ffi::was_stopped(self.pid())
    }

    /// Says how the process ended; `None` while it runs.
    ///
    /// # Errors
    /// The system does not tell, as when this process ignores SIGCHLD.
    pub fn exit(&self) -> io::Result<Option<Exit>> {
        if let Some(reaped) = self.reaped {
            return Ok(reaped.exit);
        }
        Ok(ffi::peek_exit(self.pid())?.map(Exit::from))
    }

    /// Closes standard input, gives the process `grace_ns` to end by itself, then kills what is
    /// left of it and of its descendants. Returns how it ended; `None` where it had to be killed. A
    /// second call returns how it ended at last.
    pub fn end(&mut self, grace_ns: u64) -> Option<Exit> {
        if let Some(reaped) = self.reaped {
            return reaped.exit;
        }
        let exit = self.wait_for_exit(clock::monotonic_ns().saturating_add(grace_ns));
        self.kill_tree();
        exit
    }

    /// Kills the process and all its descendants, daemons included, and reaps it. Returns the pids
    /// that were still there after two seconds; as a rule there are none. Costs a few milliseconds.
    /// A second call does nothing.
    pub fn kill_tree(&mut self) -> Vec<u32> {
        if self.reaped.is_some() {
            return Vec::new();
        }
        let survivors = tree::kill(self.pid(), &self.cookie);
        // This reads the last of the log, for `stderr_tail`.
        let _ = self.drain_stderr();
        (self.stdin, self.stdout, self.stderr) = (None, None, None);
        // `wait` would hang us with a process that hangs in the kernel.
        let exit = self.process.try_wait().ok().flatten().map(Exit::from);
        self.reaped = Some(Reaped { exit });
        survivors
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_tree();
    }
}
