//! What few tasks of a worker need: long ones and long gaps, waits, tasks inside those that are not
//! timed, and calls that do not match.

use std::sync::atomic::Ordering::Relaxed;

use taskscale_sys::delay::run_delay_ns;

use crate::{entry, plan::Plan, state::State, worker::Worker};

impl Worker {
    /// A long gap ends at `now`, or the first task begins.
    #[cold]
    #[inline(never)]
    pub fn long_gap(&self, now: u64) {
        let before = self.shared.plan().untimed();
        if before > 0 {
            return self.long_window(now, before);
        }
        let Some(delay) = self.new_delay() else { return };
        if self.shared.last.load(Relaxed) > 0 {
            let gap = self.clock.rate().ns(self.shared.since_last(now));
            self.state().preempted(false, delay.min(gap), now);
        }
    }

    /// A long time in which `before` tasks were not timed ends at `now`. From here on all are
    /// timed.
    #[cold]
    fn long_window(&self, now: u64, before: u32) {
        let delay = self.new_delay();
        let window = self.clock.rate().ns(self.shared.since_last(now));
        let mut state = self.state();
        state.entries(self.shared.kept());
        self.shared.empty();
        let in_task = state.long_window(now, before, window, delay.unwrap_or(0));
        if let Some(delay) = delay {
            state.preempted(in_task, delay.min(window), now);
        }
        self.exact(&mut state);
        self.shared.set_plan(Plan::NONE);
    }

    /// An outermost task of so many ticks, a long time, has ended.
    #[cold]
    #[inline(never)]
    pub fn long_task(&self, length: u64) {
        // Behind a timed task none is without a time yet.
        self.shared.set_plan(Plan::NONE);
        let (delay, length_ns) = (self.new_delay(), self.clock.rate().ns(length));
        let mut state = self.state();
        self.exact(&mut state);
        state.regime.long_task(length_ns.saturating_sub(delay.unwrap_or(0)));
        if let Some(delay) = delay {
            state.preempted(true, delay.min(length_ns), self.shared.last.load(Relaxed));
        }
    }

    /// A task begins at `now` inside one that is not timed. That one begins now, as far as is
    /// known, and all are timed from here on; what it has taken so far counts as a gap.
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

    /// Nothing more runs on this worker for a while: it is about to wait. For rims that are told
    /// so; then a wait is known for what it is, however many tasks before it were not timed.
    #[inline]
    pub fn rests(&self) {
        if self.shared.plan() != Plan::NONE && !self.is_open() {
            self.close(self.clock.ticks());
        }
    }

    /// The tasks that were not timed end at `now`, and the next one is timed.
    #[cold]
    fn close(&self, now: u64) {
        let before = self.shared.plan().untimed();
        if before == 0 {
            // The wait lies behind a timed task; skipped ones behind it would take it for one of
            // theirs.
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

    /// From now on another thread is this worker, the calling one: its run delay so far is none of
    /// the worker's.
    pub fn moved(&self) {
        self.new_delay();
        self.state().cpu.forget();
    }

    /// An end without a begin.
    #[cold]
    #[inline(never)]
    pub fn stray(&self) {
        self.state().cut.stray += 1;
    }

    /// A span below [`FRAMES`](crate::shared::FRAMES) others.
    #[cold]
    #[inline(never)]
    pub fn deep(&self) {
        self.state().cut.deep += 1;
    }

    /// Tasks are timed all from here on.
    fn exact(&self, state: &mut State) {
        state.regime.end();
        self.shared.sampled.store(0, Relaxed);
    }

    /// The run delay since it was last asked for; `None` where the kernel does not say.
    fn new_delay(&self) -> Option<u64> {
        if !self.clock.is_machine() {
            return None;
        }
        let delay = run_delay_ns()?;
        Some(delay.saturating_sub(self.delay.swap(delay, Relaxed)))
    }
}
