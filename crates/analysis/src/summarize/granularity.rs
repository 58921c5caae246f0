//! How small a task may be: each sweep over the work inside each task is compared with the kernel
//! alone.
//!
//! The rows of the kernel, measured in the same rounds, tell what the work of a task costs alone.
//! The cost is a straight line through the kernel's cost at the smallest and at the largest work of
//! the sweep. The call itself therefore counts as work, as it does in a plain loop.

use std::collections::BTreeMap;

use fastrand::Rng;
use taskscale_model::{
    figure::{duration, percent},
    missing::{Missing, Reading},
    params::ParamValue,
    run_file::{Part, Role, RuntimeState, Time},
    summary::{Grain, GrainPoint, Grains, Granularity, Metg, MetgState},
};
use taskscale_stats::{
    bootstrap::RESAMPLES,
    confidence::CONFIDENCE,
    granularity::{Ends, Point, Smallest, interval, pooled, smallest},
    quantile::median,
    sign,
};

use super::{samples::RowSamples, threads};
use crate::read::Run;

/// The efficiencies whose granularity is sought: Task Bench's 50 %, and two at which overhead
/// hardly matters.
const EFFICIENCIES: [f64; 3] = [0.5, 0.9, 0.95];

/// One entry per planned sweep, in the order of the plan.
pub fn all(run: &Run, series: &[RowSamples<'_>]) -> Vec<Granularity> {
    let mut sweeps: BTreeMap<u64, Vec<&RowSamples<'_>>> = BTreeMap::new();
    for one in series.iter().filter(|one| one.row.role != Role::Control) {
        if let Some(sweep) = one.row.sweep {
            sweeps.entry(sweep.number).or_default().push(one);
        }
    }
    sweeps.into_values().filter_map(|rows| entry(run, &rows)).collect()
}

fn entry(run: &Run, rows: &[&RowSamples<'_>]) -> Option<Granularity> {
    let of = |part: Part| -> Vec<&RowSamples<'_>> {
        let is_part = |one: &&&RowSamples<'_>| one.row.sweep.is_some_and(|sweep| sweep.part == part);
        rows.iter().filter(is_part).copied().collect()
    };
    let row = of(Part::Tasks).first()?.row;
    let measured = |part| of(part).into_iter().filter(|one| one.is_ok()).collect::<Vec<_>>();
    let (tasks, kernel) = (measured(Part::Tasks), measured(Part::Kernel));
    let workers = run.runtimes.iter().find(|record| record.id == row.key.runtime).and_then(|record| {
        match &record.state {
            RuntimeState::Ready { workers, .. } => *workers,
            RuntimeState::Missing(_) => None,
        }
    });
    let mut key = row.key.clone();
    key.params.remove("work");
    key.case.clear();
    let curves = Curves {
        cores: run.header.machine.cpus_usable.value().copied(),
        threads: threads_of(&tasks),
        tasks,
        kernel,
    };
    Some(Granularity {
        key,
        creates_task: row.creates_task,
        cores: curves.cores,
        workers,
        threads: curves.threads,
        figures: grains(&curves, run.header.seed).into(),
    })
}

fn grains(curves: &Curves<'_>, seed: u64) -> Result<Grains, Missing> {
    if curves.kernel.len() < 2 {
        return Err(Missing::new("the kernel alone was not measured, to which its tasks are held", ""));
    }
    if curves.tasks.len() < 2 {
        return Err(Missing::new("tasks of at least two sizes must be measured", ""));
    }
    let points = curves.points();
    let mut metg = Vec::new();
    for time in [Time::Cpu, Time::Wall] {
        let blocks = curves.blocks(time);
        let rng = || Rng::with_seed(seed);
        metg.extend(
            EFFICIENCIES.map(|efficiency| smallest_task(curves, &blocks, time, efficiency, &mut rng())),
        );
    }
    Ok(Grains { points, metg })
}

fn threads_of(tasks: &[&RowSamples<'_>]) -> Option<(u64, u64)> {
    let counts: Vec<u64> =
        tasks.iter().flat_map(|one| threads::ran(one).1).map(|threads| threads.round() as u64).collect();
    Some((*counts.iter().min()?, *counts.iter().max()?))
}

/// The rows of one sweep that have figures.
struct Curves<'a> {
    tasks: Vec<&'a RowSamples<'a>>,
    kernel: Vec<&'a RowSamples<'a>>,
    cores: Option<u64>,
    /// The fewest and the most threads that ran in a sample.
    threads: Option<(u64, u64)>,
}

/// The number of a process that started together with others, or of a round where no process was
/// ever replaced.
type Block = u64;

impl Curves<'_> {
    /// The points of each block that measured all rows of the sweep.
    fn blocks(&self, time: Time) -> Vec<Vec<Point>> {
        let cores = match (time, self.cores) {
            (Time::Cpu, _) => 1.0,
            (Time::Wall, Some(cores)) => cores as f64,
            (Time::Wall, None) => return Vec::new(),
        };
        let by_process =
            self.tasks.iter().chain(&self.kernel).any(|one| one.timed.iter().any(|s| s.process > 0));
        let costs = |one: &&RowSamples<'_>| medians(one, time, by_process);
        let tasks: Vec<BTreeMap<Block, f64>> = self.tasks.iter().map(costs).collect();
        let kernel: Vec<(f64, BTreeMap<Block, f64>)> = self
            .kernel
            .iter()
            // A "task" of the kernel is a step.
            .map(|one| (one.row.key.size as f64, costs(one)))
            .collect();
        let block = |block: &Block| -> Option<Vec<Point>> {
            let ends: Vec<(f64, f64)> = kernel
                .iter()
                .map(|(steps, costs)| Some((*steps, costs.get(block)? * steps)))
                .collect::<Option<_>>()?;
            let points = self.tasks.iter().zip(&tasks);
            points
                .map(|(one, costs)| {
                    let work = line(ends[0], ends[ends.len() - 1], steps(one)? as f64);
                    Some(Point { work, cost: costs.get(block)? * cores })
                })
                .collect()
        };
        tasks[0].keys().filter_map(block).collect()
    }

    fn points(&self) -> Vec<GrainPoint> {
        let curve = |time| {
            let blocks = self.blocks(time);
            pooled(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let (cpu, wall) = (curve(Time::Cpu), curve(Time::Wall));
        let point = |(index, cpu): (usize, &Point)| {
            let row = self.tasks[index];
            Some(GrainPoint {
                work_ns: row.row.sweep?.work_ns,
                steps: steps(row)?,
                cpu_ns: cpu.cost,
                cpu_efficiency: cpu.efficiency(),
                core_ns: wall.get(index).map(|wall| wall.cost),
                wall_efficiency: wall.get(index).map(|wall| wall.efficiency()),
            })
        };
        cpu.iter().enumerate().filter_map(point).collect()
    }
}

/// The cost of a task in each block: the median of its samples.
fn medians(one: &RowSamples<'_>, time: Time, by_process: bool) -> BTreeMap<Block, f64> {
    let mut samples: BTreeMap<Block, Vec<f64>> = BTreeMap::new();
    for sample in &one.timed {
        let block = if by_process { sample.process } else { sample.round };
        samples.entry(block).or_default().push(sample.per_task(time));
    }
    samples.into_iter().filter_map(|(block, values)| Some((block, median(&values)?))).collect()
}

/// The number of steps of the kernel in each task.
fn steps(one: &RowSamples<'_>) -> Option<u64> {
    match one.row.key.params.get("work") {
        Some(ParamValue::Integer(steps)) => Some(*steps),
        _ => None,
    }
}

/// The value at `x` of the line through two points.
fn line((x0, y0): (f64, f64), (x1, y1): (f64, f64), x: f64) -> f64 {
    if x1 == x0 { y0 } else { y0 + (y1 - y0) * (x - x0) / (x1 - x0) }
}

fn smallest_task(
    curves: &Curves<'_>,
    blocks: &[Vec<Point>],
    time: Time,
    efficiency: f64,
    rng: &mut Rng,
) -> Metg {
    let blocks: Vec<&[Point]> = blocks.iter().map(Vec::as_slice).collect();
    let curve = pooled(&blocks);
    let without =
        |state, reason| Metg { time, efficiency, state, grain: Reading::Missing(Missing::new(reason, "")) };
    if let Some(reason) = unreachable_by(curves, time, efficiency) {
        return without(MetgState::Undefined, reason);
    }
    let ns = match smallest(&curve, efficiency) {
        Some(Smallest::At(ns)) => ns,
        Some(Smallest::Below(ns)) => {
            let task = duration(ns, None);
            let reason = format!("the smallest measured task, of {task}, is efficient enough");
            return without(MetgState::Below, reason);
        }
        Some(Smallest::Above(ns)) => {
            let best = curve.iter().map(|point| point.efficiency()).fold(0.0, f64::max);
            let (task, best) = (duration(ns, None), percent(best));
            let reason =
                format!("the largest measured task, of {task}, is not; at best {best} % was reached");
            return without(MetgState::Above, reason);
        }
        None => return without(MetgState::CannotTell, cannot_tell(curves, time, blocks.len())),
    };
    let ends = interval(&blocks, efficiency, (sign::FEWEST, CONFIDENCE), RESAMPLES, rng);
    let Ends { low, high } = ends.unwrap_or(Ends { low: None, high: None });
    Metg { time, efficiency, state: MetgState::Found, grain: Reading::Value(Grain { ns, low, high }) }
}

/// Says why no granularity can reach `efficiency` by wall time. Idle cores count there, so the
/// threads that ran can at best use their share of the cores.
fn unreachable_by(curves: &Curves<'_>, time: Time, efficiency: f64) -> Option<String> {
    let (cores, threads) = (curves.cores?, curves.threads?.1.max(1));
    let most = threads as f64 / cores as f64;
    (time == Time::Wall && most <= efficiency && threads < cores).then(|| {
        let threads = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        format!("{threads} on {cores} cores can reach at most {} %", percent(most))
    })
}

fn cannot_tell(curves: &Curves<'_>, time: Time, blocks: usize) -> String {
    match (time, curves.cores, blocks) {
        (Time::Wall, None, _) => "how many cores it may use is not known".into(),
        (_, _, 0) => "no block of rounds has all of its rows: allow more with --max-time".into(),
        _ => "the clock showed 0 ns in some of its samples: take longer ones with --sample-time".into(),
    }
}
