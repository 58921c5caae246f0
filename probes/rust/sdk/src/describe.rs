//! The description of a probe. Its fields are those of protocol 1 (`probes/PROTOCOL.md`). The tool
//! checks them when it greets the probe.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{CPU, Run, Timing, WALL, resolution_ns};

/// The protocol that this probe speaks.
pub const PROTOCOL: u64 = 1;

/// The name and version of the compiler that built this: `rustc 1.95.0 (59807616e 2026-04-14)`.
pub const TOOLCHAIN: &str = env!("TASKSCALE_TOOLCHAIN");

/// A runtime, and the workloads that it performs.
pub struct Probe {
    /// The runtime's name.
    pub name: &'static str,
    /// The runtime's version.
    pub version: String,
    /// How many workers the runtime uses, where that can be said.
    pub workers: Option<u64>,
    pub workloads: Vec<Workload>,
}

/// A workload, and the ways of doing it.
#[derive(Serialize)]
pub struct Workload {
    pub name: &'static str,
    pub params: Vec<Param>,
    pub variants: Vec<Variant>,
}

/// A parameter of a workload.
#[derive(Serialize)]
pub struct Param {
    pub name: &'static str,
    /// What an absent value means: a flag, a non-negative integer or a word.
    pub default: Value,
    /// The words that it may be. Flags and integers have none.
    pub choices: &'static [&'static str],
    /// A line for people to read.
    pub help: &'static str,
}

/// One way of doing a workload.
#[derive(Serialize)]
pub struct Variant {
    pub name: String,
    /// Whether each unit is a task that the scheduler sees. The figures are a lower bound if not.
    pub creates_task: bool,
    /// What else there is to say: `json!({"only": {"order": ["ordered"]}, "note": "one call"})`.
    #[serde(flatten)]
    pub about: Value,
    #[serde(skip)]
    pub perform: Box<Perform>,
}

/// Does the work of a request. An `Err` tells for the reply what failed, on what, and what to do.
pub type Perform = dyn Fn(&Run) -> Result<Timing, String>;

impl Probe {
    /// The reply to `describe`. Measures the clocks' resolution, which takes about a millisecond.
    pub fn description(&self) -> Value {
        json!({
            "type": "description", "protocol": PROTOCOL, "workers": self.workers, "workloads": self.workloads,
            "runtime": {"name": self.name, "language": "rust", "version": self.version, "toolchain": TOOLCHAIN},
            "clock": {"wall_resolution_ns": resolution_ns(WALL), "cpu_resolution_ns": resolution_ns(CPU)},
        })
    }
}
