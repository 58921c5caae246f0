//! `taskscale.digest/1`: where the workers' time went, and why. One object, bounded in size
//! whatever the trace was.
//!
//! Shares are of *workers x window* unless a field says otherwise. Times are nanoseconds.

use serde::{Deserialize, Serialize};

use crate::{missing::Reading, span::Account};

/// The schema word.
pub const SCHEMA: &str = "taskscale.digest/1";

/// The bounded summary of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Spans counted, at any depth.
    pub tasks: u64,
    /// Workers: as the user says, else as many as were seen.
    pub workers: u64,
    /// First start to last end.
    pub window_ns: u64,
    /// Step of the source's clock; 0 where it is not known.
    pub clock_resolution_ns: u64,
    /// Where *workers x window* went.
    pub losses: Losses,
    /// Share among tasks that a live observer did not time, of which it is not known whether a task
    /// took it. It counts as idle in `losses`; `work` is too low by at most this.
    #[serde(default)]
    pub unknown: f64,
    /// Durations of all spans.
    pub duration: Reading<Quantiles>,
    /// Gaps between consecutive outermost spans of a worker.
    pub gap: Reading<Quantiles>,
    /// What the runtime takes between two tasks of a busy worker: the mean of the gaps that count
    /// as dispatch.
    pub scheduling_cost_ns: Reading<f64>,
    /// Task size at which nine tenths of a busy worker's time is work: nine times the scheduling
    /// cost.
    pub break_even_ns: Reading<f64>,
    /// How many workers ran, over time and altogether.
    pub parallelism: Parallelism,
    /// Balance between workers; only the extremes where there are many.
    pub workers_detail: WorkersDetail,
    /// The longest spans that contain no others and stand out from the rest, longest first.
    pub outliers: Vec<Outlier>,
    /// The names that cost most.
    pub names: Names,
    /// Spans within spans.
    pub nesting: Nesting,
    /// What the source held and what of it was not counted.
    pub dropped: Account,
    /// Explanations by the loss they account for; the first one is the diagnosis, the second its
    /// runner-up.
    pub patterns: Vec<Pattern>,
    /// How far the diagnosis can be trusted.
    pub confidence: Confidence,
    /// What a reader must know before trusting a figure.
    pub notes: Vec<String>,
}

/// Shares of *workers x window*; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Losses {
    /// A worker was inside a task.
    pub work: f64,
    /// Micro gaps: a busy worker between two tasks.
    pub dispatch: f64,
    /// Idle while exactly one worker was active.
    pub serial: f64,
    /// Idle after a worker's last task, while at least two others were active.
    pub tail: f64,
    /// Idle while at least two others were active, and more was to come: nothing was ready for this
    /// worker.
    pub starvation: f64,
    /// Runnable and not run: the machine did other things. Only live observers know this.
    pub preempted: f64,
    /// No worker was active: the program was elsewhere.
    pub outside: f64,
}

impl Losses {
    /// Terms with their names, in the order of the identity.
    pub fn terms(&self) -> [(&'static str, f64); 7] {
        [
            ("work", self.work),
            ("dispatch", self.dispatch),
            ("serial", self.serial),
            ("tail", self.tail),
            ("starvation", self.starvation),
            ("preempted", self.preempted),
            ("outside", self.outside),
        ]
    }

    /// Everything that is not work.
    pub fn lost(&self) -> f64 {
        self.terms().iter().skip(1).map(|(_, share)| share).sum()
    }
}

/// A distribution in nanoseconds. Quantiles come from a histogram whose buckets are at most 25 %
/// wide, so each is within 12.5 % of an exact one; minimum, mean and maximum are exact.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// Values counted.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Arithmetic mean.
    pub mean: f64,
}

/// How many workers were inside a task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Parallelism {
    /// Mean over the window.
    pub mean: f64,
    /// Largest mean of one step of the timeline.
    pub peak: f64,
    /// Length of a step.
    pub step_ns: u64,
    /// Mean number of workers inside a task, step by step; at most 60 steps.
    pub timeline: Vec<f64>,
    /// Share of the window by the number of workers inside a task; many levels are folded into
    /// ranges.
    pub histogram: Vec<Level>,
}

/// A range of parallelism, and the share of the window spent in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Fewest workers.
    pub from: u64,
    /// Most workers.
    pub to: u64,
    /// Share of the window.
    pub share: f64,
}

/// Balance between workers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkersDetail {
    /// Workers that ran at least one task.
    pub active: u64,
    /// Busiest worker over the mean of all; 1 is perfect balance.
    pub busy_max_over_mean: f64,
    /// Standard deviation of busy time over its mean.
    pub busy_variation: f64,
    /// Workers by index; where there are more than 16, the eight busiest and the eight least busy.
    pub workers: Vec<WorkerDetail>,
    /// Workers that are not listed.
    pub folded: u64,
}

/// One worker.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerDetail {
    /// Its index.
    pub worker: u32,
    /// Spans it executed, at any depth.
    pub tasks: u64,
    /// Time inside outermost spans as a share of the window.
    pub busy: f64,
    /// First start, from the begin of the window.
    pub first_ns: u64,
    /// Last end, from the begin of the window.
    pub last_ns: u64,
}

/// A span that stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its name, at most 48 bytes of it; empty where there is none.
    pub name: String,
    /// Who executed it.
    pub worker: u32,
    /// Start, from the begin of the window.
    pub start_ns: u64,
    /// Duration.
    pub duration_ns: u64,
    /// Duration over the mean of the spans that do not stand out.
    pub times_typical: f64,
}

/// The names that cost most.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Names {
    /// At most 16, by time.
    pub top: Vec<NameCost>,
    /// Spans under all other names.
    pub other_tasks: u64,
    /// Their time.
    pub other_ns: u64,
    /// Whether more distinct names came than fit: counts and times of `top` may then be too low,
    /// each time by at most `error_ns`.
    pub overflowed: bool,
    /// How much too low a time may be.
    pub error_ns: u64,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NameCost {
    /// The name, at most 48 bytes of it.
    pub name: String,
    /// Spans.
    pub tasks: u64,
    /// Sum of their durations; nested spans count in full.
    pub total_ns: u64,
    /// That over the sum of all durations.
    pub share: f64,
}

/// Spans within spans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nesting {
    /// Spans inside others of their worker.
    pub nested: u64,
    /// Deepest level seen; 0 where nothing is nested.
    pub depth: u16,
    /// Share of *workers x window* in spans that contain others, outside of those: their own work,
    /// or waiting.
    pub parent_self: Reading<f64>,
    /// Sum of all durations over *workers x window*: what adding up a trace would claim.
    pub naive_utilisation: f64,
    /// Spans that overlap another of their worker without containing it or lying in it.
    pub overlapping: u64,
}

/// The named diagnoses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PatternName {
    /// Tasks are too small for what it takes to schedule them.
    SchedulingOverhead,
    /// One task at a time, again and again, while all others wait.
    SerialBottleneck,
    /// Some workers were given more than others.
    LoadImbalance,
    /// A few tasks are much longer than the rest, and all wait for them.
    StragglerTasks,
    /// Tasks contain tasks: adding up durations misleads, and parents may only be waiting.
    RecursiveOverlap,
    /// Too few or too coarse tasks for this many workers.
    UnderDecomposition,
    /// Nothing worth fixing.
    Healthy,
    /// The only worker is held up by long steps.
    EventLoopBlocked,
    /// The machine ran something else.
    Preempted,
    /// No worker was active: the time went outside of the tasks.
    OutsideRun,
    /// No cause explains half of the loss.
    Mixed,
    /// The evidence is too thin to say.
    Inconclusive,
}

impl PatternName {
    /// As it is written in JSON and text.
    pub fn as_str(self) -> &'static str {
        match self {
            PatternName::SchedulingOverhead => "SCHEDULING_OVERHEAD",
            PatternName::SerialBottleneck => "SERIAL_BOTTLENECK",
            PatternName::LoadImbalance => "LOAD_IMBALANCE",
            PatternName::StragglerTasks => "STRAGGLER_TASKS",
            PatternName::RecursiveOverlap => "RECURSIVE_OVERLAP",
            PatternName::UnderDecomposition => "UNDER_DECOMPOSITION",
            PatternName::Healthy => "HEALTHY",
            PatternName::EventLoopBlocked => "EVENT_LOOP_BLOCKED",
            PatternName::Preempted => "PREEMPTED",
            PatternName::OutsideRun => "OUTSIDE_RUN",
            PatternName::Mixed => "MIXED",
            PatternName::Inconclusive => "INCONCLUSIVE",
        }
    }
}

impl std::fmt::Display for PatternName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its name.
    pub name: PatternName,
    /// Share of *workers x window* that it accounts for.
    pub share: f64,
    /// The figures that speak for it, in one sentence.
    pub evidence: String,
    /// What to change, in the user's own terms; empty where nothing is to be done.
    pub remedy: String,
    /// Time now over time with this loss removed and nothing else changed; at least 1. A bound on
    /// what a fix can win.
    pub predicted_speedup: f64,
}

/// How far the diagnosis can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The grade.
    pub grade: ConfidenceGrade,
    /// Loss that the diagnosis explains over loss that the runner-up explains, less one, at most 1;
    /// 0 is a draw.
    pub margin: f64,
    /// What weakens it.
    pub reasons: Vec<String>,
}

/// Grades of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceGrade {
    /// Nothing weakens it, and the runner-up explains at most half as much.
    High,
    /// Likely; read the runner-up too.
    Medium,
    /// A guess; measure longer or again.
    Low,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_text_are_those_in_json() {
        for name in [
            PatternName::SchedulingOverhead,
            PatternName::SerialBottleneck,
            PatternName::LoadImbalance,
            PatternName::StragglerTasks,
            PatternName::RecursiveOverlap,
            PatternName::UnderDecomposition,
            PatternName::Healthy,
            PatternName::EventLoopBlocked,
            PatternName::Preempted,
            PatternName::OutsideRun,
            PatternName::Mixed,
            PatternName::Inconclusive,
        ] {
            let json = serde_json::to_string(&name).expect("a word");
            assert_eq!(json, format!("{:?}", name.as_str()));
        }
    }
}
