//! The costliest names: mergeable heavy hitters in fixed memory.
//!
//! The counters are those of Misra and Gries, pruned in batches and merged as in Agarwal et al.,
//! "Mergeable summaries" (PODS 2012). A name's time is never too high, and too low by at most
//! `error`, which is at most the total time over the capacity. While no more names have come than
//! fit, all times are exact and merging is associative and commutative.

use crate::top::ShortName;

/// Time and count of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The [`mark`] of the name.
    pub mark: u32,
    pub name: ShortName,
    pub tasks: u64,
    /// The time of these spans, in nanoseconds.
    pub total: u64,
    /// The part of it that lies in spans inside them.
    inside: u64,
    /// The part of their own time in which their threads did not run, as far as it is known.
    pub off_cpu: u64,
}

/// The names that cost most.
#[derive(Debug, Clone)]
pub struct Names {
    /// At most twice `capacity` names. They are pruned to `capacity` when full.
    entries: Vec<Name>,
    /// Positions in `entries`, plus one, by open addressing; 0 is free. The length is a power of
    /// two and at least twice as long as `entries` gets.
    index: Vec<u16>,
    capacity: usize,
    latest: usize,
    /// The entry of the last one that was divided.
    parent: usize,
    /// How much too low a time may be, in nanoseconds.
    pub error: u64,
}

/// The name under which names of the form `<worker>_<index>` are counted. Taskflow gives these to
/// unnamed tasks.
const UNNAMED: &[u8] = b"<worker>_<index>";

fn class(name: &[u8]) -> &[u8] {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if name.first().is_some_and(u8::is_ascii_digit) {
        let mut parts = name.splitn(2, |byte| *byte == b'_');
        if let (Some(worker), Some(index)) = (parts.next(), parts.next())
            && is_number(worker)
            && is_number(index)
        {
            return UNNAMED;
        }
    }
    &name[..name.len().min(crate::top::NAME_BYTES)]
}

fn hash(name: &[u8]) -> u64 {
    let mut hash = name.len() as u64;
    for chunk in name.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517C_C1B7_2722_0A95);
    }
    hash ^ (hash >> 32)
}

/// A number that stands for a name where there is no room for it: odd, and 0 for an empty one. Two
/// of 256 names have the same one in 15 of a million runs.
pub fn mark(name: &[u8]) -> u32 {
    if name.is_empty() { 0 } else { mark_of(class(name)) }
}

fn mark_of(class: &[u8]) -> u32 {
    hash(class) as u32 | 1
}

impl Name {
    /// The time of these spans without that of spans inside them.
    pub fn own(&self) -> u64 {
        self.total.saturating_sub(self.inside)
    }
}

impl Names {
    /// Makes a list that keeps the `capacity` costliest names (at most 8,192).
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 8_192);
        Names {
            entries: Vec::with_capacity(2 * capacity),
            index: vec![0; (4 * capacity).next_power_of_two()],
            capacity,
            latest: 0,
            parent: 0,
            error: 0,
        }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Name>() + self.index.capacity() * size_of::<u16>()
    }

    /// Counts one span, which may have no name, and returns the [`mark`] of it. O(length of the
    /// name), amortised.
    #[inline]
    pub fn add(&mut self, name: &[u8], duration: u64) -> u32 {
        self.add_some(name, 1, duration)
    }

    /// Counts spans of one name and returns the [`mark`] of it. An empty name is not counted.
    #[inline]
    pub fn add_some(&mut self, name: &[u8], tasks: u64, total: u64) -> u32 {
        if name.is_empty() { 0 } else { self.add_many(name, tasks, total) }
    }

    /// Counts spans of one name that is not empty, and returns the [`mark`] of it.
    pub fn add_many(&mut self, name: &[u8], tasks: u64, total: u64) -> u32 {
        let name = class(name);
        if self.entries.get(self.latest).is_none_or(|latest| latest.name.bytes() != name) {
            self.latest = self.find(name);
        }
        let entry = &mut self.entries[self.latest];
        entry.tasks += tasks;
        entry.total = entry.total.saturating_add(total);
        entry.mark
    }

    /// The position of a name's entry, which is made where there is none.
    fn find(&mut self, name: &[u8]) -> usize {
        let mark = mark_of(name);
        let mut at = self.first(mark);
        while self.index[at] != 0 {
            let entry = usize::from(self.index[at]) - 1;
            if self.entries[entry].mark == mark && self.entries[entry].name.bytes() == name {
                return entry;
            }
            at = self.next(at);
        }
        if self.entries.len() == 2 * self.capacity {
            self.prune();
            return self.find(name);
        }
        self.entries.push(Name {
            mark,
            name: ShortName::of(name),
            tasks: 0,
            total: 0,
            inside: 0,
            off_cpu: 0,
        });
        self.index[at] = self.entries.len() as u16;
        self.entries.len() - 1
    }

    /// Counts time that spans of a name have in others inside them, and time of their own in which
    /// their threads did not run. A name that is not kept is not counted. O(1) expected.
    pub fn divide(&mut self, mark: u32, inside: u64, off_cpu: u64) {
        if self.entries.get(self.parent).is_none_or(|entry| entry.mark != mark) {
            let Some(entry) = self.marked(mark) else { return };
            self.parent = entry;
        }
        let entry = &mut self.entries[self.parent];
        entry.inside = entry.inside.saturating_add(inside);
        entry.off_cpu = entry.off_cpu.saturating_add(off_cpu);
    }

    /// Counts time in which the thread of a span did not run, before or after the span itself is
    /// counted. O(1) expected.
    pub fn off_cpu(&mut self, name: &[u8], ns: u64) {
        let entry = self.find(class(name));
        self.entries[entry].off_cpu = self.entries[entry].off_cpu.saturating_add(ns);
    }

    /// The position of the first entry with this mark.
    fn marked(&self, mark: u32) -> Option<usize> {
        let mut at = self.first(mark);
        while self.index[at] != 0 {
            let entry = usize::from(self.index[at]) - 1;
            if self.entries[entry].mark == mark {
                return Some(entry);
            }
            at = self.next(at);
        }
        None
    }

    /// Where the index is looked at first for a mark, whose lowest bit says nothing.
    #[inline]
    fn first(&self, mark: u32) -> usize {
        (mark >> 1) as usize & (self.index.len() - 1)
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.index.len() - 1)
    }

    /// Keeps the `capacity` costliest names and takes from each the time of the first one that
    /// goes.
    fn prune(&mut self) {
        self.entries.sort_unstable_by(|a, b| (b.total, a.name).cmp(&(a.total, b.name)));
        let less = self.entries[self.capacity].total;
        self.entries.truncate(self.capacity);
        for entry in &mut self.entries {
            entry.total -= less;
        }
        self.error = self.error.saturating_add(less);
        self.index.fill(0);
        for entry in 0..self.entries.len() {
            let mut at = self.first(self.entries[entry].mark);
            while self.index[at] != 0 {
                at = self.next(at);
            }
            self.index[at] = entry as u16 + 1;
        }
    }

    /// Adds what another list counted.
    pub fn merge(&mut self, other: &Names) {
        for entry in &other.entries {
            let mine = self.find(entry.name.bytes());
            self.entries[mine].tasks += entry.tasks;
            self.entries[mine].total = self.entries[mine].total.saturating_add(entry.total);
            self.entries[mine].inside = self.entries[mine].inside.saturating_add(entry.inside);
            self.entries[mine].off_cpu = self.entries[mine].off_cpu.saturating_add(entry.off_cpu);
        }
        self.error = self.error.saturating_add(other.error);
    }

    /// The names with most time of their own first; equal ones by all of their time, then by name.
    pub fn costliest(&self) -> Vec<Name> {
        let mut entries = self.entries.clone();
        entries.sort_unstable_by(|a, b| (b.own(), b.total, a.name).cmp(&(a.own(), a.total, b.name)));
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_name_survives_a_million_others_within_the_stated_error() {
        let mut names = Names::new(32);
        let mut total = 0;
        for i in 0..100_000u32 {
            names.add(format!("n{i}").as_bytes(), 10);
            names.add(b"heavy", 3);
            total += 13;
        }
        let heavy = names.costliest()[0];
        assert_eq!(heavy.name.bytes(), b"heavy");
        assert!(names.error <= total / 32, "{}", names.error);
        assert!(heavy.total <= 300_000 && heavy.total + names.error >= 300_000);
    }

    #[test]
    fn a_mark_is_that_of_what_is_kept_of_a_name() {
        let mut names = Names::new(4);
        let long = [b'x'; 60];
        for name in [&b"solve"[..], b"0_17", &long, b"a"] {
            assert_eq!((names.add(name, 1), mark(name) % 2), (mark(name), 1));
        }
        assert_eq!((names.add(b"", 1), mark(b"")), (0, 0));
        assert_eq!((mark(b"0_17"), mark(&long)), (mark(b"1_2"), mark(&long[..48])));
        assert_ne!(mark(b"a"), mark(b"b"));
    }

    #[test]
    fn unnamed_tasks_of_taskflow_are_one_class() {
        assert_eq!(class(b"0_17"), UNNAMED);
        assert_eq!(class(b"0_17a"), b"0_17a");
        assert_eq!(class(b"17"), b"17");
        assert_eq!(class(b"_1"), b"_1");
    }
}
