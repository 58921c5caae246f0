//! Shows what it costs to digest a trace whose events are out of order, against the same events in
//! order: `cargo run --release -p taskscale-experiments --bin sorted [-- EVENTS ROUNDS]`.
//!
//! Each reading is a process of its own, in turns. CPU time is the first field of
//! `/proc/self/schedstat`, and peak memory is `VmHWM` of `/proc/self/status`, so it needs Linux.
//! The fastest of the rounds counts. The files lie in a temporary folder and are deleted.

use std::{
    error::Error,
    fs::{self, File},
    io::{Write, stdout},
    path::Path,
};

use taskscale_digest::{Accumulator, Config};
use taskscale_experiments::{
    child,
    timeline::{self, Form},
};
use taskscale_trace::{Options, Reader, Sorter, sort::When};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// CPU nanoseconds, peak memory in kB, busy nanoseconds.
type Reading = [u64; 3];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, way, file] = words.as_slice()
        && flag == "--child"
    {
        return read(way, Path::new(file));
    }
    let events = words.first().map_or(Ok(5_000_000), |word| word.parse())?;
    let rounds = words.get(1).map_or(Ok(5), |word| word.parse())?;
    let folder = tempfile::tempdir()?;
    let mut out = stdout().lock();
    let (in_order, shuffled) = (folder.path().join("in-order.json"), folder.path().join("shuffled.json"));
    let bytes = write_both(&in_order, &shuffled, events)?;
    writeln!(out, "{events} events, {:.0} MB, fastest of {rounds} rounds", bytes as f64 / 1e6)?;
    let ways =
        [("in order", "read", &in_order), ("shuffled", "sort", &shuffled), ("stream", "keep", &shuffled)];
    let mut best: [Option<Reading>; 3] = [None; 3];
    for _ in 0..rounds {
        for ((_, way, path), best) in ways.iter().zip(&mut best) {
            let reading = child::measure(way, path)?;
            if best.is_none_or(|best| reading[0] < best[0]) {
                *best = Some(reading);
            }
        }
    }
    let first = best[0].unwrap_or_default();
    for ((name, ..), best) in ways.iter().zip(best) {
        let [cpu_ns, peak_kb, busy] = best.unwrap_or_default();
        if busy != first[2] {
            return Err(format!("{name}: busy for {busy} ns, in order for {} ns", first[2]).into());
        }
        writeln!(
            out,
            "  {name:10} {:.3} s  {:6.0} MB/s  {:5.1} ns/event  {:5.2} of in order  {:.1} MB",
            cpu_ns as f64 / 1e9,
            bytes as f64 / cpu_ns as f64 * 1e3,
            cpu_ns as f64 / events as f64,
            cpu_ns as f64 / first[0] as f64,
            peak_kb as f64 / 1e3,
        )?;
    }
    Ok(())
}

/// Writes the same events twice and returns the bytes of one file.
fn write_both(in_order: &Path, shuffled: &Path, events: u64) -> Result<u64> {
    let mut text = Vec::new();
    timeline::write(&mut text, events, Form::Flat, 1)?;
    fs::write(in_order, &text)?;
    let end = text.iter().rposition(|&byte| byte == b']').ok_or("no list")?;
    let mut lines: Vec<&[u8]> = text[1..end].split(|&byte| byte == b'\n').collect();
    lines.iter_mut().for_each(|line| *line = line.strip_suffix(b",").unwrap_or(line));
    fastrand::Rng::with_seed(1).shuffle(&mut lines);
    let mut file = std::io::BufWriter::new(File::create(shuffled)?);
    for (at, line) in lines.iter().enumerate() {
        file.write_all(if at == 0 { b"[" } else { b",\n" })?;
        file.write_all(line)?;
    }
    file.write_all(b"]\n")?;
    file.flush()?;
    Ok(text.len() as u64)
}

/// Digests a file: as it is, sorted block by block, or as a stream that is kept meanwhile.
fn read(way: &str, path: &Path) -> Result<()> {
    let before = child::cpu_ns("self")?;
    let mut reader = Reader::new(Options::default());
    let mut sums = Accumulator::new(Config::default());
    let file = File::open(path)?;
    let account = if way == "read" {
        reader.read(file, &mut sums)?
    } else {
        let mut sorter = Sorter::new(if way == "sort" { When::AtOnce } else { When::InTheEnd });
        let account = reader.read(file, &mut sorter)?;
        sorter.finish(&mut sums, &mut |_, _| ())?;
        account
    };
    let digest = sums.finish(&account);
    let cpu_ns = child::cpu_ns("self")? - before;
    let peak_kb = child::peak_kb()?;
    let busy = digest.losses.work * digest.window_ns as f64 * digest.workers as f64;
    writeln!(stdout(), "{cpu_ns} {peak_kb} {busy:.0}")?;
    Ok(())
}
