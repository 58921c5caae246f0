//! Merges sorted runs of a file.

use std::{cmp::Ordering, collections::BinaryHeap, collections::binary_heap::PeekMut, fs::File, io};

use super::record::{BYTES, Record};

/// Memory for the buffers of all runs.
const MEMORY: usize = 4 << 20;

/// Consecutive records of a file, sorted.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The place of its first record.
    pub start: u64,
    pub records: u64,
}

impl Run {
    /// Reads all records of the run.
    pub fn read(self, file: &File) -> io::Result<Vec<Record>> {
        let mut cursor = Cursor::new(self, self.records as usize);
        cursor.refill(file)?;
        cursor.buffer.reverse();
        Ok(cursor.buffer)
    }
}

/// A run that is being read. Its next record is the last of the buffer.
struct Cursor {
    left: Run,
    length: usize,
    buffer: Vec<Record>,
}

impl Cursor {
    fn new(run: Run, length: usize) -> Self {
        Cursor { left: run, length, buffer: Vec::new() }
    }

    /// The next record; `None` behind the last one.
    #[inline]
    fn next(&mut self, file: &File) -> io::Result<Option<Record>> {
        if self.buffer.is_empty() {
            self.refill(file)?;
        }
        Ok(self.buffer.pop())
    }

    /// Fills the buffer, which is empty, with what comes next.
    fn refill(&mut self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        let count = self.length.min(self.left.records as usize);
        let mut bytes = vec![0; count * BYTES];
        file.read_exact_at(&mut bytes, self.left.start * BYTES as u64)?;
        self.buffer.extend(bytes.as_chunks::<BYTES>().0.iter().rev().map(Record::read));
        self.left = Run { start: self.left.start + count as u64, records: self.left.records - count as u64 };
        Ok(())
    }
}

/// A run's next record and the run's number. The one with the first record is the greatest.
#[derive(Clone, Copy)]
struct Next(Record, usize);

impl Ord for Next {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.order(&self.0)
    }
}

impl PartialOrd for Next {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next {}

/// Gives the records of all runs in order. O(log runs) for each.
pub fn merge(file: &File, runs: &[Run], give: &mut impl FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
    let length = (MEMORY / BYTES / runs.len().max(1)).max(64);
    let mut cursors: Vec<Cursor> = runs.iter().map(|run| Cursor::new(*run, length)).collect();
    let mut heap = BinaryHeap::with_capacity(runs.len());
    for (run, cursor) in cursors.iter_mut().enumerate() {
        if let Some(record) = cursor.next(file)? {
            heap.push(Next(record, run));
        }
    }
    while let Some(mut first) = heap.peek_mut() {
        give(&first.0)?;
        match cursors[first.1].next(file)? {
            Some(record) => first.0 = record,
            None => {
                PeekMut::pop(first);
            }
        }
    }
    Ok(())
}
