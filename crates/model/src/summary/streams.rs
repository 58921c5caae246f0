//! How many bytes a second each way of reading a stream consumes.

use serde::{Deserialize, Serialize};

use super::{Distribution, Interval, Judged};

/// The rows of one table at one size, as MiB a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Streams {
    pub suite: String,
    pub table: String,
    /// The bytes of one pass.
    pub size: u64,
    /// The rows that are not summed up first, then the others; the cheapest by CPU time first.
    pub rows: Vec<Stream>,
    /// The row that the others are divided by, as `runtime:variant`; missing where it was not
    /// measured.
    pub floor: Option<String>,
    /// Where the published figures are from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub published_on: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrasted>,
    /// CPU time that the server took for each MiB, in nanoseconds: the median over all samples;
    /// missing where bytes come from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_mib_ns: Option<f64>,
    /// What was claimed, and whether it holds here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Judged>,
}

/// One row of [`Streams`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stream {
    pub runtime: String,
    /// The variant with its case.
    pub variant: String,
    /// Whether its bytes are fetched and not looked at.
    pub is_bare: bool,
    /// MiB (2^20 bytes) a second, by the median of CPU time and of wall time. Missing where the
    /// clock saw nothing.
    pub cpu_mib_s: Option<f64>,
    pub wall_mib_s: Option<f64>,
    /// Its CPU time divided by that of the floor, paired by round.
    pub times_floor: Option<f64>,
    /// 95 % interval of this; missing with fewer than six processes, and for the floor.
    pub times_floor_ci: Option<Interval>,
    /// Nanoseconds of a pass.
    pub cpu: Distribution,
    pub wall: Distribution,
    /// What was published, in MiB a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_cpu_mib_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_wall_mib_s: Option<f64>,
}

/// Two rows that differ in one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contrasted {
    /// What they differ in: `unsafe / safe`.
    pub name: String,
    pub runtime: String,
    pub one: String,
    pub other: String,
    /// How many times the throughput of the other the one has, by CPU time, paired by round; with
    /// its 95 % interval.
    pub times: f64,
    pub ci: Option<Interval>,
}
