//! `taskscale.guide/1`: what the programs of the guide printed, and the verdicts on its claims.
//! `probes/guide/README.md` says what a program prints.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{machine::Machine, missing::Missing, missing::Reading};

/// The schema of a file of the guide.
pub const SCHEMA: &str = "taskscale.guide/1";
/// The schema of what follows from one.
pub const VERDICTS: &str = "taskscale.guide-verdicts/1";

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    Header(Box<Header>),
    Said(Said),
    Ended(Ended),
    End(End),
}

/// What was asked for, when and on which machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Version of the tool.
    pub tool: String,
    pub command: Vec<String>,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    pub machine: Machine,
    /// The compiler as it calls itself.
    pub compiler: String,
    /// The programs that are to run, in this order.
    pub programs: Vec<Program>,
    /// Libraries beside Taskflow that were asked for, whether they are here or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<Library>,
    /// Why Taskflow's programs do not run, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_taskflow: Option<Missing>,
}

/// A library beside Taskflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Library {
    /// The name that is typed: `onetbb`.
    pub name: String,
    /// The compiler or runtime that it is built with.
    pub toolchain: Reading<String>,
    /// The program that a reader starts to do the same by hand: the compiler, `java` or `dotnet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// A program of the guide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// The name of its file without the ending: `28_barriers`. Of another library, its name and the
    /// first claim: `onetbb/28`.
    pub name: String,
    /// The claims that its first lines name.
    pub claims: Vec<u32>,
    /// What each of these claims says, so that it is known of one that was never come to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<String>,
    /// The library; absent for Taskflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
}

impl Program {
    /// What one of its claims says; `None` where that is not known.
    pub fn said_of(&self, claim: u32) -> Option<&str> {
        let at = self.claims.iter().position(|number| *number == claim)?;
        self.says.get(at).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// A line that a program printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Said {
    pub program: String,
    /// How often the program had been started before. Rounds are counted anew each time.
    pub sitting: u64,
    /// The line as it was printed.
    pub line: Value,
}

/// How a program ended for the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ended {
    pub program: String,
    /// Why its claims have no verdict; absent where it came to a good end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Missing>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct End {
    pub elapsed_s: f64,
    pub interrupted: bool,
    /// How many lines of each type stand before this one; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// How many lines of each type a file has between the first and the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Records {
    /// Lines that programs printed.
    pub said: u64,
    /// Ends of programs.
    pub ended: u64,
}

impl Records {
    /// Counts one more. The first line and the last are not counted.
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Header(_) | Record::End(_) => {}
            Record::Said(_) => self.said += 1,
            Record::Ended(_) => self.ended += 1,
        }
    }
}

/// What a program printed, by its kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    Claim(Claim),
    Untestable(Untestable),
    Sample(Sample),
}

/// A claim with what bears on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub claim: u32,
    pub text: String,
    /// `cpu`, `wall` or `none`.
    pub clock: String,
    /// The version of Taskflow, or of the library.
    #[serde(alias = "taskflow")]
    pub version: String,
    pub cores: u64,
    #[serde(default)]
    pub note: String,
    /// Whether the guide claims nothing of it: its bounds are the answer, and have no ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub question: bool,
    pub arms: Vec<Arm>,
    pub bounds: Vec<Bound>,
}

/// Something that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    pub name: String,
    /// Tasks of a sample.
    pub tasks: u64,
    /// What each sample must give.
    pub answer: u64,
    /// Where it stands on an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Flags of the compiler with which it is built as a program of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
}

/// What a claim bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    #[serde(flatten)]
    pub of: Of,
    pub name: String,
    /// A field of samples.
    pub metric: String,
    pub per: Per,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// `holds` where an interval that straddles the bound, and ends near it, is in favour of the
    /// claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<String>,
}

/// Whether a metric is of a task or of a whole sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Per {
    Task,
    Sample,
}

/// The arms of a bound, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Of {
    Value { one: String },
    Ratio { one: String, other: String },
    Difference { one: String, other: String },
    Effect { one: String, other: String },
    Spread { one: String, other: String },
    Slope { arms: Vec<String> },
    Crossover { ones: Vec<String>, others: Vec<String>, scale: f64, level: f64 },
    Report { arms: Vec<String> },
}

/// A claim, or one of its arms, that this machine cannot test. Without a remedy it is the library
/// that has no such thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untestable {
    pub claim: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    pub untestable: String,
    #[serde(default)]
    pub remedy: String,
}

/// What one sample of an arm took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub claim: u32,
    pub arm: String,
    pub round: u64,
    pub tasks: u64,
    pub cpu_ns: u64,
    pub wall_ns: u64,
    pub answer: u64,
    /// Further fields, of which numbers are metrics.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Sample {
    /// The value of a metric of the whole sample; `None` where it has none.
    pub fn metric(&self, name: &str) -> Option<f64> {
        match name {
            "cpu_ns" => Some(self.cpu_ns as f64),
            "wall_ns" => Some(self.wall_ns as f64),
            _ => self.more.get(name)?.as_f64(),
        }
    }
}

/// What became of the claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdicts {
    /// [`VERDICTS`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = VERDICTS)))]
    pub schema: String,
    pub tool: String,
    pub command: Vec<String>,
    pub machine: Machine,
    pub compiler: String,
    /// The version of Taskflow; absent where no program came so far.
    pub taskflow: Option<String>,
    /// Absent for a run that was cut short.
    pub elapsed_s: Option<f64>,
    pub interrupted: bool,
    /// Taskflow's, in the order of their numbers.
    pub claims: Vec<Judged>,
    /// Why Taskflow has none, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_taskflow: Option<Missing>,
    /// The same claims, by other libraries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OfLibrary>,
    /// What the reader skipped.
    pub notes: Vec<String>,
}

/// What became of the claims by another library than Taskflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfLibrary {
    /// The name that is typed: `onetbb`.
    pub name: String,
    /// Absent where no program came so far.
    pub version: Option<String>,
    pub toolchain: Reading<String>,
    /// What a reader starts to do the same by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Only those that have an experiment by this library.
    pub claims: Vec<Judged>,
}

/// A claim with its verdict and all that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    pub claim: u32,
    pub text: String,
    pub clock: String,
    pub note: String,
    /// Whether the guide claims nothing of it, and figures are the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub question: bool,
    /// The program that tests it.
    pub program: String,
    pub verdict: Verdict,
    /// Why there is no other verdict.
    pub why: Option<Missing>,
    pub bounds: Vec<JudgedBound>,
    pub arms: Vec<Measured>,
    /// Where its arms are loops of several profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<HeatMap>,
}

/// Loops of several profiles by policy: how much longer each takes than the best of its profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeatMap {
    pub profiles: Vec<String>,
    pub policies: Vec<Policy>,
}

/// A row of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    pub name: String,
    /// The median wall time over the shortest of the profile, in the order of the profiles; absent
    /// where it was not measured.
    pub to_best: Vec<Option<f64>>,
}

/// What is said of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of its bounds hold.
    Confirmed,
    /// None of its bounds holds.
    Refuted,
    /// Some of its bounds hold and some do not.
    Partly,
    /// It is a question, and all of its figures have an interval; or it bounds nothing, and its
    /// figures are shown.
    Answered,
    /// Intervals straddle bounds, or rest on too few rounds.
    CannotTell,
    /// This machine lacks what the claim is about.
    NotTestable,
    /// The library has nothing that the claim could be about.
    Inapplicable,
    /// Its program did not build, or came to no good end.
    Failed,
    /// The run ended before.
    NotMeasured,
}

/// A bound and what was measured of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedBound {
    pub name: String,
    pub of: Of,
    pub metric: String,
    pub per: Per,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub standing: Standing,
    pub figure: Reading<Figure>,
}

/// Whether a bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Holds,
    Fails,
    CannotTell,
    /// It bounds nothing: its figure is shown.
    Shown,
}

/// A figure over rounds. An end that is absent lies beyond what was measured; both are absent where
/// there are too few rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Absent where it lies beyond what was measured.
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Whether low and high are an interval.
    pub has_interval: bool,
    /// Rounds that it rests on.
    pub rounds: u64,
}

/// An arm: medians over rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    pub name: String,
    pub tasks: u64,
    pub rounds: u64,
    /// CPU time of a task in nanoseconds.
    pub cpu_ns: Option<f64>,
    /// Wall time of a sample over its tasks, in nanoseconds.
    pub wall_ns: Option<f64>,
    /// Why it was not measured.
    pub why: Option<Missing>,
    /// The compiler's flags of an arm that is a program of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
}
