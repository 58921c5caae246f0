//! Which thread is which worker, and what happens at a poll.
//!
//! tokio's workers are not threads: `block_in_place` hands a worker to another thread, in the middle of a poll, and a
//! `current_thread` runtime is wherever `block_on` is called. So each worker has a seat, which the thread that polls takes; a
//! thread that has lost its seat finds that out by one comparison. Between polls a seat cannot be taken from a thread that
//! still is the worker, since tokio gives the worker itself away before.

use std::{
    cell::Cell,
    panic::Location,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use taskscale_live::{Observer, Worker};
use taskscale_sys::ticks;
use tokio::runtime::worker_index;

use crate::sites::Sites;

/// The name of a poll from which the worker went on in another thread.
const LEFT: &[u8] = b"(until block_in_place)";

/// A thread's right to be a worker.
#[derive(Debug, Clone, Copy)]
struct Ticket {
    /// Never given twice, so that it says which thread, which worker and which runtime. 0 is none.
    number: u64,
    /// The worker.
    index: usize,
}

thread_local! {
    // Without a destructor: reading it is one load.
    static TICKET: Cell<Ticket> = const { Cell::new(Ticket { number: 0, index: 0 }) };
}

static TICKETS: AtomicU64 = AtomicU64::new(1);

/// A worker, and who is it. On cache lines of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Seat {
    /// Number of the ticket that is valid.
    holder: AtomicU64,
    worker: Arc<Worker>,
    sites: Sites,
}

impl Seat {
    // Not inlined: most polls get by without these, and then need not save the registers that these use.
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
    seats: OnceLock<Box<[Seat]>>,
    /// Polls that belong to no worker.
    elsewhere: AtomicU64,
}

impl Seats {
    /// From now on polls are recorded.
    pub fn open(&self, observer: &Observer, workers: usize) {
        let seat = |index| Seat {
            holder: AtomicU64::new(u64::MAX),
            worker: observer.worker(index as u32),
            sites: Sites::default(),
        };
        // Called once; a second call would change nothing.
        let _ = self.seats.set((0..workers).map(seat).collect());
    }

    /// Memory beside that of the observer, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.seats.get().map_or(0, |seats| size_of_val(&**seats))
    }

    /// Polls that were not recorded, since tokio named no worker for them. None are known.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Relaxed)
    }

    /// A poll begins on this thread.
    #[inline(always)]
    pub fn before_poll(&self) {
        match self.mine() {
            Some(seat) if seat.worker.begin_untimed() => (),
            Some(seat) => seat.begin(),
            None => self.sit_down(),
        }
    }

    /// The poll ended.
    #[inline(always)]
    pub fn after_poll(&self, spawned_at: &'static Location<'static>) {
        // Without a seat: `block_in_place` gave the worker away, and whoever took it has ended this poll.
        if let Some(seat) = self.mine()
            && !seat.worker.end_untimed()
        {
            seat.end(spawned_at);
        }
    }

    /// This thread is about to wait.
    pub fn before_park(&self) {
        if let Some(seat) = self.mine() {
            seat.worker.rests();
        }
    }

    /// The seat of this thread.
    #[inline(always)]
    fn mine(&self) -> Option<&Seat> {
        let ticket = TICKET.get();
        let seat = self.seats.get()?.get(ticket.index)?;
        (seat.holder.load(Relaxed) == ticket.number).then_some(seat)
    }

    /// The first poll of a worker in this thread.
    #[cold]
    #[inline(never)]
    fn sit_down(&self) {
        let now = ticks::now();
        let index = worker_index().unwrap_or(usize::MAX);
        let Some(seat) = self.seats.get().and_then(|seats| seats.get(index)) else {
            self.elsewhere.fetch_add(1, Relaxed);
            return;
        };
        if seat.worker.is_open() {
            seat.worker.end_at(now, LEFT);
            // That name may have been one too many.
            seat.sites.clear();
        }
        seat.worker.moved();
        let number = TICKETS.fetch_add(1, Relaxed);
        seat.holder.store(number, Relaxed);
        TICKET.set(Ticket { number, index });
        seat.worker.begin_at(now);
    }
}
