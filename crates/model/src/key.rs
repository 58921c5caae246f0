//! What names a row in every record and schema.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::{
    idle,
    params::{Params, label},
    parked,
};

/// Names a series: one variant of one runtime in one table, over all its sizes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesKey {
    pub suite: String,
    pub table: String,
    pub workload: String,
    /// The runtime, as the user names it: `asyncio`, `asyncio@python3.8`.
    pub runtime: String,
    /// Empty where the probe could not be asked.
    pub version: String,
    pub variant: String,
    /// The parameters by which the series differs from the others of its table.
    #[serde(default)]
    pub case: Params,
    /// All parameters: those of the table and those of the case.
    #[serde(default)]
    pub params: Params,
}

/// Names a row: a series at one size. In JSON both are flattened into the object that they name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowKey {
    #[serde(flatten)]
    pub series: SeriesKey,
    /// The number of tasks of one iteration.
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

    /// Whether the memory of each process is read, which then is fresh and answers once.
    pub fn is_resident(&self) -> bool {
        parked::is_resident(&self.workload, &self.params)
    }

    /// Whether an iteration is a span of time that is watched. It lasts as long as its size says
    /// and has little work in it: one is a sample, and its cost says not how warm a process is.
    pub fn is_watched(&self) -> bool {
        self.workload == idle::WORKLOAD
    }

    /// The table's name with its suite, or alone where both have one name.
    pub fn heading(&self) -> String {
        match self.table.starts_with(&self.suite) {
            true => self.table.clone(),
            false => format!("{}: {}", self.suite, self.table),
        }
    }

    /// `runtime:variant`, as the user names a baseline.
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
