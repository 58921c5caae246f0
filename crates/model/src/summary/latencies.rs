//! Latency of servers under open loops.

use serde::{Deserialize, Serialize};

/// The rows of one table whose requests started at fixed rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    pub suite: String,
    pub table: String,
    /// The number of requests of one iteration.
    pub size: u64,
    /// In the order of the plan, the lowest rate of each variant first.
    pub rows: Vec<Latency>,
}

/// One row of [`Latencies`]: all requests of all its samples. Latency counts from when a request
/// was to start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    pub runtime: String,
    pub variant: String,
    /// The server as the probe names it.
    pub server: String,
    /// Percent of the throughput of a closed loop in the same process, just before.
    pub rate: u64,
    /// Requests a second that were to start, and responses a second: medians over samples.
    pub wanted_per_s: f64,
    pub achieved_per_s: f64,
    /// The number of requests.
    pub n: u64,
    /// How many had no response when the last of their sample was to start.
    pub waiting: u64,
    /// Percentiles in nanoseconds; missing where too few requests lie above.
    pub p50: f64,
    pub p90: f64,
    pub p99: Option<f64>,
    /// The 99.9th percentile.
    pub p999: Option<f64>,
    /// The largest.
    pub max: f64,
    /// 99th percentile of how late the generator sent what no earlier request held up, in
    /// nanoseconds.
    pub late_p99: Option<f64>,
}
