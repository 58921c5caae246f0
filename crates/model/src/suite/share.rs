//! Tables that are read as shares of each runtime's own base, and what was claimed of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Reads a table as what remains of each runtime's baseline: a variant that takes twice its CPU
/// time has 50 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShareOf {
    /// What one task of the table consists of: `node`.
    pub unit: String,
    /// How many of them it has.
    pub count: u64,
    /// A variant whose CPU time is no part of what is compared: a second share is without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtract: Option<String>,
    /// Published shares in percent, by `runtime:variant`.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimOf {
    /// What the first variant does in a second of CPU time, as a share of what the other does.
    #[default]
    Throughput,
    /// CPU time of the first variant as a share of its wall time: above 100 where more than one
    /// core is used. It has no other variant.
    Cores,
    /// What the variant does in a second of CPU time, as a share of the rate that was published for
    /// it ([`RatesOf`](super::RatesOf)). It has no other variant.
    Published,
    /// The peak memory of the first variant as a share of the other's, in a table of streams: each
    /// less that of one byte (`--metrics rss`).
    Peak,
}

impl ClaimOf {
    fn is_throughput(&self) -> bool {
        *self == ClaimOf::Throughput
    }
}

/// What somebody claims of two variants of a runtime. The claim holds where the first, as a share
/// of the second, lies between the bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in the words of its source, in short.
    pub text: String,
    pub runtime: String,
    pub variant: String,
    /// The variant that it is compared with.
    #[serde(default)]
    pub than: String,
    /// The size of the first row, in a table with published rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The size of the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub than_size: Option<u64>,
    /// What the bounds are about.
    #[serde(default, skip_serializing_if = "ClaimOf::is_throughput")]
    pub of: ClaimOf,
    /// The least share in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// The largest share in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
}
