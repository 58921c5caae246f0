//! Keeps events that have begun and not ended: `B` without its `E` on a stack for each worker, `b`
//! without its `e` in a table. Both are bounded. What finds no place is counted.

use std::collections::{HashMap, hash_map};

use crate::tally::Reason;

/// Most open events of each kind: about 3 MB.
pub const MOST_OPEN: usize = 65_536;
/// Most bytes of open names.
const MOST_NAME_BYTES: usize = 2 << 20;

/// The beginning of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    pub start_ns: i64,
    /// The worker of an asynchronous begin. Its end may name another thread; the end of a pair on a
    /// thread names the same.
    pub worker: u32,
    /// The reason why it will not become a span, if there is one.
    pub refused: Option<Reason>,
}

#[derive(Debug, Default)]
struct Stack {
    frames: Vec<(Begin, usize)>,
    names: Vec<u8>,
    /// Begins on top of the stack that found no place; their ends come first.
    unplaced: u64,
}

impl Stack {
    fn is_idle(&self) -> bool {
        self.frames.is_empty() && self.unplaced == 0
    }
}

/// One stack of begins for each thread.
#[derive(Debug, Default)]
pub struct Stacks {
    stacks: HashMap<u64, Stack>,
    frames: usize,
    name_bytes: usize,
    unplaced: u64,
    /// The number of stacks with nothing on them.
    idle: usize,
}

/// The result of looking for an end's begin.
pub enum Ended {
    /// The begin was found. Its name was appended to the given buffer.
    Begin(Begin),
    /// The begin had found no place.
    Unplaced,
    /// There is no begin.
    Nothing,
}

impl Stacks {
    /// Puts a begin on a thread's stack.
    pub fn begin(&mut self, thread: u64, begin: Begin, name: &[u8]) {
        if self.stacks.len() >= MOST_OPEN && !self.stacks.contains_key(&thread) {
            // Dropping idle stacks makes room, but only when that frees half of the places: each
            // begin then pays for two stacks at most. A begin without room is counted, and its end
            // has no begin.
            if self.idle < MOST_OPEN / 2 {
                self.unplaced += 1;
                return;
            }
            self.stacks.retain(|_, stack| !stack.is_idle());
            self.idle = 0;
        }
        let stack = match self.stacks.entry(thread) {
            hash_map::Entry::Occupied(known) => {
                let stack = known.into_mut();
                self.idle -= usize::from(stack.is_idle());
                stack
            }
            hash_map::Entry::Vacant(new) => new.insert(Stack::default()),
        };
        let full = self.frames >= MOST_OPEN || self.name_bytes + name.len() > MOST_NAME_BYTES;
        if full || stack.unplaced > 0 {
            stack.unplaced += 1;
            self.unplaced += 1;
            return;
        }
        stack.frames.push((begin, stack.names.len()));
        stack.names.extend_from_slice(name);
        self.frames += 1;
        self.name_bytes += name.len();
    }

    /// Takes the last begin of a thread.
    pub fn end(&mut self, thread: u64, name: &mut Vec<u8>) -> Ended {
        let Some(stack) = self.stacks.get_mut(&thread) else { return Ended::Nothing };
        if stack.unplaced > 0 {
            stack.unplaced -= 1;
            self.unplaced -= 1;
            self.idle += usize::from(stack.is_idle());
            return Ended::Unplaced;
        }
        let Some((begin, name_at)) = stack.frames.pop() else { return Ended::Nothing };
        self.idle += usize::from(stack.is_idle());
        name.extend_from_slice(&stack.names[name_at..]);
        self.frames -= 1;
        self.name_bytes -= stack.names.len() - name_at;
        stack.names.truncate(name_at);
        Ended::Begin(begin)
    }

    /// The last begin of a thread, which stays on its stack.
    pub fn top(&self, thread: u64) -> Option<Begin> {
        let stack = self.stacks.get(&thread).filter(|stack| stack.unplaced == 0)?;
        stack.frames.last().map(|(begin, _)| *begin)
    }

    /// Counts the begins still open: those with a place, and those without.
    pub fn open(&self) -> (u64, u64) {
        (self.frames as u64, self.unplaced)
    }
}

#[derive(Debug)]
struct Entry {
    last: (Begin, u64),
    /// Earlier begins with the same key, which is rare.
    below: Vec<(Begin, u64)>,
}

/// Holds asynchronous begins, by the hash of what identifies them.
#[derive(Debug, Default)]
pub struct Table {
    entries: HashMap<u64, Entry>,
    open: usize,
    sequence: u64,
    /// Begins that were forgotten to make room.
    pub evicted: u64,
}

impl Table {
    /// Enters a begin. A full table forgets its older half.
    pub fn begin(&mut self, key: u64, begin: Begin) {
        if self.open >= MOST_OPEN {
            self.forget_older_half();
        }
        self.sequence += 1;
        self.open += 1;
        let new = (begin, self.sequence);
        match self.entries.get_mut(&key) {
            Some(entry) => {
                entry.below.push(entry.last);
                entry.last = new;
            }
            None => {
                self.entries.insert(key, Entry { last: new, below: Vec::new() });
            }
        }
    }

    /// Takes the last begin with this key.
    pub fn end(&mut self, key: u64) -> Option<Begin> {
        let entry = self.entries.get_mut(&key)?;
        self.open -= 1;
        let (begin, _) = entry.last;
        match entry.below.pop() {
            Some(below) => entry.last = below,
            None => {
                self.entries.remove(&key);
            }
        }
        Some(begin)
    }

    /// Counts the begins still open.
    pub fn open(&self) -> u64 {
        self.open as u64
    }

    fn forget_older_half(&mut self) {
        let all =
            |entry: &Entry| entry.below.iter().map(|begin| begin.1).chain([entry.last.1]).collect::<Vec<_>>();
        let mut sequences: Vec<u64> = self.entries.values().flat_map(all).collect();
        let middle = sequences.len() / 2;
        let (_, &mut threshold, _) = sequences.select_nth_unstable(middle);
        let before = self.open;
        self.entries.retain(|_, entry| {
            entry.below.retain(|begin| begin.1 >= threshold);
            entry.last.1 >= threshold
        });
        self.open = self.entries.values().map(|entry| 1 + entry.below.len()).sum();
        self.evicted += (before - self.open) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(start_ns: i64) -> Begin {
        Begin { start_ns, worker: 0, refused: None }
    }

    #[test]
    fn a_full_table_forgets_its_older_half_and_counts() {
        let mut table = Table::default();
        for key in 0..=MOST_OPEN as u64 {
            table.begin(key, begin(key as i64));
        }
        assert_eq!((table.open(), table.evicted), (MOST_OPEN as u64 / 2 + 1, MOST_OPEN as u64 / 2));
        assert_eq!(table.end(0), None);
        assert_eq!(table.end(MOST_OPEN as u64), Some(begin(MOST_OPEN as i64)));
    }

    #[test]
    fn equal_keys_nest() {
        let mut table = Table::default();
        table.begin(7, begin(1));
        table.begin(7, begin(2));
        assert_eq!([table.end(7), table.end(7), table.end(7)], [Some(begin(2)), Some(begin(1)), None]);
    }

    #[test]
    fn threads_without_number_take_places_without_number() {
        let mut stacks = Stacks::default();
        for thread in 0..4 * MOST_OPEN as u64 {
            stacks.begin(thread, begin(0), b"n");
            assert!(stacks.stacks.len() <= MOST_OPEN);
        }
        assert_eq!(stacks.open(), (MOST_OPEN as u64, 3 * MOST_OPEN as u64));
        // Ends make room again, without one scan of all stacks for each.
        let mut name = Vec::new();
        for thread in 0..MOST_OPEN as u64 {
            assert!(matches!(stacks.end(thread, &mut name), Ended::Begin(_)));
        }
        assert_eq!((stacks.idle, stacks.frames), (MOST_OPEN, 0));
        for thread in 0..4 * MOST_OPEN as u64 {
            stacks.begin(thread, begin(0), b"n");
            assert!(matches!(stacks.end(thread, &mut name), Ended::Begin(_)));
            assert!(stacks.stacks.len() <= MOST_OPEN);
        }
    }

    #[test]
    fn a_full_stack_keeps_its_order() {
        let mut stacks = Stacks::default();
        for i in 0..MOST_OPEN as i64 + 5 {
            stacks.begin(0, begin(i), b"n");
        }
        assert_eq!(stacks.open(), (MOST_OPEN as u64, 5));
        let mut name = Vec::new();
        for _ in 0..5 {
            assert!(matches!(stacks.end(0, &mut name), Ended::Unplaced));
        }
        assert!(matches!(stacks.end(0, &mut name), Ended::Begin(b) if b.start_ns == MOST_OPEN as i64 - 1));
        assert_eq!(name, b"n");
        assert!(matches!(stacks.end(9, &mut name), Ended::Nothing));
    }
}
