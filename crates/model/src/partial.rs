//! `taskscale.partial/1`: the sums that a digest is made of, of one source or of many together.
//!
//! A source is a trace with a clock of its own. Its sums that need this clock (which worker was
//! idle while others worked, what ends waits) are finished before they are written, as worker time
//! by loss and by cause. What is left are integers that add up, and lists whose rule of what they
//! keep gives the same list in any order. Merging is therefore associative and commutative, to the
//! byte.
//!
//! | list | keeps |
//! |---|---|
//! | [`Bag`], names with sums | the texts of the smallest hashes, with all of their sums |
//! | workers, longest spans, costliest names, worst sources | the first of a total order |
//!
//! A text that is kept in the end is among the smallest of every part that has it, and what is
//! among the first of all is among the first of its part. So nothing of either is lost on the way.
//!
//! Times are nanoseconds. Worker time is the time of one worker: two workers have 2 s of it in a
//! second.

use std::cmp::{Ordering, Reverse};

use serde::{Deserialize, Serialize};

use crate::{
    bytes,
    digest::{Alternative, Change, PatternName},
    missing::Missing,
};

mod file;

pub use file::{MOST_BYTES, ReadError, read, write};

/// The value of [`Partial::schema`].
pub const SCHEMA: &str = "taskscale.partial/1";
/// The most bytes of a file of one source.
pub const SOURCE_BYTES: usize = 16 * 1024;

/// How many of each kind are kept.
pub mod most {
    /// Ids of sources.
    pub const SOURCES: usize = 64;
    /// Hosts.
    pub const HOSTS: usize = 32;
    /// Names of tasks with their sums.
    pub const NAMES: usize = 64;
    /// Names of tasks that one source hands in.
    pub const NOMINATED: usize = 32;
    /// Names of tasks by what they took in one source.
    pub const COSTLIEST: usize = 16;
    /// The busiest workers, and the least busy.
    pub const WORKERS: usize = 8;
    /// The longest durations.
    pub const LONGEST: usize = 32;
    /// The longest spans with their names.
    pub const OUTLIERS: usize = 5;
    /// Notes, reasons for doubt, reasons why events were dropped, formats.
    pub const TEXTS: usize = 12;
    /// Bytes of a name, a host or a label, as JSON writes it.
    pub const NAME_BYTES: usize = 96;
    /// Bytes of a sentence, as JSON writes it.
    pub const SENTENCE_BYTES: usize = 512;
}

/// The sums of one source, or of many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Partial {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    pub labels: Labels,
    /// The number of sources.
    pub sources: u64,
    /// The sources by their ids. A source that is in it twice counts twice.
    pub ids: Bag,
    /// Hosts, with the number of their sources.
    pub hosts: Bag,
    /// Spans counted, at any depth.
    pub tasks: u64,
    pub time: Time,
    /// Where the worker time of all sources went. It adds up to `time.capacity_ns`.
    pub losses: LossSums,
    pub verdicts: Verdicts,
    /// What causes cost, in the order of their names.
    pub causes: Vec<CauseSums>,
    /// Durations of all spans.
    pub durations: Counts,
    /// Gaps between consecutive outermost spans of a worker, of the sources that are in order.
    pub gaps: Counts,
    /// The number of sources whose spans are out of order.
    pub disordered: u64,
    /// What the runtime takes between two tasks of a busy worker.
    pub cost: Told<CostSums>,
    /// Tasks that were ready and had not started.
    pub queue: Told<QueueSums>,
    /// What idle workers and waiting tasks had of each other.
    pub queue_shares: Told<QueueTimes>,
    /// Time inside tasks in which their threads did not run.
    pub off_cpu: Told<OffCpuSums>,
    /// Time of spans that contain others, without that of those others.
    pub parent_self: Told<ParentSums>,
    pub nesting: NestingSums,
    pub workers: WorkerSums,
    /// The longest durations of spans that contain no others, longest first.
    pub longest_ns: Vec<u64>,
    /// The longest spans that contain no others, longest first.
    pub longest: Vec<LongSpan>,
    pub names: NameSums,
    pub account: AccountSums,
}

/// What the user calls a source. A text that is empty is not told; `null` stands for different ones
/// of sources that were merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Labels {
    pub host: Option<String>,
    pub stage: Option<String>,
    pub rank: Option<String>,
}

/// Texts with the number of sources or events of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bag {
    /// In the order of the texts.
    pub kept: Vec<Counted>,
    /// Whether there were more.
    pub cut: bool,
}

/// A text and how often it came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    pub text: String,
    pub count: u64,
}

/// Worker time and windows. Each source has a window of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Time {
    /// Workers, those of all sources together.
    pub workers: u64,
    /// The sum of *workers x window* of the sources.
    pub capacity_ns: u128,
    /// Worker time inside outermost spans.
    pub busy_ns: u128,
    pub shortest_window_ns: u64,
    pub longest_window_ns: u64,
    /// The coarsest step of a clock; 0 where none is known.
    pub clock_resolution_ns: u64,
    /// The sum of the most workers that were inside a task at one moment.
    pub peak: u64,
}

/// Worker time by loss, as [`crate::digest::Losses`] names them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossSums {
    pub work_ns: u128,
    pub dispatch_ns: u128,
    pub serial_ns: u128,
    pub tail_ns: u128,
    pub starvation_ns: u128,
    pub preempted_ns: u128,
    pub outside_ns: u128,
    /// Worker time that counts as idle and may have been a task's.
    pub unknown_ns: u128,
}

/// How the sources were judged, by their worker time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdicts {
    /// Of sources in which the evidence is too thin.
    pub inconclusive_ns: u128,
    pub high_ns: u128,
    pub medium_ns: u128,
    pub low_ns: u128,
    /// What weakens the diagnoses.
    pub reasons: Bag,
}

/// What one cause costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseSums {
    pub name: PatternName,
    /// The number of sources of which it is the diagnosis.
    pub diagnosed: u64,
    /// Worker time that it accounts for.
    pub lost_ns: u128,
    /// Worker time that removing it would save.
    pub saved_ns: u128,
    /// Worker time that the proposed changes are predicted to save: at least.
    pub from_ns: u128,
    /// And at most.
    pub to_ns: u128,
    /// The source in which it costs most. `None` where no source names it among its patterns.
    pub worst: Option<Worst>,
}

/// The source in which a cause costs most, and what was said of it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worst {
    /// Whether it is the diagnosis of that source. Such a source comes first.
    pub diagnosis: bool,
    /// Worker time that it accounts for there.
    pub lost_ns: u128,
    pub host: String,
    /// The id of the source.
    pub id: String,
    pub evidence: String,
    pub remedy: String,
    pub change: Option<Change>,
    pub shortens_tasks: bool,
    pub tasks: Vec<TaskPart>,
    pub alternative: Option<Alternative>,
}

/// A task's part in a cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskPart {
    pub name: String,
    /// The share of the loss during which it ran, in millionths.
    pub millionths: u64,
}

/// Durations: how many are in each bucket, and their sums by powers of two. There are four buckets
/// to a power of two, as in the histogram of a digest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    /// The first bucket that holds any.
    pub from: u64,
    /// From that bucket on, up to the last one that holds any.
    pub counts: Vec<u64>,
    /// The first power of two whose sum is not 0.
    pub sums_from: u64,
    /// From that power on, up to the last one whose sum is not 0.
    pub sums: Vec<u64>,
}

/// Sums over the sources that tell, and why the others do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told<T> {
    /// `None` where no source tells.
    pub sums: Option<T>,
    /// The number of sources that do not tell.
    pub silent: u64,
    /// Why one of them does not: the first of these reasons in the order of texts.
    pub why: Option<Missing>,
}

/// Scheduling costs, each weighted by the number of gaps of its source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostSums {
    /// The number of gaps.
    pub gaps: u64,
    /// In thousandths of a nanosecond, so that a mean keeps its digits.
    pub total_ps: u128,
}

/// Delays from when a task was ready to its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueSums {
    pub delays: Counts,
}

/// Worker time outside tasks by whether a task waited meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueTimes {
    pub capacity_ns: u128,
    pub starved_ns: u128,
    pub dispatch_ns: u128,
    pub windows_ns: u128,
    /// Time in which tasks waited and all workers of their source were in tasks.
    pub saturated_ns: u128,
}

/// Worker time in tasks whose thread did not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffCpuSums {
    pub capacity_ns: u128,
    pub off_ns: u128,
    pub parents_ns: u128,
    /// Worker time in tasks of which it is known.
    pub known_ns: u128,
    /// Worker time in tasks.
    pub busy_ns: u128,
}

/// Time of parents outside of their children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParentSums {
    pub capacity_ns: u128,
    pub own_ns: u128,
}

/// Spans within spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NestingSums {
    pub nested: u64,
    pub depth: u16,
    pub overlapping: u64,
}

/// Workers, each by the share of its source's window that it was busy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerSums {
    /// Workers that ran at least one task.
    pub active: u64,
    /// The sum of these shares, in billionths.
    pub busy: u128,
    /// The sum of their squares.
    pub busy_squared: u128,
    /// All workers by tenths, the least busy first.
    pub tenths: [u64; 10],
    /// The busiest, busiest first.
    pub busiest: Vec<WorkerPart>,
    /// The least busy, least busy first.
    pub least: Vec<WorkerPart>,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerPart {
    /// The share of its source's window that it was busy, in billionths.
    pub busy: u64,
    pub host: String,
    pub worker: u32,
    pub thread: Option<String>,
    pub tasks: u64,
    /// From the begin of its source's window.
    pub first_ns: u64,
    /// From the begin of its source's window.
    pub last_ns: u64,
}

/// One long span.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LongSpan {
    pub duration_ns: u64,
    pub host: String,
    pub worker: u32,
    pub thread: Option<String>,
    pub name: String,
    /// From the begin of its source's window.
    pub start_ns: u64,
}

/// What tasks of each name took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameSums {
    /// In the order of the names.
    pub kept: Vec<NamePart>,
    /// Whether there were more names than are kept.
    pub cut: bool,
    /// The names that took most of their own in one source, and how much there.
    pub costliest: Vec<NamePart>,
    /// How much too low a time of a name may be, as far as sources left names out.
    pub error_ns: u64,
    /// Whether a source left names out.
    pub overflowed: bool,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamePart {
    /// Without the time of spans inside.
    pub own_ns: u64,
    pub name: String,
    pub tasks: u64,
    pub total_ns: u64,
}

/// What the sources held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountSums {
    pub formats: Bag,
    pub bytes: u64,
    pub seen: u64,
    pub counted: u64,
    pub workers: u64,
    pub untold: u64,
    /// Events that were not counted, by reason.
    pub dropped: Bag,
    /// What a reader must know, by the number of sources.
    pub notes: Bag,
}

impl WorkerPart {
    /// The busiest comes first.
    fn key(&self) -> impl Ord + '_ {
        (Reverse(self.busy), &self.host, self.worker, self.tasks, self.first_ns, self.last_ns, &self.thread)
    }
}

impl Ord for WorkerPart {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for WorkerPart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl LongSpan {
    /// The longest comes first; of equally long ones the first, and then the shortest name.
    fn key(&self) -> impl Ord + '_ {
        let name = (self.name.len(), &self.name);
        (Reverse(self.duration_ns), &self.host, self.start_ns, name, self.worker, &self.thread)
    }
}

impl Ord for LongSpan {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for LongSpan {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl NamePart {
    /// The costliest comes first; of equal ones the shortest name.
    fn key(&self) -> impl Ord + '_ {
        (Reverse(self.own_ns), Reverse(self.total_ns), self.name.len(), &self.name, self.tasks)
    }
}

impl Ord for NamePart {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for NamePart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The hash by which a [`Bag`] keeps texts: FNV-1a of 64 bits, with its high half folded into the
/// low one.
pub fn hash(text: &str) -> u64 {
    let hash = bytes::fnv(bytes::FNV_START, text.as_bytes());
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Cuts a text to so many bytes, as JSON writes them, between two characters.
pub fn short(text: &str, bytes: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if (*c as u32) < 0x20 => 6,
            c => c.len_utf8(),
        };
        taken <= bytes
    };
    text.chars().take_while(fits).collect()
}
