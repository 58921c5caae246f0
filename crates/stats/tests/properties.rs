//! Properties of the statistics, over samples that proptest makes up.

use proptest::prelude::*;
use taskscale_stats::{
    bootstrap, growth,
    growth::{Grade, SizeCost},
    paired::PairedRatio,
    quantile::{Percentiles, median, quantile, sorted},
    sign, stop, warmup,
};

fn sample(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1e-3..1e12_f64, n)
}

proptest! {
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
