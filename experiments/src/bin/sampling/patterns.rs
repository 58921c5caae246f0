//! Programs of tiny tasks.

use Rim::{Neither, OwnThread, Told};

/// What an observer is told about its workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rim {
    /// A thread does nothing but its worker's tasks: Taskflow, C.
    OwnThread,
    /// A thread does nothing but its worker's tasks, and waits are told: tokio's `multi_thread`.
    Told,
    /// Neither holds: tokio's `current_thread`.
    Neither,
}

impl Rim {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Rim::OwnThread => "own",
            Rim::Told => "told",
            Rim::Neither => "neither",
        }
    }
}

/// A task, and the gap before it.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Nanoseconds without a task, before it.
    pub gap: u64,
    /// Nanoseconds that the task takes.
    pub task: u64,
    /// Whether the task sleeps and uses no CPU time.
    pub waits: bool,
    pub name: &'static str,
}

/// A program of tiny tasks.
#[derive(Debug)]
pub struct Pattern {
    /// The name in the table.
    pub name: &'static str,
    /// The steps of each worker.
    pub workers: Vec<Vec<Step>>,
    /// The rims that observe it. One rim stands for all where nothing in the program is long.
    pub rims: &'static [Rim],
}

const ANY: &[Rim] = &[OwnThread];
const ALL: &[Rim] = &[OwnThread, Told, Neither];

fn step(gap: u64, task: u64) -> Step {
    Step { gap, task, waits: false, name: "tiny" }
}

fn long(task: u64) -> Step {
    Step { gap: 30, task, waits: false, name: "long" }
}

fn sleeps(task: u64) -> Step {
    Step { waits: true, ..long(task) }
}

fn pause(gap: u64) -> Step {
    step(gap, 40)
}

fn steps(count: u64, step: impl FnMut(u64) -> Step) -> Vec<Step> {
    (0..count).map(step).collect()
}

/// Tiny tasks, with `other` in place of one in each `period`.
fn periodic(count: u64, period: u64, other: Step) -> Vec<Step> {
    steps(count, |at| if at % period == period / 2 { other } else { step(30, 40) })
}

/// Tiny tasks, with another step in place of one in `mean`, by lot.
fn random(seed: u64, count: u64, mean: u64, mut other: impl FnMut(&mut fastrand::Rng) -> Step) -> Vec<Step> {
    let mut lot = fastrand::Rng::with_seed(seed);
    steps(count, |_| if lot.u64(..mean) == 0 { other(&mut lot) } else { step(30, 40) })
}

fn one(name: &'static str, rims: &'static [Rim], steps: Vec<Step>) -> Pattern {
    Pattern { name, workers: vec![steps], rims }
}

pub fn patterns() -> Vec<Pattern> {
    [alike(), rare_long(), pauses(), changes(), two_workers()].into_iter().flatten().collect()
}

fn alike() -> Vec<Pattern> {
    let mut lot = fastrand::Rng::with_seed(1);
    vec![
        one("all alike", ANY, steps(400_000, |_| step(30, 40))),
        one("gaps and tasks vary by half", ANY, steps(400_000, |_| step(lot.u64(15..46), lot.u64(20..61)))),
        one(
            "10 ns or 300 ns, even odds",
            ANY,
            steps(400_000, |_| step(30, if lot.bool() { 10 } else { 300 })),
        ),
        one("100 ns, one in 10 takes 2 us", ANY, random(2, 400_000, 10, |_| step(30, 2_000))),
        one("100 ns, one in 100 takes 2 us", ANY, random(3, 400_000, 100, |_| step(30, 2_000))),
        one("400 ns every 2nd", ANY, periodic(400_000, 2, step(30, 400))),
        one("400 ns every 16th, near the mean skip", ANY, periodic(400_000, 16, step(30, 400))),
        one("2 us every 17th, the mean from timed to timed", ANY, periodic(400_000, 17, step(30, 2_000))),
        one("2 us every 24th, the longest skip", ANY, periodic(400_000, 24, step(30, 2_000))),
    ]
}

fn rare_long() -> Vec<Pattern> {
    vec![
        one("8 us every 100th", ALL, periodic(400_000, 100, long(8_000))),
        one("8 us, one in 1,000", ALL, random(4, 400_000, 1_000, |_| long(8_000))),
        one("50 us every 1,250th, as often as a buffer ends", ALL, periodic(400_000, 1_250, long(50_000))),
        one("50 us, one in 2,000", ALL, random(5, 400_000, 2_000, |_| long(50_000))),
        one("50 us every 10,000th", ALL, periodic(400_000, 10_000, long(50_000))),
        one("0.4 ms every 5,000th", ALL, periodic(400_000, 5_000, long(400_000))),
        one(
            "10 us to 1 ms, one in 5,000",
            ALL,
            random(6, 400_000, 5_000, |lot| long(lot.u64(10_000..1_000_000))),
        ),
        one("5 ms every 20,000th", ALL, periodic(400_000, 20_000, long(5_000_000))),
        one(
            "bursts of 20 x 20 us every 10,000",
            ALL,
            steps(400_000, |at| if at % 10_000 < 20 { long(20_000) } else { step(30, 40) }),
        ),
        one(
            "bursts of 100 x 50 us every 20,000",
            ALL,
            steps(400_000, |at| if at % 20_000 < 100 { long(50_000) } else { step(30, 40) }),
        ),
        one(
            "one of 10 ms in all",
            ALL,
            periodic(100_000, 50_000, long(10_000_000)).into_iter().take(60_000).collect(),
        ),
        one("sleeps of 60 us, one in 2,000", ALL, random(7, 400_000, 2_000, |_| sleeps(60_000))),
        one("sleeps of 2 ms every 20,000th", ALL, periodic(400_000, 20_000, sleeps(2_000_000))),
    ]
}

fn pauses() -> Vec<Pattern> {
    let mut both = periodic(400_000, 20_000, pause(500_000));
    both.iter_mut().step_by(20_000).for_each(|step| *step = long(500_000));
    vec![
        one(
            "one pause of 5 ms in 20,000",
            ALL,
            periodic(20_000, 10_000, pause(5_000_000)).into_iter().take(19_000).collect(),
        ),
        one("pauses of 10 us every 1,000", ALL, periodic(400_000, 1_000, pause(10_000))),
        one("pauses of 60 us, one in 2,000", ALL, random(8, 400_000, 2_000, |_| pause(60_000))),
        one("graphs of 1,000, 0.3 ms between", ALL, periodic(400_000, 1_000, pause(300_000))),
        one("graphs of 100,000, 25 ms between", ALL, periodic(500_000, 100_000, pause(25_000_000))),
        one("tasks and pauses of 0.5 ms in turns", ALL, both),
    ]
}

fn changes() -> Vec<Pattern> {
    let mut lot = fastrand::Rng::with_seed(9);
    let mut grows = steps(200_000, |_| step(30, 40));
    grows.extend(steps(20_000, |_| step(100, 5_000)));
    grows.extend(steps(200_000, |_| step(30, 40)));
    vec![
        one("drift from 20 to 420 ns", ANY, steps(400_000, |at| step(30, 20 + at / 1_000))),
        one("gaps drift from 20 to 420 ns", ANY, steps(400_000, |at| step(20 + at / 1_000, 40))),
        one(
            "phases of 1,000: 20 ns, 400 ns",
            ANY,
            steps(400_000, |at| step(30, if at / 1_000 % 2 == 0 { 20 } else { 400 })),
        ),
        one("near the line of tiny: 400 to 600 ns", ANY, steps(100_000, |_| step(30, lot.u64(370..570)))),
        one("tiny, 20,000 of 5 us, tiny", ANY, grows),
    ]
}

fn two_workers() -> Vec<Pattern> {
    let two = |name, first, second| Pattern { name, workers: vec![first, second], rims: ALL };
    vec![
        two(
            "2 workers, one ends at half",
            steps(400_000, |_| step(30, 40)),
            steps(200_000, |_| step(30, 40)),
        ),
        two(
            "2 workers, 0.4 ms every 5,000th on one",
            periodic(200_000, 5_000, long(400_000)),
            steps(420_000, |_| step(30, 40)),
        ),
        two(
            "2 workers, one waits 60 us every 1,000",
            steps(380_000, |_| step(30, 40)),
            periodic(200_000, 1_000, pause(60_000)),
        ),
        two(
            "2 workers, pauses of 1 ms on both",
            periodic(400_000, 20_000, pause(1_000_000)),
            periodic(400_000, 20_000, pause(1_000_000)),
        ),
    ]
}
