//! What a plan is made over.

use taskscale_model::{missing::Missing, params::Params, protocol::Description};

/// A runtime that was looked for: its description, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// As the user names it: `asyncio`, `asyncio@python3.8`.
    pub id: String,
    /// Whether the user asked for it by name; then whatever it cannot do is a skipped row.
    pub asked: bool,
    /// Whether only tables that name it want it, where the user did not ask for it.
    pub by_name: bool,
    /// The runtime whose rows are judged against this one's: this is the old side of a comparison.
    pub old_of: Option<String>,
    /// What the probe says of itself.
    pub description: Result<Description, Missing>,
}

/// What the command line narrows or changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Sizes instead of the suite's; empty keeps those.
    pub sizes: Vec<u64>,
    /// Variants to keep: a whole name, or one part of it between slashes; empty keeps all.
    pub variants: Vec<String>,
    /// The baseline instead of the suite's: `variant` or `runtime:variant`.
    pub baseline: Option<String>,
    /// Parameters put over those of every table.
    pub params: Params,
    /// CPU time of the work inside each task, in nanoseconds; the first step of a run turns it into
    /// a number of steps for each runtime.
    pub work_ns: Option<u64>,
}
