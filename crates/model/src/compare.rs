//! `taskscale.compare/1`: how two runs differ, row by row.

use serde::{Deserialize, Serialize};

use crate::{
    key::RowKey,
    missing::{Missing, Reading},
    summary::{CountPerTask, Interval, RowStatus},
};

/// The value of [`Comparison::schema`].
pub const SCHEMA: &str = "taskscale.compare/1";

/// Two sides, row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    #[serde(default)]
    pub design: Design,
    /// The compared figure, `cpu_per_task` or `wall_per_task`, in nanoseconds. Lower is better.
    pub metric: String,
    /// The share up to which a difference counts as none.
    pub threshold: f64,
    /// The probability that all intervals of ratios hold together.
    pub confidence: f64,
    /// The number of rows that share the confidence: those with enough processes on both sides.
    pub family: u64,
    /// The side that is referred to.
    pub old: Side,
    /// The side that is judged.
    pub new: Side,
    /// Whether figures of the two sides may be divided by one another.
    pub same_machine: bool,
    /// How the machines differ: `kernel: Linux 6.1 | Linux 6.18`.
    pub machine_differences: Vec<String>,
    /// The runtimes of both sides.
    pub runtimes: Vec<RuntimeChange>,
    /// How far rows moved whose code is the same on both sides.
    pub unchanged: Unchanged,
    /// How many rows have which verdict.
    pub counts: Counts,
    /// How many exact counts have which verdict; all zero where no count was taken on both sides.
    #[serde(default)]
    pub counted: Counts,
    /// Whether any row or any exact count is worse. This is the gate.
    pub regression: bool,
    /// The outcome in a sentence.
    pub summary: String,
    /// One entry per row of either side, in the order of the plan of the new one, controls
    /// excluded.
    pub rows: Vec<ComparedRow>,
    /// What a reader must know before trusting a verdict.
    pub notes: Vec<String>,
}

/// How the two sides of a comparison were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Each side is a run of its own. The two sessions have different disturbances.
    #[default]
    TwoRuns,
    /// The sides take turns in one run. A disturbance touches both.
    OneRun,
}

/// One of the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// A path or a baseline file, as the caller names it, or the runtimes where both sides are of
    /// one run.
    pub name: String,
    /// Version of the tool that took the run.
    pub tool: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Whether the run came to its end.
    pub complete: bool,
    pub fingerprint: String,
    /// The machine in words.
    pub machine: String,
    /// The number of A/A controls with an interval.
    pub controls: u64,
    /// The largest difference between identical code that a control leaves open, as a share.
    pub control_limit: Option<f64>,
}

/// A runtime in the two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeChange {
    /// The runtime as the user names it.
    pub id: String,
    /// Version and toolchain on the old side; absent where the runtime did not take part.
    pub old: Option<String>,
    /// Version and toolchain on the new side.
    pub new: Option<String>,
    /// Whether the files show that nothing changed: version, toolchain, and for the tool's own
    /// probes the source.
    pub same_code: bool,
}

/// How far the sessions moved rows of unchanged code.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unchanged {
    /// The number of rows whose code is the same on both sides.
    pub rows: u64,
    /// The median of their shifts, as a share with its sign.
    pub median_shift: Option<f64>,
    /// The largest of their shifts in either direction, as a share.
    pub largest_shift: Option<f64>,
}

/// How many rows have which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// The new side is slower, or failed where the old did not.
    pub worse: u64,
    /// The new side is faster, or has figures where the old failed.
    pub better: u64,
    /// The difference lies within the threshold.
    pub same: u64,
    /// The interval allows no other verdict.
    pub cannot_tell: u64,
    /// The sides come from two machines.
    pub other_machine: u64,
}

/// The verdict on a row or a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies above the limit, or the row had figures in the old run and failed in
    /// the new one.
    Worse,
    /// The whole interval lies below the limit, or the row failed in the old run and has figures in
    /// the new one.
    Better,
    /// The whole interval lies within the threshold.
    Same,
    /// None of these holds, for the given reason.
    CannotTell,
    /// Figures of two machines stand side by side and are never divided.
    OtherMachine,
}

/// One row on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRow {
    /// The version is that of the new run, where that has the row.
    #[serde(flatten)]
    pub key: RowKey,
    /// Absent where the old run has no such row.
    pub old: Option<Figure>,
    /// Absent where the new run has no such row.
    pub new: Option<Figure>,
    /// New over old, the estimate of Hodges and Lehmann over processes. Within one run it is over
    /// pairs of processes that took turns, or over triples with the old side's A/A control. It is
    /// absent where the two may not be divided.
    pub ratio: Option<f64>,
    /// The interval of the ratio, corrected for all rows of the comparison.
    pub ratio_ci: Option<Interval>,
    /// By which share the ratio must differ from 1 for `worse` or `better`: the threshold, or what
    /// identical code shows in these files.
    pub limit: Option<f64>,
    /// Whether the files show that its code is the same on both sides.
    pub same_code: bool,
    pub verdict: Verdict,
    /// Why the row is `cannot tell` or what failed, and the remedy.
    #[serde(flatten)]
    pub why: Option<Missing>,
    /// Its counts where both sides were counted, each with a verdict of its own.
    #[serde(default)]
    pub counts: Vec<ComparedCount>,
}

/// A count per task on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCount {
    /// `allocations_per_task`, `allocated_bytes_per_task` or `syscalls_per_task`. Lower is better.
    pub metric: String,
    /// `calls` or `bytes`.
    pub unit: String,
    pub old: Reading<CountPerTask>,
    pub new: Reading<CountPerTask>,
    /// New minus old, per task.
    pub change: Option<f64>,
    /// What the change must exceed to be worse or better: 0.1 %, or what requests of one process
    /// differ by, since a collector runs in one request or in another.
    pub limit: Option<f64>,
    /// `worse` or `better` where both counts are exact and differ by more than `limit`, however
    /// noisy the machine.
    pub verdict: Verdict,
    /// Why the verdict is `cannot_tell`, and what to do about it.
    #[serde(flatten)]
    pub why: Option<Missing>,
}

impl ComparedCount {
    /// Whether either side has a value. A count that neither side can take needs no line in a
    /// report.
    pub fn value_in_one(&self) -> bool {
        self.old.value().is_some() || self.new.value().is_some()
    }
}

/// One row on one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Version of its runtime.
    pub version: String,
    /// The number of processes behind its figures.
    pub processes: u64,
    pub status: RowStatus,
    #[serde(flatten)]
    pub estimate: Reading<Estimate>,
}

/// A figure of one row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median over processes of the median of their samples, in ns per task.
    pub value: f64,
    /// Its own 95 % interval, for reading alone; no verdict rests on it.
    pub ci: Option<Interval>,
}
