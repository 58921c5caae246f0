//! Which thread is which worker, and what happens at a poll.
//!
//! tokio's workers are not threads: `block_in_place` hands a worker to another thread, in the
//! middle of a poll, and a `current_thread` runtime is wherever `block_on` is called. So each
//! worker has a seat, which the thread that polls takes. Between polls a seat cannot be taken from
//! a thread that still is the worker, since tokio gives the worker itself away before.

use std::{
    panic::Location,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use taskscale_live::{Observer, Worker};
use taskscale_sys::{held::Items, ticks};
use tokio::runtime::worker_index;

use crate::sites::Sites;

/// The name of a poll from which the worker went on in another thread.
const LEFT: &[u8] = b"(until block_in_place)";

/// A worker, and what its polls are called.
#[derive(Debug)]
struct Seat {
    worker: Arc<Worker>,
    sites: Sites,
}

impl Seat {
    // Not inlined: most polls get by without these, and then need not save the registers that these
    // use.
    #[inline(never)]
    fn begin(&self) {
        self.worker.begin_at(ticks::now());
    }

    #[inline(never)]
    fn end(&self, spawned_at: &'static Location<'static>) {
        let now = ticks::now();
        self.worker.end_numbered_at(now, self.sites.number(&self.worker, spawned_at));
    }
}

/// What the hooks of one runtime share: its seats.
#[derive(Debug, Default)]
pub struct Seats {
    /// Set when the runtime has been built, before anything can be spawned on it.
    seats: Items<Seat>,
    /// Polls that belong to no worker.
    elsewhere: AtomicU64,
}

impl Seats {
    /// From now on polls are recorded.
    pub fn open(&self, observer: &Observer, workers: usize) {
        let seat = |index| Seat { worker: observer.worker(index as u32), sites: Sites::default() };
        self.seats.set((0..workers).map(seat));
    }

    /// Memory beside that of the observer, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.seats.bytes()
    }

    /// Polls that were not recorded, since tokio named no worker for them. None are known.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Relaxed)
    }

    /// A poll begins on this thread.
    #[inline(always)]
    pub fn before_poll(&self) {
        match self.seats.held() {
            Some(seat) if seat.worker.begin_untimed() => (),
            Some(seat) => seat.begin(),
            None => self.sit_down(),
        }
    }

    /// The poll ended, of a task that was spawned there: asked for where the poll was timed.
    #[inline(always)]
    pub fn after_poll(&self, spawned_at: impl FnOnce() -> &'static Location<'static>) {
        // Without a seat: `block_in_place` gave the worker away, and whoever took it has ended this
        // poll.
        if let Some(seat) = self.seats.held()
            && !seat.worker.end_untimed()
        {
            seat.end(spawned_at());
        }
    }

    /// This thread is about to wait.
    pub fn before_park(&self) {
        if let Some(seat) = self.seats.held() {
            seat.worker.rests();
        }
    }

    /// The first poll of a worker in this thread.
    #[cold]
    #[inline(never)]
    fn sit_down(&self) {
        let now = ticks::now();
        let index = worker_index().unwrap_or(usize::MAX);
        let Some(seat) = self.seats.take(index) else {
            self.elsewhere.fetch_add(1, Relaxed);
            return;
        };
        if seat.worker.is_open() {
            seat.worker.end_at(now, LEFT);
            // That name may have been one too many.
            seat.sites.clear();
        }
        seat.worker.moved();
        seat.worker.begin_at(now);
    }
}
