//! Processes that go on to the next size of their series, where a suite is measured for growth.
//!
//! A process that comes up for one sample of one size spends most of its life on coming up: 0.15 s
//! of a Python, and ten times that beside others on a busy machine. One process of each row
//! therefore passes through all sizes of a table, and the next pass has fresh ones. In the first
//! pass each size has a fresh one, which tells whether the row waits ([`crate::waiting`]). What one
//! process is dearer than another, it is at every size, so that it moves the curve and does not
//! bend it.
//!
//! Code that is compiled while it runs has a fresh process for each size: what the compiler has
//! learnt at small sizes stays. A Map of 65,536 records cost Node 1.7 us a record in processes that
//! had built smaller ones before, and 0.8 us in fresh ones.

use taskscale_model::{
    key::SeriesKey,
    protocol::Description,
    run_file::{Role, RowRecord},
};

use crate::link::Link;

/// A process between two sizes.
pub(crate) struct Process {
    pub link: Box<dyn Link>,
    /// What it said of itself when it came up.
    pub description: Description,
}

/// The processes of a table between two of its sizes.
#[derive(Default)]
pub(crate) struct Carried(Vec<(SeriesKey, Role, Process)>);

impl Carried {
    /// Takes the process of a row in.
    pub fn leave(&mut self, row: &RowRecord, process: Process) {
        self.0.push((row.key.series.clone(), row.role, process));
    }

    /// Hands out the process of the same row at another size.
    pub fn take(&mut self, row: &RowRecord) -> Option<Process> {
        let is_its =
            |(series, role, _): &(SeriesKey, Role, Process)| *series == row.key.series && *role == row.role;
        let at = self.0.iter().position(is_its)?;
        Some(self.0.remove(at).2)
    }

    /// Ends all of them, side by side.
    pub fn end(&mut self) {
        self.0.iter_mut().for_each(|(.., process)| process.link.dismiss());
        self.0.drain(..).for_each(|(.., mut process)| process.link.end());
    }
}
