//! What time would do where one run could not tell, by what its pairs of processes took.

use std::collections::BTreeMap;

use taskscale_model::{
    figure::max_time,
    run_file::{Kind, RowRecord, Stop},
    suite::JUDGED_ROUNDS,
};
use taskscale_stats::{rounds::Rounds, shift::Shift};

use crate::read::Run;

/// More than this, in seconds, is named with a quieter machine as the better way.
pub(crate) const LONG_S: f64 = 900.0;

/// How much narrower than just enough an interval is planned: its width varies by as much.
const MARGIN: f64 = 0.8;

/// What cells of a run took, by table and size.
pub struct Longer<'a> {
    cells: BTreeMap<(&'a str, u64), Spent>,
}

/// What a cell took, in nanoseconds, and the number of its rounds.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    /// Checking answers and choosing iterations.
    before_ns: u64,
    /// Rounds, with the processes that were started for them.
    rounds_ns: u64,
    rounds: u64,
}

impl<'a> Longer<'a> {
    /// O(samples).
    pub fn of(run: &'a Run) -> Self {
        let mut cells: BTreeMap<(&str, u64), Spent> = BTreeMap::new();
        let tables: BTreeMap<u64, &str> =
            run.rows.iter().map(|row| (row.row, row.key.table.as_str())).collect();
        for sample in run.samples.iter().filter(|sample| matches!(sample.kind, Kind::Verify | Kind::Pilot)) {
            if let Some(table) = tables.get(&sample.row) {
                cells.entry((table, sample.size)).or_default().before_ns += sample.outside_wall_ns;
            }
        }
        for round in &run.rounds {
            let spent = cells.entry((&round.table, round.size)).or_default();
            spent.rounds_ns += round.wall_ns.unwrap_or(0);
            spent.rounds += 1;
        }
        Longer { cells }
    }

    /// What to do so that the row has an interval, which needs `pairs` pairs of processes. What
    /// `ended` its rounds is not enough then.
    pub fn for_pairs(
        &self,
        row: &RowRecord,
        ended: Option<Stop>,
        rounds: &Rounds,
        pairs: usize,
    ) -> Option<String> {
        let spent =
            self.cells.get(&(row.key.table.as_str(), row.key.size)).filter(|spent| spent.rounds_ns > 0)?;
        let had = rounds.observations().max(1) as f64;
        let seconds = (spent.before_ns as f64 + spent.rounds_ns as f64 * pairs as f64 / had) / 1e9;
        let rounds = (spent.rounds as f64 * pairs as f64 / had).ceil();
        let samples = if ended == Some(Stop::Samples) || rounds > JUDGED_ROUNDS as f64 {
            format!(" --samples {rounds:.0}")
        } else {
            String::new()
        };
        let words = format!("about {}{samples}", max_time(seconds));
        Some(match seconds > LONG_S {
            true => format!("a quieter machine (taskscale doctor), or {words}"),
            false => words,
        })
    }

    /// What to do so that the interval of a difference is narrow enough to be called: worse or
    /// better where its centre lies beyond twice the `threshold` (of ln ratios), else the same. A
    /// width falls with the square root of the pairs.
    pub fn for_width(
        &self,
        row: &RowRecord,
        ended: Option<Stop>,
        rounds: &Rounds,
        shift: Shift,
        threshold: f64,
    ) -> Option<String> {
        let beyond = shift.log.abs() - threshold;
        let wanted = MARGIN * if beyond > threshold { beyond } else { threshold };
        let times = ((shift.high - shift.low) / 2.0 / wanted).powi(2).max(1.0);
        let pairs = (rounds.observations() as f64 * times).ceil();
        self.for_pairs(row, ended, rounds, pairs as usize)
    }
}
