//! Makes a `run` request into a [`Run`]. The tool has checked the request against the description
//! before sending it (`probes/PROTOCOL.md`).

use super::describe::{Perform, Probe};
use serde_json::{Map, Value, json};

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

impl Probe {
    /// The function that performs a request, and its run. Every declared parameter has a value in
    /// the run: the given one, or else the default, or, if the variant excludes the default, the
    /// first value that it allows.
    pub(super) fn request(&self, message: &Value) -> Result<(&Perform, Run), String> {
        let at = known(&self.0["workloads"], &message["workload"], "workload")?;
        let workload = &self.0["workloads"][at];
        let variant = known(&workload["variants"], &message["variant"], "variant")?;
        let mut params = Map::new();
        for param in workload["params"].as_array().into_iter().flatten() {
            let name = param["name"].as_str().unwrap_or_default();
            let allowed = workload["variants"][variant]["only"][name].as_array();
            let first = allowed.filter(|allowed| !allowed.contains(&param["default"])).map(|allowed| &allowed[0]);
            params.insert(name.to_owned(), message["params"].get(name).or(first).unwrap_or(&param["default"]).clone());
        }
        let number = |name| message[name].as_u64().ok_or(format!("the request has no integer {name:?}"));
        let [id, size, iterations, seed] = ["id", "size", "iterations", "seed"].map(number);
        let [verify, phases] = ["verify", "phases"].map(|name| message["params"][name] == true);
        Ok((&self.1[at][variant], Run { id: id?, size: size?, iterations: iterations?, seed: seed?, verify, phases, params }))
    }
}

/// The position of a name in a list.
fn known(all: &Value, name: &Value, what: &str) -> Result<usize, String> {
    let names: Vec<&Value> = all.as_array().into_iter().flatten().map(|one| &one["name"]).collect();
    let unknown = || format!("unknown {what} {name}; known here: {}", json!(names));
    names.iter().position(|one| *one == name).ok_or_else(unknown)
}
