//! The answer of a run: which row is cheapest, by how much, and what else matters.

use serde::{Deserialize, Serialize};

use super::{Across, Interval, Latencies, Rates, Reaches, Residents, Scales, Shares, Splits, Streams, Waits};
use crate::run_file::Time;

/// The answer of a run, before all figures that it rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overview {
    /// What the suites are about, one title for each, in the order of the plan.
    pub titles: Vec<String>,
    /// One ranking for each table that has figures, in the order of the plan.
    pub rankings: Vec<Ranking>,
    /// Tables that are read as shares of each runtime's baseline, in the order of the plan; they
    /// are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Shares>,
    /// Tables of servers whose requests start at fixed rates; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<Latencies>,
    /// Tables that ask how far variants come as a parameter grows; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<Reaches>,
    /// Tables that ask how throughput grows with a number of workers; they are not among the
    /// rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<Scales>,
    /// Tables of what one thing costs under several settings; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub across: Vec<Across>,
    /// Tables of what tasks hold while they wait; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residents: Vec<Residents>,
    /// Tables of what ready tasks wait while others block; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Waits>,
    /// Tables of how many bytes a second are read; they are not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Streams>,
    /// Tables beside published rates. One that has a single series is not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rates>,
    /// What the cost of a task consists of, for the largest size of a table first; such tables are
    /// not among the rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Splits>,
    /// What else matters, the most important first.
    pub findings: Vec<Finding>,
    /// How long the run took, in seconds; missing where it did not come to its end.
    pub elapsed_s: Option<f64>,
}

/// The rows of one table at one size, the cheapest first; or the rows of its only series by size.
/// Controls, rows that create no task and rows of a sweep are not among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranking {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration: the largest at which most rows have figures.
    pub size: u64,
    /// All sizes at which the table has figures, ascending.
    pub sizes: Vec<u64>,
    pub quantity: Quantity,
    /// The rows, the cheapest first.
    pub rows: Vec<Ranked>,
}

/// What a ranking ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// CPU time per task, or wall time where a probe has no CPU clock.
    PerTask(Time),
    /// The smallest task of which the share is work, by CPU time.
    SmallestTask(f64),
}

/// One row of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    pub runtime: String,
    /// The variant with its case.
    pub variant: String,
    /// The number of tasks of one iteration: the ranking's, unless it is by size.
    #[serde(default)]
    pub size: u64,
    /// The median, in nanoseconds.
    pub ns: f64,
    /// Its 95 % interval.
    pub ci: Option<Interval>,
    /// Whether the interval rests on the spread of all sizes of the series.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pooled: bool,
    /// What it is, beside the others.
    pub standing: Standing,
    /// Its time divided by the reference's, paired by round.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio.
    pub ratio_ci: Option<Interval>,
}

/// How a row stands to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The row that the others are divided by.
    Reference,
    /// The interval of its ratio contains 1 and ends within 10 % of it.
    Tie,
    Cheaper,
    Dearer,
    /// Its ratio has no interval (fewer than six processes, or none that pair), or one that
    /// contains 1 and is wider than a tie's.
    CannotTell,
}

/// Something that a reader should know, in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    pub kind: FindingKind,
    /// What it is about, and the figures.
    pub text: String,
    /// What to do; empty where nothing needs to be done.
    pub remedy: String,
}

/// What a finding is, the most important kinds first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A row went wrong: a wrong answer, an impossible time, a crash.
    Failed,
    /// The run is not whole.
    Cut,
    /// Rows were timed before their code was compiled.
    Unsettled,
    /// The cost of a task grows with the number of tasks.
    Cliff,
    /// All figures of a runtime are off to one side.
    Biased,
    /// What one version of a runtime costs beside another.
    Version,
    /// A way of one runtime costs more than its cheapest.
    Dearer,
    /// Two ways of one runtime cost the same.
    Tie,
    /// How the cost of the others grows with the number of tasks.
    Growth,
    /// The machine was busy.
    Busy,
    /// Rows have no interval, or a control differs.
    Unsure,
    /// A runtime or row that was not measured.
    Skipped,
}

impl FindingKind {
    /// The word that stands before the finding.
    pub fn word(self) -> &'static str {
        match self {
            FindingKind::Failed => "failed",
            FindingKind::Cut => "cut short",
            FindingKind::Unsettled => "unsettled",
            FindingKind::Cliff => "cliff",
            FindingKind::Biased => "biased",
            FindingKind::Version => "version",
            FindingKind::Dearer => "dearer",
            FindingKind::Tie => "tie",
            FindingKind::Growth => "growth",
            FindingKind::Busy => "busy",
            FindingKind::Unsure => "unsure",
            FindingKind::Skipped => "skipped",
        }
    }
}
