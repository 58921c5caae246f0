//! Spans out again, as a Chrome trace that viewers show in full.
//!
//! Perfetto merges thread 0 of a process with the thread whose number is that of the process, and drops slices that
//! then overlap, 6 % of a Taskflow trace with eight workers. Here workers are threads from 2 on of process 1, so that
//! none is 0 and none is 1.

use std::io::{self, Write};

use taskscale_model::span::{Span, SpanSink};

const PROCESS: u32 = 1;
const FIRST_THREAD: u64 = 2;
/// The buffer is handed on when it holds this much.
const BLOCK: usize = 64 << 10;

/// Writes each span as an event of phase `X`, with times in microseconds to three decimals. A [`SpanSink`]; costs one
/// buffer of 64 KiB and no allocation per span. Errors of the output are kept and given by [`ChromeWriter::finish`].
#[derive(Debug)]
pub struct ChromeWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    workers: u32,
    error: Option<io::Error>,
    spans: u64,
}

impl<W: Write> ChromeWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> Self {
        let mut buffer = Vec::with_capacity(BLOCK + 1024);
        buffer.extend_from_slice(b"{\"traceEvents\":[\n");
        buffer.extend_from_slice(
            b"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"taskscale\"}}",
        );
        ChromeWriter { out, buffer, workers: 0, error: None, spans: 0 }
    }

    /// Names the workers, closes the trace and gives the output back, or its first error.
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

    /// Spans written so far.
    pub fn spans(&self) -> u64 {
        self.spans
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

impl<W: Write> SpanSink for ChromeWriter<W> {
    fn span(&mut self, span: &Span<'_>) {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b",\n{\"ph\":\"X\",\"pid\":1,\"tid\":");
        integer(buffer, FIRST_THREAD + u64::from(span.worker));
        buffer.extend_from_slice(b",\"ts\":");
        micros(buffer, i128::from(span.start_ns));
        buffer.extend_from_slice(b",\"dur\":");
        micros(buffer, i128::from(span.end_ns) - i128::from(span.start_ns));
        buffer.extend_from_slice(b",\"name\":\"");
        escape(buffer, span.name);
        buffer.extend_from_slice(b"\"}");
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

/// Nanoseconds as microseconds; zeros behind the point are left out.
fn micros(buffer: &mut Vec<u8>, ns: i128) {
    if ns < 0 {
        buffer.push(b'-');
    }
    // The difference of two 64-bit times fits into 65 bits, a thousandth of it into 64.
    let ns = ns.unsigned_abs();
    integer(buffer, (ns / 1_000) as u64);
    let part = (ns % 1_000) as u32;
    if part > 0 {
        buffer.push(b'.');
        buffer.extend([part / 100, part / 10 % 10, part % 10].map(|digit| b'0' + digit as u8));
    }
}

/// A name as JSON; bytes that are not UTF-8 become U+FFFD.
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
    use taskscale_model::span::Depth;

    type Plain = (u32, i64, i64, String);

    fn write(spans: &[Plain]) -> Vec<u8> {
        let mut writer = ChromeWriter::new(Vec::new());
        for (worker, start_ns, end_ns, name) in spans {
            let (worker, start_ns, end_ns) = (*worker, *start_ns, *end_ns);
            writer.span(&Span { worker, start_ns, end_ns, name: name.as_bytes(), depth: Depth::Unknown });
        }
        assert_eq!(writer.spans(), spans.len() as u64);
        writer.finish().expect("a vector takes all")
    }

    #[test]
    fn no_thread_is_zero_or_the_process() {
        let file = write(&[(0, 5, 10, "a".into()), (3, -1_500, 0, "b\"\\\n".into())]);
        let value: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
        let events = value["traceEvents"].as_array().expect("events");
        // One for the process, two slices, four workers.
        assert_eq!(events.len(), 7);
        for event in events {
            assert_eq!(event["pid"], 1);
            let thread = event["tid"].as_u64().expect("a number");
            assert!(thread >= 2 || event["name"] == "process_name", "{event}");
        }
        assert_eq!((&events[2]["ts"], &events[2]["dur"]), (&(-1.5).into(), &1.5.into()));
        assert_eq!(events[2]["name"], "b\"\\\n");
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
        fn what_is_written_is_read_again(
            spans in proptest::collection::vec((0u32..9, -1_000_000i64..1 << 50, 0i64..1 << 40, any::<String>()), 1..40)
        ) {
            let spans: Vec<Plain> = spans.into_iter().map(|(w, start, dur, name)| (w, start, start + dur, name)).collect();
            let mut again = Vec::new();
            let account = read(&write(&spans)[..], &Options::default(), &mut |span: &Span<'_>| {
                again.push((span.start_ns, span.end_ns, String::from_utf8_lossy(span.name).into_owned()));
            }).expect("reads");
            // Times are relative to the first one.
            let origin = spans[0].1;
            let expected: Vec<_> = spans.into_iter().map(|(_, s, e, name)| (s - origin, e - origin, name)).collect();
            prop_assert_eq!(again, expected);
            prop_assert_eq!(account.dropped.len(), 1, "only metadata");
        }
    }
}
