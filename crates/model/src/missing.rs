//! A missing value is a value too: it carries the reason and the remedy.

use serde::{Deserialize, Serialize};

/// What to do where no answer came in time, and nothing says how long it would take.
pub const LONG_OR_STUCK: &str = "raise --timeout (and --max-time, which bounds it) if the work is really that long, else look for a deadlock";

/// Why a value is missing, and what the user can do about it.
///
/// ```
/// use taskscale_model::missing::Missing;
/// let missing = Missing::new("needs Python 3.12", "use --runtime asyncio@python3.12");
/// assert_eq!(missing.to_string(), "needs Python 3.12 (use --runtime asyncio@python3.12)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// What stands in the way, in one clause.
    pub reason: String,
    /// What the user can do; empty where nothing helps.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Missing {
    /// The remedy may be empty.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Missing { reason: reason.into(), remedy: remedy.into() }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.remedy.is_empty() {
            write!(f, "{}", self.reason)
        } else {
            write!(f, "{} ({})", self.reason, self.remedy)
        }
    }
}

/// A value that may be missing: the value, or why there is none. JSON holds either the value or an
/// object with `reason`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Reading<T> {
    Value(T),
    Missing(Missing),
}

impl<T> Reading<T> {
    /// A reading that failed.
    pub fn missing(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Reading::Missing(Missing::new(reason, remedy))
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Reading::Value(value) => Some(value),
            Reading::Missing(_) => None,
        }
    }

    /// Why there is no value.
    pub fn why(&self) -> Option<&Missing> {
        match self {
            Reading::Value(_) => None,
            Reading::Missing(missing) => Some(missing),
        }
    }

    pub fn as_result(&self) -> Result<&T, &Missing> {
        match self {
            Reading::Value(value) => Ok(value),
            Reading::Missing(missing) => Err(missing),
        }
    }
}

impl<T> From<Result<T, Missing>> for Reading<T> {
    fn from(result: Result<T, Missing>) -> Self {
        result.map_or_else(Reading::Missing, Reading::Value)
    }
}
