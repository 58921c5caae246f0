//! When the tasks of an observer became ready, where the runtime shows it.
//!
//! One set of sums serves all workers. With it a worker of its own would take 3.7 KB more than the
//! 16 KB that it may take. It is made when the first ready time comes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use taskscale_digest::{Config, Scale, Waits};

/// A task's ready time and its start, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wait {
    /// A time behind the start counts as the start.
    pub ready: u64,
    /// When the task began.
    pub start: u64,
    /// The number of tasks that it stands for, itself included.
    pub tasks: u32,
}

/// The sums of all ready times, behind a lock. Rims bring them in batches.
#[derive(Debug, Default)]
pub struct Ready(Mutex<Option<Box<Waits>>>);

impl Ready {
    /// Counts tasks. Those that started before the origin of `scale` are forgotten.
    pub fn add(&self, waits: impl IntoIterator<Item = Wait>, scale: Scale) {
        let mut sums = self.lock();
        for Wait { ready, start, tasks } in waits.into_iter().filter(|wait| wait.start >= scale.origin) {
            let sums = sums.get_or_insert_with(|| Box::new(Waits::new(Config::observer().points)));
            sums.add_many(scale.ns(ready.min(start)), scale.ns(start), tasks);
        }
    }

    /// The sums so far. `None` if no ready time has come.
    pub fn sums(&self) -> Option<Box<Waits>> {
        self.lock().clone()
    }

    pub fn clear(&self) {
        *self.lock() = None;
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.lock().as_ref().map_or(0, |sums| sums.bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Waits>>> {
        // A panic can leave nothing in there half done that would matter to a sum.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
