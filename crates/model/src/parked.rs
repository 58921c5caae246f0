//! What tasks hold while they wait: how it is asked for, and what a sample tells of it.

use serde_json::{Map, Value};

use crate::params::{ParamValue, Params};

/// The workload whose tasks all wait at once.
pub const WORKLOAD: &str = "parked";
/// The parameter that asks for the memory of the process: before the first task is made, and while
/// all of them wait.
pub const RESIDENT: &str = "resident";
/// How many tasks waited at once, in what a sample tells.
pub const WAITING: &str = "waiting";
const BEFORE: &str = "resident_before";
const HELD: &str = "resident_waiting";

/// Whether these parameters ask for the memory of a process. It is that of a fresh one, so each
/// process answers once.
pub fn is_resident(workload: &str, params: &Params) -> bool {
    workload == WORKLOAD && params.get(RESIDENT) == Some(&ParamValue::Flag(true))
}

/// Resident bytes of a process, as it read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Before the first task was made.
    pub before: u64,
    /// While all tasks wait.
    pub waiting: u64,
}

impl Resident {
    /// What a sample tells, where it tells both.
    pub fn of(extra: &Map<String, Value>) -> Option<Self> {
        let bytes = |name| extra.get(name).and_then(Value::as_u64);
        Some(Resident { before: bytes(BEFORE)?, waiting: bytes(HELD)? })
    }

    /// What came with the tasks. Less than nothing counts as nothing: a few tasks fit into what the
    /// process already had.
    pub fn grown(self) -> u64 {
        self.waiting.saturating_sub(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_workload_with_the_flag_asks() {
        let flag = |value| Params::from([(RESIDENT.to_owned(), ParamValue::Flag(value))]);
        assert!(is_resident("parked", &flag(true)));
        assert!(!is_resident("parked", &flag(false)) && !is_resident("parked", &Params::new()));
        assert!(!is_resident("fanout", &flag(true)));
    }

    #[test]
    fn a_sample_tells_both_or_nothing() {
        let told = |value: Value| Resident::of(value.as_object().expect("an object"));
        let both = told(json!({"resident_before": 300, "resident_waiting": 1000, "waiting": 7}));
        assert_eq!(both.map(Resident::grown), Some(700));
        assert_eq!(told(json!({"resident_waiting": 1000})), None);
        assert_eq!(told(json!({"resident_before": 300, "resident_waiting": "1000"})), None);
        assert_eq!(Resident { before: 5, waiting: 3 }.grown(), 0);
    }
}
