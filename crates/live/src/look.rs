//! Counts what a worker did: its buffer when it is full, everything when somebody looks.

use std::sync::atomic::Ordering::Relaxed;

use taskscale_digest::Accumulator;

use crate::{regime, state::State, worker::Worker};

/// The outermost open task.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// In ticks.
    pub begin: u64,
    /// Whether it has held no other task so far.
    pub leaf: bool,
}

impl Worker {
    /// Counts the entries of the buffer and empties it. Only the worker's own thread may call this.
    #[cold]
    pub fn flush(&self) {
        let mut state = self.state();
        let tiny = regime::tiny(self.shared.kept(), self.clock.rate(), self.clock.reading_ticks());
        state.entries(self.shared.kept());
        // Part of a buffer can prove only that tasks are not tiny.
        if tiny.is_none() || self.shared.is_full() {
            let sampled = state.judge(tiny);
            self.shared.sampled.store(u32::from(sampled), Relaxed);
        }
        self.shared.empty();
    }

    /// A copy of the worker's sums until `now`, the buffer included, and the outermost open task.
    /// The begins and ends of untimed tasks are guesses.
    pub(crate) fn snapshot(&self, now: u64) -> (State, Option<Open>) {
        let state = self.state();
        let mut copy = state.clone();
        copy.entries(self.shared.kept());
        // The plan is read after the entries, for the reason at `next_plan`.
        let (plan, depth) = (self.shared.plan(), self.shared.depth.load(Relaxed));
        // The lock is held until here, so that the buffer is not emptied in between.
        drop(state);
        let (begin, before) = (self.shared.open[0].load(Relaxed), plan.untimed());
        let open = if plan.is_open() {
            // A task that was open at the clearing is forgotten with those before it.
            let forgotten = copy.forgets(before);
            let begin = copy.window(now, before, 0).end;
            (!forgotten).then_some(Open { begin, leaf: true })
        } else if depth > 0 {
            copy.window(begin, before, 0);
            Some(Open { begin, leaf: depth == 1 && self.shared.parents.load(Relaxed) & 1 == 0 })
        } else {
            let long = if before > 0 { copy.burnt_since_last() } else { 0 };
            copy.window(now, before, long);
            None
        };
        let since = copy.since;
        (copy, open.filter(|open| open.begin >= since && open.begin <= now))
    }

    /// Forgets all spans that began before `now` (ticks).
    pub(crate) fn clear(&self, now: u64) {
        let mut state = self.state();
        let plan = self.shared.plan();
        // An open untimed task is cut now, because nothing will tell when it ends.
        let open = u32::from(plan.is_open());
        state.clear(now, plan.untimed() + open);
        state.cut.open = u64::from(open);
    }

    /// The memory that the worker holds, in bytes.
    pub fn bytes(&self) -> usize {
        let state = self.state();
        size_of::<Self>() - size_of::<Accumulator>() + state.accumulator.bytes() + state.names.bytes()
    }
}
