//! What names a row, in every record and every schema that speaks of one.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::params::{Params, label};

/// Names a series: one variant of one runtime in one table, over all its sizes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct SeriesKey {
    /// The suite it belongs to.
    pub suite: String,
    /// The table it belongs to.
    pub table: String,
    /// The workload.
    pub workload: String,
    /// The runtime, as the user names it: `asyncio`, `asyncio@python3.8`.
    pub runtime: String,
    /// The runtime's version; empty where it could not be asked.
    pub version: String,
    /// The variant.
    pub variant: String,
    /// The parameters by which it differs from the others of its table.
    #[serde(default)]
    pub case: Params,
    /// All parameters, those of the table and of the case.
    #[serde(default)]
    pub params: Params,
}

/// Names a row: a series at one size. In JSON both are flattened into whatever they name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct RowKey {
    /// All but the size.
    #[serde(flatten)]
    pub series: SeriesKey,
    /// Number of tasks.
    pub size: u64,
}

impl SeriesKey {
    /// The variant with its case: `create_task`, `create_task gc=off`.
    pub fn variant_and_case(&self) -> String {
        match self.case.is_empty() {
            true => self.variant.clone(),
            false => format!("{} {}", self.variant, label(&self.case)),
        }
    }

    /// `runtime:variant`, as a baseline is asked for.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.runtime, self.variant)
    }
}

impl Deref for RowKey {
    type Target = SeriesKey;

    fn deref(&self) -> &SeriesKey {
        &self.series
    }
}

impl DerefMut for RowKey {
    fn deref_mut(&mut self) -> &mut SeriesKey {
        &mut self.series
    }
}
