//! `taskscale.digest/1`: where the workers' time went, and why. A digest is one object of bounded
//! size, whatever the size of the trace.
//!
//! Shares are of *workers x window* unless a field says otherwise. Times are nanoseconds.

use serde::{Deserialize, Serialize};

use crate::{missing::Reading, span::Account};

mod groups;
mod times;

pub use groups::{GROUPS_SCHEMA, Group, Groups};
pub use times::{Histograms, Quantiles, TimeClass};

/// The value of [`Digest::schema`].
pub const SCHEMA: &str = "taskscale.digest/1";

/// The bounded summary of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Digest {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Spans counted, at any depth.
    pub tasks: u64,
    /// The number of workers that the user gives, or else of those that were seen.
    pub workers: u64,
    /// From the first start to the last end.
    pub window_ns: u64,
    /// The step of the source's clock; 0 where it is not known.
    pub clock_resolution_ns: u64,
    /// Where *workers x window* went.
    pub losses: Losses,
    /// The share of time that may or may not have been a task's, among tasks that a live observer
    /// did not time. It counts as idle in `losses`, so `work` is too low by at most this share.
    #[serde(default)]
    pub unknown: f64,
    /// Durations of all spans.
    pub duration: Reading<Quantiles>,
    /// Gaps between consecutive outermost spans of a worker.
    pub gap: Reading<Quantiles>,
    /// What the runtime takes between two tasks of a busy worker: the mean of the gaps that count
    /// as dispatch.
    pub scheduling_cost_ns: Reading<f64>,
    /// The task size at which nine tenths of a busy worker's time is work: nine times the
    /// scheduling cost.
    pub break_even_ns: Reading<f64>,
    /// How long tasks that were ready waited for a worker. Missing where the source does not tell
    /// when they became ready.
    #[serde(default = "no_ready_times")]
    pub queue: Reading<Queue>,
    /// Time inside tasks in which their threads did not run. Missing where the source does not tell
    /// the CPU time of tasks.
    #[serde(default = "no_cpu_times")]
    pub off_cpu: Reading<OffCpu>,
    /// The same times, and how many of each there were.
    #[serde(default)]
    pub histograms: Histograms,
    /// How many workers ran, over time and on the whole.
    pub parallelism: Parallelism,
    pub workers_detail: WorkersDetail,
    /// The longest spans that contain no others and stand out from the rest, longest first.
    pub outliers: Vec<Outlier>,
    pub names: Names,
    /// Spans within spans.
    pub nesting: Nesting,
    /// What the source held, and what of it was not counted.
    pub dropped: Account,
    /// Explanations, ordered by the loss that they account for. The first is the diagnosis, and the
    /// second is its runner-up.
    pub patterns: Vec<Pattern>,
    /// What the diagnosis may be as well; `None` where the spans tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<Alternative>,
    /// How far the diagnosis can be trusted.
    pub confidence: Confidence,
    /// What a reader must know before trusting a figure.
    pub notes: Vec<String>,
}

impl Digest {
    /// Gives the workers the names of their threads. Spans carry none, so whoever read the source
    /// knows them.
    pub fn name_threads<'n>(&mut self, name: impl Fn(u32) -> Option<&'n str>) {
        let name = |worker: u32| name(worker).map(str::to_owned);
        for detail in &mut self.workers_detail.workers {
            detail.thread = name(detail.worker);
        }
        for outlier in &mut self.outliers {
            outlier.thread = name(outlier.worker);
        }
        for part in self.patterns.iter_mut().flat_map(|pattern| &mut pattern.threads) {
            part.thread = name(part.worker);
        }
    }
}

/// Shares of *workers x window*; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// A worker is inside a task.
    pub work: f64,
    /// A busy worker is in a micro gap between two tasks.
    pub dispatch: f64,
    /// A worker is idle while exactly one is active.
    pub serial: f64,
    /// A worker is idle after its last task while at least two others are active.
    pub tail: f64,
    /// A worker is idle before its last task while at least two others are active: nothing is ready
    /// for it.
    pub starvation: f64,
    /// A worker can run and does not: the machine does other things. Only live observers know this.
    pub preempted: f64,
    /// No worker is active: the program is elsewhere.
    pub outside: f64,
}

impl Losses {
    /// The terms with their names, in the order of the identity.
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

/// Why a digest knows nothing of queues.
pub fn no_ready_times() -> Reading<Queue> {
    Reading::missing(
        "the source does not tell when tasks became ready",
        "digest a source that does: Ray's list of tasks, Dask with transfers, Chrome events with flows, asyncio or tokio live with queue delays",
    )
}

/// Tasks that were ready and had not started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// From when a task became ready to its start. Its count is the number of tasks of which this
    /// is known.
    pub delay: Quantiles,
    /// The share of all tasks of which this is known; at most 1.
    pub known: f64,
    /// What idle workers and waiting tasks had of each other. Missing where too many tasks may have
    /// waited unseen.
    pub shares: Reading<QueueShares>,
}

/// Idle time by whether a task waited meanwhile, under the assumption that each worker can run each
/// task. `starved` and `dispatch` together are all time of workers outside tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueShares {
    /// The share of *workers x window* in which a worker was in no task, and no task waited for it.
    pub starved: f64,
    /// The share of *workers x window* in which a worker was in no task while one waited for it:
    /// what it takes to bring the two together, and what stands in between.
    pub dispatch: f64,
    /// The share of the window in which tasks waited and all workers were in tasks.
    pub saturated: f64,
}

/// Why a digest does not know whether tasks waited inside.
pub fn no_cpu_times() -> Reading<OffCpu> {
    Reading::missing(
        "the source does not tell the CPU time of tasks",
        "digest a source that does: Chrome events with tdur, VizTracer's calls that wait, or live \
         observers' tasks of 100 us or more",
    )
}

/// Time inside tasks in which the worker's thread did not run: it waited for a lock, for input or
/// output, for another task, or for a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffCpu {
    /// As a share of *workers x window*. It is a part of the loss term `work`, or of `preempted`.
    pub share: f64,
    /// The part of `share` in spans that contain others, outside those others.
    pub parents: f64,
    /// The share of the time inside tasks of which this is known. `share` is too low by at most the
    /// rest.
    pub known: f64,
}

/// How many workers were inside a task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parallelism {
    /// The mean over the window.
    pub mean: f64,
    /// The most workers that were inside a task at one moment, of those that were looked at.
    pub peak: f64,
    /// The length of a step of the timeline.
    pub step_ns: u64,
    /// The mean number of workers inside a task, step by step. There are at most 60 steps.
    pub timeline: Vec<f64>,
    /// The share of the window for each number of workers inside a task. Many levels are folded
    /// into ranges.
    pub histogram: Vec<Level>,
}

/// A range of parallelism, and the share of the window spent in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The fewest workers of the range.
    pub from: u64,
    /// The most workers of the range.
    pub to: u64,
    /// Share of the window.
    pub share: f64,
}

/// Balance between workers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkersDetail {
    /// Workers that ran at least one task.
    pub active: u64,
    /// The busy time of the busiest worker over the mean of all; 1 is perfect balance.
    pub busy_max_over_mean: f64,
    /// The standard deviation of busy time over its mean.
    pub busy_variation: f64,
    /// Workers by index. Where there are more than 16, these are the eight busiest and the eight
    /// least busy.
    pub workers: Vec<WorkerDetail>,
    /// The number of workers that are not listed.
    pub folded: u64,
    /// All workers by tenths of the window that they were busy, the least busy first: ten counts.
    /// Those that ran nothing are in the first.
    #[serde(default)]
    pub by_busy: Vec<u64>,
}

/// Workers by tenths of the window that they were busy, from the share of each.
pub fn by_busy(shares: impl Iterator<Item = f64>) -> Vec<u64> {
    let mut tenths = vec![0; 10];
    for share in shares {
        tenths[((share * 10.0) as usize).min(9)] += 1;
    }
    tenths
}

/// One worker of a [`WorkersDetail`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerDetail {
    /// The worker's index.
    pub worker: u32,
    /// At most 48 bytes of the name that the source gives its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The number of spans that it executed, at any depth.
    pub tasks: u64,
    /// Time inside outermost spans as a share of the window.
    pub busy: f64,
    /// Its first start, from the begin of the window.
    pub first_ns: u64,
    /// Its last end, from the begin of the window.
    pub last_ns: u64,
}

/// A span that stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlier {
    /// At most 48 bytes of its name; empty where there is none.
    pub name: String,
    /// The index of the worker that executed it.
    pub worker: u32,
    /// At most 48 bytes of the name that the source gives that worker's thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// From the begin of the window.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// The duration over the mean of the spans that do not stand out.
    pub times_typical: f64,
}

/// The names that cost most.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Names {
    /// At most 16 names, by time of their own.
    pub top: Vec<NameCost>,
    /// The number of spans with any other name.
    pub other_tasks: u64,
    /// The time of the spans with any other name, without that of spans inside them.
    pub other_ns: u64,
    /// Whether there were more distinct names than fit. Counts and times of `top` may then be too
    /// low, each time by at most `error_ns`.
    pub overflowed: bool,
    /// How much too low a time may be.
    pub error_ns: u64,
}

/// One name and its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameCost {
    /// At most 48 bytes of the name.
    pub name: String,
    /// The number of spans with this name.
    pub tasks: u64,
    /// The sum of their durations. Nested spans count in full.
    pub total_ns: u64,
    /// The same without the time of spans inside them.
    pub own_ns: u64,
    /// `own_ns` over the time inside tasks.
    pub share: f64,
}

/// Spans within spans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nesting {
    /// The number of spans inside others of their worker.
    pub nested: u64,
    /// The deepest level seen; 0 where nothing is nested.
    pub depth: u16,
    /// The share of *workers x window* in spans that contain others, without the time of those
    /// others. It is their own work, or waiting.
    pub parent_self: Reading<f64>,
    /// The sum of all durations over *workers x window*: what adding up a trace would claim.
    pub naive_utilisation: f64,
    /// The number of spans that overlap another of their worker, where neither contains the other.
    pub overlapping: u64,
}

/// The named diagnoses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Tasks came one by one and too slowly for these workers.
    TooLittleReady,
    /// Tasks hold their workers and do not run: they wait inside.
    BlockedInTasks,
    /// No cause explains half of the loss.
    Mixed,
    /// The evidence is too thin to say.
    Inconclusive,
}

impl PatternName {
    /// The name as JSON and text write it.
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
            PatternName::TooLittleReady => "TOO_LITTLE_READY",
            PatternName::BlockedInTasks => "BLOCKED_IN_TASKS",
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

/// One explanation of lost time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pattern {
    pub name: PatternName,
    /// The share of *workers x window* that it accounts for.
    pub share: f64,
    /// The figures that speak for it, in one sentence.
    pub evidence: String,
    /// What to change, in the user's own terms; empty where nothing needs doing.
    pub remedy: String,
    /// The change that the remedy names; `None` where nothing is to be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What the change gives.
    pub predicted: Speedup,
    /// Time now over time with this loss removed and nothing else changed; at least 1. It bounds
    /// what a fix can win that leaves the tasks as long as they are.
    pub bound: f64,
    /// Whether the change makes tasks shorter too, so that it may win more than the bound: a task
    /// of under 500 ns takes longer alone than in a batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortens_tasks: bool,
    /// The names of the tasks that ran meanwhile, the largest share first: at most three.
    #[serde(default)]
    pub tasks: Vec<TaskShare>,
    /// The workers that ran these tasks, if some did so far more than others: at most three.
    #[serde(default)]
    pub threads: Vec<ThreadShare>,
    /// The time ranges that hold most of the loss, in the order of time: at most three, and none
    /// where it is not known.
    #[serde(default)]
    pub when: Vec<TimeRange>,
    /// Whether the loss is spread over the window, so that no few ranges hold most of it.
    #[serde(default)]
    pub all_along: bool,
}

/// A task's part in a [`Pattern`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskShare {
    /// At most 48 bytes of the name.
    pub name: String,
    /// The share of the pattern's loss during which it ran.
    pub share: f64,
}

/// A worker's part in a [`Pattern`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadShare {
    /// The worker's index.
    pub worker: u32,
    /// At most 48 bytes of the name that the source gives its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The share of the pattern's loss during which it ran.
    pub share: f64,
}

/// A stretch of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeRange {
    /// From the begin of the window.
    pub from_ns: u64,
    /// From the begin of the window.
    pub to_ns: u64,
    /// The share of the pattern's loss that lies in it.
    pub share: f64,
}

/// Time now over time after a change: a range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Speedup {
    pub from: f64,
    pub to: f64,
}

/// What is said of a change that makes tasks shorter too ([`Pattern::shortens_tasks`]).
pub const SHORTER: &str = "or more: in a batch, tasks this short run faster";

impl Pattern {
    /// What the remedy gives, in words: `1.20x to 1.34x faster, at most about 1.40x`. Where there
    /// is no change to make, only the bound is known. It is of the traced run, from which another
    /// run of the same program differs by some percent, and so it is about that much.
    pub fn gain(&self) -> String {
        let Speedup { from, to } = self.predicted;
        let (low, high, most) = (format!("{from:.2}x"), format!("{to:.2}x"), format!("{:.2}x", self.bound));
        match (self.change.is_some(), low == high, high == most) {
            (true, ..) if self.shortens_tasks => format!("{low} to {high} faster, {SHORTER}"),
            _ if self.shortens_tasks => format!("about {most} faster, {SHORTER}"),
            (false, ..) => format!("about {most} faster without it"),
            (_, true, true) => format!("{high} faster"),
            (_, true, _) => format!("{high} faster, at most about {most}"),
            (_, _, true) => format!("{low} to {high} faster"),
            _ => format!("{low} to {high} faster, at most about {most}"),
        }
    }
}

/// Another explanation that the same spans allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternative {
    pub name: PatternName,
    /// What tells it from the diagnosis, in one sentence.
    pub tell: String,
}

/// What a pattern advises to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Change {
    /// Put that many consecutive tasks into one.
    BatchTasks { by: u64 },
    /// Split each task, or each of one name, into that many. With `share_queue` workers also take
    /// them one by one from one queue.
    SplitTasks {
        by: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        share_queue: bool,
    },
    /// Split the longest tasks so that no piece is longer than the longest one divided by this.
    SplitLongest {
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        into: u64,
    },
    /// Split what runs alone while others wait.
    SplitAlone { into: u64 },
    /// Hand tasks out one by one from one queue.
    ShareQueue,
    /// Return or continue where a task waits for tasks that it started.
    ContinueInsteadOfWait,
    /// Do nothing between tasks that holds them up.
    RemovePauses,
    /// Move long steps of an event loop elsewhere.
    UnblockLoop,
    /// Run on that many workers.
    UseWorkers { count: u64 },
    /// Let nothing else run on the CPUs.
    FreeCpus,
}

/// How far the diagnosis can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confidence {
    pub grade: ConfidenceGrade,
    /// Loss that the diagnosis explains over loss that the runner-up explains, minus one, and at
    /// most 1; 0 is a draw.
    pub margin: f64,
    /// What weakens the diagnosis.
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceGrade {
    /// Nothing weakens the diagnosis, and the runner-up explains at most half as much.
    High,
    /// The diagnosis is likely. The runner-up is worth reading too.
    Medium,
    /// The diagnosis is a guess. A longer or another measurement may tell.
    Low,
}
