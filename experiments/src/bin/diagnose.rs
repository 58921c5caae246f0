//! Validates the diagnosis on simulated runs: confusion matrix, predicted speed-ups, and how both
//! fall with the margin.
//!
//! `cargo run --release -p taskscale-experiments --bin diagnose [-- CASES FIRST_SEED]` prints them.
//! `--wrong` adds each wrong case; `--sweep` prints the accuracy over each threshold instead. The
//! seeds that the rules were designed on lie below two million. Those reported by default lie above
//! four million.

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::collections::BTreeMap;

use taskscale_digest::Thresholds;
use taskscale_model::digest::PatternName;
use taskscale_simulate::{
    Case, Cause, Trial,
    ambiguous::{Ambiguous, ambiguous},
    trial,
};

/// Seeds from here on were executed once, when all rules stood. A batch from two million on judged
/// the first version of the rules.
const HELD_OUT: u64 = 4_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let cases = arguments.next().unwrap_or(3_000);
    let first = arguments.next().unwrap_or(HELD_OUT);
    let (mut trials, hidden): (Vec<Trial>, Vec<Trial>) = (0..cases)
        .map(|index| trial(Case::draw(first + index, &planted(index))))
        .partition(|trial| trial.is_visible());
    if std::env::args().any(|argument| argument == "--sweep") {
        return sweep(&mut trials);
    }
    let single: Vec<&Trial> = trials.iter().filter(|trial| trial.case.causes.len() < 2).collect();
    println!(
        "{cases} cases, seeds {first} to {}; a cause is worth naming from 10 % of the time\n",
        first + cases - 1
    );
    println!("Truth (rows) against diagnosis, margin of at least 2:");
    matrix(trials.iter().filter(|trial| trial.margin >= 2.0));
    println!(
        "\nPreempted, and the source knows no run delay (not in the figures below), margin of at least 2:"
    );
    matrix(hidden.iter().filter(|trial| trial.margin >= 2.0));
    println!("\n  margin       | cases | right | among two, or declined | speed-ups | within 15 %");
    for (low, high) in [
        (1.0, 1.25),
        (1.25, 1.5),
        (1.5, 2.0),
        (2.0, 3.0),
        (3.0, 5.0),
        (5.0, f64::INFINITY),
        (2.0, f64::INFINITY),
    ] {
        row(
            &format!("{low:.2} to {high:.2}"),
            trials.iter().filter(|trial| trial.margin >= low && trial.margin < high),
        );
    }
    println!("\n  planted      |");
    row("one or none", single.iter().copied().filter(|trial| trial.margin >= 2.0));
    row("two", trials.iter().filter(|trial| trial.case.causes.len() == 2 && trial.margin >= 2.0));
    for workers in [2, 3, 4, 8, 16, 64] {
        let of = trials.iter().filter(|trial| trial.case.workers == workers && trial.margin >= 2.0);
        row(&format!("{workers} workers"), of);
    }
    println!("\nCases by hand that can be read in more than one way, and the first two patterns:");
    for Ambiguous { name, case, .. } in ambiguous() {
        let patterns = trial(case).digest.patterns;
        println!("  {name:<80} {}, {}", patterns[0].name, patterns[1].name);
    }
    if std::env::args().any(|argument| argument == "--wrong") {
        for trial in trials.iter().filter(|trial| trial.margin >= 2.0 && !trial.is_right()) {
            describe(trial);
        }
        for trial in trials
            .iter()
            .filter(|trial| trial.speedup_ratio().is_some_and(|ratio| (ratio - 1.0).abs() > 0.15))
        {
            println!("speed-up {:?}", trial.speedup_ratio());
            describe(trial);
        }
    }
}

/// A threshold: its name, and its place in the thresholds.
type Knob = (&'static str, fn(&mut Thresholds) -> &mut f64);

/// Prints the accuracy over each threshold, a factor of four both ways, with all others unchanged.
fn sweep(trials: &mut [Trial]) {
    const FACTORS: [f64; 9] = [0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0];
    let knobs: [Knob; 6] = [
        ("dispatch_reach", |thresholds| &mut thresholds.dispatch_reach),
        ("short_wait", |thresholds| &mut thresholds.short_wait),
        ("same_kind", |thresholds| &mut thresholds.same_kind),
        ("stands_out", |thresholds| &mut thresholds.stands_out),
        ("overlap", |thresholds| &mut thresholds.overlap),
        ("preempted", |thresholds| &mut thresholds.preempted),
    ];
    trials.sort_by(|a, b| b.margin.total_cmp(&a.margin));
    let clear = trials.partition_point(|trial| trial.margin >= 2.0);
    let trials = &mut trials[..clear];
    println!(
        "{clear} clear cases; right (right or declined; speed-ups within 15 %), in %, by factor on a threshold\n"
    );
    let factors: Vec<String> = FACTORS.iter().map(|factor| format!("{factor:>18.2}")).collect();
    println!("{:<15}{}", "", factors.join(""));
    for (name, place) in knobs {
        let mut line = String::new();
        for factor in FACTORS {
            let mut thresholds = Thresholds::default();
            *place(&mut thresholds) *= factor;
            trials.iter_mut().for_each(|trial| trial.redo(&thresholds));
            let share = |count: usize, of: usize| count as f64 / of.max(1) as f64 * 100.0;
            let right = trials.iter().filter(|trial| trial.is_right()).count();
            let fair = trials.iter().filter(|trial| trial.is_fair()).count();
            let ratios: Vec<f64> = trials.iter().filter_map(Trial::speedup_ratio).collect();
            let near = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= 0.15).count();
            let (right, fair) = (share(right, clear), share(fair, clear));
            line += &format!("  {right:.1} ({fair:.1}; {:.1})", share(near, ratios.len()));
        }
        println!("{name:<15}{line}");
    }
}

/// The causes that a case has: none, each alone, and pairs, in turn.
fn planted(index: u64) -> Vec<Cause> {
    let all = Cause::ALL;
    let one = all[(index / 10) as usize % all.len()];
    match index % 10 {
        0 | 1 => Vec::new(),
        2..=7 => vec![one],
        _ => {
            let step = 1 + (index / 70) as usize % (all.len() - 1);
            vec![one, all[((index / 10) as usize + step) % all.len()]]
        }
    }
}

fn matrix<'a>(trials: impl Iterator<Item = &'a Trial>) {
    let mut counts: BTreeMap<PatternName, BTreeMap<PatternName, u64>> = BTreeMap::new();
    for trial in trials {
        *counts.entry(trial.truth).or_default().entry(trial.diagnosis()).or_default() += 1;
    }
    for (truth, row) in counts {
        let cells: Vec<String> = row.iter().map(|(name, count)| format!("{name} {count}")).collect();
        println!("  {:<20} {}", truth.as_str(), cells.join(", "));
    }
}

fn row<'a>(label: &str, trials: impl Iterator<Item = &'a Trial>) {
    let trials: Vec<&Trial> = trials.collect();
    let share = |count: usize, of: usize| {
        if of == 0 { "-".into() } else { format!("{:.1} %", count as f64 / of as f64 * 100.0) }
    };
    let right = trials.iter().filter(|trial| trial.is_right()).count();
    let fair = trials.iter().filter(|trial| trial.is_fair()).count();
    let ratios: Vec<f64> = trials.iter().filter_map(|trial| trial.speedup_ratio()).collect();
    let near = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= 0.15).count();
    println!(
        "  {label:<12} | {:5} | {:>7} | {:>7} | {:5} | {:>7}",
        trials.len(),
        share(right, trials.len()),
        share(fair, trials.len()),
        ratios.len(),
        share(near, ratios.len())
    );
}

fn describe(trial: &Trial) {
    let case = &trial.case;
    let tasks: usize = case.phases.iter().map(|phase| phase.tasks.len()).sum();
    let gains: Vec<String> =
        trial.gains.iter().take(3).map(|(cause, gain)| format!("{cause:?} {gain:.2}")).collect();
    println!(
        "seed {} W {} phases {} tasks {tasks} planted {:?} margin {:.1}\n  true {} ({})",
        case.seed,
        case.workers,
        case.phases.len(),
        case.causes,
        trial.margin,
        trial.truth,
        gains.join(", ")
    );
    for pattern in &trial.digest.patterns {
        println!("  said {} {:.2} {:.2}x: {}", pattern.name, pattern.share, pattern.bound, pattern.evidence);
    }
    println!("  {:?} cost {:?}", trial.digest.losses, trial.digest.scheduling_cost_ns);
}
