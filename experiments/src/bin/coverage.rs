//! Why the sign interval is the default: the false-alarm rate and the power of the sign interval
//! and of a percentile bootstrap of the median, on paired log ratios with several shapes of noise.
//!
//! `cargo run --release -p taskscale-experiments --bin coverage [-- TRIALS]` prints the table of
//! docs/evidence/processes.md. The seed is fixed, so the figures are the same everywhere. 2000
//! trials take about a minute.
#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use fastrand::Rng;
use taskscale_stats::{
    bootstrap,
    quantile::{quantile, sorted},
    sign,
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

fn bootstrap_interval(ratios: &[f64], rng: &mut Rng) -> Option<(f64, f64)> {
    let median = |draw: &mut [f64]| {
        draw.sort_unstable_by(f64::total_cmp);
        quantile(draw, 0.5).unwrap_or(f64::NAN)
    };
    bootstrap::interval(ratios, median, bootstrap::RESAMPLES, 0.95, rng)
}

/// The share of trials, in percent, in which the interval excludes zero.
fn alarms(shape: Noise, n: usize, shift: f64, trials: u32, interval: Method) -> f64 {
    let mut rng = Rng::with_seed(n as u64);
    let excludes_zero = |_: &u32| {
        let ratios: Vec<f64> = shape(&mut rng, n).into_iter().map(|ratio| ratio + shift).collect();
        interval(&ratios, &mut rng).is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    };
    100.0 * (0..trials).filter(excludes_zero).count() as f64 / f64::from(trials)
}

fn main() {
    let trials: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    println!(
        "{trials} trials a cell; {} % noise a side, {} % difference planted for power",
        100.0 * NOISE,
        100.0 * EFFECT
    );
    println!("{:<12} {:>4}  {:^25}  {:^17}", "noise", "n", "false alarms %", "power %");
    println!(
        "{:<12} {:>4}  {:>7} {:>7} {:>9}  {:>7} {:>9}",
        "", "", "exact", "sign", "bootstrap", "sign", "bootstrap"
    );
    let shapes: [(&str, Noise); 4] = [
        ("normal", normal_noise),
        ("lognormal", lognormal),
        ("heavy tail", heavy_tail),
        ("slow wander", slow_wander),
    ];
    for (name, shape) in shapes {
        for n in [12, 15, 20, 50, 100] {
            let exact = sign::sign_ranks(n, 0.95)
                .map_or(0.0, |(low, _)| 100.0 * (1.0 - sign::exact_coverage(n, low)));
            let shift = EFFECT.ln_1p();
            println!(
                "{name:<12} {n:>4}  {exact:>7.1} {:>7.1} {:>9.1}  {:>7.1} {:>9.1}",
                alarms(shape, n, 0.0, trials, sign_interval),
                alarms(shape, n, 0.0, trials, bootstrap_interval),
                alarms(shape, n, shift, trials, sign_interval),
                alarms(shape, n, shift, trials, bootstrap_interval),
            );
        }
    }
}
