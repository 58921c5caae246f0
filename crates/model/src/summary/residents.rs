//! What tasks hold while they wait.

use serde::{Deserialize, Serialize};

use super::Interval;
use crate::missing::Missing;

/// A table whose processes read their memory while all tasks waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Residents {
    pub suite: String,
    pub table: String,
    /// The sizes that were planned, ascending.
    pub sizes: Vec<u64>,
    /// What holds least first; rows without a figure last, in the order of the plan.
    pub rows: Vec<ResidentRow>,
}

/// What the tasks of one variant hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResidentRow {
    pub runtime: String,
    /// The variant with its case.
    pub variant: String,
    /// Missing where no process told what it held.
    pub held: Option<HeldPerTask>,
    /// The least size that has no figure, if there is one.
    pub ends: Option<u64>,
    /// Why it has none; missing where all sizes have figures.
    pub reason: Option<Missing>,
}

/// Resident bytes of a task that waits, and what waking it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldPerTask {
    /// The largest size that has figures.
    pub size: u64,
    /// The size from which the slope is taken; missing where there is only one: the bytes then hold
    /// what the first task brings once.
    pub from: Option<u64>,
    /// Bytes a task: the median over the processes at `size` of what their memory grew by beyond
    /// that at `from`, by task.
    pub bytes: f64,
    /// The same of the process that held least, and of the one that held most. From six processes
    /// on, this is a 95 % interval of the median.
    pub range: Interval,
    /// The number of processes at `size`.
    pub processes: u64,
    /// Resident bytes of the whole process while all tasks wait at `size`, the median.
    pub resident: f64,
    /// Resident bytes of a process before its first task, the median over all sizes.
    pub before: f64,
    /// CPU nanoseconds to wake one task and see it done, at `size`, in a process that woke none
    /// before: the median.
    pub wake_ns: f64,
    /// Its 95 % interval.
    pub wake_ci: Option<Interval>,
    /// Bytes a task at each size, ascending, without a slope: by what the process held before its
    /// first task.
    pub at: Vec<HeldAt>,
}

/// What tasks hold at one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldAt {
    pub size: u64,
    /// The number of processes.
    pub processes: u64,
    /// The median of what a process grew by, by task.
    pub bytes: f64,
}
