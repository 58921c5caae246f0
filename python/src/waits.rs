//! When the steps of one thread became ready, until there are enough of them to be counted.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use taskscale_live::{Observer, Wait};

/// The number of steps that are kept. Counted one by one each would take a lock of some 15 ns.
const ROOM: usize = 64;

/// Ready time and begin of steps, in ticks. Whoever adds or counts holds the GIL, so nothing is
/// lost.
#[derive(Debug)]
pub struct Waits {
    times: [[AtomicU64; 2]; ROOM],
    length: AtomicUsize,
}

impl Default for Waits {
    fn default() -> Self {
        Waits { times: std::array::from_fn(|_| Default::default()), length: AtomicUsize::new(0) }
    }
}

impl Waits {
    /// Adds a step. Returns whether that took the last place, and then they must be counted.
    #[inline(always)]
    pub fn add(&self, ready: u64, start: u64) -> bool {
        let length = self.length.load(Relaxed);
        if let Some([to_ready, to_start]) = self.times.get(length) {
            to_ready.store(ready, Relaxed);
            to_start.store(start, Relaxed);
        }
        self.length.store(length + 1, Relaxed);
        length + 1 >= ROOM
    }

    /// Counts the steps and forgets them.
    #[cold]
    #[inline(never)]
    pub fn count(&self, observer: &Observer) {
        let length = self.length.swap(0, Relaxed).min(ROOM);
        observer.ready(self.times[..length].iter().map(|[ready, start]| Wait {
            ready: ready.load(Relaxed),
            start: start.load(Relaxed),
            tasks: 1,
        }));
    }
}
