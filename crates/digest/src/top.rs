//! The longest spans. One comparison decides whether a span is admitted. The order is total, so
//! merging is associative and commutative.

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

/// A long span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Long {
    /// The duration comes first because it decides the order.
    pub duration: u64,
    pub start: i64,
    pub worker: u32,
    pub name: ShortName,
}

/// The `capacity` longest spans.
#[derive(Debug, Clone)]
pub struct Top {
    /// In no order; at most `capacity`.
    entries: Vec<Long>,
    capacity: usize,
    /// The shortest duration that is admitted.
    admits: u64,
}

impl Top {
    /// Makes a list of the `capacity` longest spans.
    pub fn new(capacity: usize) -> Self {
        Top { entries: Vec::with_capacity(capacity), capacity, admits: 0 }
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

    /// Adds a span if it is among the longest. Any other span costs one comparison.
    #[inline]
    pub fn add(&mut self, worker: u32, start: i64, duration: u64, name: &[u8]) {
        if duration >= self.admits && self.capacity > 0 {
            self.admit(Long { duration, start, worker, name: ShortName::of(name) });
        }
    }

    #[cold]
    fn admit(&mut self, long: Long) {
        if self.entries.len() < self.capacity {
            self.entries.push(long);
        } else if let Some(least) = self.entries.iter_mut().min()
            && *least < long
        {
            *least = long;
        }
        if self.entries.len() == self.capacity {
            self.admits = self.entries.iter().map(|entry| entry.duration).min().unwrap_or(0);
        }
    }

    /// Forgets a span that proved to contain others. A span that it displaced does not come back.
    pub fn remove(&mut self, worker: u32, start: i64, duration: u64) {
        if duration >= self.admits {
            self.entries
                .retain(|entry| (entry.worker, entry.start, entry.duration) != (worker, start, duration));
        }
    }

    /// Adds another list. The result keeps as many spans as the shorter of the two may.
    pub fn merge(&mut self, other: &Top) {
        self.capacity = self.capacity.min(other.capacity);
        self.entries.extend_from_slice(&other.entries);
        self.entries.sort_unstable_by(|a, b| b.cmp(a));
        self.entries.truncate(self.capacity);
        let full = self.entries.len() == self.capacity;
        self.admits = if full { self.entries.last().map_or(0, |entry| entry.duration) } else { 0 };
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
