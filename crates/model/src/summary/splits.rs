//! What a task's cost consists of, and rates beside published ones.

use serde::{Deserialize, Serialize};

use super::Interval;
use crate::missing::Reading;

/// The rows of one table at one size, as what the CPU time of a task goes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Splits {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration.
    pub size: u64,
    /// By what the plain row of a variant takes, the least first; its cases behind it.
    pub rows: Vec<Split>,
}

/// One row of [`Splits`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    pub runtime: String,
    pub variant: String,
    /// Its case; empty for the plain row.
    pub case: String,
    /// CPU nanoseconds per task, the median.
    pub ns: f64,
    /// Collections of an iteration, by generation, the youngest first; empty where the probe tells
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<f64>,
    /// What its CPU time goes to.
    pub parts: Reading<CostParts>,
}

/// The parts of a task's CPU time, in percent of it. They add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostParts {
    /// The collector: what the row takes beyond its counterpart without it, paired by round. Less
    /// than nothing where the counterpart takes longer.
    pub collector: f64,
    /// 95 % interval of the collector's part; missing with fewer than six processes.
    pub collector_ci: Option<Interval>,
    /// Creation, as the counterpart's share of it is; missing where the probe does not tell it.
    pub create: Option<f64>,
    /// All else: running and joining, and creation where it is not told.
    pub rest: f64,
}

/// Tasks in a second of CPU time, beside published figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    pub suite: String,
    pub table: String,
    /// Where the published figures are from.
    pub published_on: String,
    /// Series by series, each by ascending size.
    pub rows: Vec<Rate>,
    /// What was claimed, and whether it holds here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<super::Judged>,
}

/// One row of [`Rates`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    pub runtime: String,
    /// The variant with its case.
    pub variant: String,
    pub size: u64,
    /// Tasks in a second of CPU time, by the median.
    pub per_s: f64,
    /// Its 95 % interval.
    pub ci: Option<Interval>,
    /// Tasks in a second of wall time, by the median; missing where the clock saw nothing.
    pub wall_per_s: Option<f64>,
    /// What was published.
    pub published: Option<f64>,
}
