//! Less of a value, as bytes say, so that an execution is cheap and still has a part in full.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::edit::places;

/// How many members the lists of a chosen part keep.
const MEMBERS: [usize; 4] = [1, 1, 1, 3];

/// How many rows of a run file are kept, and how many records there are of each kind and row.
const ROWS: [usize; 4] = [1, 1, 2, 2];
const RECORDS: [usize; 4] = [1, 1, 2, 5];

/// One in how many inputs has all of a value, and one in how many has more of a run file.
const ALL: u32 = 512;
const MORE: u32 = 32;

/// A number that changes with any byte. It chooses what takes long, which thus stays rare among the
/// changes of inputs that the fuzzer keeps because so much is in them.
pub fn luck(bytes: &[u8]) -> u32 {
    let mixed = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |mixed, byte| (mixed ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    mixed ^ mixed >> 15
}

/// A value of which two parts are kept and the lists of the others are empty. The first byte
/// chooses a part and how long its lists are, the second another part.
pub fn of_value(value: &Value, [first, second]: [u8; 2], luck: u32) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    if luck.is_multiple_of(ALL) {
        return value.clone();
    }
    let parts = members.values().filter(|member| is_part(member)).count().max(1);
    let chosen = [usize::from(first) % 64 % parts, usize::from(second) % parts];
    let most = MEMBERS[usize::from(first / 64)];
    let mut part = 0;
    let mut kept = |member: &Value| {
        if !is_part(member) {
            return member.clone();
        }
        part += 1;
        few(member, if chosen.contains(&(part - 1)) { most } else { 0 })
    };
    members.iter().map(|(name, member)| (name.clone(), kept(member))).collect()
}

fn is_part(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// The value with at most so many members in each list. A list of numbers stays whole: it may be a
/// pair.
fn few(value: &Value, most: usize) -> Value {
    match value {
        Value::Array(all) if all.iter().any(|one| !one.is_number()) => {
            all.iter().take(most).map(|one| few(one, most)).collect()
        }
        Value::Object(all) => all.iter().map(|(name, one)| (name.clone(), few(one, most))).collect(),
        _ => value.clone(),
    }
}

/// A line of a kept file: its text and the number of its values are made once, since most lines of
/// most executions stay as they are.
#[derive(Clone)]
pub struct Line {
    kind: String,
    row: Option<u64>,
    pub value: Value,
    pub text: String,
    pub places: usize,
}

/// The lines of a run file.
pub struct Lines(Vec<Line>);

impl Lines {
    /// Reads the lines of a file that is whole.
    pub fn new(file: &str) -> Lines {
        let line = |line: &str| {
            let value: Value = line.parse().expect("JSON");
            let kind = value["type"].as_str().unwrap_or_default().to_owned();
            Line { kind, row: value["row"].as_u64(), places: places(&value), text: value.to_string(), value }
        };
        Lines(file.lines().map(line).collect())
    }

    /// A few neighbouring rows, each with a few records of each kind. The first byte chooses the
    /// first row, the second how many there are of both.
    pub fn few(&self, [first, many]: [u8; 2], luck: u32) -> Vec<&Line> {
        let (rows, records) = match luck {
            luck if luck.is_multiple_of(ALL) => (usize::MAX, usize::MAX),
            luck if luck.is_multiple_of(MORE) => (4, 6),
            _ => (ROWS[usize::from(many % 4)], RECORDS[usize::from(many / 4 % 4)]),
        };
        let all = self.0.iter().filter(|line| line.kind == "row").count().max(1);
        let rows = rows.min(all);
        let from = usize::from(first) % (all - rows + 1);
        let rows = from as u64..(from + rows) as u64;
        let mut so_far: BTreeMap<(&str, Option<u64>), usize> = BTreeMap::new();
        let kept = self.0.iter().filter(|line| {
            if line.row.is_some_and(|row| !rows.contains(&row)) {
                return false;
            }
            let count = so_far.entry((&line.kind, line.row)).or_default();
            *count += 1;
            *count <= records
        });
        kept.collect()
    }
}
