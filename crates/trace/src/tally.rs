//! Counts what was seen, counted and dropped. The account is made from these books.

use taskscale_model::span::{Account, Dropped, Span, SpanSink};

use crate::{error::TraceError, format::shown, number::Time};

/// Why an event did not become a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Metadata,
    Instant,
    Counter,
    OtherPhase,
    Phase,
    Driver,
    UserEvent,
    Lifetime,
    WorkerLife,
    LoopPhase,
    EngineEvent,
    OtherSpan,
    NotCompute,
    Annotation,
    OnThread,
    OnStream,
    PythonCall,
    DriverCall,
    Profiler,
    BuildStep,
    Summary,
    Asynchronous,
    Flow,
    NoStart,
    NoDuration,
    NotANumber,
    OutOfRange,
    NegativeDuration,
    NoBegin,
    NoEnd,
    Evicted,
    TooLong,
    Malformed,
    Cut,
    FilteredCat,
    FilteredName,
    OtherClock,
    OlderBuild,
    SameEdge,
    TooMany,
}

const TEXTS: [&str; Reason::TooMany as usize + 1] = [
    "not a task (metadata)",
    "not a task (instant)",
    "not a task (counter)",
    "not a task (other phase)",
    "not a task (phase of a task)",
    "not a task (driver)",
    "not a task (user's own event)",
    "not a task (lifetime of an asynchronous resource)",
    "not a task (life of a worker)",
    "not a task (phase of the event loop)",
    "not a task (engine, such as garbage collection)",
    "not a task (span inside a task)",
    "not a task (transfer, disk or other overhead)",
    "not a task (annotation around tasks)",
    "operator on a CPU thread, where GPU streams count",
    "kernel or copy on a GPU stream, where CPU threads count",
    "not a task (call of Python around operators)",
    "not a task (call into a device's driver, or a wait for it)",
    "not a task (the profiler's own)",
    "not a task (step of a build, inside or around actions)",
    "not a task (summary of others)",
    "not a task (asynchronous, on no thread)",
    "not a task (flow from one to another)",
    "no start time",
    "no duration",
    "time is not a number",
    "time out of range (146 years)",
    "negative duration",
    "end without a begin",
    "begin without an end",
    "begin forgotten: too many were open at once",
    "event longer than 4 MiB",
    "malformed",
    "cut off by the end of the file",
    "filtered out by category",
    "filtered out by name",
    "on another clock",
    "older build",
    "further output of the same build edge",
    "more entries than are held at once",
];

/// Events by the reason why they were dropped.
#[derive(Debug)]
struct Drops([u64; TEXTS.len()]);

impl Default for Drops {
    fn default() -> Self {
        Drops([0; TEXTS.len()])
    }
}

/// The books of one file.
#[derive(Debug, Default)]
pub struct Tally {
    /// Events of any kind.
    pub seen: u64,
    /// Events that became spans.
    pub counted: u64,
    dropped: Drops,
    /// Names that hold control characters.
    pub control_names: u64,
    /// Names that are not UTF-8.
    pub bad_utf8_names: u64,
    /// Flows that tell no ready time.
    pub untold: u64,
    /// Whether tasks were seen that lie in no other, and such that do, of a source that tells it.
    levels: [bool; 2],
    step_ns: Option<u64>,
    notes: Vec<String>,
    /// The place of the first malformed event, and what stands there.
    first_malformed: Option<(u64, String)>,
}

impl Tally {
    /// Counts events as dropped.
    #[inline]
    pub fn drop(&mut self, reason: Reason, events: u64) {
        self.dropped.0[reason as usize] += events;
    }

    /// Counts an event as malformed that stands at this place of the input.
    #[cold]
    pub fn malformed(&mut self, place: u64, text: &[u8]) {
        self.drop(Reason::Malformed, 1);
        self.malformed_at(place, text);
    }

    /// Remembers the place of an event that is counted as malformed, where it is the first.
    #[cold]
    pub fn malformed_at(&mut self, place: u64, text: &[u8]) {
        self.first_malformed.get_or_insert_with(|| (place, shown(text)));
    }

    /// Returns the number of events dropped for a reason.
    pub fn dropped(&self, reason: Reason) -> u64 {
        self.dropped.0[reason as usize]
    }

    /// Adds a sentence for the user who reads the result.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a note that comes before all others.
    pub fn note_first(&mut self, note: impl Into<String>) {
        self.notes.insert(0, note.into());
    }

    /// Learns the step of the source's clock from a time: the largest power of ten that divides all
    /// times.
    #[inline(always)]
    pub fn learn_step(&mut self, ns: i64) {
        match self.step_ns {
            Some(1) => {}
            // This is the usual step. The division by a constant is a multiplication.
            Some(1_000) if ns % 1_000 == 0 => {}
            _ => self.refine_step(ns),
        }
    }

    /// Tells whether no whole microsecond can change the step.
    #[inline(always)]
    pub fn step_divides_micros(&self) -> bool {
        self.step_ns.is_some_and(|step| step <= 1_000)
    }

    #[inline(never)]
    fn refine_step(&mut self, ns: i64) {
        if ns == 0 {
            return;
        }
        let mut step = self.step_ns.unwrap_or(1_000_000_000);
        while !ns.unsigned_abs().is_multiple_of(step) {
            step /= 10;
        }
        self.step_ns = Some(step);
    }

    /// Records that the source writes its times as doubles of `unit_ns` around `ns`. The clock's
    /// step is then no finer than what a double can hold there. Decimal places do not show it:
    /// Python writes the fewest that come back as the same double.
    pub fn doubles(&mut self, ns: i64, unit_ns: u64) {
        let value = ns.unsigned_abs() as f64 / unit_ns as f64;
        // Between 2^n and 2^(n+1) doubles are 2^(n-52) apart.
        let step_ns = (value.max(1.0).log2().floor() - 52.0).exp2() * unit_ns as f64;
        if let Some(step) = &mut self.step_ns {
            *step = (*step).max(step_ns.round() as u64);
        }
    }

    /// Counts the defects of a name that is not plain ASCII.
    #[cold]
    pub fn odd_name(&mut self, raw: &[u8]) {
        self.control_names += u64::from(raw.iter().any(|&byte| byte < 0x20));
        self.bad_utf8_names += u64::from(std::str::from_utf8(raw).is_err());
    }

    /// Hands a span on and counts the events that it was made from.
    #[inline(always)]
    pub fn emit(&mut self, sink: &mut impl SpanSink, span: &Span<'_>, events: u64) {
        self.counted += events;
        sink.span(span);
    }

    /// Returns the reason why a time cannot be used.
    pub fn time_reason(time: Time, missing: Reason) -> Reason {
        match time {
            Time::Missing => missing,
            Time::OutOfRange => Reason::OutOfRange,
            Time::Ns(_) | Time::NotANumber => Reason::NotANumber,
        }
    }

    /// Learns how deep a task lies inside others. The source tells it.
    pub fn level(&mut self, level: u16) {
        self.levels[usize::from(level > 0)] = true;
    }

    /// The events whose times cannot be, with the reasons in words.
    fn impossible(&self) -> (u64, String) {
        let reasons = [Reason::NotANumber, Reason::OutOfRange, Reason::NegativeDuration];
        let counts = reasons.map(|reason| (self.dropped(reason), TEXTS[reason as usize]));
        let words = counts.iter().filter(|(events, _)| *events > 0).map(|(n, text)| format!("{n} {text}"));
        (counts.iter().map(|(events, _)| events).sum(), words.collect::<Vec<_>>().join(", "))
    }

    /// Makes the account. Where more than half of the events are malformed, by their syntax or by
    /// their times, a digest of the others would be one of something else.
    pub fn account(mut self, format: &str, bytes: u64, workers: u64) -> Result<Account, TraceError> {
        let (impossible, mut why) = self.impossible();
        let malformed = self.dropped(Reason::Malformed) + impossible;
        if malformed > self.seen / 2 {
            if let Some((place, shown)) = &self.first_malformed {
                let others = if why.is_empty() { String::new() } else { format!("; {why}") };
                why = format!("the first stands at byte {place}: \"{shown}\"{others}");
            }
            if self.dropped(Reason::OutOfRange) > self.seen / 2 && format == "chrome" {
                why.push_str("; if the times are nanoseconds, say --unit ns");
            }
            return Err(TraceError::Malformed { malformed, seen: self.seen, why });
        }
        if self.levels == [false, true] {
            return Err(TraceError::NoOutermost { seen: self.seen });
        }
        if self.control_names > 0 {
            let n = self.control_names;
            self.note(format!("{n} names hold control characters; they were kept as they are"));
        }
        if self.bad_utf8_names > 0 {
            let n = self.bad_utf8_names;
            self.note(format!("{n} names are not UTF-8; they were kept as they are"));
        }
        let mut dropped: Vec<Dropped> = TEXTS
            .iter()
            .zip(self.dropped.0)
            .filter(|(_, events)| *events > 0)
            .map(|(reason, events)| Dropped { reason: (*reason).to_owned(), events })
            .collect();
        dropped.sort_by_key(|dropped| std::cmp::Reverse(dropped.events));
        Ok(Account {
            format: format.to_owned(),
            bytes,
            seen: self.seen,
            counted: self.counted,
            dropped,
            workers,
            clock_resolution_ns: self.step_ns.unwrap_or(0),
            untold: self.untold,
            notes: self.notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_the_coarsest_that_fits_all_times() {
        for (times, step) in [
            (&[0, 5_000_000, 30_000_000][..], 1_000_000),
            (&[1_790_000_000_000_000_000, 12_000], 1_000),
            (&[1_000, 250], 10),
            (&[7, 1_000], 1),
            (&[0, 0], 0),
            (&[], 0),
        ] {
            let mut tally = Tally::default();
            times.iter().for_each(|&ns| tally.learn_step(ns));
            assert_eq!(
                tally.account("t", 0, 0).expect("few are malformed").clock_resolution_ns,
                step,
                "{times:?}"
            );
        }
    }

    #[test]
    fn doubles_of_wall_clocks_are_coarse() {
        let step = |times: &[i64], unit_ns| {
            let mut tally = Tally::default();
            times.iter().for_each(|&ns| tally.learn_step(ns));
            tally.doubles(times[0], unit_ns);
            tally.account("t", 0, 0).expect("few are malformed").clock_resolution_ns
        };
        // The cases are microseconds and seconds since 1970; microseconds since the start; a clock
        // that is coarser than its doubles.
        assert_eq!(step(&[1_790_000_000_123_456_789], 1_000), 250);
        assert_eq!(step(&[1_790_000_000_123_456_789], 1_000_000_000), 238);
        assert_eq!(step(&[12_345_678], 1_000), 1);
        assert_eq!(step(&[1_790_000_000_123_000_000], 1_000), 1_000_000);
    }

    #[test]
    fn mostly_malformed_is_no_trace() {
        let mut tally = Tally { seen: 4, ..Tally::default() };
        tally.malformed(7, b"{\"a\"\n");
        tally.malformed(70, b"x");
        assert!(tally.account("t", 0, 0).is_ok(), "half");
        let mut tally = Tally { seen: 3, ..Tally::default() };
        tally.malformed(7, b"{\"a\"\n");
        tally.malformed(70, b"x");
        let error = tally.account("t", 0, 0).expect_err("most").to_string();
        assert!(
            error.ends_with(r#"2 of 3 events are malformed; the first stands at byte 7: "{"a"\n""#),
            "{error}"
        );
    }

    #[test]
    fn mostly_impossible_times_are_no_trace_either() {
        let mut tally = Tally { seen: 9, ..Tally::default() };
        tally.drop(Reason::NegativeDuration, 3);
        tally.drop(Reason::NotANumber, 1);
        assert!(tally.impossible().0 == 4 && tally.account("t", 0, 0).is_ok(), "less than half");
        let mut tally = Tally { seen: 9, ..Tally::default() };
        tally.drop(Reason::NegativeDuration, 3);
        tally.drop(Reason::NotANumber, 1);
        tally.malformed(7, b"x");
        let error = tally.account("t", 0, 0).expect_err("most").to_string();
        let words = r#"5 of 9 events are malformed; the first stands at byte 7: "x"; 1 time is not a number, 3 negative duration"#;
        assert!(error.ends_with(words), "{error}");
    }

    #[test]
    fn reasons_come_most_first_with_their_texts() {
        let mut tally = Tally::default();
        tally.drop(Reason::TooMany, 1);
        tally.drop(Reason::Metadata, 3);
        let dropped = tally.account("t", 0, 0).expect("none is malformed").dropped;
        let texts: Vec<_> = dropped.iter().map(|d| (d.reason.as_str(), d.events)).collect();
        assert_eq!(texts, [("not a task (metadata)", 3), ("more entries than are held at once", 1)]);
    }
}
