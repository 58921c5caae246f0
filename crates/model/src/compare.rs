//! `taskscale.compare/1`: what two run files say of one another, row by row.

use serde::{Deserialize, Serialize};

use crate::{
    key::RowKey,
    missing::{Missing, Reading},
    summary::{CountPerTask, Interval, RowStatus},
};

/// The schema word.
pub const SCHEMA: &str = "taskscale.compare/1";

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// How the two sides were measured.
    #[serde(default)]
    pub design: Design,
    /// What is compared: `cpu_per_task` or `wall_per_task`, in nanoseconds; lower is better.
    pub metric: String,
    /// A difference up to this share counts as none.
    pub threshold: f64,
    /// Confidence of all intervals of ratios together: with this probability all of them hold.
    pub confidence: f64,
    /// Rows that share it: those with enough processes on both sides.
    pub family: u64,
    /// The run that is referred to.
    pub old: Side,
    /// The run that is judged.
    pub new: Side,
    /// Whether figures of the two may be divided by one another.
    pub same_machine: bool,
    /// In what the machines differ: `kernel: Linux 6.1 | Linux 6.18`.
    pub machine_differences: Vec<String>,
    /// The runtimes of either file.
    pub runtimes: Vec<RuntimeChange>,
    /// What rows moved whose code is the same in both files.
    pub unchanged: Unchanged,
    /// How many rows have which verdict.
    pub counts: Counts,
    /// How many exact counts have which verdict; all zero where nothing was counted on both sides.
    #[serde(default)]
    pub counted: Counts,
    /// Whether any row or any exact count is worse: the gate.
    pub regression: bool,
    /// The outcome in a sentence.
    pub summary: String,
    /// One entry per row of either file, in the order of the plan of the new one; controls are not
    /// among them.
    pub rows: Vec<ComparedRow>,
    /// What a reader must know before trusting a verdict.
    pub notes: Vec<String>,
}

/// How the two sides of a comparison were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Each in a run of its own: two sessions, of which each had its own disturbances.
    #[default]
    TwoRuns,
    /// In turns, in one run: what disturbed one side disturbed the other.
    OneRun,
}

/// One of the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// As the caller names it: a path, a baseline; the runtimes, where both sides are of one run.
    pub name: String,
    /// Version of the tool that took it.
    pub tool: String,
    /// Its start, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Whether it came to its end.
    pub complete: bool,
    /// The fingerprint of its machine.
    pub fingerprint: String,
    /// The machine in words.
    pub machine: String,
    /// A/A comparisons with an interval.
    pub controls: u64,
    /// The largest difference between identical code that one of them leaves open, as a share.
    pub control_limit: Option<f64>,
}

/// A runtime in the two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeChange {
    /// As the user names it.
    pub id: String,
    /// Version and toolchain in the old run; absent where it did not take part.
    pub old: Option<String>,
    /// Version and toolchain in the new run.
    pub new: Option<String>,
    /// Whether the files show that nothing changed: version, toolchain, and the source of one of
    /// the tool's own probes.
    pub same_code: bool,
}

/// What the sessions themselves did, seen on rows of unchanged code.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Unchanged {
    /// Rows whose code is the same in both files.
    pub rows: u64,
    /// The middle one of their shifts, as a share with its sign.
    pub median_shift: Option<f64>,
    /// The largest of their shifts in either direction, as a share.
    pub largest_shift: Option<f64>,
}

/// How many rows have which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Slower, or failed now.
    pub worse: u64,
    /// Faster, or no longer failed.
    pub better: u64,
    /// Within the threshold.
    pub same: u64,
    /// Neither can be said.
    pub cannot_tell: u64,
    /// From another machine.
    pub other_machine: u64,
}

/// What is said of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies above the limit; or the row had figures and failed now.
    Worse,
    /// The whole interval lies below the limit; or the row had failed and has figures now.
    Better,
    /// The whole interval lies within the threshold.
    Same,
    /// None of these, for the reason that is given.
    CannotTell,
    /// Figures of two machines: shown side by side, never divided.
    OtherMachine,
}

/// One row in both files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// What names it; the version is that of the new run, where that has the row.
    #[serde(flatten)]
    pub key: RowKey,
    /// In the old run; absent where it has no such row.
    pub old: Option<Figure>,
    /// In the new run; absent where it has no such row.
    pub new: Option<Figure>,
    /// New over old: of two runs by Hodges and Lehmann over processes, of one run the median over
    /// its pairs of processes; absent where the two may not be divided.
    pub ratio: Option<f64>,
    /// Its interval, corrected for all rows of the comparison.
    pub ratio_ci: Option<Interval>,
    /// How much the ratio must differ from 1 for better or worse, as a share: the threshold, or
    /// what identical code shows in these files.
    pub limit: Option<f64>,
    /// Whether the files show that its code is the same in both.
    pub same_code: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it cannot be told, or what failed, and what to do about it.
    #[serde(flatten)]
    pub why: Option<Missing>,
    /// Its counts, where both sides were counted; each has a verdict of its own.
    #[serde(default)]
    pub counts: Vec<ComparedCount>,
}

/// A count per task on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCount {
    /// `allocations_per_task`, `allocated_bytes_per_task` or `syscalls_per_task`; lower is better.
    pub metric: String,
    /// `calls` or `bytes`.
    pub unit: String,
    /// In the old one.
    pub old: Reading<CountPerTask>,
    /// In the new one.
    pub new: Reading<CountPerTask>,
    /// New less old, per task.
    pub change: Option<f64>,
    /// What the change must exceed to be worse or better: 0.1 %, or what requests of one process
    /// differ by, as a collector makes them.
    pub limit: Option<f64>,
    /// `worse` or `better` where both are exact and differ by more than `limit`, whatever the
    /// noise.
    pub verdict: Verdict,
    /// Why it cannot be told.
    pub reason: Option<String>,
}

impl ComparedCount {
    /// Whether either side has a value: of what no side can count nothing is to be told.
    pub fn value_in_one(&self) -> bool {
        self.old.value().is_some() || self.new.value().is_some()
    }
}

/// One row in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Version of its runtime.
    pub version: String,
    /// Processes behind its figures.
    pub processes: u64,
    /// Whether it has figures.
    pub status: RowStatus,
    /// Its figures, or why it has none.
    #[serde(flatten)]
    pub estimate: Reading<Estimate>,
}

/// A figure of one row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median over processes of the median of their samples, ns per task.
    pub value: f64,
    /// Its own 95 % interval, for reading alone.
    pub ci: Option<Interval>,
}
