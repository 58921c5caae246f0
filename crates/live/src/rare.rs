//! The calls that few tasks of a worker make: long tasks and long gaps, waits, tasks inside untimed
//! ones, and calls that do not match.

use std::sync::atomic::Ordering::Relaxed;

use taskscale_sys::{
    delay::{RunDelay, run_delay},
    ticks,
};

use crate::{entry, plan::Plan, state::State, worker::Worker};

/// The shortest task of which CPU time is asked, 0.3 us of the observed program's: tasks of this
/// length cost 0.3 % more by it, and shorter ones nothing.
const ASKED_NS: u64 = 100_000;

impl Worker {
    /// Handles a long gap that ends at `now`, or the begin of the first task.
    #[cold]
    #[inline(never)]
    pub fn long_gap(&self, now: u64) {
        let before = self.shared.plan().untimed();
        if before > 0 {
            return self.long_window(now, before);
        }
        if self.clock.rate().ns(self.shared.since_last(now)) >= ASKED_NS {
            self.new_ran();
        }
        let Some(delay) = self.new_delay() else { return };
        let last = self.shared.last.load(Relaxed);
        let mut state = self.state();
        state.asked.waited();
        if last > 0 {
            state.preempted(false, before_the_end(delay), last, now);
        }
    }

    /// Handles a long time that ends at `now` and in which `before` tasks were not timed. From here
    /// on all tasks are timed.
    #[cold]
    fn long_window(&self, now: u64, before: u32) {
        let delay = self.new_delay();
        let window = self.clock.rate().ns(self.shared.since_last(now));
        let mut state = self.state();
        state.entries(self.shared.kept());
        self.shared.empty();
        let last = state.last;
        let in_task = state.long_window(now, before, window, delay.unwrap_or_default().ns);
        if let Some(delay) = delay {
            let (lost, from) =
                if in_task { (delay.ns, last.max(state.since)) } else { (before_the_end(delay), last) };
            state.preempted(in_task, lost, from, now);
        }
        self.exact(&mut state);
        self.shared.set_plan(Plan::NONE);
    }

    /// Handles the end of an outermost task that took `length` ticks, a long time. `leaf` is the
    /// number of its name if it contains no others.
    #[cold]
    #[inline(never)]
    pub fn long_task(&self, length: u64, leaf: Option<u32>) {
        let asked_at = self.clock.is_machine().then(ticks::now);
        // Behind a timed task no untimed one has run yet.
        self.shared.set_plan(Plan::NONE);
        let (delay, length_ns) = (self.new_delay().map(|delay| delay.ns), self.clock.rate().ns(length));
        let ran = if length_ns >= ASKED_NS { self.new_ran() } else { None };
        let mut state = self.state();
        if let Some((number, ran)) = leaf.zip(ran) {
            state.ran(number, length_ns, ran, self.shared.last.load(Relaxed));
        }
        self.exact(&mut state);
        state.regime.long_task(length_ns.saturating_sub(delay.unwrap_or(0)));
        if let Some(delay) = delay {
            let end = self.shared.last.load(Relaxed);
            state.preempted(true, delay, end.saturating_sub(length), end);
        }
        if let Some(at) = asked_at {
            state.asked.add(ticks::now().saturating_sub(at));
        }
    }

    /// Handles a task that begins at `now` inside an untimed one. The untimed one counts as begun
    /// now, because its true begin is not known. What it has taken so far counts as a gap. From
    /// here on all tasks are timed.
    #[cold]
    #[inline(never)]
    pub fn inside_untimed(&self, now: u64) {
        let before = self.shared.plan().untimed();
        self.shared.set_plan(Plan::gone(before));
        let mut state = self.state();
        self.exact(&mut state);
        let begin = state.begin_known(now, before);
        drop(state);
        if self.shared.is_long(self.shared.since_last(now)) {
            self.long_gap(now);
        }
        self.shared.open[0].store(begin, Relaxed);
        self.shared.depth.store(1, Relaxed);
    }

    /// Tells the worker that it is about to wait and that nothing runs on it for a while. A rim
    /// that is told of waits calls this. The wait is then known as one, however many tasks before
    /// it were not timed.
    #[inline]
    pub fn rests(&self) {
        if self.is_open() {
            return;
        }
        self.rested.store(true, Relaxed);
        if self.shared.plan() != Plan::NONE {
            self.close(self.clock.ticks());
        }
    }

    /// Counts the wait that a task ends at `now`.
    #[cold]
    pub fn has_rested(&self, now: u64) {
        self.rested.store(false, Relaxed);
        let last = self.shared.last.load(Relaxed);
        if last > 0 {
            self.state().told_wait(last, now);
        }
    }

    /// Ends the untimed tasks at `now` and makes the next task a timed one.
    #[cold]
    fn close(&self, now: u64) {
        let before = self.shared.plan().untimed();
        if before == 0 {
            // The wait lies behind a timed task. Untimed tasks behind the wait would take it for
            // their own time.
            return self.shared.set_plan(Plan::NONE);
        }
        if self.shared.is_long(self.shared.since_last(now)) {
            self.long_window(now, before);
        } else {
            self.shared.set_plan(Plan::NONE);
            self.push(now, now, entry::close(before));
        }
        self.shared.last.store(now, Relaxed);
    }

    /// Makes the calling thread this worker's thread. The run delay that the thread has had so far
    /// is not the worker's.
    pub fn moved(&self) {
        self.new_delay();
        self.new_ran();
        self.state().cpu.forget();
    }

    /// Counts an end without a begin.
    #[cold]
    #[inline(never)]
    pub fn stray(&self) {
        self.state().cut.stray += 1;
    }

    /// Counts a span inside [`FRAMES`](crate::shared::FRAMES) others, which is not timed.
    #[cold]
    #[inline(never)]
    pub fn deep(&self) {
        self.state().cut.deep += 1;
    }

    /// Times all tasks from here on.
    fn exact(&self, state: &mut State) {
        state.regime.end();
        self.shared.sampled.store(0, Relaxed);
    }

    /// The CPU time of the thread since the last question. `None` if the system does not tell it.
    fn new_ran(&self) -> Option<u64> {
        let ran = self.clock.own_cpu_ns()?;
        Some(ran.saturating_sub(self.ran.swap(ran, Relaxed)))
    }

    /// The run delay since the last question. `None` if the kernel does not tell it.
    fn new_delay(&self) -> Option<RunDelay> {
        if !self.clock.is_machine() {
            return None;
        }
        let RunDelay { ns, slices } = run_delay()?;
        Some(RunDelay {
            ns: ns.saturating_sub(self.delay.swap(ns, Relaxed)),
            slices: slices.saturating_sub(self.slices.swap(slices, Relaxed)),
        })
    }
}

/// Of the run delay of a gap, what made it longer: that of its last time slice, by the mean of all.
/// A worker that finds nothing to do wakes, looks and sleeps again, and what it waits for a
/// processor meanwhile holds up nothing. On a busy machine such waits were half of all
/// *workers x window* of a program that took 5 % longer than alone.
fn before_the_end(delay: RunDelay) -> u64 {
    delay.ns / delay.slices.max(1)
}
