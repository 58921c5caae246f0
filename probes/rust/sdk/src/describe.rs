//! What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

use super::{PROTOCOL, TOOLCHAIN, clock, request::Run, timing::Timing};
use serde_json::{Value, json};

/// Does the work of a request. An `Err` is what the reply says failed, on what, and what to do.
pub(super) type Perform = Box<dyn Fn(&Run) -> Result<Timing, String>>;

/// A runtime and the workloads that it performs: what the description says, and how each variant of
/// each workload is done.
pub struct Probe(pub(super) Value, pub(super) Vec<Vec<Perform>>);

/// What is done, with its parameters and the ways of doing it.
pub struct Workload(Value, Vec<Perform>);

/// A parameter of a workload; the type of its default is its type.
#[derive(Clone)]
pub struct Param(Value);

/// One way of doing a workload.
pub struct Variant(Value, Perform);

impl Probe {
    /// A probe of the runtime `name` in that version.
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
    /// A workload without parameters or variants yet.
    pub fn new(name: &str) -> Self { Workload(json!({"name": name, "params": [], "variants": []}), Vec::new()) }

    /// Adds a parameter.
    pub fn param(mut self, param: Param) -> Self { push(&mut self.0["params"], param.0); self }

    /// Adds a way of doing it.
    pub fn variant(mut self, one: Variant) -> Self { push(&mut self.0["variants"], one.0); self.1.push(one.1); self }
}

impl Param {
    /// A parameter that takes what its `default` is: a flag, or a non-negative integer.
    pub fn new(name: &str, default: impl Into<Value>, help: &str) -> Self { Param::of(name, default.into(), &[], help) }

    /// A parameter that takes one of `words`, the first where it is absent.
    pub fn word(name: &str, words: &[&str], help: &str) -> Self { Param::of(name, words[0].into(), words, help) }

    fn of(name: &str, default: Value, choices: &[&str], help: &str) -> Self {
        Param(json!({"name": name, "default": default, "choices": choices, "help": help}))
    }
}

impl Variant {
    /// A way of doing a workload in which each unit is a task that the scheduler sees.
    pub fn new(name: &str, perform: impl Fn(&Run) -> Result<Timing, String> + 'static) -> Self {
        Variant(json!({"name": name, "creates_task": true, "only": {}}), Box::new(perform))
    }

    /// Limits a parameter to some of its values; the first of them is what an absent value means
    /// here, unless the workload's default is among them.
    pub fn only(mut self, param: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.0["only"][param] = values.into_iter().map(Into::into).collect();
        self
    }

    /// Says that a unit is no task of its own, so that the figures are a lower bound.
    pub fn without_tasks(mut self) -> Self { self.0["creates_task"] = false.into(); self }

    /// Says what size it can bear at most, and why.
    pub fn max_size(mut self, size: u64, reason: &str) -> Self { self.0["max_size"] = size.into(); self.note(reason) }

    /// Adds a line for people.
    pub fn note(mut self, note: &str) -> Self { self.0["note"] = note.into(); self }
}

fn push(list: &mut Value, one: Value) { list.as_array_mut().expect("what is declared is in lists").push(one); }
