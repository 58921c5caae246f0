//! `taskscale.doctor/1`: what on a machine blurs or biases the figures, and what to do about each.
//!
//! [`facts`] holds what was read and measured. A [`Checkup`] holds what follows from it.

pub mod facts;

use serde::{Deserialize, Serialize};

use crate::{machine::Machine, missing::Reading};

/// The value of [`Checkup::schema`].
pub const SCHEMA: &str = "taskscale.doctor/1";

/// Everything that `taskscale doctor` says of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkup {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Version of the tool.
    pub tool: String,
    pub machine: Machine,
    /// One finding per subject: warnings first, then notes, then what is fine. Each group keeps the
    /// order of the subjects.
    pub findings: Vec<Finding>,
    /// What to look at before any conclusion is drawn from a benchmark.
    #[serde(default)]
    pub checklist: Vec<Check>,
}

/// A question that a benchmark has to be asked, with the answer of this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// It stays the same from version to version.
    pub question: String,
    /// Whether it is as it should be; null where that is not known.
    pub holds: Option<bool>,
    /// The figures that answer it, or why there are none.
    pub found: Reading<String>,
    /// What to do; empty where nothing needs doing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// What was found of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// One or two words that stay the same from version to version: `run delay`.
    pub subject: String,
    pub severity: Severity,
    /// What was found, in one clause, or why nothing could be.
    pub found: Reading<String>,
    /// The figures that it touches; empty where it touches none.
    pub affects: Vec<Figures>,
    /// What it does to the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What to do; empty where nothing needs doing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// What a finding does to the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// The effect in one sentence that includes the number.
    pub says: String,
    pub value: f64,
    /// For example `%`, `ns`, `CPUs` or `threads`.
    pub unit: String,
    /// Whether `doctor` measured the number; otherwise the system states it.
    pub measured: bool,
}

/// How much a finding matters on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It blurs or biases figures: change it, or read them accordingly.
    Warning,
    /// It may matter, or it is not known whether it does.
    Note,
    /// It is as it should be.
    Ok,
}

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Figures {
    Wall,
    Cpu,
    /// Counts per task: allocations, bytes and system calls, exact or not. The finding on hardware
    /// counters is filed here too, though no figure rests on them.
    Counts,
    /// Memory per task, which taskscale itself does not measure.
    Memory,
    /// How a figure changes with the number of workers.
    Scaling,
    /// Which rows can be measured at all.
    Rows,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_most_sorts_first() {
        assert!(Severity::Warning < Severity::Note && Severity::Note < Severity::Ok);
    }

    #[test]
    fn a_finding_is_read_back_as_it_was_written() {
        let finding = Finding {
            subject: "clock source".into(),
            severity: Severity::Note,
            found: Reading::missing("no /sys", "mount it"),
            affects: vec![Figures::Wall, Figures::Cpu],
            effect: Some(Effect {
                says: "a reading costs 25 ns".into(),
                value: 25.0,
                unit: "ns".into(),
                measured: true,
            }),
            remedy: String::new(),
        };
        let text = serde_json::to_string(&finding).expect("plain data");
        assert!(text.contains(r#""severity":"note""#) && text.contains(r#""affects":["wall","cpu"]"#));
        assert_eq!(text.matches("remedy").count(), 1, "an empty one is left out: {text}");
        assert_eq!(serde_json::from_str::<Finding>(&text).expect("its own text"), finding);
    }
}
