//! Which thread is which worker, and what happens at a poll.
//!
//! tokio's workers are not threads. `block_in_place` hands a worker to another thread in the middle
//! of a poll, and a `current_thread` runtime is wherever `block_on` is called. So each worker has a
//! seat, which the thread that polls takes. Between polls no seat can be taken from a thread that
//! still is the worker, because tokio gives away the worker itself first.

use std::{
    panic::Location,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use taskscale_live::{Observer, Wait, Worker};
use taskscale_sys::{
    held::Items,
    ticks::{self, Rate},
};
use tokio::runtime::worker_index;

use crate::sites::Sites;

/// The name of a poll during which the worker went on in another thread.
const LEFT: &[u8] = b"(until block_in_place)";

/// A worker, and the numbers of its spawn locations.
#[derive(Debug)]
struct Seat {
    worker: Arc<Worker>,
    sites: Sites,
    /// When the tasks of its latest timed polls became ready.
    waits: Mutex<Vec<Wait>>,
}

/// The number of waits that a seat keeps. They are counted together, because all workers share one
/// lock for that.
const WAITS: usize = 64;

impl Seat {
    fn new(worker: Arc<Worker>) -> Self {
        Seat { worker, sites: Sites::default(), waits: Mutex::default() }
    }

    // This is not inlined, so that most polls, which do without it, need not save the registers
    // that it uses.
    #[inline(never)]
    fn begin(&self, waited: Option<Duration>, observer: &OnceLock<Arc<Observer>>) {
        self.begin_at(ticks::now(), waited, observer);
    }

    #[inline(always)]
    fn begin_at(&self, now: u64, waited: Option<Duration>, observer: &OnceLock<Arc<Observer>>) {
        if let Some(waited) = waited {
            self.waited(now, waited, observer);
        }
        self.worker.begin_at(now);
    }

    /// Keeps for how long the task had been ready whose poll begins at `now`.
    #[cold]
    fn waited(&self, now: u64, waited: Duration, observer: &OnceLock<Arc<Observer>>) {
        let ticks = Rate::of_machine().ticks(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX));
        let wait = Wait { ready: now.saturating_sub(ticks), start: now, tasks: self.worker.untimed() + 1 };
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if waits.capacity() == 0 {
            waits.reserve_exact(WAITS);
        }
        waits.push(wait);
        if waits.len() == WAITS
            && let Some(observer) = observer.get()
        {
            observer.ready(waits.drain(..));
        }
    }

    fn count_waits(&self, observer: &Observer) {
        observer.ready(self.waits.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
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
    /// Who counts.
    observer: OnceLock<Arc<Observer>>,
}

impl Seats {
    /// Records polls from here on.
    pub fn open(&self, observer: &Arc<Observer>, workers: usize) {
        self.observer.get_or_init(|| observer.clone());
        self.seats.set((0..workers).map(|index| Seat::new(observer.worker(index as u32))));
    }

    /// Counts the ready times that seats still keep.
    pub fn count_waits(&self, observer: &Observer) {
        self.seats.iter().for_each(|seat| seat.count_waits(observer));
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

    /// Handles the begin of a poll on this thread. `waited` tells for how long its task had been
    /// ready; it is asked only if the poll is timed.
    #[inline(always)]
    pub fn before_poll(&self, waited: impl FnOnce() -> Option<Duration>) {
        match self.seats.held() {
            Some(seat) if seat.worker.begin_untimed() => (),
            Some(seat) => seat.begin(waited(), &self.observer),
            None => self.sit_down(waited()),
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
    fn sit_down(&self, waited: Option<Duration>) {
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
        seat.begin_at(now, waited, &self.observer);
    }
}
