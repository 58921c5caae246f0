//! Which interval compares two sessions, and why it alone cannot gate. Measures false alarms and
//! power of three intervals on processes of two sessions. Then it does so for a whole comparison of
//! fifty rows, with and without the limit that rows of unchanged code set.
//!
//! `cargo run --release -p taskscale-experiments --bin shift [-- TRIALS]` prints the tables of
//! docs/evidence/comparisons.md. The seed is fixed. 2000 trials take half a minute.
#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};
use taskscale_stats::{
    quantile::sorted,
    shift::{BEYOND_UNCHANGED, Shift},
    sign,
};

/// The spread of processes of the same code, as identical tokio processes show it
/// (docs/evidence/processes.md).
const NOISE: f64 = 0.01;
const EFFECT: f64 = 0.02;
const THRESHOLD: f64 = 0.02;
/// The number of rows in a whole comparison.
const ROWS: usize = 50;

/// A standard normal value (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// The costs of processes of one session whose true median is 1. The flag marks the new session.
type Shape = fn(&mut Rng, usize, bool) -> Vec<f64>;

fn costs(rng: &mut Rng, n: usize, log: impl Fn(&mut Rng) -> f64) -> Vec<f64> {
    (0..n).map(|_| log(rng).exp()).collect()
}

fn bell(rng: &mut Rng, n: usize, _: bool) -> Vec<f64> {
    costs(rng, n, |rng| NOISE * normal(rng))
}

/// Noise that only slows, and seldom slows much.
fn skewed(rng: &mut Rng, n: usize, _: bool) -> Vec<f64> {
    costs(rng, n, |rng| NOISE * (normal(rng).exp() - 1.0))
}

/// Student's t with two degrees of freedom.
fn heavy_tail(rng: &mut Rng, n: usize, _: bool) -> Vec<f64> {
    costs(rng, n, |rng| {
        let chi_squared = normal(rng).powi(2) + normal(rng).powi(2);
        NOISE * normal(rng) / (chi_squared / 2.0).sqrt()
    })
}

/// Memory layouts of two kinds, one 3 % slower.
fn two_layouts(rng: &mut Rng, n: usize, _: bool) -> Vec<f64> {
    costs(rng, n, |rng| if rng.bool() { 0.015 } else { -0.015 } + 0.3 * NOISE * normal(rng))
}

/// The new session is three times as noisy.
fn noisier(rng: &mut Rng, n: usize, new: bool) -> Vec<f64> {
    costs(rng, n, |rng| if new { 3.0 } else { 1.0 } * NOISE * normal(rng))
}

type Method = fn(&[f64], &[f64]) -> Option<(f64, f64)>;

fn rank_sum(old: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    Shift::of(old, new, 0.95).map(|shift| (shift.low, shift.high))
}

/// The medians of both sides with their own sign intervals, whose ends are subtracted. Each side
/// has the level at which the two together miss in 5 % if they miss independently, which is more
/// than needed.
fn two_medians(old: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let interval = |side: &[f64]| sign::sign_interval(&sorted(side), 0.95_f64.sqrt());
    let ((old_low, old_high), (new_low, new_high)) = (interval(old)?, interval(new)?);
    Some(((new_low / old_high).ln(), (new_high / old_low).ln()))
}

/// Welch's interval of the difference of the means of logarithms.
fn welch(old: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let moments = |side: &[f64]| {
        let n = side.len() as f64;
        let mean = side.iter().map(|x| x.ln()).sum::<f64>() / n;
        let variance = side.iter().map(|x| (x.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n, n)
    };
    let ((old, v, n), (new, w, m)) = (moments(old), moments(new));
    let freedom = (v + w).powi(2) / (v * v / (n - 1.0) + w * w / (m - 1.0));
    let half = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975) * (v + w).sqrt();
    Some((new - old - half, new - old + half))
}

/// The share of trials, in percent, in which the interval excludes zero.
fn alarms(shape: Shape, n: usize, shift: f64, trials: u32, interval: Method) -> f64 {
    let mut rng = Rng::with_seed(n as u64);
    let excludes_zero = |_: &u32| {
        let old = shape(&mut rng, n, false);
        let new: Vec<f64> = shape(&mut rng, n, true).iter().map(|cost| cost * shift.exp()).collect();
        interval(&old, &new).is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    };
    100.0 * (0..trials).filter(excludes_zero).count() as f64 / f64::from(trials)
}

/// How many times the largest shift of an unchanged row a row has to exceed. 0 ignores the
/// unchanged rows.
const FACTORS: [f64; 3] = [0.0, 1.0, BEYOND_UNCHANGED];

/// One comparison of [`ROWS`] rows, the first slower by `slower`. For each of [`FACTORS`] it tells
/// whether any row that is not slower is called worse, and whether the first is.
fn gate(rng: &mut Rng, n: usize, common: f64, own: f64, slower: f64) -> [(bool, bool); 3] {
    let drift = common * normal(rng);
    let rows: Vec<Shift> = (0..ROWS)
        .filter_map(|row| {
            let session = drift + own * normal(rng) + if row == 0 { slower } else { 0.0 };
            let old = bell(rng, n, false);
            let new: Vec<f64> = bell(rng, n, true).iter().map(|cost| cost * session.exp()).collect();
            Shift::of(&old, &new, 1.0 - 0.05 / ROWS as f64)
        })
        .collect();
    let others = |row: usize| {
        let others = rows.iter().enumerate().filter(|(other, _)| *other != row);
        others.map(|(_, shift)| shift.log.abs()).fold(0.0, f64::max)
    };
    FACTORS.map(|factor| {
        let beyond = |(row, shift): (usize, &Shift)| shift.low > THRESHOLD.ln_1p().max(factor * others(row));
        let worse: Vec<bool> = rows.iter().enumerate().map(beyond).collect();
        (worse[usize::from(slower > 0.0)..].contains(&true), worse[0])
    })
}

fn main() {
    let trials: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    println!("{trials} trials a cell; processes differ by {} %; intervals of 95 %", 100.0 * NOISE);
    println!("{:<12} {:>3}  {:^29}  {:^29}", "processes", "n", "false alarms %", "2 % planted, found %");
    let names = format!("{:>9} {:>10} {:>8}", "rank-sum", "2 medians", "Welch");
    println!("{:<12} {:>3}  {names}  {names}", "", "");
    let shapes: [(&str, Shape); 5] = [
        ("normal", bell),
        ("skewed", skewed),
        ("heavy tail", heavy_tail),
        ("two layouts", two_layouts),
        ("new noisier", noisier),
    ];
    for (name, shape) in shapes {
        for n in [6, 10, 20] {
            print!("{name:<12} {n:>3}");
            for shift in [0.0, EFFECT] {
                let of = |method| alarms(shape, n, shift, trials, method);
                print!("  {:>9.1} {:>10.1} {:>8.1}", of(rank_sum), of(two_medians), of(welch));
            }
            println!();
        }
    }
    println!(
        "\n{ROWS} rows together at 95 % (Bonferroni), threshold {} %, 12 processes a side: comparisons in which\n\
         a row of the same cost is called worse, and in which a row that is 10 % slower is found, %",
        100.0 * THRESHOLD
    );
    println!("{:<36} {:^15} {:^15} {:^15}", "", "intervals alone", "and all others", "twice the others");
    println!("{:<36}{}", "between the sessions", format!(" {:>7} {:>7}", "alarm", "found").repeat(3));
    let (few, mut rng) = ((trials / 4).max(1), Rng::with_seed(9));
    for (name, common, own) in [
        ("nothing changes", 0.0, 0.0),
        ("all rows move together, by 3 %", 0.03, 0.0),
        ("each row moves on its own, by 1 %", 0.0, 0.01),
        ("each row moves on its own, by 3 %", 0.0, 0.03),
        ("each row moves on its own, by 10 %", 0.0, 0.1),
    ] {
        print!("{name:<36}");
        let mut counts = [[0_u32; 2]; 3];
        for _ in 0..few {
            for (method, (alarm, _)) in gate(&mut rng, 12, common, own, 0.0).into_iter().enumerate() {
                counts[method][0] += u32::from(alarm);
            }
            for (method, (_, found)) in
                gate(&mut rng, 12, common, own, 0.1_f64.ln_1p()).into_iter().enumerate()
            {
                counts[method][1] += u32::from(found);
            }
        }
        for [alarm, found] in counts {
            let percent = |count: u32| 100.0 * f64::from(count) / f64::from(few);
            print!(" {:>7.1} {:>7.1}", percent(alarm), percent(found));
        }
        println!();
    }
}
