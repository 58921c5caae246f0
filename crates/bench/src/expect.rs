//! Computes right answers. They never come from a probe.

use std::collections::HashMap;

use taskscale_model::{
    answer::Rule,
    params::ParamValue,
    protocol::{RunRequest, VERIFY},
};

use crate::bytes;

/// Right answers, remembered while the same question comes again. One with work costs O(size).
#[derive(Debug, Default)]
pub struct Answers {
    known: HashMap<(Rule, u64, u64, u64), Option<u64>>,
}

/// The rule of a workload that this tool knows by name. Suites name the rule themselves.
pub fn rule_of(workload: &str) -> Option<Rule> {
    match workload {
        "fanout" | "graph" | "scale" => Some(Rule::SumOfTasks),
        "nop" | "drain" | "pile" | "block" | "cancel" | "blocking" | "interp" | "parked" | "pingpong"
        | "context" | "idle" | "remote" => Some(Rule::Count),
        "spin" => Some(Rule::Spin),
        "bytes" => Some(Rule::Bytes),
        _ => None,
    }
}

/// The most remembered answers; beyond it the memory is emptied. A run asks for a few sizes at a
/// time.
const REMEMBERED: usize = 4096;

impl Answers {
    /// The right answer to `request` under `rule`: the sum over its iterations, modulo 2^64.
    ///
    /// A timed run that discards results cannot know their sum. It answers how many tasks it
    /// started. The instrumented run of the same variant proves that they were executed
    /// (`probes/PROTOCOL.md`, "Discard"). Nobody knows the answer under [`Rule::Agree`].
    pub fn right(&mut self, rule: Rule, request: &RunRequest) -> Option<u64> {
        if rule == Rule::Bytes {
            return Some(bytes::sums(request.size).answer(&request.params).wrapping_mul(request.iterations));
        }
        let discards = request.params.get("order") == Some(&ParamValue::Word("discard".into()));
        let verifies = request.params.get(VERIFY) == Some(&ParamValue::Flag(true));
        let rule = if rule == Rule::SumOfTasks && discards && !verifies { Rule::Count } else { rule };
        let work = match request.params.get("work") {
            Some(ParamValue::Integer(work)) => *work,
            _ => 0,
        };
        // Without work the answer does not depend on the seed, so one entry serves all rounds.
        let seed = if work == 0 && rule != Rule::Spin { 0 } else { request.seed };
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        let one = *self
            .known
            .entry((rule, request.size, work, seed))
            .or_insert_with(|| rule.of_one(request.size, work, seed));
        one.map(|one| one.wrapping_mul(request.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(order: &str, verify: bool, iterations: u64) -> RunRequest {
        RunRequest {
            id: 1,
            workload: "fanout".into(),
            variant: "v".into(),
            size: 64,
            iterations,
            params: [
                ("order".to_owned(), ParamValue::Word(order.into())),
                (VERIFY.to_owned(), ParamValue::Flag(verify)),
            ]
            .into(),
            seed: 9,
        }
    }

    #[test]
    fn iterations_multiply_and_discard_counts() {
        let mut answers = Answers::default();
        assert_eq!(answers.right(Rule::SumOfTasks, &request("ordered", false, 3)), Some(3 * 62_496));
        assert_eq!(answers.right(Rule::SumOfTasks, &request("discard", false, 3)), Some(3 * 64));
        assert_eq!(answers.right(Rule::SumOfTasks, &request("discard", true, 3)), Some(3 * 62_496));
    }

    #[test]
    fn bytes_are_summed_up_by_their_mode() {
        let of = |mode: &str| {
            let mut request = request("ordered", false, 3);
            request.size = 65_536;
            request.params.insert("mode".into(), ParamValue::Word(mode.into()));
            Answers::default().right(Rule::Bytes, &request)
        };
        assert_eq!(of("sum8"), Some(3 * 214));
        assert_eq!(of("fnv"), Some(0x361c_e99e_e50d_834f_u64.wrapping_mul(3)));
        assert_eq!(of("none"), Some(3 * 65_536));
    }
}
