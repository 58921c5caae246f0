//! What a plan is made from.

use taskscale_model::{missing::Missing, params::Params, protocol::Description};

use crate::counters::Counters;

/// A runtime that the tool looked for: its description, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The runtime as the user names it: `asyncio`, `asyncio@python3.8`.
    pub id: String,
    /// Whether the user asked for it by name. Everything that it cannot do is then a skipped row.
    pub asked: bool,
    /// Whether only tables that name it want it. It does not count where the user asked for it.
    pub by_name: bool,
    /// Whether only the floors of streams are wanted of it: the user named other runtimes.
    pub only_floors: bool,
    /// Present where this is the old side of a comparison: the runtime whose rows are judged
    /// against this one's.
    pub old_of: Option<String>,
    /// What the probe says of itself.
    pub description: Result<Description, Missing>,
}

impl Found {
    /// Whether it tells how often its collector runs.
    pub fn tells_collector(&self) -> bool {
        self.description.as_ref().is_ok_and(Counters::tells_collector)
    }
}

/// What the command line narrows or changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Sizes that replace the suite's; empty keeps those.
    pub sizes: Vec<u64>,
    /// Variants to keep, each a whole name or one part of it between slashes; empty keeps all.
    pub variants: Vec<String>,
    /// The baseline that replaces the suite's: `variant` or `runtime:variant`.
    pub baseline: Option<String>,
    /// Parameters put over those of every table.
    pub params: Params,
    /// CPU time of the work inside each task, in nanoseconds. The first step of a run turns it into
    /// a number of steps for each runtime.
    pub work_ns: Option<u64>,
}
