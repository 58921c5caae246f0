//! How throughput grows with a number of workers.

use serde::{Deserialize, Serialize};

use super::Interval;
use crate::missing::Reading;

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
    /// The CPUs that the run could use. Missing where no law is asked for, or they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// The series in the order of the plan, the fewest workers of each first.
    pub rows: Vec<Scale>,
    /// The law of scalability of each series, in the same order, where the suite asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<ScaleLaw>,
}

/// The Universal Scalability Law of one series: N workers do `per_s` N / (1 + `contention` (N - 1)
/// + `coherency` N (N - 1)) tasks a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleLaw {
    pub runtime: String,
    pub variant: String,
    /// The law, or why none is fitted.
    pub fit: Reading<ScaleFit>,
}

/// A fitted law. Intervals are of 95 %, and missing with fewer than six processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleFit {
    /// Tasks a second of one worker, by the law.
    pub per_s: f64,
    pub per_s_ci: Option<Interval>,
    /// The share of the work that only one worker can do at a time: 0 and above.
    pub contention: f64,
    pub contention_ci: Option<Interval>,
    /// What each pair of workers costs, as a share of a task: 0 and above.
    pub coherency: f64,
    pub coherency_ci: Option<Interval>,
    /// The number of workers that does most. Missing where more always do more.
    pub peak: Option<f64>,
    pub peak_ci: Option<Peaks>,
    /// The most workers that were measured: a peak beyond them is foretold, not seen.
    pub measured: u64,
    /// How many processes the figures rest on.
    pub processes: u64,
}

/// The interval of a peak. The end that is missing is no number of workers: more always do more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peaks {
    pub low: Option<f64>,
    pub high: Option<f64>,
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
    /// The share of `workers` times what one does that all of them do together: 1 where each does
    /// as much as one alone. Where the fewest are several, they count as that many.
    pub efficiency: f64,
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
