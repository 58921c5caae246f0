//! Makes a `run` request into a [`Run`]. The tool has checked the request against the description
//! before sending it (`probes/PROTOCOL.md`).

use serde_json::{Map, Value};

/// The content of a `run` request.
#[derive(Debug, Clone)]
pub struct Run {
    /// The number to copy into the sample.
    pub id: u64,
    /// The number of tasks (or steps: the workload says which), at least 1.
    pub size: u64,
    /// How often the workload is done inside the one timed part, at least 1.
    pub iterations: u64,
    /// At most 2^53 - 1.
    pub seed: u64,
    /// Whether every task's execution is counted by what it did. Time is not kept then.
    pub verify: bool,
    /// Whether the sample tells the share of creation.
    pub phases: bool,
    pub(super) params: Map<String, Value>,
}

impl Run {
    /// The same run with one iteration. It serves a workload that sets each iteration up untimed
    /// and adds up their timings ([`Timing::add`](super::Timing::add)).
    pub fn once(&self) -> Run { Run { iterations: 1, ..self.clone() } }

    /// The value of a declared parameter that is an integer.
    ///
    /// # Panics
    /// If the workload declares no such parameter. This is a mistake in the probe, and the reply
    /// names it.
    pub fn integer(&self, name: &str) -> u64 { self.params[name].as_u64().expect("an integer that is declared") }

    /// The value of a declared parameter that is a word.
    ///
    /// # Panics
    /// As [`Run::integer`].
    pub fn word(&self, name: &str) -> &str { self.params[name].as_str().expect("a word that is declared") }

    /// The value of a declared parameter that is a flag.
    ///
    /// # Panics
    /// As [`Run::integer`].
    pub fn flag(&self, name: &str) -> bool { self.params[name].as_bool().expect("a flag that is declared") }
}
