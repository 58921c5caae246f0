//! Tasks of which one in so many blocks: what a sample tells of the others.

use serde_json::{Map, Value};

use crate::params::{ParamValue, Params};

/// The workload of which one task in so many blocks.
pub const WORKLOAD: &str = "blocking";
/// The parameter that says how long one blocks, in microseconds, and its default.
pub const BLOCK_US: &str = "block_us";
const BLOCK_US_DEFAULT: u64 = 1_000;
/// The parameter that says that one task in so many blocks, and its default.
pub const EVERY: &str = "every";
const EVERY_DEFAULT: u64 = 100;
/// How many calls have blocked, over all iterations, in what a sample tells.
pub const BLOCKED: &str = "blocked";
/// The way of which no task blocks.
pub const WITHOUT: &str = "without";
/// The way that blocks where the task runs.
pub const INLINE: &str = "inline";

/// A variant is a scheduler, which may have no name, and a way of blocking: `multi_thread/inline`.
pub fn parts(variant: &str) -> (&str, &str) {
    variant.rsplit_once('/').unwrap_or(("", variant))
}

/// Nanoseconds that one call blocks.
pub fn block_ns(params: &Params) -> u64 {
    integer(params, BLOCK_US, BLOCK_US_DEFAULT).saturating_mul(1_000)
}

/// How many calls of an iteration block.
pub fn calls(variant: &str, size: u64, params: &Params) -> u64 {
    match parts(variant).1 {
        WITHOUT => 0,
        _ => size.div_ceil(integer(params, EVERY, EVERY_DEFAULT).max(1)),
    }
}

fn integer(params: &Params, name: &str, default: u64) -> u64 {
    match params.get(name) {
        Some(ParamValue::Integer(value)) => *value,
        _ => default,
    }
}

/// How long tasks were ready before they ran, in nanoseconds, over all iterations of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

impl Waits {
    /// What a sample tells, where it tells all three and they ascend.
    pub fn of(extra: &Map<String, Value>) -> Option<Self> {
        let ns = |name| extra.get(name).and_then(Value::as_u64);
        let waits = Waits { p50: ns("wait_p50_ns")?, p99: ns("wait_p99_ns")?, max: ns("wait_max_ns")? };
        (waits.p50 <= waits.p99 && waits.p99 <= waits.max).then_some(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sample_tells_all_three_or_nothing() {
        let told = |value: Value| Waits::of(value.as_object().expect("an object"));
        let all = told(json!({"wait_p50_ns": 3, "wait_p99_ns": 3, "wait_max_ns": 7, "blocked": 1}));
        assert_eq!(all, Some(Waits { p50: 3, p99: 3, max: 7 }));
        assert_eq!(told(json!({"wait_p50_ns": 3, "wait_p99_ns": 3})), None);
        assert_eq!(told(json!({"wait_p50_ns": 3, "wait_p99_ns": 2, "wait_max_ns": 7})), None);
        assert_eq!(told(json!({"wait_p50_ns": 3, "wait_p99_ns": 8, "wait_max_ns": 7})), None);
    }

    #[test]
    fn the_first_of_so_many_blocks() {
        let every = |value| Params::from([(EVERY.to_owned(), ParamValue::Integer(value))]);
        assert_eq!(calls("inline", 1_000, &Params::new()), 10);
        assert_eq!(calls("virtual/inline", 1, &Params::new()), 1);
        assert_eq!(calls("virtual/inline", 101, &every(100)), 2);
        assert_eq!(calls("virtual/without", 1_000, &every(1)), 0);
        assert_eq!(block_ns(&Params::new()), 1_000_000);
    }

    #[test]
    fn a_variant_is_a_scheduler_and_a_way() {
        assert_eq!(parts("multi_thread/time::sleep"), ("multi_thread", "time::sleep"));
        assert_eq!(parts("to_thread"), ("", "to_thread"));
    }
}
