//! Growth of each series over its sizes, in CPU time of one whole iteration; in wall time where
//! that grows and its iterations wait.

use fastrand::Rng;
use taskscale_model::{
    figure::{count, max_time},
    run_file::{Role, RowRecord, SampleRecord, Time},
    suite::Block,
    summary::{Cause, Grade, Growth, GrowthStep, Interval, OneSecond},
};
use taskscale_stats::{
    growth::{self, Clock, MAX_WIDTH, MIN_OCTAVES, MIN_ROUNDS, MIN_SIZES, Reason, SizeCost},
    independent::independent,
    quantile::median,
};

use super::{cause, collector, counts::Counts, samples::RowSamples};
use crate::{compare::longer::LONG_S, grouped, read::Run};

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
    let found: Vec<(&RowRecord, growth::Growth, Measured)> = groups
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
        let told = match measured.time {
            Time::Cpu => collector::of(run, &counts, group, one),
            Time::Wall => collector::Told::default(),
        };
        let mut one = one.clone();
        if let Some(growth::ByBytes::Either { from }) = told.by_bytes {
            one.grade = growth::Grade::CannotTell(Reason::SteepAtTheEnd { from });
        }
        entry(run, row, (&one, *measured), &judged, told)
    })
    .collect()
}

/// Whether a table has a size that its cost grows with: bytes of a stream, sweeps of work, parts of
/// a cost, settings side by side, waiting tasks, blocking ones and requests at a rate are other
/// questions.
pub fn is_gradable(block: &Block) -> bool {
    block.work_ns.is_empty()
        && block.stream.is_none()
        && block.reach.is_none()
        && block.scale.is_none()
        && block.across.is_none()
        && block.split.is_none()
        && !["parked", "blocking"].contains(&&*block.name)
}

/// What the growth of a series is that of, and at how many sizes it was measured.
#[derive(Clone, Copy)]
struct Measured {
    time: Time,
    sizes: usize,
    /// The largest of them, with the seconds of one iteration.
    largest: Option<(u64, f64)>,
    /// The seconds of one iteration of each of them together.
    all_s: f64,
}

/// Which samples of a row its growth rests on.
type Samples = for<'a> fn(&RowSamples<'a>) -> Vec<&'a SampleRecord>;

/// The growth of one series: of its CPU time, or of its wall time where iterations wait and that
/// tells more.
fn judge(group: &[&RowSamples<'_>], rng: &mut Rng) -> (growth::Growth, Measured) {
    let totals = |time: Time, samples: Samples| -> Vec<(u64, Vec<f64>)> {
        let of = |one: &&RowSamples<'_>| {
            let samples = samples(one);
            let processes: Vec<u64> = samples.iter().map(|sample| sample.process).collect();
            let totals: Vec<f64> = samples.iter().map(|sample| sample.per_iteration(time)).collect();
            (one.row.key.size, independent(&processes, &totals))
        };
        group.iter().copied().filter(|one| one.is_ok()).map(|one| of(&one)).collect()
    };
    let cpu = totals(Time::Cpu, |one| one.timed.clone());
    // A probe without a CPU clock reports zero. Only wall time is left then, which earns no grade.
    let unknown = cpu.iter().all(|(_, totals)| totals.iter().all(|&total| total == 0.0));
    let by_cpu = match unknown {
        true => of_totals(&totals(Time::Wall, |one| one.timed.clone()), Time::Wall, Clock::Wall, rng),
        false => of_totals(&cpu, Time::Cpu, Clock::Cpu, rng),
    };
    if !waits(group) {
        return by_cpu;
    }
    let by_wall = of_totals(&totals(Time::Wall, |one| one.fresh()), Time::Wall, Clock::Waits, rng);
    let (cpu, wall) = (by_cpu.0.grade, by_wall.0.grade);
    let tells_more = match (cpu.is_grade(), wall) {
        (_, growth::Grade::CannotTell(Reason::SteepAtTheEnd { .. })) => !cpu.is_superlinear(),
        (false, _) => wall.is_grade(),
        (true, _) => wall.is_superlinear(),
    };
    if tells_more { by_wall } else { by_cpu }
}

fn of_totals(
    totals: &[(u64, Vec<f64>)],
    time: Time,
    clock: Clock,
    rng: &mut Rng,
) -> (growth::Growth, Measured) {
    let costs: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    let largest = costs.iter().max_by_key(|cost| cost.size);
    let largest = largest.and_then(|cost| Some((cost.size, median(cost.totals)? / SECOND_NS)));
    let all_s = costs.iter().filter_map(|cost| median(cost.totals)).sum::<f64>() / SECOND_NS;
    let measured = Measured { time, sizes: costs.len(), largest, all_s };
    (growth::judge(&costs, clock, Some(SECOND_NS), rng), measured)
}

/// Whether iterations of the largest size wait in fresh processes, whoever else used the machine.
fn waits(group: &[&RowSamples<'_>]) -> bool {
    let measured = group.iter().filter(|one| one.is_ok());
    let Some(largest) = measured.max_by_key(|one| one.row.key.size) else { return false };
    let fresh = largest.fresh();
    let waited: Option<Vec<f64>> = fresh.iter().map(|sample| sample.waited()).collect();
    let share = waited.and_then(|shares| median(&shares));
    fresh.len() >= MIN_ROUNDS && share.is_some_and(|share| share >= SampleRecord::WAITS)
}

fn entry(
    run: &Run,
    row: &RowRecord,
    (found, measured): (&growth::Growth, Measured),
    all: &[cause::Judged<'_>],
    by_collector: collector::Told,
) -> Growth {
    let judged = found.judged();
    // What other forms do says nothing of a collector: those that keep less alive have less of it.
    let is_collector = by_collector.by_bytes == Some(growth::ByBytes::Collector);
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
        time: measured.time,
        bend: found.bend.filter(|_| is_cliff).map(|bend| bend.size),
        bend_ci: found.bend.filter(|_| is_cliff).map(|bend| interval(bend.interval)),
        one_second: found.reach.filter(|_| is_cliff && !shared).map(one_second),
        cause: if is_collector { Some(Cause::Collector) } else { told.as_ref().map(|told| told.cause) },
        reason: reason(found, measured, took_s(run))
            .or_else(|| told.as_ref().and_then(|told| told.reason.clone())),
        growth_control: told.and_then(|told| told.control),
        bytes: by_collector.bytes,
        check: by_collector.check,
    }
}

/// What the rounds of a run took, in seconds.
fn took_s(run: &Run) -> f64 {
    run.rounds.iter().filter_map(|round| round.wall_ns).sum::<u64>() as f64 / SECOND_NS
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

/// `took_s` is what the rounds of the run took.
fn reason(found: &growth::Growth, measured: Measured, took_s: f64) -> Option<String> {
    let Measured { sizes: measured, largest, all_s, .. } = measured;
    let growth::Grade::CannotTell(reason) = found.grade else { return None };
    Some(match reason {
        Reason::WallOnly { looks_superlinear } => {
            let hint = if looks_superlinear { "; it looks superlinear, so measure CPU time" } else { "" };
            format!("only wall time is known, in which neighbours look like growth{hint}")
        }
        Reason::TooFewSizes { left_out: 0, .. } => {
            format!("a grade needs {MIN_SIZES} sizes, {measured} were measured (--grade, --size)")
        }
        Reason::TooFewSizes { usable, .. } => {
            format!(
                "a grade needs {MIN_SIZES} sizes with {MIN_ROUNDS} rounds in fresh processes each, {usable} of {measured} have \
                 them: {}",
                enough(all_s)
            )
        }
        Reason::TooNarrow { octaves } => {
            format!(
                "a grade needs sizes over {MIN_OCTAVES:.0} octaves, these span {octaves:.1} (--grade, --size)"
            )
        }
        Reason::SteepAtTheEnd { from } => {
            format!("steep from {} on, but not shown to last: {}", count(from), larger(found, largest))
        }
        Reason::TwoKinds { spread } => {
            format!(
                "steep, but processes of one size differ {spread:.1}-fold, nearly as much as sizes do: {}, or hold the run to \
                 one CPU (taskset -c 0)",
                larger(found, largest)
            )
        }
        Reason::TooNoisy { width } => {
            format!(
                "too noisy: the interval of the exponent is {width:.2} wide, a grade needs {MAX_WIDTH}: {}",
                narrower(width, took_s)
            )
        }
    })
}

/// Iterations of a size in a run that grades it: eight processes of up to three warm-up samples and
/// a timed one, with the share of creation at times, and the first one's check and pilot.
const ITERATIONS: f64 = 42.0;

/// The least that such a run is given, in seconds: with its margin, the minute of any other.
const LEAST_S: f64 = 48.0;

/// What starting processes takes of such a run, in seconds.
const STARTS_S: f64 = 5.0;

/// What gives sizes enough rounds, of which one iteration of each takes `all_s` together.
fn enough(all_s: f64) -> String {
    let seconds = STARTS_S + ITERATIONS * all_s;
    format!("measure with --grade {}, or smaller sizes with --size", max_time(seconds.max(LEAST_S)))
}

/// The options that show whether growth lasts: the sizes, and the time that they take if it does.
/// `largest` is the largest size so far, with the seconds of one iteration.
fn larger(found: &growth::Growth, largest: Option<(u64, f64)>) -> String {
    let (most, most_s) = largest.unwrap_or((1, 0.0));
    let sizes = found.further(most);
    let of_size = |size: &u64| most_s * (*size as f64 / most.max(1) as f64).powf(found.goes_on());
    let seconds = STARTS_S + ITERATIONS * sizes.iter().map(of_size).sum::<f64>();
    let options: String = sizes.iter().map(|size| format!(" --size {size}")).collect();
    format!("measure --grade{options} {}", max_time(seconds.max(LEAST_S)))
}

/// What makes an interval of an exponent narrow enough which is `width` wide after `took_s` of
/// rounds. It falls with the square root of the processes.
fn narrower(width: f64, took_s: f64) -> String {
    let seconds = took_s * (width / MAX_WIDTH).powi(2);
    let quieter = "find a quieter machine (taskscale doctor)";
    match seconds > LONG_S {
        true => format!("{quieter}, or allow about --grade {}", max_time(seconds)),
        false => format!("allow about --grade {}, or {quieter}", max_time(seconds.max(LEAST_S))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_too_few_rounds_are_told_what_would_do() {
        assert_eq!(enough(0.001), "measure with --grade --max-time 60s, or smaller sizes with --size");
        // 42 iterations of 10 s, and what starts take, a quarter more.
        assert_eq!(enough(10.0), "measure with --grade --max-time 540s, or smaller sizes with --size");
        let too_few = Reason::TooFewSizes { usable: 1, left_out: 4 };
        let grade = growth::Grade::CannotTell(too_few);
        let mut found = growth::judge(&[], Clock::Cpu, None, &mut Rng::with_seed(1));
        found.grade = grade;
        let measured = Measured { time: Time::Cpu, sizes: 5, largest: None, all_s: 10.0 };
        let said = reason(&found, measured, 0.0).expect("a reason");
        assert!(
            said.ends_with(
                "1 of 5 have them: measure with --grade --max-time 540s, or smaller sizes with --size"
            ),
            "{said}"
        );
    }

    #[test]
    fn larger_sizes_span_three_octaves_beyond_what_was_measured_with_the_time_they_take() {
        // 10 ns each, and n² from 16,384 on: 2 s at 65,536.
        let cost = |n: u64| if n < 16_384 { 10.0 * n as f64 } else { (n * n) as f64 / 2.0 };
        let totals: Vec<(u64, [f64; 8])> =
            [1_024, 4_096, 16_384, 65_536].map(|size| (size, [cost(size); 8])).into();
        let costs: Vec<SizeCost<'_>> =
            totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
        let found = growth::judge(&costs, Clock::Cpu, None, &mut Rng::with_seed(1));
        assert!((found.steps[2].exponent - 2.0).abs() < 1e-9);
        let told = |reason: Reason, largest_s: f64| {
            let found = growth::Growth { grade: growth::Grade::CannotTell(reason), ..found.clone() };
            larger(&found, Some((65_536, largest_s)))
        };
        // 0.125, 0.5, 2 and 8 s of an iteration, 42 times, and what starts take, a quarter more.
        assert_eq!(
            told(Reason::SteepAtTheEnd { from: 16_384 }, 2.0),
            "measure --grade --size 16384 --size 32768 --size 65536 --size 131072 --max-time 570s"
        );
        assert_eq!(
            told(Reason::SteepAtTheEnd { from: 4_096 }, 1e-3),
            "measure --grade --size 16384 --size 32768 --size 65536 --size 131072 --max-time 60s",
            "not what is known already, and a minute at least"
        );
        assert_eq!(
            told(Reason::TwoKinds { spread: 3.0 }, 1e-3),
            "measure --grade --size 65536 --size 131072 --size 262144 --size 524288 --max-time 60s"
        );
    }

    #[test]
    fn an_interval_that_is_too_wide_names_the_time_that_narrows_it() {
        // Twice as wide as it may be: four times the time, and a quarter more.
        assert_eq!(
            narrower(0.8, 45.0),
            "allow about --grade --max-time 240s, or find a quieter machine (taskscale doctor)"
        );
        assert_eq!(
            narrower(0.5, 3.0),
            "allow about --grade --max-time 60s, or find a quieter machine (taskscale doctor)"
        );
        assert_eq!(
            narrower(4.0, 45.0),
            "find a quieter machine (taskscale doctor), or allow about --grade --max-time 94m"
        );
    }
}
