//! Suite files (`suites/*.toml`): a named plan of workloads, sizes, variants, baselines and
//! expected answers.

mod across;
mod scale;
mod share;
mod split;
mod stream;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use across::{AcrossOf, Setting};
pub use scale::ScaleOf;
pub use share::{Claim, ClaimOf, ShareOf};
pub use split::{RatesOf, SplitOf};
pub use stream::{Contrast, PublishedPass, StreamOf};

use crate::{
    answer::Rule,
    params::{ParamValue, Params},
};

/// The schema word that a suite file must carry.
pub const SCHEMA: &str = "taskscale.suite/1";

/// The name that stands for a suite where there is none: own probes run what they register.
pub const FREE: &str = "free";

/// A named plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// [`SCHEMA`].
    pub schema: String,
    /// The name typed after `taskscale run`.
    pub name: String,
    /// One line for `taskscale list`.
    pub title: String,
    /// Where the experiment comes from.
    #[serde(default)]
    pub source: String,
    /// When to stop, unless the command line says otherwise.
    #[serde(default)]
    pub limits: LimitsAsked,
    /// The variant that each runtime's rows are divided by: `tokio = "multi_thread/spawn"`.
    ///
    /// A value may name another runtime's variant as `runtime:variant`. It is used where that row
    /// is part of the run, and is then a control of growth too.
    #[serde(default)]
    pub baseline: BTreeMap<String, Vec<String>>,
    /// The row that the rankings of all runtimes refer to, as `runtime:variant`: the first of these
    /// that a table has. Without one it is the baseline of the runtime that is named first.
    #[serde(default)]
    pub reference: Vec<String>,
    /// What is left out, in this order, where the budget is too short: controls and sizes for nine
    /// processes of every row, the others for six. Nothing is left out where the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<LeaveOut>,
    /// The tables to fill.
    #[serde(rename = "workload")]
    pub workloads: Vec<Block>,
}

/// Stands between what is left out of a suite and the reason, in a row's reason.
pub const LEFT_OUT: &str = " are left out: ";

/// Whether a suite of this name says nothing of its units.
pub fn is_free(suite: &str) -> bool {
    suite == FREE
}

/// A size, or a range of sizes, in words: `64 tasks`, or `n = 64` where no suite says what a unit
/// is.
pub fn sized(suite: &str, sizes: &str) -> String {
    if is_free(suite) { format!("n = {sizes}") } else { format!("{sizes} tasks") }
}

/// Stands in the reason of a row that is not tried because smaller sizes say how long it may take.
pub const FORESEEN: &str = " by the growth seen so far";

/// What a suite can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LeaveOut {
    /// The A/A controls.
    Controls,
    /// All sizes of a table but the first.
    Sizes,
    /// All variants of a runtime but its baselines and the reference.
    Variants,
    /// All tables but the first.
    Tables,
}

/// Rounds of a cell that is judged by an old side, where the user names none.
pub const JUDGED_ROUNDS: u64 = 400;

/// When a cell has been measured enough. An absent value takes the tool's default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsAsked {
    /// The most rounds of a cell.
    pub samples: Option<u64>,
    /// The most seconds for one cell.
    pub max_time_s: Option<f64>,
    /// The most seconds for the whole suite; cells share what is left.
    pub budget_s: Option<f64>,
    /// Half-width of the interval to reach, as a share (0.01 is 1 %).
    pub precision: Option<f64>,
    /// How long one sample should last, in milliseconds.
    pub sample_ms: Option<f64>,
    /// Seconds that one answer may take before the probe counts as hung.
    pub timeout_s: Option<f64>,
    /// Rounds between restarts of all probes; 0 never restarts.
    pub restart_every: Option<u64>,
    /// The most warm-up samples after a restart, for code that is not compiled while it runs. With
    /// 0 such code is not warmed up at all, beyond its pilot.
    pub restart_warmup: Option<u64>,
}

/// One table: a workload with fixed parameters, over its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The workload's name in the probes.
    pub name: String,
    /// The title of the table. Where it is empty, workload and parameters make the title.
    #[serde(default)]
    pub title: String,
    /// The sizes, in the order in which they are measured.
    pub sizes: Vec<u64>,
    #[serde(default)]
    pub params: Params,
    /// Parameter sets that become rows of their own beside the plain row: `[{gc = "off"}, {gc =
    /// "freeze"}]`.
    #[serde(default)]
    pub cases: Vec<Params>,
    /// A sweep: CPU time of the work inside each task, in nanoseconds, ascending. Each work becomes
    /// a row. Its tasks do as many steps of the kernel as last that long in that runtime. The
    /// report finds the smallest task that is worth its overhead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work_ns: Vec<u64>,
    /// The runtimes that take part; all of them where the list is absent.
    #[serde(default)]
    pub runtimes: Option<Vec<String>>,
    /// The variants that take part; all of them where the list is absent. Each is the whole name of
    /// a variant, else the last part of names between slashes, else any part.
    #[serde(default)]
    pub variants: Option<Vec<String>>,
    /// For a variant that is listed, the one that takes part too where a runtime has the listed one
    /// in general and not with this toolchain: the row of the listed one says why it is missing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stand_ins: BTreeMap<String, String>,
    /// Whether baselines are entered a second time as A/A controls; true where it is absent. A
    /// table that is read for its growth needs no control: grades rest on each row's own processes,
    /// and a control costs as much as its baseline.
    #[serde(default = "yes")]
    pub controls: bool,
    /// Whether the table is left out unless the user asks for all of them: what the suite's own
    /// question does not need.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extra: bool,
    /// Where the user asks for no other runtimes than these, and for one that takes part, the table
    /// comes first and is not left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_for: Vec<String>,
    /// Whether its rows are read as shares of their runtime's baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareOf>,
    /// A parameter that the table has at several values: its rows are read as how far each variant
    /// comes, and one that fails is no failure of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<String>,
    /// Whether its rows are read as how throughput grows with a number of workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScaleOf>,
    /// Whether its rows are read as what one thing costs under several settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<AcrossOf>,
    /// Whether its rows are read as how many bytes a second each way consumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamOf>,
    /// Whether its rows are read as what the cost of a task consists of, with the collector's part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitOf>,
    /// Published rates that its rows stand beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesOf>,
    /// What was claimed of its rows, and is held to what was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    pub answer: Expected,
}

fn yes() -> bool {
    true
}

/// The right answer of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The rule that gives the right answer at any size.
    pub rule: Rule,
    /// Published answers by size. [`Suite::parse`] refuses a file whose values disagree with the
    /// rule.
    #[serde(default)]
    pub at: BTreeMap<String, u64>,
}

/// Why a text is not a suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The text is not TOML, or has another shape.
    #[error("not a suite file: {0}")]
    Syntax(#[from] Box<toml::de::Error>),
    /// The file has another schema.
    #[error("schema is {found:?}, this build reads {SCHEMA:?}")]
    Schema {
        /// The schema that the file names.
        found: String,
    },
    /// A value is out of range or contradicts another.
    #[error("workload {workload:?}: {problem}")]
    Value {
        /// The name of the table at fault.
        workload: String,
        problem: String,
    },
}

impl Suite {
    /// Reads and checks the text of a suite file.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        // Some editors put a mark before a text in UTF-8.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let suite: Suite = toml::from_str(text).map_err(Box::new)?;
        if suite.schema != SCHEMA {
            return Err(SuiteError::Schema { found: suite.schema });
        }
        for block in &suite.workloads {
            let problem = |problem: String| SuiteError::Value { workload: block.name.clone(), problem };
            if block.sizes.is_empty() || block.sizes.contains(&0) {
                return Err(problem("sizes must be a list of numbers above zero".into()));
            }
            if !block.work_ns.is_empty() {
                block.check_sweep().map_err(problem)?;
            }
            let listed = |name: &&String| block.variants.as_ref().is_some_and(|all| all.contains(name));
            if let Some(other) = block.stand_ins.keys().find(|name| !listed(name)) {
                return Err(problem(format!("stand_ins names {other:?}, which variants does not list")));
            }
            if let Some(across) = &block.across {
                across.check(block).map_err(problem)?;
            }
            if let Some(scale) = &block.scale {
                scale.check(block).map_err(problem)?;
            }
            if let Some(stream) = &block.stream {
                stream.check(block).map_err(problem)?;
            }
            if let Some(split) = &block.split {
                split.check(block).map_err(problem)?;
            }
            if let Some(rates) = &block.rates {
                rates.check().map_err(problem)?;
            }
            for (size, answer) in &block.answer.at {
                let size: u64 =
                    size.parse().map_err(|_| problem(format!("size {size:?} is not a number")))?;
                let computed = block.answer.rule.of_one(size, 0, 0);
                let computed = computed.ok_or_else(|| {
                    problem("the rule agree computes no answer that one at a size could be held to".into())
                })?;
                if computed != *answer {
                    return Err(problem(format!(
                        "the answer at {size} is {computed} by the rule, not {answer}"
                    )));
                }
            }
        }
        Ok(suite)
    }
}

impl Block {
    fn check_sweep(&self) -> Result<(), String> {
        let ascending = self.work_ns.is_sorted_by(|a, b| a < b);
        if self.work_ns.len() < 2 || self.work_ns.contains(&0) || !ascending {
            return Err("work_ns must be two or more numbers above zero, ascending".into());
        }
        if self.answer.rule != Rule::SumOfTasks {
            return Err("work_ns needs the rule sum_of_tasks: of other workloads no task does work".into());
        }
        if !self.cases.is_empty() || self.params.contains_key("work") {
            return Err("work_ns stands alone: neither cases nor a parameter work beside it".into());
        }
        Ok(())
    }

    /// Gives a table of all numbers of workers those of a machine of so many CPUs, as its cases.
    pub fn scale_to(&mut self, cpus: u64) {
        let Some(scale) = self.scale.as_ref().filter(|scale| scale.to_cpus) else { return };
        let case = |count| Params::from([(scale.param.clone(), ParamValue::Integer(count))]);
        self.cases = ScaleOf::counts(cpus).into_iter().filter(|count| *count > 1).map(case).collect();
    }

    /// The given title, or the workload with its parameters.
    pub fn title(&self) -> String {
        match (self.title.is_empty(), self.params.is_empty()) {
            (false, _) => self.title.clone(),
            (true, true) => self.name.clone(),
            (true, false) => format!("{} {}", self.name, crate::params::label(&self.params)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        schema = "taskscale.suite/1"
        name = "t"
        title = "a test"
        [[workload]]
        name = "fanout"
        sizes = [64]
        params = { order = "ordered", work = 0 }
        answer = { rule = "sum_of_tasks", at = { 64 = 62496 } }
    "#;

    #[test]
    fn a_small_suite_is_read() {
        let suite = Suite::parse(SMALL).expect("valid");
        assert_eq!(suite.workloads[0].title(), "fanout order=ordered work=0");
    }

    #[test]
    fn numbers_of_workers_are_those_of_the_machine() {
        let scale = "threads = 1 }\nscale = { param = \"threads\", unit = \"task\", to_cpus = true }";
        let mut suite = Suite::parse(&SMALL.replacen("work = 0 }", scale, 1)).expect("valid");
        let block = &mut suite.workloads[0];
        let case = |count| Params::from([("threads".to_owned(), ParamValue::Integer(count))]);
        for (cpus, cases) in [(1, vec![]), (2, vec![2]), (6, vec![2, 3, 4, 5, 6])] {
            block.scale_to(cpus);
            assert_eq!(block.cases, cases.into_iter().map(case).collect::<Vec<_>>());
        }
        for cpus in 1..2_000 {
            let counts = ScaleOf::counts(cpus);
            assert!(counts.is_sorted_by(|a, b| a < b) && counts.last() == Some(&cpus), "{counts:?}");
            assert!(counts.windows(2).all(|pair| pair[1] <= 2 * pair[0]), "{counts:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, message) in [
            ("suite/1", "suite/9", "schema is \"taskscale.suite/9\""),
            ("[64]", "[0]", "above zero"),
            ("62496", "62497", "the answer at 64 is 62496 by the rule, not 62497"),
            ("sizes", "sices", "unknown field `sices`"),
            ("work = 0 }", "}\nwork_ns = [400, 100]", "ascending"),
            (", work = 0 }", ", work = 0 }\nwork_ns = [100, 400]", "stands alone"),
            (
                ", work = 0 }",
                ", work = 0 }\ncases = [{ work = 2 }]\nscale = { param = \"work\", unit = \"task\" }",
                "scale needs work in params: an integer above zero",
            ),
            (
                "work = 0 }",
                "threads = 1 }\ncases = [{ order = \"discard\" }]\nscale = { param = \"threads\", unit = \"task\" }",
                "scale needs cases with other values of threads",
            ),
            (
                "work = 0 }",
                "threads = 1 }\ncases = [{ threads = 2 }]\nscale = { param = \"threads\", unit = \"task\", to_cpus = true }",
                "scale to all CPUs makes its own cases, from threads = 1 on",
            ),
            (
                "work = 0 }",
                "threads = 1 }\nscale = { param = \"threads\", unit = \"task\", to_cpus = true, work_ns = 0 }",
                "the work_ns of scale is above zero",
            ),
            (
                "work = 0 }",
                "work = 0 }\nvariants = [\"a\"]\nstand_ins = { b = \"c\" }",
                "stand_ins names \"b\", which variants does not list",
            ),
            ("work = 0 }", "}\nstream = {}", "stream needs the rule bytes"),
            ("work = 0 }", "work = 0 }\nsplit = {}", "split needs off"),
            ("work = 0 }", "work = 0 }\nsplit = { off = { gc = \"off\" } }", "split needs a case"),
            (
                "work = 0 }",
                "work = 0 }\nrates = { published_on = \"M1\", published = { wait = {} } }",
                "runtime:variant",
            ),
            (
                "work = 0 }",
                "work = 0 }\nrates = { published_on = \"M1\", published = { \"a:b\" = { 1k = 7 } } }",
                "size \"1k\" is not a number",
            ),
            (
                "sum_of_tasks\", at = { 64 = 62496 } }",
                "bytes\" }\nstream = { floors = [\"read\"] }",
                "runtime:variant",
            ),
            ("sum_of_tasks\", at = { 64 = 62496", "bytes\", at = { 64 = 300", "the answer at 64 is"),
            ("sum_of_tasks", "agree", "the rule agree computes no answer"),
        ] {
            let error = Suite::parse(&SMALL.replacen(from, to, 1)).expect_err(message).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
