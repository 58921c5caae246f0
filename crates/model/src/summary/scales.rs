//! How throughput grows with a number of workers.

use serde::{Deserialize, Serialize};

use super::Interval;

/// The rows of one table at one size, as how many tasks a second each number of workers does, by
/// wall time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scales {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration, which the workers share.
    pub size: u64,
    /// The parameter that is the number of workers.
    pub param: String,
    /// What one task is.
    pub unit: String,
    /// The series in the order of the plan, the fewest workers of each first.
    pub rows: Vec<Scale>,
}

/// One row of [`Scales`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scale {
    pub runtime: String,
    /// The variant with what else its case sets.
    pub variant: String,
    pub workers: u64,
    /// The number of workers of its series that it is divided by: the fewest. Equal to `workers`
    /// in the row that has these.
    pub base: u64,
    /// Tasks a second of all workers together, by wall time: the median.
    pub per_s: f64,
    /// How many times the tasks a second of the fewest workers, paired by round; 1 for these.
    pub times: f64,
    /// 95 % interval of `times`; missing with fewer than six processes, and for the fewest workers.
    pub ci: Option<Interval>,
    /// CPU time of a task, in nanoseconds: the median.
    pub cpu_ns: f64,
    /// What each worker did; missing where the probe does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<EachWorker>,
}

/// What the workers of a row did, each by its own clock: medians over samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EachWorker {
    /// Tasks a second of the slowest worker and of the fastest, while they had any.
    pub slowest_per_s: f64,
    pub fastest_per_s: f64,
    /// The share of all tasks that the worker with the fewest did, and the one with the most.
    pub least_share: f64,
    pub most_share: f64,
}
