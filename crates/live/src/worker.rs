//! What one worker records.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use taskscale_digest::Accumulator;
use taskscale_sys::{delay::run_delay_ns, ticks};

use crate::{
    Clock, Options,
    regime::{self, LONG_NS, skip},
    state::{self, State},
};

/// Frames that can be open at once; spans deeper than that are counted and not timed.
pub const FRAMES: usize = 16;
/// Spans that are kept before they are counted. At 24 bytes each this is under 2 KB: with the sums a worker takes less than 16 KB (a test).
pub const ENTRIES: usize = 75;

/// One span.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Entry {
    begin: AtomicU64,
    end: AtomicU64,
    /// Number of the name; from bit 32 on the depth; bit 48: whether it holds no other; from bit 49 on how many tasks that were
    /// not timed are before it; bit 63: no task, but the end of those.
    kind: AtomicU64,
}

const DEPTH: u32 = 32;
const LEAF: u32 = 48;
const UNTIMED: u32 = 49;
const CLOSES: u32 = 63;

/// In a plan: a task that is not timed is open.
const OPEN: u64 = 1 << 8;

/// Whether the next outermost task is one that is not timed: some are to go, and none is open.
#[inline(always)]
fn skips(plan: u64) -> bool {
    (plan as u32).wrapping_sub(1) < OPEN as u32 - 1
}

/// Whether a task that is not timed is open.
#[inline(always)]
fn is_open(plan: u64) -> bool {
    plan as u32 >= OPEN as u32
}

/// Tasks that were not timed since the last one that was, without one that is open.
fn untimed(plan: u64) -> u32 {
    ((plan >> 32) as u32).wrapping_sub(plan as u32 & (OPEN as u32 - 1))
}

/// A worker: one thread that runs tasks, one after the other or inside each other.
///
/// Calls of [`begin`](Worker::begin) and [`end`](Worker::end) come from one thread at a time. If they do not, figures are
/// wrong and nothing else is: all fields are atomic. The layout of the fields up to `entries` is what
/// `cpp/include/taskscale.h` says, whose inlined functions do what the functions here do; a test compares the two.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Worker {
    /// Begins of the frames that are open.
    open: [AtomicU64; FRAMES],
    /// How many are, without a task that is not timed.
    depth: AtomicU32,
    /// One bit for each frame that has had frames inside.
    parents: AtomicU32,
    /// Entries in use.
    length: AtomicU32,
    /// Whether ticks are those of the time-stamp counter.
    counter: AtomicU32,
    /// [`LONG_NS`] in ticks.
    long: AtomicU64,
    /// End of the last outermost span.
    last: AtomicU64,
    /// Outermost tasks that are still to go without a time before the next that is timed; at bit 8 whether one of them is open; from
    /// bit 32 on how many there were to be. In one word, so that others read all at once, and a task without a time writes nothing
    /// else. 0 while all are timed.
    plan: AtomicU64,
    /// Whether tasks are sampled: whether a timed one makes a plan.
    sampled: AtomicU32,
    entries: [Entry; ENTRIES],
    // From here on nothing is known outside.
    index: u32,
    /// The latest name, as words; its length and its number.
    latest: [AtomicU64; 6],
    latest_length: AtomicU32,
    latest_number: AtomicU32,
    /// Run delay of the thread when it was last asked for.
    delay: AtomicU64,
    clock: Clock,
    /// Whether the thread does nothing but these tasks.
    own_thread: bool,
    /// Whether [`Worker::rests`] is called before each wait.
    waits_are_told: bool,
    state: Mutex<State>,
}

// All that may be drawn fits below.
const _: () = assert!(regime::SKIP + 15 < OPEN);

// What the header says.
const _: () = {
    assert!(std::mem::offset_of!(Worker, depth) == 128);
    assert!(std::mem::offset_of!(Worker, parents) == 132);
    assert!(std::mem::offset_of!(Worker, length) == 136);
    assert!(std::mem::offset_of!(Worker, counter) == 140);
    assert!(std::mem::offset_of!(Worker, long) == 144);
    assert!(std::mem::offset_of!(Worker, last) == 152);
    assert!(std::mem::offset_of!(Worker, plan) == 160);
    assert!(std::mem::offset_of!(Worker, sampled) == 168);
    assert!(std::mem::offset_of!(Worker, entries) == 176);
    assert!(std::mem::size_of::<Entry>() == 24);
};

impl Worker {
    pub(crate) fn new(index: u32, options: &Options) -> Self {
        Worker {
            open: Default::default(),
            depth: AtomicU32::new(0),
            parents: AtomicU32::new(0),
            length: AtomicU32::new(0),
            counter: AtomicU32::new(u32::from(ticks::source() == ticks::Source::Counter)),
            long: AtomicU64::new(options.clock.rate().ticks(LONG_NS)),
            last: AtomicU64::new(0),
            plan: AtomicU64::new(0),
            sampled: AtomicU32::new(0),
            entries: std::array::from_fn(|_| Entry::default()),
            index,
            latest: Default::default(),
            latest_length: AtomicU32::new(0),
            latest_number: AtomicU32::new(0),
            delay: AtomicU64::new(0),
            own_thread: options.own_threads,
            waits_are_told: options.waits_are_told,
            state: Mutex::new(State::new(options.exact, options.clock.clone())),
            clock: options.clock.clone(),
        }
    }

    /// Its index.
    pub fn index(&self) -> u32 {
        self.index
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

    /// Whether the task that begins is one that is not timed: then this was all. Otherwise it has not begun yet.
    #[inline(always)]
    pub fn begin_untimed(&self) -> bool {
        let plan = self.plan.load(Relaxed);
        if !skips(plan) {
            return false;
        }
        self.plan.store(plan + OPEN, Relaxed);
        true
    }

    /// Whether the task that ends is one that is not timed: then this was all, and its name does not matter. Otherwise it has not
    /// ended yet.
    #[inline(always)]
    pub fn end_untimed(&self) -> bool {
        let plan = self.plan.load(Relaxed);
        if !is_open(plan) {
            return false;
        }
        self.plan.store(plan - OPEN - 1, Relaxed);
        true
    }

    #[inline]
    fn begin_timed(&self, now: u64) {
        if is_open(self.plan.load(Relaxed)) {
            self.inside_untimed(now);
        }
        let depth = self.depth.load(Relaxed);
        if depth == 0 {
            if now.wrapping_sub(self.last.load(Relaxed)) > self.long.load(Relaxed) {
                self.long_gap(now);
            }
        } else {
            let parents = self.parents.load(Relaxed);
            self.parents.store(parents | 1u32.wrapping_shl(depth - 1), Relaxed);
        }
        if let Some(open) = self.open.get(depth as usize) {
            open.store(now, Relaxed);
        }
        self.depth.store(depth.wrapping_add(1), Relaxed);
    }

    #[inline]
    fn end_timed(&self, now: u64, name: &[u8]) {
        let number = if name.is_empty() { 0 } else { self.name(name) };
        self.end_numbered_at(now, number);
    }

    /// The task that began last, which is timed ([`end_untimed`](Worker::end_untimed) says so), ended at `now` (ticks); its name
    /// has this number ([`name`](Worker::name)), 0 for none. A rim that remembers numbers saves the comparison of names. Numbers
    /// hold until one is asked for with all 16 in use.
    #[inline]
    pub fn end_numbered_at(&self, now: u64, number: u32) {
        let Some(depth) = self.depth.load(Relaxed).checked_sub(1) else { return self.stray() };
        self.depth.store(depth, Relaxed);
        let Some(open) = self.open.get(depth as usize) else { return self.deep() };
        let begin = open.load(Relaxed);
        let parents = self.parents.load(Relaxed);
        let leaf = u64::from((parents >> depth) & 1 == 0);
        self.parents.store(parents & ((1 << depth) - 1), Relaxed);
        let mut kind = u64::from(number) | u64::from(depth) << DEPTH | leaf << LEAF;
        if depth == 0 {
            kind |= (self.plan.load(Relaxed) >> 32) << UNTIMED;
            self.last.store(now, Relaxed);
            self.plan_next(now);
        }
        self.push(begin, now, kind);
        if depth == 0 && now.wrapping_sub(begin) > self.long.load(Relaxed) {
            self.long_task(now.wrapping_sub(begin));
        }
    }

    /// Behind a timed task that ended at `now`: how many are not timed before the next. Comes before the entry, so that whoever
    /// looks meanwhile misses tasks rather than counting them twice.
    #[inline]
    fn plan_next(&self, now: u64) {
        let plan = if self.sampled.load(Relaxed) == 0 { 0 } else { skip(now) * (1 << 32 | 1) };
        self.plan.store(plan, Relaxed);
    }

    /// Keeps an entry, and counts all where that was the last place.
    #[inline]
    fn push(&self, begin: u64, end: u64, kind: u64) {
        let length = self.length.load(Relaxed);
        if let Some(entry) = self.entries.get(length as usize) {
            entry.begin.store(begin, Relaxed);
            entry.end.store(end, Relaxed);
            entry.kind.store(kind, Relaxed);
        }
        self.length.store(length + 1, Release);
        if length as usize + 1 >= ENTRIES {
            self.flush();
        }
    }

    /// A task begins at `now` inside one that is not timed. That one begins now, as far as is known, and all are timed from here on;
    /// what it has taken so far counts as a gap.
    #[cold]
    #[inline(never)]
    pub fn inside_untimed(&self, now: u64) {
        let before = untimed(self.plan.load(Relaxed));
        self.plan.store(u64::from(before) << 32, Relaxed);
        let mut state = self.state();
        self.exact(&mut state);
        let begin = state.begin_known(now, before);
        drop(state);
        if now.wrapping_sub(self.last.load(Relaxed)) > self.long.load(Relaxed) {
            self.long_gap(now);
        }
        self.open[0].store(begin, Relaxed);
        self.depth.store(1, Relaxed);
    }

    /// Nothing more runs on this worker for a while: it is about to wait. For rims that are told so; then a wait is known for
    /// what it is, however many tasks before it were not timed.
    #[inline]
    pub fn rests(&self) {
        let plan = self.plan.load(Relaxed);
        if plan == 0 || self.is_open() {
            return;
        }
        if untimed(plan) > 0 {
            self.close(self.clock.ticks());
        } else {
            // The wait lies behind a timed task; skipped tasks behind it would take it for one of theirs.
            self.plan.store(0, Relaxed);
        }
    }

    #[cold]
    fn close(&self, now: u64) {
        let before = untimed(self.plan.load(Relaxed));
        if now.wrapping_sub(self.last.load(Relaxed)) > self.long.load(Relaxed) {
            self.long_window(now, before);
        } else {
            self.plan.store(0, Relaxed);
            self.push(now, now, 1 << LEAF | u64::from(before) << UNTIMED | 1 << CLOSES);
        }
        self.last.store(now, Relaxed);
    }

    /// Whether a task is open.
    pub fn is_open(&self) -> bool {
        self.depth.load(Relaxed) > 0 || is_open(self.plan.load(Relaxed))
    }

    /// From now on another thread is this worker, the calling one: its run delay so far is none of the worker's.
    pub fn moved(&self) {
        self.new_delay();
        self.state().forget_cpu();
    }

    /// The number of a name, for an entry. About 3 ns for the latest name, 30 ns for another one.
    #[inline]
    pub fn name(&self, name: &[u8]) -> u32 {
        let (words, length) = words(name);
        let known = self.latest_length.load(Relaxed) == length
            && self.latest.iter().zip(words).all(|(mine, word)| mine.load(Relaxed) == word);
        if known { self.latest_number.load(Relaxed) } else { self.other_name(name, words, length) }
    }

    #[cold]
    fn other_name(&self, name: &[u8], words: [u64; 6], length: u32) -> u32 {
        let known = self.state().names.number(name);
        let number = known.unwrap_or_else(|| {
            // Numbers mean something in the buffer only; with the buffer empty they can be given anew.
            self.flush();
            let mut state = self.state();
            state.rename();
            state.names.number(name).unwrap_or(0)
        });
        self.latest.iter().zip(words).for_each(|(mine, word)| mine.store(word, Relaxed));
        self.latest_length.store(length, Relaxed);
        self.latest_number.store(number, Relaxed);
        number
    }

    /// Counts what is in the buffer and empties it. On the worker's own thread only.
    #[cold]
    pub fn flush(&self) {
        let mut state = self.state();
        let rate = self.clock.rate();
        let usual = regime::tiny(self.kept(), rate, self.clock.reading_ticks());
        state.entries(self.index, self.kept());
        if usual.is_none() || self.length.load(Relaxed) as usize >= ENTRIES {
            let sampled = state.regime.buffer(usual.map(|(_, ticks)| rate.ns(ticks)));
            let before = self.sampled.swap(u32::from(sampled), Relaxed);
            if let Some((estimate, _)) = usual
                && before == 0
            {
                state.estimate = estimate;
            }
            // Where waits are told, CPU time says nothing more.
            if sampled && self.own_thread && !self.waits_are_told {
                state.note_cpu();
            }
        }
        self.length.store(0, Release);
    }

    /// What is in the buffer.
    fn kept(&self) -> impl Iterator<Item = state::Entry> + Clone {
        let length = (self.length.load(Acquire) as usize).min(ENTRIES);
        self.entries[..length].iter().map(|entry| {
            let kind = entry.kind.load(Relaxed);
            state::Entry {
                begin: entry.begin.load(Relaxed),
                end: entry.end.load(Relaxed),
                number: kind as u32,
                depth: (kind >> DEPTH) as u16,
                leaf: kind >> LEAF & 1 != 0,
                untimed: (kind >> UNTIMED) as u32 & 0xff,
                closes: kind >> CLOSES != 0,
            }
        })
    }

    /// What the worker has done until `now`, with what is in the buffer; and of the outermost task that is open its begin, and
    /// whether it has held no other yet. Of tasks that are not timed begins and ends are guesses.
    pub(crate) fn snapshot(&self, now: u64) -> (State, Option<(u64, bool)>) {
        let state = self.state();
        let mut copy = state.clone();
        copy.entries(self.index, self.kept());
        // After the entries: see `plan_next`.
        let (plan, depth) = (self.plan.load(Relaxed), self.depth.load(Relaxed));
        // The lock is held until here, so that the buffer is not emptied in between.
        drop(state);
        let (begin, before) = (self.open[0].load(Relaxed), untimed(plan));
        let open = if is_open(plan) {
            // One that was open at the clearing is forgotten with those before it.
            let forgotten = copy.forgets(before);
            let (end, _) = copy.window(self.index, now, before, 0);
            (!forgotten).then_some((end, true))
        } else if depth > 0 {
            copy.window(self.index, begin, before, 0);
            Some((begin, depth == 1 && self.parents.load(Relaxed) & 1 == 0))
        } else {
            let long = if before > 0 { copy.burnt_since_last() } else { 0 };
            copy.window(self.index, now, before, long);
            None
        };
        let since = copy.since;
        (copy, open.filter(|(begin, _)| *begin >= since))
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        let state = self.state();
        size_of::<Self>() - size_of::<Accumulator>() + state.accumulator.bytes() + state.names.bytes()
    }

    /// Forgets all spans that began before `now` (ticks).
    pub(crate) fn clear(&self, now: u64) {
        let mut state = self.state();
        let plan = self.plan.load(Relaxed);
        // A task without a time that is open: it is cut now, as nothing will tell when it ends.
        let open = u32::from(is_open(plan));
        state.clear(now, untimed(plan) + open);
        state.cut = u64::from(open);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in there can be left half done that would matter to a sum.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run delay since it was last asked for; `None` where the kernel does not say.
    fn new_delay(&self) -> Option<u64> {
        if !self.clock.is_machine() {
            return None;
        }
        let delay = run_delay_ns()?;
        Some(delay.saturating_sub(self.delay.swap(delay, Relaxed)))
    }

    /// A long gap ends at `now`, or the first task begins.
    #[cold]
    #[inline(never)]
    pub fn long_gap(&self, now: u64) {
        let before = untimed(self.plan.load(Relaxed));
        if before > 0 {
            return self.long_window(now, before);
        }
        let Some(delay) = self.new_delay() else { return };
        let last = self.last.load(Relaxed);
        if last > 0 {
            let gap = self.clock.rate().ns(now.wrapping_sub(last));
            self.state().preempted(false, delay.min(gap), now);
        }
    }

    /// A long time in which `before` tasks were not timed ends at `now`. One of them was long where the worker would have said that
    /// it waits, or where only a task can have used the thread's CPU time; else it was a gap. From here on all are timed.
    #[cold]
    fn long_window(&self, now: u64, before: u32) {
        let delay = self.new_delay();
        let window = self.clock.rate().ns(now.wrapping_sub(self.last.load(Relaxed)));
        let mut state = self.state();
        state.entries(self.index, self.kept());
        self.length.store(0, Release);
        let waited = delay.unwrap_or(0);
        let long = if self.waits_are_told {
            window
        } else if self.own_thread && state.burnt_since_last() > 0 {
            // It was kept waiting for a processor in its own time.
            state.burnt_since_last().saturating_add(waited).min(window)
        } else {
            0
        };
        state.long_window(self.index, now, before, long, waited);
        if delay.is_some() {
            state.preempted(long > 0, waited.min(window), now);
        }
        self.exact(&mut state);
        self.plan.store(0, Relaxed);
    }

    /// Tasks are timed all from here on.
    fn exact(&self, state: &mut State) {
        state.regime.end();
        self.sampled.store(0, Relaxed);
    }

    /// An outermost task of so many ticks, a long time, has ended.
    #[cold]
    #[inline(never)]
    pub fn long_task(&self, length: u64) {
        // Behind a timed task none is without a time yet.
        self.plan.store(0, Relaxed);
        let (delay, length_ns) = (self.new_delay(), self.clock.rate().ns(length));
        let mut state = self.state();
        self.exact(&mut state);
        state.regime.long_task(length_ns.saturating_sub(delay.unwrap_or(0)));
        if let Some(delay) = delay {
            state.preempted(true, delay.min(length_ns), self.last.load(Relaxed));
        }
    }

    /// An end without a begin.
    #[cold]
    #[inline(never)]
    pub fn stray(&self) {
        self.state().stray += 1;
    }

    /// A span below [`FRAMES`] others.
    #[cold]
    #[inline(never)]
    pub fn deep(&self) {
        self.state().deep += 1;
    }
}

/// The first 48 bytes of a name as words, and their number.
#[inline]
fn words(name: &[u8]) -> ([u64; 6], u32) {
    let mut bytes = [0; 48];
    let length = name.len().min(48);
    bytes[..length].copy_from_slice(&name[..length]);
    let mut words = [0; 6];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        *word = u64::from_le_bytes(eight);
    }
    (words, length as u32)
}
