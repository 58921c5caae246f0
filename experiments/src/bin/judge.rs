//! Judges the diagnosis on programs that were simulated by another hand, whose fixes are simulated
//! again: `cargo run --release -p taskscale-experiments --bin judge [-- SEEDS FIRST]`.
//!
//! Each kind of program (`crates/programs`) is drawn with `SEEDS` even seeds from `FIRST` on, and
//! each program is seen in a way that is drawn too: order of events, clock, names, run delay. The
//! score has three parts: the pattern is acceptable, the printed advice helps when taken, and the
//! predicted range holds what taking it gives. `--odd` takes odd seeds, on which the rules are
//! calibrated; `--sorted` shows everything in order; `--wrong` prints each program that was judged
//! wrong; `--kind PART` takes only kinds whose name holds the part.

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::collections::BTreeMap;

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Change, ConfidenceGrade, Digest, Pattern, PatternName},
    span::{Account, SpanSink},
};
use taskscale_programs::{
    Change as Done, Clock, Kind, Observation, Program, Truth, View, judge_execution, observe, speedup,
};
use taskscale_trace::{Sorter, sort::When};

/// A speed-up below this is no help.
const HELPS: f64 = 1.02;
/// What may be promised to a program with nothing to fix.
const PROMISE: f64 = 1.05;
/// Time of workers that is worth naming.
const BLOCKED: f64 = 0.1;
/// How far a predicted speed-up may be off, of the time: times vary by as much from run to run.
const NEAR: f64 = 0.05;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is = |word: &str| words.iter().any(|given| given == word);
    let part = words.iter().position(|word| word == "--kind").and_then(|at| words.get(at + 1));
    let mut numbers = words.iter().filter_map(|word| word.parse::<u64>().ok());
    let (seeds, first) = (numbers.next().unwrap_or(20), numbers.next().unwrap_or(1_000) / 2);
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for kind in Kind::ALL.iter().filter(|kind| part.is_none_or(|part| kind.name().contains(part))) {
        for index in first..first + seeds {
            let seed = 2 * index + u64::from(is("--odd"));
            let program = Program::draw(*kind, seed);
            let view = if is("--sorted") { View::sorted() } else { View::draw(seed) };
            let outcome = Outcome::of(&program, &view);
            scores.entry(kind.name()).or_default().add(&outcome);
            if is("--wrong") {
                outcome.faults().for_each(|fault| outcome.print(fault, kind.name(), seed));
            }
        }
    }
    let mut all = Score::default();
    println!("{:34} {}", "", Score::HEAD);
    for (kind, score) in &scores {
        println!("{kind:34} {score}");
        all.merge(score);
    }
    println!("{:34} {all}", "all");
}

/// One program, what is true of it, and what the digest said.
struct Outcome {
    truth: Truth,
    acceptable: Vec<PatternName>,
    /// The share of worker-time in which tasks waited inside.
    blocked: f64,
    /// Whether most tasks are shorter than the clock's step.
    too_fine: bool,
    digest: Digest,
    /// What the printed change gives when it is made; `None` where nothing is advised.
    taken: Option<f64>,
}

impl Outcome {
    fn of(program: &Program, view: &View) -> Self {
        let mut execution = program.execute();
        // Who is not told of workers that never ran cannot know of them.
        let seen;
        let program = if view.workers_declared {
            program
        } else {
            seen = program.on_seen_workers(&execution);
            execution = seen.execute();
            &seen
        };
        let truth = judge_execution(program, &execution);
        let digest = digest(&observe(&execution, view), step(view));
        let taken = digest.patterns[0].change.as_ref().map(|change| taken(program, change));
        let mean_ns = program.work_ns() / program.spans().max(1) as u64;
        Outcome {
            acceptable: truth.acceptable_in(view),
            blocked: execution.blocked(),
            too_fine: mean_ns < step(view),
            truth,
            digest,
            taken,
        }
    }

    fn said(&self) -> &Pattern {
        &self.digest.patterns[0]
    }

    /// Whether a diagnosis is one that changing the program shows to be right.
    fn accepts(&self, name: PatternName, promised: f64) -> bool {
        // Who hands out too slowly is a serial stage that is not seen.
        let name = match name {
            PatternName::TooLittleReady => PatternName::SerialBottleneck,
            name => name,
        };
        self.acceptable.contains(&name)
            || (name == PatternName::BlockedInTasks && self.is_blocked())
            || (self.truth.arrivals && promised <= PROMISE)
            || (name == PatternName::Inconclusive && self.too_fine)
    }

    /// Whether tasks that wait inside are what is wrong: it is worth a change, and the time that
    /// they hold workers is 70 % of what the best change saves, or 5 points less than that.
    fn is_blocked(&self) -> bool {
        let best = 1.0 - 1.0 / self.truth.best();
        self.blocked >= BLOCKED && self.blocked >= (0.7 * best).min(best - 0.05)
    }

    /// Whether the first name is right.
    fn is_right(&self) -> bool {
        self.accepts(self.said().name, self.said().predicted.to)
    }

    /// Whether the first name is right, or the one that is named beside it.
    fn is_either_right(&self) -> bool {
        self.is_right() || self.digest.alternative.as_ref().is_some_and(|other| self.accepts(other.name, 1.0))
    }

    /// Whether something is promised where nothing can be had.
    fn is_empty_promise(&self) -> bool {
        self.truth.nothing_to_fix && self.said().predicted.to > PROMISE
    }

    fn helps(&self) -> Option<bool> {
        self.taken.map(|speedup| speedup >= HELPS)
    }

    fn is_in_range(&self) -> Option<bool> {
        let predicted = &self.said().predicted;
        self.taken.map(|taken| {
            // Shares of time: a speed-up of 10 takes a tenth of it.
            1.0 / taken >= 1.0 / predicted.to - NEAR && 1.0 / taken <= 1.0 / predicted.from + NEAR
        })
    }

    /// In which ways the digest is wrong.
    fn faults(&self) -> impl Iterator<Item = &'static str> {
        let sure = self.digest.confidence.grade == ConfidenceGrade::High;
        let faults = [
            (!self.is_either_right(), "wrong"),
            (sure && !self.is_right(), "sure and wrong"),
            (self.helps() == Some(false), "no help"),
            (self.is_in_range() == Some(false), "out of range"),
            (self.is_empty_promise(), "empty promise"),
        ];
        faults.into_iter().filter(|(is, _)| *is).map(|(_, fault)| fault)
    }

    fn print(&self, fault: &str, kind: &str, seed: u64) {
        let said = self.said();
        let losses: Vec<String> = (self.digest.losses.terms().iter())
            .map(|(name, share)| format!("{name} {:.0}", share * 100.0))
            .collect();
        println!(
            "{fault}: {kind} {seed}: {} or {} {:.2}..{:.2} ({:?}), taken {:?}; right {:?}, best {:?} {:.2}; {} on {}, {}",
            said.name,
            self.digest.alternative.as_ref().map_or("nothing else", |other| other.name.as_str()),
            said.predicted.from,
            said.predicted.to,
            self.digest.confidence.grade,
            self.taken,
            self.acceptable,
            self.truth.gains.first().map(|gain| gain.change.clone()),
            self.truth.best(),
            self.digest.tasks,
            self.digest.workers,
            losses.join(" "),
        );
    }
}

/// The step of the clock, as readers of traces find it.
fn step(view: &View) -> u64 {
    match view.clock {
        Clock::Step(step) => step,
        // The step of a double of this size in microseconds.
        Clock::FloatMicros(origin) => ((origin as f64).log2().floor() - 52.0).exp2().mul_add(1e3, 0.5) as u64,
    }
}

/// Digests what was observed, as the command does.
fn digest(observation: &Observation, clock_resolution_ns: u64) -> Digest {
    let config = Config { workers: observation.workers, ..Config::default() };
    let feed = |sink: &mut dyn FnMut(&taskscale_model::span::Span<'_>)| {
        observation.spans.iter().for_each(|span| sink(&observation.span(span)));
    };
    let mut sums = Accumulator::new(config);
    feed(&mut |span| sums.span(span));
    if sums.late() > 0 {
        sums = Accumulator::new(config);
        let mut sorter = Sorter::new(When::AtOnce);
        feed(&mut |span| sorter.span(span));
        sorter.finish(&mut sums, &mut |_, _| ()).expect("temporary files can be written");
    }
    if let Some(delays) = &observation.run_delay_ns {
        let in_tasks: u64 = observation.spans.iter().filter_map(|span| span.run_delay_ns).sum();
        sums.preempted(true, in_tasks);
        sums.preempted(false, delays.iter().sum::<u64>().saturating_sub(in_tasks));
    }
    sums.finish(&Account { clock_resolution_ns, ..Account::default() })
}

/// Time before over time after a program is changed as the digest says.
fn taken(program: &Program, change: &Change) -> f64 {
    let done = done(change);
    let apart = match change {
        Change::SplitTasks { share_queue: true, .. } => program.with(&Done::ShareQueue),
        _ => None,
    };
    match apart.filter(|apart| apart.with(&done).is_some()) {
        Some(apart) => speedup(program, &Done::ShareQueue) * speedup(&apart, &done),
        // All take from one queue already, or pieces of its pieces are too many: any worker takes
        // the pieces of what is split.
        None => speedup(program, &done),
    }
}

/// What it means to do as the digest says, beside sharing a queue where it says that too.
fn done(change: &Change) -> Done {
    match change.clone() {
        Change::BatchTasks { by } => Done::BatchTasks { by },
        Change::SplitTasks { by, name, .. } => Done::SplitTasks { by, name },
        Change::SplitLongest { name, into } => Done::SplitLongest { name, into },
        Change::SplitAlone { into } => Done::SplitAlone { into },
        Change::ShareQueue => Done::ShareQueue,
        Change::ContinueInsteadOfWait => Done::ContinueInsteadOfWait,
        Change::RemovePauses => Done::RemovePauses,
        Change::UnblockLoop => Done::UnblockLoop,
        Change::UseWorkers { count } => Done::UseWorkers { count: count as u32 },
        Change::FreeCpus => Done::FreeCpus,
    }
}

/// Counts of outcomes.
#[derive(Default)]
struct Score {
    programs: u32,
    right: u32,
    either: u32,
    two: u32,
    advised: u32,
    helps: u32,
    in_range: u32,
    nothing_to_fix: u32,
    empty_promises: u32,
    sure: u32,
    sure_and_right: u32,
}

impl Score {
    const HEAD: &str = "cases  right  either   (two)  advised  helps  in range  empty promises  sure, right";

    fn add(&mut self, outcome: &Outcome) {
        let count = |yes: bool| u32::from(yes);
        self.programs += 1;
        self.right += count(outcome.is_right());
        self.either += count(outcome.is_either_right());
        self.two += count(outcome.digest.alternative.is_some());
        self.advised += count(outcome.taken.is_some());
        self.helps += count(outcome.helps() == Some(true));
        self.in_range += count(outcome.is_in_range() == Some(true));
        self.nothing_to_fix += count(outcome.truth.nothing_to_fix);
        self.empty_promises += count(outcome.is_empty_promise());
        let sure = outcome.digest.confidence.grade == ConfidenceGrade::High;
        self.sure += count(sure);
        self.sure_and_right += count(sure && outcome.is_right());
    }

    fn merge(&mut self, other: &Score) {
        self.programs += other.programs;
        self.right += other.right;
        self.either += other.either;
        self.two += other.two;
        self.advised += other.advised;
        self.helps += other.helps;
        self.in_range += other.in_range;
        self.nothing_to_fix += other.nothing_to_fix;
        self.empty_promises += other.empty_promises;
        self.sure += other.sure;
        self.sure_and_right += other.sure_and_right;
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |part: u32, of: u32| {
            if of == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * f64::from(part) / f64::from(of)) }
        };
        write!(
            f,
            "{:5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>14} {:>13}",
            self.programs,
            share(self.right, self.programs),
            share(self.either, self.programs),
            share(self.two, self.programs),
            self.advised,
            share(self.helps, self.advised),
            share(self.in_range, self.advised),
            share(self.empty_promises, self.nothing_to_fix),
            share(self.sure_and_right, self.sure),
        )
    }
}
