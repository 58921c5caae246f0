//! The counts of an instrumented run. A run whose time is kept has none.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
};

use crate::sdk::{Run, Timing};

/// Counts executions, the sum of their results, how many tasks were alive at once, and on which
/// threads they ran.
#[derive(Default)]
pub struct Count {
    executed: AtomicU64,
    sum: AtomicU64,
    live: AtomicU64,
    max_live: AtomicU64,
    workers: Mutex<HashSet<ThreadId>>,
}

impl Count {
    /// Counts a task that is about to be created. Its creator calls this first.
    pub fn created(&self) {
        let live = self.live.fetch_add(1, SeqCst) + 1;
        self.max_live.fetch_max(live, SeqCst);
    }

    /// Counts a task that has been done with this result. The task calls this last.
    pub fn executed(&self, result: u64) {
        self.sum.fetch_add(result, SeqCst);
        self.executed.fetch_add(1, SeqCst);
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id());
        self.live.fetch_sub(1, SeqCst);
    }

    /// The sum of the results since the last call.
    pub fn take_sum(&self) -> u64 {
        self.sum.swap(0, SeqCst)
    }

    /// Adds the counts to `extra`. The result is an `Err` if tasks are missing or too many.
    pub fn report(&self, run: &Run, mut timing: Timing) -> Result<Timing, String> {
        let (executed, expected) = (self.executed.load(SeqCst), run.size.wrapping_mul(run.iterations));
        if executed != expected {
            return Err(format!("{executed} tasks were executed, {expected} were asked for"));
        }
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner).len();
        timing.extra.insert("executed", executed.into());
        timing.extra.insert("max_live", self.max_live.load(SeqCst).into());
        timing.extra.insert("workers_seen", workers.into());
        Ok(timing)
    }
}
