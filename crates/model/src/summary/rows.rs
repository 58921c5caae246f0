//! The figures of one row, one field for each metric.

use std::collections::BTreeMap;

use crate::{
    key::RowKey,
    metric::Count,
    missing::{Missing, Reading},
    run_file::{Role, Stop, Sweep},
};

use serde::{Deserialize, Serialize};

/// One row and its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub key: RowKey,
    /// Whether its tasks are tasks that the scheduler sees.
    pub creates_task: Option<bool>,
    pub role: Role,
    /// Its part in a sweep. Such figures are raw material of
    /// [`Summary::granularity`](super::Summary::granularity).
    pub sweep: Option<Sweep>,
    /// The baseline as `runtime:variant`.
    pub baseline: Option<String>,
    pub state: RowState,
}

/// The figures of a row, or why it has none.
#[derive(Debug, Clone, PartialEq)]
pub enum RowState {
    /// The row has figures.
    Ok(Box<Figures>),
    /// The row went wrong.
    Failed(Missing),
    /// The row was not tried.
    Skipped(Missing),
}

/// The state of a row in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// The row has figures.
    Ok,
    /// The row went wrong.
    Failed,
    /// The row was not tried.
    Skipped,
}

/// The figures of a row. Lower is better for all times, shares and counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// What ended its rounds; `None` where the run was cut short before that.
    pub stop: Option<Stop>,
    /// How many of its processes had settled. Only rows whose code is compiled while it runs have
    /// it.
    pub settled: Option<Settled>,
    /// CPU time in ns per task.
    pub cpu: Timing,
    /// Wall time in ns per task.
    pub wall: Timing,
    /// CPU time in ns per task of the first sample of a fresh process. Each process has one but the
    /// first, which is piloted.
    pub cold_cpu: Option<Distribution>,
    /// The share of CPU time until the last task was started, where the probe tells it.
    pub create_cpu: Option<Distribution>,
    /// The same share of wall time.
    pub create_wall: Option<Distribution>,
    /// The number of threads that used at least 5 % of a sample's CPU time, where the kernel tells
    /// it.
    pub threads: Option<Distribution>,
    /// The share of a sample's CPU time that the busiest thread used.
    pub busiest: Option<Distribution>,
    /// What was counted in processes of their own (`--counts`), per task.
    pub counts: Counts,
    /// The system calls that were made most often, per task, by name; empty where they were not
    /// looked at.
    pub calls: Vec<(String, f64)>,
}

/// A time of a row and its ratio to the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// The distribution over all samples.
    pub of: Distribution,
    /// The ratio to the baseline, paired by round.
    pub ratio: Option<Ratio>,
}

/// A row's time divided by its baseline's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median over rounds.
    pub value: f64,
    /// Its 95 % interval.
    pub ci: Option<Interval>,
}

/// The samples of one metric, in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The number of samples.
    pub n: u64,
    /// The smallest.
    pub p0: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile; below 100 samples it is only the largest of them.
    pub p99: f64,
    /// The largest.
    pub p100: f64,
    /// 95 % interval of the median.
    pub ci: Option<Interval>,
    /// Whether the interval rests on the spread between processes at all sizes of the series, since
    /// this size has too few of its own.
    pub pooled: bool,
}

/// What was counted; a count that was not asked for is absent.
pub type Counts = BTreeMap<Count, Reading<CountPerTask>>;

/// One count over the processes that were counted: per task, but for [`Count::PeakResident`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountPerTask {
    /// The number of counted processes.
    pub processes: u64,
    /// The count of the process with the fewest.
    pub least: f64,
    /// The median of the processes.
    pub median: f64,
    /// The count of the process with the most.
    pub most: f64,
    /// Whether the processes agree within 0.1 %, so that the count may gate absolutely.
    pub exact: bool,
}

/// How many processes of a row had settled before they were timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// The number of processes whose cost levelled off in their warm-up (METHODOLOGY.md,
    /// "Warm-up").
    pub processes: u64,
    /// The number of timed processes.
    pub of: u64,
}

/// A closed interval, written as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval(pub f64, pub f64);

impl Row {
    /// The figures, where the row has any.
    pub fn figures(&self) -> Option<&Figures> {
        match &self.state {
            RowState::Ok(figures) => Some(figures),
            RowState::Failed(_) | RowState::Skipped(_) => None,
        }
    }

    /// Why the row has no figures.
    pub fn missing(&self) -> Option<&Missing> {
        match &self.state {
            RowState::Ok(_) => None,
            RowState::Failed(missing) | RowState::Skipped(missing) => Some(missing),
        }
    }

    pub fn status(&self) -> RowStatus {
        match self.state {
            RowState::Ok(_) => RowStatus::Ok,
            RowState::Failed(_) => RowStatus::Failed,
            RowState::Skipped(_) => RowStatus::Skipped,
        }
    }
}

impl Settled {
    /// Whether most processes were timed while their cost still fell. The figures are then not
    /// those of compiled code.
    pub fn mostly_not(self) -> bool {
        self.processes < self.of.div_ceil(2)
    }
}
