//! What the measuring loop needs of the world. [`crate::probe`] and `taskscale_sys` are the real
//! ones. Tests put a fake probe and a fake clock here, so that no test of the schedule depends on
//! time.

use std::collections::BTreeMap;

use taskscale_model::{
    load::LoadRecord,
    machine::Disturbance,
    metric::{Count, Metric},
    missing::Missing,
    protocol::{Description, RunRequest, Sample},
    run_file::{Allocations, Kind, RowRecord, Status, Stopped, ThreadsRan},
};

use crate::{fault::Fault, pass::Pass};

/// A probe's process.
pub trait Link {
    /// Waits until the probe has described itself. Before this nothing else may be asked. It waits
    /// at most `timeout_ns`, or as long as a slow start may take where that is longer.
    fn shake_hands(&mut self, timeout_ns: u64) -> Result<Description, Fault>;
    /// Keeps the process, and what it starts, on one of the CPUs that it may use: on the same one
    /// for the same `place`. Returns its number; `None` where that cannot be.
    fn keep_on(&mut self, _place: u64) -> Option<u32> {
        None
    }
    /// Asks for one sample and waits at most `timeout_ns` for it.
    fn run(&mut self, request: &RunRequest, timeout_ns: u64) -> Result<Observed, Fault>;
    /// What a user's own code said last on standard error, such as a traceback; nothing of others.
    fn said(&mut self) -> String {
        String::new()
    }
    /// Tells the probe to end and does not wait: several can end at the same time.
    fn dismiss(&mut self);
    /// Ends the probe with its whole process tree.
    fn end(&mut self);
}

/// A sample as it came, with what the tool saw from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub sample: Sample,
    /// From request to reply, in nanoseconds.
    pub outside_wall_ns: u64,
    /// CPU time of the probe's process from request to reply, by the kernel's account, where it can
    /// be read.
    pub outside_cpu_ns: Option<u64>,
    /// What stood still meanwhile.
    pub stopped: Option<Stopped>,
    /// Which of the probe's threads used that CPU time.
    pub threads: Result<ThreadsRan, Missing>,
    /// How long its threads could have run and waited for a CPU, together, where that is known of
    /// all.
    pub run_delay_ns: Option<u64>,
    /// What the load told, where the probe served.
    pub load: Option<LoadRecord>,
    /// CPU time of the server of the workload `bytes` from request to reply, where it gave them.
    pub server_cpu_ns: Option<u64>,
}

/// Starts probes.
pub trait Launcher {
    /// Starts a fresh process for one row and does not wait for it. Interpreters take 70 ms to come
    /// up, and several can do so at the same time. `layout` is random. It moves the stack and seeds
    /// hashes, so that no row keeps a lucky memory layout.
    fn launch(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault>;

    /// Starts a process as [`Launcher::launch`] does, on the CPU that is kept for servers, where
    /// there is one.
    fn launch_server(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        self.launch(runtime, layout)
    }

    /// Starts a process as [`Launcher::launch`] does, away from the CPU of the server that it reads
    /// from, whose CPU time its samples then tell.
    fn launch_client(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        self.launch(runtime, layout)
    }

    /// What is counted, in processes of their own.
    fn counts(&self) -> &[Metric] {
        &[]
    }

    /// Starts a process that is counted and not timed, always in the same environment, for some of
    /// [`Launcher::counts`].
    fn launch_counted(&mut self, runtime: &str, _pass: Pass) -> Result<Box<dyn Counted>, Fault> {
        Err(Fault::Start { command: runtime.into(), why: "nothing is counted".into() })
    }
}

/// A probe's process whose calls are counted.
pub trait Counted: Link {
    /// What it has asked for so far, together with all processes that it started.
    fn counts(&mut self) -> Counts;

    /// Sets the mark of the most resident memory back to what is resident now.
    fn reset_peak(&mut self) -> Result<(), Missing> {
        self.peak().map(|_| ())
    }

    /// The most resident memory since then, in bytes.
    fn peak(&mut self) -> Result<u64, Missing> {
        Err(Missing::new("nothing tells the most memory", ""))
    }
}

/// What a process did so far, or why that is not known. What was not asked for is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counts {
    /// What it asked of the allocator.
    pub allocations: Option<Result<Allocations, Missing>>,
    /// How many system calls it made.
    pub syscalls: Option<Result<u64, Missing>>,
    /// The same by name, where each is looked at.
    pub by_name: BTreeMap<String, u64>,
    /// All else that is seen from outside.
    pub others: BTreeMap<Count, Result<u64, Missing>>,
}

/// Time, disturbance, and the memory that is free.
pub trait Clock {
    /// Monotonic nanoseconds.
    fn now_ns(&self) -> u64;
    /// What happened on the machine since the previous call.
    fn disturbance(&mut self) -> Disturbance;

    /// Bytes of memory that a process may still take, where that is known.
    fn memory_free(&self) -> Option<u64> {
        None
    }
}

/// A cell whose time is too short for a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Short {
    /// The pairs of processes that an interval needs.
    pub pairs: u64,
    /// What one pair takes, with its control: starting, warming up and timing, in nanoseconds.
    pub pair_ns: u64,
    /// What the cell has, in nanoseconds.
    pub has_ns: u64,
    /// What would do, in nanoseconds.
    pub needs_ns: u64,
}

/// What a run tells while it goes on. Listeners show it and cannot change it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A cell begins.
    CellStarted {
        /// The number of the cell, from 1.
        number: u64,
        /// The number of cells.
        of: u64,
        table: &'a str,
        size: u64,
        /// The rows of the cell, including those that are skipped.
        rows: &'a [RowRecord],
    },
    /// The kernel is weighed in one runtime, before the first cell.
    Calibrating {
        /// The row of its samples.
        row: &'a RowRecord,
    },
    /// A sample was taken.
    Sampled {
        row: &'a RowRecord,
        kind: Kind,
        /// From 0.
        round: u64,
        /// The most rounds of the cell.
        rounds: u64,
        /// CPU nanoseconds per task.
        cpu_per_task: f64,
    },
    /// A process of a row is about to be counted.
    Counting {
        row: &'a RowRecord,
        /// The number of the process, from 0.
        process: u64,
        /// The number of processes.
        processes: u64,
    },
    /// A user's own code said something before its request failed.
    Said {
        row: &'a RowRecord,
        /// Plain lines.
        text: &'a str,
    },
    /// One process of each row has been timed, and the cell's time will be over before verdicts can
    /// come out: they rest on more processes than fit.
    TooShort { table: &'a str, size: u64, short: Short },
    /// A row is done, one way or another.
    RowEnded {
        row: &'a RowRecord,
        /// Measured, failed or skipped.
        status: &'a Status,
    },
    /// A cell is done.
    CellEnded,
}

/// Receives events.
pub trait Listener {
    /// Receives one event, in the order in which they happen.
    fn event(&mut self, event: &Event<'_>);
    /// Whether the user asked to stop. The loop asks before every sample.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Takes no notice.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Listener for Silent {
    fn event(&mut self, _event: &Event<'_>) {}
}
