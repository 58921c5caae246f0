//! Which thread is which worker, and what happens at a poll.
//!
//! tokio's workers are not threads. `block_in_place` hands a worker to another thread in the middle
//! of a poll, and a `current_thread` runtime is wherever `block_on` is called. So each worker has a
//! seat, which the thread that polls takes. Between polls no seat can be taken from a thread that
//! still is the worker, because tokio gives away the worker itself first.

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

/// The name of a poll during which the worker went on in another thread.
const LEFT: &[u8] = b"(until block_in_place)";

/// A worker, and the numbers of its spawn locations.
#[derive(Debug)]
struct Seat {
    worker: Arc<Worker>,
    sites: Sites,
}

impl Seat {
    // This is not inlined, so that most polls, which do without it, need not save the registers
    // that it uses.
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

/// The seats of one runtime, which its hooks share.
#[derive(Debug, Default)]
pub struct Seats {
    /// The seats are set once the runtime has been built and before anything can be spawned on it.
    seats: Items<Seat>,
    /// The number of polls that belong to no worker.
    elsewhere: AtomicU64,
}

impl Seats {
    /// Records polls from here on.
    pub fn open(&self, observer: &Observer, workers: usize) {
        let seat = |index| Seat { worker: observer.worker(index as u32), sites: Sites::default() };
        self.seats.set((0..workers).map(seat));
    }

    /// Memory beside that of the observer, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.seats.bytes()
    }

    /// The number of polls that were not recorded because tokio named no worker for them. No such
    /// case is known.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Relaxed)
    }

    /// Handles the begin of a poll on this thread.
    #[inline(always)]
    pub fn before_poll(&self) {
        match self.seats.held() {
            Some(seat) if seat.worker.begin_untimed() => (),
            Some(seat) => seat.begin(),
            None => self.sit_down(),
        }
    }

    /// Handles the end of a poll. `spawned_at` tells where the task was spawned; it is asked only
    /// if the poll was timed.
    #[inline(always)]
    pub fn after_poll(&self, spawned_at: impl FnOnce() -> &'static Location<'static>) {
        // A thread has no seat here if `block_in_place` gave the worker away. The thread that took
        // the worker has ended this poll.
        if let Some(seat) = self.seats.held()
            && !seat.worker.end_untimed()
        {
            seat.end(spawned_at());
        }
    }

    /// Handles the begin of a wait of this thread.
    pub fn before_park(&self) {
        if let Some(seat) = self.seats.held() {
            seat.worker.rests();
        }
    }

    /// Handles the first poll of a worker in this thread.
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
            // That name may have taken the last number, so all numbers are given anew.
            seat.sites.clear();
        }
        seat.worker.moved();
        seat.worker.begin_at(now);
    }
}
