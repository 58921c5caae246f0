//! Reads `taskscale.run/1`.
//!
//! A kill may cut the last line short, which is forgiven and noted. A later version may add record
//! types and fields, which are skipped and counted in the notes. Anything else that is wrong is an
//! error with its line number, or is left out and noted where that is asked for.

mod parser;
mod record;
mod repeated;

use std::collections::BTreeSet;

use taskscale_model::run_file::{
    CountRecord, End, Header, RoundRecord, RowEnd, RowRecord, RuntimeRecord, SCHEMA, SampleRecord,
};
use taskscale_model::{key::RowKey, suite::Block};

pub use parser::{Damage, Parser};

/// Longest line in bytes. The longest real line, a header with its suites, has some ten thousand.
pub const MAX_LINE: usize = 1 << 20;

/// What some editors put before a text in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The records of a run file by kind, each kind in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub header: Header,
    pub runtimes: Vec<RuntimeRecord>,
    /// The rows of the plan.
    pub rows: Vec<RowRecord>,
    pub samples: Vec<SampleRecord>,
    /// The disturbance of each round.
    pub rounds: Vec<RoundRecord>,
    pub counts: Vec<CountRecord>,
    pub row_ends: Vec<RowEnd>,
    /// `None` for a run that was cut short.
    pub ended: Option<End>,
    /// Whether each line has a check, so that a changed digit is found.
    pub is_checked: bool,
    /// Damaged lines that were read around.
    pub damaged_lines: u64,
    /// Whether the header is one of them, and taken as it stands.
    pub is_header_damaged: bool,
    /// Why the file is not as it was written, though each of its lines is.
    pub altered: Option<String>,
    /// What the reader skipped.
    pub notes: Vec<String>,
}

impl Run {
    /// The block of a suite that a row's table comes from. A table whose parameters were put over
    /// the block's has the block's title, a comma, and those parameters. O(suites + blocks).
    pub fn block(&self, key: &RowKey) -> Option<&Block> {
        let suite = self.header.suites.iter().find(|suite| suite.name == key.suite)?;
        let is_of = |block: &&Block| {
            let behind = key.table.strip_prefix(&block.title());
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(", "))
        };
        suite.workloads.iter().filter(is_of).max_by_key(|block| block.title().len())
    }

    /// Keeps the rows that are wanted, with their samples, and the runtimes that are wanted or have
    /// such rows. A row whose baseline goes has no ratio any more. O(records).
    pub fn keep(&mut self, runtime: impl Fn(&str) -> bool, row: impl Fn(&RowRecord) -> bool) {
        self.rows.retain(row);
        let rows: BTreeSet<u64> = self.rows.iter().map(|row| row.row).collect();
        let used: BTreeSet<&str> = self.rows.iter().map(|row| row.key.runtime.as_str()).collect();
        self.runtimes.retain(|one| runtime(&one.id) || used.contains(one.id.as_str()));
        self.samples.retain(|sample| rows.contains(&sample.row));
        self.counts.retain(|count| rows.contains(&count.row));
        self.row_ends.retain(|end| rows.contains(&end.row));
    }
}

/// What reads a file of another schema.
fn reader_of(found: &str) -> &'static str {
    match found == taskscale_model::guide::SCHEMA {
        true => "a run of the guide is shown by `taskscale report`, as text, Markdown or JSON",
        false => "use the taskscale version that wrote it",
    }
}

/// Why a text is not a run file.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ReadError {
    /// The file holds nothing, or only the beginning of a header.
    #[error("the file is empty or was cut inside its first line; take the run again")]
    Empty,
    /// The file is of some other kind.
    #[error(
        "not a run file: line 1 is no header of {SCHEMA} ({problem}); name a file that `taskscale run -o` wrote"
    )]
    NotARun {
        /// What is wrong with the first line.
        problem: String,
    },
    /// The file has another version.
    #[error("the file has schema {found:?}, this build reads {SCHEMA:?} here; {}", reader_of(.found))]
    Schema {
        /// The schema that the file names.
        found: String,
    },
    /// The first line is not what was written, and can be read.
    #[error("line 1, the header, is damaged: {problem}; `taskscale report --salvage` takes it as it stands")]
    Header { problem: String },
    /// The first line cannot be read, without which nothing else can.
    #[error(
        "line 1, the header, is damaged: {problem}; no other line says what it said of suites and machine: take the run again"
    )]
    HeaderLost { problem: String },
    /// A line is damaged.
    #[error("line {line} is damaged: {problem}; `taskscale report --salvage` reads around it")]
    Broken {
        /// The number of the line, from 1.
        line: usize,
        problem: String,
    },
    /// Each line is as it was written, and not all are here once.
    #[error(
        "lines of the file were removed or doubled: {problem}; `taskscale report --salvage` reads what is here"
    )]
    Records { problem: String },
    /// A line is longer than any line of a run file.
    #[error("line {line} is longer than {MAX_LINE} bytes; this is not a run file, or it is damaged")]
    TooLong {
        /// The number of the line, from 1.
        line: usize,
    },
}

/// Reads a whole run file. O(bytes log records), and as much memory again.
///
/// It takes bytes as well as text: a kill can cut a line inside a character.
pub fn parse_run(text: impl AsRef<[u8]>) -> Result<Run, ReadError> {
    parse(text.as_ref(), Damage::Refused)
}

/// Reads what is whole of a damaged run file. Its first line must be readable.
pub fn salvage_run(text: impl AsRef<[u8]>) -> Result<Run, ReadError> {
    parse(text.as_ref(), Damage::LeftOut)
}

fn parse(text: &[u8], damage: Damage) -> Result<Run, ReadError> {
    let mut parser = Parser::new(damage);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        parser.line(line)?;
    }
    parser.finish()
}
