//! What the interval of METG is worth, on made-up sweeps of a known overhead with noise for each
//! block and each point. `cargo run --release -p taskscale-experiments --bin granularity`

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use fastrand::Rng;
use taskscale_stats::{
    bootstrap::RESAMPLES,
    granularity::{Point, Smallest, interval, pooled, smallest},
};

const SWEEPS: usize = 400;

fn main() {
    println!("blocks | noise | efficiency | median error | interval holds the truth | open at an end");
    for blocks in [6, 8, 12] {
        for noise in [0.01, 0.03, 0.10] {
            for efficiency in [0.5, 0.9, 0.95] {
                row(blocks, noise, efficiency);
            }
        }
    }
}

fn row(blocks: usize, noise: f64, efficiency: f64) {
    let mut rng = Rng::with_seed(7);
    let truth = 300.0 / (1.0 - efficiency);
    let (mut held, mut open, mut errors) = (0, 0, Vec::new());
    for _ in 0..SWEEPS {
        let sweep: Vec<Vec<Point>> = (0..blocks).map(|_| block(noise, &mut rng)).collect();
        let sweep: Vec<&[Point]> = sweep.iter().map(Vec::as_slice).collect();
        if let Some(Smallest::At(cost)) = smallest(&pooled(&sweep), efficiency) {
            errors.push(cost / truth - 1.0);
        }
        let ends = interval(&sweep, efficiency, (6, 0.95), RESAMPLES, &mut rng).expect("enough blocks");
        let (low, high) = (ends.low.unwrap_or(0.0), ends.high.unwrap_or(f64::INFINITY));
        held += usize::from(low <= truth && truth <= high);
        open += usize::from(ends.low.is_none() || ends.high.is_none());
    }
    let share = |n: usize| 100.0 * n as f64 / SWEEPS as f64;
    let error = taskscale_stats::quantile::median(&errors).unwrap_or(f64::NAN);
    println!(
        "{blocks} | {noise} | {efficiency} | {:+.1} % | {:.0} % | {:.0} %",
        100.0 * error,
        share(held),
        share(open)
    );
}

/// Eight works that quadruple from 100 ns, with 300 ns of overhead. The noise of the whole block
/// and that of each point are normal in the logarithm.
fn block(noise: f64, rng: &mut Rng) -> Vec<Point> {
    let normal = |rng: &mut Rng| {
        (-2.0 * rng.f64().max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
    };
    let whole = (noise * normal(rng)).exp();
    let kernel = whole * (noise / 2.0 * normal(rng)).exp();
    let works = (0..8).map(|i| 100.0 * 4f64.powi(i));
    works
        .map(|work| Point { work: work * kernel, cost: (work + 300.0) * whole * (noise * normal(rng)).exp() })
        .collect()
}
