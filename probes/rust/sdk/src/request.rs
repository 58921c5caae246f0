//! A request, made of its line. The tool has checked a `run` request against the description before
//! sending it (`probes/PROTOCOL.md`).

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Variant, Workload};

/// A line from the tool.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Request {
    Describe { protocol: Value },
    Run(Run),
    Exit,
}

/// A `run` request.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    /// The number to copy into the sample.
    pub id: u64,
    pub workload: String,
    pub variant: String,
    /// The number of tasks (or steps: the workload says which), at least 1.
    pub size: u64,
    /// How often the workload is done inside the one timed part, at least 1.
    pub iterations: u64,
    /// At most 2^53 - 1.
    pub seed: u64,
    /// The values of the parameters. [`Run::param`] reads them.
    #[serde(default)]
    pub params: Map<String, Value>,
}

impl Run {
    /// The value of a declared parameter, or of one of the two that every workload has: `verify`
    /// (every task's execution is counted by what it did, and time is not kept) and `phases` (the
    /// sample tells the share of creation).
    ///
    /// # Panics
    /// If the workload declares no such parameter, or one of another type. This is a mistake in the
    /// probe, and the reply names the parameter.
    pub fn param<'a, T: Deserialize<'a>>(&'a self, name: &str) -> T {
        let absent = matches!(name, "verify" | "phases").then_some(&Value::Bool(false));
        let value = self.params.get(name).or(absent).unwrap_or_else(|| panic!("no parameter {name:?}"));
        T::deserialize(value).unwrap_or_else(|why| panic!("the parameter {name:?}: {why}"))
    }

    /// Gives every absent parameter its value: the default, or, if the variant excludes that, the
    /// first value that it allows.
    pub(crate) fn fill(&mut self, workload: &Workload, variant: &Variant) {
        for param in &workload.params {
            let only = variant.about["only"][param.name].as_array();
            let first = only.filter(|only| !only.contains(&param.default)).and_then(|only| only.first());
            self.params.entry(param.name).or_insert(first.unwrap_or(&param.default).clone());
        }
    }
}
