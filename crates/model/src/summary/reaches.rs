//! How far variants come as a parameter grows.

use serde::{Deserialize, Serialize};

use crate::missing::Missing;

/// A table that asks how far each variant comes, value by value of one parameter, each in a process
/// of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reaches {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration.
    pub size: u64,
    /// The parameter.
    pub param: String,
    /// Its values, ascending.
    pub values: Vec<u64>,
    /// In the order of the plan.
    pub rows: Vec<Reach>,
}

/// How far one variant comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    pub runtime: String,
    pub variant: String,
    /// The largest value that it answered rightly, with no failure below; missing where it failed
    /// at the least.
    pub passes: Option<u64>,
    /// The least value at which it failed, or was not tried, if there is one.
    pub ends: Option<u64>,
    /// What happened there; missing where nothing did.
    pub reason: Option<Missing>,
}
