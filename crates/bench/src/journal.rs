//! Appends records to the run file with one `write` per line. A killed run loses at most the record
//! being written.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde_json::Value;
use taskscale_model::{
    metric::Count,
    run_file::{CountRecord, Record, Records, line, redact::Redactor},
};

/// The run file being written.
pub struct Journal<'a> {
    out: &'a mut dyn Write,
    /// What is not told of whoever takes the run; `None` where all is told.
    redactor: Option<Redactor>,
    order: u64,
    /// What is written so far.
    records: Records,
    /// How many records of a row hold a count.
    counts: BTreeMap<(u64, Count), u64>,
}

impl<'a> Journal<'a> {
    /// Writes to `out`, which must not buffer: a record is kept only once the kernel has it.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Journal { out, redactor: None, order: 0, records: Records::default(), counts: BTreeMap::new() }
    }

    /// Leaves out of each record what `redactor` replaces.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = Some(redactor);
        self
    }

    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let object = serde_json::to_vec(record).map_err(io::Error::other)?;
        let object = match &self.redactor {
            Some(redactor) if tells(record) || !redactor.is_plain(&object) => redacted(&object, redactor)?,
            _ => object,
        };
        self.out.write_all(&line::checked(object))?;
        self.records.add(record);
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

    /// How many records of each type it has, for the last line to say.
    pub fn records(&self) -> Records {
        self.records
    }

    /// The place of the next sample in the order of all measurements.
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order - 1
    }
}

/// Whether a record holds words of people or of programs. Samples come between others that are
/// timed: of these only a runtime's name is looked at, where it may be a command.
fn tells(record: &Record) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "@+-._".contains(c);
    match record {
        Record::Sample(sample) => sample.runtime.len() > LONGEST_NAME || !sample.runtime.chars().all(is_part),
        Record::Round(_) | Record::End(_) => false,
        _ => true,
    }
}

/// The longest name of a runtime that is no secret by its form.
const LONGEST_NAME: usize = 19;

/// The object of a record as it is kept, in the order of its fields.
fn redacted(object: &[u8], redactor: &Redactor) -> io::Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(object)?;
    redactor.redact(&mut value);
    let record: Record = serde_json::from_value(value)?;
    serde_json::to_vec(&record).map_err(io::Error::other)
}

/// The counts that a record holds. One that says why a count is missing holds it for good: twice.
fn held(record: &CountRecord) -> impl Iterator<Item = Count> + '_ {
    let allocations = record.allocations.iter().flat_map(|_| [Count::Allocations, Count::Bytes]);
    let syscalls = record.syscalls.iter().map(|_| Count::Syscalls);
    let others = record.others.iter();
    let others = others.flat_map(|(count, told)| vec![*count; if told.why().is_some() { 2 } else { 1 }]);
    allocations.chain(syscalls).chain(others)
}
