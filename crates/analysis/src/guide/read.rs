//! Reads `taskscale.guide/1`, and the lines that a program of the guide prints.

use std::collections::BTreeMap;

use serde_json::Value;
use taskscale_model::guide::{
    Claim, End, Ended, Header, Line, Of, Record, Records, SCHEMA, Said, Sample, Untestable,
};

use super::figures::Rounds;

/// Longest line in bytes. The longest claim of a program has some ten thousand.
pub const MAX_LINE: usize = 1 << 20;

/// The highest number of a claim that is taken.
const MOST_CLAIMS: u32 = 999;

/// Why a text is no file of the guide.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    #[error("the file is empty or was cut inside its first line; take the run again")]
    Empty,
    #[error("line 1 is no header of {SCHEMA} ({problem}); name a file that `taskscale run guide -o` wrote")]
    NotTheGuide { problem: String },
    #[error("line {line} is damaged: {problem}; take the run again")]
    Broken { line: usize, problem: String },
    #[error("lines of the file were removed or doubled: {problem}; take the run again")]
    Records { problem: String },
}

/// A file of the guide, its lines by program.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    pub header: Header,
    pub claims: BTreeMap<String, Vec<Claim>>,
    pub untestable: BTreeMap<String, Vec<Untestable>>,
    /// With the sitting that each is of.
    pub samples: BTreeMap<String, Vec<(u64, Sample)>>,
    pub ended: BTreeMap<String, Ended>,
    /// `None` for a run that was cut short.
    pub end: Option<End>,
    /// How many lines are here.
    records: Records,
    /// What the reader skipped.
    pub notes: Vec<String>,
}

impl File {
    fn new(header: Header) -> Self {
        File {
            header,
            claims: BTreeMap::new(),
            untestable: BTreeMap::new(),
            samples: BTreeMap::new(),
            ended: BTreeMap::new(),
            end: None,
            records: Records::default(),
            notes: Vec::new(),
        }
    }

    /// The samples of a program by arm and round.
    pub(super) fn rounds(&self, program: &str) -> Rounds<'_> {
        let mut rounds = Rounds::default();
        for (sitting, sample) in self.samples.get(program).into_iter().flatten() {
            rounds.add(*sitting, sample);
        }
        rounds
    }

    fn take(&mut self, record: Record) -> Result<(), String> {
        self.records.add(&record);
        match record {
            Record::Header(_) => return Err("a second header".into()),
            Record::End(_) if self.end.is_some() => return Err("a second end; a run has one".into()),
            Record::Said(said) => self.hear(said)?,
            Record::Ended(ended) => {
                self.ended.insert(ended.program.clone(), ended);
            }
            Record::End(end) => self.end = Some(end),
        }
        Ok(())
    }

    fn hear(&mut self, Said { program, sitting, line }: Said) -> Result<(), String> {
        match parse_line(&line)? {
            // Each sitting names its claims anew.
            Line::Claim(claim) => {
                let claims = self.claims.entry(program).or_default();
                claims.retain(|known| known.claim != claim.claim);
                claims.push(claim);
            }
            Line::Untestable(line) => {
                let lines = self.untestable.entry(program).or_default();
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            Line::Sample(sample) => {
                let claims = self.claims.get(&program).map_or(&[][..], |claims| claims);
                check_sample(claims, &sample)?;
                self.samples.entry(program).or_default().push((sitting, sample));
            }
        }
        Ok(())
    }
}

/// Says of which lines there are more or fewer than the last one says.
fn differing(written: &Records, here: &Records) -> Option<String> {
    let pairs =
        [(written.said, here.said, "lines of programs"), (written.ended, here.ended, "ends of programs")];
    let differing = pairs.into_iter().filter(|(written, here, _)| written != here);
    let words: Vec<String> = differing
        .map(|(written, here, what)| format!("the run says {written} {what}, {here} here"))
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Says what is wrong with a sample beside the claims of its program: an arm that there is not, or
/// another answer than the right one.
pub fn check_sample(claims: &[Claim], sample: &Sample) -> Result<(), String> {
    let mut arms = claims.iter().flat_map(|claim| &claim.arms);
    match arms.find(|arm| arm.name == sample.arm) {
        None => Err(format!("a sample of {:?}, which is no arm", sample.arm)),
        Some(arm) if (arm.answer, arm.tasks) != (sample.answer, sample.tasks) => Err(format!(
            "{} answers {} for {} tasks, right is {} for {}",
            sample.arm, sample.answer, sample.tasks, arm.answer, arm.tasks
        )),
        Some(_) => Ok(()),
    }
}

/// Reads a line that a program printed.
///
/// # Errors
/// Says what is wrong with it. Fields that are not known are left alone.
pub fn parse_line(line: &Value) -> Result<Line, String> {
    let object = line.as_object().ok_or("a line is an object")?;
    let number = object.get("claim").and_then(Value::as_u64);
    if !number.is_some_and(|number| (1..=u64::from(MOST_CLAIMS)).contains(&number)) {
        return Err(format!("`claim` is no number from 1 to {MOST_CLAIMS}"));
    }
    let said = |error: serde_json::Error| error.to_string();
    if object.contains_key("bounds") {
        let claim: Claim = serde_json::from_value(line.clone()).map_err(said)?;
        check(&claim)?;
        return Ok(Line::Claim(claim));
    }
    if object.contains_key("untestable") {
        return serde_json::from_value(line.clone()).map(Line::Untestable).map_err(said);
    }
    serde_json::from_value(line.clone()).map(Line::Sample).map_err(said)
}

/// Says what is wrong with a claim: bounds about arms that there are not, numbers that are none.
fn check(claim: &Claim) -> Result<(), String> {
    let known = |name: &String| claim.arms.iter().any(|arm| arm.name == *name);
    for bound in &claim.bounds {
        let of = |problem: String| Err(format!("bound {:?}: {problem}", bound.name));
        let has_ends =
            bound.above.is_some() || bound.below.is_some() || matches!(bound.of, Of::Effect { .. });
        if claim.question && has_ends {
            return of("a question bounds nothing".into());
        }
        let mut named: Vec<&String> = Vec::new();
        match &bound.of {
            Of::Value { one } => named.push(one),
            Of::Ratio { one, other }
            | Of::Difference { one, other }
            | Of::Effect { one, other }
            | Of::Spread { one, other } => named.extend([one, other]),
            Of::Slope { arms } | Of::Report { arms } => named.extend(arms),
            Of::Crossover { ones, others, scale, level } => {
                if ones.len() != others.len() {
                    return of("arms without a counterpart".into());
                }
                if !(scale.is_finite() && level.is_finite()) {
                    return of("scale and level are no numbers".into());
                }
                named.extend(ones.iter().chain(others));
            }
        }
        if named.is_empty() {
            return of("it names no arm".into());
        }
        if let Some(name) = named.into_iter().find(|name| !known(name)) {
            return of(format!("there is no arm {name:?}"));
        }
    }
    Ok(())
}

/// Reads a whole file. A last line that a kill cut short is forgiven, and noted. O(bytes), and some
/// times as much memory.
///
/// # Errors
/// [`ReadError`] names the line and what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<File, ReadError> {
    let mut file: Option<File> = None;
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate().peekable();
    while let Some((index, whole)) = lines.next() {
        let number = index + 1;
        let is_cut = lines.peek().is_none() && !whole.ends_with(b"\n");
        let line = whole.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let broken = |problem: String| ReadError::Broken { line: number, problem };
        if line.len() > MAX_LINE {
            return Err(broken(format!("it is longer than {MAX_LINE} bytes")));
        }
        let record: Result<Record, _> = serde_json::from_slice(line);
        match (&mut file, record) {
            (None, Ok(Record::Header(header))) if header.schema == SCHEMA => file = Some(File::new(*header)),
            (None, _) if is_cut => return Err(ReadError::Empty),
            (None, Ok(Record::Header(header))) => {
                return Err(ReadError::NotTheGuide { problem: format!("its schema is {:?}", header.schema) });
            }
            (None, Ok(_)) => return Err(ReadError::NotTheGuide { problem: "another record".into() }),
            (None, Err(error)) => return Err(ReadError::NotTheGuide { problem: error.to_string() }),
            (Some(file), Err(_)) if is_cut => {
                file.notes.push(format!("line {number} was cut short, and is left out"));
            }
            (Some(_), Err(error)) => return Err(broken(error.to_string())),
            (Some(file), Ok(record)) => file.take(record).map_err(broken)?,
        }
    }
    let file = file.ok_or(ReadError::Empty)?;
    let differing = file.end.and_then(|end| differing(&end.records?, &file.records));
    differing.map_or(Ok(file), |problem| Err(ReadError::Records { problem }))
}

/// Whether a text begins as a file of the guide does.
pub fn is_the_guide(bytes: &[u8]) -> bool {
    let begin = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let begin = String::from_utf8_lossy(&begin[..begin.len().min(4_096)]);
    begin.contains(&format!("\"schema\":\"{SCHEMA}\""))
}
