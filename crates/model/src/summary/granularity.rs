//! How small a task may be: METG, the minimum effective task granularity of Task Bench, and the
//! points that it was read from.

use serde::{Deserialize, Serialize};

use crate::{key::RowKey, missing::Reading, run_file::Time};

/// The sweep of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Granularity {
    /// Names its rows. The parameters are those that all of them share.
    #[serde(flatten)]
    pub key: RowKey,
    /// Whether its tasks are tasks that the scheduler sees.
    pub creates_task: Option<bool>,
    /// The number of cores that the process could use.
    pub cores: Option<u64>,
    /// The number of workers that the runtime states.
    pub workers: Option<u64>,
    /// The fewest and the most threads that ran in one of its samples. A thread ran where it used
    /// at least 5 % of the sample's CPU time.
    pub threads: Option<(u64, u64)>,
    /// The figures, or why there are none.
    #[serde(flatten)]
    pub figures: Reading<Grains>,
}

/// The figures of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grains {
    /// The measured points, from the smallest work on.
    pub points: Vec<GrainPoint>,
    /// The smallest granularity for 50, 90 and 95 %, first by CPU time, then by wall time.
    pub metg: Vec<Metg>,
}

/// Tasks of one work. Every figure is a median over processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrainPoint {
    /// CPU time of the work that was asked for, in nanoseconds.
    pub work_ns: u64,
    /// The work in steps of the kernel.
    pub steps: u64,
    /// CPU time per task, in nanoseconds: its granularity by CPU time.
    pub cpu_ns: f64,
    /// The share of `cpu_ns` that the kernel alone takes.
    pub cpu_efficiency: f64,
    /// Wall time x cores / tasks, in nanoseconds: its granularity by wall time.
    pub core_ns: Option<f64>,
    /// The share of `core_ns` that the kernel alone takes.
    pub wall_efficiency: Option<f64>,
}

/// The smallest granularity at which an efficiency holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metg {
    /// The time that defines the granularity. By CPU time per task the number of cores cancels out.
    /// By wall time x cores / tasks, as Task Bench defines it, idle cores count.
    pub time: Time,
    /// The efficiency: 0.5, 0.9 or 0.95.
    pub efficiency: f64,
    pub state: MetgState,
    /// The granularity, or why none was found.
    #[serde(flatten)]
    pub grain: Reading<Grain>,
}

/// A granularity at which an efficiency holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grain {
    /// Nanoseconds of one task, of which the share `efficiency` is work.
    pub ns: f64,
    /// Lower end of its 95 % interval. It is null where that end lies below the smallest measured
    /// task, or where there are too few processes.
    pub low: Option<f64>,
    /// Upper end of that interval. It is null where that end lies above the largest measured task,
    /// or where there are too few processes.
    pub high: Option<f64>,
}

/// What became of the search for a granularity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MetgState {
    /// It lies within the sweep.
    Found,
    /// The smallest measured task is efficient enough.
    Below,
    /// The largest measured task is not efficient enough.
    Above,
    /// No task of any size can be efficient enough: there are too few threads for the cores.
    Undefined,
    CannotTell,
}
