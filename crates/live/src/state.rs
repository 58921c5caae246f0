//! The sums that a worker's buffer is counted into, behind a lock taken every 75 timed tasks.

use taskscale_digest::{Accumulator, Config, Estimate, Scale};
use taskscale_sys::ticks::Rate;

use crate::{
    cpu::Cpu,
    names::Names,
    options::Options,
    regime::{Regime, Tiny},
};

/// Counts of outermost tasks in the sampled regime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampled {
    /// Timed tasks behind at least one untimed task.
    pub timed: u64,
    pub untimed: u64,
}

/// Calls that are not counted as tasks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cut {
    /// Tasks that were open at a clearing.
    pub open: u64,
    /// Ends without a begin.
    pub stray: u64,
    /// Tasks inside too many others.
    pub deep: u64,
}

/// How a worker tells whether a long time without timed tasks was a task's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// The runtime says when the worker waits, so any other long time is a task's.
    Told,
    /// Only a task can have used the CPU time of the thread.
    UseNoCpu,
    /// Nothing tells: it may be a task's or a pause's.
    Unknown,
}

/// The sums of one worker, and what was learnt about its tasks.
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
    /// Spans that began before this tick are forgotten. Times start there.
    pub since: u64,
    /// The tick at which the last outermost span that was counted ended.
    pub last: u64,
    /// The number of the name of that span.
    pub latest: u32,
    /// Untimed tasks before the clearing that the next timed task brings along.
    pub forgotten: u32,
    /// What the last batch showed of untimed tasks.
    pub estimate: Estimate,
    /// What questions to the kernel took of gaps.
    pub asked: Asked,
}

/// The ticks that questions to the kernel took behind long tasks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    pub ticks: u64,
    /// Those behind the latest one.
    latest: u64,
}

impl Asked {
    /// Adds what one took.
    pub fn add(&mut self, ticks: u64) {
        self.ticks += ticks;
        self.latest = ticks;
    }

    /// The gap behind the latest one is a wait, which does not end later by it.
    pub fn waited(&mut self) {
        self.ticks -= std::mem::take(&mut self.latest);
    }
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
            asked: Asked::default(),
        }
    }

    /// Converts ticks to nanoseconds since the last clearing.
    pub fn scale(&self) -> Scale {
        Scale { origin: self.since, ns_per_4g: self.rate.ns_per_4g() }
    }

    /// Nanoseconds from the last clearing to a tick.
    pub fn ns(&self, tick: u64) -> i64 {
        self.scale().ns(tick)
    }

    /// Drops the names, so that numbers are given anew.
    pub fn rename(&mut self) {
        self.names = Names::default();
        self.latest = 0;
    }

    /// Counts `ns` for which the worker waited for a processor in a task or gap that took from the
    /// tick `from` to `now`. One that began before the clearing is not counted, nor is its wait.
    pub fn preempted(&mut self, in_task: bool, ns: u64, from: u64, now: u64) {
        if from >= self.since {
            self.accumulator.preempted(in_task, ns.min(self.rate.ns(now.saturating_sub(from))));
        }
    }

    /// Counts that the worker waited, as it was told, in the gap from the tick `from` to `now`. One
    /// that began before the clearing is not counted.
    pub fn told_wait(&mut self, from: u64, now: u64) {
        if from >= self.since {
            self.accumulator.told_wait(self.rate.ns(now.saturating_sub(from)));
        }
    }

    /// Counts that a leaf, which took `length_ns` and ended at `now`, ran for `ran_ns` at most.
    pub fn ran(&mut self, number: u32, length_ns: u64, ran_ns: u64, now: u64) {
        // A task that began before the clearing is cut.
        if now.saturating_sub(self.since) >= self.rate.ticks(length_ns) {
            self.accumulator.ran(self.worker, self.names.name(number), length_ns, ran_ns);
        }
    }

    /// Forgets everything, also `untimed` tasks that the next timed one will bring along.
    pub fn clear(&mut self, now: u64, untimed: u32) {
        self.accumulator = Accumulator::new(Config::observer());
        self.since = now;
        // Tasks of the next phase are not named after those of the last one.
        self.latest = 0;
        self.forgotten = untimed;
        self.sampled = Sampled::default();
        self.cut = Cut::default();
        self.asked = Asked::default();
    }

    /// Judges a buffer that was full, or part of a buffer that is not tiny. Returns whether tasks
    /// are sampled from here on.
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

#[cfg(test)]
mod tests {
    use taskscale_model::span::Account;
    use taskscale_sys::ticks::Rate;

    use super::*;
    use crate::clock::{Clock, SetClock};

    #[test]
    fn a_wait_before_the_clearing_is_not_counted() {
        let clock = Clock::Set(SetClock::new(Rate::of_ns_per_4g(1 << 32)));
        let mut state = State::new(0, &Options { clock, ..Options::default() });
        state.clear(1_000_000, 0);
        for begin in [0, 4_000_000] {
            state.accumulator.leaf(0, begin, begin + 2_000_000, b"step");
        }
        let preempted = |state: &State| {
            let account = Account { clock_resolution_ns: 1, ..Account::default() };
            state.accumulator.finish(&account).losses.preempted
        };
        // A worker that waited for a CPU from before the clearing to the first task of the window.
        state.preempted(false, 900_000, 500_000, 1_400_000);
        state.preempted(true, 900_000, 999_999, 2_000_000);
        assert_eq!(preempted(&state), 0.0);
        state.preempted(true, 9_000_000, 3_000_000, 4_500_000);
        assert!((preempted(&state) - 1.5 / 6.0).abs() < 1e-9, "as long as the task at most");
    }

    #[test]
    fn a_question_behind_which_the_worker_waits_takes_nothing_of_a_hand_over() {
        let mut asked = Asked::default();
        for ticks in [700, 900, 800] {
            asked.add(ticks);
        }
        asked.waited();
        assert_eq!(asked.ticks, 1_600, "the latest one alone");
        asked.waited();
        assert_eq!(asked.ticks, 1_600, "once");
    }
}
