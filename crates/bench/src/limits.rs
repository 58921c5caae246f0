//! When a cell has been measured enough.

use taskscale_model::suite;

/// What a process needs to come up, roughly, in nanoseconds.
const START_NS: f64 = 100e6;

/// What a task takes, roughly, in nanoseconds.
const TASK_NS: f64 = 1500.0;

/// How many tasks a request over HTTP is taken for.
pub(crate) const REQUEST: u64 = 100;

/// How many times what a request takes, as far as that is known, its answer is waited for where the
/// user gives a cell little time. A machine at load 15 takes ten times as long.
const PATIENCE: f64 = 20.0;

/// The least that is waited for an answer of code that is compiled while it runs, in nanoseconds: a
/// JVM needs 2 s for its first one on a machine at load 15.
const PATIENCE_JIT_NS: u64 = 5_000_000_000;

/// The part of a budget that is for times where growth is counted too: four sizes of a Map in Node
/// take 8 s of 60 to count.
const TIMED: f64 = 0.8;

/// The least that rows which fail may take of a cell, in nanoseconds: [`PATIENCE`] starts.
const LEAST_LOST_NS: u64 = (PATIENCE * START_NS) as u64;

/// How long an answer is waited for in a cell that may take `hurry_ns`, in nanoseconds. The request
/// is for `size` tasks and takes `known_ns`, as far as the row has shown by earlier answers.
pub(crate) fn patience_ns(hurry_ns: u64, size: u64, known_ns: Option<f64>, jit: bool) -> u64 {
    let expected_ns = known_ns.unwrap_or(size as f64 * TASK_NS) + START_NS;
    let least_ns = if jit { PATIENCE_JIT_NS } else { 0 };
    hurry_ns.max((PATIENCE * expected_ns) as u64).max(least_ns)
}

/// The resolved limits of one suite: those of the command line, or else of the suite, or else the
/// defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The most rounds of a cell.
    pub samples: u64,
    /// The most time for one cell, in nanoseconds.
    pub max_time_ns: u64,
    /// The most time for the whole suite, in nanoseconds. Cells share what is left of it.
    pub budget_ns: Option<u64>,
    /// Half-width of the intervals to reach, as a share; 0 never stops early.
    pub precision: f64,
    /// How long one sample should last, in nanoseconds.
    pub sample_ns: u64,
    /// How long it should last where code is compiled while it runs, or where several threads do
    /// the work. A collector, and threads that come and go, make such samples uneven.
    pub uneven_sample_ns: u64,
    /// How long one answer may take before the probe counts as hung, in nanoseconds.
    pub timeout_ns: u64,
    /// How long a cell may take by the user's own word, in nanoseconds. A row that has not answered
    /// is then not waited for much longer.
    pub hurry_ns: Option<u64>,
    /// Whether a cell ends with its time, counting included, even where rows have no figure then:
    /// the user has said how long it may take.
    pub is_bound: bool,
    /// Rounds between restarts of all probes; 0 never restarts. Intervals rest on processes, so
    /// this many rounds make one observation.
    pub restart_every: u64,
    /// The most warm-up samples of a process after a row's first, for code that is not compiled
    /// while it runs. With 0 such code is not warmed up at all, beyond its pilot.
    pub restart_warmup: u64,
    /// Whether the suite is measured for growth, and ends where that of every series is certain.
    pub until_graded: bool,
    /// Whether further sizes are measured where they would show growth that the planned ones do
    /// not.
    pub adds_sizes: bool,
    /// Whether what a collector could explain of growth is counted, once times are measured: the
    /// bytes that series allocate, and collections.
    pub counts_growth: bool,
    /// Where an old side judges the rows: the confidence of each of their intervals, corrected for
    /// their number. Only the width of ratios can then end a cell, not that of the figures
    /// themselves.
    pub judged_at: Option<f64>,
}

/// Rows that are judged by an old side get 50 turns of fresh processes, of eight rounds each, with
/// samples of 4 ms.
///
/// Samples are short so that a neighbour who comes and goes meets both sides alike. Beside a
/// compiler and two loops, on two CPUs, ln ratios of adjacent pieces of one asyncio process varied
/// by 4 to 5 % (robust) for pieces of 0.5 to 9 ms, and by 21 % for pieces of 17 and 35 ms. Starting
/// a process and warming it up costs as much as some twenty such rounds, and one process differs
/// from another besides (docs/evidence/comparisons.md). Both sides are as cold as each other, so
/// one to three warm-up samples of code that is not compiled are enough: two to four took a quarter
/// of Go's time.
pub const JUDGED: suite::LimitsAsked = suite::LimitsAsked {
    samples: Some(suite::JUDGED_ROUNDS),
    max_time_s: Some(60.0),
    budget_s: None,
    precision: None,
    sample_ms: Some(4.0),
    timeout_s: None,
    restart_every: Some(8),
    restart_warmup: Some(2),
};

/// Samples of rows that are judged by an old side, where they are uneven. Beside two busy loops on
/// two CPUs, medians of eight samples of identical code differed, process by process, by 15 %
/// (Node) and 19 % (Go) where each lasted 4 ms, by 8 and 11 % at 12 ms, and by 5 and 9 % at 30 ms:
/// Node collects in one sample of 4 ms and not in the next. With 30 ms five to seven pairs fit into
/// 15 s there, and a verdict needs six at least. asyncio and tokio on one thread gain nothing, and
/// lose pairs (docs/evidence/comparisons.md).
pub const UNEVEN_SAMPLE_NS: u64 = 10_000_000;

impl Default for Limits {
    /// A cell ends at 100 rounds, 30 s or 1 %. Samples last 20 ms: samples of 50 ms resolved 1 % in
    /// CPU time in 20 rounds, and samples of 2 ms needed 52 (docs/evidence/processes.md).
    ///
    /// Every block of two mirrored rounds has fresh processes: processes of the same code differ by
    /// more than rounds of one process do (METHODOLOGY.md, "Processes"). Three warm-up samples are
    /// enough to agree where the first process did. Noisy rows would otherwise spend their time on
    /// warm-up: in suite `quick` twenty samples at each restart left five processes where three
    /// leave ten.
    fn default() -> Self {
        Limits {
            samples: 100,
            max_time_ns: 30_000_000_000,
            budget_ns: None,
            precision: 0.01,
            sample_ns: 20_000_000,
            uneven_sample_ns: 0,
            timeout_ns: 60_000_000_000,
            hurry_ns: None,
            is_bound: false,
            restart_every: 2,
            restart_warmup: 3,
            until_graded: false,
            adds_sizes: false,
            counts_growth: false,
            judged_at: None,
        }
    }
}

impl Limits {
    /// These limits, overlaid with the values that `asked` names.
    pub fn overlaid(mut self, asked: &suite::LimitsAsked) -> Self {
        let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
        if let Some(samples) = asked.samples {
            self.samples = samples;
        }
        if let Some(seconds) = asked.max_time_s {
            self.max_time_ns = ns(seconds);
        }
        if let Some(seconds) = asked.budget_s {
            self.budget_ns = Some(ns(seconds));
        }
        if let Some(share) = asked.precision {
            self.precision = share;
        }
        if let Some(milliseconds) = asked.sample_ms {
            (self.sample_ns, self.uneven_sample_ns) = (ns(milliseconds / 1e3), 0);
        }
        if let Some(seconds) = asked.timeout_s {
            self.timeout_ns = ns(seconds);
        }
        if let Some(rounds) = asked.restart_every {
            self.restart_every = rounds;
        }
        if let Some(samples) = asked.restart_warmup {
            self.restart_warmup = samples;
        }
        self
    }

    /// These limits, overlaid with [`JUDGED`] and with [`UNEVEN_SAMPLE_NS`].
    pub fn judged(self) -> Self {
        Limits { uneven_sample_ns: UNEVEN_SAMPLE_NS, ..self.overlaid(&JUDGED) }
    }

    /// The time of a cell that has had `spent_ns`, after the suite has run for `elapsed_ns`: with
    /// what it has had, its `share` of what is left of the budget. A share that is no number, since
    /// nothing is left to measure, counts as all of it.
    pub fn cell_time_ns(&self, elapsed_ns: u64, spent_ns: u64, share: f64) -> u64 {
        let Some(budget) = self.budget_ns else { return self.max_time_ns };
        let share = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
        let left_ns = (budget.saturating_sub(elapsed_ns) as f64 * share) as u64;
        self.max_time_ns.min(spent_ns.saturating_add(left_ns))
    }

    /// The budget of what is timed, where the cells of the suite have turns within it. Without a
    /// budget, or where processes are never replaced, each cell has its time in one go.
    pub fn turns(&self) -> Option<u64> {
        let share = if self.counts_growth { TIMED } else { 1.0 };
        let budget_ns = self.budget_ns.filter(|&ns| ns < u64::MAX && self.restart_every > 0)?;
        Some((budget_ns as f64 * share) as u64)
    }

    /// Whether a process goes on from one size of a table to the next, unless its code is compiled
    /// while it runs: where growth is measured in turns.
    pub fn carries(&self) -> bool {
        self.until_graded && self.turns().is_some() && self.judged_at.is_none()
    }

    /// The weight of a row at a size: roughly the nanoseconds that one process with one sample of
    /// it takes. A tenfold error changes only how a budget is divided.
    pub fn weight(&self, size: u64) -> f64 {
        START_NS + (self.sample_ns as f64).max(size as f64 * TASK_NS)
    }

    /// What rows that fail may take of a cell, in nanoseconds. Those that have not been asked by
    /// then are not asked.
    pub fn lost_ns(&self) -> u64 {
        self.max_time_ns.max(LEAST_LOST_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_shared_by_the_cells_that_are_left() {
        let limits = Limits { max_time_ns: 100, budget_ns: Some(300), ..Limits::default() };
        assert_eq!(limits.cell_time_ns(0, 0, 0.5), 100, "the cell's own limit is the lower one");
        assert_eq!(limits.cell_time_ns(0, 0, 1.0 / 6.0), 50);
        assert_eq!(limits.cell_time_ns(290, 0, 1.0), 10);
        assert_eq!(limits.cell_time_ns(290, 70, 1.0), 80, "with what it has had");
        assert_eq!(limits.cell_time_ns(400, 0, 0.3), 0, "a spent budget leaves nothing");
        assert_eq!(limits.cell_time_ns(290, 0, f64::NAN), 10, "nothing is left to measure");
    }

    #[test]
    fn an_answer_is_waited_for_as_long_as_the_cell_may_take_or_twenty_times_what_it_takes() {
        let second = 1_000_000_000;
        assert_eq!(patience_ns(30 * second, 10, None, false), 30 * second);
        assert_eq!(patience_ns(second, 0, None, false), 2 * second, "a process comes up");
        assert_eq!(patience_ns(second, 1_000_000, None, false), 32 * second, "of a million tasks");
        assert_eq!(patience_ns(second, 0, Some(400e6), false), 10 * second, "by an earlier answer");
        assert_eq!(patience_ns(second, 0, None, true), 5 * second, "code is compiled first");
    }

    #[test]
    fn what_is_asked_goes_over_the_defaults() {
        let asked =
            suite::LimitsAsked { samples: Some(7), max_time_s: Some(1.5), ..suite::LimitsAsked::default() };
        let limits = Limits::default().overlaid(&asked);
        assert_eq!((limits.samples, limits.max_time_ns), (7, 1_500_000_000));
        assert_eq!(limits.precision, Limits::default().precision);
    }
}
