//! `.tfp`: the binary of Taskflow 4.x's profiler (all integers little-endian, varints LEB128).
//!
//! | part | bytes | content |
//! |---|---|---|
//! | file header | 12 | `TFPX`, u16 version, u16 flags, u32 executors; not written by `observer->dump()` |
//! | executor header | 24 | u64 uid, u64 origin in us, u32 length of the string table, u32 blocks |
//! | string table | | names, one behind the other |
//! | block header | 12 | u32 worker, u32 level, u32 segments |
//! | segment | 7 and up | varint begin minus begin before, varint duration, u32 place of name, u8 type * 32 + length |

use taskscale_model::span::{Account, Depth, Span, SpanSink};

use crate::{
    error::TraceError,
    options::{Clock, Options},
    tally::{Reason, Tally},
    window::Window,
    workers::{Id, WorkerTable},
};

/// Most bytes of names that are kept. Tasks whose names lie behind are counted without one.
const MOST_NAME_BYTES: usize = 4 << 20;
/// The length of the longest segment: two varints of ten bytes, and five bytes.
const SEGMENT: usize = 25;
/// The names of the type codes, for the filter by category.
const TYPES: [&str; 8] = ["static", "subflow", "condition", "module", "async", "5", "6", "7"];

/// Tells whether a block looks like what `observer->dump()` writes, which has no magic.
pub fn looks_headless(block: &[u8]) -> bool {
    let Some(header) = block.get(..24) else { return false };
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (names, blocks) = (number(16) as usize, number(20));
    // Text has no zero bytes; a uid and an uptime in microseconds have some.
    let zeros = header.iter().filter(|&&byte| byte == 0).count();
    let first = 24usize.saturating_add(names);
    let worker = block.get(first..first + 12);
    let small = worker.is_none_or(|worker| worker[3] == 0 && worker[7] == 0);
    zeros >= 6
        && (1..1 << 24).contains(&blocks)
        && names < 1 << 30
        && small
        && header[7] == 0
        && header[15] == 0
}

/// Reads a whole stream.
pub fn read(
    window: &mut Window<'_>,
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    sink: &mut impl SpanSink,
) -> Result<Account, TraceError> {
    let mut reader =
        Reader { tally: Tally::default(), options, workers, clock, names: Vec::new(), nameless: 0 };
    if window.data().starts_with(b"TFPX") {
        let version = window.data().get(4..6).map_or(0, |v| u16::from_le_bytes([v[0], v[1]]));
        if version != 1 {
            let seen = format!("a .tfp file of version {version}; this build reads version 1");
            return Err(TraceError::NotATrace { seen });
        }
        window.consume(12);
    }
    while window.ensure(1)? {
        if !reader.executor(window, sink)? {
            reader.tally.note("the file ends in the middle of an executor; all whole segments were read");
            while window.skip_while(|_| true)?.is_some() {}
            break;
        }
    }
    if reader.nameless > 0 {
        let n = reader.nameless;
        reader.tally.note(format!("{n} names lie behind the first 4 MiB of their table and were not kept"));
    }
    let seen = reader.workers.seen_in_file();
    reader.tally.account("tfp", window.bytes(), seen)
}

struct Reader<'o> {
    tally: Tally,
    options: &'o Options,
    workers: &'o mut WorkerTable,
    clock: &'o mut Clock,
    names: Vec<u8>,
    nameless: u64,
}

/// A segment as it stands in the file.
struct Segment {
    begin_us: u64,
    duration_us: u64,
    name_at: usize,
    name_length: usize,
    kind: u8,
}

impl Reader<'_> {
    /// Reads an executor. Returns `false` where the stream ends inside.
    fn executor(&mut self, window: &mut Window<'_>, sink: &mut impl SpanSink) -> Result<bool, TraceError> {
        let Some(header) = take::<24>(window)? else { return Ok(false) };
        let uid = i64::from_le_bytes(first(&header));
        let origin_us = u64::from_le_bytes(first(&header[8..]));
        let name_bytes = u32::from_le_bytes(first(&header[16..])) as usize;
        let blocks = u32::from_le_bytes(first(&header[20..]));
        self.read_names(window, name_bytes)?;
        for _ in 0..blocks {
            let Some(header) = take::<12>(window)? else { return Ok(false) };
            let worker = self.workers_key(uid, u32::from_le_bytes(first(&header)));
            let level = u32::from_le_bytes(first(&header[4..])).try_into().unwrap_or(u16::MAX);
            let segments = u32::from_le_bytes(first(&header[8..]));
            let mut begin_us = 0u64;
            for _ in 0..segments {
                if window.data().len() < SEGMENT {
                    window.ensure(SEGMENT)?;
                }
                let Some((segment, used)) = segment(window.data(), begin_us) else {
                    self.tally.seen += 1;
                    if window.data().len() < SEGMENT {
                        self.tally.drop(Reason::Cut, 1);
                    } else {
                        self.tally.malformed(window.place(), window.data());
                    }
                    return Ok(false);
                };
                window.consume(used);
                begin_us = segment.begin_us;
                self.tally.seen += 1;
                if let Err(reason) = self.span(&segment, origin_us, worker, level, sink) {
                    self.tally.drop(reason, 1);
                }
            }
        }
        Ok(true)
    }

    fn workers_key(&self, uid: i64, worker: u32) -> (Id, Id) {
        (Id::Integer(uid), Id::Integer(i64::from(worker)))
    }

    fn read_names(&mut self, window: &mut Window<'_>, mut bytes: usize) -> Result<(), TraceError> {
        self.names.clear();
        while bytes > 0 && window.ensure(1)? {
            let data = window.data();
            let n = data.len().min(bytes);
            let kept = n.min(MOST_NAME_BYTES - self.names.len());
            self.names.extend_from_slice(&data[..kept]);
            window.consume(n);
            bytes -= n;
        }
        Ok(())
    }

    fn span(
        &mut self,
        segment: &Segment,
        origin_us: u64,
        worker: (Id, Id),
        level: u16,
        sink: &mut impl SpanSink,
    ) -> Result<(), Reason> {
        let ns =
            |us: Option<u64>| us.and_then(|us| i64::try_from(us).ok()).and_then(|us| us.checked_mul(1_000));
        let begin = origin_us.checked_add(segment.begin_us);
        let end =
            ns(begin.and_then(|begin| begin.checked_add(segment.duration_us))).ok_or(Reason::OutOfRange)?;
        let begin = ns(begin).ok_or(Reason::OutOfRange)?;
        self.tally.level(level);
        let name = match self.names.get(segment.name_at..segment.name_at + segment.name_length) {
            Some(name) => name,
            None => {
                self.nameless += 1;
                b""
            }
        };
        let holds = |text: &[u8], part: &Option<String>| {
            part.as_ref().is_none_or(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
        };
        if !holds(TYPES[usize::from(segment.kind)].as_bytes(), &self.options.cat) {
            return Err(Reason::FilteredCat);
        }
        if !holds(name, &self.options.name) {
            return Err(Reason::FilteredName);
        }
        let start_ns = self.clock.since_origin(begin).ok_or(Reason::OutOfRange)?;
        let end_ns = self.clock.since_origin(end).ok_or(Reason::OutOfRange)?;
        let worker = self.workers.index(worker.0, worker.1);
        self.tally.learn_step(begin);
        self.tally.learn_step(end);
        let depth = Depth::Level(level);
        let span = Span { worker, start_ns, end_ns, name, depth, ..Span::default() };
        self.tally.emit(sink, &span, 1);
        Ok(())
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

fn take<const N: usize>(window: &mut Window<'_>) -> Result<Option<[u8; N]>, TraceError> {
    if !window.ensure(N)? {
        return Ok(None);
    }
    let bytes = first(window.data());
    window.consume(N);
    Ok(Some(bytes))
}

fn segment(data: &[u8], before_us: u64) -> Option<(Segment, usize)> {
    let (delta, at) = varint(data, 0)?;
    let (duration_us, at) = varint(data, at)?;
    let name_at = u32::from_le_bytes(first(data.get(at..at + 4)?)) as usize;
    let tag = *data.get(at + 4)?;
    let begin_us = before_us.checked_add(delta)?;
    let (name_length, kind) = (usize::from(tag & 31), tag >> 5);
    Some((Segment { begin_us, duration_us, name_at, name_length, kind }, at + 5))
}

fn varint(data: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, &byte) in data.get(start..)?.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7F).checked_shl(7 * i as u32)?;
        if byte < 0x80 {
            return Some((value, start + i + 1));
        }
    }
    None
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Writes one executor with two level-0 tasks on worker 0, one of them named with one letter.
    pub fn two_tasks() -> Vec<u8> {
        let mut file = b"TFPX\x01\0\0\0\x01\0\0\0".to_vec();
        file.extend(7u64.to_le_bytes());
        file.extend(5_000_000u64.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.push(b'A');
        for number in [0u32, 0, 2] {
            file.extend(number.to_le_bytes());
        }
        // The first segment has begin 10, duration 300 in two bytes, name "A". The second has begin
        // 10 + 320, duration 1, no name, type async.
        file.extend([10, 0xAC, 0x02, 0, 0, 0, 0, 1]);
        file.extend([0xC0, 0x02, 1, 0, 0, 0, 0, 4 << 5]);
        file
    }

    type Plain = (u32, i64, i64, Vec<u8>);

    fn spans(file: &[u8]) -> (Vec<Plain>, Account) {
        let mut spans = Vec::new();
        let account = crate::read(file, &Options::default(), &mut |span: &Span<'_>| {
            spans.push((span.worker, span.start_ns, span.end_ns, span.name.to_vec()));
        })
        .expect("reads");
        (spans, account)
    }

    #[test]
    fn the_file_of_the_specification() {
        let file = two_tasks();
        // Such a file of Taskflow 4.1 has 63 bytes, and one more for each varint from 128 on (of 18
        // written, 17 had 63 and one 64). This file has two such varints.
        assert_eq!(file.len(), 12 + 24 + 1 + 12 + (7 + 1) + (7 + 1));
        let expected = vec![
            (0, 5_000_010_000, 5_000_310_000, b"A".to_vec()),
            (0, 5_000_330_000, 5_000_331_000, Vec::new()),
        ];
        for file in [&file[..], &file[12..]] {
            let (found, account) = spans(file);
            assert_eq!(found, expected);
            assert_eq!((account.format.as_str(), account.seen, account.workers), ("tfp", 2, 1));
            assert!(account.notes.is_empty(), "{:?}", account.notes);
        }
    }

    #[test]
    fn cut_anywhere_it_gives_what_is_whole() {
        let file = two_tasks();
        for cut in 12..file.len() {
            let (found, account) = spans(&file[..cut]);
            assert_eq!(found.len() as u64, account.counted);
            assert_eq!(found.len(), usize::from(cut >= 57), "{cut}");
        }
    }

    #[test]
    fn tasks_inside_of_nothing_are_no_trace() {
        let mut file = two_tasks();
        // The level of the only block.
        file[12 + 24 + 1 + 4] = 1;
        let error = crate::read(&file[..], &Options::default(), &mut |_: &Span<'_>| ()).expect_err("damaged");
        assert!(error.to_string().contains("each of its 2 tasks is said to lie inside another"), "{error}");
    }

    #[test]
    fn other_versions_are_named() {
        let mut file = two_tasks();
        file[4] = 2;
        let error =
            crate::read(&file[..], &Options::default(), &mut |_: &Span<'_>| ()).expect_err("version 2");
        assert!(error.to_string().contains("version 2; this build reads version 1"), "{error}");
    }
}
