//! Rows as JSON has them: one flat line per row and metric. A table of them needs no nesting.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{
    key::RowKey,
    metric::Count,
    missing::{Missing, Reading},
    run_file::{Role, Stop, Sweep},
};

use super::rows::{
    CountPerTask, Counts, Distribution, Figures, Interval, Ratio, Row, RowState, RowStatus, Settled, Timing,
};

/// A metric of a row: its name in JSON and its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// For example `cpu_per_task`.
    pub name: &'static str,
    /// For example `ns`, `share`, `calls`, `bytes`.
    pub unit: &'static str,
}

const fn metric(name: &'static str, unit: &'static str) -> Metric {
    Metric { name, unit }
}

/// CPU time per task. It is the first metric of a row with figures, and the only one of a row
/// without.
pub const CPU_PER_TASK: Metric = metric("cpu_per_task", "ns");
pub const WALL_PER_TASK: Metric = metric("wall_per_task", "ns");
/// [`Figures::cold_cpu`].
pub const COLD_CPU_PER_TASK: Metric = metric("cold_cpu_per_task", "ns");
/// [`Figures::create_cpu`].
pub const CREATE_CPU_SHARE: Metric = metric("create_cpu_share", "share");
/// [`Figures::create_wall`].
pub const CREATE_WALL_SHARE: Metric = metric("create_wall_share", "share");
/// [`Figures::threads`].
pub const THREADS_RAN: Metric = metric("threads_ran", "threads");
/// [`Figures::busiest`].
pub const BUSIEST_THREAD_SHARE: Metric = metric("busiest_thread_share", "share");

/// How often one system call is made ([`Figures::calls`]).
pub const CALLS_PER_TASK: Metric = metric("calls_per_task", "calls");

/// The metric of a count.
pub fn counted(count: Count) -> Metric {
    let (name, unit) = count.in_summary();
    metric(name, unit)
}

/// One metric of one row. A value that the metric does not have is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    #[serde(flatten)]
    pub key: RowKey,
    /// As in [`Row`].
    pub creates_task: Option<bool>,
    /// As in [`Row`].
    pub role: Role,
    /// As in [`Row`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// The name of its [`Metric`].
    pub metric: String,
    /// The unit of its [`Metric`].
    pub unit: String,
    /// The name of a system call, where the metric is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The number of samples, or of processes for a count.
    pub n: u64,
    /// As in [`Distribution`]. For a count, it is the process with the fewest.
    pub p0: Option<f64>,
    /// As in [`Distribution`].
    pub p25: Option<f64>,
    /// As in [`Distribution`]. For a count, it is the median.
    pub p50: Option<f64>,
    /// As in [`Distribution`].
    pub p75: Option<f64>,
    /// As in [`Distribution`].
    pub p90: Option<f64>,
    /// As in [`Distribution`].
    pub p99: Option<f64>,
    /// As in [`Distribution`]. For a count, it is the process with the most.
    pub p100: Option<f64>,
    /// 95 % interval of the median.
    pub ci: Option<Interval>,
    /// Whether the interval rests on the spread of all sizes of the series.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pooled: bool,
    /// Ratio to the baseline, paired by round.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio.
    pub ratio_ci: Option<Interval>,
    /// As in [`Row`].
    pub baseline: Option<String>,
    /// As in [`Figures`].
    #[serde(default)]
    pub settled: Option<Settled>,
    /// As in [`CountPerTask`]. Only a count has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    pub status: RowStatus,
    /// As in [`Figures`].
    pub stop: Option<Stop>,
    /// Why it has no figures.
    pub reason: Option<String>,
    /// What the user can do about the reason.
    pub remedy: Option<String>,
}

/// Writes rows as lines.
pub(super) fn serialize<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().flat_map(lines))
}

/// Reads lines back into rows.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Row>, D::Error> {
    let mut rows: Vec<Row> = Vec::new();
    for line in Vec::<Line>::deserialize(deserializer)? {
        if line.metric == CPU_PER_TASK.name {
            rows.push(first(line).map_err(D::Error::custom)?);
            continue;
        }
        let figures = match rows.last_mut() {
            Some(Row { key, state: RowState::Ok(figures), .. }) if *key == line.key => figures,
            _ => return Err(D::Error::custom(format!("{} without {}", line.metric, CPU_PER_TASK.name))),
        };
        add(figures, line).map_err(D::Error::custom)?;
    }
    Ok(rows)
}

/// The lines of a row, in the order in which they are written.
pub fn lines(row: &Row) -> Vec<Line> {
    let figures = match &row.state {
        RowState::Ok(figures) => figures,
        RowState::Failed(missing) | RowState::Skipped(missing) => {
            return vec![Line { status: row.status(), ..blank(row, CPU_PER_TASK) }.without(missing)];
        }
    };
    let settled = figures.settled;
    let timed =
        |metric, timing: &Timing| Line { settled, ..blank(row, metric) }.with(&timing.of).over(timing.ratio);
    let of = |metric, distribution: &Option<Distribution>| {
        distribution.as_ref().map(|of| Line { settled, ..blank(row, metric) }.with(of))
    };
    let counts = figures.counts.iter().map(|(count, reading)| match reading {
        Reading::Value(value) => blank(row, counted(*count)).counted(value),
        Reading::Missing(missing) => {
            Line { status: RowStatus::Skipped, ..blank(row, counted(*count)) }.without(missing)
        }
    });
    let calls = figures.calls.iter().map(|(name, calls)| Line {
        of: Some(name.clone()),
        p50: Some(*calls),
        ..blank(row, CALLS_PER_TASK)
    });
    [
        Some(timed(CPU_PER_TASK, &figures.cpu)),
        Some(timed(WALL_PER_TASK, &figures.wall)),
        of(COLD_CPU_PER_TASK, &figures.cold_cpu),
        of(CREATE_CPU_SHARE, &figures.create_cpu),
        of(CREATE_WALL_SHARE, &figures.create_wall),
        of(THREADS_RAN, &figures.threads),
        of(BUSIEST_THREAD_SHARE, &figures.busiest),
    ]
    .into_iter()
    .flatten()
    .chain(counts)
    .chain(calls)
    .collect()
}

fn blank(row: &Row, metric: Metric) -> Line {
    Line {
        key: row.key.clone(),
        creates_task: row.creates_task,
        role: row.role,
        sweep: row.sweep,
        metric: metric.name.to_owned(),
        unit: metric.unit.to_owned(),
        of: None,
        n: 0,
        p0: None,
        p25: None,
        p50: None,
        p75: None,
        p90: None,
        p99: None,
        p100: None,
        ci: None,
        pooled: false,
        ratio: None,
        ratio_ci: None,
        baseline: row.baseline.clone(),
        settled: None,
        exact: None,
        status: RowStatus::Ok,
        stop: row.figures().and_then(|figures| figures.stop),
        reason: None,
        remedy: None,
    }
}

impl Line {
    fn with(self, of: &Distribution) -> Line {
        Line {
            n: of.n,
            p0: Some(of.p0),
            p25: Some(of.p25),
            p50: Some(of.p50),
            p75: Some(of.p75),
            p90: Some(of.p90),
            p99: Some(of.p99),
            p100: Some(of.p100),
            ci: of.ci,
            pooled: of.pooled,
            ..self
        }
    }

    fn over(self, ratio: Option<Ratio>) -> Line {
        Line { ratio: ratio.map(|ratio| ratio.value), ratio_ci: ratio.and_then(|ratio| ratio.ci), ..self }
    }

    fn counted(self, count: &CountPerTask) -> Line {
        Line {
            n: count.processes,
            p0: Some(count.least),
            p50: Some(count.median),
            p100: Some(count.most),
            exact: Some(count.exact),
            ..self
        }
    }

    fn without(self, missing: &Missing) -> Line {
        let remedy = (!missing.remedy.is_empty()).then(|| missing.remedy.clone());
        Line { reason: Some(missing.reason.clone()), remedy, ..self }
    }

    fn missing(&self) -> Missing {
        Missing::new(self.reason.clone().unwrap_or_default(), self.remedy.clone().unwrap_or_default())
    }

    fn distribution(&self) -> Option<Distribution> {
        Some(Distribution {
            n: self.n,
            p0: self.p0?,
            p25: self.p25?,
            p50: self.p50?,
            p75: self.p75?,
            p90: self.p90?,
            p99: self.p99?,
            p100: self.p100?,
            ci: self.ci,
            pooled: self.pooled,
        })
    }

    fn timing(&self) -> Result<Timing, String> {
        let of = self.distribution().ok_or_else(|| format!("{} lacks a percentile", self.metric))?;
        Ok(Timing { of, ratio: self.ratio.map(|value| Ratio { value, ci: self.ratio_ci }) })
    }

    fn count(&self) -> Option<Reading<CountPerTask>> {
        if self.status != RowStatus::Ok {
            return Some(Reading::Missing(self.missing()));
        }
        Some(Reading::Value(CountPerTask {
            processes: self.n,
            least: self.p0?,
            median: self.p50?,
            most: self.p100?,
            exact: self.exact?,
        }))
    }
}

fn first(line: Line) -> Result<Row, String> {
    let state = match line.status {
        RowStatus::Failed => RowState::Failed(line.missing()),
        RowStatus::Skipped => RowState::Skipped(line.missing()),
        RowStatus::Ok => RowState::Ok(Box::new(Figures {
            stop: line.stop,
            settled: line.settled,
            cpu: line.timing()?,
            wall: line.timing()?,
            cold_cpu: None,
            create_cpu: None,
            create_wall: None,
            threads: None,
            busiest: None,
            counts: Counts::default(),
            calls: Vec::new(),
        })),
    };
    Ok(Row {
        key: line.key,
        creates_task: line.creates_task,
        role: line.role,
        sweep: line.sweep,
        baseline: line.baseline,
        state,
    })
}

fn add(figures: &mut Figures, line: Line) -> Result<(), String> {
    let is = |metric: Metric| line.metric == metric.name;
    if let Some(count) = Count::ALL.into_iter().find(|count| is(counted(*count))) {
        let reading = line.count().ok_or_else(|| format!("{} lacks a value", line.metric))?;
        figures.counts.insert(count, reading);
        return Ok(());
    }
    match () {
        () if is(CALLS_PER_TASK) => figures.calls.extend(line.of.zip(line.p50)),
        () if is(WALL_PER_TASK) => figures.wall = line.timing()?,
        () if is(COLD_CPU_PER_TASK) => figures.cold_cpu = line.distribution(),
        () if is(CREATE_CPU_SHARE) => figures.create_cpu = line.distribution(),
        () if is(CREATE_WALL_SHARE) => figures.create_wall = line.distribution(),
        () if is(THREADS_RAN) => figures.threads = line.distribution(),
        () if is(BUSIEST_THREAD_SHARE) => figures.busiest = line.distribution(),
        () => return Err(format!("no metric is named {}", line.metric)),
    }
    Ok(())
}
