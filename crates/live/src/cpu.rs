//! What the CPU time of a worker's thread says of a time in which tasks were not timed.

use taskscale_sys::ticks::Rate;

use crate::clock::Clock;

/// CPU time from which it was a task's. A worker of Taskflow that looks in vain for tasks spins for
/// 18 to 25 us before it is parked (measured, 1 to 4 workers).
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
    /// Nothing is noted.
    pub fn new(clock: Clock) -> Self {
        Cpu { clock, noted: None }
    }

    /// Notes what the calling thread, the worker's, has used; its last span ended at the tick
    /// `last`.
    pub fn note(&mut self, last: u64) {
        let of = |thread| Some(Noted { thread, cpu_ns: self.clock.cpu_ns(thread)?, tick: last });
        self.noted = self.clock.thread().and_then(of);
    }

    /// Another thread is the worker from now on.
    pub fn forget(&mut self) {
        self.noted = None;
    }

    /// What the thread has used since the tick `last`, where that is so much that a task must have
    /// used it; 0 otherwise. Until then it is taken to have been on a processor all the time.
    pub fn burnt_since(&self, last: u64, rate: Rate) -> u64 {
        let Some(then) = self.noted else { return 0 };
        let cpu = self.clock.cpu_ns(then.thread).unwrap_or(0).saturating_sub(then.cpu_ns);
        let burnt = cpu.saturating_sub(rate.ns(last.saturating_sub(then.tick)));
        if burnt < SPIN_NS { 0 } else { burnt }
    }
}
