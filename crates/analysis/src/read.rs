//! Reads `taskscale.run/1`.
//!
//! A kill may cut the last line short, which is forgiven and noted. A later version may add record
//! types and fields, which are skipped and counted in the notes. Anything else that is wrong is an
//! error with its line number.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use taskscale_model::run_file::{
    CountRecord, End, Header, Record, RoundRecord, RowEnd, RowRecord, RuntimeRecord, SCHEMA, SampleRecord,
};
use taskscale_model::{key::RowKey, suite::Block};

/// Longest line in bytes. The longest real line, a header with its suites, has some ten thousand.
pub const MAX_LINE: usize = 1 << 20;

/// What some editors put before a text in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The record types that this build knows: the words of [`Record`]'s `type`.
const KNOWN_TYPES: [&str; 8] = ["header", "runtime", "row", "sample", "round", "count", "row_end", "end"];

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
    #[error(
        "the file has schema {found:?}, this build reads {SCHEMA:?}; use the taskscale version that wrote it"
    )]
    Schema {
        /// The schema that the file names.
        found: String,
    },
    /// A line is damaged.
    #[error("line {line} is damaged: {problem}; remove the line, or take the run again")]
    Broken {
        /// The number of the line, from 1.
        line: usize,
        problem: String,
    },
    /// A line is longer than any line of a run file.
    #[error("line {line} is longer than {MAX_LINE} bytes; this is not a run file, or it is damaged")]
    TooLong {
        /// The number of the line, from 1.
        line: usize,
    },
}

/// Reads a whole run file. O(bytes), and as much memory again.
///
/// It takes bytes as well as text: a kill can cut a line inside a character.
pub fn parse_run(text: impl AsRef<[u8]>) -> Result<Run, ReadError> {
    let mut reader = Reader::default();
    let text = text.as_ref();
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let mut lines = text.split_inclusive(|&byte| byte == b'\n').enumerate().peekable();
    let mut run: Option<Run> = None;
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        let cut = lines.peek().is_none() && !line.ends_with(b"\n");
        let line = line.trim_ascii();
        if line.len() > MAX_LINE {
            return Err(ReadError::TooLong { line: number });
        }
        if line.is_empty() {
            continue;
        }
        match (&mut run, reader.record(line)) {
            (None, Ok(Some(Record::Header(header)))) => run = Some(empty(*header)),
            (None, Err(Problem::Schema(found))) => return Err(ReadError::Schema { found }),
            (None, Err(Problem::Syntax(_))) if cut => return Err(ReadError::Empty),
            (None, Err(problem)) => return Err(ReadError::NotARun { problem: problem.into_words() }),
            (None, Ok(_)) => return Err(ReadError::NotARun { problem: "it is another record".into() }),
            (Some(run), Ok(record)) => add(run, record, number)?,
            (Some(run), Err(_)) if cut => {
                run.notes
                    .push(format!("line {number}, the last one, was cut short by a kill and is left out"));
            }
            (Some(_), Err(problem)) => {
                return Err(ReadError::Broken { line: number, problem: problem.into_words() });
            }
        }
    }
    let mut run = run.ok_or(ReadError::Empty)?;
    run.notes.extend(reader.notes());
    Ok(run)
}

fn empty(header: Header) -> Run {
    Run {
        header,
        runtimes: Vec::new(),
        rows: Vec::new(),
        samples: Vec::new(),
        rounds: Vec::new(),
        counts: Vec::new(),
        row_ends: Vec::new(),
        ended: None,
        notes: Vec::new(),
    }
}

fn add(run: &mut Run, record: Option<Record>, line: usize) -> Result<(), ReadError> {
    match record {
        None => {}
        Some(Record::Header(_)) => {
            let problem = "a second header; two runs in one file cannot be told apart".into();
            return Err(ReadError::Broken { line, problem });
        }
        Some(Record::Runtime(runtime)) => run.runtimes.push(runtime),
        Some(Record::Row(row)) => {
            if run.rows.iter().any(|known| known.row == row.row) {
                return Err(ReadError::Broken {
                    line,
                    problem: format!("row {} is declared twice", row.row),
                });
            }
            run.rows.push(row);
        }
        Some(Record::Sample(sample)) => run.samples.push(sample),
        Some(Record::Round(round)) => run.rounds.push(round),
        Some(Record::Count(count)) => run.counts.push(count),
        Some(Record::RowEnd(end)) => run.row_ends.push(end),
        Some(Record::End(end)) => run.ended = Some(end),
    }
    Ok(())
}

/// What is wrong with one line.
enum Problem {
    Syntax(serde_json::Error),
    Shape(String),
    Schema(String),
}

impl Problem {
    fn into_words(self) -> String {
        match self {
            Problem::Syntax(error) => format!("not JSON: {error}"),
            Problem::Shape(problem) => problem,
            Problem::Schema(found) => format!("schema {found:?}"),
        }
    }
}

/// Reads lines, and counts what it had to skip.
#[derive(Default)]
struct Reader {
    /// The number of records of each type that this build does not know.
    unknown_types: BTreeMap<String, u64>,
    /// The number of fields that this build does not know, by `type.field`.
    unknown_fields: BTreeMap<String, u64>,
    /// Fields that this build knows, by type. They spare the comparison for all lines but the first
    /// few.
    known_fields: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Reader {
    /// Reads one record; `None` for a type that this build does not know.
    fn record(&mut self, line: &[u8]) -> Result<Option<Record>, Problem> {
        let object: Map<String, Value> = match serde_json::from_slice(line).map_err(Problem::Syntax)? {
            Value::Object(object) => object,
            _ => return Err(Problem::Shape("not a JSON object".into())),
        };
        let Some(Value::String(word)) = object.get("type") else {
            return Err(Problem::Shape("no field \"type\" with a word in it".into()));
        };
        let Some(word) = KNOWN_TYPES.into_iter().find(|known| known == word) else {
            *self.unknown_types.entry(word.clone()).or_default() += 1;
            return Ok(None);
        };
        if word == "header" {
            match object.get("schema") {
                Some(Value::String(schema)) if schema == SCHEMA => {}
                Some(Value::String(schema)) => return Err(Problem::Schema(schema.clone())),
                _ => return Err(Problem::Shape("the header has no schema".into())),
            }
        }
        let fields: Vec<String> =
            object.iter().filter(|(_, v)| !is_empty(v)).map(|(name, _)| name.clone()).collect();
        let record =
            Record::deserialize(Value::Object(object)).map_err(|error| Problem::Shape(error.to_string()))?;
        self.note_unknown_fields(word, fields, &record);
        Ok(Some(record))
    }

    /// Counts fields that the record does not write again: this build does not know them.
    fn note_unknown_fields(&mut self, word: &'static str, fields: Vec<String>, record: &Record) {
        let known = self.known_fields.entry(word).or_default();
        if fields.iter().all(|field| known.contains(field)) {
            return;
        }
        if let Ok(Value::Object(written)) = serde_json::to_value(record) {
            known.extend(written.into_iter().map(|(name, _)| name));
        }
        for field in fields.into_iter().filter(|field| !known.contains(field)) {
            *self.unknown_fields.entry(format!("{word}.{field}")).or_default() += 1;
        }
    }

    fn notes(&self) -> Vec<String> {
        let list = |counts: &BTreeMap<String, u64>| {
            counts.iter().map(|(name, count)| format!("{name} ({count})")).collect::<Vec<_>>().join(", ")
        };
        let mut notes = Vec::new();
        if !self.unknown_types.is_empty() {
            notes.push(format!(
                "skipped records of types this build does not know: {}",
                list(&self.unknown_types)
            ));
        }
        if !self.unknown_fields.is_empty() {
            notes.push(format!("ignored fields this build does not know: {}", list(&self.unknown_fields)));
        }
        notes
    }
}

/// Whether writers may leave the value out. Its absence in a copy then means nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}
