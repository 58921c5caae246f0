//! Writes spans as a Chrome trace that viewers show in full.
//!
//! Perfetto v52 drops without a word on the screen (`crates/cli/tests/perfetto/` counts it):
//!
//! * slices that overlap another of their thread without lying in it; and it merges thread 0 of a
//!   process with the thread whose number is that of the process, whose slices then overlap: 8 % of
//!   a Taskflow trace with eight workers. Here workers are threads from 2 on of process 1, and a
//!   span that may overlap is written as a begin and an end with an id of its own.
//! * slices with a negative time. The first span that is written begins eleven days after zero, so
//!   that earlier ones have positive times too.

use std::io::{self, Write};

use taskscale_model::span::{Span, SpanSink};

const PROCESS: u32 = 1;
const FIRST_THREAD: u64 = 2;
/// Added to all times: 11.6 days. A double holds nanoseconds at this time, and up to nine times as
/// much.
const ORIGIN_NS: i128 = 1_000_000_000_000_000;
/// Most spans that are remembered to tell overlaps, for a worker and in all: 4 MB.
const MOST_REMEMBERED: (usize, usize) = (512, 1 << 18);
/// The buffer is handed on when it holds this many bytes.
const BLOCK: usize = 64 << 10;

/// Writes each span as an event of phase `X`, with times in microseconds to three decimals. A span
/// is written as `b` and `e` where it cannot be shown that it overlaps no other of its worker: it
/// does, or it starts before the last 512 spans. The writer is a [`SpanSink`]. It costs a buffer of
/// 64 KiB, at most 8 KiB per worker and 4 MiB in all. It keeps errors of the output, which
/// [`ChromeWriter::finish`] returns.
#[derive(Debug)]
pub struct ChromeWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    workers: u32,
    error: Option<io::Error>,
    spans: u64,
    tracks: Vec<Track>,
    apart: u64,
    /// The start of the first span.
    first_ns: Option<i64>,
}

impl<W: Write> ChromeWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> Self {
        let mut buffer = Vec::with_capacity(BLOCK + 1024);
        buffer.extend_from_slice(b"{\"traceEvents\":[\n");
        buffer.extend_from_slice(
            b"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"taskscale\"}}",
        );
        ChromeWriter {
            out,
            buffer,
            workers: 0,
            error: None,
            spans: 0,
            tracks: Vec::new(),
            apart: 0,
            first_ns: None,
        }
    }

    /// Names the workers and closes the trace. Returns the output, or its first error.
    pub fn finish(mut self) -> io::Result<W> {
        for worker in 0..self.workers {
            let thread = FIRST_THREAD + u64::from(worker);
            let event = format!(
                ",\n{{\"ph\":\"M\",\"pid\":{PROCESS},\"tid\":{thread},\"name\":\"thread_name\",\
                 \"args\":{{\"name\":\"worker {worker}\"}}}}"
            );
            self.buffer.extend_from_slice(event.as_bytes());
            self.flush_from(BLOCK);
        }
        self.buffer.extend_from_slice(b"\n]}\n");
        self.flush_from(0);
        match self.error {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    /// Returns the number of spans written so far.
    pub fn spans(&self) -> u64 {
        self.spans
    }

    /// Returns the number of these spans that were written as `b` and `e`, apart from their
    /// worker's others.
    pub fn apart(&self) -> u64 {
        self.apart
    }

    fn fits(&mut self, span: &Span<'_>) -> bool {
        let worker = span.worker as usize;
        if worker >= self.tracks.len() {
            self.tracks.resize_with(worker + 1, Track::default);
        }
        let most = (MOST_REMEMBERED.1 / self.tracks.len()).min(MOST_REMEMBERED.0);
        self.tracks[worker].fits(span.start_ns, span.end_ns, most)
    }

    fn event(&mut self, phase: &[u8], span: &Span<'_>, ts_ns: i128, dur_ns: Option<i128>) {
        let first_ns = *self.first_ns.get_or_insert(span.start_ns);
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b",\n{\"ph\":\"");
        buffer.extend_from_slice(phase);
        buffer.extend_from_slice(b"\",\"pid\":1,\"tid\":");
        integer(buffer, FIRST_THREAD + u64::from(span.worker));
        buffer.extend_from_slice(b",\"ts\":");
        micros(buffer, ts_ns - i128::from(first_ns) + ORIGIN_NS);
        match dur_ns {
            Some(dur_ns) => {
                buffer.extend_from_slice(b",\"dur\":");
                micros(buffer, dur_ns);
            }
            None => {
                buffer.extend_from_slice(b",\"cat\":\"apart\",\"id\":");
                integer(buffer, self.apart + 1);
            }
        }
        buffer.extend_from_slice(b",\"name\":\"");
        escape(buffer, span.name);
        buffer.extend_from_slice(b"\"}");
    }

    fn flush_from(&mut self, bytes: usize) {
        if self.buffer.len() < bytes {
            return;
        }
        if self.error.is_none() {
            self.error = self.out.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }
}

/// Remembers a worker's spans to tell whether one more overlaps them.
#[derive(Debug)]
struct Track {
    /// The spans, in no order.
    spans: Vec<(i64, i64)>,
    /// The last end of all spans.
    end: i64,
    /// The last end of the spans that were forgotten.
    forgotten: i64,
}

impl Default for Track {
    fn default() -> Self {
        Track { spans: Vec::new(), end: i64::MIN, forgotten: i64::MIN }
    }
}

impl Track {
    /// Tells whether a span surely overlaps none of those before without lying in it or around it.
    /// Remembers the span if so.
    fn fits(&mut self, start: i64, end: i64, most: usize) -> bool {
        if start < self.end {
            let overlaps = |&(s, e): &(i64, i64)| {
                (s < start && start < e && e < end) || (start < s && s < end && end < e)
            };
            if start < self.forgotten || self.spans.iter().any(overlaps) {
                return false;
            }
        }
        if self.spans.len() >= most.max(2) {
            // Those that ended first are forgotten. Where spans come by their start, what is still
            // open stays.
            let middle = self.spans.len() / 2;
            self.spans.select_nth_unstable_by_key(middle, |span| span.1);
            self.forgotten =
                self.spans.drain(..=middle).map(|span| span.1).max().unwrap_or(i64::MIN).max(self.forgotten);
        }
        self.spans.push((start, end));
        self.end = self.end.max(end);
        true
    }
}

impl<W: Write> SpanSink for ChromeWriter<W> {
    fn span(&mut self, span: &Span<'_>) {
        let (start, end) = (i128::from(span.start_ns), i128::from(span.end_ns));
        if self.fits(span) {
            self.event(b"X", span, start, Some(end - start));
        } else {
            self.event(b"b", span, start, None);
            self.event(b"e", span, end, None);
            self.apart += 1;
        }
        self.spans += 1;
        self.workers = self.workers.max(span.worker.saturating_add(1));
        self.flush_from(BLOCK);
    }
}

fn integer(buffer: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    buffer.extend_from_slice(&digits[at..]);
}

/// Writes nanoseconds as microseconds, without the zeros that end the fraction.
fn micros(buffer: &mut Vec<u8>, ns: i128) {
    if ns < 0 {
        buffer.push(b'-');
    }
    // The difference of two 64-bit times, or of one and the origin, fits into 65 bits. A thousandth
    // of it fits into 64.
    let ns = ns.unsigned_abs();
    integer(buffer, (ns / 1_000) as u64);
    let part = (ns % 1_000) as u32;
    if part > 0 {
        buffer.push(b'.');
        buffer.extend([part / 100, part / 10 % 10, part % 10].map(|digit| b'0' + digit as u8));
    }
}

/// Writes a name as JSON. Bytes that are not UTF-8 become U+FFFD.
fn escape(buffer: &mut Vec<u8>, name: &[u8]) {
    for chunk in name.utf8_chunks() {
        for &byte in chunk.valid().as_bytes() {
            match byte {
                b'"' | b'\\' => buffer.extend([b'\\', byte]),
                0x00..0x20 => {
                    buffer.extend_from_slice(b"\\u00");
                    buffer
                        .extend([byte >> 4, byte & 0xF].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
                }
                _ => buffer.push(byte),
            }
        }
        if !chunk.invalid().is_empty() {
            buffer.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, read};
    use proptest::prelude::*;

    type Plain = (u32, i64, i64, String);

    fn write(spans: &[Plain]) -> Vec<u8> {
        let mut writer = ChromeWriter::new(Vec::new());
        for (worker, start_ns, end_ns, name) in spans {
            let (worker, start_ns, end_ns) = (*worker, *start_ns, *end_ns);
            writer.span(&Span { worker, start_ns, end_ns, name: name.as_bytes(), ..Span::default() });
        }
        assert_eq!(writer.spans(), spans.len() as u64);
        writer.finish().expect("a vector takes all")
    }

    #[test]
    fn no_thread_is_zero_or_the_process() {
        let file = write(&[(0, 5, 10, "a".into()), (3, -1_500, 0, "b\"\\\n".into())]);
        let value: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
        let events = value["traceEvents"].as_array().expect("events");
        // The events are one for the process, two slices and four workers.
        assert_eq!(events.len(), 7);
        for event in events {
            assert_eq!(event["pid"], 1);
            let thread = event["tid"].as_u64().expect("a number");
            assert!(thread >= 2 || event["name"] == "process_name", "{event}");
        }
        assert_eq!((&events[2]["ts"], &events[2]["dur"]), (&999_999_999_998.495.into(), &1.5.into()));
        assert_eq!(events[2]["name"], "b\"\\\n");
    }

    /// Counts the slices that Perfetto loses. It sorts the slices of one thread by time, the longer
    /// first, and loses one that ends behind its parent.
    fn lost(slices: &mut [(i64, i64)]) -> usize {
        slices.sort_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
        let (mut open, mut lost) = (Vec::new(), 0);
        for &(start, end) in slices.iter() {
            while open.last().is_some_and(|&last| last <= start) {
                open.pop();
            }
            if open.last().is_some_and(|&last| end > last) {
                lost += 1;
            } else {
                open.push(end);
            }
        }
        lost
    }

    #[test]
    fn what_overlaps_stands_apart() {
        let spans = [(0, 10), (20, 30), (5, 15), (2, 8), (2, 9), (0, 10), (30, 40), (15, 50), (-5, 60)];
        let mut writer = ChromeWriter::new(Vec::new());
        for (start_ns, end_ns) in spans {
            writer.span(&Span { worker: 0, start_ns, end_ns, name: b"n", ..Span::default() });
        }
        assert_eq!((writer.spans(), writer.apart()), (9, 1), "(5, 15)");
        let file = String::from_utf8(writer.finish().expect("a vector takes all")).expect("UTF-8");
        assert!(file.contains(
            r#"{"ph":"b","pid":1,"tid":2,"ts":1000000000000.005,"cat":"apart","id":1,"name":"n"}"#
        ));
        assert!(file.contains(
            r#"{"ph":"e","pid":1,"tid":2,"ts":1000000000000.015,"cat":"apart","id":1,"name":"n"}"#
        ));
    }

    #[test]
    fn sorted_traces_of_any_length_stand_together() {
        // The spans are a call that lasts for all, calls in it, and calls in these; they come by
        // start, then by end.
        let mut spans: Vec<(i64, i64)> = vec![(0, 1_000_000)];
        spans.extend((0..5_000).flat_map(|i| [(i * 200, i * 200 + 190), (i * 200 + 5, i * 200 + 20)]));
        let mut track = Track::default();
        assert!(spans.iter().all(|&(start, end)| track.fits(start, end, 512)));
        spans.sort_by_key(|span| span.1);
        let mut track = Track::default();
        let apart: Vec<_> = spans.iter().filter(|span| !track.fits(span.0, span.1, 512)).collect();
        assert_eq!(apart, [&(0, 1_000_000)], "only what began before all that is remembered");
    }

    #[test]
    fn errors_come_at_the_end() {
        #[derive(Debug)]
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("disk full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = ChromeWriter::new(Full).finish().expect_err("fails");
        assert_eq!(error.to_string(), "disk full");
    }

    proptest! {
        #[test]
        fn no_slice_is_lost(spans in proptest::collection::vec((-40i64..40, 0i64..30), 1..60), most in 2usize..12) {
            let mut track = Track::default();
            let mut kept: Vec<_> = spans
                .into_iter()
                .map(|(start, dur)| (start, start + dur))
                .filter(|&(start, end)| track.fits(start, end, most))
                .collect();
            prop_assert_eq!(lost(&mut kept), 0);
        }

        #[test]
        fn what_is_written_is_read_again(
            spans in proptest::collection::vec((0u32..9, -1_000_000i64..1 << 50, 0i64..1 << 40, any::<String>()), 1..40)
        ) {
            let spans: Vec<Plain> = spans.into_iter().map(|(w, start, dur, name)| (w, start, start + dur, name)).collect();
            let mut again = Vec::new();
            let account = read(&write(&spans)[..], &Options::default(), &mut |span: &Span<'_>| {
                again.push((span.start_ns, span.end_ns, String::from_utf8_lossy(span.name).into_owned()));
            }).expect("reads");
            let shift = ORIGIN_NS as i64 - spans[0].1;
            let expected: Vec<_> = spans.into_iter().map(|(_, s, e, name)| (s + shift, e + shift, name)).collect();
            prop_assert_eq!(again, expected);
            prop_assert_eq!(account.dropped.len(), 1, "only metadata");
        }
    }
}
