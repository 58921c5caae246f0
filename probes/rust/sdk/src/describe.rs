//! What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

use serde_json::{Map, Value, json};

use super::{PROTOCOL, TOOLCHAIN, clock, request::Run, timing::Timing};

/// A runtime and the workloads that it performs.
pub struct Probe {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) workers: Option<u64>,
    pub(super) workloads: Vec<Workload>,
}

/// What is done, with its parameters and the ways of doing it.
pub struct Workload {
    pub(super) name: String,
    pub(super) params: Vec<Param>,
    pub(super) variants: Vec<Variant>,
}

/// A parameter of a workload; the type of its default is its type.
#[derive(Clone)]
pub struct Param {
    pub(super) name: String,
    pub(super) default: Value,
    pub(super) choices: Vec<Value>,
    help: String,
}

/// Does the work of a request. An `Err` is what the reply says failed, on what, and what to do.
type Perform = Box<dyn Fn(&Run) -> Result<Timing, String>>;

/// One way of doing a workload.
pub struct Variant {
    pub(super) name: String,
    pub(super) only: Vec<(String, Vec<Value>)>,
    pub(super) max_size: Option<u64>,
    pub(super) perform: Perform,
    creates_task: bool,
    note: String,
}

impl Probe {
    /// A probe of the runtime `name` in that version.
    pub fn new(name: &str, version: &str) -> Self {
        Probe { name: name.to_owned(), version: version.to_owned(), workers: None, workloads: Vec::new() }
    }

    /// Says how many workers the runtime uses.
    pub fn workers(mut self, workers: u64) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Adds a workload.
    pub fn workload(mut self, workload: Workload) -> Self {
        self.workloads.push(workload);
        self
    }

    /// The reply to `describe`. Measures the clocks' resolution, which takes about a millisecond.
    pub fn description(&self) -> Value {
        json!({
            "type": "description",
            "protocol": PROTOCOL,
            "runtime": {
                "name": self.name,
                "language": "rust",
                "version": self.version,
                "toolchain": TOOLCHAIN,
            },
            "clock": {
                "wall_resolution_ns": clock::resolution_ns(clock::wall_ns),
                "cpu_resolution_ns": clock::resolution_ns(clock::cpu_ns),
            },
            "workers": self.workers,
            "workloads": self.workloads.iter().map(Workload::description).collect::<Vec<_>>(),
        })
    }
}

impl Workload {
    /// A workload without parameters or variants yet.
    pub fn new(name: &str) -> Self {
        Workload { name: name.to_owned(), params: Vec::new(), variants: Vec::new() }
    }

    /// Adds a parameter.
    pub fn param(mut self, param: Param) -> Self {
        self.params.push(param);
        self
    }

    /// Adds a way of doing it.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variants.push(variant);
        self
    }

    fn description(&self) -> Value {
        json!({
            "name": self.name,
            "params": self.params.iter().map(Param::description).collect::<Vec<_>>(),
            "variants": self.variants.iter().map(Variant::description).collect::<Vec<_>>(),
        })
    }
}

impl Param {
    /// A parameter that takes what its `default` is: a flag, or a non-negative integer.
    pub fn new(name: &str, default: impl Into<Value>, help: &str) -> Self {
        Param { name: name.to_owned(), default: default.into(), choices: Vec::new(), help: help.to_owned() }
    }

    /// A parameter that takes one of `words`, the first where it is absent.
    pub fn word(name: &str, words: &[&str], help: &str) -> Self {
        let choices: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
        Param { default: choices.first().cloned().unwrap_or_default(), choices, ..Param::new(name, 0, help) }
    }

    fn description(&self) -> Value {
        json!({ "name": self.name, "default": self.default, "choices": self.choices, "help": self.help })
    }
}

impl Variant {
    /// A way of doing a workload in which each unit is a task that the scheduler sees.
    pub fn new(name: &str, perform: impl Fn(&Run) -> Result<Timing, String> + 'static) -> Self {
        Variant {
            name: name.to_owned(),
            only: Vec::new(),
            max_size: None,
            perform: Box::new(perform),
            creates_task: true,
            note: String::new(),
        }
    }

    /// Says that a unit is no task of its own, so that the figures are a lower bound.
    pub fn without_tasks(mut self) -> Self {
        self.creates_task = false;
        self
    }

    /// Limits a parameter to some of its values; the first of them is what an absent value means here, unless the
    /// workload's default is among them.
    pub fn only(mut self, param: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.only.push((param.to_owned(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Says what size it can bear at most, and why.
    pub fn max_size(mut self, max_size: u64, reason: &str) -> Self {
        self.max_size = Some(max_size);
        self.note(reason)
    }

    /// Adds a line for people.
    pub fn note(mut self, note: &str) -> Self {
        self.note = note.to_owned();
        self
    }

    fn description(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), self.name.clone().into());
        fields.insert("creates_task".to_owned(), self.creates_task.into());
        if !self.only.is_empty() {
            let only: Map<String, Value> =
                self.only.iter().map(|(name, values)| (name.clone(), values.clone().into())).collect();
            fields.insert("only".to_owned(), only.into());
        }
        if let Some(max_size) = self.max_size {
            fields.insert("max_size".to_owned(), max_size.into());
        }
        if !self.note.is_empty() {
            fields.insert("note".to_owned(), self.note.clone().into());
        }
        fields.into()
    }
}
