//! The figures of each row: percentiles, interval of the median, ratio to the baseline.

use std::collections::BTreeMap;

use taskscale_model::{
    missing::Missing,
    run_file::{SampleRecord, Stop, Time},
    summary::{Distribution, Figures, Interval, Ratio, Row, RowState, Timing},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    quantile::{self, Percentiles},
    sign::sign_interval,
};

use super::{
    counts::Counts,
    samples::{RowSamples, State, by_number},
    threads, warmup,
};
use crate::read::Run;

/// All rows, in the order of the plan.
pub fn all(run: &Run, series: &[RowSamples<'_>]) -> Vec<Row> {
    let counts = Counts::of_run(run);
    let by_number = by_number(series);
    series.iter().map(|one| row(one, &by_number, &counts)).collect()
}

fn row(one: &RowSamples<'_>, all: &BTreeMap<u64, &RowSamples<'_>>, counts: &Counts<'_>) -> Row {
    let baseline = one.row.baseline.and_then(|number| all.get(&number)).copied();
    let state = match &one.state {
        State::Failed(missing) => RowState::Failed(missing.clone()),
        State::Skipped(missing) => RowState::Skipped(missing.clone()),
        State::Ok(stop) => match figures(one, *stop, baseline, counts) {
            Some(figures) => RowState::Ok(Box::new(figures)),
            None => RowState::Skipped(Missing::new("it has no timed sample", "run it again")),
        },
    };
    Row {
        key: one.row.key.clone(),
        creates_task: one.row.creates_task,
        role: one.row.role,
        sweep: one.row.sweep,
        baseline: baseline.map(|other| other.row.key.full_name()),
        state,
    }
}

/// The figures of a row; `None` without a timed sample.
fn figures(
    one: &RowSamples<'_>,
    stop: Option<Stop>,
    baseline: Option<&RowSamples<'_>>,
    counts: &Counts<'_>,
) -> Option<Figures> {
    // The ratio of a baseline to itself is no figure.
    let baseline = baseline.filter(|other| other.is_ok() && other.row.row != one.row.row);
    let processes = one.processes();
    let timed = |time| {
        Some(Timing {
            of: pooled(one, time, distribution(&processes, &one.values(time))?),
            ratio: baseline.and_then(|baseline| ratio(one, baseline, time)),
        })
    };
    let created = |field: &str, time| {
        let shares =
            one.phases.iter().filter_map(|phases| Some((phases.process, created(phases, field, time)?)));
        let (processes, values): (Vec<u64>, Vec<f64>) = shares.unzip();
        distribution(&processes, &values)
    };
    let (fresh, cold) = warmup::cold(one);
    let (looked, ran, busiest) = threads::ran(one);
    Some(Figures {
        stop,
        settled: warmup::settled(one),
        cpu: timed(Time::Cpu)?,
        wall: timed(Time::Wall)?,
        cold_cpu: distribution(&fresh, &cold),
        create_cpu: created("create_cpu_ns", Time::Cpu),
        create_wall: created("create_wall_ns", Time::Wall),
        threads: distribution(&looked, &ran),
        busiest: distribution(&looked, &busiest),
        counts: counts.of_row(one.row.row),
        calls: counts.calls(one.row.row),
    })
}

/// The share of a sample that went into creation, where the probe told it.
fn created(sample: &SampleRecord, field: &str, time: Time) -> Option<f64> {
    let part = sample.extra.get(field)?.as_f64()?;
    let whole = sample.total(time);
    (part >= 0.0 && whole > 0.0).then(|| part / whole)
}

fn ratio(one: &RowSamples<'_>, baseline: &RowSamples<'_>, time: Time) -> Option<Ratio> {
    let rounds = one.against(baseline, time);
    let ci = rounds.paired(CONFIDENCE).map(|paired| Interval(paired.low, paired.high));
    Some(Ratio { value: rounds.ratio()?, ci })
}

/// Percentiles of all values, and an interval that rests on one value for each process. The result
/// is `None` without values.
fn distribution(processes: &[u64], values: &[f64]) -> Option<Distribution> {
    let of_processes = quantile::sorted(&independent(processes, values));
    let sorted = quantile::sorted(values);
    let Percentiles { p0, p25, p50, p75, p90, p99, p100 } = Percentiles::of_sorted(&sorted)?;
    let ci = sign_interval(&of_processes, CONFIDENCE).map(|(low, high)| Interval(low, high));
    Some(Distribution { n: sorted.len() as u64, p0, p25, p50, p75, p90, p99, p100, ci, pooled: false })
}

/// The same with an interval, where the processes of its own are too few and those of other sizes
/// are not.
fn pooled(one: &RowSamples<'_>, time: Time, of: Distribution) -> Distribution {
    match of.ci {
        Some(_) => of,
        None => one.interval(time).map_or(of, |ci| Distribution { ci: Some(ci), pooled: true, ..of }),
    }
}
