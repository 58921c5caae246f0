//! Shows what it costs to merge partial sums of many hosts, and that no tree of merges shows in
//! them: `cargo run --release -p taskscale-experiments --bin merge [-- PARTIALS WORKERS SEED]`.
//!
//! Hosts run 100 programs, whose tasks have names of their own and common ones. CPU time is the
//! first field of `/proc/self/schedstat`, so it needs Linux. It counts from the bytes of the files
//! in memory to the digest, on one thread.

use std::{
    error::Error,
    io::{Write, stdout},
};

use taskscale_digest::{Accumulator, Config, partial};
use taskscale_experiments::child;
use taskscale_model::{
    partial::{Labels, Partial, read, write},
    span::{Account, Span, SpanSink},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of programs that the hosts run.
const KINDS: u64 = 100;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: u64| words.get(at).map_or(Ok(or), |word| word.parse());
    let (count, workers, seed) = (number(0, 10_000)?.max(1), number(1, 64)?.max(1), number(2, 1)?);
    let mut random = fastrand::Rng::with_seed(seed);
    let kinds: Vec<Partial> =
        (0..count.min(KINDS)).map(|kind| source(kind, workers as u32, &mut random)).collect();
    let of = |host: u64| write(&renamed(&kinds[(host % KINDS) as usize], host));
    let files: Vec<Vec<u8>> = (0..count).map(of).collect();
    let sizes = files.iter().map(Vec::len);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.clone().max().unwrap_or(0));
    let mut out = stdout().lock();
    writeln!(
        out,
        "{count} partials of {workers} workers each: {least} to {most} bytes, {:.1} MB together",
        sizes.sum::<usize>() as f64 / 1e6
    )?;

    let before = child::cpu_ns("self")?;
    let mut whole = read(&files[0])?;
    for file in &files[1..] {
        partial::merge(&mut whole, &read(file)?);
    }
    let merged = write(&whole);
    let digest = partial::digest(&whole);
    let spent = child::cpu_ns("self")? - before;
    writeln!(
        out,
        "  one after the other: {:.3} s CPU, {:.1} us each; the whole has {} bytes, {} tasks",
        spent as f64 / 1e9,
        spent as f64 / 1e3 / count as f64,
        merged.len(),
        digest.tasks
    )?;

    for fan_in in [2, 8, 100] {
        let before = child::cpu_ns("self")?;
        let same = by_tree(files.clone(), fan_in, &mut random)? == merged;
        let spent = child::cpu_ns("self")? - before;
        writeln!(
            out,
            "  shuffled, {fan_in} at a time, each step by way of its file: {:.3} s CPU, {}",
            spent as f64 / 1e9,
            if same { "the same bytes" } else { "OTHER BYTES" }
        )?;
        if !same {
            return Err("the order of merges shows".into());
        }
    }
    Ok(())
}

/// Merges so many files at a time, in any order, until one is left.
fn by_tree(mut files: Vec<Vec<u8>>, fan_in: usize, random: &mut fastrand::Rng) -> Result<Vec<u8>> {
    while files.len() > 1 {
        random.shuffle(&mut files);
        let merge = |files: &[Vec<u8>]| -> Result<Vec<u8>> {
            let mut whole = read(&files[0])?;
            for file in &files[1..] {
                partial::merge(&mut whole, &read(file)?);
            }
            Ok(write(&whole))
        };
        files = files.chunks(fan_in).map(merge).collect::<Result<_>>()?;
    }
    Ok(files.swap_remove(0))
}

/// The same program on another host.
fn renamed(kind: &Partial, host: u64) -> Partial {
    let name = format!("host{host}");
    let mut partial = kind.clone();
    partial.labels.host = Some(name.clone());
    partial.hosts.kept[0].text.clone_from(&name);
    partial.ids.kept[0].text = format!("{:016x}", taskscale_model::partial::hash(&name));
    let workers = &mut partial.workers;
    for worker in workers.busiest.iter_mut().chain(&mut workers.least) {
        worker.host.clone_from(&name);
    }
    for long in &mut partial.longest {
        long.host.clone_from(&name);
    }
    for worst in partial.causes.iter_mut().filter_map(|cause| cause.worst.as_mut()) {
        worst.host.clone_from(&name);
        worst.id.clone_from(&partial.ids.kept[0].text);
    }
    partial
}

/// A host with tasks that are short or long, even or not, and gaps between them.
fn source(kind: u64, workers: u32, random: &mut fastrand::Rng) -> Partial {
    let mut sums = Accumulator::new(Config::default());
    let (task_ns, gap_ns) = (1i64 << random.u32(10..24), 1i64 << random.u32(6..18));
    let uneven = random.u8(0..3);
    let origin = random.i64(0..1 << 60);
    for worker in 0..workers {
        let mut at = origin;
        let tasks = if uneven == 0 { 4 + worker % 16 } else { 16 };
        for task in 0..tasks {
            let start_ns = at + random.i64(1..=gap_ns);
            let long = if uneven == 1 && task == 3 && worker == 0 { 20 } else { 1 };
            let end_ns = start_ns + task_ns * long + random.i64(0..task_ns);
            at = end_ns;
            let name = match random.u8(0..4) {
                0 => format!("program {kind} step {}", random.u8(0..8)),
                name => format!("common step {name} of the program"),
            };
            sums.span(&Span { worker, start_ns, end_ns, name: name.as_bytes(), ..Span::default() });
        }
    }
    let account = Account { format: "chrome".into(), ..Account::default() };
    sums.partial(&account, &Labels { host: Some("host".into()), ..Labels::default() }, |_| None)
}
