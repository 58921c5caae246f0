//! A span as a record of fixed size.

use std::cmp::Ordering;

use taskscale_model::span::{Depth, Span};

/// Bytes of a record in a file.
pub const BYTES: usize = 32;

/// The level of a span whose source says none.
const UNKNOWN: u16 = u16::MAX;

/// A span whose name is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    start: i64,
    end: i64,
    /// The name's place, as [`super::names`] gives it.
    pub name: u64,
    worker: u32,
    level: u16,
}

impl Record {
    #[inline]
    pub fn of(span: &Span<'_>, name: u64) -> Self {
        let level = match span.depth {
            Depth::Unknown => UNKNOWN,
            Depth::Level(level) => level.min(UNKNOWN - 1),
        };
        Record { start: span.start_ns, end: span.end_ns, name, worker: span.worker, level }
    }

    #[inline]
    pub fn span<'n>(&self, name: &'n [u8]) -> Span<'n> {
        let depth = if self.level == UNKNOWN { Depth::Unknown } else { Depth::Level(self.level) };
        Span { worker: self.worker, start_ns: self.start, end_ns: self.end, name, depth }
    }

    /// The start as a number without sign. Sorting by one number takes half the time of comparing
    /// fields.
    #[inline]
    pub fn key(&self) -> u64 {
        self.start as u64 ^ (1 << 63)
    }

    /// Orders records of equal keys: by worker, then longest first, then by level.
    #[inline]
    fn within_key(&self, other: &Record) -> Ordering {
        self.worker
            .cmp(&other.worker)
            .then_with(|| other.end.cmp(&self.end))
            .then_with(|| self.level.cmp(&other.level))
    }

    /// Orders by start, then by worker, then longest first, then by level.
    #[inline]
    pub fn order(&self, other: &Record) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| self.within_key(other))
    }

    /// Sorts records as [`Record::order`] orders them.
    pub fn sort(records: &mut [Record]) {
        records.sort_unstable_by_key(Record::key);
        for equal in records.chunk_by_mut(|a, b| a.key() == b.key()).filter(|equal| equal.len() > 1) {
            equal.sort_unstable_by(Record::within_key);
        }
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.start.to_le_bytes());
        bytes.extend_from_slice(&self.end.to_le_bytes());
        bytes.extend_from_slice(&self.name.to_le_bytes());
        bytes.extend_from_slice(&self.worker.to_le_bytes());
        bytes.extend_from_slice(&u32::from(self.level).to_le_bytes());
    }

    pub fn read(bytes: &[u8; BYTES]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let last = word(24);
        Record {
            start: word(0) as i64,
            end: word(8) as i64,
            name: word(16),
            worker: last as u32,
            level: (last >> 32) as u16,
        }
    }
}
