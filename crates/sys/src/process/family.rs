//! The CPU time of a process together with what it started: a script that waits for the program
//! which does the work uses next to none itself, nor does a program that hands work to others.

use std::collections::BTreeSet;

use crate::{
    clock, ffi,
    process::{
        Child,
        tree::{self, Process},
    },
};

/// A process with those that it started.
///
/// ```
/// use taskscale_sys::process::{Child, Command, Family};
///
/// let child = Child::spawn(&Command::new("/bin/sh", ["-c", "read line"]))?;
/// let mut family = Family::of(&child);
/// let before = family.cpu_ns();
/// family.look();
/// assert!(family.cpu_ns() >= before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Family {
    root: Member,
    /// What those carry that the root started, wherever they went.
    cookie: String,
    others: Vec<Member>,
    /// What those have used that were waited for since the first look, and are no `others`.
    waited_ns: u64,
    looks: u64,
}

#[derive(Debug, Clone)]
struct Member {
    identity: (u32, u64),
    /// The process's clock when it was found, and when it was last read.
    found_ns: u64,
    last_ns: u64,
    /// What its own children had used when it had waited for them, when that was last read.
    waited_ns: u64,
    ended: bool,
}

impl Member {
    fn of(process: &Process) -> Self {
        let now_ns = clock::process_cpu_ns(process.pid).unwrap_or_default();
        Member {
            identity: process.identity(),
            found_ns: now_ns,
            last_ns: now_ns,
            waited_ns: ticks_ns(process.waited_ticks),
            ended: false,
        }
    }

    /// Reads its clock. What has ended keeps what it had.
    fn read(&mut self) -> u64 {
        if !self.ended
            && let Ok(now_ns) = clock::process_cpu_ns(self.identity.0)
        {
            self.last_ns = now_ns.max(self.last_ns);
        }
        self.last_ns - self.found_ns
    }
}

impl Family {
    /// The family of a child as it is now, its daemons included. Costs about 2 ms with 100
    /// processes on the machine, as [`Family::look`] does.
    pub fn of(child: &Child) -> Self {
        let pid = child.pid();
        let root = Member { found_ns: 0, ..Member::of(&tree::one(pid).unwrap_or(Process::nameless(pid))) };
        let cookie = child.cookie.clone();
        let mut family = Family { root, cookie, others: Vec::new(), waited_ns: 0, looks: 0 };
        family.look();
        family
    }

    /// Returns the CPU nanoseconds of the process and, from the first look on, of those that it
    /// started. It never falls. Costs 0.5 us a process; `None` where the process has no clock.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        let root = clock::process_cpu_ns(self.root.identity.0).ok()?;
        let others: u64 = self.others.iter_mut().map(Member::read).sum();
        Some(root + others + self.waited_ns)
    }

    /// The pids of the process and of those that are known of it.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        let others = self.others.iter().filter(|member| !member.ended);
        std::iter::once(self.root.identity.0).chain(others.map(|member| member.identity.0))
    }

    /// Looks for what was started since, and takes in what those used that ended and were waited
    /// for, which the kernel tells in steps of 10 ms. The whole table of processes (2 ms with 100)
    /// is read at the looks 1, 2, 4, 8 and so on: some 20 us in between.
    pub fn look(&mut self) {
        self.looks += 1;
        self.take_in_ended();
        if self.looks.is_power_of_two() {
            self.look_for_new();
        }
    }

    /// The same, with the whole table in any case.
    pub fn look_closely(&mut self) {
        self.looks += 1;
        self.take_in_ended();
        self.look_for_new();
    }

    /// Takes in what was started since the last look. All that it used it used since then.
    fn look_for_new(&mut self) {
        let is_first = self.looks == 1;
        let processes = tree::snapshot();
        let relatives = tree::relatives(&processes, self.root.identity.0, Some(&self.cookie));
        let known: BTreeSet<(u32, u64)> = self.others.iter().map(|member| member.identity).collect();
        let new = relatives.iter().filter(|process| !known.contains(&process.identity()));
        self.others.extend(new.map(|process| {
            let member = Member::of(process);
            Member { found_ns: if is_first { member.found_ns } else { 0 }, ..member }
        }));
    }

    fn take_in_ended(&mut self) {
        let mut waited_ns = 0;
        let mut known_ns = 0;
        for member in std::iter::once(&mut self.root).chain(&mut self.others) {
            if member.ended {
                continue;
            }
            match tree::one(member.identity.0).filter(|process| process.identity() == member.identity) {
                Some(process) => {
                    let now_ns = ticks_ns(process.waited_ticks);
                    waited_ns += now_ns.saturating_sub(member.waited_ns);
                    member.waited_ns = now_ns;
                }
                None => {
                    member.ended = true;
                    // Who waited for it has this too, with all before it was found.
                    known_ns += member.last_ns;
                }
            }
        }
        self.waited_ns += waited_ns.saturating_sub(known_ns);
    }
}

/// Clock ticks of `/proc/PID/stat` in nanoseconds.
fn ticks_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ffi::ticks_per_second())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{
        clock::monotonic_ns,
        process::{Child, Command},
    };

    const WORK: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

    /// A shell whose script works where it is told to, and its family before and after.
    fn worked(script: &str) -> [u64; 2] {
        let mut child = Child::spawn(&Command::new("/bin/sh", ["-c", script])).expect("a shell");
        let within = || monotonic_ns() + 60_000_000_000;
        assert_eq!(child.read_line(within()).expect("ready"), b"ready");
        let mut family = Family::of(&child);
        let before = family.cpu_ns().expect("a clock");
        let own = child.cpu_ns().expect("a clock");
        child.send_line(b"go", within()).expect("sent");
        child.read_line(within()).expect("done");
        family.look();
        let used = family.cpu_ns().expect("a clock") - before;
        [child.cpu_ns().expect("a clock") - own, used]
    }

    #[test]
    fn what_a_script_waits_for_is_of_its_family() {
        let inner = format!("echo ready; read go; {WORK}; echo done; read more");
        for start in ["sh -c", "setsid -w sh -c"] {
            let [own, family] = worked(&format!("{start} '{inner}'; true"));
            assert!(family > 5_000_000 && family > 4 * own, "{start}: {own} of {family}");
        }
    }

    #[test]
    fn a_daemon_is_of_the_family_of_who_started_it() {
        // A background command of a shell reads from nothing unless it is told otherwise.
        let inner = format!("echo ready; read go; {WORK}; echo done; read more");
        let [own, family] = worked(&format!("(setsid sh -c '{inner}' <&3 &) 3<&0; sleep 60"));
        assert!(family > 5_000_000 && family > 4 * own, "{own} of {family}");
    }

    #[test]
    fn what_ended_and_was_waited_for_is_counted_once() {
        let [own, family] = worked(&format!("echo ready; read go; sh -c '{WORK}'; echo done; read more"));
        assert!(family >= 10_000_000 && family > 4 * own, "{own} of {family}");
        let [own, family] = worked(&format!("echo ready; read go; {WORK}; echo done; read more"));
        assert_eq!(own, family);
    }

    #[test]
    fn who_is_found_counts_from_then_on_and_who_ends_keeps_it() {
        let script = format!("sh -c '{WORK}; echo ready; read go; {WORK}'; echo done; read more");
        let mut child = Child::spawn(&Command::new("/bin/sh", ["-c", &script])).expect("a shell");
        let within = || monotonic_ns() + 60_000_000_000;
        child.read_line(within()).expect("ready");
        let mut family = Family::of(&child);
        assert_eq!(family.pids().count(), 2);
        let before = family.cpu_ns().expect("a clock");
        assert!(before < 5_000_000, "what the inner shell did before is not counted: {before}");
        child.send_line(b"go", within()).expect("sent");
        child.read_line(within()).expect("done");
        family.look();
        let after = family.cpu_ns().expect("a clock");
        family.look();
        assert_eq!(family.pids().count(), 1);
        assert_eq!(family.cpu_ns(), Some(after), "nothing is counted twice");
        // The kernel tells of ended ones all that they used: no more than that is taken in.
        assert!(after - before >= 5_000_000, "{before} {after}");
    }
}
