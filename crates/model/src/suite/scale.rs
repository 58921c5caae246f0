//! Tables that are read as how throughput grows with a number of workers.

use serde::{Deserialize, Serialize};

use super::Block;
use crate::params::{ParamValue, Params};

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
}

impl ScaleOf {
    /// The number of workers in these parameters.
    pub fn workers(&self, params: &Params) -> Option<u64> {
        match params.get(&self.param) {
            Some(ParamValue::Integer(workers @ 1..)) => Some(*workers),
            _ => None,
        }
    }

    pub(super) fn check(&self, block: &Block) -> Result<(), String> {
        let Some(first) = self.workers(&block.params) else {
            return Err(format!("scale needs {} in params: an integer above zero", self.param));
        };
        let others = |case: &Params| self.workers(case).is_some_and(|workers| workers != first);
        if block.cases.is_empty() || !block.cases.iter().all(others) {
            return Err(format!("scale needs cases with other values of {}", self.param));
        }
        Ok(())
    }
}
