//! Starts a program and keeps what it prints, line by line.

use std::{collections::BTreeMap, fs::File, io::Write};

use taskscale_analysis::guide::read::{check_sample, parse_line};
use taskscale_model::{
    guide::{Arm, Claim, End, Line, Record, Records, Said},
    missing::Missing,
};
use taskscale_sys::{
    clock,
    process::{Child, Command, Exit, IoProblem},
};

use crate::interrupt::Interrupt;

/// Time between two looks at whether the user wants to stop.
const LOOK_NS: u64 = 100_000_000;
/// Lines of a sitting at most. The most of any program are some 7,500 with 100 rounds.
const LINES: u64 = 1_000_000;

/// Writes records as they come, each at once.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// The lines so far.
    records: Records,
}

impl Journal {
    pub fn new(file: File) -> Self {
        Journal { file, records: Records::default() }
    }

    /// Appends the last line, which has the numbers of the others.
    ///
    /// # Errors
    /// The file cannot be written, as on a full disk.
    pub fn end(&mut self, elapsed_s: f64, interrupted: bool) -> std::io::Result<()> {
        self.append(&Record::End(End { elapsed_s, interrupted, records: Some(self.records) }))
    }

    /// # Errors
    /// The file cannot be written, as on a full disk.
    pub fn append(&mut self, record: &Record) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.records.add(record);
        self.file.write_all(&line)
    }
}

/// What is asked of a sitting.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    pub program: &'a str,
    pub command: Command,
    /// How often the program had been started before.
    pub sitting: u64,
    pub rounds: u64,
    pub seconds: f64,
    /// The longest wait for a line.
    pub silence_ns: u64,
}

/// How a sitting ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It came to a good end with so many rounds.
    Whole {
        rounds: u64,
    },
    /// Arms are programs of their own, which are not there yet.
    Wants(Vec<Arm>),
    Interrupted,
    Failed(Missing),
}

/// The line of standard error that says most: one that names an error, an exception or a panic,
/// else the first.
fn cause(said: &str) -> Option<&str> {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let names = |line: &&str| ["error", "Exception", "panicked"].iter().any(|word| line.contains(word));
    lines.clone().find(names).or_else(|| lines.next())
}

/// Starts the program and keeps its lines. One whose arms want builds of their own is stopped
/// before its first sample, unless the command names builds.
///
/// # Errors
/// The journal cannot be written.
pub fn sit(order: &Order<'_>, journal: &mut Journal, interrupt: &Interrupt) -> std::io::Result<Ending> {
    let mut command = order.command.clone();
    let words = ["--rounds".into(), order.rounds.to_string(), "--seconds".into(), order.seconds.to_string()];
    let has_builds = command.args.iter().any(|word| word == "--build");
    command.args.extend(words);
    let failed = |reason: String, remedy: &str| Ok(Ending::Failed(Missing::new(reason, remedy)));
    let mut child = match Child::spawn(&command) {
        Ok(child) => child,
        Err(error) => return failed(error.to_string(), "run it by hand to see more"),
    };
    let (mut claims, mut wants): (Vec<Claim>, Vec<Arm>) = (Vec::new(), Vec::new());
    let mut lines = 0;
    // The last round may lack arms: rounds are those of the arm with the fewest.
    let mut heard_of: BTreeMap<String, u64> = BTreeMap::new();
    let mut heard_ns = clock::monotonic_ns();
    loop {
        if interrupt.came() {
            return Ok(Ending::Interrupted);
        }
        let now_ns = clock::monotonic_ns();
        let line = match child.read_line(now_ns.saturating_add(LOOK_NS)) {
            Ok(line) => line,
            Err(IoProblem::TimedOut) if now_ns.saturating_sub(heard_ns) < order.silence_ns => continue,
            Err(IoProblem::TimedOut) => {
                let silence_s = order.silence_ns / 1_000_000_000;
                return failed(
                    format!("it said nothing for {silence_s} s"),
                    "raise --timeout if it is slow here",
                );
            }
            Err(IoProblem::Closed { exit: Some(Exit::Code(0)) }) => {
                return Ok(Ending::Whole { rounds: heard_of.into_values().min().unwrap_or_default() });
            }
            Err(problem) => {
                let said = cause(&child.stderr_tail()).map(|line| format!(": {line}")).unwrap_or_default();
                return failed(format!("{problem}{said}"), "run it by hand to see more");
            }
        };
        heard_ns = clock::monotonic_ns();
        lines += 1;
        let value: Result<serde_json::Value, _> = serde_json::from_slice(&line);
        let heard =
            value.map_err(|error| error.to_string()).and_then(|value| Ok((parse_line(&value)?, value)));
        let (heard, value) = match heard {
            Ok(heard) if lines <= LINES => heard,
            Ok(_) => {
                return failed(
                    format!("it printed more than {LINES} lines"),
                    "ask for fewer rounds: --samples",
                );
            }
            Err(why) => {
                return failed(
                    format!("line {lines} of what it printed: {why}"),
                    "run it by hand to see more",
                );
            }
        };
        match heard {
            Line::Claim(claim) => {
                let own = claim.arms.iter().filter(|arm| arm.flags.is_some() && !has_builds);
                own.for_each(|arm| {
                    if !wants.contains(arm) {
                        wants.push(arm.clone())
                    }
                });
                claims.push(claim);
            }
            // It is started again with all its builds, and says then what is still missing.
            _ if !wants.is_empty() => return Ok(Ending::Wants(wants)),
            Line::Untestable(_) => {}
            Line::Sample(sample) => {
                if let Err(why) = check_sample(&claims, &sample) {
                    return failed(why, "run it by hand to see more");
                }
                *heard_of.entry(sample.arm).or_default() += 1;
            }
        }
        if wants.is_empty() {
            let (program, sitting) = (order.program.to_owned(), order.sitting);
            journal.append(&Record::Said(Said { program, sitting, line: value }))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_program_ended_is_what_it_said() {
        let java = "note\nException in thread \"main\" x.Rejected: Thread limit\n\tat a.b(C.java:1)\n";
        assert_eq!(cause(java), Some("Exception in thread \"main\" x.Rejected: Thread limit"));
        assert_eq!(cause("\n  terminate called\nmore\n"), Some("terminate called"));
        assert_eq!(cause(" \n"), None);
    }
}
