//! The longest spans. One comparison decides whether a span is admitted. The order is total, so
//! merging is associative and commutative.

use std::cmp::Ordering;

/// Bytes of a name that are kept.
pub const NAME_BYTES: usize = 48;

/// The first bytes of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShortName {
    length: u8,
    bytes: [u8; NAME_BYTES],
}

impl ShortName {
    /// Takes the first 48 bytes of a name.
    pub fn of(name: &[u8]) -> Self {
        let length = name.len().min(NAME_BYTES);
        let mut bytes = [0; NAME_BYTES];
        bytes[..length].copy_from_slice(&name[..length]);
        ShortName { length: length as u8, bytes }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The name as text. A character that the cut went through is left out. Other bytes that are
    /// not UTF-8 are replaced.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() && bytes.len() == NAME_BYTES => {
                String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
            }
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// A long span. The order is by duration. Of equally long ones the first is the greatest, so that a
/// run of equal tasks does not displace one by the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Long {
    pub duration: u64,
    pub start: i64,
    pub worker: u32,
    pub name: ShortName,
}

impl Ord for Long {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = (other.start, other.name, other.worker).cmp(&(self.start, self.name, self.worker));
        self.duration.cmp(&other.duration).then(earlier)
    }
}

impl PartialOrd for Long {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The most spans of which it is kept who they are until it is known whether they contain others.
const MOST_CANDIDATES: usize = 16_384;

/// Spans that may be among the longest once it is known that they contain no others.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    entries: Vec<Long>,
    free: Vec<u16>,
}

impl Candidates {
    /// Keeps a span and returns the number that stands for it; `None` where there is no room.
    pub fn keep(&mut self, long: Long) -> Option<u16> {
        if let Some(number) = self.free.pop() {
            self.entries[usize::from(number)] = long;
            return Some(number);
        }
        (self.entries.len() < MOST_CANDIDATES).then(|| {
            if self.entries.len() == self.entries.capacity() {
                // A live observer's few do not take the room of twice as many.
                let more = (self.entries.len() / 2).max(8);
                self.entries.reserve_exact(more);
                self.free.reserve_exact(self.entries.capacity() - self.free.len());
            }
            self.entries.push(long);
            (self.entries.len() - 1) as u16
        })
    }

    /// Forgets a span and returns it.
    pub fn take(&mut self, number: u16) -> Long {
        self.free.push(number);
        self.entries[usize::from(number)]
    }

    /// The span that a number stands for.
    pub fn get(&self, number: u16) -> Option<&Long> {
        self.entries.get(usize::from(number))
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Long>() + self.free.capacity() * size_of::<u16>()
    }
}

/// The `capacity` longest spans.
#[derive(Debug, Clone)]
pub struct Top {
    /// In no order; at most `capacity`.
    entries: Vec<Long>,
    capacity: usize,
    /// The shortest duration that is admitted, and the last start of a span of that duration.
    admits: u64,
    until: i64,
}

impl Top {
    /// Makes a list of the `capacity` longest spans.
    pub fn new(capacity: usize) -> Self {
        Top { entries: Vec::with_capacity(capacity), capacity, admits: 0, until: i64::MAX }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Long>()
    }

    /// The shortest duration that may be among the longest.
    #[inline]
    pub fn admits(&self) -> u64 {
        if self.capacity == 0 { u64::MAX } else { self.admits }
    }

    /// Whether a span may be among the longest.
    #[inline]
    pub fn may_admit(&self, start: i64, duration: u64) -> bool {
        duration >= self.admits && (duration > self.admits || start <= self.until) && self.capacity > 0
    }

    /// Adds a span if it is among the longest. Any other span costs one comparison.
    #[inline]
    pub fn add(&mut self, worker: u32, start: i64, duration: u64, name: &[u8]) {
        if self.may_admit(start, duration) {
            self.admit(Long { duration, start, worker, name: ShortName::of(name) });
        }
    }

    /// Adds a span if it is among the longest.
    #[cold]
    pub fn admit(&mut self, long: Long) {
        if self.entries.len() < self.capacity {
            self.entries.push(long);
        } else if let Some(least) = self.entries.iter_mut().min()
            && *least < long
        {
            *least = long;
        }
        self.set_bound();
    }

    fn set_bound(&mut self) {
        let full = self.entries.len() == self.capacity;
        let least = self.entries.iter().min().filter(|_| full);
        (self.admits, self.until) = least.map_or((0, i64::MAX), |least| (least.duration, least.start));
    }

    /// Adds another list. The result keeps as many spans as the shorter of the two may.
    pub fn merge(&mut self, other: &Top) {
        self.capacity = self.capacity.min(other.capacity);
        self.entries.extend_from_slice(&other.entries);
        self.entries.sort_unstable_by(|a, b| b.cmp(a));
        self.entries.truncate(self.capacity);
        self.set_bound();
    }

    /// The spans, longest first.
    pub fn longest(&self) -> Vec<Long> {
        let mut entries = self.entries.clone();
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_are_kept() {
        let mut top = Top::new(3);
        for duration in [5, 1, 9, 7, 7, 2, 8] {
            top.add(0, duration as i64, duration, b"x");
        }
        let durations: Vec<u64> = top.longest().iter().map(|entry| entry.duration).collect();
        assert_eq!(durations, [9, 8, 7]);
    }

    #[test]
    fn names_are_cut_between_characters() {
        let long = format!("x{}", "ä".repeat(40));
        let short = ShortName::of(long.as_bytes());
        assert!(short.text().ends_with('ä'));
        assert_eq!(ShortName::of("ä".as_bytes()).text(), "ä");
    }
}
