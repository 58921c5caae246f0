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
/// Words of spans that are kept before they are counted: 240 spans of the usual kind. Counting has a cost of its own each time
/// (its code and sums have left the nearest cache by then), so that spans are packed: 80 of 24 bytes in the same memory cost
/// a poll of tokio some 10 ns more.
pub const WORDS: usize = 240;
/// Tasks and gaps longer than this are asked for run delay. The question takes about 0.5 us, a fortieth of it.
const LONG_NS: u64 = 20_000;

// A span of the usual kind is one word: outermost, without others inside, and of less than 2^29 ticks (0.2 s at 2.6 GHz), as is
// the gap before it. From bit 0 on the number of its name, from bit 5 the gap, from bit 34 the duration.
const GAP: u32 = 5;
const DURATION: u32 = 34;
/// Numbers of names end here, and lengths in ticks.
const NUMBERS: u32 = 1 << GAP;
const LENGTHS: u64 = 1 << (DURATION - GAP);
// Any other span is three words: what it is, begin, end. Of the first, from bit 0 on the number, from bit 32 the depth, bit 48
// whether others were inside, and bit 63.
const DEPTH: u32 = 32;
const PARENT: u32 = 48;
const WIDE: u64 = 1 << 63;

/// A worker: one thread that runs tasks, one after the other or inside each other.
///
/// Calls of [`begin`](Worker::begin) and [`end`](Worker::end) come from one thread at a time. If they do not, figures are
/// wrong and nothing else is: all fields are atomic. The layout of the fields up to `words` is what
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
    /// Words in use.
    length: AtomicU32,
    /// Whether ticks are those of the time-stamp counter.
    counter: AtomicU32,
    /// [`LONG_NS`] in ticks.
    long: AtomicU64,
    /// End of the last outermost span.
    last: AtomicU64,
    words: [AtomicU64; WORDS],
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
    assert!(std::mem::offset_of!(Worker, words) == 160);
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
            words: [const { AtomicU64::new(0) }; WORDS],
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
        self.parents.store(parents & ((1 << depth) - 1), Relaxed);
        let parent = (parents >> depth) & 1;
        let last = self.last.load(Relaxed);
        let (duration, gap) = (now.wrapping_sub(begin), begin.wrapping_sub(last));
        let length = self.length.load(Relaxed);
        if depth | parent == 0 && (duration | gap) < LENGTHS && number < NUMBERS {
            if let Some(word) = self.words.get(length as usize) {
                word.store(u64::from(number) | gap << GAP | duration << DURATION, Relaxed);
            }
            self.length.store(length + 1, Release);
        } else {
            let kind = u64::from(number) | u64::from(depth) << DEPTH | u64::from(parent) << PARENT;
            self.wide(kind, begin, now);
        }
        if depth == 0 {
            self.last.store(now, Relaxed);
            if duration > self.long.load(Relaxed) {
                self.long_task(duration);
            }
        }
        // Room for a wide one is kept.
        if length as usize + 3 >= WORDS {
            self.flush();
        }
    }

    /// Keeps a span that is not of the usual kind.
    #[cold]
    #[inline(never)]
    pub fn wide(&self, kind: u64, begin: u64, end: u64) {
        let length = self.length.load(Relaxed);
        if let Some(words) = self.words.get(length as usize..length as usize + 3) {
            for (place, word) in words.iter().zip([WIDE | kind, begin, end]) {
                place.store(word, Relaxed);
            }
            self.length.store(length + 3, Release);
        }
        if length as usize + 6 > WORDS {
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
        let length = (self.length.load(Acquire) as usize).min(WORDS);
        let (mut words, mut last) = (self.words[..length].iter(), state.last);
        let mut spans = std::iter::from_fn(|| {
            let word = words.next()?.load(Relaxed);
            if word & WIDE == 0 {
                let begin = last.wrapping_add((word >> GAP) & (LENGTHS - 1));
                last = begin.wrapping_add(word >> DURATION);
                return Some((begin, last, word as u32 & (NUMBERS - 1), 0, true));
            }
            let (begin, end) = (words.next()?.load(Relaxed), words.next()?.load(Relaxed));
            let depth = (word >> DEPTH) as u16;
            if depth == 0 {
                last = end;
            }
            Some((begin, end, word as u32, depth, (word >> PARENT) & 1 == 0))
        });
        state.spans(self.index, &mut spans);
        state.last = last;
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
