//! How small a task may be: METG, the minimum effective task granularity of Task Bench, with what
//! it was read from.

use serde::{Deserialize, Serialize};

use crate::{key::RowKey, missing::Reading, run_file::Time};

/// One sweep over the work inside each task of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Granularity {
    /// What names its rows; the parameters are those that all of them share.
    #[serde(flatten)]
    pub key: RowKey,
    /// Whether they are tasks that the scheduler sees.
    pub creates_task: Option<bool>,
    /// Cores that the process could use.
    pub cores: Option<u64>,
    /// Workers, by the runtime's own account.
    pub workers: Option<u64>,
    /// The fewest and the most threads that ran in a sample of it: each used at least 5 % of the
    /// sample's CPU time.
    pub threads: Option<(u64, u64)>,
    /// What was measured, or why there is nothing to show.
    #[serde(flatten)]
    pub figures: Reading<Grains>,
}

/// The figures of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grains {
    /// What was measured, from the smallest work on.
    pub points: Vec<GrainPoint>,
    /// The smallest granularity for 50, 90 and 95 %, by CPU time and then by wall time.
    pub metg: Vec<Metg>,
}

/// Tasks with one work. Medians over processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GrainPoint {
    /// CPU time of the work that was asked for, in nanoseconds.
    pub work_ns: u64,
    /// Its steps of the kernel.
    pub steps: u64,
    /// CPU time per task, in nanoseconds: its granularity by CPU time.
    pub cpu_ns: f64,
    /// The share of it that the kernel alone takes.
    pub cpu_efficiency: f64,
    /// Wall time x cores / tasks, in nanoseconds: its granularity by wall time.
    pub core_ns: Option<f64>,
    /// The share of it that the kernel alone takes.
    pub wall_efficiency: Option<f64>,
}

/// The smallest granularity at which an efficiency holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metg {
    /// By which time: CPU time per task, from which the number of cores cancels, or wall time x
    /// cores / tasks, as Task Bench defines it: idle cores count.
    pub time: Time,
    /// The efficiency: 0.5, 0.9 or 0.95.
    pub efficiency: f64,
    /// What became of the search.
    pub state: MetgState,
    /// The granularity in nanoseconds, where it was found: so long is a task, and `efficiency` of
    /// that is work.
    pub ns: Option<f64>,
    /// Lower end of its 95 % interval; null where that lies below the smallest measured, or there
    /// are too few processes.
    pub low: Option<f64>,
    /// Upper end; null where that lies above the largest measured, or there are too few processes.
    pub high: Option<f64>,
    /// Why it was not found.
    pub reason: Option<String>,
}

/// What became of the search for a granularity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetgState {
    /// It lies within the sweep.
    Found,
    /// The smallest measured task was efficient enough.
    Below,
    /// The largest measured task was not.
    Above,
    /// No task of any size can be: too few threads for the cores.
    Undefined,
    /// It cannot be told.
    CannotTell,
}
