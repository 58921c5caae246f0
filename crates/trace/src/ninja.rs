//! Ninja's build log, `.ninja_log`: start and end of each edge in milliseconds, no worker.
//!
//! Edges are packed into lanes. The number of lanes is therefore the peak of edges at once and not
//! the `-j` of the build. The log keeps entries of older builds; only the last build is read.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
};

use taskscale_model::span::{Account, Depth, Span, SpanSink};

use crate::{
    bytes::hash,
    error::TraceError,
    options::{Clock, Options},
    tally::{Reason, Tally},
    window::{More, Window},
    workers::{Id, WorkerTable},
};

/// Most edges of one build that are held at once, since lanes need them in the order of their
/// starts: about 9 MB with their names.
const MOST_EDGES: usize = 131_072;
/// Most bytes of their names.
const MOST_NAME_BYTES: usize = 4 << 20;

struct Edge {
    start_ms: i64,
    end_ms: i64,
    name: (u32, u32),
}

#[derive(Default)]
struct Build {
    edges: Vec<Edge>,
    names: Vec<u8>,
    known: HashSet<u64>,
    last_end_ms: i64,
    merged: u64,
    refused: u64,
}

/// Reads a whole stream.
pub fn read(
    window: &mut Window<'_>,
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    sink: &mut impl SpanSink,
) -> Result<Account, TraceError> {
    let mut tally = Tally::default();
    let mut build = Build::default();
    let mut builds = 1u64;
    loop {
        let Some(end) = memchr::memchr(b'\n', window.data()) else {
            match window.more()? {
                More::Read => continue,
                More::Full => {
                    tally.seen += 1;
                    tally.drop(Reason::TooLong, 1);
                    window.skip_while(|byte| byte != b'\n')?;
                    continue;
                }
                More::End => {
                    // Ninja ends each line. A line without an end was being written.
                    if !window.data().is_empty() {
                        tally.seen += 1;
                        tally.drop(Reason::Cut, 1);
                    }
                    break;
                }
            }
        };
        let line = &window.data()[..end];
        if !line.is_empty() && !line.starts_with(b"#") {
            tally.seen += 1;
            match fields(line) {
                None => tally.malformed(window.place(), line),
                Some((start, end, ..)) if end < start => tally.drop(Reason::NegativeDuration, 1),
                Some((start_ms, end_ms, output, command)) => {
                    if end_ms < build.last_end_ms {
                        tally.drop(Reason::OlderBuild, build.entries());
                        build = Build::default();
                        builds += 1;
                    }
                    build.add((start_ms, end_ms), output, command);
                }
            }
        }
        window.consume(end + 1);
    }
    if builds > 1 {
        tally.note(format!(
            "the log holds {builds} builds or parts of them; the last is read. Delete .ninja_log's folder, or build from \
             clean, for a log of one whole build"
        ));
    }
    tally.note("ninja's log names no workers: edges are packed into lanes, whose number is the peak of edges at once");
    build.pack(&mut tally, options, workers, clock, sink);
    let seen = workers.seen_in_file();
    tally.account("ninja", window.bytes(), seen)
}

/// Splits a line into start, end, output and hash of the command.
fn fields(line: &[u8]) -> Option<(i64, i64, &[u8], &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields = line.split(|&byte| byte == b'\t');
    let number = |field: Option<&[u8]>| std::str::from_utf8(field?).ok()?.parse::<i64>().ok();
    let (start, end) = (number(fields.next())?, number(fields.next())?);
    let (_, output, command) = (fields.next()?, fields.next()?, fields.next()?);
    // Milliseconds must fit into nanoseconds.
    let fits = |ms: i64| (0..=i64::MAX / 1_000_000).contains(&ms);
    (fits(start) && fits(end)).then_some((start, end, output, command))
}

impl Build {
    fn entries(&self) -> u64 {
        self.edges.len() as u64 + self.merged + self.refused
    }

    fn add(&mut self, (start_ms, end_ms): (i64, i64), output: &[u8], command: &[u8]) {
        self.last_end_ms = end_ms;
        if self.edges.len() >= MOST_EDGES || self.names.len() + output.len() > MOST_NAME_BYTES {
            self.refused += 1;
            return;
        }
        // The outputs of one edge share its times and its command.
        if !self.known.insert(hash(command, hash(&start_ms.to_le_bytes(), end_ms as u64))) {
            self.merged += 1;
            return;
        }
        self.edges.push(Edge { start_ms, end_ms, name: (self.names.len() as u32, output.len() as u32) });
        self.names.extend_from_slice(output);
    }

    /// Gives each edge the lane that has been free the longest, and opens a lane where none is
    /// free. In the order of starts this opens only as many lanes as edges ever overlap (interval
    /// partitioning).
    fn pack(
        mut self,
        tally: &mut Tally,
        options: &Options,
        workers: &mut WorkerTable,
        clock: &mut Clock,
        sink: &mut impl SpanSink,
    ) {
        tally.drop(Reason::SameEdge, self.merged);
        tally.drop(Reason::TooMany, self.refused);
        self.edges.sort_by_key(|edge| (edge.start_ms, edge.end_ms));
        let mut free_at: BinaryHeap<Reverse<(i64, i64)>> = BinaryHeap::new();
        for edge in &self.edges {
            let lane = match free_at.peek() {
                Some(&Reverse((free_ms, lane))) if free_ms <= edge.start_ms => {
                    free_at.pop();
                    lane
                }
                _ => free_at.len() as i64,
            };
            free_at.push(Reverse((edge.end_ms, lane)));
            let (at, length) = (edge.name.0 as usize, edge.name.1 as usize);
            let name = &self.names[at..at + length];
            if options.name.as_ref().is_some_and(|part| memchr::memmem::find(name, part.as_bytes()).is_none())
            {
                tally.drop(Reason::FilteredName, 1);
                continue;
            }
            let (start, end) = (edge.start_ms * 1_000_000, edge.end_ms * 1_000_000);
            let (Some(start_ns), Some(end_ns)) = (clock.since_origin(start), clock.since_origin(end)) else {
                tally.drop(Reason::OutOfRange, 1);
                continue;
            };
            tally.learn_step(start);
            tally.learn_step(end);
            let worker = workers.index(Id::Absent, Id::Integer(lane));
            let span = Span { worker, start_ns, end_ns, name, depth: Depth::Level(0), ..Span::default() };
            tally.emit(sink, &span, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_build_in_as_few_lanes_as_it_ran_edges_at_once() {
        let log = "# ninja log v5\n\
            0\t900\t1\told.o\taa\n\
            10\t40\t1\ta.o\t1\n\
            0\t50\t1\tb.o\t2\n\
            0\t50\t1\tb.d\t2\n\
            0\t50\t1\tc.o\t3\n\
            40\t60\t1\td.o\t4\n\
            nonsense\n\
            60\t70\t1\tcut.o";
        let mut spans = Vec::new();
        let account = crate::read(log.as_bytes(), &Options::default(), &mut |span: &Span<'_>| {
            spans.push((span.worker, span.start_ns / 1_000_000, span.end_ns / 1_000_000, span.name.to_vec()));
        })
        .expect("reads");
        spans.sort();
        let name = |name: &str| name.as_bytes().to_vec();
        let expected = [
            (0, 0, 50, name("b.o")),
            (1, 0, 50, name("c.o")),
            (2, 10, 40, name("a.o")),
            (2, 40, 60, name("d.o")),
        ];
        assert_eq!(spans, expected);
        assert_eq!((account.seen, account.counted, account.workers), (8, 4, 3));
        let mut reasons: Vec<_> = account.dropped.iter().map(|d| d.reason.as_str()).collect();
        reasons.sort_unstable();
        assert_eq!(
            reasons,
            [
                "cut off by the end of the file",
                "further output of the same build edge",
                "malformed",
                "older build"
            ]
        );
        assert!(account.notes[0].contains("2 builds"), "{:?}", account.notes);
    }
}
