//! Warm-up: samples until a fresh process has settled (`taskscale_stats::warmup`), within bounds of
//! number and of time.

use std::io;

use taskscale_model::{protocol::MAX_INTEGER, run_file::Kind};
use taskscale_stats::{sign, warmup};

use crate::{
    limits::Limits,
    row::{Ask, Row, World, per_task},
    schedule::Round,
};

/// Warm-up of a row's first process ends here even where it never settles (a growing heap, a noisy
/// machine).
const MOST: usize = 20;

/// Warm-up of every process whose code is compiled while it runs: of 13 fresh JVMs one took more
/// samples to level off (`taskscale_stats::warmup::LEVEL`, docs/evidence/warm-up.md).
const MOST_JIT: usize = 60;

/// Code that is compiled while it runs is warmed up by samples of this part of the length. A fresh
/// JVM needs ten times as long for each, and in a cell of 20 s the time of a start went on 3 to 7
/// samples of the full length, where levelling off shows in 24 at the earliest. A quarter of 20 ms
/// is within the 2 to 20 ms of the curves that the rule was chosen on.
const PART_JIT: u64 = 4;

/// A process that levelled off in the pilot still fills its caches again: other rows ran since.
const FEWEST_JIT: usize = 3;

/// All warm-up of one start together takes at most this share of the cell's time.
const SHARE: f64 = 0.1;

/// All warm-up of rows with a JIT compiler takes at most this share of the cell's time, over the
/// processes below.
const SHARE_JIT: f64 = 0.4;

/// The time for one start of all rows, shared out among them.
pub(crate) struct Allowance {
    /// For each row without a JIT compiler.
    plain_ns: u64,
    /// Samples at most of such a row after a restart.
    again: usize,
    /// For all rows with one that are still to come: what one leaves, the next may use.
    jit_ns: u64,
    jit_rows: u64,
}

impl Allowance {
    /// For a start in a cell of `time_ns`.
    pub fn new(rows: &[Row<'_>], limits: &Limits, time_ns: u64) -> Self {
        let alive = || rows.iter().filter(|row| row.is_alive());
        let share = |share: f64, by: u64| (time_ns as f64 * share / by.max(1) as f64) as u64;
        // An interval needs six processes: the time must reach for as many starts.
        let fewest = sign::FEWEST as u64;
        let starts = limits.samples.checked_div(limits.restart_every).map_or(1, |starts| starts.min(fewest));
        Allowance {
            plain_ns: share(SHARE, alive().count() as u64),
            again: usize::try_from(limits.restart_warmup).unwrap_or(usize::MAX),
            jit_ns: share(SHARE_JIT, starts),
            jit_rows: alive().filter(|row| row.record.jit).count() as u64,
        }
    }

    /// The part of the next row.
    fn next_ns(&self, jit: bool) -> u64 {
        if jit { self.jit_ns / self.jit_rows.max(1) } else { self.plain_ns }
    }

    /// Whether a row with a JIT compiler, on which `used_ns` were spent, should go on: it has not
    /// levelled off, and neither bound is reached.
    pub fn goes_on(&self, row: &Row<'_>, used_ns: u64) -> bool {
        row.record.jit
            && row.costs.len() < MOST_JIT
            && used_ns < self.next_ns(true)
            && !warmup::has_levelled(&row.costs)
    }

    /// Leaves what a row with a JIT compiler did not use to those that follow; it used `used_ns`.
    pub fn spent(&mut self, row: &Row<'_>, used_ns: u64) {
        if row.record.jit {
            self.jit_ns = self.jit_ns.saturating_sub(used_ns);
            self.jit_rows = self.jit_rows.saturating_sub(1);
        }
    }
}

/// Warms up the processes of all rows in the order of `round`, the one that follows: a row that was
/// always warmed up last would always come to its sample with the warmest caches (identical tokio
/// rows then gave false alarms in 9 of 40 comparisons).
pub(crate) fn warm_up(
    rows: &mut [Row<'_>],
    round: &Round,
    mut allowance: Allowance,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    for &index in &round.order {
        let row = &mut rows[index];
        let started_ns = world.clock.now_ns();
        let mut costs = Vec::new();
        while !world.listener.interrupted() {
            let used_ns = world.clock.now_ns() - started_ns;
            // One sample at least, however little time there is.
            let goes_on = costs.is_empty()
                || if row.record.jit {
                    allowance.goes_on(row, used_ns)
                        || (costs.len() < FEWEST_JIT && used_ns < allowance.next_ns(true))
                } else {
                    let most = if round.restart { allowance.again } else { MOST };
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
            costs.push(per_task(&sample));
        }
        allowance.spent(row, world.clock.now_ns() - started_ns);
    }
    Ok(())
}
