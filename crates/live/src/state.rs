//! What a worker's buffer is emptied into, behind a lock that it takes every 75 timed tasks.

use taskscale_digest::{Accumulator, Config, Estimate, Scale};
use taskscale_sys::ticks::Rate;

use crate::{
    cpu::Cpu,
    names::Names,
    options::Options,
    regime::{Regime, Tiny},
};

/// Tasks of the sampled regime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampled {
    /// That were timed, each behind some that were not.
    pub timed: u64,
    /// That were not.
    pub untimed: u64,
}

/// Calls that are not counted as tasks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cut {
    /// Tasks that were open when all was cleared.
    pub open: u64,
    /// Ends without a begin.
    pub stray: u64,
    /// Tasks inside too many others.
    pub deep: u64,
}

/// How a long time in which tasks were not timed is known for a task's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// The worker would have said that it waits.
    Told,
    /// Only a task can have used the CPU time of its thread.
    UseNoCpu,
    /// It may be a task's or a pause's.
    Unknown,
}

/// The sums of one worker, and what is known of its ways.
#[derive(Debug, Clone)]
pub struct State {
    pub worker: u32,
    pub waits: Waits,
    pub rate: Rate,
    pub accumulator: Accumulator,
    pub names: Names,
    pub regime: Regime,
    pub sampled: Sampled,
    pub cut: Cut,
    pub cpu: Cpu,
    /// Spans that began before this are forgotten; also the origin of times.
    pub since: u64,
    /// End of the last outermost span counted.
    pub last: u64,
    /// Number of its name.
    pub latest: u32,
    /// Tasks without a time before the clearing, which the next one with a time brings along.
    pub forgotten: u32,
    /// What the last batch said of tasks without a time.
    pub estimate: Estimate,
}

impl State {
    pub fn new(worker: u32, options: &Options) -> Self {
        let waits = match (options.waits_are_told, options.own_threads) {
            (true, _) => Waits::Told,
            (false, true) => Waits::UseNoCpu,
            (false, false) => Waits::Unknown,
        };
        State {
            worker,
            waits,
            rate: options.clock.rate(),
            accumulator: Accumulator::new(Config::observer()),
            names: Names::default(),
            regime: Regime::new(options.exact),
            sampled: Sampled::default(),
            cut: Cut::default(),
            cpu: Cpu::new(options.clock.clone()),
            since: 0,
            last: 0,
            latest: 0,
            forgotten: 0,
            estimate: Estimate::default(),
        }
    }

    /// From ticks to nanoseconds since the last clearing.
    pub fn scale(&self) -> Scale {
        Scale { origin: self.since, ns_per_4g: self.rate.ns_per_4g() }
    }

    /// Nanoseconds since the last clearing at a tick.
    pub fn ns(&self, tick: u64) -> i64 {
        self.scale().ns(tick)
    }

    /// Gives all numbers of names anew.
    pub fn rename(&mut self) {
        self.names = Names::default();
        self.latest = 0;
    }

    /// Counts time for which the worker waited for a processor, up to `now`.
    pub fn preempted(&mut self, in_task: bool, ns: u64, now: u64) {
        if now >= self.since {
            self.accumulator.preempted(in_task, ns);
        }
    }

    /// Forgets all; also so many tasks that the next timed one will bring along.
    pub fn clear(&mut self, now: u64, untimed: u32) {
        self.accumulator = Accumulator::new(Config::observer());
        self.since = now;
        self.forgotten = untimed;
        self.sampled = Sampled::default();
        self.cut = Cut::default();
    }

    /// A full buffer was counted, or a part of one that is not tiny. Returns whether tasks are
    /// sampled from now on.
    pub fn judge(&mut self, tiny: Option<Tiny>) -> bool {
        let was_exact = !self.regime.is_sampled();
        let sampled = self.regime.buffer(tiny.map(|tiny| self.rate.ns(tiny.ticks)));
        if let Some(tiny) = tiny.filter(|_| was_exact) {
            self.estimate = tiny.usual;
        }
        if sampled && self.waits == Waits::UseNoCpu {
            self.cpu.note(self.last);
        }
        sampled
    }
}
