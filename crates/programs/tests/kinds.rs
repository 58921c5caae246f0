//! Every kind, over many seeds: it can be drawn, it ends, it stays within bounds.

use taskscale_programs::{Kind, Program};

const SEEDS: u64 = 200;

#[test]
fn every_kind_draws_within_bounds() {
    assert!(Kind::ALL.len() >= 45);
    let mut problems = Vec::new();
    for kind in Kind::ALL {
        for seed in 0..SEEDS {
            let program = Program::draw(*kind, seed);
            let mut hold = |what: &str, value: u64, low: u64, high: u64| {
                if !(low..=high).contains(&value) {
                    problems.push(format!("{} {seed}: {value} {what}", kind.name()));
                }
            };
            hold("workers", u64::from(program.machine.workers), 1, 128);
            hold("spans", program.spans() as u64, 1, 50_000);
            let Ok(execution) = program.try_execute() else {
                problems.push(format!("{} {seed}: never ends", kind.name()));
                continue;
            };
            hold(
                "spans executed",
                execution.spans.len() as u64,
                program.spans() as u64,
                program.spans() as u64,
            );
            hold("ns of window", execution.window_ns(), 2_000_000, 60_000_000_000);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
