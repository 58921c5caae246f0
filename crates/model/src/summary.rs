//! `taskscale.summary/1`: every figure that `text`, `md` and `json` show, derived from a run file.

use serde::{Deserialize, Serialize};

use crate::{
    key::{RowKey, SeriesKey},
    machine::Machine,
    missing::Reading,
};

mod granularity;
pub mod lines;
mod rows;

pub use granularity::{GrainPoint, Grains, Granularity, Metg, MetgState};
pub use rows::{
    CountPerTask, CountsPerTask, Distribution, Figures, Interval, Ratio, Row, RowState, RowStatus, Settled,
    Timing,
};

/// The schema word.
pub const SCHEMA: &str = "taskscale.summary/1";

/// All figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the tool that took the run.
    pub tool: String,
    /// Its command line.
    pub command: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// Its start, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Whether the run came to its end; `false` for one that was killed.
    pub complete: bool,
    /// Where it ran.
    pub machine: Machine,
    /// Runtimes that took part or could not.
    pub runtimes: Vec<RuntimeLine>,
    /// In the order of the plan. In JSON each has one flat entry per metric; one without figures
    /// has one entry with its reason.
    #[serde(with = "lines")]
    pub rows: Vec<Row>,
    /// One entry per series over sizes.
    pub growth: Vec<Growth>,
    /// One entry per sweep over the work inside each task: how small a task may be.
    #[serde(default)]
    pub granularity: Vec<Granularity>,
    /// The A/A controls: what this run could tell.
    pub control: Control,
    /// What a reader must know before trusting a figure.
    pub notes: Vec<String>,
}

/// A runtime in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeLine {
    /// As the user names it.
    pub id: String,
    /// What it says of itself, or why it did not take part.
    #[serde(flatten)]
    pub facts: Reading<RuntimeFacts>,
}

/// What a runtime says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeFacts {
    /// Its version.
    pub version: String,
    /// Its toolchain.
    pub toolchain: String,
    /// Its workers, where it can say.
    pub workers: Option<u64>,
}

/// How the cost of one series grows with size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// What names the series.
    #[serde(flatten)]
    pub key: SeriesKey,
    /// Sizes that the exponent rests on: the last three octaves where they decide the grade.
    pub sizes: Vec<u64>,
    /// Exponent of CPU time over these sizes: 1 is linear.
    pub exponent: Option<f64>,
    /// 95 % interval of the exponent.
    pub exponent_ci: Option<Interval>,
    /// The local exponent between each two neighbouring sizes.
    #[serde(default)]
    pub steps: Vec<GrowthStep>,
    /// The grade.
    pub grade: Grade,
    /// The size from which cost grows so; only of superlinear growth with a linear part before it.
    #[serde(default)]
    pub bend: Option<f64>,
    /// 95 % interval of the bend.
    #[serde(default)]
    pub bend_ci: Option<Interval>,
    /// Where an iteration takes a second of CPU time; only of superlinear growth.
    #[serde(default)]
    pub one_second: Option<OneSecond>,
    /// What superlinear growth is due to.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// The variant (and case) of the same table whose growth told the cause; as `runtime:variant`
    /// where the suite named another runtime's.
    #[serde(default)]
    pub growth_control: Option<String>,
    /// Why there is no grade, or what limits it.
    pub reason: Option<String>,
}

/// The local exponent between two neighbouring sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GrowthStep {
    /// The smaller size.
    pub from: u64,
    /// The larger size.
    pub to: u64,
    /// The exponent.
    pub exponent: f64,
    /// Its 95 % interval.
    pub ci: Interval,
}

/// The size at which one iteration of a row takes a second of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OneSecond {
    /// The size, in tasks.
    pub size: f64,
    /// The ends of its 95 % interval, by the rounds alone; the upper end is missing where growth
    /// that ends is not excluded.
    pub low: f64,
    /// See `low`.
    pub high: Option<f64>,
    /// The exponent that is assumed to go on: that of the last octave measured.
    pub exponent: f64,
    /// Whether it lies within the sizes measured, so that nothing is assumed.
    pub measured: bool,
}

/// What superlinear growth is due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Another form of the same runtime does not grow so at the same sizes: it is this form.
    Isolated,
    /// The other forms grow superlinearly too, or nearly as steeply: machine, allocator, or what
    /// all of them use. Then the grade is `cannot_tell`, unless it is quadratic or worse.
    MachineOrAllocator,
    /// No other form was measured at these sizes, or only one that is too uncertain to tell.
    NoControl,
}

/// The grades of growth; the limits are those of METHODOLOGY.md, "Growth".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The exponent is at most 1.1; constant and falling costs too.
    Linear,
    /// Above, but not for three octaves, or as a collector or a cache explains.
    SoftGrowth,
    /// Above 1.3 over the last three octaves, the interval too.
    Superlinear,
    /// The same, at 1.7 or above.
    QuadraticOrWorse,
    /// Too few sizes, too much noise, growth too fresh to judge, or wall time only.
    CannotTell,
}

/// What the A/A controls of a run say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Control {
    /// One entry per control row.
    pub rows: Vec<ControlRow>,
    /// Control rows whose interval excludes 1: differences that are not there.
    pub false_alarms: u64,
    /// The smallest difference that this run could tell, as a share: the median over the control
    /// rows.
    pub smallest_difference: Option<f64>,
    /// The verdict in words.
    pub verdict: String,
}

/// One A/A comparison: the same code, twice, in two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRow {
    /// What names it.
    #[serde(flatten)]
    pub key: RowKey,
    /// Paired rounds.
    pub n: u64,
    /// Median ratio; 1 is the truth.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub ratio_ci: Option<Interval>,
    /// Half-width of the interval: the smallest difference that could be told here.
    pub smallest_difference: Option<f64>,
}
