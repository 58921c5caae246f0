//! A thread that looks where a step is once it has held up its loop for 100 ms. Afterwards nobody
//! could tell.
//!
//! The thread sleeps in between and asks for the GIL only when it looks. The first task starts it.
//! It is stopped before a fork, so that a child does not come from a process with a thread that the
//! child does not know.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

use pyo3::prelude::*;
use taskscale_live::Worker;
use taskscale_sys::ticks;

use crate::waits::Waits;

/// How often it looks whether a step is slow: four times within the 100 ms that make a step slow.
const PERIOD: Duration = Duration::from_millis(25);

/// A place in a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spot {
    /// The name of the function.
    pub function: String,
    /// The file of the function.
    pub file: String,
    pub line: u32,
}

/// A thread that runs event loops.
#[derive(Debug)]
pub struct Seat {
    /// The worker that the thread is.
    pub worker: Arc<Worker>,
    /// The ticks at the begin of the present step; 0 between steps.
    pub begin: AtomicU64,
    /// When its latest steps became ready.
    pub waits: Waits,
    /// Python's identifier of the thread.
    ident: u64,
    /// The begin of the last step that was looked at, and where it was then.
    seen: Mutex<(u64, Spot)>,
}

impl Seat {
    /// Makes the seat of the calling thread.
    pub fn new(py: Python<'_>, worker: Arc<Worker>) -> Arc<Self> {
        let ident = py.import("_thread").and_then(|module| module.call_method0("get_ident")?.extract());
        Arc::new(Seat {
            worker,
            begin: AtomicU64::new(0),
            waits: Waits::default(),
            ident: ident.unwrap_or(0),
            seen: Mutex::default(),
        })
    }

    /// The place where the step that began at `begin` was; `None` if it was not looked at.
    pub fn spot(&self, begin: u64) -> Option<Spot> {
        let seen = lock(&self.seen);
        (seen.0 == begin && seen.1.line > 0).then(|| seen.1.clone())
    }
}

/// Seats, and the thread that watches them.
#[derive(Debug, Default)]
pub struct Watch {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    seats: Mutex<Vec<Arc<Seat>>>,
    stop: Mutex<bool>,
    stopped: Condvar,
    looks: AtomicU64,
}

impl Watch {
    /// Adds a seat to those that are watched.
    pub fn add(&self, seat: Arc<Seat>) {
        lock(&self.shared.seats).push(seat);
    }

    /// Removes a seat from those that are watched.
    pub fn remove(&self, seat: &Arc<Seat>) {
        lock(&self.shared.seats).retain(|known| !Arc::ptr_eq(known, seat));
    }

    /// How often it has looked where a step was.
    pub fn looks(&self) -> u64 {
        self.shared.looks.load(Relaxed)
    }

    /// Starts the thread if it does not run. If the system can start none, lines are those of the
    /// next `await`.
    pub fn start(&self, slow: u64) {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            *lock(&self.shared.stop) = false;
            let shared = self.shared.clone();
            *thread =
                std::thread::Builder::new().name("taskscale".into()).spawn(move || shared.watch(slow)).ok();
        }
    }

    /// Stops the thread and waits for it. The GIL is released, because the thread may be waiting
    /// for it.
    pub fn stop(&self, py: Python<'_>) {
        let Some(thread) = lock(&self.thread).take() else { return };
        *lock(&self.shared.stop) = true;
        self.shared.stopped.notify_all();
        // If the thread has panicked, nothing can be done about it here.
        py.detach(|| thread.join().ok());
    }
}

impl Shared {
    fn watch(&self, slow: u64) {
        let mut stop = lock(&self.stop);
        while !*stop {
            let waited = self.stopped.wait_timeout(stop, PERIOD);
            stop = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            if *stop {
                return;
            }
            drop(stop);
            let seats = lock(&self.seats).clone();
            seats.iter().for_each(|seat| self.look_if_slow(seat, slow));
            stop = lock(&self.stop);
        }
    }

    fn look_if_slow(&self, seat: &Seat, slow: u64) {
        let begin = seat.begin.load(Relaxed);
        if begin == 0 || ticks::now().saturating_sub(begin) < slow || lock(&seat.seen).0 == begin {
            return;
        }
        let spot = Python::try_attach(|py| {
            // The step may have ended while this waited for the GIL.
            let spot = (seat.begin.load(Relaxed) == begin).then(|| spot(py, seat.ident));
            spot.and_then(Result::ok)
        });
        if let Some(spot) = spot.flatten() {
            *lock(&seat.seen) = (begin, spot);
            self.looks.fetch_add(1, Relaxed);
        }
    }
}

fn spot(py: Python<'_>, ident: u64) -> PyResult<Spot> {
    let found = py.import("taskscale._spot")?.call_method1("spot", (ident,))?;
    let (function, file, line) = found.extract()?;
    Ok(Spot { function, file, line })
}

/// Locks a mutex. Nothing behind these locks can be left half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
