//! The part of a worker that its thread writes at every task, and that others read meanwhile. The C
//! header has the same layout, so that its inlined calls work on the same memory.

use std::{
    mem::{offset_of, size_of},
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use crate::{
    entry::{Entry, Place},
    plan::Plan,
};

/// Frames that can be open at once; spans deeper than that are counted and not timed.
pub const FRAMES: usize = 16;
/// Spans that are kept before they are counted. At 24 bytes each this is under 2 KB: with the sums
/// a worker takes less than 16 KB (a test).
pub const ENTRIES: usize = 75;

/// Written by one thread. All fields are atomic, so that a second writer makes figures wrong and
/// nothing else.
#[derive(Debug)]
#[repr(C)]
pub struct Shared {
    /// Begins of the frames that are open.
    pub open: [AtomicU64; FRAMES],
    /// How many are, without a task that is not timed.
    pub depth: AtomicU32,
    /// One bit for each frame that has had frames inside.
    pub parents: AtomicU32,
    /// Entries in use.
    length: AtomicU32,
    /// Whether ticks are those of the time-stamp counter; for the header.
    counter: AtomicU32,
    /// What is long, in ticks.
    long: AtomicU64,
    /// End of the last outermost span.
    pub last: AtomicU64,
    /// [`Plan`].
    plan: AtomicU64,
    /// Whether tasks are sampled: whether a timed one makes a plan.
    pub sampled: AtomicU32,
    entries: [Place; ENTRIES],
}

// What the header says.
const _: () = {
    assert!(offset_of!(Shared, depth) == 128);
    assert!(offset_of!(Shared, parents) == 132);
    assert!(offset_of!(Shared, length) == 136);
    assert!(offset_of!(Shared, counter) == 140);
    assert!(offset_of!(Shared, long) == 144);
    assert!(offset_of!(Shared, last) == 152);
    assert!(offset_of!(Shared, plan) == 160);
    assert!(offset_of!(Shared, sampled) == 168);
    assert!(offset_of!(Shared, entries) == 176);
    assert!(size_of::<Place>() == 24);
};

impl Shared {
    /// With nothing in it. `counter` says whether ticks are those of the time-stamp counter, `long`
    /// how many of them are long.
    pub fn new(counter: bool, long: u64) -> Self {
        Shared {
            open: Default::default(),
            depth: AtomicU32::new(0),
            parents: AtomicU32::new(0),
            length: AtomicU32::new(0),
            counter: AtomicU32::new(u32::from(counter)),
            long: AtomicU64::new(long),
            last: AtomicU64::new(0),
            plan: AtomicU64::new(Plan::NONE.0),
            sampled: AtomicU32::new(0),
            entries: std::array::from_fn(|_| Place::default()),
        }
    }

    /// What is planned.
    #[inline(always)]
    pub fn plan(&self) -> Plan {
        Plan(self.plan.load(Relaxed))
    }

    /// Plans.
    #[inline(always)]
    pub fn set_plan(&self, plan: Plan) {
        self.plan.store(plan.0, Relaxed);
    }

    /// Whether so many ticks are long.
    #[inline(always)]
    pub fn is_long(&self, ticks: u64) -> bool {
        ticks > self.long.load(Relaxed)
    }

    /// Ticks from the end of the last outermost span until `now`.
    #[inline(always)]
    pub fn since_last(&self, now: u64) -> u64 {
        now.wrapping_sub(self.last.load(Relaxed))
    }

    /// Keeps an entry. Returns whether that was the last place.
    #[inline]
    pub fn push(&self, begin: u64, end: u64, kind: u64) -> bool {
        let length = self.length.load(Relaxed);
        if let Some(place) = self.entries.get(length as usize) {
            place.store(begin, end, kind);
        }
        self.length.store(length + 1, Release);
        length as usize + 1 >= ENTRIES
    }

    /// What is in the buffer.
    pub fn kept(&self) -> impl Iterator<Item = Entry> + Clone {
        let length = (self.length.load(Acquire) as usize).min(ENTRIES);
        self.entries[..length].iter().map(Place::load)
    }

    /// Whether the buffer is full.
    pub fn is_full(&self) -> bool {
        self.length.load(Relaxed) as usize >= ENTRIES
    }

    /// Empties the buffer.
    pub fn empty(&self) {
        self.length.store(0, Release);
    }

    /// Whether a task is open.
    pub fn is_open(&self) -> bool {
        self.depth.load(Relaxed) > 0 || self.plan().is_open()
    }
}
