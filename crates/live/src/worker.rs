//! A worker, and the calls that every task makes: some nanoseconds each, no lock on the way.
//!
//! `cpp/include/taskscale/taskscale.h` has these calls once more, inlined, on the same memory
//! ([`Shared`]); `cpp/tests/pool.cpp` holds the two together.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
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
/// they do not, figures are wrong and nothing else is: all fields are atomic.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Worker {
    pub(crate) shared: Shared,
    // From here on nothing is known outside.
    pub(crate) index: u32,
    latest: Latest,
    /// Run delay of the thread when it was last asked for.
    pub(crate) delay: AtomicU64,
    pub(crate) clock: Clock,
    /// What the buffer is emptied into.
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
            clock: options.clock.clone(),
            state: Mutex::new(State::new(index, options)),
        }
    }

    /// Its index.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Whether a task is open.
    pub fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// A task begins on this worker; inside the one that is open, where one is.
    #[inline]
    pub fn begin(&self) {
        if !self.begin_untimed() {
            self.begin_timed(ticks::now());
        }
    }

    /// The task that began last ends. `name` may be empty; 48 bytes of it count.
    #[inline]
    pub fn end(&self, name: &[u8]) {
        if !self.end_untimed() {
            self.end_timed(ticks::now(), name);
        }
    }

    /// A task began at `now` (ticks).
    #[inline]
    pub fn begin_at(&self, now: u64) {
        if !self.begin_untimed() {
            self.begin_timed(now);
        }
    }

    /// The task that began last ended at `now` (ticks).
    #[inline]
    pub fn end_at(&self, now: u64, name: &[u8]) {
        if !self.end_untimed() {
            self.end_timed(now, name);
        }
    }

    /// Whether the task that begins is one that is not timed: then this was all. Otherwise it has
    /// not begun yet.
    #[inline(always)]
    pub fn begin_untimed(&self) -> bool {
        let plan = self.shared.plan();
        if !plan.skips() {
            return false;
        }
        self.shared.set_plan(plan.begun());
        true
    }

    /// Whether the task that ends is one that is not timed: then this was all, and its name does
    /// not matter. Otherwise it has not ended yet.
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

    /// The task that began last, which is timed ([`end_untimed`](Worker::end_untimed) says so),
    /// ended at `now` (ticks); its name has this number ([`name`](Worker::name)), 0 for none. A rim
    /// that remembers numbers saves the comparison of names. Numbers hold until one is asked for
    /// with all 16 in use.
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
            self.long_task(now.wrapping_sub(begin));
        }
    }

    /// An outermost task ended at `now`: plans how many are not timed behind it. Returns how many
    /// were not timed before it. Comes before the entry, so that whoever looks meanwhile misses
    /// tasks rather than counting them twice.
    #[inline]
    fn next_plan(&self, now: u64) -> u32 {
        let shared = &self.shared;
        let untimed = shared.plan().all();
        shared.last.store(now, Relaxed);
        let sampled = shared.sampled.load(Relaxed) != 0;
        shared.set_plan(if sampled { Plan::behind(now) } else { Plan::NONE });
        untimed
    }

    /// Keeps an entry, and counts all where that was the last place.
    #[inline]
    pub(crate) fn push(&self, begin: u64, end: u64, kind: u64) {
        if self.shared.push(begin, end, kind) {
            self.flush();
        }
    }

    /// The number of a name, for an entry. About 3 ns for the latest name, 30 ns for another one.
    #[inline]
    pub fn name(&self, name: &[u8]) -> u32 {
        let words = Words::of(name);
        self.latest.number(words).unwrap_or_else(|| self.other_name(name, words))
    }

    #[cold]
    fn other_name(&self, name: &[u8], words: Words) -> u32 {
        let known = self.state().names.number(name);
        let number = known.unwrap_or_else(|| {
            // Numbers mean something in the buffer only; with the buffer empty they can be given
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
        // Nothing in there can be left half done that would matter to a sum.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
