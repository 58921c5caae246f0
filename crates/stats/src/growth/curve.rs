//! A curve of cost over size with its bootstrap draws. Every rule of growth reads it.

use fastrand::Rng;

use super::{MIN_OCTAVES, MIN_ROUNDS, MIN_STEPS, SizeCost, fit};
use crate::{
    bootstrap::{self, RESAMPLES},
    quantile::{median, quantile},
};

/// The usable sizes, ascending.
pub struct Curve {
    pub sizes: Vec<u64>,
    /// Size and cost. The cost is the median of the observations.
    pub points: Vec<(f64, f64)>,
    /// [`RESAMPLES`] curves of the same sizes, from observations drawn with replacement.
    pub draws: Vec<Vec<f64>>,
    /// The factor by which the observations of each size differ: the 80th over the 20th percentile,
    /// which is the second largest over the second smallest of six.
    spreads: Vec<f64>,
}

impl Curve {
    /// The curve of the sizes with enough observations and costs above zero. O([`RESAMPLES`] x
    /// observations log observations, over all sizes).
    pub fn of(sizes: &[SizeCost<'_>], rng: &mut Rng) -> Self {
        let mut usable: Vec<SizeCost<'_>> = sizes.iter().copied().filter(is_usable).collect();
        usable.sort_unstable_by_key(|cost| cost.size);
        // The median is never NaN: usable totals are finite and not empty.
        let points = usable.iter().map(|cost| (cost.size as f64, median(cost.totals).unwrap_or(f64::NAN)));
        let mut draw = Vec::new();
        let draws = (0..RESAMPLES)
            .map(|_| {
                let cost = |cost: &SizeCost<'_>| {
                    draw.resize(cost.totals.len(), 0.0);
                    bootstrap::resample(cost.totals, &mut draw, rng);
                    draw.sort_unstable_by(f64::total_cmp);
                    quantile(&draw, 0.5).unwrap_or(f64::NAN)
                };
                usable.iter().map(cost).collect()
            })
            .collect();
        let sizes = usable.iter().map(|cost| cost.size).collect();
        Curve { points: points.collect(), draws, sizes, spreads: usable.iter().map(spread).collect() }
    }

    /// The largest factor by which observations of one size differ, from the size of index `start`
    /// on; at least 1.
    pub fn spread(&self, start: usize) -> f64 {
        self.spreads[start..].iter().copied().fold(1.0, f64::max)
    }

    /// The index of the size, up to `last`, from which on the cost per task grows by the largest
    /// factor to the largest size, and that factor.
    pub fn excess(&self, last: usize) -> (usize, f64) {
        let per_task = |&(size, cost): &(f64, f64)| cost / size;
        let start = self.points[..=last].iter().map(per_task).enumerate();
        let Some((lowest, least)) = start.min_by(|a, b| a.1.total_cmp(&b.1)) else { return (last, 1.0) };
        (lowest, self.points.last().map_or(1.0, |point| per_task(point) / least))
    }

    /// Any statistic of the curve's points, with its interval.
    pub fn statistic(&self, of: impl Fn(&[(f64, f64)]) -> f64) -> Option<(f64, (f64, f64))> {
        let mut drawn = self.points.clone();
        let values = self
            .draws
            .iter()
            .map(|costs| {
                drawn.iter_mut().zip(costs).for_each(|(point, cost)| point.1 = *cost);
                of(&drawn)
            })
            .collect();
        let found = of(&self.points);
        Some((found, bootstrap::middle(values, crate::confidence::CONFIDENCE)?)).filter(|_| found.is_finite())
    }

    /// The exponent of the sizes from `start` to `end` (excluded), with its interval.
    pub fn exponent(&self, start: usize, end: usize) -> Option<(f64, (f64, f64))> {
        self.statistic(|points| fit::exponent(&points[start..end]))
    }

    /// Index of the size at which the last three octaves begin: the largest size from which three
    /// octaves and [`MIN_STEPS`] steps lead to the end.
    pub fn tail(&self) -> Option<usize> {
        let last_start = self.points.len().checked_sub(MIN_STEPS + 1)?;
        (0..=last_start).rev().find(|&start| octaves(&self.points[start..]) >= MIN_OCTAVES)
    }

    /// Index of the size at which the last octave begins: the largest size from which an octave
    /// leads to the end.
    pub fn last_octave(&self) -> Option<usize> {
        (0..self.points.len()).rev().find(|&start| octaves(&self.points[start..]) >= 1.0)
    }
}

fn spread(cost: &SizeCost<'_>) -> f64 {
    let totals = crate::quantile::sorted(cost.totals);
    let at = |share: f64| quantile(&totals, share).unwrap_or(f64::NAN);
    at(0.8) / at(0.2)
}

fn is_usable(cost: &SizeCost<'_>) -> bool {
    cost.size > 0 && cost.totals.len() >= MIN_ROUNDS && cost.totals.iter().all(|&t| t > 0.0 && t.is_finite())
}

/// Octaves between the first and the last size.
pub fn octaves(points: &[(f64, f64)]) -> f64 {
    match (points.first(), points.last()) {
        (Some(first), Some(last)) => (last.0 / first.0).log2(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(sizes: impl Iterator<Item = f64>) -> Option<usize> {
        let points: Vec<(f64, f64)> = sizes.map(|n| (n, 1.0)).collect();
        Curve { sizes: Vec::new(), draws: Vec::new(), points, spreads: Vec::new() }.tail()
    }

    #[test]
    fn half_octaves_and_wide_steps_are_measured_in_octaves() {
        assert_eq!(
            tail((0..=12).map(|i| 64.0 * 2.0_f64.powf(f64::from(i) / 2.0))),
            Some(6),
            "six half octaves"
        );
        let decades = [1.0, 10.0, 100.0, 1000.0, 10_000.0];
        assert_eq!(tail(decades.into_iter()), Some(2), "two steps, though one alone spans three octaves");
    }
}
