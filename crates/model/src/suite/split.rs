//! Tables that are read as what a task's cost consists of, and tables of published rates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Block;
use crate::params::Params;

/// Reads a table as what the CPU time of a task goes to: creation, running and joining, and the
/// collector of the runtime. The collector's share is what a row takes beyond its counterpart
/// without it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SplitOf {
    /// The parameters of a row without the collector: `{ gc = "off" }`. Such a case is its
    /// variant's counterpart, and of the variant's other cases too.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub off: Params,
    /// Runtimes that are others without their collector, where a process has to be started so:
    /// `"java+epsilon" = "java"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub off_runtimes: BTreeMap<String, String>,
}

/// Rates that somebody published, which a table shows beside its own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RatesOf {
    /// Where the figures are from: `M1 MacBook Pro`.
    pub published_on: String,
    /// Tasks in a second of CPU time by size, by `runtime:variant`.
    pub published: BTreeMap<String, BTreeMap<String, f64>>,
}

impl SplitOf {
    /// Whether a row of this runtime with these parameters is without the collector.
    pub fn is_off(&self, runtime: &str, params: &Params) -> bool {
        self.off_runtimes.contains_key(name_of(runtime).0) || self.has_off(params)
    }

    /// Whether a row is the counterpart of another one of the same variant and size: the same
    /// without the collector.
    pub fn is_counterpart(&self, one: (&str, &Params), of: (&str, &Params)) -> bool {
        let is_same_runtime = one.0 == of.0;
        let ((name, toolchain), (other, its)) = (name_of(one.0), name_of(of.0));
        let is_off_runtime =
            self.off_runtimes.get(name).is_some_and(|runtime| runtime == other && toolchain == its);
        let without = |params: &Params| -> Params {
            params
                .iter()
                .filter(|(name, _)| !self.off.contains_key(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        (is_same_runtime && self.has_off(one.1) && without(one.1) == without(of.1))
            || (is_off_runtime && one.1 == of.1)
    }

    fn has_off(&self, params: &Params) -> bool {
        !self.off.is_empty() && self.off.iter().all(|(name, value)| params.get(name) == Some(value))
    }

    pub(super) fn check(&self, block: &Block) -> Result<(), String> {
        let is_case = self.off.is_empty() || block.cases.iter().any(|case| self.has_off(case));
        match (self.off.is_empty() && self.off_runtimes.is_empty(), is_case) {
            (true, _) => Err("split needs off or off_runtimes: a row without the collector".into()),
            (false, false) => Err("split needs a case with the parameters of off".into()),
            (false, true) => Ok(()),
        }
    }
}

impl RatesOf {
    /// The published rate of a row.
    pub fn of(&self, full_name: &str, size: u64) -> Option<f64> {
        self.published.get(full_name)?.get(&size.to_string()).copied()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (name, rates) in &self.published {
            if !name.contains(':') {
                return Err(format!("published rates are by runtime:variant, not {name:?}"));
            }
            if let Some(size) = rates.keys().find(|size| size.parse::<u64>().is_err()) {
                return Err(format!("published rates of {name}: size {size:?} is not a number"));
            }
        }
        Ok(())
    }
}

/// A runtime's name and its toolchain: `java` and `21` of `java@21`.
fn name_of(runtime: &str) -> (&str, &str) {
    runtime.split_once('@').unwrap_or((runtime, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ParamValue;

    fn params(pairs: &[(&str, &str)]) -> Params {
        pairs.iter().map(|(name, word)| ((*name).to_owned(), ParamValue::Word((*word).into()))).collect()
    }

    #[test]
    fn a_counterpart_differs_in_the_collector_alone() {
        let split = SplitOf {
            off: params(&[("gc", "off")]),
            off_runtimes: [("java+epsilon".to_owned(), "java".to_owned())].into(),
        };
        let (plain, off) = (params(&[]), params(&[("gc", "off")]));
        let (frozen, before) = (params(&[("gc", "freeze")]), params(&[("gc", "off"), ("input", "before")]));
        assert!(split.is_off("asyncio", &off) && split.is_off("java+epsilon", &plain));
        assert!(!split.is_off("asyncio", &frozen) && !split.is_off("java", &plain));
        assert!(split.is_counterpart(("asyncio", &off), ("asyncio", &plain)));
        assert!(split.is_counterpart(("asyncio", &off), ("asyncio", &frozen)));
        assert!(!split.is_counterpart(("asyncio", &before), ("asyncio", &plain)), "another input");
        assert!(!split.is_counterpart(("asyncio", &plain), ("asyncio", &frozen)), "it has its collector");
        assert!(!split.is_counterpart(("uvloop", &off), ("asyncio", &plain)), "another runtime");
        assert!(split.is_counterpart(("java+epsilon", &plain), ("java", &plain)));
        assert!(!split.is_counterpart(("java+epsilon", &plain), ("go", &plain)));
        assert!(split.is_counterpart(("java+epsilon@21", &plain), ("java@21", &plain)));
        assert!(!split.is_counterpart(("java+epsilon@21", &plain), ("java@25", &plain)));
    }
}
