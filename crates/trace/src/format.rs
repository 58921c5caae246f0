//! Recognises a format by the first block of a file, and says what a file is that is no trace.

use std::borrow::Cow;

use crate::{
    error::TraceError,
    json::{is_gap, members, unescaped, value_end},
    tfp,
};

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Chrome,
    Tfprof,
    Tfp,
    Dask,
    RayTasks,
    Ninja,
}

/// As many bytes of a text are looked at, to tell what kind of text it is.
const SAMPLE: usize = 4 << 10;

/// The beginnings of files that users have at hand and that this tool does not read.
const FOREIGN: [(&[u8], &str); 26] = [
    (b"\x1F\x8B", "gzip data that were packed twice; unpack them once: gzip -dc FILE | taskscale digest -"),
    (
        b"\x28\xB5\x2F\xFD",
        "zstd data that were packed twice; unpack them once: zstd -dc FILE | taskscale digest -",
    ),
    (b"\xFD7zXZ\0", "xz data; unpack them first: xz -dc FILE | taskscale digest -"),
    (b"BZh", "bzip2 data; unpack them first: bzip2 -dc FILE | taskscale digest -"),
    (b"\x04\x22\x4D\x18", "lz4 data; unpack them first: lz4 -dc FILE | taskscale digest -"),
    (b"PK\x03\x04", "a zip archive; unpack it first: unzip -p FILE | taskscale digest -"),
    (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive; unpack it first: 7z x -so FILE | taskscale digest -"),
    (b"\xFF\xFE\0\0", "UTF-32 text; save it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE | taskscale digest -"),
    (b"\0\0\xFE\xFF", "UTF-32 text; save it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE | taskscale digest -"),
    (b"\xFF\xFE", "UTF-16 text; save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE | taskscale digest -"),
    (b"\xFE\xFF", "UTF-16 text; save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE | taskscale digest -"),
    (b"go 1.", "a Go execution trace, which is not read; see go tool trace"),
    (b"FLR\0", "a Java Flight Recorder file, which is not read; see jfr print and JDK Mission Control"),
    (b"PERFILE2", "samples of perf record, which hold no tasks; see perf report"),
    (b"2ELIFREP", "samples of perf record, which hold no tasks; see perf report"),
    (b"# tracer:", SYSTRACE),
    (b"TRACE:\n# tracer:", SYSTRACE),
    (b"SQLite format 3\0", "an SQLite database; export the timeline as Chrome trace events (JSON)"),
    (b"\x7FELF", "a program or a library (ELF), not its trace"),
    (b"MZ\x90", "a program or a library (Windows), not its trace"),
    (b"\x89PNG", "a picture (PNG); save the timeline itself, as JSON"),
    (b"\xFF\xD8\xFF", "a picture (JPEG); save the timeline itself, as JSON"),
    (b"%PDF", "a PDF document; save the timeline itself, as JSON"),
    (b"\x80\x04\x95", "a Python pickle; save the timeline as JSON"),
    (b"\x80\x05\x95", "a Python pickle; save the timeline as JSON"),
    (b"version https://git-lfs", "a Git LFS pointer and not the file itself; fetch it: git lfs pull"),
];

const SYSTRACE: &str = "an Android or Linux system trace (ftrace text), which names threads and no tasks; Perfetto's \
                        traceconv makes Chrome trace events of it: traceconv json FILE trace.json";

/// Objects of JSON that other tools write, and what to do.
const OBJECTS: [(&[&str], &str); 7] = [
    (&["\"schema\"", "\"taskscale.run/"], "a run file of taskscale: `taskscale report -` reads it"),
    (
        &["\"Spawn\"", "\"version\""],
        "a tokio-console recording, which names no workers; record with tracing-chrome instead",
    ),
    (
        &["\"$schema\"", "speedscope"],
        "a speedscope profile: samples of stacks, which hold no tasks; record a timeline instead",
    ),
    (
        &["\"nodes\"", "\"callFrame\""],
        "a CPU profile of V8: samples of stacks, which hold no tasks; record a timeline instead (node \
         --trace-event-categories, or the Performance panel)",
    ),
    (
        &["\"meta\"", "\"interval\"", "\"startTime\""],
        "a Firefox profile: samples of stacks, which hold no tasks; record a timeline instead",
    ),
    (&["\"resourceSpans\""], "OpenTelemetry spans (OTLP), which name no workers; export Chrome trace events"),
    (&["\"traceID\"", "\"spans\""], "a Jaeger trace, which names no workers; export Chrome trace events"),
];

/// Pages that hold a trace, and what to do.
const PAGES: [(&[&str], &str); 2] = [
    (
        &["systrace", "trace-viewer", "trace-data", "Android System Trace"],
        "an Android systrace page (HTML); Perfetto's traceconv makes Chrome trace events of it: traceconv json FILE \
         trace.json",
    ),
    (
        &["bokeh", "Bokeh", "Dask"],
        "a page for browsers (HTML); of Dask, save client.get_task_stream() as JSON instead of the performance report",
    ),
];

impl Format {
    /// Recognises the format of a file by its first block.
    pub fn of(block: &[u8]) -> Result<Self, TraceError> {
        let not = |seen: &str| Err(TraceError::NotATrace { seen: seen.to_owned() });
        if block.starts_with(b"TFPX") {
            return Ok(Format::Tfp);
        }
        if block.starts_with(b"# ninja log v") {
            return Ok(Format::Ninja);
        }
        if let Some((_, what)) = FOREIGN.iter().find(|(mark, _)| block.starts_with(mark)) {
            return not(what);
        }
        if is_etw(block) {
            return not(
                "a Windows event trace (ETW), which is not read; export the timeline as Chrome trace events",
            );
        }
        match *block {
            [b'[' | b'{', 0, 0, 0, 1..=255, 0, 0, 0, ..] => {
                return not(
                    "UTF-32 text; save it as UTF-8: iconv -f UTF-32LE -t UTF-8 FILE | taskscale digest -",
                );
            }
            [0, 0, 0, b'[' | b'{', 0, 0, 0, 1..=255, ..] => {
                return not(
                    "UTF-32 text; save it as UTF-8: iconv -f UTF-32BE -t UTF-8 FILE | taskscale digest -",
                );
            }
            [b'[' | b'{', 0, 1..=255, 0, ..] => {
                return not(
                    "UTF-16 text; save it as UTF-8: iconv -f UTF-16LE -t UTF-8 FILE | taskscale digest -",
                );
            }
            [0, b'[' | b'{', 0, 1..=255, ..] => {
                return not(
                    "UTF-16 text; save it as UTF-8: iconv -f UTF-16BE -t UTF-8 FILE | taskscale digest -",
                );
            }
            _ => {}
        }
        // The bytes of other formats may look like these, so this comes late.
        if tfp::looks_headless(block) {
            return Ok(Format::Tfp);
        }
        if let Some(what) = binary(block) {
            return not(what);
        }
        let text = block.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(block);
        let Some(first) = text.iter().position(|&byte| !is_gap(byte)) else {
            return if block.contains(&0) {
                not("nothing but zeros; the disk was full or the machine stopped while the file was written")
            } else {
                Err(TraceError::Empty)
            };
        };
        let text = &text[first..];
        // Keys may be written by numbers, as `"\u0074s"` is `ts`.
        let plain = if memchr::memmem::find(text, b"\\u00").is_some() {
            unescaped(text)
        } else {
            Cow::Borrowed(text)
        };
        let holds = |part: &str| memchr::memmem::find(&plain, part.as_bytes()).is_some();
        match text[0] {
            b'[' if holds("\"startstops\"") => Ok(Format::Dask),
            b'[' if holds("\"task_id\"") && holds("\"created_ms\"") => Ok(Format::RayTasks),
            // `TFProfObserver::dump` writes one executor without a list around it; the profiler
            // writes the list.
            b'[' | b'{' if holds("\"executor\"") && holds("\"data\"") && !holds("\"ph\"") => {
                Ok(Format::Tfprof)
            }
            b'[' if is_log(text) => not("lines of a log, which name no tasks with a start and an end"),
            b'[' => Ok(Format::Chrome),
            b'{' if holds("\"traceEvents\"") || is_lines(text) => Ok(Format::Chrome),
            b'{' => match OBJECTS.iter().find(|(marks, _)| marks.iter().all(|mark| holds(mark))) {
                Some((_, what)) => not(what),
                // Members of any length may come before the list of events.
                None if text.len() >= (256 << 10) => Ok(Format::Chrome),
                None => not("a JSON object without \"traceEvents\""),
            },
            b'<' => match PAGES.iter().find(|(marks, _)| marks.iter().any(|mark| holds(mark))) {
                Some((_, what)) => not(what),
                None => {
                    not("a page (HTML or XML) and no trace; a download may give a login or an error page")
                }
            },
            _ => {
                let kind = match separator(text) {
                    Some(name) => format!("a table of fields between {name}, and no trace; it "),
                    None => String::new(),
                };
                Err(TraceError::NotATrace { seen: format!("{kind}{}", begins(text, kind.is_empty())) })
            }
        }
    }
}

fn begins(text: &[u8], whole: bool) -> String {
    let subject = if whole { "the input " } else { "" };
    format!("{subject}begins with \"{}\"", shown(text))
}

/// Shows the beginning of what stands in a file, on one line.
pub fn shown(text: &[u8]) -> String {
    let mut shown = String::new();
    for char in String::from_utf8_lossy(&text[..text.len().min(40)]).chars() {
        match char {
            '"' | '\'' => shown.push(char),
            char => shown.extend(char.escape_debug()),
        }
    }
    shown
}

/// Says what a file is that is no text and has no mark at its beginning.
fn binary(block: &[u8]) -> Option<&'static str> {
    let sample = &block[..block.len().min(512)];
    // Text holds no control characters. Zeros alone are a text that was never written.
    let control = |byte: &u8| matches!(byte, 1..=8 | 0x0E..=0x1A | 0x1C | 0x1D | 0x1F | 0x7F);
    let is_binary = sample.iter().any(control)
        || (sample.contains(&0) && sample.iter().any(|byte| *byte != 0 && !is_gap(*byte)))
        || std::str::from_utf8(sample).is_err_and(|error| error.error_len().is_some());
    if !is_binary {
        return None;
    }
    match *block {
        // A profile's first member is the type of its samples: 8, a number, 16, a number.
        [0x0A, 2..=12, 0x08, ..] => Some(
            "samples of pprof, which hold no tasks; for Go record a timeline, for others see go tool pprof",
        ),
        [0x0A, ..] => Some(
            "a Perfetto trace (protobuf); Perfetto's traceconv makes Chrome trace events of it: traceconv json FILE \
             trace.json",
        ),
        [b'{' | 0xFB, 0x28 | 0x29 | 0xA8 | 0xA9, 3, ..] => Some(
            "sums of Python's cProfile (pstats), which hold no times of single calls; record with VizTracer instead",
        ),
        // A trace with an odd name may look like this too.
        _ => None,
    }
}

/// Tells whether a file looks like a buffer of Windows' event tracing: a size that is a power of
/// two, and the mark of a trace header at byte 72.
fn is_etw(block: &[u8]) -> bool {
    let Some(head) = block.get(..76) else { return false };
    let size = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    size.is_power_of_two() && (4_096..=16 << 20).contains(&size) && matches!(head[72..], [_, 0, 1 | 2, 0xC0])
}

/// Tells whether a file holds Chrome trace events without a list around them, each in a line of its
/// own or one behind the other (JSON Lines): its first object has the members of an event.
pub fn is_lines(block: &[u8]) -> bool {
    let text = block.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(block);
    let Some(first) = text.iter().position(|&byte| !is_gap(byte)).filter(|&at| text[at] == b'{') else {
        return false;
    };
    let Some(end) = value_end(text, first) else { return false };
    let (mut phase, mut time) = (false, false);
    members(&text[first..end], |key, _| {
        phase |= key == b"ph";
        time |= key == b"ts";
    });
    phase && time
}

/// Tells whether a text that begins with a bracket is a log, `[INFO] ...` or `[12:00:01] ...`:
/// lines that begin with brackets, each closed before the line ends, and no string or object in
/// them.
fn is_log(text: &[u8]) -> bool {
    let mut lines = text[..text.len().min(SAMPLE)].split(|&byte| byte == b'\n').take(3);
    let is_line = |line: &[u8]| {
        let Some(end) = memchr::memchr(b']', line) else { return false };
        let (tag, rest) = (&line[1..end], &line[end + 1..]);
        let begins = |text: &[u8]| text.iter().any(u8::is_ascii_alphanumeric);
        line[0] == b'[' && begins(tag) && begins(rest) && !tag.iter().any(|byte| b"{\"[".contains(byte))
    };
    lines.next().is_some_and(is_line)
}

/// Returns the name of what stands between the fields of a table, where the first lines are of a
/// table.
fn separator(text: &[u8]) -> Option<&'static str> {
    let mut lines = text[..text.len().min(SAMPLE)].split(|&byte| byte == b'\n');
    let (first, second) = (lines.next()?, lines.next()?);
    let separators = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs")];
    separators.into_iter().find_map(|(byte, name)| {
        let count = |line: &[u8]| line.iter().filter(|&&other| other == byte).count();
        (count(first) >= 2 && count(first) == count(second)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(block: &[u8]) -> String {
        Format::of(block).expect_err("no trace").to_string()
    }

    #[test]
    fn files_that_users_have_at_hand_are_named_with_what_to_do() {
        let mut etw = [0; 200];
        etw[2] = 1;
        etw[72..76].copy_from_slice(&[2, 0, 2, 0xC0]);
        let perfetto = [&b"\x0A\x3B\x50\x01\x32\x35"[..], &[0x0A; 70]].concat();
        let cases: [(&[u8], &str); 42] = [
            (b"\xFD7zXZ\0\0\x04", "xz -dc FILE"),
            (b"BZh91AY&SY", "bzip2 -dc FILE"),
            (b"\x04\x22\x4D\x18\x60", "lz4 -dc FILE"),
            (b"PK\x03\x04\x14\0", "unzip -p FILE"),
            (b"7z\xBC\xAF\x27\x1C\0\x04", "7z x -so FILE"),
            (b"\xFF\xFE[\0{\0\"\0p\0h\0\"\0:\0\"\0X\0\"\0,\0\"\0t\0", "iconv -f UTF-16 -t UTF-8"),
            (b"\xFE\xFF\0[\0{", "iconv -f UTF-16 -t UTF-8"),
            (b"\xFF\xFE\0\0[\0\0\0{\0\0\0", "iconv -f UTF-32 -t UTF-8"),
            (b"\0\0\xFE\xFF\0\0\0[\0\0\0{", "iconv -f UTF-32 -t UTF-8"),
            (b"[\0\0\0{\0\0\0\"\0\0\0p\0\0\0", "iconv -f UTF-32LE"),
            (b"\0\0\0[\0\0\0{\0\0\0\"", "iconv -f UTF-32BE"),
            (b"[\0{\0\"\0p\0h\0\"\0:\0\"\0X\0\"\0,\0\"\0t\0s\0\"\0:\0", "iconv -f UTF-16LE"),
            (b"\0{\0\"\0t\0r", "iconv -f UTF-16BE"),
            (b"go 1.26 trace\0\0\0\x01", "a Go execution trace"),
            (b"FLR\0\0\x02\0\x01", "Java Flight Recorder"),
            (b"PERFILE2\x68\0\0\0", "perf record"),
            (b"# tracer: nop\n#\n", "traceconv json"),
            (b"SQLite format 3\0\x10\0", "SQLite"),
            (b"\x7FELF\x02\x01", "a program"),
            (b"MZ\x90\0", "a program"),
            (b"\x89PNG\r\n\x1A\n", "a picture"),
            (b"%PDF-1.7\n", "a PDF"),
            (b"\x80\x04\x95\x10", "pickle"),
            (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
            (b"{\xA9\x03\xFA\x01~\xE9\0\0\0\0", "cProfile"),
            (b"\xFB\xA9\x03\xFA\x01~\xE9\0\0\0\0", "cProfile"),
            (b"\x0A\x04\x08\x01\x10\x02\x12\x04", "pprof"),
            (&perfetto, "a Perfetto trace (protobuf)"),
            (&etw, "(ETW)"),
            (b"{\"version\":1}\n{\"Spawn\":{\"at\":1}}", "tokio-console"),
            (b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}", "speedscope"),
            (b"{\"nodes\":[{\"id\":1,\"callFrame\":{}}]}", "CPU profile of V8"),
            (b"{\"resourceSpans\":[]}", "OTLP"),
            (b"{\"data\":[{\"traceID\":\"1\",\"spans\":[]}]}", "Jaeger"),
            (b"{\"a\":1}", "without \"traceEvents\""),
            (b"<!DOCTYPE html><html><head><title>Android System Trace</title>", "traceconv json"),
            (b"\n<!DOCTYPE html><title>Dask Performance Report</title>", "get_task_stream"),
            (b"<html><body>Sign in</body></html>", "a login or an error page"),
            (
                b"name,start,end\na,1,2\nb,2,3\n",
                "a table of fields between commas, and no trace; it begins with \"name,",
            ),
            (b"[INFO] 12:00:01 starting\n[INFO] 12:00:02 done\n", "lines of a log"),
            (b"[2026-11-20 12:00:01] starting\n", "lines of a log"),
            (b"Dear reader,\n", "the input begins with \"Dear reader,\\n\""),
        ];
        for (block, words) in cases {
            let message = seen(block);
            assert!(message.contains(words), "{words:?} not in {message}");
            assert!(message.starts_with("not a task trace: ") && !message.contains('\n'), "{message}");
        }
        assert!(seen(&[0; 5_000]).contains("nothing but zeros"));
        for empty in [&b""[..], b" \n\t", b"\xEF\xBB\xBF\n"] {
            assert!(seen(empty).contains("the input is empty"));
        }
    }

    #[test]
    fn what_only_looks_foreign_is_read() {
        for (block, format) in [
            (&b"\n{\n  \"schemaVersion\": 1,\n  \"traceEvents\": ["[..], Format::Chrome),
            (b"[", Format::Chrome),
            (b"[]", Format::Chrome),
            (b"{\"ph\":\"X\",\"ts\":1,\"dur\":2}\n{\"ph\":\"X\"}", Format::Chrome),
            (b"{\"\\u0070h\":\"X\",\"\\u0074s\":1}\n", Format::Chrome),
            (b"{\"\\u0074raceEvents\":[", Format::Chrome),
            (b"[\n{\"name\":\"a\x01\xFF\",\"ph\":\"X\"}]", Format::Chrome),
            (b"{\"traceEvents\":[{\"name\":\"\x07\"}]}", Format::Chrome),
            (b"\x1E[{\"ph\":\"X\"}]", Format::Chrome),
            (b"\0\0 [{\"ph\":\"X\"}]", Format::Chrome),
        ] {
            assert_eq!(Format::of(block).expect("a trace"), format);
        }
    }
}
