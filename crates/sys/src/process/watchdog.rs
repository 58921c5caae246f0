//! Ends what this process started when this process dies in any way: SIGKILL, a panic, no memory.
//!
//! The watchdog is a process of its own, which waits for the end of a pipe that this process alone
//! holds open. The kernel closes the pipe however this process ends. The watchdog then kills all
//! that carry the mark of this process, and ends too. While it waits it takes no CPU time. It is in
//! a session of its own and has a name of its own, so that what is meant for this process (Ctrl-C,
//! a closed terminal, `pkill`, `killall`) does not reach it.
//!
//! The mark is the first half of a probe's cookie ([`super::COOKIE`]). An environment can be
//! emptied (`env -i`), so that there is a second one: a limit of the number of file locks. A limit
//! goes to all descendants, whatever they execute and whoever becomes their parent; `/proc` shows
//! it; and Linux has no use for this one since 2.4.24 (getrlimit(2)).
//!
//! What gets away is what changes both, and what forks and ends faster than the process table can
//! be read ([`super::tree`]).

use std::{
    fs, io,
    process::Stdio,
    sync::{LazyLock, Mutex, OnceLock, PoisonError},
};

use super::{COOKIE, command, tree};
use crate::ffi;

/// What the children of this process carry.
#[derive(Debug)]
pub(super) struct Mark {
    /// The first half of each cookie: 16 hexadecimal digits.
    pub name: String,
    /// The limit of file locks; `None` where there is none to set.
    pub locks: Option<u64>,
}

/// Limits lie below this, and so far from every number that somebody chose.
const BELOW: u64 = 1 << 62;
/// How much lower one may lie: 56 bits tell two tools apart, and 64 of them fit into one another.
const ROOM: u64 = 1 << 56;

/// The name by which other tools see the watchdog.
const NAME: &std::ffi::CStr = c"probe-watchdog";

static MARK: LazyLock<Mark> = LazyLock::new(|| {
    let name = command::random_name()[..16].to_owned();
    let random = u64::from_str_radix(&name, 16).unwrap_or_default() % ROOM;
    // A limit can be lowered by all, and raised by the superuser alone.
    let locks = ffi::most_locks().and_then(|most| most.min(BELOW).checked_sub(random + 1));
    Mark { name, locks }
});

static PROGRAM: OnceLock<super::Command> = OnceLock::new();
static WATCHDOG: Mutex<Option<std::process::Child>> = Mutex::new(None);

/// Returns what the children of this process carry.
pub(super) fn mark() -> &'static Mark {
    &MARK
}

/// Has `program`, with the mark as its last argument, started as the watchdog before the first
/// child is. It must call [`watch`]. The first call counts.
pub fn set(program: super::Command) {
    // Whoever called first keeps its program.
    let _ = PROGRAM.set(program);
}

/// Starts the watchdog unless it is there. One that cannot be started is no reason not to measure.
pub(super) fn wake() {
    let Some(program) = PROGRAM.get() else { return };
    let mut watchdog = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = &mut *watchdog
        && matches!(running.try_wait(), Ok(None))
    {
        return;
    }
    let mut builder = std::process::Command::new(&program.program);
    let locks = mark().locks.unwrap_or_default();
    builder.args(&program.args).arg(format!("{}-{locks}", mark().name));
    // A cookie of nobody's: the end of a probe takes no watchdog for a stray.
    builder.env(COOKIE, "watchdog").current_dir("/");
    builder.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    ffi::detach(&mut builder);
    *watchdog = builder.spawn().ok();
}

/// Ends the watchdog of this process, where there is one, and waits for it. It kills what is left
/// of this process's children.
pub fn dismiss() {
    let taken = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mut watchdog) = taken {
        drop(watchdog.stdin.take());
        // One that cannot be waited for was reaped by another.
        let _ = watchdog.wait();
    }
}

/// Waits until the process that started this one has ended, and kills all that carry its mark.
///
/// # Errors
/// The mark is none.
pub fn watch(mark: &str) -> Result<(), String> {
    let mark = parse(mark).ok_or_else(|| format!("{mark:?} is no mark of a tool"))?;
    ffi::set_name(NAME);
    // The pipe has no content, only an end; where it cannot be read there is nobody to wait for.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    tree::kill_marked(|pid| carries(pid, &mark));
    Ok(())
}

fn parse(text: &str) -> Option<Mark> {
    let (name, locks) = text.split_once('-')?;
    // A short name would be the beginning of others' cookies.
    let is_name = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let locks = locks.parse().ok()?;
    is_name.then(|| Mark { name: name.to_owned(), locks: Some(locks).filter(|locks| *locks > 0) })
}

/// Tells whether a process carries the mark.
fn carries(pid: u32, mark: &Mark) -> bool {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let begin = format!("{COOKIE}={}", mark.name);
    read("environ").split(|byte| *byte == 0).any(|entry| entry.starts_with(begin.as_bytes()))
        || mark.locks.is_some_and(|locks| locks_of(&read("limits")) == Some(locks))
}

/// Reads the limit of file locks from `/proc/PID/limits`; `None` where there is none.
fn locks_of(limits: &[u8]) -> Option<u64> {
    let limits = String::from_utf8_lossy(limits);
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_read_and_the_usual_one_is_none() {
        let limits = |locks: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max address space         unlimited            unlimited            bytes     \n\
                 Max file locks            {locks:20} {locks:20} locks     \n"
            )
        };
        assert_eq!(locks_of(limits("4611686018427387903").as_bytes()), Some(4_611_686_018_427_387_903));
        assert_eq!(locks_of(limits("unlimited").as_bytes()), None);
        assert_eq!(locks_of(b""), None);
    }

    #[test]
    fn a_mark_is_read_back_and_a_short_one_is_refused() {
        let mark = parse("0123456789abcdef-77").expect("a mark");
        assert_eq!((mark.name.as_str(), mark.locks), ("0123456789abcdef", Some(77)));
        assert_eq!(parse("0123456789abcdef-0").expect("without a limit").locks, None);
        for none in ["", "-", "0123-77", "0123456789abcdeg-7", "0123456789abcdef", "0123456789abcdef-x"] {
            assert!(parse(none).is_none(), "{none}");
        }
    }

    /// Unmarked processes, such as this one, are nobody's to end.
    #[cfg(target_os = "linux")]
    #[test]
    fn children_carry_both_marks_and_this_process_none() {
        let child =
            super::super::Child::spawn(&super::super::Command::new("sleep", ["1000"])).expect("sleep");
        let mark = mark();
        let by_name = Mark { locks: None, name: mark.name.clone() };
        let by_limit = Mark { name: "0".repeat(16), locks: mark.locks };
        assert!(mark.locks.is_some() && carries(child.pid(), &by_name) && carries(child.pid(), &by_limit));
        assert!(!carries(std::process::id(), mark));
        // Another tool's mark is another.
        assert!(!carries(child.pid(), &Mark { name: "0".repeat(16), locks: Some(7) }));
    }
}
