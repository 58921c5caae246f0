//! Every kind, over many seeds: it can be drawn, it ends, it stays within bounds.

use taskscale_programs::{Kind, Program, kinds};

const SEEDS: u64 = 200;

/// Draws and executes this quarter of the kinds.
fn quarter(of: usize) {
    let mut problems = Vec::new();
    for kind in Kind::ALL.iter().skip(of).step_by(4) {
        for seed in 0..SEEDS {
            let program = Program::draw(*kind, seed);
            let mut hold = |what: &str, value: u64, low: u64, high: u64| {
                if !(low..=high).contains(&value) {
                    problems.push(format!("{} {seed}: {value} {what}", kind.name()));
                }
            };
            let spans = program.spans() as u64;
            hold("workers", u64::from(program.machine.workers), 1, 128);
            hold("spans", spans, 1, kinds::MOST_SPANS as u64);
            let Ok(execution) = program.try_execute() else {
                problems.push(format!("{} {seed}: never ends", kind.name()));
                continue;
            };
            hold("spans executed", execution.spans.len() as u64, spans, spans);
            hold("ns of window", execution.window_ns(), kinds::WINDOW.0, kinds::WINDOW.1);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_kind_draws_within_bounds_1() {
    quarter(0);
}

#[test]
fn every_kind_draws_within_bounds_2() {
    quarter(1);
}

#[test]
fn every_kind_draws_within_bounds_3() {
    quarter(2);
}

#[test]
fn every_kind_draws_within_bounds_4() {
    quarter(3);
}

#[test]
fn kinds_are_many_and_have_names_of_their_own() {
    assert!(Kind::ALL.len() >= 45, "{}", Kind::ALL.len());
    let mut names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Kind::ALL.len());
}
