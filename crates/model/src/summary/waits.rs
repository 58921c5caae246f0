//! What ready tasks wait while others block.

use serde::{Deserialize, Serialize};

/// A table of which one task in so many blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waits {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration.
    pub size: u64,
    /// A line for each scheduler: those first that are held up least when a task blocks where it
    /// runs.
    pub rows: Vec<SchedulerWaits>,
}

/// One scheduler of a runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerWaits {
    pub runtime: String,
    /// Its name in front of the variants' slash, with the case; empty where it has none.
    pub scheduler: String,
    /// Whom a task holds up that blocks where it runs; missing where that was not measured.
    pub held: Option<Held>,
    /// Each way of blocking, in the order of the plan: `without`, `inline`, and the ways out.
    pub ways: Vec<WayWaits>,
}

/// Whom a task holds up that blocks where it runs. Told by how much longer the median wait is
/// than when no task blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Less than half of one blocking call.
    Nobody,
    /// More than that, and less than 0.4 of all blocking calls one after the other.
    Some,
    /// 0.4 of all blocking calls and more: they come one after the other, and the task in the
    /// middle waits for half of them.
    All,
}

impl Held {
    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Held::Nobody => "nobody",
            Held::Some => "some",
            Held::All => "all",
        }
    }
}

/// How long tasks are ready before they run, in one way of blocking: medians over samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayWaits {
    /// The part of the variant behind the slash.
    pub way: String,
    /// Nanoseconds: the median task of a sample, its 99th percentile, its longest.
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
    /// Nanoseconds from the start of the first task until all are done, those that block among
    /// them.
    pub whole: f64,
    /// CPU nanoseconds of a task.
    pub cpu: f64,
    /// CPU nanoseconds of one call that blocks: how much more than without any, by call. Missing
    /// where nothing blocks, or where there is nothing to take it off.
    pub cpu_of_call: Option<f64>,
}
