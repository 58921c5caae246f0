//! Properties of the statistics, over samples that proptest makes up.

use proptest::prelude::*;
use taskscale_stats::{
    bootstrap,
    granularity::{self, Point, Smallest},
    growth,
    growth::{Grade, SizeCost},
    paired::PairedRatio,
    quantile::{Percentiles, median, quantile, sorted},
    sign, stop, warmup,
};

fn sample(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1e-3..1e12_f64, n)
}

/// A sweep of two to ten works, ascending.
fn sweep() -> impl Strategy<Value = Vec<Point>> {
    prop::collection::vec((1.1..8.0_f64, 0.5..50.0_f64), 2..10).prop_map(|points| {
        let mut work = 50.0;
        let point = |(times, over): (f64, f64)| {
            work *= times;
            Point { work, cost: work * (1.0 + over / 10.0) - work / 20.0 }
        };
        points.into_iter().map(point).collect()
    })
}

/// Where a figure lies: below, within or above the measured range, as a value that can be ordered.
fn place(smallest: Smallest) -> (u8, f64) {
    match smallest {
        Smallest::Below(_) => (0, 0.0),
        Smallest::At(cost) => (1, cost),
        Smallest::Above(_) => (2, 0.0),
    }
}

proptest! {
    #[test]
    fn the_smallest_granularity_lies_between_the_points_around_it_whatever_the_curve(
        points in sweep(),
        efficiency in 0.05..1.0_f64,
        shuffle in any::<u64>(),
    ) {
        let found = granularity::smallest(&points, efficiency).expect("two works");
        match found {
            Smallest::Below(cost) => {
                prop_assert_eq!(cost, points[0].cost);
                prop_assert!(points.iter().all(|point| point.efficiency() >= efficiency));
            }
            Smallest::Above(cost) => {
                let last = points[points.len() - 1];
                prop_assert_eq!(cost, last.cost);
                prop_assert!(last.efficiency() < efficiency);
            }
            Smallest::At(cost) => {
                // The efficiency holds everywhere from the pair on. The figure lies on the line
                // between the two points, where its share is work.
                let fails = points.iter().rposition(|point| point.efficiency() < efficiency).expect("one fails");
                let (a, b) = (points[fails], points[fails + 1]);
                let slack = 1.0 + 1e-9;
                prop_assert!(cost * slack >= a.cost.min(b.cost) && cost <= a.cost.max(b.cost) * slack);
                let on_line = a.cost + (b.cost - a.cost) * (efficiency * cost - a.work) / (b.work - a.work);
                prop_assert!((on_line / cost - 1.0).abs() < 1e-6, "{on_line} {cost}");
            }
        }
        let mut mixed = points.clone();
        fastrand::Rng::with_seed(shuffle).shuffle(&mut mixed);
        prop_assert_eq!(granularity::smallest(&mixed, efficiency), Some(found));
    }

    #[test]
    fn more_efficiency_is_never_had_by_smaller_tasks(points in sweep(), low in 0.05..1.0_f64, more in 0.0..0.5_f64) {
        let at = |efficiency| place(granularity::smallest(&points, efficiency).expect("two works"));
        let work = |(rank, cost): (u8, f64), efficiency: f64| (rank, cost * efficiency);
        // Granularity itself may fall where noise made a coarser point cheaper. The work in it does
        // not fall.
        let (a, b) = (work(at(low), low), work(at(low + more), low + more));
        prop_assert!(a.0 < b.0 || (a.0 == b.0 && a.1 <= b.1 * (1.0 + 1e-9)), "{a:?} {b:?}");
    }

    #[test]
    fn the_unit_of_time_does_not_matter(points in sweep(), efficiency in 0.05..1.0_f64, unit in 1e-6..1e6_f64) {
        let scaled: Vec<Point> =
            points.iter().map(|p| Point { work: p.work * unit, cost: p.cost * unit }).collect();
        let (a, b) = (granularity::smallest(&points, efficiency), granularity::smallest(&scaled, efficiency));
        let (a, b) = (place(a.expect("two works")), place(b.expect("two works")));
        // Rounding may move a point that lies on the efficiency itself.
        let on_it = points.iter().any(|point| (point.efficiency() / efficiency - 1.0).abs() < 1e-12);
        prop_assert!(on_it || (a.0 == b.0 && (a.1 * unit - b.1).abs() <= 1e-6 * b.1), "{a:?} {b:?}");
    }

    #[test]
    fn the_interval_of_granularity_holds_the_figure_of_equal_blocks(points in sweep(), efficiency in 0.05..1.0_f64) {
        let blocks: Vec<&[Point]> = vec![&points; 6];
        let mut rng = fastrand::Rng::with_seed(1);
        let ends = granularity::interval(&blocks, efficiency, (6, 0.95), 20, &mut rng).expect("six blocks");
        let figure = granularity::smallest(&granularity::pooled(&blocks), efficiency).expect("two works");
        let found = match figure { Smallest::At(cost) => Some(cost), _ => None };
        prop_assert_eq!((ends.low, ends.high), (found, found));
        prop_assert_eq!(granularity::interval(&blocks[..5], efficiency, (6, 0.95), 20, &mut rng), None);
    }
    #[test]
    fn quantiles_lie_between_neighbours(sample in sample(1..200), p in 0.0..=1.0_f64) {
        let sorted = sorted(&sample);
        let value = quantile(&sorted, p).expect("not empty");
        let position = p * (sorted.len() - 1) as f64;
        prop_assert!(sorted[position.floor() as usize] <= value && value <= sorted[position.ceil() as usize]);
    }

    #[test]
    fn percentiles_are_ordered(sample in sample(1..200)) {
        let p = Percentiles::of(&sample).expect("not empty");
        let all = [p.p0, p.p25, p.p50, p.p75, p.p90, p.p99, p.p100];
        prop_assert!(all.is_sorted(), "{all:?}");
        prop_assert_eq!(p.p0, sample.iter().copied().fold(f64::INFINITY, f64::min));
        prop_assert_eq!(p.p100, sample.iter().copied().fold(0.0, f64::max));
        prop_assert_eq!(Some(p.p50), median(&sample));
    }

    #[test]
    fn ranks_are_the_narrowest_that_cover(n in 6..3000_usize, confidence in 0.5..0.96_f64) {
        let (low, high) = sign::sign_ranks(n, confidence).expect("six cover 96.9 %");
        prop_assert_eq!(low + high, n + 1);
        prop_assert!(sign::exact_coverage(n, low) >= confidence);
        prop_assert!(sign::exact_coverage(n, low + 1) < confidence);
    }

    #[test]
    fn the_interval_holds_the_median(sample in sample(6..200)) {
        let sorted = sorted(&sample);
        let (low, high) = sign::sign_interval(&sorted, 0.95).expect("six or more");
        let median = median(&sample).expect("not empty");
        prop_assert!(low <= median && median <= high);
    }

    #[test]
    fn swapping_the_sides_inverts_the_ratio(pairs in prop::collection::vec((1.0..1e9_f64, 1.0..1e9_f64), 6..60)) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let there = PairedRatio::of(&a, &b, 0.95).expect("positive");
        let back = PairedRatio::of(&b, &a, 0.95).expect("positive");
        prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
        prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
        prop_assert!((there.half_width - back.half_width).abs() < 1e-9);
    }

    #[test]
    fn a_bootstrapped_median_lies_in_the_sample(sample in sample(1..50), seed: u64) {
        let statistic = |draw: &mut [f64]| median(draw).expect("not empty");
        let mut rng = fastrand::Rng::with_seed(seed);
        let (low, high) = bootstrap::interval(&sample, statistic, 50, 0.95, &mut rng).expect("not empty");
        let p = Percentiles::of(&sample).expect("not empty");
        prop_assert!(p.p0 <= low && low <= high && high <= p.p100);
    }

    #[test]
    fn wider_intervals_never_stop_earlier(
        rounds in 0..120_usize,
        widths in prop::collection::vec(0.0..0.03_f64, 1..8),
        wider in 1.0..3.0_f64,
    ) {
        let rule = stop::Rule { precision: Some(0.01), max_rounds: 100 };
        let decide = |factor: f64| {
            let widths: Vec<Option<f64>> = widths.iter().map(|width| Some(width * factor)).collect();
            rule.decide(rounds, rounds, &widths)
        };
        if decide(wider) == stop::Decision::Precise {
            prop_assert_eq!(decide(1.0), stop::Decision::Precise);
        }
    }

    #[test]
    fn the_unit_does_not_matter(sample in sample(0..20), factor in prop::sample::select(vec![0.25, 2.0, 1024.0])) {
        let scaled: Vec<f64> = sample.iter().map(|x| x * factor).collect();
        prop_assert_eq!(warmup::is_stable(&sample), warmup::is_stable(&scaled));
    }

    #[test]
    fn growth_never_panics(
        sizes in prop::collection::btree_set(0..u64::MAX, 0..8),
        totals in prop::collection::vec(prop_oneof![Just(0.0), Just(f64::NAN), 1e-9..1e18_f64], 0..8),
    ) {
        let costs: Vec<SizeCost<'_>> = sizes.iter().map(|&size| SizeCost { size, totals: &totals }).collect();
        let growth = growth::judge(&costs, growth::Clock::Cpu, Some(1e9), &mut fastrand::Rng::with_seed(1));
        prop_assert!(!matches!(growth.grade, Grade::Superlinear | Grade::QuadraticOrWorse), "constant cost");
    }
}
