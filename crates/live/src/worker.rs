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

use crate::state::{Names, State};

/// Frames that can be open at once; spans deeper than that are counted and not timed.
pub const FRAMES: usize = 16;
/// Spans that are kept before they are counted. At 24 bytes each this is 2 KB: with the sums a worker takes less than 16 KB.
pub const ENTRIES: usize = 80;
/// Tasks and gaps longer than this are asked for run delay. The question takes about 0.5 us, a fortieth of it.
const LONG_NS: u64 = 20_000;

/// One span.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Entry {
    begin: AtomicU64,
    end: AtomicU64,
    /// Number of the name; from bit 32 on the depth; from bit 48 on whether it holds no other.
    kind: AtomicU64,
}

const DEPTH: u32 = 32;
const LEAF: u32 = 48;

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
    /// How many are.
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
    entries: [Entry; ENTRIES],
    // From here on nothing is known outside.
    index: u32,
    /// The latest name, as words; its length and its number.
    latest: [AtomicU64; 6],
    latest_length: AtomicU32,
    latest_number: AtomicU32,
    /// Run delay of the thread when it was last asked for.
    delay: AtomicU64,
    state: Mutex<State>,
}

// What the header says.
const _: () = {
    assert!(std::mem::offset_of!(Worker, depth) == 128);
    assert!(std::mem::offset_of!(Worker, parents) == 132);
    assert!(std::mem::offset_of!(Worker, length) == 136);
    assert!(std::mem::offset_of!(Worker, counter) == 140);
    assert!(std::mem::offset_of!(Worker, long) == 144);
    assert!(std::mem::offset_of!(Worker, last) == 152);
    assert!(std::mem::offset_of!(Worker, entries) == 160);
    assert!(std::mem::size_of::<Entry>() == 24);
};

impl Worker {
    pub(crate) fn new(index: u32, with_run_delay: bool) -> Self {
        let long = if with_run_delay { ticks::Rate::of_machine().ticks(LONG_NS) } else { u64::MAX };
        Worker {
            open: Default::default(),
            depth: AtomicU32::new(0),
            parents: AtomicU32::new(0),
            length: AtomicU32::new(0),
            counter: AtomicU32::new(u32::from(ticks::source() == ticks::Source::Counter)),
            long: AtomicU64::new(long),
            last: AtomicU64::new(0),
            entries: std::array::from_fn(|_| Entry::default()),
            index,
            latest: Default::default(),
            latest_length: AtomicU32::new(0),
            latest_number: AtomicU32::new(0),
            delay: AtomicU64::new(0),
            state: Mutex::new(State::new()),
        }
    }

    /// Its index.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// A task begins on this worker; inside the one that is open, where one is.
    #[inline]
    pub fn begin(&self) {
        self.begin_at(ticks::now());
    }

    /// The task that began last ends. `name` may be empty; 48 bytes of it count.
    #[inline]
    pub fn end(&self, name: &[u8]) {
        self.end_at(ticks::now(), name);
    }

    /// A task began at `now` (ticks).
    #[inline]
    pub fn begin_at(&self, now: u64) {
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

    /// The task that began last ended at `now` (ticks).
    #[inline]
    pub fn end_at(&self, now: u64, name: &[u8]) {
        let number = if name.is_empty() { 0 } else { self.name(name) };
        self.end_numbered_at(now, number);
    }

    /// The task that began last ended at `now` (ticks); its name has this number ([`name`](Worker::name)), 0 for none. A rim
    /// that remembers numbers saves the comparison of names. Numbers hold until one is asked for with all 16 in use.
    #[inline]
    pub fn end_numbered_at(&self, now: u64, number: u32) {
        let Some(depth) = self.depth.load(Relaxed).checked_sub(1) else { return self.stray() };
        self.depth.store(depth, Relaxed);
        let Some(open) = self.open.get(depth as usize) else { return self.deep() };
        let begin = open.load(Relaxed);
        let parents = self.parents.load(Relaxed);
        let leaf = u64::from((parents >> depth) & 1 == 0);
        self.parents.store(parents & ((1 << depth) - 1), Relaxed);
        let length = self.length.load(Relaxed);
        if let Some(entry) = self.entries.get(length as usize) {
            entry.begin.store(begin, Relaxed);
            entry.end.store(now, Relaxed);
            entry.kind.store(u64::from(number) | u64::from(depth) << DEPTH | leaf << LEAF, Relaxed);
        }
        self.length.store(length + 1, Release);
        if depth == 0 {
            self.last.store(now, Relaxed);
            if now.wrapping_sub(begin) > self.long.load(Relaxed) {
                self.long_task(now.wrapping_sub(begin));
            }
        }
        if length as usize + 1 >= ENTRIES {
            self.flush();
        }
    }

    /// Whether a task is open.
    pub fn is_open(&self) -> bool {
        self.depth.load(Relaxed) > 0
    }

    /// From now on another thread is this worker, the calling one: its run delay so far is none of the worker's.
    pub fn moved(&self) {
        self.new_delay();
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
            state.names = Names::default();
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
        self.count(&mut state);
        self.length.store(0, Release);
    }

    /// Counts what is in the buffer, which stays as it is.
    fn count(&self, state: &mut State) {
        let length = (self.length.load(Acquire) as usize).min(ENTRIES);
        let mut entries = self.entries[..length].iter().map(|entry| {
            let kind = entry.kind.load(Relaxed);
            (
                entry.begin.load(Relaxed),
                entry.end.load(Relaxed),
                kind as u32,
                (kind >> DEPTH) as u16,
                kind >> LEAF != 0,
            )
        });
        state.spans(self.index, &mut entries);
    }

    /// What the worker has done so far, with what is in the buffer; and of the outermost task that is open its begin, and
    /// whether it has held no other yet.
    pub(crate) fn snapshot(&self) -> (State, Option<(u64, bool)>) {
        let state = self.state();
        let mut copy = state.clone();
        self.count(&mut copy);
        // The lock is held until here, so that the buffer is not emptied in between.
        drop(state);
        let leaf = self.depth.load(Relaxed) == 1 && self.parents.load(Relaxed) & 1 == 0;
        let open = (self.depth.load(Relaxed) > 0).then(|| (self.open[0].load(Relaxed), leaf));
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
        self.state().clear(now);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in there can be left half done that would matter to a sum.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run delay since it was last asked for; `None` where the kernel does not say.
    fn new_delay(&self) -> Option<u64> {
        let delay = run_delay_ns()?;
        Some(delay.saturating_sub(self.delay.swap(delay, Relaxed)))
    }

    /// A long gap ends at `now`, or the first task begins.
    #[cold]
    #[inline(never)]
    pub fn long_gap(&self, now: u64) {
        let Some(delay) = self.new_delay() else { return };
        let last = self.last.load(Relaxed);
        if last > 0 {
            let gap = ticks::Rate::of_machine().ns(now.wrapping_sub(last));
            self.state().preempted(false, delay.min(gap), now);
        }
    }

    /// An outermost task of so many ticks, a long time, has ended.
    #[cold]
    #[inline(never)]
    pub fn long_task(&self, length: u64) {
        let Some(delay) = self.new_delay() else { return };
        let last = self.last.load(Relaxed);
        self.state().preempted(true, delay.min(ticks::Rate::of_machine().ns(length)), last);
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
