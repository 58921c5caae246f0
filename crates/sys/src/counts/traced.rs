//! System calls by name, counted by a tracer of ours: ptrace(2). It needs no privileges, so it
//! counts where the tracepoint of [`super::syscalls`] is not permitted.
//!
//! The tracer is a process that holds nothing but a page of counts that it shares with this one. It
//! attaches to the child between fork and exec (PTRACE_SEIZE), and so to all threads and children
//! that it will have. From the program's first instruction on it is woken at each system call. It
//! hands on every signal, leaves a stopped process stopped until its SIGCONT, and ends when the
//! last process has ended. If it is killed, the kernel kills what it traces.
//!
//! It is no thread of this process: the kernel hides the end of a traced child from its parent
//! until the tracer has seen it only where the two are different processes. In one process each
//! could take the exit status from the other.
//!
//! **Exact.** The sums are those of the tracepoint: entries into the kernel, from the first one of
//! the program on. Between two readings lie also the calls by which an idle process came to wait
//! for its next line: one or two more or less.
//!
//! **What it changes.** A system call takes 5 us of CPU time and 13 to 40 us by the clock, and the
//! order in which threads meet is another. A signal that the process ignores still interrupts the
//! call that waits: it is counted again when it goes on, and some calls (`epoll_wait`) then end
//! with EINTR. A program that is traced already (a debugger, strace) cannot be traced again, and
//! one that starts with other rights (setuid) does without them.

use std::{collections::BTreeMap, sync::Arc};

#[cfg(not(target_os = "linux"))]
use taskscale_model::missing::Missing;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Session, Tracer};

/// System calls of one process and of all that it starts, up to a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// By number, as this machine's programs number them.
    by_number: BTreeMap<u32, u64>,
    /// With numbers that no call of this machine's has, or of programs for another (32 bits).
    other: u64,
}

impl Calls {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_number.values().sum::<u64>() + self.other
    }

    /// What was called after `before`.
    #[must_use]
    pub fn since(&self, before: &Calls) -> Calls {
        let after = |(number, count): (&u32, &u64)| {
            let more = count.saturating_sub(before.by_number.get(number).copied().unwrap_or_default());
            (more > 0).then_some((*number, more))
        };
        Calls {
            by_number: self.by_number.iter().filter_map(after).collect(),
            other: self.other.saturating_sub(before.other),
        }
    }

    /// How often each was called, by name: the most frequent first, equal ones by name.
    pub fn by_name(&self) -> Vec<(String, u64)> {
        let mut calls: Vec<(String, u64)> =
            self.by_number.iter().map(|(number, count)| (name(*number), *count)).collect();
        if self.other > 0 {
            calls.push(("other".into(), self.other));
        }
        calls.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        calls
    }

    /// The `count` most frequent, as [`Calls::by_name`].
    pub fn top(&self, count: usize) -> Vec<(String, u64)> {
        let mut calls = self.by_name();
        calls.truncate(count);
        calls
    }
}

/// Names a system call; one that has no name here is told by its number.
fn name(number: u32) -> String {
    #[cfg(target_os = "linux")]
    if let Some(call) = syscalls::Sysno::new(number as usize) {
        return call.name().into();
    }
    format!("call {number}")
}

/// Counts the system calls of one process and of all that it starts. When this and the
/// [`crate::process::Child`] are gone, so is the tracer.
#[derive(Debug)]
pub struct Counter {
    session: Arc<Session>,
}

impl Counter {
    /// Returns the system calls so far, those of living threads included. Costs under 1 us, and
    /// asks nothing of the process.
    pub fn read(&self) -> Calls {
        self.session.read()
    }
}

/// Stands in on other systems, where nothing is counted.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Tracer;

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Session;

#[cfg(not(target_os = "linux"))]
impl Session {
    fn read(&self) -> Calls {
        Calls::default()
    }
}

#[cfg(not(target_os = "linux"))]
impl Tracer {
    pub fn prepare() -> Result<Self, Missing> {
        Err(Missing::new("system calls are counted on Linux only", ""))
    }

    pub fn hook(&self, _: &mut std::process::Command) {}

    pub fn receive(self) -> Result<Counter, Missing> {
        Ok(Counter { session: self.session() })
    }

    pub fn session(&self) -> Arc<Session> {
        Arc::new(Session)
    }
}

#[cfg(target_os = "linux")]
mod linux;

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(numbers: &[(u32, u64)], other: u64) -> Calls {
        Calls { by_number: numbers.iter().copied().collect(), other }
    }

    #[test]
    fn what_was_not_called_between_is_not_told() {
        let before = calls(&[(0, 3), (1, 5)], 1);
        let after = calls(&[(0, 3), (1, 9), (900, 2)], 2);
        assert_eq!(after.since(&before), calls(&[(1, 4), (900, 2)], 1));
        assert_eq!((before.total(), after.total()), (9, 16));
    }

    #[test]
    fn the_most_frequent_come_first() {
        let calls = calls(&[(900, 2), (901, 7), (902, 2)], 5);
        let told: Vec<(String, u64)> = calls.top(3);
        assert_eq!(told, [("call 901".into(), 7), ("other".into(), 5), ("call 900".into(), 2)]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn calls_have_the_names_of_this_machine() {
        assert_eq!(name(u32::try_from(libc::SYS_getppid).expect("a number")), "getppid");
        assert_eq!(name(u32::try_from(libc::SYS_futex).expect("a number")), "futex");
    }
}
