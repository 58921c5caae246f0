//! `taskscale.summary/1`: every figure that `text`, `md` and `json` show, derived from a run file.

use serde::{Deserialize, Serialize};

use crate::{
    key::{RowKey, SeriesKey},
    machine::Machine,
    missing::Reading,
    run_file::Time,
};

mod across;
mod granularity;
mod latencies;
pub mod lines;
mod overview;
mod reaches;
mod residents;
mod rows;
mod scales;
mod shares;
mod splits;
mod streams;
mod waits;

pub use across::{Across, AcrossCell, AcrossRow};
pub use granularity::{Grain, GrainPoint, Grains, Granularity, Metg, MetgState};
pub use latencies::{Latencies, Latency};
pub use overview::{Finding, FindingKind, Overview, Quantity, Ranked, Ranking, Standing};
pub use reaches::{Reach, Reaches};
pub use residents::{HeldAt, HeldPerTask, ResidentRow, Residents};
pub use rows::{
    CountPerTask, Counts, Distribution, Figures, Interval, Ratio, Row, RowState, RowStatus, Settled, Timing,
};
pub use scales::{EachWorker, Peaks, Scale, ScaleFit, ScaleLaw, Scales};
pub use shares::{ClaimVerdict, Judged, Served, Share, Shares};
pub use splits::{CostParts, Rate, Rates, Split, Splits};
pub use streams::{Contrasted, Stream, Streams};
pub use waits::{Held, SchedulerWaits, Waits, WayWaits};

/// The value of [`Summary::schema`].
pub const SCHEMA: &str = "taskscale.summary/1";

fn is_zero(lines: &u64) -> bool {
    *lines == 0
}

/// All figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Version of the tool that took the run.
    pub tool: String,
    /// The command line of the run.
    pub command: Vec<String>,
    pub seed: u64,
    /// Start of the run, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Whether the run came to its end. It did not where the run was killed.
    pub complete: bool,
    /// Damaged lines of the run file that no figure rests on: they are read around where that is
    /// asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged_lines: u64,
    pub machine: Machine,
    /// The runtimes that took part or could not.
    pub runtimes: Vec<RuntimeLine>,
    /// The answer, before all figures that it rests on.
    #[serde(default)]
    pub overview: Overview,
    /// Rows in the order of the plan. In JSON each has one flat entry per metric. A row without
    /// figures has one entry with its reason.
    #[serde(with = "lines")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<lines::Line>"))]
    pub rows: Vec<Row>,
    /// One entry per series.
    pub growth: Vec<Growth>,
    /// One entry per sweep: how small a task may be.
    #[serde(default)]
    pub granularity: Vec<Granularity>,
    /// What this run could tell, by its A/A controls.
    pub control: Control,
    /// What a reader must know before trusting a figure.
    pub notes: Vec<String>,
}

/// A runtime in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeLine {
    /// The runtime as the user names it.
    pub id: String,
    /// What it says of itself, or why it did not take part.
    #[serde(flatten)]
    pub facts: Reading<RuntimeFacts>,
}

/// What a runtime says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeFacts {
    pub version: String,
    pub toolchain: String,
    /// The number of workers, where the probe can say.
    pub workers: Option<u64>,
}

/// How the cost of one series grows with size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    #[serde(flatten)]
    pub key: SeriesKey,
    /// The sizes that the exponent rests on: the last three octaves where they decide the grade.
    pub sizes: Vec<u64>,
    /// Exponent over these sizes of CPU time, or of `time`: 1 is linear.
    pub exponent: Option<f64>,
    /// 95 % interval of the exponent.
    pub exponent_ci: Option<Interval>,
    /// The time that grows so. It is `wall` where iterations of the largest size wait for most of
    /// theirs, and CPU time does not grow as steeply or is not graded; each observation is then the
    /// first answer of a fresh process.
    #[serde(default = "cpu", skip_serializing_if = "is_cpu")]
    pub time: Time,
    /// The local exponent between each two neighbouring sizes.
    #[serde(default)]
    pub steps: Vec<GrowthStep>,
    pub grade: Grade,
    /// The size from which cost grows so. Only superlinear growth with a linear part before it has
    /// one.
    #[serde(default)]
    pub bend: Option<f64>,
    /// 95 % interval of the bend.
    #[serde(default)]
    pub bend_ci: Option<Interval>,
    /// Where an iteration takes a second of CPU time, or of `time`. Only superlinear growth has
    /// one.
    #[serde(default)]
    pub one_second: Option<OneSecond>,
    /// What growth above linear is due to.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// The variant (and case) of the same table whose growth told the cause. It is
    /// `runtime:variant` where the suite named another runtime's.
    #[serde(default)]
    pub growth_control: Option<String>,
    /// How what an iteration allocates grows; missing where bytes were not counted at enough sizes.
    #[serde(default)]
    pub bytes: Option<BytesGrowth>,
    /// How the same run tells whether the growth is the collector's.
    #[serde(default)]
    pub check: Option<Check>,
    /// Why there is no grade, or what limits it.
    pub reason: Option<String>,
}

fn cpu() -> Time {
    Time::Cpu
}

fn is_cpu(time: &Time) -> bool {
    *time == Time::Cpu
}

impl Growth {
    /// Whether cost per task keeps rising with size: it is superlinear or worse, or bytes are
    /// a cliff.
    pub fn is_cliff(&self) -> bool {
        matches!(self.grade, Grade::Superlinear | Grade::QuadraticOrWorse) || self.is_cliff_in_bytes()
    }

    /// Whether bytes are a cliff, however CPU time grows.
    pub fn is_cliff_in_bytes(&self) -> bool {
        self.bytes.as_ref().is_some_and(|bytes| bytes.is_cliff)
    }
}

/// How what an iteration allocates grows with size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BytesGrowth {
    /// The sizes that the exponent rests on: the last three octaves.
    pub sizes: Vec<u64>,
    /// Exponent of the allocated bytes over these sizes: 1 is linear.
    pub exponent: f64,
    /// The least and the largest exponent that the counted processes allow, which is no 95 %
    /// interval; missing where a size was counted once.
    pub range: Option<Interval>,
    /// Runs of the collector in one iteration at the largest of these sizes; missing where they
    /// were not counted.
    pub collections: Option<f64>,
    /// Whether bytes grow as n^1.7 or more, the whole range of the exponent.
    pub is_cliff: bool,
}

/// What the command of a run is repeated with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Variables of the environment, as a shell takes them before the command: those that make the
    /// young generation larger. Empty where none is needed.
    pub before: String,
    /// Words behind the command: those that have bytes and collections counted. Empty where none is
    /// needed.
    pub behind: String,
}

/// The local exponent between two neighbouring sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowthStep {
    pub from: u64,
    pub to: u64,
    pub exponent: f64,
    /// Its 95 % interval.
    pub ci: Interval,
}

/// The size at which one iteration of a row takes a second of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneSecond {
    /// The size, in tasks.
    pub size: f64,
    /// The lower end of its 95 % interval, by the rounds alone.
    pub low: f64,
    /// The upper end of that interval; missing where the interval allows that growth ends.
    pub high: Option<f64>,
    /// The exponent that is assumed to continue: that of the last octave measured.
    pub exponent: f64,
    /// Whether the size lies within the measured sizes, so that nothing is assumed.
    pub measured: bool,
}

/// What growth above linear is due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Another form of the same runtime does not grow so at the same sizes. The cause is this form.
    Isolated,
    /// The other forms grow superlinearly too, or nearly as steeply. The cause may be the machine,
    /// the allocator, or what all forms use. The grade is then `cannot_tell`, unless it is
    /// quadratic or worse.
    MachineOrAllocator,
    /// No other form was measured at these sizes, or only one that is too uncertain to tell.
    NoControl,
    /// The collector of the runtime: bytes are linear, there were collections, and the exponent is
    /// 1.6 at most. The grade is then `soft_growth`.
    Collector,
}

/// The grades of growth. METHODOLOGY.md, "Growth", has the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The exponent is at most 1.1. Constant and falling costs have this grade too.
    Linear,
    /// The exponent is above 1.1, but not for three octaves, or as a collector or a cache explains,
    /// by the shape of the curve or by linear bytes.
    SoftGrowth,
    /// The exponent and its whole interval are above 1.3 over the last three octaves.
    Superlinear,
    /// Superlinear growth whose exponent is at least 1.7.
    QuadraticOrWorse,
    /// There are too few sizes, too much noise, growth too fresh to judge, or wall time only.
    CannotTell,
}

/// What the A/A controls of a run say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Control {
    /// One entry per control row.
    pub rows: Vec<ControlRow>,
    /// The number of control rows whose interval excludes 1: they show a difference that does not
    /// exist.
    pub false_alarms: u64,
    /// The smallest difference that this run could tell, as a share: the median over the control
    /// rows.
    pub smallest_difference: Option<f64>,
    /// The verdict in words.
    pub verdict: String,
}

/// One A/A control: the same code in two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlRow {
    #[serde(flatten)]
    pub key: RowKey,
    /// The number of paired rounds.
    pub n: u64,
    /// The ratio; the truth is 1.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub ratio_ci: Option<Interval>,
    /// Half the width of the interval: the smallest difference that this control could tell.
    pub smallest_difference: Option<f64>,
}
