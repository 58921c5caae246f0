//! What one observation records.

use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use pyo3::Python;
use taskscale_live::{Observer, Options, Worker};
use taskscale_sys::ticks::{self, Rate};

use crate::{
    blocked::{Blocked, Place, SLOW_NS},
    delays::Delays,
    watch::{Seat, Watch, lock},
};

/// Threads of one kind, each a worker: the threads that run event loops, or those of pools.
#[derive(Debug)]
pub struct Crew {
    /// Tells crews of different sessions apart.
    pub number: u64,
    /// The observer that digests what they do.
    pub observer: Arc<Observer>,
    /// The time from the making of a task or work item to its first step.
    pub delays: Delays,
    /// The indices that threads of the past have given back.
    free: Mutex<Free>,
    /// Tasks made (`made`), those that have ended or were dropped (`ended`), and the most that were
    /// alive at once (`peak`).
    made: AtomicU64,
    ended: AtomicU64,
    peak: AtomicU64,
}

#[derive(Debug, Default)]
struct Free {
    indices: Vec<u32>,
    next: u32,
    /// The most that were in use at once since the last clearing.
    peak: u32,
}

impl Free {
    /// The number of indices in use.
    fn alive(&self) -> u32 {
        self.next - self.indices.len() as u32
    }
}

/// A thread's place in a crew. It is given back when the thread ends.
struct Post {
    crew: Weak<Crew>,
    number: u64,
    worker: Arc<Worker>,
}

impl Drop for Post {
    fn drop(&mut self) {
        if let Some(crew) = self.crew.upgrade() {
            lock(&crew.free).indices.push(self.worker.index());
        }
    }
}

thread_local! {
    // The posts belong to at most two crews: loops and pools.
    static POSTS: RefCell<Vec<Post>> = const { RefCell::new(Vec::new()) };
}

impl Crew {
    fn new(source: &str, no_ready_times: Option<(&'static str, &'static str)>) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Crew {
            number: NUMBERS.fetch_add(1, Relaxed),
            // Steps take microseconds and their lines are asked for, so every task is timed.
            observer: Observer::new(Options {
                source: source.into(),
                exact: true,
                no_ready_times,
                ..Options::default()
            }),
            delays: Delays::default(),
            free: Mutex::default(),
            made: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        })
    }

    /// The calling thread's worker, which is given to it if it has none. This takes about 10 ns.
    pub fn worker(self: &Arc<Self>) -> Arc<Worker> {
        let known = POSTS.try_with(|posts| {
            let mut posts = posts.borrow_mut();
            if let Some(post) = posts.iter().find(|post| post.number == self.number) {
                return post.worker.clone();
            }
            posts.retain(|post| post.crew.strong_count() > 0);
            let worker = self.free_worker();
            let crew = Arc::downgrade(self);
            posts.push(Post { crew, number: self.number, worker: worker.clone() });
            worker
        });
        // An ending thread has lost its locals, and nothing will give the worker back.
        known.unwrap_or_else(|_| self.free_worker())
    }

    fn free_worker(&self) -> Arc<Worker> {
        let mut free = lock(&self.free);
        let index = free.indices.pop().unwrap_or_else(|| {
            free.next += 1;
            free.next - 1
        });
        free.peak = free.peak.max(free.alive());
        self.observer.worker(index)
    }

    /// The most threads that were alive at once, of those that have had a task.
    pub fn threads(&self) -> u32 {
        lock(&self.free).peak
    }

    /// Counts a task that was made.
    #[inline]
    pub fn task_made(&self) {
        // The GIL is held, so no two threads add at once.
        let made = self.made.load(Relaxed) + 1;
        self.made.store(made, Relaxed);
        let alive = made.wrapping_sub(self.ended.load(Relaxed));
        if alive > self.peak.load(Relaxed) {
            self.peak.store(alive, Relaxed);
        }
    }

    /// Counts a task that has ended, or that was dropped before it could.
    #[inline]
    pub fn task_ended(&self) {
        self.ended.store(self.ended.load(Relaxed) + 1, Relaxed);
    }

    /// The number of tasks made, of those alive now, and the most that were alive at once.
    pub fn alive(&self) -> (u64, u64, u64) {
        let (made, ended) = (self.made.load(Relaxed), self.ended.load(Relaxed));
        (made, made.saturating_sub(ended), self.peak.load(Relaxed))
    }

    fn clear(&self) {
        self.observer.clear();
        self.delays.clear();
        let alive = self.alive().1;
        self.made.store(alive, Relaxed);
        self.ended.store(0, Relaxed);
        self.peak.store(alive, Relaxed);
        let mut free = lock(&self.free);
        free.peak = free.alive();
    }
}

/// Why ready times of steps are missing, and what to do.
const NOT_ASKED: (&str, &str) = (
    "queue delays were not asked for",
    "observe(queue_delays=True), or `python -m taskscale.observe --queue-delays`",
);
const HIDDEN: (&str, &str) =
    ("the loop hides its queue of ready handles, as uvloop's does", "observe a loop of asyncio's own");

/// One observation.
#[derive(Debug)]
pub struct Session {
    /// Threads that run event loops.
    pub loops: Arc<Crew>,
    /// Threads of pools.
    pub pools: Arc<Crew>,
    /// Whether it asks when steps become ready. Work items of pools always tell it.
    pub queue_delays: bool,
    /// The rate of the machine's clock.
    pub rate: Rate,
    /// [`SLOW_NS`] in ticks.
    pub slow: u64,
    /// The thread that looks where slow steps are.
    pub watch: Watch,
    blocked: Mutex<Blocked>,
    /// The threads of `loops`, each with its number. They are kept as long as the session lives,
    /// because steps refer to them.
    seats: Mutex<Vec<(Arc<Seat>, u64)>>,
}

impl Session {
    /// Makes a session that has seen nothing. The first in a process measures the clock's rate for
    /// 2 ms.
    pub fn new(queue_delays: bool) -> Arc<Self> {
        ticks::source();
        let rate = Rate::of_machine();
        Arc::new(Session {
            loops: Crew::new("asyncio", Some(if queue_delays { HIDDEN } else { NOT_ASKED })),
            pools: Crew::new("concurrent.futures", None),
            queue_delays,
            rate,
            slow: rate.ticks(SLOW_NS),
            watch: Watch::default(),
            blocked: Mutex::default(),
            seats: Mutex::default(),
        })
    }

    /// The seat of the calling thread. `thread` is its number among all threads there ever were.
    pub fn seat(&self, py: Python<'_>, thread: u64) -> Arc<Seat> {
        let worker = self.loops.worker();
        let mut seats = lock(&self.seats);
        if let Some((seat, _)) = seats.iter().find(|(_, known)| *known == thread) {
            return seat.clone();
        }
        // A thread that has ended has given its worker back, and its seat goes with it.
        let same = |seat: &Arc<Seat>| Arc::ptr_eq(&seat.worker, &worker);
        for (seat, _) in seats.iter().filter(|(seat, _)| same(seat)) {
            self.watch.remove(seat);
            seat.waits.count(&self.loops.observer);
        }
        seats.retain(|(seat, _)| !same(seat));
        let seat = Seat::new(py, worker.clone());
        self.watch.add(seat.clone());
        seats.push((seat.clone(), thread));
        seat
    }

    /// Counts the ready times that threads still keep. The caller holds the GIL.
    pub fn count_waits(&self) {
        lock(&self.seats).iter().for_each(|(seat, _)| seat.waits.count(&self.loops.observer));
    }

    /// Counts a step that held up its loop.
    pub fn blocked(&self, place: Place) {
        lock(&self.blocked).add(place);
    }

    /// The places where loops were held up, costliest first.
    pub fn places(&self) -> Vec<Place> {
        lock(&self.blocked).places()
    }

    /// Forgets everything so far.
    pub fn clear(&self) {
        self.count_waits();
        self.loops.clear();
        self.pools.clear();
        lock(&self.blocked).clear();
    }
}
