//! `taskscale.run/1` (`*.taskscale.jsonl`): a header, then one line per fact in the order in which
//! it became known.
//!
//! A line is written with one system call as soon as the fact is there, so a run that is killed
//! keeps all it measured. Every figure of a summary can be derived from these lines alone.

use serde::{Deserialize, Serialize};

use crate::{
    key::RowKey,
    machine::{Disturbance, Machine},
    missing::{Missing, Reading},
    protocol::{Answer, Clock, Runtime},
};

/// The schema word of the header line.
pub const SCHEMA: &str = "taskscale.run/1";

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Header(Box<Header>),
    /// A runtime that answered the handshake, or did not.
    Runtime(RuntimeRecord),
    /// A row that is part of the plan.
    Row(RowRecord),
    /// One measurement.
    Sample(SampleRecord),
    /// How disturbed the machine was during a round.
    Round(RoundRecord),
    /// What one request made a probe do, counted; not timed.
    Count(CountRecord),
    /// The end of a row: why its measurement stopped.
    RowEnd(RowEnd),
    /// The last line of a run that was not cut short.
    End(End),
}

/// What was asked for, when and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the tool.
    pub tool: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed from which everything random follows.
    pub seed: u64,
    /// Start, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Where.
    pub machine: Machine,
    /// The suites, whole, so that the file explains itself.
    pub suites: Vec<crate::suite::Suite>,
}

/// A runtime's handshake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeRecord {
    /// How the user names it: `asyncio`, `asyncio@python3.8`.
    pub id: String,
    /// The command that starts its probe.
    pub command: Vec<String>,
    /// The runtime whose rows are judged against this one's (`taskscale run --against`): this is
    /// the old side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_of: Option<String>,
    /// What it says of itself, or why it said nothing.
    #[serde(flatten)]
    pub state: RuntimeState,
}

/// Whether a runtime takes part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RuntimeState {
    /// It answered.
    Ready {
        /// Name, version, toolchain.
        runtime: Runtime,
        /// Resolution of its clocks.
        clock: Clock,
        /// Workers, where it can say.
        workers: Option<u64>,
    },
    /// It is not here or did not answer.
    Missing(Missing),
}

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Measured, and divided by its baseline.
    Row,
    /// What other rows are divided by.
    Baseline,
    /// The A/A control: a baseline entered a second time, in a process of its own.
    Control,
    /// The kernel alone, weighed before the first cell: how many steps last as long as the work
    /// that was asked for.
    Calibration,
}

/// The variant of a row that stands for a whole runtime, where that has nothing to offer or is not
/// here.
pub const ANY: &str = "*";

/// A row of the plan: one runtime's variant at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowRecord {
    /// Its number; samples refer to it.
    pub row: u64,
    /// What names it.
    #[serde(flatten)]
    pub key: RowKey,
    /// Whether each of its tasks is one that the scheduler sees; not known for rows that could not
    /// be described.
    pub creates_task: Option<bool>,
    /// Whether its code is compiled while it runs: its processes have to level off before they are
    /// timed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jit: bool,
    /// Its part in a sweep over the work inside each task; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// What it is for.
    pub role: Role,
    /// The row it is divided by.
    #[serde(default)]
    pub baseline: Option<u64>,
}

/// The part of a row in a sweep over the work inside each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// Which sweep of the run: its rows are measured side by side.
    pub number: u64,
    /// CPU time of the work that was asked for, in nanoseconds.
    pub work_ns: u64,
    /// Tasks, or the kernel alone.
    pub part: Part,
}

/// What a row of a sweep does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// `size` tasks, each with that work.
    Tasks,
    /// The work of one task, called in a plain loop: `size` is its number of steps.
    Kernel,
}

/// Why a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// To choose the number of iterations.
    Pilot,
    /// Before the row was stable.
    Warmup,
    /// To bring the runtime back after a pause, before a timed sample.
    Wake,
    /// Counts in the figures.
    Timed,
    /// Counts in the share of creation only.
    Phases,
    /// Instrumented; checks the answer, its time says nothing.
    Verify,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Place in the order in which everything in this run was measured, from 0.
    pub order: u64,
    /// The row's number.
    pub row: u64,
    /// Why it was taken.
    pub kind: Kind,
    /// The round in its cell, from 0; pilot, warm-up and verify samples carry the round they
    /// precede.
    pub round: u64,
    /// Which process of this row, from 0.
    pub process: u64,
    /// The workload, again, so that a line can be read alone.
    pub workload: String,
    /// The runtime, again.
    pub runtime: String,
    /// The variant, again.
    pub variant: String,
    /// The size, again.
    pub size: u64,
    /// Repetitions inside the sample.
    pub iterations: u64,
    /// The seed sent.
    pub seed: u64,
    /// As the probe timed it.
    pub wall_ns: u64,
    /// As the probe timed it.
    pub cpu_ns: u64,
    /// From request to reply, as the tool saw it.
    pub outside_wall_ns: u64,
    /// CPU of the probe's process from request to reply, as the kernel counted it for the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_cpu_ns: Option<u64>,
    /// Which threads of the probe's process ran, as the kernel counted them; absent where it was
    /// not asked. Threads that came and went within the sample are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Reading<ThreadsRan>>,
    /// The answer; it was right, or the row would have failed.
    pub answer: Answer,
    /// What else the probe said.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The two times of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// CPU time of the process, user and system, all threads: what tasks cost.
    Cpu,
    /// Monotonic time: how long they take.
    Wall,
}

impl SampleRecord {
    /// Nanoseconds of all its iterations together.
    pub fn total(&self, time: Time) -> f64 {
        match time {
            Time::Cpu => self.cpu_ns as f64,
            Time::Wall => self.wall_ns as f64,
        }
    }

    /// Nanoseconds of one iteration.
    pub fn per_iteration(&self, time: Time) -> f64 {
        self.total(time) / self.iterations as f64
    }

    /// Nanoseconds of one task.
    pub fn per_task(&self, time: Time) -> f64 {
        self.per_iteration(time) / self.size as f64
    }
}

/// Which threads of a process used CPU time during a sample, those of collectors and compilers
/// included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThreadsRan {
    /// How many used at least 5 % of the CPU time of the sample.
    pub ran: u64,
    /// Share of the CPU time that the busiest of them used: 1 where one thread did it all, 0.5
    /// where two shared it evenly.
    pub busiest_share: f64,
}

/// What one request made a probe's process do, counted from outside it: from before the request to
/// after the reply. The process was started for this and is not timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountRecord {
    /// Place in the order in which everything in this run was measured.
    pub order: u64,
    /// The row's number.
    pub row: u64,
    /// Which process of this row, of those that were counted, from 0.
    pub process: u64,
    /// The workload, again, so that a line can be read alone.
    pub workload: String,
    /// The runtime, again.
    pub runtime: String,
    /// The variant, again.
    pub variant: String,
    /// The size, again.
    pub size: u64,
    /// Repetitions inside the request; 0 where the row could not be counted at all.
    pub iterations: u64,
    /// The seed sent.
    pub seed: u64,
    /// What was asked of the allocator.
    pub allocations: Reading<Allocations>,
    /// System calls.
    pub syscalls: Reading<u64>,
}

/// What was asked of an allocator, by the function that was called. Calls that failed are not among
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Allocations {
    /// `malloc`.
    pub malloc: u64,
    /// `calloc`.
    pub calloc: u64,
    /// `realloc`, whether or not the memory moved.
    pub realloc: u64,
    /// `posix_memalign`, `aligned_alloc`, `memalign`, `valloc`, `pvalloc`.
    pub aligned: u64,
    /// `free` of something.
    pub free: u64,
    /// Bytes asked for by all of these; a `realloc` counts with its whole new size.
    pub bytes: u64,
}

impl Allocations {
    /// All calls that ask for memory.
    pub fn calls(&self) -> u64 {
        self.malloc + self.calloc + self.realloc + self.aligned
    }

    /// What was added since `before`.
    #[must_use]
    pub fn since(&self, before: &Allocations) -> Allocations {
        Allocations {
            malloc: self.malloc.wrapping_sub(before.malloc),
            calloc: self.calloc.wrapping_sub(before.calloc),
            realloc: self.realloc.wrapping_sub(before.realloc),
            aligned: self.aligned.wrapping_sub(before.aligned),
            free: self.free.wrapping_sub(before.free),
            bytes: self.bytes.wrapping_sub(before.bytes),
        }
    }
}

/// How disturbed the machine was during one round of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// The table.
    pub table: String,
    /// The size: with the table, the cell.
    pub size: u64,
    /// The round.
    pub round: u64,
    /// What was seen.
    #[serde(flatten)]
    pub disturbance: Disturbance,
}

/// The end of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowEnd {
    /// The row's number.
    pub row: u64,
    /// How it ended.
    #[serde(flatten)]
    pub status: Status,
}

/// How the measurement of a row ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// Measured.
    Ok {
        /// What ended the rounds.
        stop: Stop,
    },
    /// It went wrong; samples taken before stay in the file and are not shown as figures.
    Failed(Missing),
    /// It was not tried.
    Skipped(Missing),
}

/// What ended the rounds of a cell. Significance is not among the reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Every interval is as narrow as asked.
    Precision,
    /// As many rounds as asked.
    Samples,
    /// As much time as allowed.
    MaxTime,
    /// The user pressed Ctrl-C; what was measured is kept.
    Interrupted,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Duration of the run.
    pub elapsed_s: f64,
}
