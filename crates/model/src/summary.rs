//! `taskscale.summary/1`: every figure that `text`, `md` and `json` show, derived from a run file.

use serde::{Deserialize, Serialize};

use crate::{
    machine::Machine,
    missing::Missing,
    params::Params,
    run_file::{Role, Stop, Sweep},
};

mod granularity;

pub use granularity::{GrainPoint, Granularity, Metg, MetgState, Time};

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
    pub runtimes: Vec<RuntimeState>,
    /// One entry per row and metric; a row that has no figures has one entry with its reason.
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
pub struct RuntimeState {
    /// As the user names it.
    pub id: String,
    /// Version, where it answered.
    pub version: Option<String>,
    /// Toolchain, where it answered.
    pub toolchain: Option<String>,
    /// Workers, where it can say.
    pub workers: Option<u64>,
    /// Why it did not take part.
    pub missing: Option<Missing>,
}

/// The state of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// It has figures.
    Ok,
    /// It went wrong.
    Failed,
    /// It was not tried.
    Skipped,
}

/// One metric of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Suite.
    pub suite: String,
    /// Table.
    pub table: String,
    /// Workload.
    pub workload: String,
    /// Runtime, as the user names it.
    pub runtime: String,
    /// Its version.
    pub version: String,
    /// Variant.
    pub variant: String,
    /// Parameters by which it differs from the other rows of its table.
    pub case: Params,
    /// All parameters.
    pub params: Params,
    /// Number of tasks.
    pub size: u64,
    /// Whether they are tasks that the scheduler sees.
    pub creates_task: Option<bool>,
    /// Row, baseline or control.
    pub role: Role,
    /// Its part in a sweep; its figures are raw material of [`Summary::granularity`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// `cpu_per_task`, `wall_per_task`, `create_cpu_share`, `create_wall_share`; `cold_cpu_per_task` is that of the first
    /// sample of a fresh process, one for each process but the first, which is piloted. Lower is better for all of these.
    /// `threads_ran` and `busiest_thread_share` explain them: how many threads used at least 5 % of a sample's CPU time, and
    /// the share of the busiest. `allocations_per_task`, `allocated_bytes_per_task` and `syscalls_per_task` are counted in processes of
    /// their own (`--counts`): `n` processes, `p0`, `p50` and `p100` over these, no interval; one that could not be counted is `skipped`
    /// with its reason.
    pub metric: String,
    /// `ns`, `share`, `threads`, `calls` or `bytes`.
    pub unit: String,
    /// Samples behind the figures.
    pub n: u64,
    /// Smallest sample.
    pub p0: Option<f64>,
    /// 25th percentile.
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile; below 100 samples it is only the maximum of `n`.
    pub p99: Option<f64>,
    /// Largest sample.
    pub p100: Option<f64>,
    /// 95 % interval of the median.
    pub ci: Option<Interval>,
    /// Median ratio to the baseline, paired by round.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio.
    pub ratio_ci: Option<Interval>,
    /// The baseline: `runtime:variant`.
    pub baseline: Option<String>,
    /// How many of its processes had settled; only for rows whose code is compiled while it runs.
    #[serde(default)]
    pub settled: Option<Settled>,
    /// Of a count: whether the processes agree within 0.1 %, so that it may gate absolutely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// State.
    pub status: RowStatus,
    /// What ended its rounds.
    pub stop: Option<Stop>,
    /// Why it has no figures.
    pub reason: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// How many processes of a row had settled before they were timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Those whose cost had levelled off in their warm-up (METHODOLOGY.md, "Warm-up").
    pub processes: u64,
    /// All that were timed.
    pub of: u64,
}

impl Settled {
    /// Whether most were timed while their cost still fell: the figures are then not those of compiled code.
    pub fn mostly_not(self) -> bool {
        2 * self.processes < self.of
    }
}

/// A closed interval, written as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval(pub f64, pub f64);

/// How the cost of one series grows with size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Suite.
    pub suite: String,
    /// Table.
    pub table: String,
    /// Runtime.
    pub runtime: String,
    /// Variant.
    pub variant: String,
    /// Parameters by which it differs from the other rows of its table.
    pub case: Params,
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
    /// The variant (and case) of the same table whose growth told the cause; as `runtime:variant` where the suite named another
    /// runtime's.
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
    /// The ends of its 95 % interval, by the rounds alone; the upper end is missing where growth that ends is not excluded.
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
    /// The other forms grow superlinearly too, or nearly as steeply: machine, allocator, or what all of them use. Then the grade
    /// is `cannot_tell`, unless it is quadratic or worse.
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
    /// The smallest difference that this run could tell, as a share: the median over the control rows.
    pub smallest_difference: Option<f64>,
    /// The verdict in words.
    pub verdict: String,
}

/// One A/A comparison: the same code, twice, in two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRow {
    /// Table.
    pub table: String,
    /// Runtime.
    pub runtime: String,
    /// Variant.
    pub variant: String,
    /// Size.
    pub size: u64,
    /// Paired rounds.
    pub n: u64,
    /// Median ratio; 1 is the truth.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub ratio_ci: Option<Interval>,
    /// Half-width of the interval: the smallest difference that could be told here.
    pub smallest_difference: Option<f64>,
}
