//! Judges by the CPU time of a worker's thread whether a task ran while none was timed.

use taskscale_sys::ticks::Rate;

use crate::clock::Clock;

/// CPU time from which on a task must have used it. A Taskflow worker that looks for tasks in vain
/// spins for 18 to 25 us before it is parked (measured, 1 to 4 workers).
const SPIN_NS: u64 = 100_000;

/// The CPU time of a worker's thread, noted at the end of a buffer of sampled tasks.
#[derive(Debug, Clone)]
pub struct Cpu {
    clock: Clock,
    noted: Option<Noted>,
}

#[derive(Debug, Clone, Copy)]
struct Noted {
    thread: u32,
    cpu_ns: u64,
    tick: u64,
}

impl Cpu {
    /// Makes one without a note.
    pub fn new(clock: Clock) -> Self {
        Cpu { clock, noted: None }
    }

    /// Notes the CPU time of the calling thread, which is the worker's. Its last span ended at the
    /// tick `last`.
    pub fn note(&mut self, last: u64) {
        let of = |thread| Some(Noted { thread, cpu_ns: self.clock.cpu_ns(thread)?, tick: last });
        self.noted = self.clock.thread().and_then(of);
    }

    /// Drops the note: another thread becomes the worker.
    pub fn forget(&mut self) {
        self.noted = None;
    }

    /// The CPU time that the thread has used since the tick `last`; 0 if it is too little to be a
    /// task's. The thread is taken to have been on a processor from the note until `last`.
    pub fn burnt_since(&self, last: u64, rate: Rate) -> u64 {
        let Some(then) = self.noted else { return 0 };
        let cpu = self.clock.cpu_ns(then.thread).unwrap_or(0).saturating_sub(then.cpu_ns);
        let burnt = cpu.saturating_sub(rate.ns(last.saturating_sub(then.tick)));
        if burnt < SPIN_NS { 0 } else { burnt }
    }
}
