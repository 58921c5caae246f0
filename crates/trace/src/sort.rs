//! Sorts spans outside memory: by start, parents before their children.
//!
//! Spans become records of 32 bytes, and so do ready and CPU times. A full block of records is
//! sorted and written to a temporary file that has no name, so nothing is left behind however the
//! program ends. At the end the blocks are merged. All of it takes some 8 MB of memory at any
//! number of spans, and 32 bytes of disk for each. Fewer spans than fill a block touch no disk.

mod merge;
mod names;
mod record;

use std::{fs::File, io};

use taskscale_model::span::{Span, SpanSink};

use merge::{Run, merge};
use names::Names;
use record::{BYTES, Kind, Record};

/// Records of a block: 2 MB.
const BLOCK: usize = 1 << 16;
/// The most blocks that are merged at once. Each then has a buffer of 16 KB.
const MOST_RUNS: usize = 256;

/// The most spans of equal times and worker that get their ready and CPU times back. The ready
/// times of others are given apart.
const MOST_EQUAL: usize = 4_096;

/// When blocks are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As they fill: for spans that are known to be out of order.
    AtOnce,
    /// In the end, if they are wanted at all: for a stream that cannot be read a second time.
    InTheEnd,
}

/// Takes spans in any order and gives them back sorted.
pub struct Sorter {
    when: When,
    /// Records of a full block.
    full: usize,
    block: Vec<Record>,
    names: Names,
    records: Option<File>,
    runs: Vec<Run>,
    written: u64,
    failed: Option<io::Error>,
}

impl SpanSink for Sorter {
    #[inline]
    fn span(&mut self, span: &Span<'_>) {
        if self.failed.is_some() {
            return;
        }
        match self.names.place(span.name) {
            Ok(name) => self.push(Record::of(span, name)),
            Err(error) => self.failed = Some(error),
        }
        if let Some(ready_ns) = span.ready_ns {
            self.push(Record::ready_of(span, ready_ns));
        }
        if let Some(cpu_ns) = span.cpu_ns {
            self.push(Record::cpu_of(span, cpu_ns));
        }
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        if self.failed.is_none() {
            self.push(Record::apart(ready_ns, start_ns));
        }
    }
}

impl Sorter {
    pub fn new(when: When) -> Self {
        Self::with_blocks(when, BLOCK)
    }

    fn with_blocks(when: When, full: usize) -> Self {
        Sorter {
            when,
            full,
            // Memory that is not written to is not taken.
            block: Vec::with_capacity(full),
            names: Names::default(),
            records: None,
            runs: Vec::new(),
            written: 0,
            failed: None,
        }
    }

    #[inline]
    fn push(&mut self, record: Record) {
        if self.block.len() == self.full
            && let Err(error) = self.write_block()
        {
            self.failed = Some(error);
            return;
        }
        self.block.push(record);
    }

    /// Gives all spans to `sink`: by start, then by worker, then longest first. Tells `progress`
    /// now and then how many of how many were given.
    ///
    /// # Errors
    /// Those of the temporary files: no space, no folder for them.
    pub fn finish(mut self, sink: &mut impl SpanSink, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.records.is_some() {
            self.write_block()?;
        }
        let total = self.written + self.block.len() as u64;
        let mut names = self.names.reader()?;
        let mut given = 0u64;
        // Ready and CPU times of the spans that come next.
        let (mut ready, mut cpu) = (Vec::new(), Vec::new());
        let mut give = |record: &Record| -> io::Result<()> {
            match record.kind {
                Kind::Ready if ready.len() < MOST_EQUAL => ready.push(record.ready().0),
                Kind::Ready | Kind::Apart => sink.ready(record.ready().0, record.ready().1),
                Kind::Cpu if cpu.len() < MOST_EQUAL => cpu.push(record.name),
                Kind::Cpu => {}
                Kind::Span => {
                    let span = record.span(names.name(record.name)?);
                    sink.span(&Span { ready_ns: ready.pop(), cpu_ns: cpu.pop(), ..span });
                }
            }
            given += 1;
            if given.is_multiple_of(1 << 16) {
                progress(given, total);
            }
            Ok(())
        };
        let Some(file) = self.records.take() else {
            Record::sort(&mut self.block);
            return self.block.iter().try_for_each(give);
        };
        if self.when == When::InTheEnd {
            for run in &self.runs {
                self.block = run.read(&file)?;
                Record::sort(&mut self.block);
                write(&file, run.start, &self.block)?;
            }
        }
        drop(self.block);
        merge(&file, &self.runs, &mut give)
    }

    /// Writes the block as a run of its own.
    fn write_block(&mut self) -> io::Result<()> {
        if self.when == When::AtOnce {
            Record::sort(&mut self.block);
        }
        if self.records.is_none() {
            self.records = Some(tempfile::tempfile()?);
        }
        let Some(file) = &self.records else { return Ok(()) };
        write(file, self.written, &self.block)?;
        self.runs.push(Run { start: self.written, records: self.block.len() as u64 });
        self.written += self.block.len() as u64;
        self.block.clear();
        if self.when == When::AtOnce && self.runs.len() == MOST_RUNS {
            self.merge_runs()?;
        }
        Ok(())
    }

    /// Makes one run of all, in a file of its own.
    fn merge_runs(&mut self) -> io::Result<()> {
        let Some(file) = self.records.take() else { return Ok(()) };
        let merged = tempfile::tempfile()?;
        let mut done = 0;
        let mut block = std::mem::take(&mut self.block);
        merge(&file, &self.runs, &mut |record| {
            block.push(*record);
            if block.len() == self.full {
                write(&merged, done, &block)?;
                done += block.len() as u64;
                block.clear();
            }
            Ok(())
        })?;
        write(&merged, done, &block)?;
        block.clear();
        self.block = block;
        self.runs = vec![Run { start: 0, records: self.written }];
        self.records = Some(merged);
        Ok(())
    }
}

/// Writes records at the place of record `at`.
fn write(file: &File, at: u64, records: &[Record]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut bytes = Vec::with_capacity(BYTES * records.len().min(1 << 11));
    let mut place = at * BYTES as u64;
    for part in records.chunks(1 << 11) {
        bytes.clear();
        part.iter().for_each(|record| record.write(&mut bytes));
        file.write_all_at(&bytes, place)?;
        place += bytes.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use taskscale_model::span::Depth;

    use super::*;

    type Spans = Vec<(u32, i64, i64, Vec<u8>, Depth)>;

    fn spans(count: usize, names: usize) -> Spans {
        let mut rng = fastrand::Rng::with_seed(5);
        let one = |_| {
            let start = rng.i64(-1_000..1_000);
            let depth = if rng.bool() { Depth::Unknown } else { Depth::Level(rng.u16(0..3)) };
            let name = format!("{:>1$}", rng.usize(0..names), rng.usize(0..60));
            (rng.u32(0..5), start, start + rng.i64(0..50), name.into_bytes(), depth)
        };
        (0..count).map(one).collect()
    }

    fn sorted(spans: &Spans, when: When, block: usize) -> Spans {
        let mut sorter = Sorter::with_blocks(when, block);
        for (worker, start_ns, end_ns, name, depth) in spans {
            let (worker, start_ns, end_ns, depth) = (*worker, *start_ns, *end_ns, *depth);
            sorter.span(&Span { worker, start_ns, end_ns, name, depth, ..Span::default() });
        }
        let mut found = Spans::new();
        let mut sink = |span: &Span<'_>| {
            found.push((span.worker, span.start_ns, span.end_ns, span.name.to_vec(), span.depth));
        };
        sorter.finish(&mut sink, &mut |_, _| ()).expect("temporary files can be written");
        found
    }

    /// Keeps spans and ready times.
    #[derive(Default)]
    struct Seen {
        spans: Vec<(i64, Option<i64>, Option<u64>)>,
        apart: Vec<(i64, i64)>,
    }

    impl SpanSink for Seen {
        fn span(&mut self, span: &Span<'_>) {
            self.spans.push((span.end_ns, span.ready_ns, span.cpu_ns));
        }

        fn ready(&mut self, ready_ns: i64, start_ns: i64) {
            self.apart.push((ready_ns, start_ns));
        }
    }

    #[test]
    fn ready_and_cpu_times_come_back_with_their_spans_and_apart() {
        let mut rng = fastrand::Rng::with_seed(7);
        for (when, block) in [(When::AtOnce, 4_000), (When::AtOnce, 5), (When::InTheEnd, 64)] {
            let mut sorter = Sorter::with_blocks(when, block);
            let (mut spans, mut apart) = (Vec::new(), Vec::new());
            for at in 0..1_000 {
                // The end tells which span it is.
                let (worker, start_ns, end_ns) = (rng.u32(0..3), rng.i64(-100..100), 1_000 + at);
                let ready_ns = rng.bool().then(|| rng.i64(..));
                let cpu_ns = rng.bool().then(|| rng.u64(..));
                sorter.span(&Span { worker, start_ns, end_ns, ready_ns, cpu_ns, ..Span::default() });
                spans.push((end_ns, ready_ns, cpu_ns));
                if rng.bool() {
                    apart.push((rng.i64(..), start_ns));
                    sorter.ready(apart[apart.len() - 1].0, start_ns);
                }
            }
            let mut seen = Seen::default();
            sorter.finish(&mut seen, &mut |_, _| ()).expect("temporary files can be written");
            seen.spans.sort_unstable();
            spans.sort_unstable();
            seen.apart.sort_unstable();
            apart.sort_unstable();
            assert!(seen.spans == spans && seen.apart == apart, "{when:?} {block}");
        }
    }

    #[test]
    fn all_spans_come_back_by_start_worker_and_length() {
        let spans = spans(3_000, 20);
        let key = |(worker, start, end, name, depth): &(u32, i64, i64, Vec<u8>, Depth)| {
            let level = match depth {
                Depth::Unknown => u16::MAX,
                Depth::Level(level) => *level,
            };
            (*worker, *start, -end, level, name[..name.len().min(48)].to_vec())
        };
        let mut expected: Vec<_> = spans.iter().map(key).collect();
        expected.sort();
        // In one block, in a few, in more than are merged at once, each block sorted at once or in
        // the end.
        for (when, block) in [
            (When::AtOnce, 4_000),
            (When::AtOnce, 700),
            (When::AtOnce, 5),
            (When::InTheEnd, 700),
            (When::InTheEnd, 64),
        ] {
            let found = sorted(&spans, when, block);
            assert!(found.is_sorted_by_key(|span| (span.1, span.0, -span.2)), "{when:?} {block}");
            let mut found: Vec<_> = found.iter().map(key).collect();
            found.sort();
            assert!(found == expected, "{when:?} {block}");
        }
    }

    /// 40,000 names of up to 48 bytes are more than memory holds.
    #[test]
    fn names_beyond_memory_come_back() {
        let mut rng = fastrand::Rng::with_seed(6);
        let spans: Spans = (0..40_000)
            .map(|at| (0, rng.i64(..), i64::MAX, format!("{at:0>47}").into_bytes(), Depth::Unknown))
            .collect();
        let mut expected = spans.clone();
        expected.sort_by_key(|span| span.1);
        assert!(sorted(&spans, When::AtOnce, 1 << 12) == expected);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(sorted(&Vec::new(), When::AtOnce, 10).is_empty());
    }
}
