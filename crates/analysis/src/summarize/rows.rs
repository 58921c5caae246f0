//! The figures of each row: percentiles, interval of the median, ratio to the baseline.

use taskscale_model::{
    run_file::{SampleRecord, Stop},
    summary::{Interval, Row, RowStatus},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    quantile::{self, Percentiles},
    rounds::Rounds,
    sign::sign_interval,
};

use super::{
    counts::Counts,
    series::{Metric, Series, State},
    threads, warmup,
};
use crate::read::Run;

/// Metric of a row that has no figures, and first of one that has.
pub const CPU_PER_TASK: &str = "cpu_per_task";
/// Monotonic time per task.
pub const WALL_PER_TASK: &str = "wall_per_task";
/// CPU time per task of the first sample of a fresh process.
pub const COLD_CPU_PER_TASK: &str = "cold_cpu_per_task";
/// Threads of the probe that used at least 5 % of a sample's CPU time.
pub const THREADS_RAN: &str = "threads_ran";
/// Share of a sample's CPU time that the busiest thread used.
pub const BUSIEST_THREAD_SHARE: &str = "busiest_thread_share";
/// Share of CPU time until the last task was started.
pub const CREATE_CPU_SHARE: &str = "create_cpu_share";
/// Share of monotonic time until the last task was started.
pub const CREATE_WALL_SHARE: &str = "create_wall_share";

/// One entry per row and metric, in the order of the plan.
pub fn all(run: &Run, series: &[Series<'_>]) -> Vec<Row> {
    debug_assert_eq!(run.rows.len(), series.len());
    let counts = Counts::of_run(run);
    series.iter().flat_map(|one| entries(one, series, &counts)).collect()
}

fn entries(one: &Series<'_>, all: &[Series<'_>], counts: &Counts<'_>) -> Vec<Row> {
    let baseline = one.row.baseline.and_then(|number| all.iter().find(|other| other.row.row == number));
    let name = baseline.map(|other| format!("{}:{}", other.row.runtime, other.row.variant));
    let mut row = blank(one, name);
    match &one.state {
        State::Ok(stop) => (row.stop, row.settled) = (*stop, warmup::settled(one)),
        State::Failed(missing) => {
            return vec![without_figures(row, RowStatus::Failed, &missing.reason, &missing.remedy)];
        }
        State::Skipped(missing) => {
            return vec![without_figures(row, RowStatus::Skipped, &missing.reason, &missing.remedy)];
        }
    }
    let against = |metric| {
        // A baseline's ratio to itself is no figure.
        let other = baseline.filter(|other| other.is_ok() && other.row.row != one.row.row)?;
        Some(one.against(other, metric))
    };
    let processes = one.processes();
    let timed = |name: &str, metric| {
        with_figures(&row, name, "ns", (&processes, &one.values(metric)), against(metric))
    };
    let share = |name: &str, field: &str, metric| {
        let (processes, values): (Vec<u64>, Vec<f64>) = one
            .phases
            .iter()
            .filter_map(|sample| Some((sample.process, created(sample, field, metric)?)))
            .unzip();
        (!values.is_empty()).then(|| with_figures(&row, name, "share", (&processes, &values), None))
    };
    let (fresh, cold) = warmup::cold(one);
    let (looked, ran, busiest) = threads::ran(one);
    let threads = |name: &str, unit: &str, values: &[f64]| {
        (!values.is_empty()).then(|| with_figures(&row, name, unit, (&looked, values), None))
    };
    [
        Some(timed(CPU_PER_TASK, Metric::Cpu)),
        Some(timed(WALL_PER_TASK, Metric::Wall)),
        (!cold.is_empty()).then(|| with_figures(&row, COLD_CPU_PER_TASK, "ns", (&fresh, &cold), None)),
        share(CREATE_CPU_SHARE, "create_cpu_ns", Metric::Cpu),
        share(CREATE_WALL_SHARE, "create_wall_ns", Metric::Wall),
        threads(THREADS_RAN, "threads", &ran),
        threads(BUSIEST_THREAD_SHARE, "share", &busiest),
    ]
    .into_iter()
    .flatten()
    .chain(counts.rows(one.row.row, &row))
    .collect()
}

/// The share of a sample that went into creation, where the probe said so.
fn created(sample: &SampleRecord, field: &str, metric: Metric) -> Option<f64> {
    let part = sample.extra.get(field)?.as_f64()?;
    let whole = metric.total(sample);
    (part >= 0.0 && whole > 0.0).then(|| part / whole)
}

fn blank(one: &Series<'_>, baseline: Option<String>) -> Row {
    let row = one.row;
    Row {
        suite: row.suite.clone(),
        table: row.table.clone(),
        workload: row.workload.clone(),
        runtime: row.runtime.clone(),
        version: row.version.clone(),
        variant: row.variant.clone(),
        case: row.case.clone(),
        params: row.params.clone(),
        size: row.size,
        creates_task: row.creates_task,
        role: row.role,
        sweep: row.sweep,
        metric: CPU_PER_TASK.to_owned(),
        unit: "ns".to_owned(),
        n: 0,
        p0: None,
        p25: None,
        p50: None,
        p75: None,
        p90: None,
        p99: None,
        p100: None,
        ci: None,
        ratio: None,
        ratio_ci: None,
        baseline,
        settled: None,
        exact: None,
        status: RowStatus::Ok,
        stop: None::<Stop>,
        reason: None,
        remedy: None,
    }
}

fn without_figures(row: Row, status: RowStatus, reason: &str, remedy: &str) -> Row {
    let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    Row { status, reason: Some(reason.to_owned()), remedy, ..row }
}

fn with_figures(
    row: &Row,
    metric: &str,
    unit: &str,
    (processes, values): (&[u64], &[f64]),
    against: Option<Rounds>,
) -> Row {
    let of_processes = quantile::sorted(&independent(processes, values));
    let sorted = quantile::sorted(values);
    let p = Percentiles::of_sorted(&sorted);
    Row {
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        n: sorted.len() as u64,
        p0: p.map(|p| p.p0),
        p25: p.map(|p| p.p25),
        p50: p.map(|p| p.p50),
        p75: p.map(|p| p.p75),
        p90: p.map(|p| p.p90),
        p99: p.map(|p| p.p99),
        p100: p.map(|p| p.p100),
        ci: sign_interval(&of_processes, CONFIDENCE).map(|(low, high)| Interval(low, high)),
        ratio: against.as_ref().and_then(Rounds::ratio),
        ratio_ci: against
            .as_ref()
            .and_then(|rounds| rounds.paired(CONFIDENCE))
            .map(|paired| Interval(paired.low, paired.high)),
        ..row.clone()
    }
}
