//! How long things took: quantiles, and how many of each there were.

use serde::{Deserialize, Serialize};

/// A distribution in nanoseconds. Quantiles come from a histogram whose buckets are at most 25 %
/// wide, so each is within 12.5 % of the exact one. Minimum, mean and maximum are exact.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// The number of values.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Arithmetic mean.
    pub mean: f64,
}

/// Times by powers of two. A list is empty where its quantiles are missing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histograms {
    /// Durations of all spans.
    pub duration: Vec<TimeClass>,
    /// Gaps between consecutive outermost spans of a worker.
    pub gap: Vec<TimeClass>,
    /// From when a task became ready to its start.
    pub queue_delay: Vec<TimeClass>,
}

/// The times from a power of two up to the next one. Classes without a time between others are
/// listed too: there are 64 at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeClass {
    /// The shortest time that belongs to it.
    pub from_ns: u64,
    /// The shortest time that no longer does.
    pub to_ns: u64,
    /// The number of times.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
}
