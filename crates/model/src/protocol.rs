//! Probe protocol 1: JSON Lines over stdin and stdout. `probes/PROTOCOL.md` is the text for authors
//! of probes.
//!
//! The tool asks ([`Request`]), the probe answers with exactly one line ([`Reply`]). Unknown fields
//! are ignored on both sides, so a field can be added without a new number; the meaning of a field
//! cannot change without one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    missing::Missing,
    params::{ParamValue, Params},
};

/// The protocol this build speaks.
pub const PROTOCOL: u32 = 1;

/// Integers of a request stay below 2^53 so that every JSON reader keeps them exact (JavaScript's
/// numbers end there).
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// What the tool sends, one line each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Who are you, and what can you do? Always the first message.
    Describe {
        /// The protocol that the tool speaks.
        protocol: u32,
    },
    /// Perform a workload and time it.
    Run(RunRequest),
    /// End yourself; no reply is expected.
    Exit,
}

/// One timed measurement, asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// A number that the probe copies into its sample; tells a late answer from the one that was
    /// asked for.
    pub id: u64,
    /// Which workload.
    pub workload: String,
    /// Which way of doing it.
    pub variant: String,
    /// How many tasks (or elements, or bytes: the workload says which).
    pub size: u64,
    /// How often the workload is repeated inside the one timed sample.
    pub iterations: u64,
    /// Parameters of the workload; what is absent takes the default that the description names.
    #[serde(default)]
    pub params: Params,
    /// Fresh each round, at most [`MAX_INTEGER`].
    pub seed: u64,
}

/// What a probe sends, one line each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// The answer to `describe`.
    Description(Description),
    /// The answer to `run`.
    Sample(Sample),
    /// The answer to anything that could not be done.
    Error {
        /// What failed, on what, and what to do.
        message: String,
        /// The protocol that the probe speaks, when that is what failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol: Option<u32>,
        /// Whether the runtime is not on this machine, which is no defect of the probe.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missing: bool,
        /// What to do about it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
}

/// What a probe says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The protocol that the probe speaks.
    pub protocol: u32,
    /// What runs the tasks.
    pub runtime: Runtime,
    /// How fine its clocks are.
    pub clock: Clock,
    /// How many workers the runtime uses, where that can be said.
    #[serde(default)]
    pub workers: Option<u64>,
    /// Whether its code is compiled while it runs, and gets cheaper over hundreds of milliseconds:
    /// JVM, V8.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jit: bool,
    /// How much work, in milliseconds, brings it back after a pause: Go's monitor thread interrupts
    /// the others all the time after it slept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ms: Option<u64>,
    /// What it can do.
    pub workloads: Vec<Workload>,
}

/// What runs tasks, with its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// `asyncio`, `tokio`, ...
    pub name: String,
    /// `python`, `rust`, ...
    pub language: String,
    /// The version of the runtime: `3.11.7`.
    pub version: String,
    /// The compiler or interpreter behind it: `CPython 3.11.7 (GCC 12.2.0)`.
    #[serde(default)]
    pub toolchain: String,
}

/// The smallest difference that the probe's clocks can show, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Of the monotonic wall clock.
    pub wall_resolution_ns: u64,
    /// Of the process CPU clock.
    pub cpu_resolution_ns: u64,
}

/// A workload as one probe offers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// `fanout`, `nop`, ...
    pub name: String,
    /// The parameters it understands.
    #[serde(default)]
    pub params: Vec<Param>,
    /// The ways of doing it.
    pub variants: Vec<Variant>,
}

/// A parameter of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What an absent value means.
    pub default: ParamValue,
    /// The words it may be; empty for integers and flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ParamValue>,
    /// One line for people.
    #[serde(default)]
    pub help: String,
}

/// One way of doing a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// `gather`, `multi_thread/spawn`, ...
    pub name: String,
    /// Whether each unit is a task that the scheduler sees. `join_all` and a plain await are not.
    pub creates_task: bool,
    /// Parameter values to which this variant is limited: `{"order": ["ordered"]}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, Vec<ParamValue>>,
    /// The largest size it can bear (threads, memory), with the reason in `note`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u64>,
    /// Known, but not to be had in this toolchain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<Missing>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One timed measurement, answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The `id` of the request. A probe of few lines may leave it out.
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

/// An unsigned 64-bit check value, written as a JSON integer or (JavaScript) as a decimal string.
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
            // An answer that is absent says so already; the others would only name our type.
            Err(error) if error.to_string().starts_with("missing field") => Err(error),
            Err(_) => Err(serde::de::Error::custom("answer is not a 64-bit unsigned integer")),
        }
    }
}

impl Description {
    /// The workload of that name, if the probe offers it.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}

impl Workload {
    /// The parameter of that name, if the workload has it.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The variant of that name, if the workload has it.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Whether the workload understands all of `params`, each with an allowed value.
    pub fn accepts(&self, params: &Params) -> bool {
        params.iter().all(|(name, value)| {
            self.param(name).is_some_and(|param| param.choices.is_empty() || param.choices.contains(value))
        })
    }
}

impl Variant {
    /// Whether this variant can be run with `params` (which the workload accepts).
    pub fn allows(&self, params: &Params) -> bool {
        self.only.iter().all(|(name, values)| params.get(name).is_none_or(|value| values.contains(value)))
    }
}

/// The parameter that every workload may be sent: `true` asks for an instrumented run, whose time
/// is not kept, in which every task is counted by what it did.
pub const VERIFY: &str = "verify";
/// The parameter that every workload may be sent: `true` asks for the share of creation in `extra`.
pub const PHASES: &str = "phases";
