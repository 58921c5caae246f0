//! Compares our CPU time on a made-up 452 MB trace with that of `md5sum` and of a streaming
//! `serde_json` reader, interleaved in one run, and shows our peak memory:
//! `cargo run --release -p taskscale-experiments --bin speed [-- EVENTS ROUNDS]`.
//!
//! Each reading is a process of its own. CPU time is the first field of `/proc/self/schedstat`
//! (nanoseconds), and peak memory is `VmHWM` of `/proc/self/status`, so it needs Linux. The fastest
//! of the rounds counts, because nothing but disturbance makes a reading slower. The files lie in a
//! temporary folder and are deleted.

use std::{
    error::Error,
    fs::{self, File},
    io::{BufReader, BufWriter, Read, Write, stdout},
    path::Path,
    process::{Command, Stdio},
};

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use taskscale_experiments::{
    child,
    timeline::{self, Form},
};
use taskscale_model::span::Span;
use taskscale_trace::Options;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// CPU nanoseconds, peak memory in kB, events, their summed durations in microseconds.
type Reading = [u64; 4];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, reader, file] = words.as_slice()
        && flag == "--child"
    {
        return read(reader, Path::new(file));
    }
    let events = words.first().map_or(Ok(5_000_000), |word| word.parse())?;
    let rounds = words.get(1).map_or(Ok(5), |word| word.parse())?;
    let folder = tempfile::tempdir()?;
    let mut out = stdout().lock();
    for form in [Form::Flat, Form::Args, Form::Nested] {
        let path = folder.path().join("trace.json");
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        let total_us = timeline::write(&mut file, events, form, 1)?;
        file.flush()?;
        drop(file);
        let bytes = fs::metadata(&path)?.len();
        writeln!(out, "{form:?}: {events} events, {:.0} MB, fastest of {rounds} rounds", bytes as f64 / 1e6)?;
        let readers = ["ours, learned form", "ours, generic", "md5sum", "serde_json, streaming"];
        let mut best: [Option<Reading>; 4] = [None; 4];
        for _ in 0..rounds {
            for (reader, best) in readers.iter().zip(&mut best) {
                let reading =
                    if *reader == "md5sum" { md5sum(&path)? } else { child::measure(reader, &path)? };
                if *reader != "md5sum" && reading[2..] != [events, total_us] {
                    return Err(
                        format!("{reader} read {reading:?}, not {events} events of {total_us} us").into()
                    );
                }
                if best.is_none_or(|best| reading[0] < best[0]) {
                    *best = Some(reading);
                }
            }
        }
        let ours = best[0].map_or(0, |best| best[0]) as f64;
        for (reader, best) in readers.iter().zip(best) {
            let [cpu_ns, peak_kb, ..] = best.unwrap_or_default();
            let memory = if peak_kb > 0 { format!("{:.1} MB", peak_kb as f64 / 1e3) } else { String::new() };
            writeln!(
                out,
                "  {reader:22} {:.3} s  {:6.0} MB/s  {:5.1} ns/event  {:5.2} of ours  {memory}",
                cpu_ns as f64 / 1e9,
                bytes as f64 / cpu_ns as f64 * 1e3,
                cpu_ns as f64 / events as f64,
                cpu_ns as f64 / ours,
            )?;
        }
        fs::remove_file(&path)?;
    }
    Ok(())
}

/// Reads the CPU time of `md5sum`. Its standard output ends when it does, and the system keeps its
/// CPU time until it is waited for.
fn md5sum(path: &Path) -> Result<Reading> {
    let mut process = Command::new("md5sum").arg(path).stdout(Stdio::piped()).spawn()?;
    let mut sum = String::new();
    process.stdout.take().ok_or("no output")?.read_to_string(&mut sum)?;
    // The process closes its output a moment before it ends. What it does in between is nothing
    // next to the sum.
    let cpu_ns = child::cpu_ns(&process.id().to_string())?;
    process.wait()?;
    Ok([cpu_ns, 0, 0, 0])
}

fn read(reader: &str, path: &Path) -> Result<()> {
    let file = File::open(path)?;
    let before = child::cpu_ns("self")?;
    let (mut events, mut busy_us) = (0, 0);
    if reader.starts_with("ours") {
        let options = Options { learn_shapes: reader.ends_with("learned form"), ..Options::default() };
        taskscale_trace::read(file, &options, &mut |span: &Span<'_>| {
            events += 1;
            busy_us += (span.end_ns - span.start_ns) as u64 / 1_000;
        })?;
    } else {
        let all: All = serde_json::from_reader(BufReader::with_capacity(256 << 10, file))?;
        (events, busy_us) = (all.0, all.1);
    }
    let cpu_ns = child::cpu_ns("self")? - before;
    let peak_kb = child::peak_kb()?;
    writeln!(stdout(), "{cpu_ns} {peak_kb} {events} {busy_us}")?;
    Ok(())
}

/// The members of an event that our reader reads too.
#[derive(serde::Deserialize)]
struct Event {
    #[serde(rename = "ph")]
    phase: String,
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "pid")]
    _process: u64,
    #[serde(rename = "tid")]
    _thread: u64,
    #[serde(rename = "ts")]
    _start: u64,
    dur: u64,
    #[serde(rename = "args")]
    _args: Option<IgnoredAny>,
}

/// The number of events of a list and their summed durations, counted as they come.
struct All(u64, u64);

impl<'de> Deserialize<'de> for All {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = All;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(out, "a list of events")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<All, A::Error> {
                let mut all = All(0, 0);
                while let Some(event) = list.next_element::<Event>()? {
                    if event.phase == "X" {
                        all.0 += 1;
                        all.1 += event.dur;
                    }
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Count)
    }
}
