//! Why ratios have the interval of the signed ranks and times that of the sign test: how often each
//! misses what it is of, and how often it finds a difference, beside a percentile bootstrap of the
//! median, on log ratios with several shapes of noise.
//!
//! `cargo run --release -p taskscale-experiments --bin coverage [-- TRIALS]` prints the table of
//! docs/evidence/processes.md. The seed is fixed, so the figures are the same everywhere. 2000
//! trials take about a minute and a half.
#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use fastrand::Rng;
use taskscale_stats::{
    bootstrap,
    quantile::{quantile, sorted},
    sign, signed_rank,
};

/// The spread of one side of a round. The log ratio of two sides has 1.41 times as much.
const NOISE: f64 = 0.01;
const EFFECT: f64 = 0.01;

/// A standard normal value (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Log ratios of `n` rounds without a true difference.
type Noise = fn(&mut Rng, usize) -> Vec<f64>;

/// Computes a 95 % interval of the median.
type Method = fn(&[f64], &mut Rng) -> Option<(f64, f64)>;

fn both_sides(rng: &mut Rng, n: usize, side: impl Fn(&mut Rng) -> f64) -> Vec<f64> {
    (0..n).map(|_| side(rng) - side(rng)).collect()
}

fn normal_noise(rng: &mut Rng, n: usize) -> Vec<f64> {
    both_sides(rng, n, |rng| NOISE * normal(rng))
}

/// Noise that only slows, and seldom slows much.
fn lognormal(rng: &mut Rng, n: usize) -> Vec<f64> {
    both_sides(rng, n, |rng| (NOISE * normal(rng).exp()).ln_1p())
}

/// Student's t with two degrees of freedom: finite mean, infinite variance.
fn heavy_tail(rng: &mut Rng, n: usize) -> Vec<f64> {
    both_sides(rng, n, |rng| {
        let chi_squared = normal(rng).powi(2) + normal(rng).powi(2);
        NOISE * normal(rng) / (chi_squared / 2.0).sqrt()
    })
}

/// Only one side is slowed, and seldom slowed much: the ratios are skewed.
fn one_sided(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| (NOISE * normal(rng).exp()).ln_1p() - NOISE * normal(rng)).collect()
}

/// The machine wanders by 3 % over some 40 slices. Each round takes its two slices in random order.
fn slow_wander(rng: &mut Rng, n: usize) -> Vec<f64> {
    let keep = (-1.0_f64 / 40.0).exp();
    let mut machine = 0.03 * normal(rng);
    let mut slice = |rng: &mut Rng| {
        machine = keep * machine + 0.03 * (1.0 - keep * keep).sqrt() * normal(rng);
        machine + NOISE * normal(rng)
    };
    (0..n)
        .map(|_| {
            let (first, second) = (slice(rng), slice(rng));
            if rng.bool() { first - second } else { second - first }
        })
        .collect()
}

fn sign_interval(ratios: &[f64], _: &mut Rng) -> Option<(f64, f64)> {
    sign::sign_interval(&sorted(ratios), 0.95)
}

fn signed_rank_interval(ratios: &[f64], _: &mut Rng) -> Option<(f64, f64)> {
    signed_rank::interval(&sorted(ratios), 0.95)
}

fn bootstrap_interval(ratios: &[f64], rng: &mut Rng) -> Option<(f64, f64)> {
    let median = |draw: &mut [f64]| {
        draw.sort_unstable_by(f64::total_cmp);
        quantile(draw, 0.5).unwrap_or(f64::NAN)
    };
    bootstrap::interval(ratios, median, bootstrap::RESAMPLES, 0.95, rng)
}

/// What an interval is of, from many ratios.
type Centre = fn(&[f64]) -> Option<f64>;

fn middle(ratios: &[f64]) -> Option<f64> {
    quantile(&sorted(ratios), 0.5)
}

fn centre(ratios: &[f64]) -> Option<f64> {
    signed_rank::centre(&sorted(ratios))
}

/// The share of trials, in percent, in which the interval does not hold a point that lies `shift`
/// from what it is of.
fn misses(shape: Noise, n: usize, shift: f64, trials: u32, (interval, of): (Method, Centre)) -> f64 {
    let truth = of(&shape(&mut Rng::with_seed(0), 200_001)).unwrap_or(f64::NAN);
    let mut rng = Rng::with_seed(n as u64);
    let point = truth - shift;
    let excludes = |_: &u32| {
        let ratios = shape(&mut rng, n);
        interval(&ratios, &mut rng).is_some_and(|(low, high)| low > point || high < point)
    };
    100.0 * (0..trials).filter(excludes).count() as f64 / f64::from(trials)
}

fn main() {
    let trials: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    println!(
        "{trials} trials a cell; {} % noise a side, {} % difference planted for power",
        100.0 * NOISE,
        100.0 * EFFECT
    );
    println!("{:<12} {:>4}  {:^29}  {:^29}", "noise", "n", "misses %", "power %");
    let heads = format!("{:>8} {:>9} {:>10}", "sign", "signed", "bootstrap");
    println!("{:<12} {:>4}  {heads}  {heads}", "", "");
    let shapes: [(&str, Noise); 5] = [
        ("normal", normal_noise),
        ("lognormal", lognormal),
        ("heavy tail", heavy_tail),
        ("slow wander", slow_wander),
        ("one-sided", one_sided),
    ];
    let methods: [(Method, Centre); 3] =
        [(sign_interval, middle), (signed_rank_interval, centre), (bootstrap_interval, middle)];
    for (name, shape) in shapes {
        for n in [6, 8, 12, 15, 20, 50, 100] {
            let [sign, signed, bootstrap] = methods.map(|method| misses(shape, n, 0.0, trials, method));
            print!("{name:<12} {n:>4}  {sign:>8.1} {signed:>9.1} {bootstrap:>10.1}");
            let [sign, signed, bootstrap] =
                methods.map(|method| misses(shape, n, EFFECT.ln_1p(), trials, method));
            println!("  {sign:>8.1} {signed:>9.1} {bootstrap:>10.1}");
        }
    }
}
