//! What does the harness itself cost? The probes run against the loop that anyone would write by
//! hand, interleaved.
//!
//! ```sh
//! # tokio and asyncio, 2,048 tasks; then as few that a cost per sample would show most
//! cargo run --release -p taskscale-experiments --bin harness
//! cargo run --release -p taskscale-experiments --bin harness -- 64
//! ```
//!
//! Prints the ratio of CPU time per task, probe over hand-written, with its 95 % interval.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an experiment prints its figures")]

use std::{hint::black_box, io::BufRead, process::ExitCode, time::Instant};

use anyhow::{Context, ensure};
use taskscale_bench::{
    link::Link,
    probe::{HANDSHAKE_NS, Probe},
};
use taskscale_model::{params::ParamValue, protocol::RunRequest};
use taskscale_stats::paired::PairedRatio;
use taskscale_sys::{
    clock,
    process::{Child, Command},
};

const ROUNDS: u64 = 60;
const SAMPLE_NS: f64 = 20e6;
const ANSWER_NS: u64 = 60_000_000_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("serve") => return taskscale_probe_rust::main(&words[1]),
        Some("by-hand") => return by_hand(&words[1]),
        _ => (),
    }
    let size = words.first().map_or(Ok(2_048), |word| word.parse());
    let done = size.context("give a number of tasks").and_then(|size| {
        let this = std::env::current_exe()?.to_string_lossy().into_owned();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let tasks = size.to_string();
        compare(
            size,
            "tokio current_thread/spawn",
            "current_thread/spawn",
            &Command::new(&this, ["serve", "tokio"]),
            &Command::new(&this, ["by-hand", &tasks]),
        )?;
        compare(
            size,
            "asyncio await_each",
            "await_each",
            &Command::new("python3", [&format!("{folder}/probes/python/taskscale_probe"), "asyncio"]),
            &Command::new(
                "python3",
                [&format!("{folder}/experiments/src/bin/harness/asyncio_loop.py"), &tasks],
            ),
        )
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("harness: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Compares two programs of one variant in mirrored random rounds.
fn compare(size: u64, name: &str, variant: &str, probe: &Command, by_hand: &Command) -> anyhow::Result<()> {
    let mut probe = Probe::start(probe)?;
    probe.describe(HANDSHAKE_NS)?;
    let mut hand = Child::spawn(by_hand)?;
    let request = |iterations, id| RunRequest {
        id,
        workload: "fanout".into(),
        variant: variant.into(),
        size,
        iterations,
        params: [("order".to_owned(), ParamValue::Word("ordered".into()))].into(),
        seed: id,
    };
    // The search for the number of iterations warms up both.
    let mut iterations = 1;
    loop {
        let wall_ns = probe.run(&request(iterations, 0), ANSWER_NS)?.sample.wall_ns as f64;
        ask(&mut hand, iterations)?;
        if wall_ns > SAMPLE_NS {
            break;
        }
        iterations *= 2;
    }
    let (mut by_probe, mut by_hand) = (Vec::new(), Vec::new());
    let mut probe_first = false;
    for round in 0..ROUNDS {
        // The order is ABBA or BAAB, at random.
        probe_first = if round % 2 == 0 { fastrand::bool() } else { !probe_first };
        for turn in [probe_first, !probe_first] {
            let tasks = (iterations * size) as f64;
            if turn {
                by_probe
                    .push(probe.run(&request(iterations, round), ANSWER_NS)?.sample.cpu_ns as f64 / tasks);
            } else {
                by_hand.push(ask(&mut hand, iterations)? as f64 / tasks);
            }
        }
    }
    let ratio = PairedRatio::of(&by_hand, &by_probe, 0.95).context("too few rounds")?;
    println!(
        "{name}, n = {size}: probe over hand-written {:.3} [{:.3}, {:.3}] in CPU time per task, {} rounds",
        ratio.ratio, ratio.low, ratio.high, ratio.n
    );
    Ok(())
}

/// The CPU nanoseconds of `iterations` iterations by the hand-written program.
fn ask(hand: &mut Child, iterations: u64) -> anyhow::Result<u64> {
    let deadline_ns = clock::monotonic_ns() + ANSWER_NS;
    hand.send_line(iterations.to_string().as_bytes(), deadline_ns)?;
    let line = String::from_utf8(hand.read_line(deadline_ns)?)?;
    let cpu = line.split_whitespace().next().context("no figure")?;
    Ok(cpu.parse()?)
}

/// The tokio loop that anyone would write by hand.
fn by_hand(tasks: &str) -> ExitCode {
    #[inline(never)]
    fn multiply(i: u64) -> u64 {
        black_box(31) * i
    }
    let serve = || -> anyhow::Result<()> {
        let n: u64 = tasks.parse()?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let pid = std::process::id();
        for line in std::io::stdin().lock().lines() {
            let iterations: u64 = line?.trim().parse()?;
            let (wall, cpu) = (Instant::now(), clock::process_cpu_ns(pid)?);
            let total = runtime.block_on(async {
                let mut total = 0u64;
                for _ in 0..iterations {
                    let handles: Vec<_> = (0..n).map(|i| tokio::spawn(async move { multiply(i) })).collect();
                    for handle in handles {
                        total = total.wrapping_add(handle.await.unwrap_or(0));
                    }
                }
                total
            });
            let (cpu, wall) = (clock::process_cpu_ns(pid)? - cpu, wall.elapsed().as_nanos());
            ensure!(total == iterations * (31 * n * (n - 1) / 2), "wrong sum");
            println!("{cpu} {wall}");
        }
        Ok(())
    };
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("by hand: {error:#}");
            ExitCode::from(2)
        }
    }
}
