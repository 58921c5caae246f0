//! Recognises a format by its first block and reads one file or several.

use std::io::Read;

use taskscale_model::span::{Account, SpanSink};

use crate::{
    chrome, dask,
    error::TraceError,
    json::is_gap,
    ninja,
    options::{Clock, Options},
    tfp, tfprof,
    unpack::Unpacked,
    window::Window,
    workers::{MOST_WORKERS, WorkerTable},
};

/// Reads several files into one sink. Workers of different files stay apart; times share an origin.
#[derive(Debug, Default)]
pub struct Reader {
    options: Options,
    workers: WorkerTable,
    clock: Clock,
    files: u64,
}

impl Reader {
    /// Makes a reader that uses these options for all its files.
    pub fn new(options: Options) -> Self {
        Reader { options, ..Reader::default() }
    }

    /// Reads one file to its end, packed by gzip or zstd or as it is. Takes at most 4 MiB of memory
    /// for the window and a few MB for bounded tables, at any length. zstd data take what their
    /// frames ask for on top: 8 MiB by `zstd -19`, and never more than 256 MiB.
    pub fn read(&mut self, input: impl Read, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
        if self.files > 0 {
            self.workers.next_file();
            if self.options.align {
                self.clock = Clock::default();
            }
        }
        self.files += 1;
        let mut input = Unpacked::open(input).map_err(|source| TraceError::Io { bytes: 0, source })?;
        let result = self.read_unpacked(&mut input, sink);
        match (result, input.trouble()) {
            (Ok(mut account), Some(trouble)) => {
                account.notes.insert(0, trouble.to_owned());
                Ok(account)
            }
            // The reason why there is no trace in it is the trouble.
            (Err(TraceError::Empty | TraceError::NotATrace { .. }), Some(trouble)) => {
                Err(TraceError::Packed { trouble: trouble.to_owned() })
            }
            (result, _) => result,
        }
    }

    fn read_unpacked(
        &mut self,
        input: &mut Unpacked<impl Read>,
        sink: &mut impl SpanSink,
    ) -> Result<Account, TraceError> {
        let mut window = Window::open(input)?;
        let (options, workers, clock) = (&self.options, &mut self.workers, &mut self.clock);
        let mut account = match Format::of(window.data())? {
            Format::Chrome => chrome::read(&mut window, options, workers, clock, sink),
            Format::Tfprof => tfprof::read(&mut window, options, workers, clock, sink),
            Format::Tfp => tfp::read(&mut window, options, workers, clock, sink),
            Format::Dask => dask::read(&mut window, options, workers, clock, sink),
            Format::Ninja => ninja::read(&mut window, options, workers, clock, sink),
        }?;
        let folded = self.workers.folded();
        if folded > 0 {
            // This note comes first, since a text may show only the first ones.
            account.notes.insert(
                0,
                format!(
                    "{folded} events are of workers beyond the first {MOST_WORKERS}; they share one place"
                ),
            );
        }
        Ok(account)
    }

    /// Returns the workers of all files so far.
    pub fn workers(&self) -> &WorkerTable {
        &self.workers
    }
}

/// Reads one trace to its end. [`Reader`] reads several.
///
/// On a machine where `md5sum` takes 134 ns for an event of 90 bytes, the event costs 23 ns of CPU
/// time if its shape repeats and 81 ns if it does not (experiment `speed`).
pub fn read(input: impl Read, options: &Options, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
    Reader::new(options.clone()).read(input, sink)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Chrome,
    Tfprof,
    Tfp,
    Dask,
    Ninja,
}

impl Format {
    fn of(block: &[u8]) -> Result<Self, TraceError> {
        let not = |seen: &str| Err(TraceError::NotATrace { seen: seen.to_owned() });
        if block.starts_with(b"TFPX") || tfp::looks_headless(block) {
            return Ok(Format::Tfp);
        }
        if block.starts_with(b"# ninja log v") {
            return Ok(Format::Ninja);
        }
        for (mark, what) in FOREIGN {
            if block.starts_with(mark) {
                return not(what);
            }
        }
        let text = block.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(block);
        let Some(first) = text.iter().position(|&byte| !is_gap(byte)) else { return Err(TraceError::Empty) };
        let text = &text[first..];
        let holds = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
        match text[0] {
            b'[' if holds("\"startstops\"") => Ok(Format::Dask),
            // `TFProfObserver::dump` writes one executor without a list around it; the profiler
            // writes the list.
            b'[' | b'{' if holds("\"executor\"") && holds("\"data\"") && !holds("\"ph\"") => {
                Ok(Format::Tfprof)
            }
            b'[' => Ok(Format::Chrome),
            b'{' if holds("\"traceEvents\"") => Ok(Format::Chrome),
            b'{' if holds("\"Spawn\"") && holds("\"version\"") => {
                not("a tokio-console recording, which names no workers; record with tracing-chrome instead")
            }
            // Members of any length may come before the list of events.
            b'{' if text.len() >= (256 << 10) => Ok(Format::Chrome),
            b'{' => not("a JSON object without \"traceEvents\""),
            _ => {
                let shown: String = String::from_utf8_lossy(&text[..text.len().min(40)])
                    .chars()
                    .flat_map(char::escape_debug)
                    .collect();
                Err(TraceError::NotATrace { seen: format!("the input begins with \"{shown}\"") })
            }
        }
    }
}

/// The beginnings of files that users have at hand and that this tool does not read.
const FOREIGN: [(&[u8], &str); 8] = [
    (b"\x1F\x8B", "gzip data that were packed twice; unpack them once: gzip -dc FILE | taskscale digest -"),
    (b"\x28\xB5\x2F\xFD", "zstd data that were packed twice; unpack them once first"),
    (b"\xFD7zXZ\0", "xz data; unpack them first: xz -dc FILE | taskscale digest -"),
    (b"BZh", "bzip2 data; unpack them first: bzip2 -dc FILE | taskscale digest -"),
    (b"PK\x03\x04", "a zip archive; unpack it first: unzip -p FILE | taskscale digest -"),
    (b"go 1.", "a Go execution trace, which is not read yet"),
    (b"FLR\0", "a Java Flight Recorder file, which is not read yet"),
    (
        b"<",
        "HTML or XML; Dask's performance report is for browsers: save client.get_task_stream() as JSON instead",
    ),
];
