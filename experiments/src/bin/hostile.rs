//! What does `taskscale digest` do with input made to hurt?
//!
//! ```sh
//! # All cases, lines of 10 GB; then a billion distinct names
//! cargo build --release && cargo run --release -p taskscale-experiments --bin hostile
//! cargo run --release -p taskscale-experiments --bin hostile -- --count 1000000000 --case names
//! ```
//!
//! Streams each case to the binary beside this program and prints one row: what was fed, the exit
//! status, the peak of resident memory (`VmHWM`), the time, and the message.
//! `crates/cli/tests/hostile.rs` asserts the same at small sizes.
#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use taskscale_testkit::hostile::{CASES, Sizes, run};

#[derive(Debug, Parser)]
#[command(about = "taskscale digest on hostile input, at sizes that hurt")]
struct Args {
    /// Bytes of one line
    #[arg(long, default_value_t = 10_000_000_000)]
    line: u64,
    /// Brackets inside one another
    #[arg(long, default_value_t = 100_000_000)]
    brackets: u64,
    /// Distinct names, workers, times
    #[arg(long, default_value_t = 20_000_000)]
    count: u64,
    /// Begins without an end
    #[arg(long, default_value_t = 50_000_000)]
    begins: u64,
    /// Only cases whose name holds this text
    #[arg(long, default_value = "")]
    case: String,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let sizes = Sizes { line: args.line, brackets: args.brackets, count: args.count, begins: args.begins };
    let binary = binary()?;
    println!("| case | MB fed | exit | peak RSS, MB | s | message |");
    println!("|---|--:|--:|--:|--:|---|");
    let mut wrong = 0;
    for case in CASES.iter().filter(|case| case.name.contains(&args.case)) {
        let began = Instant::now();
        let ended = run(&binary, &sizes, case.feed)?;
        let exit = ended.status.map_or("signal".to_owned(), |status| status.to_string());
        let peak = ended.peak_rss.map_or("ended".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        let (fed, s) = (ended.fed as f64 / 1e6, began.elapsed().as_secs_f64());
        let message: String = ended.message().chars().take(110).collect();
        println!("| {} | {fed:.0} | {exit} | {peak} | {s:.1} | {} |", case.name, message.replace('|', "\\|"));
        wrong += u32::from(ended.status != Some(case.status));
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The path of `target/release/taskscale`, seen from `target/release/hostile`.
fn binary() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().context("a program lies in a folder")?;
    let binary = folder.join(format!("taskscale{}", std::env::consts::EXE_SUFFIX));
    ensure!(binary.exists(), "{} is not there; build it first: cargo build --release", binary.display());
    Ok(binary)
}
