//! A worker, and the calls that every task makes. Each takes some nanoseconds and no lock.
//!
//! `cpp/include/taskscale/taskscale.h` repeats these calls, inlined, on the same memory
//! ([`Shared`]). `cpp/tests/pool.cpp` checks that the two agree.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use taskscale_sys::ticks;

use crate::{
    clock::Clock,
    entry,
    names::{Latest, Words},
    options::Options,
    plan::Plan,
    regime::LONG_NS,
    shared::Shared,
    state::State,
};

/// A worker: one thread that runs tasks, one after the other or inside each other.
///
/// Calls of [`begin`](Worker::begin) and [`end`](Worker::end) come from one thread at a time. If
/// they do not, figures are wrong and nothing else breaks: all fields are atomic.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Worker {
    pub(crate) shared: Shared,
    // The C header does not know the fields from here on.
    pub(crate) index: u32,
    latest: Latest,
    /// The thread's run delay at the last question, in nanoseconds.
    pub(crate) delay: AtomicU64,
    /// How often the thread had got a processor then.
    pub(crate) slices: AtomicU64,
    /// The thread's CPU time at the last question, in nanoseconds.
    pub(crate) ran: AtomicU64,
    /// Whether the worker was told of a wait since its last task.
    pub(crate) rested: AtomicBool,
    pub(crate) clock: Clock,
    /// The sums that the buffer is counted into.
    state: Mutex<State>,
}

impl Worker {
    pub(crate) fn new(index: u32, options: &Options) -> Self {
        let counter = ticks::source() == ticks::Source::Counter;
        Worker {
            shared: Shared::new(counter, options.clock.rate().ticks(LONG_NS)),
            index,
            latest: Latest::default(),
            delay: AtomicU64::new(0),
            slices: AtomicU64::new(0),
            ran: AtomicU64::new(0),
            rested: AtomicBool::new(false),
            clock: options.clock.clone(),
            state: Mutex::new(State::new(index, options)),
        }
    }

    /// The index by which the observer made this worker.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The number of tasks that went untimed since the last timed one. A task that is timed now
    /// stands for these, too.
    pub fn untimed(&self) -> u32 {
        self.shared.plan().untimed()
    }

    /// Whether a task is open.
    pub fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Begins a task on this worker, inside the open one if there is one.
    #[inline]
    pub fn begin(&self) {
        if !self.begin_untimed() {
            self.begin_timed(ticks::now());
        }
    }

    /// Ends the task that began last. `name` may be empty; only its first 48 bytes are kept.
    #[inline]
    pub fn end(&self, name: &[u8]) {
        if !self.end_untimed() {
            self.end_timed(ticks::now(), name);
        }
    }

    /// Begins a task at `now` (ticks).
    #[inline]
    pub fn begin_at(&self, now: u64) {
        if !self.begin_untimed() {
            self.begin_timed(now);
        }
    }

    /// Ends the task that began last, at `now` (ticks).
    #[inline]
    pub fn end_at(&self, now: u64, name: &[u8]) {
        if !self.end_untimed() {
            self.end_timed(now, name);
        }
    }

    /// Begins a task if it is one that goes untimed, and returns whether it was. If not, the task
    /// has not begun yet.
    #[inline(always)]
    pub fn begin_untimed(&self) -> bool {
        let plan = self.shared.plan();
        if !plan.skips() {
            return false;
        }
        self.shared.set_plan(plan.begun());
        true
    }

    /// Ends the open task if it is an untimed one, and returns whether it was. The name of an
    /// untimed task does not matter. If it returns false, the task has not ended yet.
    #[inline(always)]
    pub fn end_untimed(&self) -> bool {
        let plan = self.shared.plan();
        if !plan.is_open() {
            return false;
        }
        self.shared.set_plan(plan.ended());
        true
    }

    #[inline]
    fn begin_timed(&self, now: u64) {
        let shared = &self.shared;
        if shared.plan().is_open() {
            self.inside_untimed(now);
        }
        let depth = shared.depth.load(Relaxed);
        if depth == 0 {
            if self.rested.load(Relaxed) {
                self.has_rested(now);
            }
            if shared.is_long(shared.since_last(now)) {
                self.long_gap(now);
            }
        } else {
            let parents = shared.parents.load(Relaxed);
            shared.parents.store(parents | 1u32.wrapping_shl(depth - 1), Relaxed);
        }
        if let Some(open) = shared.open.get(depth as usize) {
            open.store(now, Relaxed);
        }
        shared.depth.store(depth.wrapping_add(1), Relaxed);
    }

    #[inline]
    fn end_timed(&self, now: u64, name: &[u8]) {
        let number = if name.is_empty() { 0 } else { self.name(name) };
        self.end_numbered_at(now, number);
    }

    /// Ends the task that began last, at `now` (ticks). The task is a timed one, as
    /// [`end_untimed`](Worker::end_untimed) tells. `number` is that of its name
    /// ([`name`](Worker::name)), 0 for none. A rim that remembers numbers saves the comparison of
    /// names. Numbers hold until a new one is asked for while all 16 are in use.
    #[inline]
    pub fn end_numbered_at(&self, now: u64, number: u32) {
        let shared = &self.shared;
        let Some(depth) = shared.depth.load(Relaxed).checked_sub(1) else { return self.stray() };
        shared.depth.store(depth, Relaxed);
        let Some(open) = shared.open.get(depth as usize) else { return self.deep() };
        let begin = open.load(Relaxed);
        let parents = shared.parents.load(Relaxed);
        let leaf = (parents >> depth) & 1 == 0;
        shared.parents.store(parents & ((1 << depth) - 1), Relaxed);
        let untimed = if depth == 0 { self.next_plan(now) } else { 0 };
        self.push(begin, now, entry::task(number, depth, leaf, untimed));
        if depth == 0 && shared.is_long(now.wrapping_sub(begin)) {
            self.long_task(now.wrapping_sub(begin), leaf.then_some(number));
        }
    }

    /// Plans how many tasks go untimed behind an outermost task that ended at `now`. Returns how
    /// many went untimed before it. This comes before the entry, so that whoever looks meanwhile
    /// misses tasks rather than counting them twice.
    #[inline]
    fn next_plan(&self, now: u64) -> u32 {
        let shared = &self.shared;
        let untimed = shared.plan().all();
        shared.last.store(now, Relaxed);
        let sampled = shared.sampled.load(Relaxed) != 0;
        shared.set_plan(if sampled { Plan::behind(now) } else { Plan::NONE });
        untimed
    }

    /// Stores an entry, and counts the buffer if that took the last place.
    #[inline]
    pub(crate) fn push(&self, begin: u64, end: u64, kind: u64) {
        if self.shared.push(begin, end, kind) {
            self.flush();
        }
    }

    /// The number of a name, for an entry. This takes about 3 ns for the latest name and 30 ns for
    /// another one.
    #[inline]
    pub fn name(&self, name: &[u8]) -> u32 {
        let words = Words::of(name);
        self.latest.number(words).unwrap_or_else(|| self.other_name(name, words))
    }

    #[cold]
    fn other_name(&self, name: &[u8], words: Words) -> u32 {
        let known = self.state().names.number(name);
        let number = known.unwrap_or_else(|| {
            // Numbers have a meaning in the buffer only. Once the buffer is empty they can be given
            // anew.
            self.flush();
            let mut state = self.state();
            state.rename();
            state.names.number(name).unwrap_or(0)
        });
        self.latest.set(words, number);
        number
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic can leave nothing in there half done that would matter to a sum.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
