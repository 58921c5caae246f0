//! Rows as shares of their runtime's own base.

use serde::{Deserialize, Serialize};

use super::Interval;

/// The rows of one table at one size, as what remains of the baseline of their runtime. A variant
/// that takes twice the CPU time of its baseline has 50 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    pub suite: String,
    pub table: String,
    /// The number of tasks of one iteration.
    pub size: u64,
    /// What one task consists of, and how many of them it has.
    pub unit: String,
    pub count: u64,
    /// The bases first, the cheapest before the others; then the largest share first.
    pub rows: Vec<Share>,
    /// Rows of the variant whose CPU time is subtracted for [`Share::percent_without`]; they are
    /// not among the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtracted: Vec<Share>,
    /// What was claimed, and whether it holds here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Judged>,
}

/// One row of [`Shares`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    pub runtime: String,
    /// The variant with its case.
    pub variant: String,
    /// Whether it is what the others of its runtime are divided by.
    pub is_base: bool,
    /// Its share in percent, paired by round; 100 for a base.
    pub percent: f64,
    /// 95 % interval of the share; missing with fewer than six processes.
    pub ci: Option<Interval>,
    /// CPU time per unit, in nanoseconds.
    pub unit_ns: f64,
    /// What it takes per unit more than its base, in nanoseconds.
    pub added_ns: f64,
    /// The share where the CPU time of the subtracted variant is taken off this row and its base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_without: Option<f64>,
    /// What a server did under load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// What was published, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
}

/// A server under a closed loop: medians over samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Served {
    /// The server as the probe names it.
    pub server: String,
    /// Responses a second, by wall time.
    pub per_s: f64,
    /// The share of one CPU that the generator used.
    pub generator_share: f64,
}

/// A claim and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    pub text: String,
    pub verdict: ClaimVerdict,
    /// One row as a share of the other in percent, with its 95 % interval.
    pub percent: Option<f64>,
    pub ci: Option<Interval>,
    /// Which row of which other.
    pub of: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The whole interval lies within the bounds.
    Confirmed,
    /// The whole interval lies outside of the bounds.
    Refuted,
    /// The interval contains a bound, or there is none.
    CannotTell,
    /// A row is missing.
    NotMeasured,
}

impl ClaimVerdict {
    /// The verdict in words.
    pub fn word(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "confirmed",
            ClaimVerdict::Refuted => "refuted",
            ClaimVerdict::CannotTell => "cannot tell",
            ClaimVerdict::NotMeasured => "not measured",
        }
    }
}
