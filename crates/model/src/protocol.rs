//! Probe protocol 1: JSON Lines over stdin and stdout. `probes/PROTOCOL.md` describes it for
//! authors of probes.
//!
//! The tool sends a [`Request`], and the probe answers with exactly one line, a [`Reply`]. Both
//! sides ignore unknown fields, so a new field needs no new protocol number. A field that changes
//! its meaning needs one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    missing::{Missing, Reading},
    params::{ParamValue, Params},
};

/// The protocol that this build speaks.
pub const PROTOCOL: u32 = 1;

/// The largest integer of a request. Below 2^53 every JSON reader keeps integers exact
/// (JavaScript's numbers end there).
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// What the tool sends, one line per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Asks what the probe is and what it offers. It is always the first request.
    Describe {
        /// The protocol that the tool speaks.
        protocol: u32,
    },
    /// Asks the probe to perform a workload and time it.
    Run(RunRequest),
    /// Tells a server that its connections are made and the timed part begins.
    Begin {
        /// The `id` of the `run` request that it serves.
        id: u64,
    },
    /// Tells a server that the timed part is over. The sample is the answer.
    Stop {
        /// The `id` of the `run` request that it serves.
        id: u64,
    },
    /// Asks the probe to end. No reply is expected.
    Exit,
}

/// A request for one timed sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRequest {
    /// A number that the probe copies into its sample. It tells a late answer from the expected
    /// one.
    pub id: u64,
    pub workload: String,
    pub variant: String,
    /// The number of tasks (or elements, or bytes: the workload says which).
    pub size: u64,
    /// How often the workload is repeated inside the one timed sample.
    pub iterations: u64,
    /// Parameters of the workload. An absent one takes the default that the description names.
    #[serde(default)]
    pub params: Params,
    /// Different in each round, and at most [`MAX_INTEGER`].
    pub seed: u64,
}

/// What a probe sends, one line per reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// The answer to `describe`.
    Description(Description),
    /// The answer to `run`, or to `stop` where that began with [`Serving`].
    Sample(Sample),
    /// The answer to a `run` that asks for a server.
    Serving(Serving),
    /// The answer to `begin`.
    Began {
        /// The `id` of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
    },
    /// The answer to a request that failed.
    Error {
        /// What failed, on what, and what to do.
        message: String,
        /// The protocol that the probe speaks, where the protocol is what failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol: Option<u32>,
        /// Whether the runtime is not on this machine, which is no defect of the probe.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missing: bool,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
}

/// A server that waits for requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Serving {
    /// The `id` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The port of 127.0.0.1 on which it listens.
    pub port: u16,
    /// Name and version of the server: `hyper 1.11.0`.
    #[serde(default)]
    pub server: String,
}

/// What a probe says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Description {
    /// The protocol that the probe speaks.
    pub protocol: u32,
    pub runtime: Runtime,
    pub clock: Clock,
    /// How many workers the runtime uses, where the probe can say.
    #[serde(default)]
    pub workers: Option<u64>,
    /// Whether its code is compiled while it runs (JVM, V8). Such code gets cheaper over hundreds
    /// of milliseconds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jit: bool,
    /// Milliseconds of CPU time that a fresh process takes before its cost can have levelled off.
    /// .NET rests before that on a level that is not its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ms: Option<u64>,
    /// Milliseconds of work that bring the runtime back after a pause. Go's monitor thread
    /// interrupts the other threads all the time after it slept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ms: Option<u64>,
    /// The runtime's own counters: what reads each, or why there is none. A probe without any is
    /// never asked for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Reading<String>>,
    pub workloads: Vec<Workload>,
}

/// The runtime, with its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runtime {
    /// For example `asyncio` or `tokio`.
    pub name: String,
    /// For example `python` or `rust`.
    pub language: String,
    /// For example `3.11.7`.
    pub version: String,
    /// The compiler or interpreter behind the runtime: `CPython 3.11.7 (GCC 12.2.0)`.
    #[serde(default)]
    pub toolchain: String,
}

/// The smallest difference that each clock of the probe can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// Resolution of the monotonic wall clock.
    pub wall_resolution_ns: u64,
    /// Resolution of the process CPU clock.
    pub cpu_resolution_ns: u64,
}

/// A workload as one probe offers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workload {
    /// For example `fanout` or `nop`.
    pub name: String,
    #[serde(default)]
    pub params: Vec<Param>,
    /// The ways of doing the workload.
    pub variants: Vec<Variant>,
}

/// A parameter of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Param {
    pub name: String,
    /// The value that an absent parameter takes.
    pub default: ParamValue,
    /// The words that it allows; empty for integers and flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ParamValue>,
    /// Words that this toolchain does not have, and why; `*` stands for every value but the
    /// default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unavailable: BTreeMap<String, Missing>,
    /// One line for people.
    #[serde(default)]
    pub help: String,
}

/// One way of doing a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// For example `gather` or `multi_thread/spawn`.
    pub name: String,
    /// Whether each unit is a task that the scheduler sees. `join_all` and a plain await create
    /// none.
    pub creates_task: bool,
    /// The parameter values that this variant is limited to: `{"order": ["ordered"]}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, Vec<ParamValue>>,
    /// The largest size that it can bear (threads, memory). `note` gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u64>,
    /// Why this toolchain does not have the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<Missing>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The answer to a [`RunRequest`]: one timed sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// The `id` of the request. A minimal probe may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Monotonic time of all iterations together.
    pub wall_ns: u64,
    /// Process CPU time (user and system, all threads) of all iterations together.
    pub cpu_ns: u64,
    /// The sum of all iterations' answers, modulo 2^64.
    pub answer: Answer,
    /// What else the probe knows: `create_wall_ns`, `create_cpu_ns`, `workers_seen`, ...
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// An unsigned 64-bit check value. JSON holds it as an integer or, for JavaScript, a decimal
/// string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Answer(pub u64);

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Integer(u64),
            Text(String),
        }
        match Form::deserialize(deserializer) {
            Ok(Form::Integer(integer)) => Ok(Answer(integer)),
            Ok(Form::Text(text)) => text.parse().map(Answer).map_err(|_| {
                serde::de::Error::custom(format!("answer {text:?} is not a 64-bit unsigned integer"))
            }),
            // serde's own message says that the answer is absent; its other messages would name
            // only `Form`.
            Err(error) if error.to_string().starts_with("missing field") => Err(error),
            Err(_) => Err(serde::de::Error::custom("answer is not a 64-bit unsigned integer")),
        }
    }
}

impl Description {
    /// The workload with that name, if the probe offers it.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}

impl Workload {
    /// The parameter with that name, if the workload has it.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The variant with that name, if the workload has it.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Whether the workload has all of `params` and allows their values.
    pub fn accepts(&self, params: &Params) -> bool {
        params.iter().all(|(name, value)| self.param(name).is_some_and(|param| param.has(value)))
    }
}

impl Param {
    /// Whether the value is one of its words, where it lists any, and is to be had here.
    pub fn has(&self, value: &ParamValue) -> bool {
        (self.choices.is_empty() || self.choices.contains(value)) && self.why_not(value).is_none()
    }

    /// Why a value that the workload knows is not to be had in this toolchain.
    pub fn why_not(&self, value: &ParamValue) -> Option<&Missing> {
        let word = match value {
            ParamValue::Word(word) => self.unavailable.get(word),
            _ => None,
        };
        let others = || self.unavailable.get(OTHERS).filter(|_| *value != self.default);
        word.or_else(others)
    }
}

/// Stands for every value of a parameter but its default, where those are not to be had.
pub const OTHERS: &str = "*";

impl Variant {
    /// Whether this variant runs with `params`, which the workload accepts.
    pub fn allows(&self, params: &Params) -> bool {
        self.only.iter().all(|(name, values)| params.get(name).is_none_or(|value| values.contains(value)))
    }
}

/// A parameter that every workload takes. `true` asks for an instrumented run that counts every
/// task by what it did; the time of that run is not kept.
pub const VERIFY: &str = "verify";
/// A parameter that every workload takes where the description has `counters`. It asks for what the
/// runtime's own counters rose by while the request was performed, in `extra.counters`.
pub const COUNTERS: &str = "counters";
/// A value of [`COUNTERS`]: those of memory.
pub const MEMORY: &str = "memory";
/// A value of [`COUNTERS`] where the description's counters have that name: `bytes` alone, within
/// 1 %, at less cost than [`MEMORY`].
pub const ROUGH_BYTES: &str = "rough_bytes";
/// A value of [`COUNTERS`]: those of the garbage collector.
pub const COLLECTOR: &str = "collector";
/// A parameter that every workload takes. `true` asks for the share of creation in `extra`.
pub const PHASES: &str = "phases";
