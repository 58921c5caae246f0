//! What a span costs, in CPU time of the best of five passes, and how much memory an accumulator
//! holds.
//!
//! `cargo run --release -p taskscale-experiments --bin span_cost`

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::fs;

use taskscale_digest::{Accumulator, Config};
use taskscale_model::span::{Account, Depth, Span, SpanSink};

const SPANS: u32 = 5_000_000;

/// CPU time of this thread: the first field of `schedstat` (Linux).
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with scheduler statistics");
    text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("nanoseconds first")
}

fn pass(config: Config, workers: u32, name: &[&[u8]], depth: Depth) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let mut accumulator = Accumulator::new(config);
        let mut at = vec![0i64; workers as usize];
        let begin = cpu_ns();
        for index in 0..SPANS {
            let worker = index % workers;
            let start_ns = at[worker as usize] + 100;
            let end_ns = start_ns + 1_000 + i64::from(index % 977);
            at[worker as usize] = end_ns;
            accumulator.span(&Span {
                worker,
                start_ns,
                end_ns,
                name: name[index as usize % name.len()],
                depth,
                ..Span::default()
            });
        }
        best = best.min((cpu_ns() - begin) as f64 / f64::from(SPANS));
        assert_eq!(accumulator.finish(&Account::default()).tasks, u64::from(SPANS));
    }
    best
}

fn main() {
    let names: [&[u8]; 4] = [b"load", b"solve_block", b"reduce", b"a_name_of_thirty_two_characters_"];
    for (label, name, depth) in [
        ("no name, depth known", &[&b""[..]][..], Depth::Level(0)),
        ("no name", &[&b""[..]][..], Depth::Unknown),
        ("one name", &names[..1], Depth::Unknown),
        ("four names in turn", &names[..], Depth::Unknown),
    ] {
        for workers in [1, 8, 1_000] {
            println!(
                "{label}, {workers} workers: {:.1} ns a span",
                pass(Config::default(), workers, name, depth)
            );
        }
        println!("{label}, observer: {:.1} ns a span", pass(Config::observer(), 1, name, depth));
    }
    for (label, config) in [("default", Config::default()), ("observer", Config::observer())] {
        println!("{label}: {} bytes with one worker", Accumulator::new(config).bytes());
    }
}
