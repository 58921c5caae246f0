//! Reads one line as a record.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use taskscale_model::run_file::{
    Record, SCHEMA,
    line::{self, Check},
};

/// The record types that this build knows: the words of [`Record`]'s `type`.
const KNOWN_TYPES: [&str; 8] = ["header", "runtime", "row", "sample", "round", "count", "row_end", "end"];

/// What is wrong with one line.
#[derive(Debug)]
pub enum Problem {
    Syntax(serde_json::Error),
    Shape(String),
    Schema(String),
}

impl Problem {
    pub fn into_words(self) -> String {
        match self {
            Problem::Syntax(error) => format!("not JSON: {error}"),
            Problem::Shape(problem) => problem,
            Problem::Schema(found) => format!("schema {found:?}"),
        }
    }
}

/// Reads lines, and counts what it had to skip.
#[derive(Debug, Default)]
pub struct Reader {
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
    pub fn record(&mut self, text: &[u8]) -> Result<Option<Record>, Problem> {
        let mut object: Map<String, Value> = match serde_json::from_slice(text).map_err(Problem::Syntax)? {
            Value::Object(object) => object,
            _ => return Err(Problem::Shape("not a JSON object".into())),
        };
        // A check stands at the end, and has been looked at there.
        if object.remove(line::FIELD).is_some() && line::check(text) == Check::Absent {
            return Err(Problem::Shape("its check is not its last field: the line was written anew".into()));
        }
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

    pub fn notes(&self) -> Vec<String> {
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
