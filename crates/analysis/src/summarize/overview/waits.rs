//! What ready tasks wait while others block.

use taskscale_model::{
    blocking::{self, Waits as Told},
    key::RowKey,
    run_file::{ANY, Role, Time},
    summary::{Held, SchedulerWaits, Waits, WayWaits},
};
use taskscale_stats::quantile::{median, sorted};

use super::{super::samples::RowSamples, rank};
use crate::grouped;

/// Of one blocking call: where the task in the middle waits less than this longer, nobody is held
/// up. The 99th percentile is that of the machine where it is busy: with seven others at work it
/// said of threads of the operating system that each holds up all.
const NOTICED: f64 = 0.5;
/// Of all blocking calls one after the other: on one thread the task in the middle waits for half
/// of them, on two for a quarter.
const SERIAL: f64 = 0.4;

/// Whether a row tells what tasks wait.
pub fn is_one(one: &RowSamples<'_>) -> bool {
    one.row.key.workload == blocking::WORKLOAD
}

/// All tables with such rows. O(rows^2) within a table.
pub fn of(samples: &[RowSamples<'_>]) -> Vec<Waits> {
    let is_told = |one: &&RowSamples<'_>| {
        is_one(one) && one.is_ok() && one.row.role != Role::Control && one.row.key.variant != ANY
    };
    let table = |one: &RowSamples<'_>| {
        let key = &one.row.key;
        (key.suite.clone(), key.table.clone(), key.size)
    };
    let tables = grouped(samples.iter().filter(is_told), |one| table(one));
    tables.iter().map(|rows| of_table(rows)).collect()
}

fn of_table(rows: &[&RowSamples<'_>]) -> Waits {
    let scheduler = |one: &RowSamples<'_>| (one.row.key.runtime.clone(), scheduler(&one.row.key));
    let mut lines: Vec<SchedulerWaits> =
        grouped(rows.iter().copied(), |one| scheduler(one)).iter().map(|ways| line(ways)).collect();
    let inline = |line: &SchedulerWaits| {
        let way = line.ways.iter().find(|way| way.way == blocking::INLINE);
        (line.held, way.map_or(f64::INFINITY, |way| way.p99))
    };
    lines.sort_by(|a, b| {
        let ((held_a, ns_a), (held_b, ns_b)) = (inline(a), inline(b));
        (held_a.is_none(), held_a).cmp(&(held_b.is_none(), held_b)).then(ns_a.total_cmp(&ns_b))
    });
    let key = &rows[0].row.key;
    Waits { suite: key.suite.clone(), table: key.table.clone(), size: key.size, rows: lines }
}

/// The scheduler of a row, with its case.
fn scheduler(key: &RowKey) -> String {
    let scheduler = blocking::parts(&key.variant).0;
    let case = key.variant_and_case();
    let case = case.strip_prefix(&*key.variant).unwrap_or_default();
    format!("{scheduler}{case}").trim_start().to_owned()
}

/// One scheduler, by its rows.
fn line(rows: &[&RowSamples<'_>]) -> SchedulerWaits {
    let key = &rows[0].row.key;
    let without = rows.iter().find(|one| blocking::parts(&one.row.key.variant).1 == blocking::WITHOUT);
    let without = without.and_then(|one| way(one, None));
    let ways: Vec<WayWaits> = rows.iter().filter_map(|one| way(one, without.as_ref())).collect();
    let calls = |one: &&&RowSamples<'_>| blocking::parts(&one.row.key.variant).1 == blocking::INLINE;
    let inline = rows.iter().find(calls).map(|one| &one.row.key);
    let held = inline.zip(without).and_then(|(key, without)| {
        let inline = ways.iter().find(|way| way.way == blocking::INLINE)?;
        let one = blocking::block_ns(&key.params) as f64;
        let all = one * blocking::calls(&key.variant, key.size, &key.params) as f64;
        Some(held(inline.p50 - without.p50, one, all))
    });
    SchedulerWaits { runtime: key.runtime.clone(), scheduler: scheduler(key), held, ways }
}

/// Whom a wait of the task in the middle that is so much longer speaks of, where one call blocks
/// for `one` and all of them for `all`.
fn held(longer: f64, one: f64, all: f64) -> Held {
    match longer {
        _ if longer < NOTICED * one => Held::Nobody,
        _ if longer >= SERIAL * all => Held::All,
        _ => Held::Some,
    }
}

/// The figures of a row, by what its samples told.
fn way(one: &RowSamples<'_>, without: Option<&WayWaits>) -> Option<WayWaits> {
    let key = &one.row.key;
    let told: Vec<Told> = one.timed.iter().filter_map(|sample| Told::of(&sample.extra)).collect();
    let middle = |of: fn(&Told) -> u64| {
        median(&sorted(&told.iter().map(|waits| of(waits) as f64).collect::<Vec<_>>()))
    };
    let cpu = rank::cost(one, Time::Cpu)?.ns;
    let calls = blocking::calls(&key.variant, key.size, &key.params);
    let more = |without: &WayWaits| (cpu - without.cpu).max(0.0) * key.size as f64 / calls as f64;
    Some(WayWaits {
        way: blocking::parts(&key.variant).1.to_owned(),
        p50: middle(|waits| waits.p50)?,
        p99: middle(|waits| waits.p99)?,
        max: middle(|waits| waits.max)?,
        whole: rank::cost(one, Time::Wall)?.ns * key.size as f64,
        cpu,
        cpu_of_call: without.filter(|_| calls > 0).map(more),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_blocked_task_holds_up() {
        // Ten calls of 1 ms: the task in the middle waits for five on one thread, for 2.5 on two.
        let held = |ms: f64| super::held(ms * 1e6, 1e6, 10e6);
        assert_eq!([-0.1, 0.0, 0.4].map(held), [Held::Nobody; 3]);
        assert_eq!([0.6, 2.5, 3.9].map(held), [Held::Some; 3]);
        assert_eq!([4.0, 5.0, 30.0].map(held), [Held::All; 3]);
        // Of a single call nobody can wait for a part.
        assert_eq!(super::held(0.9e6, 1e6, 1e6), Held::All);
    }
}
