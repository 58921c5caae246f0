//! How small may a task be? The minimum effective task granularity (METG) of Task Bench (Slaughter
//! et al., SC 2020, arXiv 1908.05790) is the smallest mean core time per task of which a given
//! share is still the task's own work.
//!
//! The sweep varies the work inside the tasks and keeps their number fixed. Each [`Point`] holds
//! what a task's work costs alone and what the task costs. Their ratio is the efficiency.
//!
//! **Between two points** the cost of a task is taken as a straight line in its work. That is
//! exact, however far apart the points are, for an overhead that does not depend on the work or
//! grows in proportion to it. Works may therefore quadruple. Straight lines in efficiency, over
//! granularity (as Task Bench draws them) or over its logarithm, bend the other way: with works
//! that quadruple they are off by up to 14 and 6 % at an efficiency of 50 %, by 51 and 24 % at 95 %
//! (a test holds these).
//!
//! **A curve that is not monotone** is read from its coarse end: the figure is the granularity from
//! which on efficiency holds at every measured point. One lucky fine point does not make tasks of
//! that size worth their overhead. One unlucky coarse point hides the figure, which errs on the
//! safe side.

use std::cmp::Ordering;

use fastrand::Rng;

use crate::quantile::{median, quantile};

/// Tasks of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The cost of a task's work without a task around it.
    pub work: f64,
    /// The cost of the task, its work included, in the same unit: its granularity.
    pub cost: f64,
}

/// The smallest granularity at which an efficiency holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smallest {
    /// The efficiency holds at every point. The value is the smallest measured granularity.
    Below(f64),
    /// The efficiency holds from this granularity on.
    At(f64),
    /// The efficiency does not hold at the largest measured granularity, which is the value.
    Above(f64),
}

/// An interval of [`Smallest`]. An end outside of the measured granularities is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Point {
    /// The share of the cost that is work. Noise may put it above 1.
    pub fn efficiency(self) -> f64 {
        self.work / self.cost
    }
}

impl Smallest {
    fn order(self, other: Smallest) -> Ordering {
        let rank = |one: Smallest| match one {
            Smallest::Below(cost) => (0, cost),
            Smallest::At(cost) => (1, cost),
            Smallest::Above(cost) => (2, cost),
        };
        let ((a, left), (b, right)) = (rank(self), rank(other));
        a.cmp(&b).then(left.total_cmp(&right))
    }

    fn found(self) -> Option<f64> {
        match self {
            Smallest::At(cost) => Some(cost),
            Smallest::Below(_) | Smallest::Above(_) => None,
        }
    }
}

/// The smallest granularity from which on `efficiency` (above 0, at most 1) holds. Points may be in
/// any order. The result is `None` for fewer than two different works, and where a value is not
/// positive and finite. O(n log n).
///
/// ```
/// use taskscale_stats::granularity::{Point, Smallest, smallest};
/// // 100 ns of overhead a task, whatever it does: half of 200 ns is work.
/// let points = [64.0, 256.0, 1024.0].map(|work| Point { work, cost: work + 100.0 });
/// assert_eq!(smallest(&points, 0.5), Some(Smallest::At(200.0)));
/// assert_eq!(smallest(&points, 0.95), Some(Smallest::Above(1124.0)));
/// ```
pub fn smallest(points: &[Point], efficiency: f64) -> Option<Smallest> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    if !points.iter().all(|point| usable(point.work) && usable(point.cost)) {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.work.total_cmp(&b.work));
    points.dedup_by(|a, b| a.work == b.work);
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < 2 {
        return None;
    }
    let Some(fails) = points.iter().rposition(|point| point.efficiency() < efficiency) else {
        return Some(Smallest::Below(first.cost));
    };
    let Some(holds) = points.get(fails + 1) else { return Some(Smallest::Above(last.cost)) };
    Some(Smallest::At(crossing(points[fails], *holds, efficiency)))
}

/// The cost on the line through both points of which `efficiency` is work. The efficiency of
/// `fails` lies below it and that of `holds` does not. Both terms below the fraction line are then
/// at least zero, and the second is above zero.
fn crossing(fails: Point, holds: Point, efficiency: f64) -> f64 {
    let line = fails.cost * holds.work - holds.cost * fails.work;
    line / ((holds.work - efficiency * holds.cost) + (efficiency * fails.cost - fails.work))
}

/// Joins several blocks into one curve. Each block measured all points side by side in processes of
/// its own. A point of the curve has the median cost, and the median of the efficiencies within a
/// block, in which a disturbance of the whole block cancels. Blocks of another length than the
/// first are left out. O(blocks log blocks) for each point.
pub fn pooled(blocks: &[&[Point]]) -> Vec<Point> {
    let Some(first) = blocks.first() else { return Vec::new() };
    let alike: Vec<&&[Point]> = blocks.iter().filter(|block| block.len() == first.len()).collect();
    (0..first.len())
        .filter_map(|index| {
            let costs: Vec<f64> = alike.iter().map(|block| block[index].cost).collect();
            let efficiencies: Vec<f64> = alike.iter().map(|block| block[index].efficiency()).collect();
            let cost = median(&costs)?;
            Some(Point { work: median(&efficiencies)? * cost, cost })
        })
        .collect()
}

/// The interval of what [`smallest`] says of the [`pooled`] blocks, by percentile bootstrap over
/// blocks. Whole blocks are drawn, since what disturbs one point of a block disturbs its
/// neighbours. The result is `None` below `fewest` blocks and where a draw has no figure.
/// O(resamples x blocks x points).
pub fn interval(
    blocks: &[&[Point]],
    efficiency: f64,
    (fewest, confidence): (usize, f64),
    resamples: usize,
    rng: &mut Rng,
) -> Option<Ends> {
    if blocks.len() < fewest.max(1) {
        return None;
    }
    let mut drawn = blocks.to_vec();
    let mut figures: Vec<Smallest> = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        for slot in &mut drawn {
            *slot = blocks[rng.usize(..blocks.len())];
        }
        figures.push(smallest(&pooled(&drawn), efficiency)?);
    }
    figures.sort_unstable_by(|a, b| a.order(*b));
    let places: Vec<f64> = (0..figures.len()).map(|place| place as f64).collect();
    let outside = (1.0 - confidence) / 2.0;
    let end = |p: f64| Some(figures[quantile(&places, p)?.round() as usize].found());
    Some(Ends { low: end(outside)?, high: end(1.0 - outside)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works from `first` on, each four times the one before, with the given overhead.
    fn sweep(first: f64, overhead: impl Fn(f64) -> f64) -> Vec<Point> {
        (0..8).map(|i| first * 4f64.powi(i)).map(|work| Point { work, cost: work + overhead(work) }).collect()
    }

    fn at(points: &[Point], efficiency: f64) -> f64 {
        smallest(points, efficiency).and_then(Smallest::found).expect("within the sweep")
    }

    #[test]
    fn a_constant_overhead_is_found_wherever_the_points_lie() {
        // With overhead o, a share x of the granularity o / (1 - x) is work.
        for first in [50.0, 70.0, 100.0, 140.0, 190.0] {
            for (efficiency, expected) in [(0.5, 600.0), (0.9, 3_000.0), (0.95, 6_000.0)] {
                let found = at(&sweep(first, |_| 300.0), efficiency);
                assert!((found / expected - 1.0).abs() < 1e-9, "{first} {efficiency}: {found}");
            }
        }
    }

    #[test]
    fn an_overhead_in_proportion_to_the_work_is_found_too() {
        // The cost is 1.02 w + 300. It reaches 1 / 0.95 = 1.0526 of the work at w = 300 / 0.0326.
        let found = at(&sweep(100.0, |work| 300.0 + 0.02 * work), 0.95);
        let work = 300.0 / (1.0 / 0.95 - 1.02);
        assert!((found * 0.95 / work - 1.0).abs() < 1e-9, "{found}");
    }

    /// The largest error of an interpolation of the efficiency over `axis` of the granularity, for
    /// works that quadruple.
    fn worst_error(axis: fn(f64) -> f64, back: fn(f64) -> f64, efficiency: f64) -> f64 {
        let expected = 300.0 / (1.0 - efficiency);
        let error = |first: f64| {
            let points = sweep(first, |_| 300.0);
            let fails = points.iter().rposition(|point| point.efficiency() < efficiency).expect("one");
            let (a, b) = (points[fails], points[fails + 1]);
            let part = (efficiency - a.efficiency()) / (b.efficiency() - a.efficiency());
            back(axis(a.cost) + part * (axis(b.cost) - axis(a.cost))) / expected - 1.0
        };
        (0..100).map(|i| error(30.0 * 4f64.powf(f64::from(i) / 100.0)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn straight_lines_in_efficiency_would_be_off_by_as_much_as_is_said_above() {
        let over_log = |efficiency| worst_error(f64::ln, f64::exp, efficiency);
        let over_plain = |efficiency| worst_error(|x| x, |x| x, efficiency);
        for (found, said) in
            [(over_plain(0.5), 0.14), (over_log(0.5), 0.06), (over_plain(0.95), 0.51), (over_log(0.95), 0.24)]
        {
            assert!((found - said).abs() < 0.006, "{found} is said to be {said}");
        }
    }

    #[test]
    fn outside_the_sweep_is_said_so() {
        let points = sweep(1_000.0, |_| 100.0);
        assert_eq!(smallest(&points, 0.5), Some(Smallest::Below(1_100.0)));
        let never = sweep(1_000.0, |work| work);
        assert_eq!(smallest(&never, 0.9), Some(Smallest::Above(2.0 * 1_000.0 * 4f64.powi(7))));
        assert_eq!(smallest(&points[..1], 0.5), None);
        assert_eq!(smallest(&[points[0], Point { work: 1.0, cost: 0.0 }], 0.5), None);
    }

    #[test]
    fn of_a_curve_that_dips_the_coarse_side_counts() {
        let mut points = sweep(100.0, |_| 100.0);
        points[3].cost = 3.0 * points[3].work;
        let found = at(&points, 0.5);
        assert!(points[3].cost.min(points[4].cost) < found && found < points[3].cost.max(points[4].cost));
        // A lucky point far below the rest changes nothing.
        let mut lucky = sweep(100.0, |_| 10_000.0);
        lucky[0].cost = 100.0;
        assert!((at(&lucky, 0.5) - 20_000.0).abs() < 1e-6);
    }

    #[test]
    fn what_disturbs_a_whole_block_cancels() {
        let calm = sweep(100.0, |_| 300.0);
        let slow: Vec<Point> =
            calm.iter().map(|p| Point { work: 2.0 * p.work, cost: 2.0 * p.cost }).collect();
        let curve = pooled(&[&calm, &slow, &calm]);
        for (one, truth) in curve.iter().zip(&calm) {
            assert!((one.efficiency() - truth.efficiency()).abs() < 1e-12);
        }
    }
}
