//! The ratio of two rows that were measured side by side, round by round.
//!
//! Drift and neighbours disturb both sides of a round alike and cancel in ln(b / a). The interval
//! of [`signed_rank`] judges the rest. On identical code, blocked comparisons (all of A, then all
//! of B) gave 42 to 82 % false alarms at a nominal 5 %, and random mirrored blocks of paired rounds
//! gave 4 to 5 % (docs/evidence/processes.md).

use crate::{
    aligned_rank::{self, Triple},
    independent::independent,
    quantile::sorted,
    signed_rank::{self, centre},
};

/// ln(b / a) of each round, in the order of the rounds. It is `None` where the slices differ in
/// length or a value is not positive and finite. O(n).
///
/// One zero makes the whole comparison `None`. It says that the clock is too coarse for this row,
/// and leaving out just the fastest rounds would flatter the row.
pub fn log_ratios(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    if a.len() != b.len() {
        return None;
    }
    let usable = |x: f64| x > 0.0 && x.is_finite();
    a.iter().zip(b).map(|(&a, &b)| (usable(a) && usable(b)).then(|| b.ln() - a.ln())).collect()
}

/// The ratio b / a without an interval, for rounds too few to have one. It is `None` where
/// [`log_ratios`] is, and for an empty sample. O(n log n).
pub fn ratio(a: &[f64], b: &[f64]) -> Option<f64> {
    centre(&sorted(&log_ratios(a, b)?)).map(f64::exp)
}

/// The triple of each process: medians over its rounds of ln b and the two ln a, each less the mean
/// of the round's three. What disturbs a round as a whole is gone then.
fn triples(processes: &[u64], a: [&[f64]; 2], b: &[f64]) -> Option<Vec<Triple>> {
    let (first, second) = (log_ratios(b, a[0])?, log_ratios(b, a[1])?);
    let part = |of: &dyn Fn(f64, f64) -> f64| {
        let values: Vec<f64> = first
            .iter()
            .zip(&second)
            .map(|(&first, &second)| of(first, second) - (first + second) / 3.0)
            .collect();
        independent(processes, &values)
    };
    let (own, others) = (part(&|_, _| 0.0), [part(&|first, _| first), part(&|_, second| second)]);
    Some((0..own.len()).map(|at| [own[at], others[0][at], others[1][at]]).collect())
}

/// The factor by which b differs from a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRatio {
    /// exp of the [`centre`] of ln(b / a). Above 1, b costs more.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The number of observations behind it: rounds, or processes.
    pub n: usize,
    /// Half the width of the interval of ln(b / a); 0.01 is about 1 %. A stop rule may see nothing
    /// else.
    pub half_width: f64,
}

impl PairedRatio {
    /// The ratio of values paired by position, with the interval at `confidence`. It is `None`
    /// where there are too few rounds (fewer than 6 at 95 %) and where [`log_ratios`] is. O(n log
    /// n).
    ///
    /// ```
    /// use taskscale_stats::paired::PairedRatio;
    /// let a = [100.0, 110.0, 90.0, 105.0, 95.0, 100.0];
    /// let b = a.map(|x| 1.5 * x);
    /// let paired = PairedRatio::of(&a, &b, 0.95).expect("six rounds");
    /// assert!((paired.ratio - 1.5).abs() < 1e-12 && paired.excludes_one());
    /// ```
    pub fn of(a: &[f64], b: &[f64], confidence: f64) -> Option<Self> {
        Self::of_logs(&log_ratios(a, b)?, confidence)
    }

    /// Like [`PairedRatio::of`], but the rounds of one process (by its number) count as one
    /// observation; see [`independent`](mod@crate::independent). `n` is then the number of
    /// processes.
    pub fn of_processes(processes: &[u64], a: &[f64], b: &[f64], confidence: f64) -> Option<Self> {
        Self::of_logs(&independent(processes, &log_ratios(a, b)?), confidence)
    }

    /// Like [`PairedRatio::of_processes`], for `b` against two rows of the same code, by
    /// [`aligned_rank`]. `None` where the slices differ in length, a value is not positive and
    /// finite, or the processes are too few ([`aligned_rank::fewest`]).
    pub fn of_three(processes: &[u64], a: [&[f64]; 2], b: &[f64], confidence: f64) -> Option<Self> {
        let triples = triples(processes, a, b)?;
        let (low, high) = aligned_rank::interval(&triples, confidence)?;
        Some(Self::between(aligned_rank::centre(&triples)?, (low, high), triples.len()))
    }

    fn of_logs(logs: &[f64], confidence: f64) -> Option<Self> {
        let logs = sorted(logs);
        Some(Self::between(centre(&logs)?, signed_rank::interval(&logs, confidence)?, logs.len()))
    }

    fn between(log: f64, (low, high): (f64, f64), n: usize) -> Self {
        let half_width = (high - low) / 2.0;
        PairedRatio { ratio: log.exp(), low: low.exp(), high: high.exp(), n, half_width }
    }

    /// Whether the interval says that the two differ.
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The smallest difference that this comparison could tell, as a share (0.013 is 1.3 %).
    pub fn smallest_difference(&self) -> f64 {
        self.half_width.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_cancels() {
        // The machine slows down threefold during the run; b is 2 % slower in every round.
        let a: Vec<f64> = (0..30).map(|i| 100.0 * (1.0 + f64::from(i) / 15.0)).collect();
        let b: Vec<f64> = a.iter().map(|a| 1.02 * a).collect();
        let paired = PairedRatio::of(&a, &b, 0.95).expect("enough rounds");
        assert!((paired.low - 1.02).abs() < 1e-9 && (paired.high - 1.02).abs() < 1e-9);
        assert_eq!(paired.n, 30);
    }

    #[test]
    fn three_rows_are_compared_process_by_process_and_drift_cancels() {
        // Six processes of three rounds; the machine slows down, and every third round is a wild
        // one.
        let drift = |round: usize| 100.0 * (1.0 + round as f64) * if round % 3 == 2 { 9.0 } else { 1.0 };
        let wobble = |round: usize, row: usize| 1.0 + 0.001 * ((round / 3 * 7 + row * 5) % 11) as f64;
        let of = |row: usize, factor: f64| -> Vec<f64> {
            (0..18).map(|round| factor * drift(round) * wobble(round, row)).collect()
        };
        let processes: Vec<u64> = (0..18).map(|round| round / 3).collect();
        let (a, control, b) = (of(0, 1.0), of(1, 1.0), of(2, 1.2));
        let three = PairedRatio::of_three(&processes, [&a, &control], &b, 0.99).expect("six processes");
        assert_eq!(three.n, 6);
        assert!(three.low > 1.18 && three.ratio > three.low && three.ratio < three.high && three.high < 1.22);
        assert_eq!(
            PairedRatio::of_processes(&processes, &a, &b, 0.99),
            None,
            "eight are needed for two rows"
        );
        assert_eq!(PairedRatio::of_three(&processes, [&a, &control[1..]], &b, 0.99), None);
        assert_eq!(PairedRatio::of_three(&processes, [&a, &[0.0; 18]], &b, 0.99), None, "a clock too coarse");
    }

    #[test]
    fn the_interval_is_of_the_signed_ranks() {
        // The ln ratios are 0.01, 0.02 ... 0.20. At n = 20 the interval runs from the 53rd of the
        // 210 Walsh averages to the 158th.
        let a = [1.0; 20];
        let b: Vec<f64> = (1..=20).map(|i| (f64::from(i) / 100.0).exp()).collect();
        let paired = PairedRatio::of(&a, &b, 0.95).expect("enough rounds");
        assert!((paired.low.ln() - 0.075).abs() < 1e-12);
        assert!((paired.high.ln() - 0.135).abs() < 1e-12);
        assert!((paired.ratio.ln() - 0.105).abs() < 1e-12);
        assert!((paired.half_width - 0.03).abs() < 1e-12);
        assert!((paired.smallest_difference() - (0.03_f64.exp() - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn a_process_is_one_observation() {
        // Ten processes have four rounds each. b is the same code, but each process has a bias of
        // its own, up or down.
        let bias = |process: u64| if process.is_multiple_of(2) { 1.02 } else { 0.98 };
        let processes: Vec<u64> = (0..40).map(|round| round / 4).collect();
        let b: Vec<f64> = processes.iter().map(|&process| bias(process)).collect();
        let paired = PairedRatio::of_processes(&processes, &[1.0; 40], &b, 0.95).expect("ten processes");
        assert_eq!(paired.n, 10);
        assert!(!paired.excludes_one(), "{paired:?}");
        // Three processes give no interval at all, however many rounds they have.
        assert_eq!(PairedRatio::of_processes(&processes[..12], &[1.0; 12], &b[..12], 0.95), None);
    }

    #[test]
    fn what_cannot_be_compared_is_none() {
        assert_eq!(PairedRatio::of(&[1.0; 5], &[1.0; 5], 0.95), None, "too few");
        assert_eq!(PairedRatio::of(&[1.0; 8], &[1.0; 7], 0.95), None, "lengths");
        let mut b = [1.0; 8];
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            b[3] = bad;
            assert_eq!(PairedRatio::of(&[1.0; 8], &b, 0.95), None, "{bad}");
        }
        assert_eq!(ratio(&[2.0; 3], &[4.0; 3]), Some(2.0));
    }
}
