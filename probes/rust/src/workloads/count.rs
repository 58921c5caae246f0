//! What an instrumented run counts. Never part of a run whose time is kept.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
};

use crate::sdk::{Run, Timing};

/// Executions, their results, and where and how many at once they were.
#[derive(Default)]
pub struct Count {
    executed: AtomicU64,
    sum: AtomicU64,
    live: AtomicU64,
    max_live: AtomicU64,
    workers: Mutex<HashSet<ThreadId>>,
}

impl Count {
    /// A task has been created; to be called by its creator, before.
    pub fn created(&self) {
        let live = self.live.fetch_add(1, SeqCst) + 1;
        self.max_live.fetch_max(live, SeqCst);
    }

    /// A task has been done, with that result; to be called by the task, last.
    pub fn executed(&self, result: u64) {
        self.sum.fetch_add(result, SeqCst);
        self.executed.fetch_add(1, SeqCst);
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id());
        self.live.fetch_sub(1, SeqCst);
    }

    /// The sum of the results since it was last taken.
    pub fn take_sum(&self) -> u64 {
        self.sum.swap(0, SeqCst)
    }

    /// Adds what was counted to `extra`, unless tasks are missing or too many.
    pub fn report(&self, run: &Run, mut timing: Timing) -> Result<Timing, String> {
        let (executed, expected) = (self.executed.load(SeqCst), run.size.wrapping_mul(run.iterations));
        if executed != expected {
            return Err(format!("{executed} tasks were executed, {expected} were asked for"));
        }
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner).len();
        timing.extra.insert("executed".to_owned(), executed.into());
        timing.extra.insert("max_live".to_owned(), self.max_live.load(SeqCst).into());
        timing.extra.insert("workers_seen".to_owned(), workers.into());
        Ok(timing)
    }
}
