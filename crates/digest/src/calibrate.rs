//! Finds the line between dispatch and idleness from the run's own gaps.
//!
//! A runtime that has work for a worker hands it over after a gap that depends on the runtime, so
//! these gaps crowd around one value. A worker without work waits for as long as the program makes
//! it. Dispatch is therefore the *first* crowd of the histogram of gaps, with all gaps of at most
//! 16 times its length.

use crate::{
    grid::{GAP_CLASSES, gap_class_end},
    histogram::{Histogram, lower_edge},
    observed::Observed,
};

/// The number of gaps from which on a crowd has a cost.
const ENOUGH: u64 = 16;

/// What the gaps show of dispatch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispatch {
    /// Gap classes below this one are dispatch.
    pub classes: usize,
    /// Gaps shorter than this are dispatch.
    pub limit_ns: u64,
    /// The mean gap of the crowd. `None` if there are too few gaps to call them a crowd.
    pub cost_ns: Option<f64>,
    /// The number of gaps that count as dispatch.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// The part of it that observing took.
    pub observer_ns: u64,
}

impl Dispatch {
    /// No gap is dispatch.
    pub const NONE: Dispatch =
        Dispatch { classes: 0, limit_ns: 0, cost_ns: None, count: 0, sum_ns: 0, observer_ns: 0 };

    /// The mean of the gaps that count as dispatch, without the observer's part; 0 if there are
    /// none.
    pub fn mean_ns(&self) -> f64 {
        (self.sum_ns - self.observer_ns) as f64 / self.count.max(1) as f64
    }

    /// Notes what observing took: a part of each gap before a timed task, and of all together.
    pub fn observed(mut self, observed: &Observed) -> Self {
        let Observed { of_gap_ns, untimed, asked_ns, .. } = *observed;
        let timed = self.count.saturating_sub(untimed);
        self.observer_ns = timed.saturating_mul(of_gap_ns).saturating_add(asked_ns).min(self.sum_ns);
        self
    }

    /// What observing took of a gap, on average.
    pub fn observing_ns(&self) -> f64 {
        self.observer_ns as f64 / self.count.max(1) as f64
    }

    /// The mean gap of the crowd without the observer's part.
    pub fn runtimes_cost_ns(&self) -> Option<f64> {
        self.cost_ns.map(|cost| (cost - self.observing_ns()).max(0.0))
    }
}

/// Reads the gaps. Those of up to `reach` times the cost are dispatch. A cost below the clock's
/// step cannot be told from one of a step. O(buckets).
pub fn dispatch(gaps: &Histogram, reach: f64, resolution_ns: u64) -> Dispatch {
    let octaves: Vec<u64> = (0..64).map(|octave| octave_count(gaps, octave)).collect();
    let enough = (gaps.count() / 100).max(4);
    // The crowd is the first octave that holds one gap in a hundred and is not exceeded by the
    // octave above. With W workers at a barrier, one gap in W is dispatch and the others are
    // waiting. An octave that the one below exceeds cannot be the first.
    let crowd = (0..64).find(|octave| {
        octaves[*octave] >= enough && (*octave == 63 || octaves[*octave] >= octaves[octave + 1])
    });
    let floor = gaps.quantile(0.01).max(resolution_ns).max(1);
    let (from, to) = match crowd {
        // A crowd far above the shortest gaps does not consist of hand-overs. Those gaps are waits,
        // and waits differ in length.
        Some(octave) if floor >= 1 << octave >> 3 && 2u64 << octave > resolution_ns => {
            ((1u64 << octave) / 2, (1u64 << octave).saturating_mul(4))
        }
        _ if floor <= resolution_ns => (0, floor.saturating_mul(2)),
        _ => (floor / 2, floor.saturating_mul(2)),
    };
    let cost_ns = (gaps.count() >= ENOUGH).then(|| mean_between(gaps, from, to));
    let reach = (cost_ns.unwrap_or(floor as f64).max(resolution_ns as f64).max(1.0) * reach) as u64;
    // The class that ends nearest to the reach, by ratio. It is at most a factor of two off.
    let classes =
        (1..=GAP_CLASSES).find(|classes| gap_class_end(classes - 1) * 2 > reach).unwrap_or(GAP_CLASSES);
    let limit_ns = gap_class_end(classes - 1);
    let (count, sum_ns) = gaps.below(limit_ns);
    Dispatch { classes, limit_ns, cost_ns, count, sum_ns, observer_ns: 0 }
}

fn octave_count(gaps: &Histogram, octave: usize) -> u64 {
    let (from, to) = (1u64 << octave, if octave == 63 { u64::MAX } else { 2u64 << octave });
    let from = if octave == 0 { 0 } else { from };
    counts_between(gaps, from, to)
}

fn counts_between(gaps: &Histogram, from: u64, to: u64) -> u64 {
    let inside = |index: &usize| lower_edge(*index) >= from && lower_edge(*index) < to;
    (0..gaps.counts().len()).filter(inside).map(|index| u64::from(gaps.counts()[index])).sum()
}

/// The mean of the values between two powers of two, exact.
fn mean_between(gaps: &Histogram, from: u64, to: u64) -> f64 {
    let (from, to) = (from.max(1).next_power_of_two(), to.clamp(2, 1 << 62).next_power_of_two());
    let (above_count, above_sum) = gaps.below(to);
    let (below_count, below_sum) = if from == 1 { (0, 0) } else { gaps.below(from) };
    let count = above_count - below_count;
    if count == 0 { 0.0 } else { above_sum.saturating_sub(below_sum) as f64 / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = u64>) -> Dispatch {
        let mut gaps = Histogram::default();
        values.for_each(|value| gaps.add(value));
        dispatch(&gaps, 16.0, 1)
    }

    #[test]
    fn hand_overs_are_told_from_waits() {
        // 750 waits of 100 us to 1 ms and 250 hand-overs of 800 to 1,200 ns, as a barrier on four
        // workers makes them.
        let found =
            of((0..1_000).map(|i| if i % 4 == 0 { 800 + i * 400 / 1_000 } else { 100_000 + i * 900 }));
        assert_eq!(found.count, 250);
        assert!((found.cost_ns.expect("enough gaps") - 1_000.0).abs() < 50.0, "{found:?}");
    }

    #[test]
    fn waits_of_all_lengths_have_no_crowd() {
        let found = of((1..10_000).map(|i| i * 100));
        assert!(found.sum_ns * 5 < (1..10_000u64).map(|i| i * 100).sum::<u64>(), "{found:?}");
    }

    #[test]
    fn observing_is_no_scheduling_cost() {
        let found = of(std::iter::repeat_n(70, 100));
        let observed = |of_gap_ns, untimed, asked_ns| {
            found.observed(&Observed { of_gap_ns, untimed, asked_ns, ..Observed::default() })
        };
        let all_timed = observed(21, 0, 0);
        assert_eq!((all_timed.observer_ns, all_timed.mean_ns()), (2_100, 49.0));
        assert_eq!(all_timed.runtimes_cost_ns(), Some(49.0));
        assert_eq!(all_timed.sum_ns, found.sum_ns, "they are dispatch of the observed run");
        assert_eq!(observed(21, 90, 0).observer_ns, 210);
        assert_eq!(observed(21, 90, 700).observer_ns, 910, "questions to the kernel");
        assert_eq!(observed(21, 101, 0).observer_ns, 0);
        let slow = observed(100, 0, 0);
        assert_eq!((slow.mean_ns(), slow.runtimes_cost_ns()), (0.0, Some(0.0)));
    }

    #[test]
    fn a_few_gaps_have_no_cost() {
        assert_eq!(of(std::iter::repeat_n(1_000, 15)).cost_ns, None);
        assert_eq!(of(std::iter::repeat_n(1_000, 16)).cost_ns, Some(1_000.0));
        assert_eq!(of(std::iter::empty()).count, 0);
    }
}
