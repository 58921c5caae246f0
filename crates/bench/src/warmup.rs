//! Warm-up: takes samples until a fresh process has settled (`taskscale_stats::warmup`), within
//! bounds of number and time.

use std::io;

use taskscale_model::{
    protocol::MAX_INTEGER,
    run_file::{Kind, RowRecord},
};
use taskscale_stats::{sign, warmup};

use crate::{
    ask::Ask,
    limits::Limits,
    row::{Row, World, per_task},
    schedule::Round,
};

/// The most warm-up samples of the first process of a row without a JIT compiler. A growing heap or
/// a noisy machine may never settle. Later processes take at most `restart_warmup` samples.
const MOST: usize = 20;

/// The most pilot and warm-up samples, taken together, of each process whose code is compiled while
/// it runs, once it has worked as long as its probe asks for. One of 13 fresh JVMs did not level
/// off within 60 samples (`taskscale_stats::warmup::LEVEL`, docs/evidence/warm-up.md).
const MOST_JIT: usize = 60;

/// The most CPU time that a probe is granted before its level counts (`settle_ms` in what it says
/// of itself).
const MOST_SETTLE_MS: u64 = 3_000;

/// Code that is compiled while it runs is warmed up by samples of a quarter of the length. A fresh
/// JVM takes ten times as long for each iteration. In a cell of 20 s the time of a start went on 3
/// to 7 samples of the full length, and levelling off shows in 24 samples at the earliest. A
/// quarter of 20 ms is within the 2 to 20 ms of the curves that the rule was chosen on.
const PART_JIT: u64 = 4;

/// The fewest warm-up samples of such a process, if time allows. One that levelled off in the pilot
/// still fills its caches again, since other rows ran after it.
const FEWEST_JIT: usize = 3;

/// Warm-up of one start takes at most this share of the cell's time, in equal parts for all rows.
/// Rows with a JIT compiler have [`SHARE_JIT`] for theirs. A row starts its last sample within its
/// part, and takes one sample at least.
const SHARE: f64 = 0.1;

/// Warm-up of rows with a JIT compiler takes at most this share of the cell's time, over the starts
/// that an interval needs. Their pilots may level off in the time of one such start besides.
const SHARE_JIT: f64 = 0.4;

/// The share where all rows of a cell have a JIT compiler and ask for that much time
/// ([`settle_ns`]). 25 rows of F# that ask for 0.6 s each had 0.2 s of 170 s by [`SHARE_JIT`]; rows
/// then varied fourfold between processes, and by a tenth once they had their time.
const SHARE_SETTLE: f64 = 0.75;

/// Wall time to plan for each nanosecond of CPU time that a row works before its level counts:
/// requests, answers, and the samples that show that it has levelled off.
const SETTLE_PER_NS: f64 = 1.3;

/// The time for one start of all rows, divided among them.
pub(crate) struct Allowance {
    /// The time of each row without a JIT compiler.
    plain_ns: u64,
    /// The most samples of such a row after a restart.
    again: usize,
    /// The time of all rows with a JIT compiler that are still to come. Each may use what those
    /// before it left.
    jit_ns: u64,
    jit_rows: u64,
    /// How long a sample should last.
    sample_ns: u64,
}

impl Allowance {
    /// The allowance for one start of the rows that have a process, in a cell of `time_ns`.
    pub fn new(rows: &[Row<'_>], limits: &Limits, time_ns: u64) -> Self {
        let alive = rows.iter().filter(|row| row.is_alive());
        Allowance::of(alive.map(|row| row.record), limits, time_ns)
    }

    fn of<'r>(rows: impl Iterator<Item = &'r RowRecord> + Clone, limits: &Limits, time_ns: u64) -> Self {
        let share = |share: f64, by: u64| (time_ns as f64 * share / by.max(1) as f64) as u64;
        // An interval needs six processes, so the time must last for as many starts.
        let fewest = sign::FEWEST as u64;
        let starts = limits.samples.checked_div(limits.restart_every).map_or(1, |starts| starts.min(fewest));
        let (all, jit_rows) =
            (rows.clone().count() as u64, rows.clone().filter(|row| row.jit).count() as u64);
        let most_jit = SHARE_JIT.max(SHARE_SETTLE * jit_rows as f64 / all.max(1) as f64);
        let planned_ns = (rows.map(settle_ns).sum::<u64>() as f64 * SETTLE_PER_NS) as u64;
        Allowance {
            plain_ns: share(SHARE, all),
            again: usize::try_from(limits.restart_warmup).unwrap_or(usize::MAX),
            jit_ns: planned_ns.clamp(share(SHARE_JIT, starts), share(most_jit, starts)),
            jit_rows,
            sample_ns: limits.sample_ns,
        }
    }

    /// The time of the next row.
    fn next_ns(&self, jit: bool) -> u64 {
        if jit { self.jit_ns / self.jit_rows.max(1) } else { self.plain_ns }
    }

    /// Whether a row with a JIT compiler that has used `used_ns` goes on: it has not levelled off,
    /// and has reached neither bound. Before the time that its probe asks for no level counts, and
    /// only time is a bound.
    pub fn goes_on(&self, row: &Row<'_>, used_ns: u64) -> bool {
        row.record.jit
            && used_ns < self.next_ns(true)
            && (row.worked_ns < settle_ns(row.record)
                || (row.costs.len() < row.early + MOST_JIT && !warmup::has_levelled(&row.costs)))
    }

    /// Whether a row needs no warm-up: it waits, and its first answer is the one that is timed; or
    /// it is a sweep's few tasks of so much work that what is cold shows in none. Of 256 tasks of
    /// 262 us, 0.1 ms of page faults and cold caches is one part in 700.
    fn is_warm(&self, row: &Row<'_>) -> bool {
        if row.waiting.is() {
            return true;
        }
        row.record.sweep.is_some() && !row.record.jit && row.is_dear(self.sample_ns)
    }

    /// Takes `used_ns` from the time of rows with a JIT compiler. The rows that follow get the
    /// rest.
    pub fn spent(&mut self, row: &Row<'_>, used_ns: u64) {
        if row.record.jit {
            self.jit_ns = self.jit_ns.saturating_sub(used_ns);
            self.jit_rows = self.jit_rows.saturating_sub(1);
        }
    }
}

/// CPU ns of work of a row's process before its level counts.
pub(crate) fn settle_ns(record: &RowRecord) -> u64 {
    record.settle_ms.filter(|_| record.jit).unwrap_or(0).min(MOST_SETTLE_MS) * 1_000_000
}

/// Warms up the processes of all rows in the order of `round`, the round that follows. A row that
/// is always warmed up last always comes to its sample with the warmest caches: identical tokio
/// rows then gave false alarms in 9 of 40 comparisons.
pub(crate) fn warm_up(
    rows: &mut [Row<'_>],
    round: &Round,
    mut allowance: Allowance,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    // Processes that all take their sample after the same number of others meet a collector at the
    // same place, all or none.
    let again =
        if allowance.again > 1 { allowance.again - 1 + world.rng.usize(0..=2) } else { allowance.again };
    for &index in &round.order {
        let row = &mut rows[index];
        if allowance.is_warm(row) {
            continue;
        }
        let started_ns = world.clock.now_ns();
        let mut costs = Vec::new();
        while !world.is_over() {
            let used_ns = world.clock.now_ns() - started_ns;
            // Each row takes one sample at least, however little time there is, but where the suite
            // wants none: a sample of a million tasks is warm by its own beginning.
            let goes_on = (costs.is_empty() && (row.record.jit || again > 0))
                || if row.record.jit {
                    allowance.goes_on(row, used_ns)
                        || (costs.len() < FEWEST_JIT && used_ns < allowance.next_ns(true))
                } else {
                    let most = if round.restart || again == 0 { again } else { MOST };
                    costs.len() < most && used_ns < allowance.next_ns(false) && !warmup::is_stable(&costs)
                };
            if !goes_on {
                break;
            }
            let part = if row.record.jit { PART_JIT } else { 1 };
            let ask = Ask {
                kind: Kind::Warmup,
                round: round.number,
                iterations: row.iterations.div_ceil(part),
                seed: world.rng.u64(0..=MAX_INTEGER),
            };
            let Some(sample) = row.ask(ask, world)? else { break };
            if sample.kind == Kind::Warmup {
                costs.push(per_task(&sample));
            }
        }
        allowance.spent(row, world.clock.now_ns() - started_ns);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use taskscale_model::answer::Rule;

    use super::*;

    /// A row of a sweep, or of a plain table.
    fn record(sweep: bool, jit: bool) -> RowRecord {
        let mut record = serde_json::json!({
            "row": 0, "suite": "t", "table": "t", "workload": "fanout", "runtime": "tokio", "version": "1",
            "variant": "v", "case": {"work_ns": 16}, "params": {}, "size": 256, "creates_task": true,
            "jit": jit, "role": "row", "baseline": null,
        });
        if sweep {
            record["sweep"] = serde_json::json!({"number": 0, "work_ns": 16, "part": "tasks"});
        }
        serde_json::from_value(record).expect("a row")
    }

    /// Warm-up time for one start of cells of 60 s: of `jit` rows that are compiled while they run
    /// and ask for `settle_ms` each, and `plain` others. In ms, for all rows with a JIT compiler.
    fn jit_ms(jit: usize, plain: usize, settle_ms: u64) -> u64 {
        let mut compiled = record(false, true);
        compiled.settle_ms = Some(settle_ms);
        let records: Vec<RowRecord> = [vec![compiled; jit], vec![record(false, false); plain]].concat();
        let limits = Limits { samples: 12, restart_every: 2, ..Limits::default() };
        Allowance::of(records.iter(), &limits, 60_000_000_000).jit_ns / 1_000_000
    }

    #[test]
    fn rows_that_ask_for_time_to_settle_have_it_within_bounds() {
        // Six starts in 60 s: 10 s each.
        assert_eq!(jit_ms(3, 0, 0), 4_000, "40 % where nothing is asked");
        assert_eq!(jit_ms(3, 0, 1_000), 4_000, "which is enough for 3 s");
        assert_eq!(jit_ms(5, 0, 1_000), 6_500, "5 s of work need 6.5 s of wall time");
        assert_eq!(jit_ms(9, 0, 1_000), 7_500, "75 % at most");
        assert_eq!(jit_ms(9, 3, 1_000), 5_625, "of which other rows have their part");
        assert_eq!(jit_ms(9, 90, 1_000), 4_000, "but no less than 40 %");
    }

    #[test]
    fn only_dear_rows_of_a_sweep_need_no_warm_up() {
        let limits = Limits { sample_ns: 1_000_000, ..Limits::default() };
        let is_warm = |sweep, jit, wall_ns| {
            let record = record(sweep, jit);
            let mut row = Row::new(&record, Rule::SumOfTasks);
            row.verified_wall_ns = Some(wall_ns);
            Allowance::new(&[], &limits, 1).is_warm(&row)
        };
        assert!(is_warm(true, false, 5e6));
        assert!(!is_warm(true, false, 4.9e6), "an iteration is no longer than a few samples");
        assert!(!is_warm(true, true, 5e6), "it is compiled while it runs");
        // A sample of 100,000 tasks of asyncio is 6 % dearer when it is cold.
        assert!(!is_warm(false, false, 5e6), "its tasks may be many");
    }
}
