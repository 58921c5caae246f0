//! The statistics against noise with a known truth, from seeded generators.

use fastrand::Rng;
use taskscale_stats::{
    growth::{self, Grade, Growth, SizeCost},
    paired::PairedRatio,
    pooled, quantile,
    quantile::sorted,
    sign,
};

/// A standard normal value (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Median 1 and a long right tail, like a row that is preempted from time to time.
fn skewed(rng: &mut Rng) -> f64 {
    normal(rng).exp()
}

/// A Cauchy value around 1: no mean, no variance.
fn heavy(rng: &mut Rng) -> f64 {
    1.0 + (std::f64::consts::PI * (rng.f64() - 0.5)).tan()
}

#[test]
fn the_sign_interval_covers_as_computed_whatever_the_shape() {
    const TRIALS: usize = 10_000;
    for (shape, draw) in [("skewed", skewed as fn(&mut Rng) -> f64), ("heavy", heavy)] {
        for n in [6, 15, 20, 50] {
            let mut rng = Rng::with_seed(n as u64);
            let hits = (0..TRIALS)
                .filter(|_| {
                    let sample: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
                    let (low, high) = sign::sign_interval(&sorted(&sample), 0.95).expect("six or more");
                    low <= 1.0 && 1.0 <= high
                })
                .count();
            let (low_rank, _) = sign::sign_ranks(n, 0.95).expect("six or more");
            let exact = sign::exact_coverage(n, low_rank);
            let found = hits as f64 / TRIALS as f64;
            // Five standard errors of the simulated share.
            let tolerance = 5.0 * (exact * (1.0 - exact) / TRIALS as f64).sqrt();
            assert!((found - exact).abs() < tolerance, "{shape}, n = {n}: {found} against {exact}");
        }
    }
}

#[test]
fn few_observations_of_many_sizes_have_an_interval_that_covers() {
    const TRIALS: usize = 2_000;
    // A spread of 5 %, and one observation in ten that another program delays by up to a half.
    let quiet = |rng: &mut Rng| (0.05 * normal(rng)).exp();
    let disturbed = |rng: &mut Rng| {
        let delay = if rng.u8(..10) == 0 { 0.5 * rng.f64() } else { 0.0 };
        (0.05 * normal(rng)).exp() * (1.0 + delay)
    };
    for (name, draw) in [("quiet", &quiet as &dyn Fn(&mut Rng) -> f64), ("disturbed", &disturbed)] {
        for n in [2, 3, 5] {
            let mut rng = Rng::with_seed(n as u64);
            // The truth is the median of what is drawn.
            let many: Vec<f64> = (0..100_001).map(|_| draw(&mut rng)).collect();
            let truth = sorted(&many)[50_000];
            let mut hits = 0;
            for _ in 0..TRIALS {
                let groups: Vec<Vec<f64>> = (0..10)
                    .map(|level| (0..n).map(|_| f64::from(level + 1) * draw(&mut rng)).collect())
                    .collect();
                let shared = pooled::spread(groups.iter().map(Vec::as_slice)).expect("enough");
                let median = quantile::median(&sorted(&groups[0])).expect("values");
                let (low, high) = shared.interval(median, n, 0.95).expect("two or more");
                hits += usize::from(low <= truth && truth <= high);
            }
            let covered = hits as f64 / TRIALS as f64;
            assert!(covered >= 0.94, "{name}, {n} observations a size: {covered}");
        }
    }
}

#[test]
fn twenty_paired_rounds_find_one_percent_under_drift() {
    // Noise is 0.4 % per side, and the machine wanders by 40 % under both. Pairing must remove the
    // latter.
    let compare = |rng: &mut Rng, factor: f64| {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..20 {
            let machine = 100.0 * (1.0 + 0.4 * (f64::from(round) / 5.0).sin());
            a.push(machine * (0.004 * normal(rng)).exp());
            b.push(factor * machine * (0.004 * normal(rng)).exp());
        }
        PairedRatio::of(&a, &b, 0.95).expect("twenty rounds").excludes_one()
    };
    let mut rng = Rng::with_seed(20);
    let false_alarms = (0..2000).filter(|_| compare(&mut rng, 1.0)).count();
    let found = (0..2000).filter(|_| compare(&mut rng, 1.01)).count();
    assert!(false_alarms <= 120, "{false_alarms} of 2000; 4.1 % expected");
    assert!(found >= 1960, "{found} of 2000");
}

/// Judges `cost` at 2^6 to 2^13 with 2 % noise, 15 rounds each.
fn judged(seed: u64, cost: impl Fn(f64) -> f64) -> Growth {
    let mut rng = Rng::with_seed(seed);
    let totals: Vec<(u64, Vec<f64>)> = (6..=13)
        .map(|k| 1_u64 << k)
        .map(|n| (n, (0..15).map(|_| cost(n as f64) * (0.02 * normal(&mut rng)).exp()).collect()))
        .collect();
    let costs: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    growth::judge(&costs, growth::Clock::Cpu, None, &mut rng)
}

#[test]
fn growth_is_graded_rightly_in_twenty_of_twenty() {
    type Case = (&'static str, fn(f64) -> f64, fn(&Growth) -> bool);
    let cases: [Case; 6] = [
        ("linear", |n| 200.0 * n, |g| g.grade == Grade::Linear),
        ("start-up, then linear", |n| 50_000.0 + 200.0 * n, |g| g.grade == Grade::Linear),
        ("n log n", |n| 20.0 * n * n.log2(), |g| matches!(g.grade, Grade::Linear | Grade::SoftGrowth)),
        ("n^1.2", |n| 50.0 * n.powf(1.2), |g| g.grade == Grade::SoftGrowth),
        ("quadratic", |n| 3.0 * n * n, |g| g.grade == Grade::QuadraticOrWorse),
        (
            "quadratic from a bend at 1024",
            |n| 200.0 * n * (n / 1024.0).max(1.0),
            |g| {
                g.grade == Grade::QuadraticOrWorse && g.judged().is_some_and(|judged| judged.sizes[0] == 1024)
            },
        ),
    ];
    for (name, cost, right) in cases {
        for seed in 0..20 {
            let growth = judged(seed, cost);
            assert!(right(&growth), "{name}, seed {seed}: {growth:?}");
        }
    }
}

#[test]
fn the_interval_of_the_exponent_covers_the_truth() {
    let hits = (0..100)
        .filter(|&seed| {
            let growth = judged(seed, |n| 50.0 * n.powf(1.2));
            let (low, high) = growth.overall.expect("eight sizes").interval;
            low <= 1.2 && 1.2 <= high
        })
        .count();
    // 95 % is nominal, and a percentile bootstrap of few rounds covers a little less. At 92 %,
    // fewer than 80 has odds below 1e-3.
    assert!(hits >= 80, "{hits} of 100");
}

#[test]
fn noise_that_hides_the_grade_is_said() {
    let mut rng = Rng::with_seed(5);
    let totals: Vec<(u64, Vec<f64>)> = (6..10)
        .map(|k| (1 << k, (0..6).map(|_| f64::from(1 << k) * normal(&mut rng).exp()).collect()))
        .collect();
    let costs: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    let growth = growth::judge(&costs, growth::Clock::Cpu, None, &mut rng);
    assert!(matches!(growth.grade, Grade::CannotTell(growth::Reason::TooNoisy { .. })), "{growth:?}");
}
