//! Parameters: named values that select a case of a workload (`order = "completion"`,
//! `work = 4000`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of a parameter: a flag, an integer or a word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ParamValue {
    Flag(bool),
    Integer(u64),
    /// A word from a list that the probe declares.
    Word(String),
}

/// Parameters, sorted by name, so that equal sets print alike.
pub type Params = BTreeMap<String, ParamValue>;

impl ParamValue {
    /// Reads what a user typed: `true`, `17` or a word.
    ///
    /// ```
    /// use taskscale_model::params::ParamValue;
    /// assert_eq!(ParamValue::parse("17"), ParamValue::Integer(17));
    /// assert_eq!(ParamValue::parse("off"), ParamValue::Word("off".into()));
    /// ```
    pub fn parse(text: &str) -> Self {
        match (text.parse::<bool>(), text.parse::<u64>()) {
            (Ok(flag), _) => ParamValue::Flag(flag),
            (_, Ok(integer)) => ParamValue::Integer(integer),
            _ => ParamValue::Word(text.to_owned()),
        }
    }
}

impl std::fmt::Display for ParamValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParamValue::Flag(flag) => write!(f, "{flag}"),
            ParamValue::Integer(integer) => write!(f, "{integer}"),
            ParamValue::Word(word) => f.write_str(word),
        }
    }
}

/// Writes parameters for a reader: `order=ordered work=0`.
pub fn label(params: &Params) -> String {
    let parts: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" ")
}
