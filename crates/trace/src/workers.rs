//! Turns the ids of a source into dense worker indices, and keeps the workers' names.

use std::collections::HashMap;

use crate::{bytes::hash, names::Names};

pub(crate) use crate::names::short_name;

/// Most workers that are told apart. Further ones share the last index.
pub const MOST_WORKERS: u32 = 65_536;

/// An id as sources write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Id {
    /// The source gives no id.
    #[default]
    Absent,
    Integer(i64),
    /// The hash of a text.
    Text(u64),
}

impl Id {
    /// Returns the id that a text stands for.
    pub fn text(bytes: &[u8]) -> Self {
        Id::Text(hash(bytes, 0))
    }

    /// Returns a number that differs where ids differ.
    #[inline]
    pub fn bits(self) -> u64 {
        match self {
            Id::Absent => 0x5851_F42D_4C95_7F2D,
            Id::Integer(value) => value as u64,
            Id::Text(hash) => hash.rotate_left(1),
        }
    }
}

/// Gives (file, process, thread) dense indices, in the order in which they are first seen.
///
/// The table lives across files, so that workers of several files stay apart. It takes at most
/// 65,536 entries, about 4 MB, and names for the first 4,096 workers, about 1 MB.
#[derive(Debug)]
pub struct WorkerTable {
    file: u32,
    indices: HashMap<(u32, Id, Id), u32>,
    /// Tracks of the present file that belong to a worker with ids of its own.
    aliases: HashMap<(Id, Id), u32>,
    last: Option<(Id, Id, u32)>,
    /// Some of the workers, each in the slot of its ids. Where threads take turns, as in a trace
    /// sorted by time, a map alone would take a third of the time of reading.
    recent: [Option<(Id, Id, u32)>; RECENT],
    folded: u64,
    seen_in_file: u64,
    names: Names,
}

/// Slots for workers that were seen lately; a power of two.
const RECENT: usize = 64;

/// The slot of a worker.
fn slot(process: Id, thread: Id) -> usize {
    let ids = process.bits().rotate_left(32) ^ thread.bits();
    (ids.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % RECENT
}

impl Default for WorkerTable {
    fn default() -> Self {
        WorkerTable {
            file: 0,
            indices: HashMap::new(),
            aliases: HashMap::new(),
            last: None,
            recent: [None; RECENT],
            names: Names::default(),
            folded: 0,
            seen_in_file: 0,
        }
    }
}

impl WorkerTable {
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a file. Ids in it that equal those of an earlier file are other workers.
    pub fn next_file(&mut self) {
        self.settle_names();
        self.file += 1;
        self.aliases.clear();
        self.last = None;
        self.recent = [None; RECENT];
        self.folded = 0;
        self.seen_in_file = 0;
    }

    /// Forgets the workers of the present file, which is read once more.
    pub fn file_again(&mut self) {
        self.indices.retain(|(file, ..), _| *file != self.file);
        self.aliases.clear();
        self.last = None;
        self.recent = [None; RECENT];
        self.folded = 0;
        self.seen_in_file = 0;
    }

    /// Returns the index of a worker of the present file.
    #[inline(always)]
    pub fn index(&mut self, process: Id, thread: Id) -> u32 {
        match self.last {
            Some((p, t, index)) if p == process && t == thread => index,
            _ => self.find(process, thread),
        }
    }

    /// Returns the index of a worker of the present file that was seen before.
    #[inline(always)]
    pub fn known(&mut self, process: Id, thread: Id) -> Option<u32> {
        match self.last {
            Some((p, t, index)) if p == process && t == thread => Some(index),
            _ => self.find_known(process, thread),
        }
    }

    #[inline(never)]
    fn find_known(&mut self, process: Id, thread: Id) -> Option<u32> {
        let slot = slot(process, thread);
        let recent = self.recent[slot].filter(|recent| (recent.0, recent.1) == (process, thread));
        let index = match recent {
            Some(recent) => recent.2,
            None => *self
                .indices
                .get(&(self.file, process, thread))
                .or_else(|| self.aliases.get(&(process, thread)))?,
        };
        self.last = Some((process, thread, index));
        self.recent[slot] = self.last;
        Some(index)
    }

    /// Makes a track of the present file belong to the worker of another thread of its process.
    /// Returns that worker.
    #[cold]
    pub fn fold(&mut self, process: Id, thread: Id, home: Id) -> u32 {
        let index = self.index(process, home);
        if self.aliases.len() < MOST_WORKERS as usize {
            self.aliases.insert((process, thread), index);
        }
        index
    }

    /// Tells whether a track belongs to the worker of another one.
    pub fn is_folded(&self, process: Id, thread: Id) -> bool {
        self.aliases.contains_key(&(process, thread))
    }

    /// Returns the main thread of a process of the present file, as Python names it, or its only
    /// one with a name.
    pub fn main_thread(&self, process: Id) -> Option<Id> {
        self.names.main_thread(process)
    }

    /// Keeps the name of a thread of the present file.
    pub fn name_thread(&mut self, process: Id, thread: Id, name: &[u8]) {
        self.names.name_thread(process, thread, name);
    }

    /// Keeps the name of a process of the present file, or a label, which tells processes of one
    /// name apart.
    pub fn name_process(&mut self, process: Id, name: &[u8], is_label: bool) {
        self.names.name_process(process, name, is_label);
    }

    /// Returns the name of a thread of the present file, whether it is a worker or not.
    pub fn name_of(&self, process: Id, thread: Id) -> Option<&str> {
        self.names.of_thread(process, thread)
    }

    /// The tracks of the present file: process, thread and the worker's index.
    pub(crate) fn tracks(&self) -> impl Iterator<Item = (Id, Id, u32)> {
        let of_file = self.indices.iter().filter(|(key, _)| key.0 == self.file);
        let folded = self.aliases.iter().map(|(&(process, thread), &index)| (process, thread, index));
        of_file.map(|(&(_, process, thread), &index)| (process, thread, index)).chain(folded)
    }

    /// Gives the names of the present file to its workers. Names may come behind all spans.
    pub fn settle_names(&mut self) {
        let file = self.file;
        let of_file = self.indices.iter().filter(|(key, _)| key.0 == file);
        self.names.settle(of_file.map(|(&(_, process, thread), &index)| (index, process, thread)));
    }

    /// Returns the name of a worker, once the file that names it has been read: that of its thread,
    /// with that of its process where threads of two processes share it, and that of its process
    /// where its thread has none. At most 48 bytes, without control characters.
    pub fn name(&self, index: u32) -> Option<&str> {
        self.names.of_worker(index)
    }

    #[inline(never)]
    fn find(&mut self, process: Id, thread: Id) -> u32 {
        let slot = slot(process, thread);
        if let Some(recent) = self.recent[slot]
            && (recent.0, recent.1) == (process, thread)
        {
            self.last = Some(recent);
            return recent.2;
        }
        let next = self.indices.len() as u32;
        let key = (self.file, process, thread);
        let index = match self.indices.get(&key) {
            Some(&index) => index,
            None if next < MOST_WORKERS => {
                self.indices.insert(key, next);
                self.seen_in_file += 1;
                next
            }
            None => {
                self.folded += 1;
                return MOST_WORKERS - 1;
            }
        };
        self.last = Some((process, thread, index));
        self.recent[slot] = self.last;
        index
    }

    /// Tells whether an index is the one that all workers without a place of their own share.
    #[inline]
    pub fn is_shared(index: u32) -> bool {
        index == MOST_WORKERS - 1
    }

    /// Returns the number of workers of all files so far.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Tells whether no worker was seen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the number of workers first seen in the present file.
    pub fn seen_in_file(&self) -> u64 {
        self.seen_in_file
    }

    /// Returns the number of events of the present file whose worker found no place of its own.
    pub fn folded(&self) -> u64 {
        self.folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_dense_and_files_apart() {
        let mut table = WorkerTable::new();
        let text = Id::text(b"worker:1");
        assert_eq!(table.index(Id::Integer(1), Id::Integer(7)), 0);
        assert_eq!(table.index(Id::Integer(1), text), 1);
        assert_eq!(table.index(Id::Integer(1), Id::Absent), 2);
        assert_eq!(table.index(Id::Integer(1), Id::Integer(7)), 0);
        table.next_file();
        assert_eq!(table.index(Id::Integer(1), Id::Integer(7)), 3);
        assert_eq!((table.len(), table.seen_in_file()), (4, 1));
    }

    #[test]
    fn known_workers_are_found_and_others_are_not_made() {
        let mut table = WorkerTable::new();
        assert_eq!(table.known(Id::Integer(1), Id::Integer(7)), None);
        table.index(Id::Integer(1), Id::Integer(7));
        table.index(Id::Integer(1), Id::Integer(8));
        assert_eq!(table.known(Id::Integer(1), Id::Integer(7)), Some(0));
        assert_eq!(table.known(Id::Integer(1), Id::Integer(7)), Some(0), "the last one");
        assert_eq!((table.known(Id::Integer(2), Id::Integer(7)), table.len()), (None, 2));
    }

    #[test]
    fn workers_past_the_bound_share_the_last_place() {
        let mut table = WorkerTable::new();
        for i in 0..70_000 {
            let index = table.index(Id::Absent, Id::Integer(i));
            assert_eq!(index, (i as u32).min(MOST_WORKERS - 1));
        }
        assert_eq!((table.len(), table.folded()), (65_536, 70_000 - 65_536));
    }
}
