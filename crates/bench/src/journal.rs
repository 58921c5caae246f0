//! Appends records to the run file with one `write` per line. A killed run loses at most the record
//! being written.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use taskscale_model::{
    metric::Count,
    run_file::{CountRecord, Record},
};

/// The run file being written.
pub struct Journal<'a> {
    out: &'a mut dyn Write,
    order: u64,
    /// How many records of a row hold a count.
    counts: BTreeMap<(u64, Count), u64>,
}

impl<'a> Journal<'a> {
    /// Writes to `out`, which must not buffer: a record is kept only once the kernel has it.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Journal { out, order: 0, counts: BTreeMap::new() }
    }

    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        if let Record::Count(record) = record {
            for count in held(record) {
                *self.counts.entry((record.row, count)).or_default() += 1;
            }
        }
        self.out.flush()
    }

    /// Whether its records tell a count of a row, or why it is not known. A count per task is the
    /// difference between two of them.
    pub(crate) fn tells(&self, row: u64, count: Count) -> bool {
        let enough = if count.is_of_process() { 1 } else { 2 };
        self.counts.get(&(row, count)).is_some_and(|records| *records >= enough)
    }

    /// The place of the next sample in the order of all measurements.
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order - 1
    }
}

/// The counts that a record holds. One that says why a count is missing holds it for good: twice.
fn held(record: &CountRecord) -> impl Iterator<Item = Count> + '_ {
    let allocations = record.allocations.iter().flat_map(|_| [Count::Allocations, Count::Bytes]);
    let syscalls = record.syscalls.iter().map(|_| Count::Syscalls);
    let others = record.others.iter();
    let others = others.flat_map(|(count, told)| vec![*count; if told.why().is_some() { 2 } else { 1 }]);
    allocations.chain(syscalls).chain(others)
}
