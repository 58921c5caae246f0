//! The law of scalability on curves whose coefficients are known, with noise and without.

use fastrand::Rng;
use proptest::prelude::*;
use taskscale_stats::usl::{FEWEST, Intervals, Law, Point, fit, intervals, of_processes};

const COUNTS: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 12.0, 16.0];

fn exact(law: &Law, counts: &[f64]) -> Vec<Point> {
    counts.iter().map(|&workers| Point { workers, rate: law.rate(workers), weight: 1.0 }).collect()
}

/// About normal, of deviation 1: twelve uniform numbers (their variance is a twelfth each).
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// Processes of a law, each off by `shared` at all counts and by `own` at each, which grows to
/// twice that at the most workers where `grows`.
fn measured(law: &Law, n: usize, (shared, own): (f64, f64), grows: bool, rng: &mut Rng) -> Vec<Vec<f64>> {
    let process = |_| {
        let all = shared * normal(rng);
        let rate = |&workers: &f64| {
            let more = if grows { 1.0 + workers / 16.0 } else { 1.0 };
            law.rate(workers) * (all + own * more * normal(rng)).exp()
        };
        COUNTS.iter().map(rate).collect()
    };
    (0..n).map(process).collect()
}

/// How many of `times` intervals hold contention, coherency and the peak.
fn coverage(law: &Law, n: usize, noise: (f64, f64), grows: bool, times: u64) -> [f64; 3] {
    let mut held = [0_u64; 3];
    for seed in 0..times {
        let mut rng = Rng::with_seed(seed);
        let rates = measured(law, n, noise, grows, &mut rng);
        let Intervals { sigma, kappa, peak, .. } =
            intervals(&COUNTS, &rates, 200, 0.95, &mut rng).expect("many processes");
        for (held, (right, (low, high))) in
            held.iter_mut().zip([(law.sigma, sigma), (law.kappa, kappa), (law.peak(), peak)])
        {
            *held += u64::from(low <= right && right <= high);
        }
    }
    held.map(|held| held as f64 / times as f64)
}

proptest! {
    #[test]
    fn a_curve_without_noise_gives_its_coefficients(
        lambda in 1.0..1e9_f64,
        sigma in 0.0..0.9_f64,
        kappa in 0.0..0.2_f64,
        weight in 0.01..100.0_f64,
        kept in FEWEST..10_usize,
    ) {
        let law = Law { lambda, sigma, kappa };
        let mut points = exact(&law, &COUNTS[..kept]);
        // Weights move nothing where all points are on one curve.
        points[0].weight = weight;
        let found = fit(&points).expect("a law");
        prop_assert!((found.lambda / lambda - 1.0).abs() < 1e-6, "{found:?}");
        prop_assert!((found.sigma - sigma).abs() < 1e-5, "{found:?}");
        prop_assert!((found.kappa - kappa).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn whatever_the_curve_no_coefficient_is_below_zero(
        rates in prop::collection::vec(1e-3..1e12_f64, FEWEST..10),
    ) {
        let point = |(&rate, &workers): (&f64, &f64)| Point { workers, rate, weight: 1.0 };
        let points: Vec<Point> = rates.iter().zip(&COUNTS).map(point).collect();
        let found = fit(&points).expect("a law");
        prop_assert!(found.lambda > 0.0 && found.lambda.is_finite(), "{found:?}");
        prop_assert!(found.sigma >= 0.0 && found.kappa >= 0.0, "{found:?}");
        prop_assert!(found.peak() >= 1.0, "{found:?}");
    }

    #[test]
    fn units_and_order_do_not_matter(seed in any::<u64>(), unit in 1e-6..1e6_f64) {
        let law = Law { lambda: 1.0, sigma: 0.08, kappa: 0.004 };
        let rates = measured(&law, 1, (0.0, 0.03), false, &mut Rng::with_seed(seed)).remove(0);
        let mut points: Vec<Point> = COUNTS
            .iter()
            .zip(&rates)
            .map(|(&workers, &rate)| Point { workers, rate, weight: 1.0 })
            .collect();
        let found = fit(&points).expect("a law");
        points.reverse();
        points.iter_mut().for_each(|point| point.rate *= unit);
        let again = fit(&points).expect("a law");
        prop_assert!((again.lambda / found.lambda / unit - 1.0).abs() < 1e-6);
        prop_assert!((again.sigma - found.sigma).abs() < 1e-6 && (again.kappa - found.kappa).abs() < 1e-6);
    }
}

#[test]
fn a_line_has_no_peak_and_a_flat_curve_is_all_contention() {
    let line = fit(&exact(&Law { lambda: 7.0, sigma: 0.0, kappa: 0.0 }, &COUNTS)).expect("a law");
    assert!(line.sigma < 1e-9 && line.kappa < 1e-9, "{line:?}");
    assert!(line.peak() > 1e4, "{line:?}");
    let point = |&workers: &f64| Point { workers, rate: 3.0, weight: 1.0 };
    let flat = fit(&COUNTS.iter().map(point).collect::<Vec<_>>()).expect("a law");
    assert!((flat.sigma - 1.0).abs() < 1e-6 && flat.kappa < 1e-9, "{flat:?}");
}

#[test]
fn more_than_linear_is_taken_for_linear_and_retrograde_peaks_at_one() {
    let of = |rate: fn(f64) -> f64| {
        let points: Vec<Point> =
            COUNTS.iter().map(|&n| Point { workers: n, rate: rate(n), weight: 1.0 }).collect();
        fit(&points).expect("a law")
    };
    let more = of(|n| n.powf(1.1));
    assert_eq!((more.sigma, more.kappa), (0.0, 0.0));
    assert!(more.peak().is_infinite());
    // Each worker more makes all slower.
    let less = of(|n| 1.0 / n);
    assert_eq!(less.peak(), 1.0);
}

#[test]
fn two_counts_or_three_have_no_law_however_often_they_were_measured() {
    let law = Law { lambda: 1.0, sigma: 0.1, kappa: 0.01 };
    for counts in [&[1.0, 2.0][..], &[1.0, 1.0, 2.0, 2.0], &[1.0, 2.0, 3.0, 3.0, 3.0]] {
        assert_eq!(fit(&exact(&law, counts)), None);
    }
    let mut points = exact(&law, &COUNTS);
    points[3].rate = f64::NAN;
    assert_eq!(fit(&points), None);
    let rates = vec![vec![1.0, 1.8]; 9];
    assert_eq!(of_processes(&[1.0, 2.0], &rates), None);
    assert_eq!(intervals(&[1.0, 2.0], &rates, 100, 0.95, &mut Rng::with_seed(1)), None);
    assert_eq!(of_processes(&COUNTS, &[]), None);
}

#[test]
fn few_processes_have_a_law_and_no_interval() {
    let law = Law { lambda: 1.0, sigma: 0.1, kappa: 0.01 };
    let rates = measured(&law, 5, (0.0, 0.01), false, &mut Rng::with_seed(3));
    assert!(of_processes(&COUNTS, &rates).is_some());
    assert_eq!(intervals(&COUNTS, &rates, 100, 0.95, &mut Rng::with_seed(1)), None);
}

#[test]
fn what_disturbs_all_counts_of_a_process_alike_does_not_widen_its_intervals() {
    let law = Law { lambda: 1.0, sigma: 0.05, kappa: 0.002 };
    let width = |shared| {
        let rates = measured(&law, 12, (shared, 0.01), false, &mut Rng::with_seed(5));
        let found = intervals(&COUNTS, &rates, 400, 0.95, &mut Rng::with_seed(1)).expect("twelve");
        found.sigma.1 - found.sigma.0
    };
    assert!(width(0.2) < 1.5 * width(0.0), "{} {}", width(0.2), width(0.0));
}

#[test]
fn intervals_hold_the_coefficients_about_95_times_in_100() {
    let law = Law { lambda: 1e6, sigma: 0.05, kappa: 0.003 };
    for (n, noise, grows) in
        [(9, (0.0, 0.02), false), (9, (0.0, 0.02), true), (9, (0.05, 0.02), false), (20, (0.0, 0.05), false)]
    {
        for held in coverage(&law, n, noise, grows, 200) {
            // Of 200, chance alone moves a true 95 % by 1.5 % (one deviation).
            assert!((0.91..=0.995).contains(&held), "{n} {noise:?} {grows}: {held}");
        }
    }
}
