//! Growth of each series over its sizes, in CPU time of one whole iteration.

use fastrand::Rng;
use taskscale_model::{
    figure::count,
    run_file::{Role, RowRecord, Time},
    summary::{Cause, Grade, Growth, GrowthStep, Interval, OneSecond},
};
use taskscale_stats::{
    growth::{self, Clock, MAX_WIDTH, MIN_OCTAVES, MIN_ROUNDS, MIN_SIZES, Reason, SizeCost},
    independent::independent,
};

use super::{cause, collector, counts::Counts, samples::RowSamples};
use crate::{grouped, read::Run};

/// A second in the unit of the costs.
const SECOND_NS: f64 = 1e9;

/// One entry per series that was planned at two sizes or more and measured at one or more, in the
/// order of the plan. A control is no series of its own, since it repeats its baseline. Where
/// memory is read each process wakes its tasks once, cold: the table has that cost, and no grade.
pub fn all(run: &Run, series: &[RowSamples<'_>]) -> Vec<Growth> {
    let is_graded = |one: &&RowSamples<'_>| {
        one.row.role != Role::Control && one.row.sweep.is_none() && !one.row.key.is_resident()
    };
    let mut groups = grouped(series.iter().filter(is_graded), |one| &one.row.key.series);
    groups.retain(|group| {
        group.iter().any(|one| one.row.key.size != group[0].row.key.size)
            && group.iter().any(|one| one.is_ok())
    });
    // Each series has a fresh generator. Its interval then does not depend on the other series of
    // the run.
    let found: Vec<(&RowRecord, growth::Growth, usize)> = groups
        .iter()
        .map(|group| {
            let (found, measured) = judge(group, &mut Rng::with_seed(run.header.seed));
            (group[0].row, found, measured)
        })
        .collect();
    let judged: Vec<cause::Judged<'_>> = found.iter().map(|(row, growth, _)| (*row, growth)).collect();
    let counts = Counts::with_growth(run);
    let all = found.iter().zip(&groups);
    all.map(|((row, one, measured), group)| {
        let by_bytes = collector::of(run, &counts, group, one);
        entry(run, row, (one, *measured), &judged, by_bytes)
    })
    .collect()
}

/// The growth of one series, and the number of sizes at which it was measured.
fn judge(group: &[&RowSamples<'_>], rng: &mut Rng) -> (growth::Growth, usize) {
    let totals = |time: Time| -> Vec<(u64, Vec<f64>)> {
        let of = |one: &&&RowSamples<'_>| {
            let totals: Vec<f64> = one.timed.iter().map(|sample| sample.per_iteration(time)).collect();
            (one.row.key.size, independent(&one.processes(), &totals))
        };
        group.iter().filter(|one| one.is_ok()).map(|one| of(&one)).collect()
    };
    let cpu = totals(Time::Cpu);
    // A probe without a CPU clock reports zero. Only wall time is left then, which earns no grade.
    let unknown = cpu.iter().all(|(_, totals)| totals.iter().all(|&total| total == 0.0));
    let (totals, clock) = if unknown { (totals(Time::Wall), Clock::Wall) } else { (cpu, Clock::Cpu) };
    let costs: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    (growth::judge(&costs, clock, Some(SECOND_NS), rng), costs.len())
}

fn entry(
    run: &Run,
    row: &RowRecord,
    (found, measured): (&growth::Growth, usize),
    all: &[cause::Judged<'_>],
    by_bytes: collector::Told,
) -> Growth {
    let judged = found.judged();
    // What other forms do says nothing of a collector: those that keep less alive have less of it.
    let is_collector = by_bytes.is_collector;
    let told = cause::of(run, (row, found), all).filter(|_| !is_collector);
    let shared = told.as_ref().is_some_and(|told| told.shared);
    let is_cliff = found.grade.is_superlinear() && !is_collector;
    Growth {
        key: row.key.series.clone(),
        sizes: judged.map(|judged| judged.sizes.clone()).unwrap_or_default(),
        exponent: judged.map(|judged| judged.exponent),
        exponent_ci: judged.map(|judged| interval(judged.interval)),
        steps: found
            .steps
            .iter()
            .map(|step| GrowthStep {
                from: step.from,
                to: step.to,
                exponent: step.exponent,
                ci: interval(step.interval),
            })
            .collect(),
        grade: match (is_collector, shared) {
            (true, _) => Grade::SoftGrowth,
            (_, true) => Grade::CannotTell,
            _ => grade(found.grade),
        },
        bend: found.bend.filter(|_| is_cliff).map(|bend| bend.size),
        bend_ci: found.bend.filter(|_| is_cliff).map(|bend| interval(bend.interval)),
        one_second: found.reach.filter(|_| is_cliff && !shared).map(one_second),
        cause: if is_collector { Some(Cause::Collector) } else { told.as_ref().map(|told| told.cause) },
        reason: reason(found, measured).or_else(|| told.as_ref().and_then(|told| told.reason.clone())),
        growth_control: told.and_then(|told| told.control),
        bytes: by_bytes.bytes,
        check: by_bytes.check,
    }
}

fn interval((low, high): (f64, f64)) -> Interval {
    Interval(low, high)
}

fn one_second(reach: growth::Reach) -> OneSecond {
    let (low, high) = reach.interval;
    OneSecond {
        size: reach.size,
        low,
        high: Some(high).filter(|high| high.is_finite()),
        exponent: reach.exponent,
        measured: reach.measured,
    }
}

fn grade(grade: growth::Grade) -> Grade {
    match grade {
        growth::Grade::Linear => Grade::Linear,
        growth::Grade::SoftGrowth => Grade::SoftGrowth,
        growth::Grade::Superlinear => Grade::Superlinear,
        growth::Grade::QuadraticOrWorse => Grade::QuadraticOrWorse,
        growth::Grade::CannotTell(_) => Grade::CannotTell,
    }
}

fn reason(found: &growth::Growth, measured: usize) -> Option<String> {
    let growth::Grade::CannotTell(reason) = found.grade else { return None };
    Some(match reason {
        Reason::WallOnly { looks_superlinear } => {
            let hint = if looks_superlinear { "; it looks superlinear, so measure CPU time" } else { "" };
            format!("only wall time is known, in which neighbours look like growth{hint}")
        }
        Reason::TooFewSizes { left_out: 0, .. } => {
            format!("a grade needs {MIN_SIZES} sizes, {measured} were measured")
        }
        Reason::TooFewSizes { usable, .. } => {
            format!(
                "a grade needs {MIN_SIZES} sizes with {MIN_ROUNDS} rounds in fresh processes each, {usable} of {measured} have \
                 them: allow more with --max-time"
            )
        }
        Reason::TooNarrow { octaves } => {
            format!("a grade needs sizes over {MIN_OCTAVES:.0} octaves, these span {octaves:.1}")
        }
        Reason::SteepAtTheEnd { from } => {
            let further = from.saturating_mul(1 << (MIN_OCTAVES as u32));
            let largest = found.sizes.last().copied().unwrap_or(from);
            let remedy = if further > largest {
                format!("measure sizes up to {}", count(further))
            } else {
                "allow more with --max-time".to_owned()
            };
            format!("steep from {} on, but not shown to last: {remedy}", count(from))
        }
        Reason::TwoKinds { spread } => {
            format!(
                "steep, but processes of one size differ {spread:.1}-fold, nearly as much as sizes do: hold the run to one CPU \
                 (taskset -c 0), or allow more with --max-time"
            )
        }
        Reason::TooNoisy { width } => {
            format!("too noisy: the interval of the exponent is {width:.2} wide, a grade needs {MAX_WIDTH}")
        }
    })
}
