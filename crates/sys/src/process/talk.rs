//! Talks with a process: sends lines, reads lines, drains standard error beside them, and bounds
//! every wait.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use super::{Child, Exit};
use crate::clock;
use crate::ffi::{self, Interest};

/// Longest line that is read, in bytes. A reply of protocol 1 has a few hundred bytes, a
/// description some thousand.
pub const LINE_LIMIT: usize = 1024 * 1024;
/// Bytes that may come on one stream between two requests. 64 MiB of log is a program gone wrong.
pub const FLOOD_LIMIT: u64 = 64 * 1024 * 1024;

/// Size of one read: a pipe holds 64 KiB on Linux, which one read empties.
const CHUNK: usize = 64 * 1024;
/// Time between two checks of whether the process is alive, where the kernel cannot wake us for it
/// (no pidfd).
const LOOK_NS: u64 = 100_000_000;
/// Time that a process that closed its pipe gets to end, so that its exit status can be told.
const LAST_WORDS_NS: u64 = 200_000_000;

/// Why a line was not sent or not received. Each of these ends the conversation: end the child.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IoProblem {
    /// The deadline passed.
    #[error("no answer in time")]
    TimedOut,
    /// The process ended or closed its pipe. [`Child::stderr_tail`] may say why.
    #[error("{}", closed(exit))]
    Closed {
        /// How it ended; `None` where it closed the pipe and lives on.
        exit: Option<Exit>,
    },
    /// More than [`LINE_LIMIT`] bytes without a line feed.
    #[error("a line of more than {} bytes", LINE_LIMIT)]
    TooLong,
    /// More than [`FLOOD_LIMIT`] bytes since the last request.
    #[error("more than {} MiB on {stream} for one request", FLOOD_LIMIT >> 20)]
    Flood {
        /// `stdout` or `stderr`.
        stream: &'static str,
    },
    /// The system refused.
    #[error("{0}")]
    Io(String),
}

fn closed(exit: &Option<Exit>) -> String {
    match exit {
        Some(exit) => format!("the process ended: {exit}"),
        None => "the process closed its pipe but did not end".to_string(),
    }
}

impl From<io::Error> for IoProblem {
    fn from(error: io::Error) -> Self {
        IoProblem::Io(error.to_string())
    }
}

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brought {
    Bytes,
    Nothing,
    End,
}

impl Child {
    /// Sends one request and adds a line feed. Counting for [`FLOOD_LIMIT`] starts again.
    ///
    /// # Errors
    /// `Closed` where the process has stopped reading, `TimedOut` where it does not read in time;
    /// see [`IoProblem`].
    pub fn send_line(&mut self, line: &[u8], deadline_ns: u64) -> Result<(), IoProblem> {
        (self.stdout_since_request, self.stderr_since_request) = (0, 0);
        let bytes = [line, b"\n"].concat();
        let mut sent = 0;
        while sent < bytes.len() {
            let Some(stdin) = &mut self.stdin else { return Err(self.closed()) };
            match stdin.write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.closed()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // The exit is checked here because a child of the process may hold the pipe
                    // open after it.
                    if self.exit()?.is_some() {
                        return Err(self.closed());
                    }
                    if clock::monotonic_ns() >= deadline_ns {
                        return Err(IoProblem::TimedOut);
                    }
                    self.wait(deadline_ns, true, false)?;
                    // A process that is stuck in writing its log would never come to read.
                    self.drain_stderr()?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for one line and returns it without its line feed. A line that has come is returned
    /// even past the deadline.
    ///
    /// # Errors
    /// See [`IoProblem`]. A last line without a line feed is not a line: it ends in `Closed`.
    pub fn read_line(&mut self, deadline_ns: u64) -> Result<Vec<u8>, IoProblem> {
        loop {
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            // The exit is checked before the pipe is read: what a process wrote before it ended is
            // then surely read below.
            let has_ended = self.exit()?.is_some();
            let brought = self.read_stdout()?;
            self.drain_stderr()?;
            let time_is_over = clock::monotonic_ns() >= deadline_ns;
            match brought {
                Brought::End => return Err(self.closed()),
                // A child of the process may hold the pipe open after it.
                Brought::Nothing if has_ended => return Err(self.closed()),
                Brought::Nothing if time_is_over => return Err(IoProblem::TimedOut),
                Brought::Nothing => self.wait(deadline_ns, false, true)?,
                Brought::Bytes if time_is_over => return self.take_line()?.ok_or(IoProblem::TimedOut),
                Brought::Bytes => {}
            }
        }
    }

    /// Tells whether bytes of standard output are waiting that nobody has asked for: the probe
    /// spoke out of turn.
    ///
    /// # Errors
    /// The pipe cannot be asked.
    pub fn pending_output(&mut self) -> io::Result<bool> {
        if !self.unread.is_empty() {
            return Ok(true);
        }
        match &self.stdout {
            Some(stdout) => Ok(ffi::bytes_waiting(stdout.as_fd())? > 0),
            None => Ok(false),
        }
    }

    /// Returns the last 4 KiB that the process wrote to standard error, safe to print.
    pub fn stderr_tail(&mut self) -> String {
        // A read that fails adds nothing; the tail stays what it is.
        let _ = self.drain_stderr();
        self.tail.text()
    }

    /// Returns the number of bytes that the process wrote to standard error in all.
    pub fn stderr_bytes(&self) -> u64 {
        self.tail.total()
    }

    /// Closes standard input and waits until the process ends. Discards its output.
    pub(super) fn wait_for_exit(&mut self, deadline_ns: u64) -> Option<Exit> {
        self.stdin = None;
        loop {
            // An error means that there is no such child.
            if let Some(exit) = self.exit().ok()? {
                return Some(exit);
            }
            // The output is read because a process that is stuck in writing would not end. A flood
            // does not stop us from waiting.
            self.unread.clear();
            self.searched = 0;
            (self.stdout_since_request, self.stderr_since_request) = (0, 0);
            if matches!(self.read_stdout(), Ok(Brought::End) | Err(_)) {
                self.stdout = None;
            }
            let _ = self.drain_stderr();
            if clock::monotonic_ns() >= deadline_ns {
                return None;
            }
            self.wait(deadline_ns, false, true).ok()?;
        }
    }

    /// Takes the first line from what was read.
    fn take_line(&mut self) -> Result<Option<Vec<u8>>, IoProblem> {
        match self.unread[self.searched..].iter().position(|byte| *byte == b'\n') {
            Some(at) if self.searched + at <= LINE_LIMIT => {
                let mut line: Vec<u8> = self.unread.drain(..=self.searched + at).collect();
                line.pop();
                self.searched = 0;
                Ok(Some(line))
            }
            None if self.unread.len() <= LINE_LIMIT => {
                self.searched = self.unread.len();
                Ok(None)
            }
            _ => Err(IoProblem::TooLong),
        }
    }

    /// Reads standard output once.
    fn read_stdout(&mut self) -> Result<Brought, IoProblem> {
        let Some(stdout) = &mut self.stdout else { return Ok(Brought::End) };
        let mut chunk = [0; CHUNK];
        let (brought, bytes) = read_once(stdout, &mut chunk)?;
        self.unread.extend_from_slice(bytes);
        self.stdout_since_request += bytes.len() as u64;
        if self.stdout_since_request > FLOOD_LIMIT {
            return Err(IoProblem::Flood { stream: "stdout" });
        }
        Ok(brought)
    }

    /// Reads into the tail what standard error holds.
    pub(super) fn drain_stderr(&mut self) -> Result<(), IoProblem> {
        let mut chunk = [0; CHUNK];
        // The loop is bounded: a process that writes as fast as we read must not keep us from
        // checking the clock.
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return Ok(()) };
            let (brought, bytes) = read_once(stderr, &mut chunk)?;
            self.tail.push(bytes);
            self.stderr_since_request += bytes.len() as u64;
            if self.stderr_since_request > FLOOD_LIMIT {
                return Err(IoProblem::Flood { stream: "stderr" });
            }
            match brought {
                Brought::Bytes => {}
                Brought::Nothing => return Ok(()),
                // A closed pipe is always "ready", so `wait` must not watch it again.
                Brought::End => self.stderr = None,
            }
        }
        Ok(())
    }

    /// Returns the problem to report for a pipe that the other side closed, with the last of its
    /// log read.
    fn closed(&mut self) -> IoProblem {
        let deadline_ns = clock::monotonic_ns() + LAST_WORDS_NS;
        loop {
            let exit = self.exit().ok().flatten();
            let _ = self.drain_stderr();
            if exit.is_some() || clock::monotonic_ns() >= deadline_ns {
                return IoProblem::Closed { exit };
            }
            if let Err(error) = self.wait(deadline_ns, false, false) {
                return IoProblem::Io(error.to_string());
            }
        }
    }

    /// Sleeps until a pipe is ready (standard error always counts), the process ends, or the
    /// deadline passes.
    fn wait(&self, deadline_ns: u64, for_input: bool, for_output: bool) -> io::Result<()> {
        let mut left_ns = deadline_ns.saturating_sub(clock::monotonic_ns());
        if self.ended.is_none() {
            left_ns = left_ns.min(LOOK_NS);
        }
        // The timeout is rounded up, so that the last fraction of a millisecond is not spent
        // spinning.
        let timeout_ms = i32::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX);
        let interests = [
            Interest { fd: fd(&self.stdin).filter(|_| for_input), events: libc::POLLOUT },
            Interest { fd: fd(&self.stdout).filter(|_| for_output), events: libc::POLLIN },
            Interest { fd: fd(&self.stderr), events: libc::POLLIN },
            Interest { fd: fd(&self.ended), events: libc::POLLIN },
        ];
        ffi::poll(interests, timeout_ms)
    }
}

/// Reads once from a pipe that does not block.
fn read_once<'a>(pipe: &mut impl Read, chunk: &'a mut [u8]) -> io::Result<(Brought, &'a [u8])> {
    match pipe.read(chunk) {
        Ok(0) => Ok((Brought::End, &[])),
        Ok(count) => Ok((Brought::Bytes, &chunk[..count])),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((Brought::Nothing, &[])),
        // This counts as bytes that came: the caller reads again.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok((Brought::Bytes, &[])),
        Err(error) => Err(error),
    }
}

fn fd<F: AsFd>(pipe: &Option<F>) -> Option<BorrowedFd<'_>> {
    pipe.as_ref().map(AsFd::as_fd)
}
