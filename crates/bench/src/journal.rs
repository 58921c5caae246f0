//! Appends records to the run file with one `write` per line. A killed run loses at most the record
//! being written.

use std::io::{self, Write};

use taskscale_model::run_file::Record;

/// The run file being written.
pub struct Journal<'a> {
    out: &'a mut dyn Write,
    order: u64,
}

impl<'a> Journal<'a> {
    /// Writes to `out`, which must not buffer: a record is kept only once the kernel has it.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Journal { out, order: 0 }
    }

    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    /// The place of the next sample in the order of all measurements.
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order - 1
    }
}
