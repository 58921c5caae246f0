//! Runs a tokio program for each pattern that tokio can have, 20 times, and shows the digest's
//! diagnoses:
//!
//! ```sh
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p taskscale-experiments --bin patterns \
//!     --target-dir target/unstable [-- RUNS [WORD]]
//! ```
//!
//! This takes about two minutes. With `WORD` it runs only programs whose description holds that
//! word, and shows each digest in full.

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

mod programs;

use std::{
    env,
    error::Error,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use programs::{PROGRAMS, Program};
use taskscale_model::digest::PatternName;
use taskscale_tokio::Live;

const RUNS: usize = 20;
/// A process that keeps a core busy ends by itself after this time if nobody ends it.
const BUSY: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let runs = match env::args().nth(1).as_deref() {
        Some("busy") => {
            busy();
            return Ok(());
        }
        Some(runs) => runs.parse()?,
        None => RUNS,
    };
    if !cfg!(tokio_unstable) {
        return Err("polls are not seen: build with RUSTFLAGS=\"--cfg tokio_unstable\"".into());
    }
    let word = env::args().nth(2);
    let chosen: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| word.as_ref().is_none_or(|word| program.what.contains(word)))
        .collect();
    let mut found: Vec<Vec<(PatternName, f64)>> = vec![Vec::new(); chosen.len()];
    // All programs take turns, so that a minute of noise does not fall on one of them.
    for run in 0..runs {
        for (program, found) in chosen.iter().zip(&mut found) {
            let live = execute(program)?;
            let digest = live.digest();
            let first = digest.patterns[0].name;
            println!("run {run}, {}: {first}", program.what);
            if word.is_some() || !program.right.contains(&first) {
                println!("{live}");
            }
            found.push((first, digest.losses.preempted));
        }
    }
    println!(
        "\n{runs} runs each; preempted: the digest says so instead, and others had a tenth of the time or more"
    );
    println!("{:<66} {:<25} {:>6} {:>10}  wrong", "program", "expected", "right", "preempted");
    for (program, found) in chosen.iter().zip(&found) {
        let names: Vec<&str> = program.right.iter().map(|name| name.as_str()).collect();
        let (right, other): (Vec<_>, Vec<_>) =
            found.iter().partition(|(name, _)| program.right.contains(name));
        let (preempted, wrong): (Vec<_>, Vec<_>) = other.iter().partition(|(name, share)| {
            matches!(name, PatternName::Preempted | PatternName::Inconclusive) && *share >= 0.1
        });
        let wrong: Vec<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
        println!(
            "{:<66} {:<25} {:>6} {:>10}  {}",
            program.what,
            names.join(" or "),
            right.len(),
            preempted.len(),
            wrong.join(", ")
        );
    }
    Ok(())
}

fn execute(program: &Program) -> Result<Live, Box<dyn Error>> {
    let _others = if program.disturbed { Others::start()? } else { Others(Vec::new()) };
    Ok((program.run)()?)
}

/// Processes that keep the cores busy until this is dropped.
struct Others(Vec<Child>);

impl Others {
    fn start() -> Result<Self, Box<dyn Error>> {
        let mut others = Others(Vec::new());
        for _ in 0..2 * thread::available_parallelism()?.get() {
            others.0.push(
                Command::new(env::current_exe()?)
                    .arg("busy")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn()?,
            );
        }
        Ok(others)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A process that has ended needs no end. One that cannot be ended ends by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn busy() {
    let begin = Instant::now();
    while begin.elapsed() < BUSY {
        std::hint::spin_loop();
    }
}
