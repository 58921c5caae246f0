//! What the kernel counts of a process, on a program whose truth is known.
#![cfg(target_os = "linux")]

mod known;

use known::{PATIENCE_NS, as_nobody, ask, command};
use taskscale_sys::{
    clock::monotonic_ns,
    counts::{peak, usage},
    process::Child,
};

const MIB: u64 = 1 << 20;

fn start(words: &[&str]) -> Option<Child> {
    Some(Child::spawn(&command(words)?).expect("it starts"))
}

/// What happened in the second go, and what the process itself says of it: switches that were
/// voluntary and not, faults that were minor and major.
fn second_go(words: &[&str]) -> Option<(usage::Usage, Vec<u64>)> {
    let mut child = start(words)?;
    ask(&mut child, "go");
    let before = usage::read(&child).expect("it stops");
    let told = ask(&mut child, "go");
    let after = usage::read(&child).expect("it stops");
    Some((after.since(&before), told))
}

#[test]
fn every_switch_of_threads_that_ended_is_counted() {
    // Each of 8 threads waits 300 times and ends. A nap is over before it began where a neighbour
    // has the CPU meanwhile; what the process itself was told of is the truth.
    let Some((counted, told)) = second_go(&["naps", "300", "8"]) else { return };
    let voluntary = counted.voluntary_switches;
    assert!(told[1] > 1_200 && voluntary >= told[1], "{counted:?} {told:?}");
    // Beside what the process saw: the stops, the wait for its line, writing the answer.
    assert!(voluntary <= told[1] + 16, "{counted:?} {told:?}");
    assert!(counted.involuntary_switches >= told[2], "{counted:?} {told:?}");
}

#[test]
fn every_fault_is_counted() {
    let Some((counted, told)) = second_go(&["pages", "5000"]) else { return };
    assert!(told[3] >= 5_000, "{told:?}");
    assert!((told[3]..=told[3] + 16).contains(&counted.minor_faults), "{counted:?} {told:?}");
}

#[test]
fn children_that_were_waited_for_are_counted() {
    let Some((mut child, before)) = start(&["resident_children", "1000", "3"]).map(|mut child| {
        ask(&mut child, "go");
        let before = usage::read(&child).expect("it stops");
        (child, before)
    }) else {
        return;
    };
    let deadline_ns = monotonic_ns() + PATIENCE_NS;
    child.send_line(b"let them go", deadline_ns).expect("sent");
    assert_eq!(child.read_line(deadline_ns).expect("an answer"), b"gone");
    let counted = usage::read(&child).expect("it stops").since(&before);
    assert!(counted.minor_faults >= 3_000, "{counted:?}");
}

#[test]
fn a_process_that_has_ended_has_no_counts() {
    let Some(mut child) = start(&["calls", "1"]) else { return };
    child.end(PATIENCE_NS);
    assert!(usage::read(&child).is_err());
    assert!(peak::read(child.pid()).is_err());
}

#[test]
fn the_peak_is_what_was_touched_since_the_reset() {
    let Some(mut child) = start(&["pages", "16384"]) else { return };
    let pid = child.pid();
    ask(&mut child, "1");
    let before = peak::read(pid).expect("a peak");
    // 64 MiB are touched and unmapped before the answer.
    ask(&mut child, "16384");
    let peak = peak::read(pid).expect("a peak");
    let more = peak.own - before.own;
    assert!((64 * MIB - MIB..=64 * MIB + MIB).contains(&more), "{more}");
    assert_eq!(peak.descendants, 0);
    peak::reset(pid).expect("permitted");
    let rest = peak::read(pid).expect("a peak").own;
    assert!(rest < before.own + MIB, "{rest}");
    ask(&mut child, "8192");
    let more = peak::read(pid).expect("a peak").own - rest;
    assert!((32 * MIB - MIB..=32 * MIB + MIB).contains(&more), "{more}");
}

#[test]
fn the_peaks_of_children_are_added() {
    // Three children touch 16 MiB each, unmap them, and live on.
    let Some(mut child) = start(&["resident_children", "4096", "3"]) else { return };
    ask(&mut child, "go");
    let peak = peak::read(child.pid()).expect("a peak");
    assert!(peak.descendants >= 48 * MIB && peak.descendants < 64 * MIB, "{peak:?}");
    assert!(peak.own < 16 * MIB, "{peak:?}");
    assert_eq!(peak.total(), peak.own + peak.descendants);
    peak::reset(child.pid()).expect("permitted");
    let rest = peak::read(child.pid()).expect("a peak");
    assert!(rest.descendants < 16 * MIB, "{rest:?}");
}

#[test]
fn an_ordinary_user_may_read_all_of_it() {
    as_nobody("every_switch_of_threads_that_ended_is_counted");
    as_nobody("the_peak_is_what_was_touched_since_the_reset");
    as_nobody("the_peaks_of_children_are_added");
}
