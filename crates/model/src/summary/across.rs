//! What one thing costs under several settings.

use serde::{Deserialize, Serialize};

use super::Interval;

/// The rows of one table at one size, a variant a line and a setting a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Across {
    pub suite: String,
    pub table: String,
    /// The size of one iteration.
    pub size: u64,
    /// What a figure is of.
    pub unit: String,
    /// The names of the settings that any row has, in the order of the suite.
    pub columns: Vec<String>,
    /// How many tasks arrive a second in each of them, where a figure is of a millisecond that is
    /// watched, and is told as percent of a core.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<u64>,
    /// By what the first setting of a variant costs, those of the first column first.
    pub rows: Vec<AcrossRow>,
}

/// A variant, with a cell for each of the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcrossRow {
    pub runtime: String,
    pub variant: String,
    /// Missing where the variant does not have the setting, or has no figure there.
    pub cells: Vec<Option<AcrossCell>>,
}

/// What one thing costs under one setting: medians, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcrossCell {
    pub cpu_ns: f64,
    /// 95 % interval of the CPU time; missing with fewer than six processes.
    pub cpu_ci: Option<Interval>,
    pub wall_ns: f64,
    /// The CPU time in multiples of the variant's first setting, paired by round; missing for that
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<f64>,
    /// 95 % interval of `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_ci: Option<Interval>,
}
