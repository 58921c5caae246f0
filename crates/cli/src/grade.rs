//! `--grade`: tables are planned for how their cost grows.

use std::collections::BTreeSet;

use anyhow::bail;
use taskscale_analysis::is_gradable;
use taskscale_bench::plan::{Plan, PlannedSuite};
use taskscale_model::suite::{LimitsAsked, Suite};
use taskscale_stats::growth::MIN_SIZES;

use crate::{args::RunArgs, free};

/// What is measured within how long. One round a process, as intervals rest on processes.
pub const LIMITS: LimitsAsked = LimitsAsked {
    samples: Some(60),
    max_time_s: Some(60.0),
    budget_s: Some(60.0),
    precision: Some(0.02),
    sample_ms: Some(10.0),
    timeout_s: None,
    restart_every: Some(1),
    restart_warmup: None,
};

/// Sizes of a table that has fewer than a grade needs. The smallest lie above what a runtime does
/// once, and seven sizes span 12 octaves.
const SIZES: [u64; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];

/// Time for all sizes of up to [`SERIES`] series, and of each further one, in seconds: a process
/// takes some 0.15 s to come up, and seven sizes take eight of them.
const BASE_S: f64 = 60.0;
const SERIES: usize = 4;
const FURTHER_S: f64 = 10.0;

/// The most that is planned by itself, in seconds.
const MOST_S: f64 = 600.0;

/// The part of the time that one answer may take: at the largest size each series has the eight
/// processes after which growth is looked at, and as many answers again that are not timed.
const ANSWERS: f64 = 16.0;

/// The least and the most that one answer may take, in seconds. A JVM on a busy machine needs 2 s
/// for its first one.
const ANSWER_S: (f64, f64) = (2.0, 20.0);

/// Plans tables for a grade: enough sizes, no controls, nothing that is about something else. A
/// table that is not about tasks stays out, and a suite without any other is refused.
pub fn plan(args: &RunArgs, suites: &mut [Suite]) -> anyhow::Result<()> {
    for suite in suites.iter_mut().filter(|_| args.grade) {
        suite.workloads.retain(is_gradable);
        if suite.workloads.is_empty() {
            bail!(
                "--grade: no table of {} is about what cost does as size grows; fanout, nop, cliffs and interp have \
                 such tables, and so has every --probe without a suite",
                suite.name
            );
        }
        suite.limits = LIMITS;
        suite.leave_out.clear();
        for block in &mut suite.workloads {
            block.controls = false;
            block.claims.clear();
            block.rates = None;
            if block.sizes.len() < MIN_SIZES {
                block.sizes = SIZES.to_vec();
            }
        }
    }
    Ok(())
}

/// Whether a suite ends when its growth is certain.
pub fn ends_when_certain(args: &RunArgs) -> bool {
    let is_own = free::is_asked(args) && args.max_time.is_none() && args.against.is_empty();
    args.grade || is_own
}

/// Gives each suite its time, by the series that it has, and one answer its part of it. Own probes
/// without a suite end when their growth is certain too, within the time that they have. Where
/// `counts_growth`, what a collector could explain is counted besides.
pub fn time(args: &RunArgs, plan: &mut Plan, counts_growth: bool) {
    for suite in &mut plan.suites {
        suite.limits.until_graded = ends_when_certain(args);
        suite.limits.adds_sizes = ends_when_certain(args) && args.size.is_empty();
        suite.limits.counts_growth = counts_growth;
    }
    for suite in plan.suites.iter_mut().filter(|_| args.grade) {
        let series = series(suite);
        let further_s = FURTHER_S * series.saturating_sub(SERIES) as f64;
        let seconds = args.max_time.unwrap_or((BASE_S + further_s).min(MOST_S));
        let answer_s = (seconds / (ANSWERS * series.max(1) as f64)).clamp(ANSWER_S.0, ANSWER_S.1);
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let limits = &mut suite.limits;
        (limits.budget_ns, limits.max_time_ns) = (Some(ns(seconds)), ns(seconds));
        limits.timeout_ns = ns(args.timeout.unwrap_or(answer_s));
        // How long all may take is no word on how long one cell may.
        (limits.is_bound, limits.hurry_ns) = (false, None);
    }
}

/// How many series a suite has, over all its tables.
fn series(suite: &PlannedSuite) -> usize {
    let rows = suite.cells.iter().flat_map(|cell| &cell.rows).filter(|row| row.state.takes_part());
    rows.map(|row| &row.record.key.series).collect::<BTreeSet<_>>().len()
}
