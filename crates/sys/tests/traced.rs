//! The tracer, on a program whose system calls are known.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

mod known;

use known::{as_nobody, ask, command, settled};
use taskscale_sys::{
    counts::{
        Wanted,
        traced::{Calls, Counter},
    },
    process::{Child, Exit},
};

const TRACED: Wanted = Wanted { syscalls: false, traced: true, instructions: false };

/// Starts `known WORDS` traced. Where tracing is forbidden, says so and returns `None`.
fn traced(words: &[&str]) -> Option<(Child, Counter)> {
    let (child, counters) = Child::spawn_wanted(&command(words)?, TRACED).expect("it starts");
    match counters.traced.expect("it was wanted") {
        Ok(counter) => Some((child, counter)),
        Err(missing) => {
            assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{missing}");
            eprintln!("system calls cannot be traced here, so nothing is tested: {missing}");
            None
        }
    }
}

/// What the second go calls. The first one leaves what is done once behind.
fn second_go(words: &[&str]) -> Option<Calls> {
    let (mut child, counter) = traced(words)?;
    ask(&mut child, "go");
    let before = settled(|| counter.read());
    ask(&mut child, "go");
    Some(settled(|| counter.read()).since(&before))
}

fn of(calls: &Calls, name: &str) -> u64 {
    calls.by_name().into_iter().find(|(found, _)| found == name).map_or(0, |(_, count)| count)
}

#[test]
fn every_call_is_counted_by_its_name() {
    let Some(calls) = second_go(&["calls", "1000"]) else { return };
    // Beside the thousand turns: getrusage twice, the answer, and the wait for the next line.
    let expected = [("write", 2_001), ("getppid", 1_000), ("getrusage", 2), ("read", 1)];
    assert_eq!(calls.top(5), expected.map(|(name, count)| (name.to_owned(), count)));
    assert_eq!(calls.total(), 3_004);
}

#[test]
fn threads_children_and_programs_are_counted() {
    for (mode, turns) in [("threads", 2_000), ("children", 2_000), ("programs", 2_000)] {
        let Some(calls) = second_go(&[mode, "500", "4"]) else { return };
        assert_eq!(of(&calls, "getppid"), turns, "{mode}: {calls:?}");
    }
}

#[test]
fn the_sum_is_that_of_the_tracepoint() {
    for words in [["calls", "700", "0"], ["children", "300", "3"], ["programs", "300", "3"]] {
        let Some((mut child, counter)) = traced(&words) else { return };
        ask(&mut child, "go");
        let by_tracer = settled(|| counter.read()).total();
        drop(child);
        let wanted = Wanted { syscalls: true, ..Wanted::default() };
        let (mut child, counters) =
            Child::spawn_wanted(&command(&words).expect("built"), wanted).expect("it starts");
        let Some(Ok(counter)) = counters.syscalls else {
            eprintln!("skipped: no tracepoint to compare with (run as root)");
            return;
        };
        ask(&mut child, "go");
        // From the first instruction of the program to its wait for the next line.
        assert_eq!(by_tracer, settled(|| counter.read().expect("read")), "{words:?}");
    }
}

#[test]
fn no_signal_is_lost() {
    let Some((mut child, _counter)) = traced(&["signals", "200"]) else { return };
    for _ in 0..3 {
        assert_eq!(ask(&mut child, "go")[0], 400);
    }
}

#[test]
fn the_exit_status_is_the_programs_own() {
    let Some((mut child, _counter)) = traced(&["calls", "10"]) else { return };
    ask(&mut child, "go");
    assert_eq!(child.end(known::PATIENCE_NS), Some(Exit::Code(0)));
    // Another thread of the process becomes its only one, and its program's status is told.
    let Some((mut child, _counter)) = traced(&["replace", "10"]) else { return };
    child.send_line(b"go", taskscale_sys::clock::monotonic_ns() + known::PATIENCE_NS).expect("sent");
    assert_eq!(child.end(known::PATIENCE_NS), Some(Exit::Code(7)));
    let Some((mut child, counter)) = traced(&["calls", "10"]) else { return };
    ask(&mut child, "go");
    // The counts stay when the process is gone, and the counter may go before the process.
    assert_eq!(child.kill_tree(), [0u32; 0]);
    assert!(counter.read().total() > 30);
    let Some((mut child, counter)) = traced(&["calls", "10"]) else { return };
    drop(counter);
    ask(&mut child, "go");
}

#[test]
fn a_stopped_process_stays_stopped_until_it_is_continued() {
    let Some((mut child, counter)) = traced(&["calls", "10"]) else { return };
    ask(&mut child, "go");
    let pid = child.pid();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").args([name, &pid.to_string()]).status();
        assert!(sent.expect("kill").success());
    };
    signal("-STOP");
    let stopped = settled(|| state(child.pid()));
    assert!(matches!(stopped, 't' | 'T'), "{stopped}");
    let before = settled(|| counter.read());
    let deadline_ns = taskscale_sys::clock::monotonic_ns() + known::PATIENCE_NS;
    child.send_line(b"go", deadline_ns).expect("sent");
    assert_eq!(settled(|| counter.read()), before, "it goes on though it is stopped");
    signal("-CONT");
    assert!(child.read_line(deadline_ns).expect("an answer").starts_with(b"done"));
    assert_eq!(of(&settled(|| counter.read()).since(&before), "getppid"), 10);
}

/// The letter of `/proc/PID/stat`.
fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).expect("a state")
}

#[test]
fn an_ordinary_user_counts_as_well() {
    as_nobody("every_call_is_counted_by_its_name");
    as_nobody("no_signal_is_lost");
}

#[test]
fn what_is_traced_already_is_not_counted_and_says_why() {
    let Some(_) = traced(&["calls", "1"]) else { return };
    let Ok(strace) = std::process::Command::new("strace").arg("--version").output() else {
        eprintln!("skipped: no strace to be in the way");
        return;
    };
    assert!(strace.status.success());
    // This test once more beneath strace, which follows its children.
    let itself = std::env::current_exe().expect("a path");
    let output = std::process::Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=none", "-e", "signal=none"])
        .arg(itself)
        .args(["--exact", "every_call_is_counted_by_its_name", "--nocapture"])
        .output()
        .expect("it starts");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("end the debugger or strace"), "{told}");
}
