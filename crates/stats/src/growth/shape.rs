//! The shape of a curve: its cost per task keeps growing by a power, or a collector or a cache
//! explains it; and the size from which it grows.
//!
//! Every candidate is a + b n + c h(n) with parts of at least zero, fitted at relative residuals
//! and weighed by Akaike's criterion (1974).
//!
//! * Lasting growth has h of n^p, or n ((n / m)^(p-1) - 1) from a size m on.
//! * Soft growth has one of three: n ln n; n ln(n / m) from m on, for a collector that walks the
//!   heap at every doubling; n - m from m on, for a working set of which the part beyond m misses a
//!   cache. A soft part has a bound beside the linear one: memory is only so much slower than a
//!   cache.
//!
//! A step, as of a queue that overflows, needs no candidate of its own: with one, recall and false
//! alarms over 3,200 synthetic curves were the same.

use fastrand::Rng;

use super::{
    curve::{Curve, octaves},
    fit::{Fit, non_negative},
};

/// Relative residual below which no fit gets better. Repeated runs of one series gave medians 0.8 %
/// apart (standard deviation, 12 pairs, docs/evidence/growth.md). A closer fit fits noise.
const NOISE: f64 = 0.01;
/// Places tried for a bend, per octave.
const PER_OCTAVE: f64 = 4.0;
/// Powers of lasting growth. The middle one is the quadratic of experiments; 3 stands for a list
/// that leaves the cache.
const POWERS: [f64; 3] = [1.5, 2.0, 3.0];
/// How many times the cost before it a cache may add. Node's `Promise.all` came to ten times its
/// cost over nine octaves, the most of all measured linear forms (docs/evidence/growth.md).
const MOST: f64 = 8.0;
/// How many times the cost before it a collector may add at each e-fold of the size. Node's added
/// 0.8 per octave.
const MOST_PER_E_FOLD: f64 = 1.5;
/// By how much Akaike's criterion must prefer a curve with a bend to the best one without. From 4
/// on the lesser model has considerably less support (Burnham and Anderson, "Model selection and
/// multimodel inference", 2002, section 2.6).
const BEND_GAIN: f64 = 4.0;

/// Draws behind the interval of a bend. Each costs some hundred fits.
const DRAWS: usize = 200;

/// The best candidate of a family for a curve.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    akaike: f64,
    fit: Fit<3>,
    power: f64,
    from: Option<f64>,
}

impl Candidate {
    /// The size at which the growing part would equal the linear one if it were a pure power, but
    /// not below the size where it begins.
    fn bend(&self) -> f64 {
        let [_, linear, growing] = self.fit.factors;
        let from = self.from.unwrap_or(1.0);
        (from * (linear / growing).powf(1.0 / (self.power - 1.0))).max(from)
    }
}

/// Where a curve bends, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend {
    /// The size at which the linear part and the growing part of the best fit cost the same.
    pub size: f64,
    /// Its interval, by bootstrap.
    pub interval: (f64, f64),
    /// By how much Akaike's criterion prefers the curve with this bend to the best without one.
    pub gain: f64,
}

/// How much better lasting growth describes the curve than soft growth or none: the difference of
/// Akaike's criterion, positive in favour of lasting growth.
pub fn lasting(points: &[(f64, f64)]) -> f64 {
    let soft = best(soft_family(points), points);
    let lasting = best(lasting_family(points), points);
    match (soft, lasting) {
        // Lasting growth whose growing part is zero is no growth.
        (_, Some(lasting)) if lasting.fit.factors[2] == 0.0 => f64::NEG_INFINITY,
        (Some(soft), Some(lasting)) => soft.akaike - lasting.akaike,
        _ => f64::NEG_INFINITY,
    }
}

/// The bend of a curve that grows for good; `None` where it grows so from its smallest size on, or
/// where a curve without a bend does as well.
///
/// Its interval covers the observations of each size, the powers, and the 1 % by which sizes that
/// were measured apart differ.
pub fn bend(curve: &Curve, rng: &mut Rng) -> Option<Bend> {
    let points = &curve.points;
    let with = best(lasting_family(points), points)?;
    let without = best(pure_powers(), points)?;
    let gain = without.akaike - with.akaike;
    let first = points.first()?.0;
    let bends = |candidate: &Candidate| {
        let [_, linear, growing] = candidate.fit.factors;
        linear > 0.0 && growing > 0.0 && candidate.bend() > first
    };
    if !bends(&with) || gain < BEND_GAIN {
        return None;
    }
    let sizes: Vec<f64> = curve
        .draws
        .iter()
        .step_by((curve.draws.len() / DRAWS).max(1))
        .filter_map(|costs| {
            // Sizes are measured one after another. The noise of each has a part that its
            // observations do not show.
            let drawn: Vec<(f64, f64)> = points
                .iter()
                .zip(costs)
                .map(|(point, cost)| (point.0, cost * (NOISE * standard_normal(rng)).exp()))
                .collect();
            let found = best(lasting_family(&drawn), &drawn)?;
            // A draw without a linear part bends before the first size.
            Some(if bends(&found) { found.bend() } else { first })
        })
        .collect();
    Some(Bend {
        size: with.bend(),
        interval: crate::bootstrap::middle(sizes, crate::confidence::CONFIDENCE)?,
        gain,
    })
}

/// A standard normal value (Box and Muller 1958).
fn standard_normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// The growing part of a candidate.
struct Part {
    /// Its power, from which the bend follows; 1 where it has none.
    power: f64,
    /// The size at which it begins, if it begins at one.
    from: Option<f64>,
    /// Whether it stands beside a linear part; otherwise it replaces it.
    beside_linear: bool,
    /// The largest factor that it may have, over that of the linear part.
    most: f64,
    /// Its cost at a size.
    cost: Box<dyn Fn(f64) -> f64>,
}

impl Part {
    fn new(power: f64, from: Option<f64>, cost: impl Fn(f64) -> f64 + 'static) -> Self {
        Part { power, from, beside_linear: true, most: f64::INFINITY, cost: Box::new(cost) }
    }

    /// A part of soft growth. It has a bound and no power.
    fn soft(most: f64, from: Option<f64>, cost: impl Fn(f64) -> f64 + 'static) -> Self {
        Part { most, ..Part::new(1.0, from, cost) }
    }
}

/// The best candidate of a family.
fn best(family: Vec<Part>, points: &[(f64, f64)]) -> Option<Candidate> {
    let (sizes, costs): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let constant = vec![1.0; points.len()];
    let nothing = vec![0.0; points.len()];
    let count = points.len() as f64;
    let candidate = |part: Part| {
        let growing: Vec<f64> = sizes.iter().map(|&n| (part.cost)(n)).collect();
        let linear = if part.beside_linear { &sizes } else { &nothing };
        let mut fit = non_negative(&[constant.clone(), linear.clone(), growing.clone()], &costs)?;
        let [_, factor, its_own] = fit.factors;
        if its_own > part.most * factor {
            // The best fit within the bound lies on it: both parts stand in the largest allowed
            // ratio.
            let together = sizes.iter().zip(&growing).map(|(n, growing)| n + part.most * growing).collect();
            fit = non_negative(&[constant.clone(), together, nothing.clone()], &costs)?;
            fit.factors[2] = part.most * fit.factors[1];
        }
        let places = usize::from(part.from.is_some() && fit.factors[2] > 0.0);
        let parameters = (fit.parts() + places) as f64;
        let akaike = count * (fit.squares / count).max(NOISE * NOISE).ln() + 2.0 * parameters;
        Some(Candidate { akaike, fit, power: part.power, from: part.from })
    };
    let order = |a: &Candidate, b: &Candidate| {
        a.akaike.total_cmp(&b.akaike).then(a.fit.squares.total_cmp(&b.fit.squares))
    };
    family.into_iter().filter_map(candidate).min_by(order)
}

/// Places between the first and the last size, evenly spaced in the logarithm.
fn places(points: &[(f64, f64)]) -> impl Iterator<Item = f64> {
    let first = points.first().map_or(1.0, |point| point.0);
    let count = (octaves(points) * PER_OCTAVE) as u32;
    (1..count).map(move |k| first * 2_f64.powf(f64::from(k) / PER_OCTAVE))
}

fn soft_family(points: &[(f64, f64)]) -> Vec<Part> {
    let first = points.first().map_or(1.0, |point| point.0);
    let mut family = vec![
        Part::soft(0.0, None, |_| 0.0),
        Part::soft(MOST_PER_E_FOLD, None, move |n| n * (n / first).ln()),
    ];
    for from in places(points) {
        family.push(Part::soft(MOST_PER_E_FOLD, Some(from), move |n| n * (n / from).ln().max(0.0)));
        family.push(Part::soft(MOST, Some(from), move |n| (n - from).max(0.0)));
    }
    family
}

fn lasting_family(points: &[(f64, f64)]) -> Vec<Part> {
    POWERS.iter().flat_map(|&power| of_power(points, power)).collect()
}

fn of_power(points: &[(f64, f64)], power: f64) -> Vec<Part> {
    let from_a_size_on = |from: f64| {
        Part::new(power, Some(from), move |n: f64| n * ((n / from).powf(power - 1.0) - 1.0).max(0.0))
    };
    std::iter::once(Part::new(power, None, move |n| n.powf(power)))
        .chain(places(points).map(from_a_size_on))
        .collect()
}

/// Curves without a bend: a fixed cost and one power.
fn pure_powers() -> Vec<Part> {
    (10..=35)
        .map(|tenths| f64::from(tenths) / 10.0)
        .map(|power| Part { beside_linear: false, ..Part::new(power, None, move |n| n.powf(power)) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::SizeCost;

    fn points(cost: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (6..=14).map(|k| f64::from(1 << k)).map(|n| (n, cost(n))).collect()
    }

    fn bend_of(cost: impl Fn(f64) -> f64) -> Option<Bend> {
        let points = points(cost);
        let totals: Vec<[f64; 6]> = points.iter().map(|point| [point.1; 6]).collect();
        let costs: Vec<SizeCost<'_>> = points
            .iter()
            .zip(&totals)
            .map(|(point, totals)| SizeCost { size: point.0 as u64, totals })
            .collect();
        let mut rng = Rng::with_seed(1);
        bend(&Curve::of(&costs, &mut rng), &mut rng)
    }

    #[test]
    fn powers_last_and_logarithms_steps_and_saturating_costs_do_not() {
        assert!(lasting(&points(|n| n + 0.001 * n * n)) > 10.0);
        assert!(lasting(&points(|n| 100.0 * n.powf(1.5))) > 10.0);
        assert!(lasting(&points(|n| n * (n / 900.0).max(1.0))) > 10.0);
        // Most of these are soft parts themselves, so nothing else describes them nearly as well.
        for (name, soft) in [
            ("linear", points(|n| 900.0 + 5.0 * n)),
            ("a collector from 512 on", points(|n| n * (1.0 + 0.8 * (n / 512.0).ln().max(0.0)))),
            ("a cache that misses", points(|n| n + 6.0 * (n - 1024.0).max(0.0))),
            ("a step", points(|n| if n > 1024.0 { 5.0 * n } else { n })),
            ("bending downwards", points(|n| 1e6 + 5.0 * n - 0.0001 * n * n)),
        ] {
            assert!(lasting(&soft) < -10.0, "{name}: {}", lasting(&soft));
        }
        assert!(lasting(&points(|n| n * n.log2())) < 0.0, "n log n");
        assert!(lasting(&[(1.0, 1.0), (2.0, 2.0)]) <= 0.0, "two points");
    }

    #[test]
    fn a_bend_is_where_the_parts_cost_the_same() {
        let smooth = bend_of(|n| 300.0 * n + 300.0 * n * n / 700.0).expect("a smooth bend");
        assert!((smooth.size - 700.0).abs() < 1.0, "{smooth:?}");
        let sharp = bend_of(|n| 9000.0 + 300.0 * n * (n / 1024.0).max(1.0)).expect("a sharp bend");
        assert!((sharp.size - 1024.0).abs() < 1.0 && sharp.gain > BEND_GAIN, "{sharp:?}");
        let (low, high) = sharp.interval;
        assert!(low <= 1024.0 && 1024.0 < high && high / low < 1.5, "{sharp:?}");
    }

    #[test]
    fn growth_from_the_smallest_size_on_has_no_bend() {
        assert_eq!(bend_of(|n| 3.0 * n * n), None);
        assert_eq!(bend_of(|n| 5000.0 + 3.0 * n * n), None);
        assert_eq!(bend_of(|n| n.powf(1.8)), None, "no sum of a line and a parabola, though nearly one");
    }
}
