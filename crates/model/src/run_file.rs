//! `taskscale.run/1` (`*.taskscale.jsonl`): a header, then one line per fact in the order in which
//! it became known.
//!
//! Each line is written with one system call as soon as its fact is known. A run that is killed
//! keeps all that it measured. Every figure of a summary can be derived from these lines alone.

pub mod line;
pub mod redact;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    key::RowKey,
    load::LoadRecord,
    machine::{Disturbance, Machine},
    metric::Count,
    missing::{Missing, Reading},
    protocol::{Answer, Clock, Runtime},
};

/// The schema word of the header line.
pub const SCHEMA: &str = "taskscale.run/1";

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Header(Box<Header>),
    /// A runtime that answered the handshake or failed to.
    Runtime(RuntimeRecord),
    Row(RowRecord),
    Sample(SampleRecord),
    Round(RoundRecord),
    /// What one untimed request made a probe do, counted.
    Count(CountRecord),
    /// The end of a row: why its measurement stopped.
    RowEnd(RowEnd),
    /// The last line of a run that was not cut short.
    End(End),
}

/// What was asked for, when and on which machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// [`SCHEMA`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Version of the tool.
    pub tool: String,
    pub command: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    pub machine: Machine,
    /// The whole suites, so that the file explains itself.
    pub suites: Vec<crate::suite::Suite>,
}

/// How a runtime answered the handshake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeRecord {
    /// The runtime as the user names it: `asyncio`, `asyncio@python3.8`.
    pub id: String,
    /// The command that starts its probe.
    pub command: Vec<String>,
    /// Present where this runtime is the old side (`taskscale run --against`): the runtime whose
    /// rows are judged against this one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_of: Option<String>,
    #[serde(flatten)]
    pub state: RuntimeState,
}

/// Whether a runtime takes part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RuntimeState {
    /// The probe answered.
    Ready {
        runtime: Runtime,
        clock: Clock,
        /// The number of workers, where the probe can say.
        workers: Option<u64>,
    },
    /// The runtime is not here, or its probe did not answer.
    Missing(Missing),
}

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The row is measured and divided by its baseline.
    Row,
    /// Other rows are divided by it.
    Baseline,
    /// The A/A control: the row is a baseline entered a second time, in a process of its own.
    Control,
    /// The kernel alone, weighed before the first cell. It tells how many steps last as long as the
    /// work that was asked for.
    Calibration,
}

/// The variant of a row that stands for a whole runtime which offers nothing or is not here.
pub const ANY: &str = "*";

/// A row of the plan: one runtime's variant at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowRecord {
    /// The number by which samples refer to the row.
    pub row: u64,
    #[serde(flatten)]
    pub key: RowKey,
    /// Whether each of its tasks is one that the scheduler sees. It is `None` for a row whose probe
    /// could not describe it.
    pub creates_task: Option<bool>,
    /// Whether its code is compiled while it runs. The processes of such a row have to level off
    /// before they are timed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jit: bool,
    /// Milliseconds of CPU time before which no process of such a row counts as level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ms: Option<u64>,
    /// How many units each of its tasks is made of, where the suite says: nodes of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u64>,
    /// Its part in a sweep; absent for a row of no sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    pub role: Role,
    /// The number of the row that it is divided by.
    #[serde(default)]
    pub baseline: Option<u64>,
}

impl RowRecord {
    /// Whether this is the A/A control of the row that has the number `baseline`.
    pub fn repeats(&self, baseline: u64) -> bool {
        self.role == Role::Control && self.baseline == Some(baseline)
    }
}

/// The part of a row in a sweep over the work inside each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// The number of the sweep in the run. The rows of a sweep are measured side by side.
    pub number: u64,
    /// CPU time of the work that was asked for, in nanoseconds.
    pub work_ns: u64,
    pub part: Part,
}

/// What a row of a sweep does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// `size` tasks, each with that work.
    Tasks,
    /// The work of one task, called in a plain loop. `size` is its number of steps.
    Kernel,
}

/// Why a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Chooses the number of iterations.
    Pilot,
    /// Taken before the row was stable.
    Warmup,
    /// Brings the runtime back after a pause, before a timed sample.
    Wake,
    /// Counts in the figures.
    Timed,
    /// Counts only in the share of creation.
    Phases,
    /// An instrumented sample that checks the answer. Its time says nothing.
    Verify,
    /// Tells what a request takes beside its timed part, of a row whose times are doubted.
    Contrast,
    /// Was stopped while it was under way, whatever it was taken for. It counts in nothing.
    SetAside,
}

/// What stood still while a sample was under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The probe's process was stopped and continued (SIGSTOP, a debugger).
    Probe,
    /// The tool was (Ctrl-Z).
    Tool,
    /// The machine slept.
    Machine,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleRecord {
    /// Its place in the order of all measurements of this run, from 0.
    pub order: u64,
    /// The number of the row.
    pub row: u64,
    pub kind: Kind,
    /// The round in its cell, from 0. Pilot, warm-up and verify samples carry the round that they
    /// precede.
    pub round: u64,
    /// The number of the process among those of this row, from 0.
    pub process: u64,
    /// The line repeats what names the row, so that it can be read alone.
    pub workload: String,
    pub runtime: String,
    pub variant: String,
    pub size: u64,
    /// Passes of the workload within the sample.
    pub iterations: u64,
    pub seed: u64,
    /// As the probe timed it.
    pub wall_ns: u64,
    /// As the probe timed it.
    pub cpu_ns: u64,
    /// From request to reply, as the tool timed it.
    pub outside_wall_ns: u64,
    /// CPU time of the probe's process from request to reply, as the kernel counted it for the
    /// tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_cpu_ns: Option<u64>,
    /// What stood still meanwhile, of a sample that was set aside for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Which threads of the probe's process ran, as the kernel counted them; absent where the tool
    /// did not ask. Threads that came and went within the sample are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Reading<ThreadsRan>>,
    /// How long threads of the probe could have run and waited for a CPU, together, from request to
    /// reply; absent where that is not known of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
    /// The CPU that its process was kept on; absent where it ran on any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Whether its process had worked at smaller sizes, as where growth is measured; absent where
    /// it was fresh for this row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
    /// What the load told; absent where nothing was served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// CPU time of the server of the workload `bytes` from request to reply, where it gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_ns: Option<u64>,
    /// The right answer: a row with a wrong one fails.
    pub answer: Answer,
    /// What else the probe told.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// What workers that share the tasks of a sample put into [`SampleRecord::extra`]: lists of how
/// many tasks each of them did, and how long it took over them.
pub const WORKER_REQUESTS: &str = "worker_requests";
pub const WORKER_WALL_NS: &str = "worker_wall_ns";

/// The two times of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// CPU time of the process, user and system, all threads: what tasks cost.
    Cpu,
    /// Monotonic time: how long they take.
    Wall,
}

impl SampleRecord {
    /// The share of its wall time from which on a sample waits ([`SampleRecord::waited`]).
    pub const WAITS: f64 = 0.5;

    /// Nanoseconds of all its iterations together.
    pub fn total(&self, time: Time) -> f64 {
        match time {
            Time::Cpu => self.cpu_ns as f64,
            Time::Wall => self.wall_ns as f64,
        }
    }

    /// The share of its wall time in which, at least, no thread of the probe ran or could have run;
    /// `None` where their delays are not known. What they did beside the timed part counts as done
    /// within it.
    pub fn waited(&self) -> Option<f64> {
        let cpu_ns = self.cpu_ns.max(self.outside_cpu_ns.unwrap_or_default());
        let busy_ns = cpu_ns.saturating_add(self.run_delay_ns?);
        Some(self.wall_ns.saturating_sub(busy_ns) as f64 / self.wall_ns.max(1) as f64)
    }

    /// Nanoseconds of one iteration.
    pub fn per_iteration(&self, time: Time) -> f64 {
        self.total(time) / self.iterations as f64
    }

    /// Nanoseconds of one task.
    pub fn per_task(&self, time: Time) -> f64 {
        self.per_iteration(time) / self.size as f64
    }

    /// How many tasks each worker did, and how many nanoseconds it took over them; `None` where the
    /// probe did not tell both of each.
    pub fn workers(&self) -> Option<Vec<(u64, u64)>> {
        let list = |name: &str| -> Option<Vec<u64>> {
            self.extra.get(name)?.as_array()?.iter().map(serde_json::Value::as_u64).collect()
        };
        let (tasks, walls) = (list(WORKER_REQUESTS)?, list(WORKER_WALL_NS)?);
        (!tasks.is_empty() && tasks.len() == walls.len()).then(|| tasks.into_iter().zip(walls).collect())
    }
}

/// Which threads of a process used CPU time during a sample. Threads of collectors and compilers
/// are among them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadsRan {
    /// The number of threads that used at least 5 % of the CPU time of the sample.
    pub ran: u64,
    /// The share of the CPU time that the busiest thread used: 1 where one thread did all the work,
    /// 0.5 where two shared it evenly.
    pub busiest_share: f64,
}

/// What one request made a probe's process do, counted from outside from before the request to
/// after the reply. The process was started for counting and is not timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountRecord {
    /// Its place in the order of all measurements of this run.
    pub order: u64,
    /// The number of the row.
    pub row: u64,
    /// The number of the process among the counted ones of this row, from 0.
    pub process: u64,
    /// The line repeats what names the row, so that it can be read alone.
    pub workload: String,
    pub runtime: String,
    pub variant: String,
    pub size: u64,
    /// Passes of the workload within the request; 0 where the row could not be counted at all.
    pub iterations: u64,
    pub seed: u64,
    /// What it asked of malloc and its relatives. Absent where this pass does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<Reading<Allocations>>,
    /// Absent where this pass does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscalls: Option<Reading<u64>>,
    /// All other counts. Those of the runtime's own counters have `allocations` and `bytes` too,
    /// which then stand before those of malloc.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<Count, Reading<u64>>,
    /// The system calls that were made most often, by name, where each was looked at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_name: BTreeMap<String, u64>,
    /// Whether it was counted, in few processes, only to tell how it grows with size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_growth: bool,
}

/// What a program asked of its allocator, by the called function. Failed calls do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Allocations {
    pub malloc: u64,
    pub calloc: u64,
    /// Counts whether or not the memory moved.
    pub realloc: u64,
    /// `posix_memalign`, `aligned_alloc`, `memalign`, `valloc`, `pvalloc`.
    pub aligned: u64,
    /// Calls of `free` with a pointer that is not null.
    pub free: u64,
    /// Bytes asked for by all of these. A `realloc` counts with its whole new size.
    pub bytes: u64,
}

impl Allocations {
    /// All calls that ask for memory.
    pub fn calls(&self) -> u64 {
        self.malloc + self.calloc + self.realloc + self.aligned
    }

    /// What was asked after `before`.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundRecord {
    pub table: String,
    /// The size, which names the cell together with the table.
    pub size: u64,
    pub round: u64,
    #[serde(flatten)]
    pub disturbance: Disturbance,
    /// Wall time in which that was seen: since the round before, restarts and warm-up included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
}

/// The end of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowEnd {
    /// The number of the row.
    pub row: u64,
    #[serde(flatten)]
    pub status: Status,
}

/// How the measurement of a row ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// The row was measured.
    Ok {
        /// What ended the rounds.
        stop: Stop,
    },
    /// The measurement went wrong. Earlier samples stay in the file and are not shown as figures.
    Failed(Missing),
    /// The row was not tried.
    Skipped(Missing),
}

/// What ended the rounds of a cell. Significance is not among the reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Every interval is as narrow as `--precision` asks.
    Precision,
    /// The cell has as many rounds as `--samples` asks.
    Samples,
    /// The growth of every series is certain, which `--grade` asked for.
    Graded,
    /// The time that `--max-time` allows is used up.
    MaxTime,
    /// The user pressed Ctrl-C. What was measured is kept.
    Interrupted,
}

/// The last line of a complete run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct End {
    /// The duration of the run.
    pub elapsed_s: f64,
    /// Whether the user ended it before it was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The records between the header and this line. A check finds a line that was changed, and
    /// none that was removed or doubled. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// How many records of each type a run file has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Records {
    pub runtime: u64,
    pub row: u64,
    pub sample: u64,
    pub round: u64,
    pub count: u64,
    pub row_end: u64,
}

impl Records {
    /// Counts one more. The first line and the last are not counted.
    pub fn add(&mut self, record: &Record) {
        let of_type = match record {
            Record::Header(_) | Record::End(_) => return,
            Record::Runtime(_) => &mut self.runtime,
            Record::Row(_) => &mut self.row,
            Record::Sample(_) => &mut self.sample,
            Record::Round(_) => &mut self.round,
            Record::Count(_) => &mut self.count,
            Record::RowEnd(_) => &mut self.row_end,
        };
        *of_type += 1;
    }

    /// The number of each type, with the words for one and for many.
    pub fn each(&self) -> [(u64, &'static str, &'static str); 6] {
        [
            (self.runtime, "runtime", "runtimes"),
            (self.row, "row", "rows"),
            (self.sample, "measurement", "measurements"),
            (self.round, "round", "rounds"),
            (self.count, "count", "counts"),
            (self.row_end, "end of a row", "ends of rows"),
        ]
    }
}
