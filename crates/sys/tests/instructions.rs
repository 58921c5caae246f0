//! Instructions of a program whose number of them is known.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

mod known;

use known::{ask, command};
use taskscale_model::missing::Missing;
use taskscale_sys::{
    counts::{
        Wanted,
        simulated::{Simulated, Whole},
    },
    process::{Child, Command},
};

const K: u64 = 200_000;

/// The instructions of a turn, by requests for k and for 2k turns in one process, three times.
fn by_turn(child: &mut Child, k: u64, read: impl Fn(&Child) -> u64) -> Vec<f64> {
    // The first answer says that the program runs.
    ask(child, "1");
    let mut asked = |turns: u64| {
        let before = read(child);
        ask(child, &turns.to_string());
        read(child) - before
    };
    asked(2 * k);
    let mut pair = || (asked(k), asked(2 * k));
    (0..3).map(|_| pair()).map(|(once, twice)| (twice - once) as f64 / k as f64).collect()
}

/// Eight instructions and the loop, within 0.1 %: a whole number, the same each time.
fn assert_exact(turns: &[f64]) {
    let whole = turns[0].round();
    assert!(turns.iter().all(|turn| (turn - whole).abs() <= whole / 1_000.0), "{turns:?}");
    if cfg!(target_arch = "x86_64") {
        assert!((9.0..=14.0).contains(&whole), "eight and a loop: {turns:?}");
    }
}

/// Starts the command under valgrind; `None`, and says so, where there is none.
fn simulated(command: &Command) -> Option<(Simulated, Child)> {
    match Simulated::prepare(command, &std::env::temp_dir()) {
        Ok(simulated) => {
            let child = Child::spawn(simulated.command()).expect("it starts");
            Some((simulated, child))
        }
        Err(missing) => {
            eprintln!("skipped: instructions under valgrind: {missing}");
            None
        }
    }
}

#[test]
fn valgrind_counts_a_request_alone() {
    let Some((simulated, mut child)) = command(&["spin", "1"]).and_then(|command| simulated(&command)) else {
        return;
    };
    assert_exact(&by_turn(&mut child, K, |child| simulated.read(child).expect("a count")));
}

#[test]
fn valgrind_counts_threads_that_have_ended() {
    let Some((simulated, mut child)) =
        command(&["threads", "1", "3"]).and_then(|command| simulated(&command))
    else {
        return;
    };
    let turns = by_turn(&mut child, 2_000, |child| simulated.read(child).expect("a count"));
    // Three threads, each with three calls a turn.
    let whole = turns[0].round();
    assert!(turns.iter().all(|turn| (turn - whole).abs() <= whole / 1_000.0), "{turns:?}");
    assert!((3.0 * 3.0 * 4.0..3.0 * 3.0 * 100.0).contains(&whole), "{turns:?}");
}

#[test]
fn a_script_that_becomes_the_program_is_followed() {
    let Some(program) = known::known() else { return };
    let script = format!("exec {} spin 1", program.display());
    let Some((simulated, mut child)) = simulated(&Command::new("/bin/sh", ["-c", &script])) else { return };
    assert_exact(&by_turn(&mut child, K, |child| simulated.read(child).expect("a count")));
}

#[test]
fn valgrind_counts_a_process_from_start_to_end() {
    let Some(command) = command(&["spin", "1"]) else { return };
    let whole = |turns: u64| {
        let whole = Whole::prepare(&command, &std::env::temp_dir()).ok()?;
        let mut child = Child::spawn(whole.command()).expect("it starts");
        ask(&mut child, &turns.to_string());
        child.end(known::PATIENCE_NS).expect("it ends by itself");
        Some(whole.read().expect("a count"))
    };
    let (Some(once), Some(twice)) = (whole(K), whole(2 * K)) else {
        eprintln!("skipped: instructions under valgrind: it is not installed (apt install valgrind)");
        return;
    };
    assert_exact(&[(twice - once) as f64 / K as f64]);
    // One that was killed has written no sum.
    let killed = Whole::prepare(&command, &std::env::temp_dir()).expect("as before");
    let mut child = Child::spawn(killed.command()).expect("it starts");
    ask(&mut child, "1");
    child.kill_tree();
    assert!(killed.read().is_err());
}

#[test]
fn programs_that_are_started_are_counted_to_the_end() {
    // Each of three programs has the same start and three calls a turn, some 50 instructions each.
    let whole = |turns: &str| {
        let whole = Whole::prepare(&command(&["programs", turns, "3"])?, &std::env::temp_dir()).ok()?;
        let mut child = Child::spawn(whole.command()).expect("it starts");
        ask(&mut child, "go");
        child.end(known::PATIENCE_NS).expect("it ends by itself");
        Some(whole.read().expect("a count"))
    };
    let (Some(once), Some(twice)) = (whole("1000"), whole("2000")) else { return };
    let turn = (twice - once) as f64 / 3_000.0;
    assert!((20.0..400.0).contains(&turn), "{turn}");
}

#[test]
fn a_process_that_has_ended_tells_nothing_and_leaves_nothing() {
    let Some((simulated, mut child)) = command(&["spin", "1"]).and_then(|command| simulated(&command)) else {
        return;
    };
    ask(&mut child, "go");
    let words = simulated.command().args.join(" ");
    let folder =
        words.split("--log-file=").nth(1).and_then(|rest| rest.split("/log").next()).expect("a folder");
    assert!(std::fs::read_dir(folder).expect("there").count() > 0);
    child.kill_tree();
    let Missing { reason, .. } = simulated.read(&child).expect_err("it has ended");
    assert!(reason.contains("does not tell its count"), "{reason}");
    drop(simulated);
    assert!(!std::path::Path::new(folder).exists(), "{folder} is left");
}

#[test]
fn the_processor_counts_or_says_why_not() {
    let Some(command) = command(&["spin", "1"]) else { return };
    let wanted = Wanted { instructions: true, ..Wanted::default() };
    let (mut child, counters) = Child::spawn_wanted(&command, wanted).expect("it starts");
    assert!(counters.syscalls.is_none() && counters.traced.is_none());
    match counters.instructions.expect("it was wanted") {
        Ok(counter) => assert_exact(&by_turn(&mut child, K, |_| counter.read().expect("a count"))),
        Err(missing) => {
            assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{missing}");
            eprintln!("skipped: instructions by the processor: {missing}");
        }
    }
}
