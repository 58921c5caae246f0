//! Tables that are read as how throughput grows with a number of workers.

use serde::{Deserialize, Serialize};

use super::Block;
use crate::{
    answer::Rule,
    params::{ParamValue, Params},
};

/// Reads a table as how many tasks a second each number of workers does, by wall time, beside the
/// fewest workers of the same variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScaleOf {
    /// The parameter that is the number of workers: `params` and each of `cases` set it.
    pub param: String,
    /// What one task of the table is: `request`.
    pub unit: String,
    /// Whether the numbers of workers are those of the machine that measures, [`ScaleOf::counts`],
    /// which then become the cases. The law of scalability is fitted to such a table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub to_cpus: bool,
    /// CPU time of each task, in nanoseconds; each does as many steps of the kernel as last that
    /// long in its runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ns: Option<u64>,
}

/// Every number of workers is measured up to this one.
const EVERY: u64 = 8;

impl ScaleOf {
    /// The number of workers in these parameters.
    pub fn workers(&self, params: &Params) -> Option<u64> {
        match params.get(&self.param) {
            Some(ParamValue::Integer(workers @ 1..)) => Some(*workers),
            _ => None,
        }
    }

    /// The numbers of workers on a machine of so many CPUs: each up to 8, then 12, 16, 24, 32 and
    /// so on, and all CPUs.
    ///
    /// ```
    /// use taskscale_model::suite::ScaleOf;
    /// assert_eq!(ScaleOf::counts(2), [1, 2]);
    /// assert_eq!(ScaleOf::counts(20), [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20]);
    /// ```
    pub fn counts(cpus: u64) -> Vec<u64> {
        let beyond = (0..).map(|power| EVERY.saturating_mul(1 << power)).take_while(|count| *count < cpus);
        let beyond = beyond.flat_map(|count| [count.saturating_mul(3) / 2, count.saturating_mul(2)]);
        let counts = (1..=EVERY).chain(beyond);
        counts.filter(|count| *count < cpus).chain([cpus.max(1)]).collect()
    }

    pub(super) fn check(&self, block: &Block) -> Result<(), String> {
        let Some(first) = self.workers(&block.params) else {
            return Err(format!("scale needs {} in params: an integer above zero", self.param));
        };
        if self.work_ns == Some(0) || (self.work_ns.is_some() && block.answer.rule != Rule::SumOfTasks) {
            return Err("the work_ns of scale is above zero and needs the rule sum_of_tasks".to_owned());
        }
        if self.to_cpus {
            return match (first, block.cases.is_empty()) {
                (1, true) => Ok(()),
                _ => Err(format!("scale to all CPUs makes its own cases, from {} = 1 on", self.param)),
            };
        }
        let others = |case: &Params| self.workers(case).is_some_and(|workers| workers != first);
        if block.cases.is_empty() || !block.cases.iter().all(others) {
            return Err(format!("scale needs cases with other values of {}", self.param));
        }
        Ok(())
    }
}
