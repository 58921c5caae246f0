//! Ends a process with everything that it started.
//!
//! A descendant is found by any of four marks: it is in the leader's process group or session; its
//! chain of parents leads to the leader; its environment carries the leader's cookie; or it is a
//! *stray*, an orphan that came to us (see [`ffi::adopt_orphans`]) from another session and carries
//! nobody's cookie. The last two find daemons, which left the group (setsid) and whose parents are
//! gone (double fork).
//!
//! A process that forks, leaves its session and ends, again and again, faster than the process
//! table can be read (some 2 ms) gets away. Only privileges (a cgroup, a PID namespace) would hold
//! it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::process::COOKIE;
use crate::{clock, ffi};

/// Time for which survivors are searched. A killed process ends within a millisecond or two. One
/// that takes longer hangs in the kernel (a dead network disk), and waiting more would not help.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Kills the process `leader` and all its descendants. Returns those still there after two seconds.
///
/// The leader itself stays a zombie, so that its pid, and with it the group, cannot be given to
/// another process during the killing. The caller reaps it. Each look reads all `/proc/*/stat` and
/// `/proc/*/environ`, which takes about 2 ms with 100 processes. There are three looks as a rule.
pub fn kill(leader: u32, cookie: &str) -> Vec<u32> {
    let deadline = clock::monotonic_ns() + PATIENCE_NS;
    // A pid alone can be given away again. Pid and start time together name one process for ever.
    let mut ours: BTreeSet<(u32, u64)> = BTreeSet::new();
    let mut quiet_looks = 0;
    loop {
        // The look comes before the leader dies, while the chains of parents are whole.
        let processes = snapshot();
        mark(&mut ours, &processes, leader, cookie);
        ffi::kill_group(leader);
        ffi::kill(leader);
        let mut alive = Vec::new();
        for process in processes.iter().filter(|process| ours.contains(&process.identity())) {
            if process.pid == leader {
                continue;
            }
            // A zombie is killed too: its main thread may have ended before the others.
            ffi::kill(process.pid);
            match process.ended {
                false => alive.push(process.pid),
                true if process.parent == std::process::id() => ffi::reap(process.pid),
                true => {}
            }
        }
        // An error means that the leader is no child of ours, so that there is nothing to wait for.
        if matches!(ffi::peek_exit(leader), Ok(None)) {
            alive.push(leader);
        }
        // The next look sees a process that was born during this one, or its zombie.
        quiet_looks = if alive.is_empty() { quiet_looks + 1 } else { 0 };
        if quiet_looks == 2 || clock::monotonic_ns() >= deadline {
            return alive;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Kills the processes that carry a mark, and their descendants. Returns those still there after
/// two seconds. None of them is a child of this process, so that there is nothing to reap.
pub(super) fn kill_marked(is_marked: impl Fn(u32) -> bool) -> Vec<u32> {
    let deadline = clock::monotonic_ns() + PATIENCE_NS;
    let me = std::process::id();
    let mut ours: BTreeSet<(u32, u64)> = BTreeSet::new();
    let mut quiet_looks = 0;
    loop {
        let processes = snapshot();
        let marked = processes.iter().filter(|process| process.pid != me && is_marked(process.pid));
        ours.extend(marked.map(Process::identity));
        add_descendants(&mut ours, &processes, me);
        let mut alive = Vec::new();
        for process in processes.iter().filter(|process| ours.contains(&process.identity())) {
            ffi::kill(process.pid);
            if !process.ended {
                alive.push(process.pid);
            }
        }
        quiet_looks = if alive.is_empty() { quiet_looks + 1 } else { 0 };
        if quiet_looks == 2 || clock::monotonic_ns() >= deadline {
            return alive;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Returns the living processes that one started, by its group and by their chains of parents. A
/// daemon, whose parent is gone and which left the group, is none.
pub(crate) fn descendants(leader: u32) -> Vec<u32> {
    relatives(&snapshot(), leader, None).iter().map(|process| process.pid).collect()
}

/// The same of a table of processes; with the leader's cookie also daemons, which come to this
/// process as orphans and carry it. O(processes).
pub(super) fn relatives<'a>(processes: &'a [Process], leader: u32, cookie: Option<&str>) -> Vec<&'a Process> {
    let me = std::process::id();
    let carries = |process: &Process| {
        process.parent == me
            && cookie.is_some_and(|cookie| cookie_of(process.pid).as_deref() == Some(cookie.as_bytes()))
    };
    let mut ours: BTreeSet<(u32, u64)> = processes
        .iter()
        .filter(|process| process.pid == leader || process.group == leader || carries(process))
        .map(Process::identity)
        .collect();
    add_descendants(&mut ours, processes, me);
    let is_one = |process: &&Process| !process.ended && process.pid != leader;
    processes.iter().filter(is_one).filter(|process| ours.contains(&process.identity())).collect()
}

/// The line of one process.
pub(super) fn one(pid: u32) -> Option<Process> {
    parse_stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    /// Clock ticks since boot.
    started: u64,
    ended: bool,
    /// Clock ticks of CPU time that those had used for which it has waited.
    pub waited_ticks: u64,
}

impl Process {
    /// What stands for a process of which there is no line.
    pub fn nameless(pid: u32) -> Self {
        Process { pid, parent: 0, group: 0, session: 0, started: 0, ended: true, waited_ticks: 0 }
    }

    /// Pid and start time: together they name one process for ever.
    pub fn identity(&self) -> (u32, u64) {
        (self.pid, self.started)
    }
}

/// Adds to `ours` every process that carries a mark, until no more is found.
fn mark(ours: &mut BTreeSet<(u32, u64)>, processes: &[Process], leader: u32, cookie: &str) {
    let me = std::process::id();
    let session = processes.iter().find(|process| process.pid == me).map(|process| process.session);
    // Nothing that this program starts leaves our session by itself, so such a child was not
    // started by us.
    let adopted =
        |process: &Process| process.parent == me && session.is_some_and(|ours| ours != process.session);
    for process in processes.iter().filter(|process| process.pid != me) {
        if process.pid == leader
            || process.group == leader
            || process.session == leader
            || is_marked(process, adopted, cookie)
        {
            ours.insert(process.identity());
        }
    }
    add_descendants(ours, processes, me);
}

/// Adds to `ours` all descendants of what is in it, by their chains of parents.
fn add_descendants(ours: &mut BTreeSet<(u32, u64)>, processes: &[Process], me: u32) {
    loop {
        let pids: BTreeSet<u32> = ours.iter().map(|(pid, _)| *pid).collect();
        let before = ours.len();
        ours.extend(
            processes
                .iter()
                .filter(|process| process.pid != me && pids.contains(&process.parent))
                // A child is never older than its parent. A process with the parent's old pid that
                // is younger than the child is not its parent.
                .filter(|child| {
                    ours.iter().any(|(pid, started)| *pid == child.parent && *started <= child.started)
                })
                .map(Process::identity)
                .collect::<Vec<_>>(),
        );
        if ours.len() == before {
            return;
        }
    }
}

/// Tells whether the environment says that `process` is to be ended. Where the environment is gone,
/// the way the process came to us decides.
fn is_marked(process: &Process, adopted: impl Fn(&Process) -> bool, cookie: &str) -> bool {
    if process.ended {
        // A zombie has no environment. If it came to us, nobody else will reap it.
        return adopted(process);
    }
    match cookie_of(process.pid) {
        Some(found) if found.is_empty() => adopted(process),
        Some(found) => found == cookie.as_bytes(),
        None => false,
    }
}

/// The cookie that a process carries, empty where there is none; `None` where its environment may
/// not be read, or does not exist.
fn cookie_of(pid: u32) -> Option<Vec<u8>> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let any_cookie = [COOKIE, "="].concat();
    let mut entries = environment.split(|byte| *byte == 0);
    Some(entries.find(|entry| entry.starts_with(any_cookie.as_bytes())).unwrap_or_default().to_vec())
}

/// Returns all processes; none where there is no `/proc`. Then only the process group can be
/// killed.
pub(super) fn snapshot() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        // A process that ended since is no loss.
        .filter_map(|pid| parse_stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// Reads `/proc/PID/stat` (proc(5)). The command's name is in brackets and may itself hold blanks
/// and brackets.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    let pid = stat.split(' ').next()?.parse().ok()?;
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().collect();
    Some(Process {
        pid,
        ended: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        // This is field 22 of the whole line; the pid and the name are two.
        started: fields.get(19)?.parse().ok()?,
        waited_ticks: fields.get(13)?.parse::<u64>().ok()?.saturating_add(fields.get(14)?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_is_read_over() {
        let line = "42 (a) Z (b c) S 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 2";
        let expected = Process {
            pid: 42,
            parent: 7,
            group: 40,
            session: 39,
            started: 98_765,
            ended: false,
            waited_ticks: 15,
        };
        assert_eq!(parse_stat(line.as_bytes()), Some(expected));
        assert_eq!(parse_stat(b"42 (cut"), None);
    }

    fn process(pid: u32, parent: u32, started: u64) -> Process {
        // The pids are beyond what the kernel gives out, so that no environment is found for them.
        Process {
            pid: 10_000_000 + pid,
            parent: 10_000_000 + parent,
            group: 0,
            session: 0,
            started,
            ended: false,
            waited_ticks: 0,
        }
    }

    fn marked(processes: &[Process]) -> Vec<u32> {
        let mut ours = BTreeSet::new();
        mark(&mut ours, processes, 10_000_001, "NO=cookie");
        ours.into_iter().map(|(pid, _)| pid - 10_000_000).collect()
    }

    #[test]
    fn chains_of_parents_are_followed_in_any_order() {
        assert_eq!(
            marked(&[
                process(4, 3, 9),
                process(3, 2, 8),
                process(2, 1, 7),
                process(1, 0, 6),
                process(5, 0, 9)
            ]),
            [1, 2, 3, 4]
        );
    }

    #[test]
    fn a_process_older_than_its_parent_is_not_its_child() {
        assert_eq!(marked(&[process(1, 0, 6), process(2, 1, 5)]), [1]);
    }

    #[test]
    fn the_group_and_the_session_are_marks() {
        let group = Process { group: 10_000_001, ..process(2, 9, 7) };
        let session = Process { session: 10_000_001, ..process(3, 9, 7) };
        assert_eq!(marked(&[process(1, 0, 6), group, session, process(4, 9, 7)]), [1, 2, 3]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_table_has_this_process() {
        let me =
            snapshot().into_iter().find(|process| process.pid == std::process::id()).expect("this process");
        assert!(!me.ended);
    }
}
