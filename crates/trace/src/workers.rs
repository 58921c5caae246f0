//! From the ids of a source to dense worker indices.

use std::collections::HashMap;

use crate::bytes::hash;

/// Workers that are told apart at most; further ones share the last index.
pub const MOST_WORKERS: u32 = 65_536;

/// An id as sources write it: integer or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Id {
    /// Not there.
    #[default]
    Absent,
    /// An integer.
    Integer(i64),
    /// Text, by its hash.
    Text(u64),
}

impl Id {
    /// The id that a text stands for.
    pub fn text(bytes: &[u8]) -> Self {
        Id::Text(hash(bytes, 0))
    }

    /// A number that differs where ids differ.
    #[inline]
    pub fn bits(self) -> u64 {
        match self {
            Id::Absent => 0x5851_F42D_4C95_7F2D,
            Id::Integer(value) => value as u64,
            Id::Text(hash) => hash.rotate_left(1),
        }
    }
}

/// Dense indices for (file, process, thread), in the order in which they are first seen.
///
/// Lives across files, so that workers of several files stay apart. Memory: at most 65,536 entries,
/// about 4 MB.
#[derive(Debug, Default)]
pub struct WorkerTable {
    file: u32,
    indices: HashMap<(u32, Id, Id), u32>,
    last: Option<(Id, Id, u32)>,
    folded: u64,
    seen_in_file: u64,
}

impl WorkerTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a file: equal ids in it are other workers than before.
    pub fn next_file(&mut self) {
        self.file += 1;
        self.last = None;
        self.folded = 0;
        self.seen_in_file = 0;
    }

    /// The index of a worker of the present file.
    #[inline(always)]
    pub fn index(&mut self, process: Id, thread: Id) -> u32 {
        match self.last {
            Some((p, t, index)) if p == process && t == thread => index,
            _ => self.find(process, thread),
        }
    }

    #[inline(never)]
    fn find(&mut self, process: Id, thread: Id) -> u32 {
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
        index
    }

    /// Whether an index is the one that all workers share that found no place of their own.
    #[inline]
    pub fn is_shared(index: u32) -> bool {
        index == MOST_WORKERS - 1
    }

    /// Workers of all files so far.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether no worker was seen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Workers first seen in the present file.
    pub fn seen_in_file(&self) -> u64 {
        self.seen_in_file
    }

    /// Events of the present file whose worker found no place of its own.
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
    fn workers_past_the_bound_share_the_last_place() {
        let mut table = WorkerTable::new();
        for i in 0..70_000 {
            let index = table.index(Id::Absent, Id::Integer(i));
            assert_eq!(index, (i as u32).min(MOST_WORKERS - 1));
        }
        assert_eq!((table.len(), table.folded()), (65_536, 70_000 - 65_536));
    }
}
