//! What the library that counts allocations adds to one: two processes of the same program, with
//! the library and without, in turns and in mirrored order, by their CPU time.
//! `cargo run --release -p taskscale-experiments --bin allocation_cost`

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::path::Path;

use anyhow::{Context, ensure};
use taskscale_experiments::known::compile;
use taskscale_stats::{quantile::median, sign::sign_interval};
use taskscale_sys::{
    clock::monotonic_ns,
    counts::allocations::{Page, SOURCE, VARIABLE},
    process::{Child, Command},
};

/// Pairs of malloc and free in a sample, which lasts some 20 ms.
const PAIRS: u64 = 2_000_000;
const ROUNDS: usize = 60;

fn sample(child: &mut Child) -> anyhow::Result<f64> {
    let deadline_ns = monotonic_ns() + 60_000_000_000;
    child.send_line(PAIRS.to_string().as_bytes(), deadline_ns)?;
    let line = String::from_utf8(child.read_line(deadline_ns)?)?;
    Ok(line.trim().parse::<f64>()? / PAIRS as f64)
}

fn show(what: &str, unit: &str, mut values: Vec<f64>) -> anyhow::Result<()> {
    values.sort_by(f64::total_cmp);
    let middle = median(&values).context("no samples")?;
    let (low, high) = sign_interval(&values, 0.95).context("too few samples")?;
    println!("{what:<42} {middle:6.3}{unit} [{low:.3}, {high:.3}]");
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts");
    let program = compile(&here.join("pairs.c"), &folder.path().join("pairs"), &["-O2"])?;
    let source = folder.path().join("allocations.c");
    std::fs::write(&source, SOURCE)?;
    let flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"];
    let library = compile(&source, &folder.path().join("allocations.so"), &flags)?;

    let plain = Command::new(program.to_string_lossy(), [""; 0]);
    let page = Page::create()?;
    let mut counted = plain.clone();
    counted.env.push(("LD_PRELOAD".into(), library.to_string_lossy().into_owned()));
    counted.env.push((VARIABLE.into(), page.path().to_string_lossy().into_owned()));
    let (mut plain, mut counted) = (Child::spawn(&plain)?, Child::spawn(&counted)?);
    // The first samples fill caches.
    sample(&mut plain)?;
    sample(&mut counted)?;
    let before = page.read()?.context("the library was not loaded")?;
    let (mut alone, mut added, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (without, with) = if round % 2 == 0 {
            let without = sample(&mut plain)?;
            (without, sample(&mut counted)?)
        } else {
            let with = sample(&mut counted)?;
            (sample(&mut plain)?, with)
        };
        alone.push(without);
        added.push(with - without);
        ratios.push(with / without);
    }
    let calls = page.read()?.context("the library was not loaded")?.since(&before);
    ensure!(calls.malloc == PAIRS * ROUNDS as u64, "{calls:?} were counted");
    ensure!(calls.free == calls.malloc, "{calls:?} were counted");
    show("a malloc and its free, not counted", " ns", alone)?;
    show("counting adds to both together", " ns", added)?;
    show("counted over not counted", "", ratios)
}
