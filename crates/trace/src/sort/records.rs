//! Records of any number, sorted in blocks and merged, outside memory.

use std::{fs::File, io};

use super::{
    When,
    merge::{Run, merge},
    record::{BYTES, Record},
};

/// The most blocks that are merged at once. Each then has a buffer of 16 KB.
const MOST_RUNS: usize = 256;

/// Takes records in any order and gives them back sorted.
pub struct Records {
    when: When,
    /// Records of a full block.
    full: usize,
    block: Vec<Record>,
    file: Option<File>,
    runs: Vec<Run>,
    written: u64,
    failed: Option<io::Error>,
}

impl Records {
    pub fn new(when: When, full: usize) -> Self {
        Records { when, full, block: Vec::new(), file: None, runs: Vec::new(), written: 0, failed: None }
    }

    /// Takes one record. The first error shows at the end.
    #[inline]
    pub fn push(&mut self, record: Record) {
        if self.block.len() == self.block.capacity()
            && let Err(error) = self.make_room()
        {
            self.fail(error);
        }
        self.block.push(record);
    }

    /// Makes room in the block. All of it is asked for at once: memory that is not written to is
    /// not taken.
    #[cold]
    fn make_room(&mut self) -> io::Result<()> {
        if self.block.capacity() == 0 {
            self.block.reserve_exact(self.full);
            return Ok(());
        }
        self.write_block()
    }

    /// Keeps an error for the end. Nothing is given back then, so what is in the block goes: a full
    /// one would be sorted and written again at each record, 50 s for 140,000 of them.
    #[cold]
    pub fn fail(&mut self, error: io::Error) {
        self.failed.get_or_insert(error);
        self.block.clear();
    }

    pub fn len(&self) -> u64 {
        self.written + self.block.len() as u64
    }

    /// Gives all records in order.
    pub fn finish(mut self, give: &mut impl FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.file.is_some() {
            self.write_block()?;
        }
        let Some(file) = self.file.take() else {
            Record::sort(&mut self.block);
            return self.block.iter().try_for_each(give);
        };
        if self.when == When::InTheEnd {
            for run in &self.runs {
                self.block = run.read(&file)?;
                Record::sort(&mut self.block);
                write(&file, run.start, &self.block)?;
            }
        }
        drop(self.block);
        merge(&file, &self.runs, give)
    }

    /// Writes the block as a run of its own.
    fn write_block(&mut self) -> io::Result<()> {
        if self.when == When::AtOnce {
            Record::sort(&mut self.block);
        }
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        write(file, self.written, &self.block)?;
        self.runs.push(Run { start: self.written, records: self.block.len() as u64 });
        self.written += self.block.len() as u64;
        self.block.clear();
        if self.when == When::AtOnce && self.runs.len() == MOST_RUNS {
            self.merge_runs()?;
        }
        Ok(())
    }

    /// Makes one run of all, in a file of its own.
    fn merge_runs(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let merged = tempfile::tempfile()?;
        let mut done = 0;
        let mut block = std::mem::take(&mut self.block);
        merge(&file, &self.runs, &mut |record| {
            block.push(*record);
            if block.len() == self.full {
                write(&merged, done, &block)?;
                done += block.len() as u64;
                block.clear();
            }
            Ok(())
        })?;
        write(&merged, done, &block)?;
        block.clear();
        self.block = block;
        self.runs = vec![Run { start: 0, records: self.written }];
        self.file = Some(merged);
        Ok(())
    }
}

/// Writes records at the place of record `at`.
fn write(file: &File, at: u64, records: &[Record]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut bytes = Vec::with_capacity(BYTES * records.len().min(1 << 11));
    let mut place = at * BYTES as u64;
    for part in records.chunks(1 << 11) {
        bytes.clear();
        part.iter().for_each(|record| record.write(&mut bytes));
        file.write_all_at(&bytes, place)?;
        place += bytes.len() as u64;
    }
    Ok(())
}
