//! Pairs two rows round by round. Measuring stops by such pairs, and reports are made from them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    aligned_rank,
    confidence::{CONFIDENCE, among},
    independent::independent,
    paired::{self, PairedRatio},
    sign, signed_rank,
};

/// A value of a row, with the round and the process that it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    pub round: u64,
    pub process: u64,
    pub value: f64,
}

/// The rounds in which both a row (`b`) and its baseline (`a`) have a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rounds {
    numbers: Vec<u64>,
    processes: Vec<u64>,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Of the rounds in which a control has a value too.
    three: Option<Box<Three>>,
    /// Whether the rounds of one process never count as more than one observation.
    is_fresh: bool,
}

/// The rounds of a row, its baseline, and a control that is the baseline again.
#[derive(Debug, Clone, PartialEq)]
struct Three {
    processes: Vec<u64>,
    a: [Vec<f64>; 2],
    b: Vec<f64>,
}

impl Rounds {
    /// Pairs the values by their rounds, in the order of the rounds. Several values of one row in a
    /// round count as their mean. Processes are those of `b`. O(n log n).
    ///
    /// ```
    /// use taskscale_stats::rounds::{Rounds, Timed};
    /// let of = |values: &[(u64, f64)]| {
    ///     values.iter().map(|(round, value)| Timed { round: *round, process: *round, value: *value }).collect::<Vec<_>>()
    /// };
    /// let rounds = Rounds::of(of(&[(0, 1.0), (1, 2.0), (3, 4.0)]), of(&[(1, 6.0), (2, 9.0), (3, 12.0)]));
    /// assert_eq!(rounds.n(), 2);
    /// assert!(rounds.ratio().is_some_and(|ratio| (ratio - 3.0).abs() < 1e-9));
    /// ```
    pub fn of(a: impl IntoIterator<Item = Timed>, b: impl IntoIterator<Item = Timed>) -> Self {
        let (a, b) = (by_round(a), by_round(b));
        let mut rounds = Rounds::default();
        for (round, (process, value)) in b {
            if let Some((_, base)) = a.get(&round) {
                rounds.numbers.push(round);
                rounds.processes.push(process);
                rounds.a.push(*base);
                rounds.b.push(value);
            }
        }
        rounds
    }

    /// The same where processes are replaced by fresh ones: the rounds of the only process so far
    /// are one observation, since they share its memory layout. Without this they count one by one.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.is_fresh = true;
        self
    }

    /// These rounds with those of a control, the same code as `a` measured once more. The interval
    /// then rests on both ([`aligned_rank`]), unless a process has no round that the control has
    /// too.
    #[must_use]
    pub fn beside(mut self, control: impl IntoIterator<Item = Timed>) -> Self {
        let control = by_round(control);
        let of = |at: &usize| control.get(&self.numbers[*at]).map(|(_, value)| *value);
        let places: Vec<usize> = (0..self.n()).filter(|at| of(at).is_some()).collect();
        let pick = |values: &[f64]| places.iter().map(|&at| values[at]).collect::<Vec<f64>>();
        let three = Three {
            processes: places.iter().map(|&at| self.processes[at]).collect(),
            a: [pick(&self.a), places.iter().filter_map(of).collect()],
            b: pick(&self.b),
        };
        let all: BTreeSet<&u64> = self.processes.iter().collect();
        let kept: BTreeSet<&u64> = three.processes.iter().collect();
        self.three = (!all.is_empty() && all == kept).then(|| Box::new(three));
        self
    }

    /// The fewest observations for an interval at `confidence`. Beside a control they are no fewer
    /// than any interval at 95 % has, by which the control is judged.
    pub fn fewest(&self, confidence: f64) -> usize {
        fewest(self.three.is_some(), confidence)
    }

    /// The number of paired rounds.
    pub fn n(&self) -> usize {
        self.a.len()
    }

    /// The number of observations that an interval rests on: processes, or rounds where all are of
    /// one process.
    pub fn observations(&self) -> usize {
        match self.is_fresh {
            true => self.processes.iter().collect::<BTreeSet<_>>().len(),
            false => independent(&self.processes, &self.a).len(),
        }
    }

    /// The ratio b / a: the centre over processes, or over rounds where all are of one process.
    /// Unlike [`Rounds::paired`] it needs no interval.
    pub fn ratio(&self) -> Option<f64> {
        let of_processes = self.paired(CONFIDENCE).map(|paired| paired.ratio);
        of_processes.or_else(|| paired::ratio(&self.a, &self.b))
    }

    /// The ratio with its interval at `confidence`; `None` as for [`PairedRatio::of_processes`], or
    /// beside a control as for [`PairedRatio::of_three`].
    pub fn paired(&self, confidence: f64) -> Option<PairedRatio> {
        if self.is_fresh && self.observations() < self.fewest(confidence) {
            return None;
        }
        let Some(three) = &self.three else {
            return PairedRatio::of_processes(&self.processes, &self.a, &self.b, confidence);
        };
        let [a, control] = &three.a;
        PairedRatio::of_three(&three.processes, [a, control], &three.b, confidence)
            .filter(|paired| paired.n >= self.fewest(confidence))
    }

    /// Whether the rows differ when they are one of `family` comparisons (Bonferroni).
    pub fn differ_among(&self, family: usize) -> bool {
        self.paired(among(family)).is_some_and(|paired| paired.excludes_one())
    }
}

/// The fewest observations of a row, `beside` a control or not, for an interval at `confidence`: 6
/// or 8 at 99 %.
pub fn fewest(beside: bool, confidence: f64) -> usize {
    if beside { aligned_rank::fewest(confidence).max(sign::FEWEST) } else { signed_rank::fewest(confidence) }
}

/// The process and the mean value of each round.
fn by_round(values: impl IntoIterator<Item = Timed>) -> BTreeMap<u64, (u64, f64)> {
    let mut rounds: BTreeMap<u64, (u64, f64, f64)> = BTreeMap::new();
    for Timed { round, process, value } in values {
        let (last, sum, count) = rounds.entry(round).or_default();
        *last = process;
        *sum += value;
        *count += 1.0;
    }
    rounds.into_iter().map(|(round, (process, sum, count))| (round, (process, sum / count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(values: &[(u64, u64, f64)]) -> Vec<Timed> {
        values.iter().map(|&(round, process, value)| Timed { round, process, value }).collect()
    }

    #[test]
    fn rounds_that_one_row_lacks_are_left_out_and_several_values_are_one() {
        let a = timed(&[(3, 1, 4.0), (0, 0, 2.0), (1, 0, 9.0)]);
        let b = timed(&[(0, 0, 10.0), (0, 0, 30.0), (2, 1, 5.0), (3, 1, 40.0)]);
        let rounds = Rounds::of(a, b);
        let (numbers, processes) = (vec![0, 3], vec![0, 1]);
        let (a, b) = (vec![2.0, 4.0], vec![20.0, 40.0]);
        assert_eq!(rounds, Rounds { numbers, processes, a, b, three: None, is_fresh: false });
        assert_eq!((rounds.n(), rounds.observations()), (2, 2));
        assert!(rounds.ratio().is_some_and(|ratio| (ratio - 10.0).abs() < 1e-9));
        assert_eq!(rounds.paired(0.95), None, "two are too few for an interval");
    }

    #[test]
    fn beside_a_control_six_processes_are_enough_unless_one_has_no_round_of_it() {
        let row = |factor: f64, range: std::ops::Range<u64>| {
            range.map(move |at| Timed {
                round: at,
                process: at / 2,
                value: factor * (1.0 + 0.01 * at as f64),
            })
        };
        let alone = Rounds::of(row(1.0, 0..12), row(2.0, 0..12));
        assert_eq!((alone.paired(0.99), alone.fewest(0.99)), (None, 8));
        let beside = alone.clone().beside(row(1.0, 0..12));
        assert_eq!(beside.fewest(0.99), 6);
        assert!(beside.paired(0.99).is_some_and(|paired| paired.n == 6 && (paired.ratio - 2.0).abs() < 0.01));
        assert!(beside.differ_among(1));
        // The control was broken off in the last round, or one process earlier.
        assert!(alone.clone().beside(row(1.0, 0..11)).paired(0.99).is_some());
        assert_eq!(alone.clone().beside(row(1.0, 0..10)), alone);
        assert_eq!(alone.clone().beside([]), alone);
        let five = Rounds::of(row(1.0, 0..10), row(2.0, 0..10)).beside(row(1.0, 0..10));
        assert_eq!(five.paired(0.99), None);
    }

    #[test]
    fn rounds_of_the_only_process_are_one_observation_where_processes_are_fresh() {
        let row = |factor: f64| {
            (0..9).map(move |at| Timed { round: at, process: 0, value: factor * (1.0 + 0.01 * at as f64) })
        };
        let rounds = Rounds::of(row(1.0), row(2.0));
        assert_eq!(rounds.observations(), 9);
        assert!(rounds.paired(0.99).is_some());
        let fresh = rounds.fresh();
        assert_eq!((fresh.observations(), fresh.paired(0.99)), (1, None));
        let beside = fresh.beside(row(1.0));
        assert_eq!((beside.observations(), beside.paired(0.99)), (1, None));
    }

    #[test]
    fn a_difference_must_hold_among_its_family() {
        let row = |factor: f64| {
            (0..8).map(move |at| Timed { round: at, process: at, value: factor * (at + 1) as f64 })
        };
        let rounds = Rounds::of(row(1.0), row(2.0));
        assert!(rounds.differ_among(1) && !rounds.differ_among(1_000));
    }
}
