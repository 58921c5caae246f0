//! One span of a worker's buffer: three words, of which the third says all but its times.
//!
//! ```text
//! bit    63       62..49    48    47..32   31..0
//!        closes   untimed   leaf  depth    number of the name
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const DEPTH: u32 = 32;
const LEAF: u32 = 48;
const UNTIMED: u32 = 49;
const CLOSES: u32 = 63;

/// A place in the buffer. The header has the same three words.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Place {
    begin: AtomicU64,
    end: AtomicU64,
    kind: AtomicU64,
}

/// An entry of the buffer, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Begin in ticks.
    pub begin: u64,
    /// End in ticks.
    pub end: u64,
    /// Number of its name; 0 is none.
    pub number: u32,
    /// Others that hold it.
    pub depth: u16,
    /// Whether it holds no other.
    pub leaf: bool,
    /// Outermost tasks before it that were not timed.
    pub untimed: u32,
    /// No task, but the end of those that were not timed.
    pub closes: bool,
}

impl Place {
    /// Writes an entry.
    #[inline]
    pub fn store(&self, begin: u64, end: u64, kind: u64) {
        self.begin.store(begin, Relaxed);
        self.end.store(end, Relaxed);
        self.kind.store(kind, Relaxed);
    }

    /// Reads it.
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
    /// Whether it is a task that holds no other and lies in none.
    pub fn is_simple(&self) -> bool {
        self.depth == 0 && self.leaf && !self.closes
    }
}

/// The third word of a task.
#[inline(always)]
pub fn task(number: u32, depth: u32, leaf: bool, untimed: u32) -> u64 {
    u64::from(number) | u64::from(depth) << DEPTH | u64::from(leaf) << LEAF | u64::from(untimed) << UNTIMED
}

/// The third word of the end of tasks that were not timed.
pub fn close(untimed: u32) -> u64 {
    task(0, 0, true, untimed) | 1 << CLOSES
}
