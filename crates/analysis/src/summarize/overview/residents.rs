//! What tasks hold while they wait: the slope of resident memory over the number of tasks.
//!
//! A process holds much before its first task: the heap of a virtual machine, what is compiled. The
//! slope from the smallest size to the largest leaves that out, together with what the first task
//! brings once. It is a median of whole processes, so that one in which a collector came late moves
//! nothing.

use taskscale_model::{
    key::RowKey,
    parked::Resident,
    run_file::{ANY, Role, Time},
    summary::{HeldAt, HeldPerTask, Interval, ResidentRow, Residents, Row},
};
use taskscale_stats::quantile::{median, sorted};

use super::{super::samples::RowSamples, rank};
use crate::grouped;

/// All tables with such rows. O(rows^2) within a table.
pub fn of(samples: &[RowSamples<'_>], rows: &[Row]) -> Vec<Residents> {
    let mut tables: Vec<(&RowKey, Vec<&RowSamples<'_>>)> = Vec::new();
    // A runtime that is not here has its own line.
    let is_read = |one: &&RowSamples<'_>| {
        one.row.key.is_resident() && one.row.role != Role::Control && one.row.key.variant != ANY
    };
    for one in samples.iter().filter(is_read) {
        let key = &one.row.key;
        let same = |known: &RowKey| (&known.suite, &known.table) == (&key.suite, &key.table);
        match tables.iter_mut().find(|(known, _)| same(known)) {
            Some((_, all)) => all.push(one),
            None => tables.push((key, vec![one])),
        }
    }
    tables.into_iter().map(|(key, all)| table(key, &all, rows)).collect()
}

fn table(key: &RowKey, all: &[&RowSamples<'_>], rows: &[Row]) -> Residents {
    let mut sizes: Vec<u64> = all.iter().map(|one| one.row.key.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let series = grouped(all.iter().copied(), |one| &one.row.key.series);
    let mut lines: Vec<ResidentRow> = series.iter().map(|sizes| line(sizes, rows)).collect();
    let bytes = |line: &ResidentRow| line.held.as_ref().map_or(f64::INFINITY, |held| held.bytes);
    lines.sort_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    Residents { suite: key.suite.clone(), table: key.table.clone(), sizes, rows: lines }
}

/// The line of one series, by its rows at all sizes.
fn line(sizes: &[&RowSamples<'_>], rows: &[Row]) -> ResidentRow {
    let mut sizes = sizes.to_vec();
    sizes.sort_by_key(|one| one.row.key.size);
    let key = &sizes[0].row.key;
    let told: Vec<At<'_, '_>> = sizes.iter().filter_map(|one| At::of(one)).collect();
    let mut untold = sizes.iter().filter(|one| !told.iter().any(|at| at.size == one.row.key.size));
    let ends = untold.next().map(|one| &one.row.key);
    let reason = ends.and_then(|key| rows.iter().find(|row| row.key == *key)?.missing().cloned());
    ResidentRow {
        runtime: key.runtime.clone(),
        variant: key.variant_and_case(),
        held: held(&told),
        ends: ends.map(|key| key.size),
        reason,
    }
}

/// What the processes of a series told at one size.
struct At<'s, 'a> {
    size: u64,
    samples: &'s RowSamples<'a>,
    processes: Vec<Resident>,
}

impl<'s, 'a> At<'s, 'a> {
    /// `None` where the row has no figures, or no process told what it held.
    fn of(samples: &'s RowSamples<'a>) -> Option<Self> {
        let mut processes = Vec::new();
        for start in samples.starts.iter().filter(|_| samples.is_ok()) {
            // Only the first sample of a process meets a process that held no task before.
            processes.extend(Resident::of(&start.first.extra));
        }
        let size = samples.row.key.size;
        (!processes.is_empty()).then_some(At { size, samples, processes })
    }

    fn median(&self, of: impl Fn(&Resident) -> f64) -> Option<f64> {
        median(&sorted(&self.processes.iter().map(of).collect::<Vec<_>>()))
    }
}

/// The figures of a series, by what was told at ascending sizes.
fn held(told: &[At<'_, '_>]) -> Option<HeldPerTask> {
    let (largest, first) = (told.last()?, told.first()?);
    let from = Some(first.size).filter(|size| *size < largest.size);
    // Without a smaller size, the process itself is what others are compared with.
    let smallest = first.median(|resident| resident.waiting as f64)?;
    let base = |resident: &Resident| if from.is_some() { smallest } else { resident.before as f64 };
    let tasks = (largest.size - from.unwrap_or(0)) as f64;
    let slopes: Vec<f64> = largest
        .processes
        .iter()
        .map(|resident| (resident.waiting as f64 - base(resident)).max(0.0) / tasks)
        .collect();
    let slopes = sorted(&slopes);
    let before: Vec<f64> =
        told.iter().flat_map(|at| &at.processes).map(|resident| resident.before as f64).collect();
    let wake = rank::cost(largest.samples, Time::Cpu)?;
    let at = |at: &At<'_, '_>| {
        Some(HeldAt {
            size: at.size,
            processes: at.processes.len() as u64,
            bytes: at.median(|resident| resident.grown() as f64)? / at.size as f64,
        })
    };
    Some(HeldPerTask {
        size: largest.size,
        from,
        bytes: median(&slopes)?,
        range: Interval(*slopes.first()?, *slopes.last()?),
        processes: largest.processes.len() as u64,
        resident: largest.median(|resident| resident.waiting as f64)?,
        before: median(&sorted(&before))?,
        wake_ns: wake.ns,
        wake_ci: wake.ci,
        at: told.iter().filter_map(at).collect(),
    })
}
