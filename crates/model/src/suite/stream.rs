//! Tables that are read as how many bytes a second each way consumes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Block;
use crate::answer::Rule;

/// Reads a table as MiB a second, by CPU time and by wall time, beside the least that such a pass
/// can cost on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamOf {
    /// Rows that tell what the machine asks for, as `runtime:variant`. They are measured whichever
    /// runtimes the user names. Rows in the mode `none` are shown above the others; the cheapest of
    /// those in the mode of the table is what every row is divided by.
    #[serde(default)]
    pub floors: Vec<String>,
    /// Pairs of variants, each of one runtime, that differ in one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrast>,
    /// Where the published figures are from: `M2 MacBook Air`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub published_on: String,
    /// Published figures, by `runtime:variant`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, PublishedPass>,
}

/// Two variants that differ in one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// What they differ in: `unsafe / safe`.
    pub name: String,
    pub runtime: String,
    pub one: String,
    pub other: String,
}

/// What was published of one pass. Throughput is computed from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedPass {
    /// The bytes of the pass.
    pub bytes: u64,
    pub wall_ms: f64,
    pub cpu_ms: f64,
}

impl StreamOf {
    /// Whether a variant of a runtime is one of the floors.
    pub fn is_floor(&self, runtime: &str, variant: &str) -> bool {
        self.floors.iter().any(|floor| floor.split_once(':') == Some((runtime, variant)))
    }

    /// Whether a runtime has floors.
    pub fn has_floors_of(&self, runtime: &str) -> bool {
        self.runtimes().any(|name| name == runtime)
    }

    /// The runtimes that have floors.
    pub fn runtimes(&self) -> impl Iterator<Item = &str> {
        self.floors.iter().filter_map(|floor| Some(floor.split_once(':')?.0))
    }

    pub(super) fn check(&self, block: &Block) -> Result<(), String> {
        if block.answer.rule != Rule::Bytes {
            return Err("stream needs the rule bytes: no other task is a byte".into());
        }
        match self.floors.iter().find(|floor| !floor.contains(':')) {
            Some(floor) => Err(format!("floors are runtime:variant, not {floor:?}")),
            None => Ok(()),
        }
    }
}
