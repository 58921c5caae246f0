//! The part of a worker that its thread writes at every task and that others read meanwhile. The C
//! header has the same layout, because its inlined calls work on the same memory.

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

/// The number of frames that can be open at once. Deeper spans are counted as dropped and not
/// timed.
pub const FRAMES: usize = 16;
/// The number of spans that are kept before they are counted. They take 24 bytes each, under 2 KB
/// in all. With its sums a worker takes less than 16 KB (a test).
pub const ENTRIES: usize = 75;

/// The memory of one worker, written by one thread. All fields are atomic, so a second writer makes
/// figures wrong and does no other harm.
#[derive(Debug)]
#[repr(C)]
pub struct Shared {
    /// The begins of the open frames, in ticks.
    pub open: [AtomicU64; FRAMES],
    /// The number of open frames. An open untimed task is not among them.
    pub depth: AtomicU32,
    /// One bit for each frame that has had frames inside.
    pub parents: AtomicU32,
    /// The number of entries in use.
    length: AtomicU32,
    /// Whether ticks are those of the time-stamp counter. The C header reads it.
    counter: AtomicU32,
    /// More ticks than this are long.
    long: AtomicU64,
    /// The end of the last outermost span, in ticks.
    pub last: AtomicU64,
    /// The word of the [`Plan`].
    plan: AtomicU64,
    /// 1 while tasks are sampled: a timed task then makes a plan. 0 otherwise.
    pub sampled: AtomicU32,
    entries: [Place; ENTRIES],
}

// The C header has the same offsets.
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
    /// Makes an empty one. `counter` says whether ticks are those of the time-stamp counter. More
    /// than `long` ticks are long.
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

    /// The present plan.
    #[inline(always)]
    pub fn plan(&self) -> Plan {
        Plan(self.plan.load(Relaxed))
    }

    /// Replaces the plan.
    #[inline(always)]
    pub fn set_plan(&self, plan: Plan) {
        self.plan.store(plan.0, Relaxed);
    }

    /// Whether `ticks` is a long time.
    #[inline(always)]
    pub fn is_long(&self, ticks: u64) -> bool {
        ticks > self.long.load(Relaxed)
    }

    /// Ticks from the end of the last outermost span until `now`.
    #[inline(always)]
    pub fn since_last(&self, now: u64) -> u64 {
        now.wrapping_sub(self.last.load(Relaxed))
    }

    /// Stores an entry. Returns whether that took the last place.
    #[inline]
    pub fn push(&self, begin: u64, end: u64, kind: u64) -> bool {
        let length = self.length.load(Relaxed);
        if let Some(place) = self.entries.get(length as usize) {
            place.store(begin, end, kind);
        }
        self.length.store(length + 1, Release);
        length as usize + 1 >= ENTRIES
    }

    /// The entries in the buffer, oldest first.
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
