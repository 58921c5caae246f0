//! The fingerprint of a machine: what must be equal before two results may be divided by one
//! another.

use serde::{Deserialize, Serialize};

use crate::missing::Reading;

/// The machine that a run was measured on. Every reading that failed says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// For example `AMD EPYC 7763 64-Core Processor`.
    pub cpu_model: Reading<String>,
    /// Logical CPUs that this process may use.
    pub cpus_usable: Reading<u64>,
    /// Logical CPUs of the machine.
    pub cpus: Reading<u64>,
    /// Hardware threads per core; 1 means no SMT.
    pub threads_per_core: Reading<u64>,
    pub numa_nodes: Reading<u64>,
    /// CPU quota of the container, in CPUs; missing where there is none.
    pub cpu_quota: Reading<f64>,
    pub governor: Reading<String>,
    pub memory_bytes: Reading<u64>,
    /// Kernel name and release.
    pub kernel: Reading<String>,
    /// The clock that the kernel reads the time from.
    pub clock_source: Reading<String>,
    /// Load average over one minute when the run began.
    pub load_1m: Reading<f64>,
    /// Whether the machine runs on a hypervisor.
    pub virtualised: Reading<bool>,
    /// Hash of everything above that does not change between two runs; results are divided only
    /// where it is equal.
    pub fingerprint: String,
}

/// What else used the machine during a round.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Microseconds in which some task waited for a CPU (PSI `some`, total), since the previous
    /// round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_us: Option<u64>,
    /// Time stolen by the hypervisor since the previous round, in clock ticks of 10 ms over all
    /// CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ticks: Option<u64>,
    /// Load average over one minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_1m: Option<f64>,
}
