//! What observing costs, in CPU time per poll. It compares a stable build of tokio and one with
//! `--cfg tokio_unstable`. In the latter it compares hooks that do nothing, ours, hooks with
//! `Instant::now`, and tokio's own histogram of poll times.
//!
//! `cargo run --release -p taskscale-experiments --bin poll_cost [-- ROUNDS]` builds the other of
//! the two builds by itself (under `target/poll_cost`). A round is a fresh process of each build in
//! random order. A process takes all its modes in random order and then backwards. So differences
//! are between passes of one process, and intervals are over processes.

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

mod workload;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

use taskscale_stats::{quantile::median, sign::sign_interval};
use workload::{Mode, pass, polls, tasks};

const ROUNDS: usize = 20;
/// Makes glibc keep freed memory. By default glibc gives it back after a batch or not, depending on
/// what lies above it: one object more or less then made 60 ns a poll.
const MALLOC: [(&str, &str); 2] = [("MALLOC_TRIM_THRESHOLD_", "1000000000"), ("MALLOC_ARENA_MAX", "1")];
const UNSTABLE: &str = "--cfg tokio_unstable";

/// CPU nanoseconds per task of each mode, and polls per task where they are counted.
type Process = (Vec<(Mode, f64)>, f64);

fn main() -> Result<(), Box<dyn Error>> {
    match env::args().nth(1).as_deref() {
        Some("process") => process(env::args().nth(2).ok_or("the seed is missing")?.parse()?),
        Some(rounds) => compare(rounds.parse()?),
        None => compare(ROUNDS),
    }
}

/// Runs one process: counts the polls of a pass, then takes each mode twice and prints its CPU
/// time.
fn process(seed: u64) -> Result<(), Box<dyn Error>> {
    let mut order: Vec<usize> = (0..Mode::ALL.len()).collect();
    shuffle(&mut order, seed);
    let polls = polls()?;
    println!("polls {polls}");
    pass(Mode::None)?;
    for index in order.iter().chain(order.iter().rev()) {
        let (cpu, seen) = pass(Mode::ALL[*index])?;
        // A poll now and then depends on who wakes whom first.
        if let Some(seen) = seen.filter(|seen| seen.abs_diff(polls) > polls / 100) {
            return Err(format!("{seen} polls were observed where {polls} are made").into());
        }
        println!("{} {cpu}", Mode::ALL[*index].word());
    }
    Ok(())
}

/// Shuffles by Fisher and Yates, with splitmix64.
fn shuffle(order: &mut [usize], mut seed: u64) {
    for last in (1..order.len()).rev() {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(last, ((mixed ^ (mixed >> 31)) % (last as u64 + 1)) as usize);
    }
}

fn compare(rounds: usize) -> Result<(), Box<dyn Error>> {
    let me = env::current_exe()?;
    let (stable, unstable) = if cfg!(tokio_unstable) {
        (build(&me, "stable", "")?, me)
    } else {
        let unstable = build(&me, "unstable", UNSTABLE)?;
        (me, unstable)
    };
    let (mut of_stable, mut of_unstable): (Vec<Process>, Vec<Process>) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut order = [0, 1];
        shuffle(&mut order, round as u64 + 1_000);
        for build in order {
            let (program, into) =
                if build == 0 { (&stable, &mut of_stable) } else { (&unstable, &mut of_unstable) };
            into.push(run(program, round as u64)?);
        }
    }
    show(&of_stable, &of_unstable, rounds);
    Ok(())
}

/// Builds this program with other flags, beside the present build.
fn build(me: &Path, name: &str, flags: &str) -> Result<PathBuf, Box<dyn Error>> {
    // .../target/release/poll_cost
    let target = me.ancestors().nth(2).ok_or("the program lies outside of a target folder")?;
    let target = target.join("poll_cost").join(name);
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "-p", "taskscale-experiments", "--bin", "poll_cost", "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", flags)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    if !status.success() {
        return Err(format!("cargo could not build this program with RUSTFLAGS={flags:?}").into());
    }
    Ok(target.join("release").join(me.file_name().ok_or("the program has no name")?))
}

fn run(program: &Path, seed: u64) -> Result<Process, Box<dyn Error>> {
    let output = Command::new(program).args(["process", &seed.to_string()]).envs(MALLOC).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut passes: Vec<(Mode, f64)> = Vec::new();
    let mut polls = 0.0;
    for line in String::from_utf8(output.stdout)?.lines() {
        let (word, figure) = line.rsplit_once(' ').ok_or("a line without a figure")?;
        let figure = figure.parse::<f64>()? / tasks();
        if word == "polls" {
            polls = figure;
            continue;
        }
        let mode = Mode::parse(word).ok_or("a mode that this build does not know")?;
        // Each mode has two passes, and each counts half.
        match passes.iter_mut().find(|(known, _)| *known == mode) {
            Some((_, sum)) => *sum += figure / 2.0,
            None => passes.push((mode, figure / 2.0)),
        }
    }
    Ok((passes, polls))
}

fn show(stable: &[Process], unstable: &[Process], rounds: usize) {
    let polls: Vec<f64> = unstable.iter().map(|(_, polls)| *polls).collect();
    let polls_per_task = median(&polls).unwrap_or(f64::NAN);
    println!(
        "{rounds} rounds, one worker, {:.0} empty tasks a pass, {polls_per_task:.3} polls per task",
        tasks()
    );
    println!(
        "CPU ns: median of processes; what is added per poll, over no hooks of the same process: median (95 % interval)\n"
    );
    println!("{:<42} {:>9} {:>9}  added per poll", "", "per task", "per poll");
    for (name, processes) in [("stable", stable), ("unstable", unstable)] {
        for mode in Mode::KNOWN
            .iter()
            .copied()
            .filter(|mode| processes.iter().all(|process| !of(process, *mode).is_nan()))
        {
            row(name, mode, processes, polls_per_task);
        }
    }
    let none = |processes: &[Process]| -> Vec<f64> {
        processes.iter().map(|process| of(process, Mode::None) / polls_per_task).collect()
    };
    let added: Vec<f64> = none(unstable).iter().zip(none(stable)).map(|(b, a)| b - a).collect();
    println!(
        "\nthe cfg itself, no hooks, over the stable build of the same round: {} per poll",
        interval(added)
    );
}

fn of((passes, _): &Process, mode: Mode) -> f64 {
    passes.iter().find(|(known, _)| *known == mode).map_or(f64::NAN, |(_, cpu)| *cpu)
}

fn row(build: &str, mode: Mode, processes: &[Process], polls_per_task: f64) {
    let all: Vec<f64> = processes.iter().map(|process| of(process, mode)).collect();
    let cpu = median(&all).unwrap_or(f64::NAN);
    let added: Vec<f64> = processes
        .iter()
        .map(|process| (of(process, mode) - of(process, Mode::None)) / polls_per_task)
        .collect();
    let added = if mode == Mode::None { String::new() } else { interval(added) };
    println!("{:<42} {cpu:>9.1} {:>9.1}  {added}", format!("{build}, {}", mode.word()), cpu / polls_per_task);
}

fn interval(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let middle = median(&values).unwrap_or(f64::NAN);
    match sign_interval(&values, 0.95) {
        Some((low, high)) => format!("{middle:+.1} ({low:+.1} to {high:+.1})"),
        None => format!("{middle:+.1} (too few rounds for an interval)"),
    }
}
