//! Waits for tasks whose handles were dropped, with one atomic decrement per task and one waker. It
//! serves tokio and smol alike, so that their `discard` figures differ by the runtime alone.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use futures_util::task::AtomicWaker;

/// Counts live tasks down and wakes the one that waits.
pub struct Latch {
    live: AtomicU64,
    limit: u64,
    waker: AtomicWaker,
}

impl Latch {
    /// Makes a latch over `live` tasks that are about to be started. [`Latch::enter`] lets more in,
    /// up to `limit` at once.
    pub fn new(live: u64, limit: u64) -> Arc<Self> {
        Arc::new(Latch { live: AtomicU64::new(live), limit, waker: AtomicWaker::new() })
    }

    /// Waits until fewer than `limit` tasks are alive and counts one more. Only the one creator may
    /// call this.
    pub async fn enter(&self) {
        self.below(self.limit).await;
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a task that is done. Wakes the waiter if this ends what it may wait for: a full
    /// window, or the last task.
    #[inline]
    pub fn leave(&self) {
        let before = self.live.fetch_sub(1, Ordering::AcqRel);
        if before == 1 || before == self.limit {
            self.waker.wake();
        }
    }

    /// Waits for all tasks.
    pub async fn done(&self) {
        self.below(1).await;
    }

    async fn below(&self, bound: u64) {
        poll_fn(|context| {
            if self.live.load(Ordering::Acquire) < bound {
                return Poll::Ready(());
            }
            self.waker.register(context.waker());
            // This is checked again, because the last task may have left before the waker was
            // there.
            if self.live.load(Ordering::Acquire) < bound { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
