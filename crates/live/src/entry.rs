//! One span of a worker's buffer in three words: begin, end, and a third word for the rest.
//!
//! ```text
//! bit    63       56..49    48    47..32   31..0
//!        closes   untimed   leaf  depth    number of the name
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const DEPTH: u32 = 32;
const LEAF: u32 = 48;
const UNTIMED: u32 = 49;
const CLOSES: u32 = 63;

/// A place in the buffer. The C header has the same three words.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Place {
    begin: AtomicU64,
    end: AtomicU64,
    kind: AtomicU64,
}

/// An entry as read from the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// In ticks.
    pub begin: u64,
    /// In ticks.
    pub end: u64,
    /// The number of the name; 0 means none.
    pub number: u32,
    /// The number of tasks around it.
    pub depth: u16,
    /// Whether it holds no other task.
    pub leaf: bool,
    /// The number of untimed outermost tasks before it.
    pub untimed: u32,
    /// Whether it is no task and marks the end of untimed tasks.
    pub closes: bool,
}

impl Place {
    #[inline]
    pub fn store(&self, begin: u64, end: u64, kind: u64) {
        self.begin.store(begin, Relaxed);
        self.end.store(end, Relaxed);
        self.kind.store(kind, Relaxed);
    }

    pub fn load(&self) -> Entry {
        let kind = self.kind.load(Relaxed);
        Entry {
            begin: self.begin.load(Relaxed),
            end: self.end.load(Relaxed),
            number: kind as u32,
            depth: (kind >> DEPTH) as u16,
            leaf: kind >> LEAF & 1 != 0,
            untimed: (kind >> UNTIMED) as u32 & 0xff,
            closes: kind >> CLOSES != 0,
        }
    }
}

impl Entry {
    /// Whether it is an outermost task that holds no other.
    pub fn is_simple(&self) -> bool {
        self.depth == 0 && self.leaf && !self.closes
    }
}

/// The third word of a task's entry.
#[inline(always)]
pub fn task(number: u32, depth: u32, leaf: bool, untimed: u32) -> u64 {
    u64::from(number) | u64::from(depth) << DEPTH | u64::from(leaf) << LEAF | u64::from(untimed) << UNTIMED
}

/// The number of the name in the third word of an entry, if the task contains no others.
pub fn leaf(kind: u64) -> Option<u32> {
    ((kind >> LEAF) & 1 == 1).then_some(kind as u32)
}

/// The third word of an entry that marks the end of untimed tasks.
pub fn close(untimed: u32) -> u64 {
    task(0, 0, true, untimed) | 1 << CLOSES
}
