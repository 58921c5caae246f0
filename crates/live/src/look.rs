//! What is counted of a worker: its buffer when it is full, all of it when somebody looks.

use std::sync::atomic::Ordering::Relaxed;

use taskscale_digest::Accumulator;

use crate::{regime, state::State, worker::Worker};

/// The outermost task that is open.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Its begin in ticks.
    pub begin: u64,
    /// Whether it has held no other yet.
    pub leaf: bool,
}

impl Worker {
    /// Counts what is in the buffer and empties it. On the worker's own thread only.
    #[cold]
    pub fn flush(&self) {
        let mut state = self.state();
        let tiny = regime::tiny(self.shared.kept(), self.clock.rate(), self.clock.reading_ticks());
        state.entries(self.shared.kept());
        // A part of a buffer proves only that tasks are not tiny.
        if tiny.is_none() || self.shared.is_full() {
            let sampled = state.judge(tiny);
            self.shared.sampled.store(u32::from(sampled), Relaxed);
        }
        self.shared.empty();
    }

    /// What the worker has done until `now`, with what is in the buffer; and the outermost task
    /// that is open. Of tasks that are not timed begins and ends are guesses.
    pub(crate) fn snapshot(&self, now: u64) -> (State, Option<Open>) {
        let state = self.state();
        let mut copy = state.clone();
        copy.entries(self.shared.kept());
        // After the entries: see `next_plan`.
        let (plan, depth) = (self.shared.plan(), self.shared.depth.load(Relaxed));
        // The lock is held until here, so that the buffer is not emptied in between.
        drop(state);
        let (begin, before) = (self.shared.open[0].load(Relaxed), plan.untimed());
        let open = if plan.is_open() {
            // One that was open at the clearing is forgotten with those before it.
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
        // A task without a time that is open: it is cut now, as nothing will tell when it ends.
        let open = u32::from(plan.is_open());
        state.clear(now, plan.untimed() + open);
        state.cut.open = u64::from(open);
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        let state = self.state();
        size_of::<Self>() - size_of::<Accumulator>() + state.accumulator.bytes() + state.names.bytes()
    }
}
