//! The description of a probe. Its fields are those of protocol 1 (`probes/PROTOCOL.md`).

use super::{PROTOCOL, TOOLCHAIN, clock, request::Run, timing::Timing};
use serde_json::{Value, json};

/// Does the work of a request. An `Err` tells for the reply what failed, on what, and what to do.
pub(super) type Perform = Box<dyn Fn(&Run) -> Result<Timing, String>>;

/// A runtime and the workloads that it performs: the description, and the function for each variant
/// of each workload.
pub struct Probe(pub(super) Value, pub(super) Vec<Vec<Perform>>);

/// A workload with its parameters and variants.
pub struct Workload(Value, Vec<Perform>);

/// A parameter of a workload. It has the type of its default.
#[derive(Clone)]
pub struct Param(Value);

/// One way of doing a workload.
pub struct Variant(Value, Perform);

impl Probe {
    /// Makes a probe of the runtime `name` in this version.
    pub fn new(name: &str, version: &str) -> Self {
        let runtime = json!({"name": name, "language": "rust", "version": version, "toolchain": TOOLCHAIN});
        Probe(json!({"type": "description", "protocol": PROTOCOL, "runtime": runtime, "workloads": []}), Vec::new())
    }

    /// Says how many workers the runtime uses.
    pub fn workers(mut self, workers: u64) -> Self { self.0["workers"] = workers.into(); self }

    /// Adds a workload.
    pub fn workload(mut self, one: Workload) -> Self { push(&mut self.0["workloads"], one.0); self.1.push(one.1); self }

    /// The reply to `describe`. Measures the clocks' resolution, which takes about a millisecond.
    pub fn description(&self) -> Value {
        let ([wall, cpu], mut said) = ([clock::wall_ns, clock::cpu_ns].map(clock::resolution_ns), self.0.clone());
        said["clock"] = json!({"wall_resolution_ns": wall, "cpu_resolution_ns": cpu});
        said
    }
}

impl Workload {
    /// Makes a workload that has no parameters or variants yet.
    pub fn new(name: &str) -> Self { Workload(json!({"name": name, "params": [], "variants": []}), Vec::new()) }

    /// Adds a parameter.
    pub fn param(mut self, param: Param) -> Self { push(&mut self.0["params"], param.0); self }

    pub fn variant(mut self, one: Variant) -> Self { push(&mut self.0["variants"], one.0); self.1.push(one.1); self }
}

impl Param {
    /// Makes a parameter of the type of its `default`: a flag, or a non-negative integer.
    pub fn new(name: &str, default: impl Into<Value>, help: &str) -> Self { Param::of(name, default.into(), &[], help) }

    /// Makes a parameter that takes one of `words`. Its default is the first.
    pub fn word(name: &str, words: &[&str], help: &str) -> Self { Param::of(name, words[0].into(), words, help) }

    fn of(name: &str, default: Value, choices: &[&str], help: &str) -> Self {
        Param(json!({"name": name, "default": default, "choices": choices, "help": help}))
    }
}

impl Variant {
    /// Makes a variant in which each unit is a task that the scheduler sees.
    pub fn new(name: &str, perform: impl Fn(&Run) -> Result<Timing, String> + 'static) -> Self {
        Variant(json!({"name": name, "creates_task": true, "only": {}}), Box::new(perform))
    }

    /// Limits a parameter to some of its values. An absent value then means the first of them,
    /// unless the workload's default is among them.
    pub fn only(mut self, param: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.0["only"][param] = values.into_iter().map(Into::into).collect();
        self
    }

    /// Says that a unit is no task of its own. The figures are then a lower bound.
    pub fn without_tasks(mut self) -> Self { self.0["creates_task"] = false.into(); self }

    /// Sets the largest size that the variant can bear, and the reason.
    pub fn max_size(mut self, size: u64, reason: &str) -> Self { self.0["max_size"] = size.into(); self.note(reason) }

    /// Adds a line for people to read.
    pub fn note(mut self, note: &str) -> Self { self.0["note"] = note.into(); self }
}

fn push(list: &mut Value, one: Value) { list.as_array_mut().expect("what is declared is in lists").push(one); }
