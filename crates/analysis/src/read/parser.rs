//! Reads a run file line by line.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::run_file::{
    Header, Kind, Record, Records, SCHEMA, SampleRecord,
    line::{self, Check},
};

use super::{
    MARK, MAX_LINE, ReadError, Run,
    record::{Problem, Reader},
    repeated,
};

/// How many damaged lines are told by their numbers.
const NAMED: usize = 20;

/// What becomes of a damaged line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// It is an error.
    Refused,
    /// It is left out, and a note says which it was.
    LeftOut,
}

/// A run file that is being read.
#[derive(Debug)]
pub struct Parser {
    damage: Damage,
    reader: Reader,
    run: Option<Run>,
    /// Lines so far.
    lines: usize,
    /// The numbers of the first damaged lines, each with what is wrong, and how many there are.
    damaged: Vec<(usize, String)>,
    damages: usize,
    /// What is wrong with a header that is taken as it stands.
    header: Option<String>,
    /// The numbers of the rows that are declared.
    rows: BTreeSet<u64>,
    /// The records that are in the run.
    records: Records,
    /// The order of each measurement, counts among them, as they stand in the file.
    measured: Vec<u64>,
    /// The line of each measurement, by its order.
    orders: BTreeMap<u64, usize>,
    /// The line of each sample that makes a figure, by row, round and kind.
    places: BTreeMap<(u64, u64, bool), usize>,
}

impl Parser {
    pub fn new(damage: Damage) -> Self {
        Parser {
            damage,
            reader: Reader::default(),
            run: None,
            lines: 0,
            damaged: Vec::new(),
            damages: 0,
            header: None,
            rows: BTreeSet::new(),
            records: Records::default(),
            measured: Vec::new(),
            orders: BTreeMap::new(),
            places: BTreeMap::new(),
        }
    }

    /// Takes the next line, with its line feed if it has one. Only the last line may have none.
    ///
    /// # Errors
    /// What is wrong with the line, unless damaged lines are left out.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ReadError> {
        self.lines += 1;
        let is_cut = !line.ends_with(b"\n");
        let line = if self.lines == 1 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        let line = line.trim_ascii();
        if line.len() > MAX_LINE {
            return self.is_too_long();
        }
        if line.is_empty() {
            return Ok(());
        }
        let number = self.lines;
        let record = self.reader.record(line);
        let Some(run) = &mut self.run else {
            let (run, problem) = first(record, line, is_cut)?;
            if let Some(problem) = problem {
                if self.damage == Damage::Refused {
                    return Err(ReadError::Header { problem });
                }
                self.header = Some(problem);
            }
            self.run = Some(run);
            return Ok(());
        };
        let problem = match record {
            // A line that was cut has no check, and is told as cut.
            Err(_) if is_cut => {
                run.notes
                    .push(format!("line {number}, the last one, was cut short by a kill and is left out"));
                return Ok(());
            }
            Err(problem) => problem.into_words(),
            Ok(record) => match (line::check(line), run.is_checked) {
                (Check::Wrong, _) => "it is not what was written: its check does not fit".to_owned(),
                (Check::Absent, true) => "it has no check, and others have".to_owned(),
                (Check::Right, false) => "it has a check, and the first line has none".to_owned(),
                (Check::Right, true) | (Check::Absent, false) => match self.add(record) {
                    Ok(()) => return Ok(()),
                    Err(problem) => problem,
                },
            },
        };
        self.broken(problem)
    }

    /// Takes a line that is longer than [`MAX_LINE`] and was not read to its end.
    ///
    /// # Errors
    /// That it is so long, unless damaged lines are left out.
    pub fn too_long(&mut self) -> Result<(), ReadError> {
        self.lines += 1;
        self.is_too_long()
    }

    fn is_too_long(&mut self) -> Result<(), ReadError> {
        match (self.damage, &self.run) {
            (Damage::LeftOut, Some(_)) => self.broken(format!("longer than {MAX_LINE} bytes")),
            _ => Err(ReadError::TooLong { line: self.lines }),
        }
    }

    /// How many lines were left out so far.
    pub fn left_out(&self) -> usize {
        self.damages
    }

    /// The run, with notes on what was left out.
    ///
    /// # Errors
    /// There was no first line, or the last one says other numbers of lines than there are, unless
    /// that is read around.
    pub fn finish(self) -> Result<Run, ReadError> {
        let mut run = self.run.ok_or(ReadError::Empty)?;
        let skipped = self.reader.notes();
        let differing = run.ended.as_ref().and_then(|end| differing(&end.records?, &self.records));
        let altered = altered(&self.measured);
        if let (Some(differing), Damage::Refused) = (&differing, self.damage) {
            let problem: Vec<&str> =
                [Some(differing), altered.as_ref()].into_iter().flatten().map(|text| &**text).collect();
            return Err(ReadError::Records { problem: problem.join("; ") });
        }
        // What is left out leaves a gap too, and is told.
        if self.damages == 0 && skipped.is_empty() {
            run.altered = differing.clone().or(altered.clone());
            run.notes.extend(altered);
        }
        run.notes.extend(differing);
        run.notes.extend(skipped);
        run.damaged_lines = self.damages as u64;
        if let Some(problem) = self.header {
            run.damaged_lines += 1;
            run.is_header_damaged = true;
            run.notes.push(format!(
                "line 1, the header, is damaged ({problem}) and taken as it stands: machine, command, seed or suites may be wrong"
            ));
        }
        if self.damages > 0 {
            run.notes.push(left_out(&self.damaged, self.damages));
        }
        repeated::take_out(&mut run);
        Ok(run)
    }

    fn broken(&mut self, problem: String) -> Result<(), ReadError> {
        if self.damage == Damage::Refused {
            return Err(ReadError::Broken { line: self.lines, problem });
        }
        self.damages += 1;
        if self.damaged.len() < NAMED {
            self.damaged.push((self.lines, problem));
        }
        Ok(())
    }

    /// Adds a record, or says what is wrong with it beside the others.
    fn add(&mut self, record: Option<Record>) -> Result<(), String> {
        let (Some(run), Some(record)) = (&mut self.run, record) else { return Ok(()) };
        let mut records = self.records;
        records.add(&record);
        match record {
            Record::Header(_) => {
                return Err("a second header; two runs in one file cannot be told apart".into());
            }
            Record::Runtime(runtime) => run.runtimes.push(runtime),
            Record::Row(row) => {
                if !self.rows.insert(row.row) {
                    return Err(format!("row {} is declared twice", row.row));
                }
                run.rows.push(row);
            }
            Record::Sample(sample) => {
                once(&sample, self.lines, &mut self.orders, &mut self.places)?;
                self.measured.push(sample.order);
                run.samples.push(sample);
            }
            Record::Round(round) => run.rounds.push(round),
            Record::Count(count) => {
                self.measured.push(count.order);
                run.counts.push(count);
            }
            Record::RowEnd(end) => run.row_ends.push(end),
            Record::End(end) => {
                if run.ended.is_some() {
                    return Err("a second end; a run has one".into());
                }
                run.ended = Some(end);
            }
        }
        self.records = records;
        Ok(())
    }
}

/// Says of which lines there are more or fewer than the run wrote.
fn differing(written: &Records, here: &Records) -> Option<String> {
    let pairs = written.each().into_iter().zip(here.each());
    let differing = pairs.filter(|((written, ..), (here, ..))| written != here);
    let words = differing.map(|((written, one, many), (here, ..))| {
        let (kind, are) = (if written == 1 { one } else { many }, if here == 1 { "is" } else { "are" });
        format!("the run says {written} {kind}, {here} {are} here")
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Says what is missing among the orders of a file, or not in its place. A run counts on from 0,
/// and one that was killed ends early.
fn altered(orders: &[u64]) -> Option<String> {
    if let Some(place) = orders.windows(2).position(|pair| pair[1] < pair[0]) {
        return Some(format!(
            "lines of the file were moved: measurement {} stands behind measurement {}",
            orders[place + 1],
            orders[place]
        ));
    }
    let last = orders.last()?;
    let (missing, mut expected) = (last.saturating_add(1).saturating_sub(orders.len() as u64), 0);
    let gap = orders.iter().find(|order| {
        let is_gap = **order != expected;
        expected = order.saturating_add(1);
        is_gap
    })?;
    let were =
        if missing == 1 { "1 measurement is".to_owned() } else { format!("{missing} measurements are") };
    Some(format!("lines of the file were removed: {were} missing, the first before measurement {gap}"))
}

/// Refuses a sample that the file has already.
fn once(
    sample: &SampleRecord,
    line: usize,
    orders: &mut BTreeMap<u64, usize>,
    places: &mut BTreeMap<(u64, u64, bool), usize>,
) -> Result<(), String> {
    let SampleRecord { order, row, round, .. } = *sample;
    let place = match sample.kind {
        Kind::Timed => Some((row, round, true)),
        Kind::Phases => Some((row, round, false)),
        _ => None,
    };
    let before = orders.get(&order).or_else(|| places.get(&place?));
    if let Some(before) = before {
        return Err(format!(
            "it repeats the sample of line {before} (order {order}, row {row}, round {round})"
        ));
    }
    orders.insert(order, line);
    if let Some(place) = place {
        places.insert(place, line);
    }
    Ok(())
}

/// The run that the first line begins, and what is wrong with that line.
fn first(
    record: Result<Option<Record>, Problem>,
    line: &[u8],
    is_cut: bool,
) -> Result<(Run, Option<String>), ReadError> {
    let header = match record {
        Ok(Some(Record::Header(header))) => *header,
        Err(Problem::Schema(found)) => return Err(ReadError::Schema { found }),
        Err(Problem::Syntax(_)) if is_cut => return Err(ReadError::Empty),
        Err(problem) if was_a_header(line) => {
            return Err(ReadError::HeaderLost { problem: problem.into_words() });
        }
        Err(problem) => return Err(ReadError::NotARun { problem: problem.into_words() }),
        Ok(_) => return Err(ReadError::NotARun { problem: "it is another record".into() }),
    };
    let check = line::check(line);
    let problem =
        (check == Check::Wrong).then(|| "it is not what was written: its check does not fit".to_owned());
    Ok((empty(header, check != Check::Absent), problem))
}

/// Whether a line that cannot be read begins or names itself as the header of a run file does.
fn was_a_header(line: &[u8]) -> bool {
    let has = |text: &str| line.windows(text.len()).any(|window| window == text.as_bytes());
    has("\"type\":\"header\"") || has(&format!("\"schema\":\"{SCHEMA}\""))
}

fn empty(header: Header, is_checked: bool) -> Run {
    Run {
        header,
        runtimes: Vec::new(),
        rows: Vec::new(),
        samples: Vec::new(),
        rounds: Vec::new(),
        counts: Vec::new(),
        row_ends: Vec::new(),
        ended: None,
        is_checked,
        damaged_lines: 0,
        is_header_damaged: false,
        altered: None,
        notes: Vec::new(),
    }
}

fn left_out(damaged: &[(usize, String)], damages: usize) -> String {
    let named: Vec<String> = damaged.iter().map(|(line, problem)| format!("{line} ({problem})")).collect();
    let more = match damages - damaged.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let lines = if damages == 1 { "1 damaged line".to_owned() } else { format!("{damages} damaged lines") };
    format!("left out {lines}: {}{more}", named.join(", "))
}
