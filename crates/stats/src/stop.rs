//! When a cell has been measured enough.
//!
//! An observation is what an interval rests on: a round, or a process where each takes several
//! rounds.
//!
//! The rule sees how wide the intervals are and never what they say. Stopping when a difference
//! becomes significant gave 31 % false alarms at a nominal 5 %; stopping on the width gave 6.8 %
//! from 10 rounds (simulation, docs/evidence/processes.md). No estimate, sign or p-value can reach
//! [`Rule::decide`]: its signature has no place for one.

/// Observations before the width may end a cell. From 10 on, the width rule still had its small
/// excess of false alarms.
pub const MIN_OBSERVATIONS: usize = 15;
/// Observations between two looks at the widths. Each look is a chance to stop on a lucky width.
pub const LOOK_EVERY: usize = 5;

/// Observations before its own width may end a row, while others of its cell go on. Of 4,000
/// simulated rows that ended so at most 5.6 % had an interval of the sign test that missed the
/// median, and at most 6.1 % one of the signed ranks that missed the centre, whatever the spread of
/// processes (test `a_row_that_ends_alone_keeps_its_coverage`).
pub const ROW_OBSERVATIONS: usize = 12;

/// What ends the rounds of a cell. The caller watches the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Half-width to reach, in ln units: 0.01 is about 1 %. `None` measures all rounds.
    pub precision: Option<f64>,
    /// The most rounds of a cell.
    pub max_rounds: usize,
}

/// What to do after a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Take another round.
    Continue,
    /// All intervals are as narrow as `precision` asks.
    Precise,
    /// The cell has `max_rounds` rounds.
    RoundLimit,
}

impl Rule {
    /// Whether the widths are looked at after `observations` observations: the 15th, 20th, 25th ...
    /// . O(1).
    pub fn is_look(&self, observations: usize) -> bool {
        self.precision.is_some()
            && observations >= MIN_OBSERVATIONS
            && (observations - MIN_OBSERVATIONS).is_multiple_of(LOOK_EVERY)
    }

    /// Decides after `rounds` whole rounds with `observations` observations, from the half-width of
    /// each interval of the cell (`None` for one that does not exist yet). O(rows).
    ///
    /// ```
    /// use taskscale_stats::stop::{Decision, Rule};
    /// let rule = Rule { precision: Some(0.01), max_rounds: 100 };
    /// assert_eq!(rule.decide(15, 15, &[Some(0.009), Some(0.02)]), Decision::Continue);
    /// assert_eq!(rule.decide(20, 20, &[Some(0.008), Some(0.01)]), Decision::Precise);
    /// ```
    pub fn decide(&self, rounds: usize, observations: usize, half_widths: &[Option<f64>]) -> Decision {
        if rounds >= self.max_rounds {
            return Decision::RoundLimit;
        }
        let narrow =
            |width: &Option<f64>| width.is_some_and(|width| self.precision.is_some_and(|p| width <= p));
        // A cell without intervals says nothing about precision.
        if self.is_look(observations) && !half_widths.is_empty() && half_widths.iter().all(narrow) {
            return Decision::Precise;
        }
        Decision::Continue
    }

    /// Whether a row with `observations` observations and these half-widths (its own, and that of
    /// its ratio where it has a baseline) is measured enough, whatever the others are. O(1).
    ///
    /// ```
    /// use taskscale_stats::stop::Rule;
    /// let rule = Rule { precision: Some(0.08), max_rounds: 100 };
    /// assert!(rule.ends_row(12, [Some(0.05), Some(0.08)]));
    /// assert!(!rule.ends_row(12, [Some(0.05), Some(0.3)]));
    /// assert!(!rule.ends_row(11, [Some(0.05)]));
    /// ```
    pub fn ends_row(&self, observations: usize, half_widths: impl IntoIterator<Item = Option<f64>>) -> bool {
        let Some(precision) = self.precision.filter(|_| observations >= ROW_OBSERVATIONS) else {
            return false;
        };
        half_widths.into_iter().all(|width| width.is_some_and(|width| width <= precision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{confidence::CONFIDENCE, quantile::sorted, sign::sign_interval, signed_rank};

    /// How the interval of a sample in ascending order is made.
    type Interval = fn(&[f64], f64) -> Option<(f64, f64)>;

    const RULE: Rule = Rule { precision: Some(0.01), max_rounds: 40 };

    #[test]
    fn narrow_intervals_stop_only_at_looks() {
        let stops: Vec<usize> = (1..40)
            .filter(|&rounds| RULE.decide(rounds, rounds, &[Some(0.0)]) == Decision::Precise)
            .collect();
        assert_eq!(stops, [15, 20, 25, 30, 35]);
    }

    #[test]
    fn one_wide_or_absent_interval_goes_on() {
        for widths in [&[Some(0.001), Some(0.011)][..], &[Some(0.001), None], &[Some(f64::NAN)], &[]] {
            assert_eq!(RULE.decide(20, 20, widths), Decision::Continue, "{widths:?}");
        }
    }

    /// Processes of a row are drawn around 0 until its interval is narrow or there are 22 of them.
    /// The share of 4,000 rows whose interval misses 0.
    fn missed(spread: f64, interval: Interval) -> f64 {
        let rule = Rule { precision: Some(0.08), ..RULE };
        let mut rng = fastrand::Rng::with_seed(1);
        let mut drawn = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        let misses = (0..4000).filter(|_| {
            let mut row: Vec<f64> = Vec::new();
            loop {
                row.push(spread * drawn());
                let interval = interval(&sorted(&row), CONFIDENCE);
                let width = interval.map(|(low, high)| (high - low) / 2.0);
                if row.len() == 22 || rule.ends_row(row.len(), [width]) {
                    return interval.is_none_or(|(low, high)| low > 0.0 || high < 0.0);
                }
            }
        });
        misses.count() as f64 / 4000.0
    }

    #[test]
    fn a_row_that_ends_alone_keeps_its_coverage() {
        for spread in [0.03, 0.08, 0.12, 0.15, 0.2, 0.3] {
            let intervals =
                [("sign", sign_interval as Interval, 0.06), ("signed", signed_rank::interval, 0.062)];
            for (name, interval, most) in intervals {
                let missed = missed(spread, interval);
                assert!(missed <= most, "{name}: {missed} of spread {spread}");
            }
        }
    }

    #[test]
    fn the_round_limit_holds_without_precision() {
        let rule = Rule { precision: None, ..RULE };
        assert_eq!(rule.decide(39, 39, &[Some(0.0)]), Decision::Continue);
        assert_eq!(rule.decide(40, 40, &[]), Decision::RoundLimit);
    }
}
