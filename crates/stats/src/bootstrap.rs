//! The percentile bootstrap (Efron 1979): it draws from the sample with replacement, computes the
//! statistic of each draw, and takes the middle share of the results.
//!
//! The sign interval is preferred for a median, that of the signed ranks for ratios: the experiment
//! `coverage` shows the false-alarm rates of all. The bootstrap is for statistics without an exact
//! interval, such as the exponent of growth.

use fastrand::Rng;

use crate::quantile::quantile;

/// The number of draws for a 95 % interval: 25 of them lie outside on either side.
pub const RESAMPLES: usize = 1000;

/// Fills `into` with draws from `from`, with replacement. `from` must not be empty unless `into`
/// is. O(n).
pub fn resample(from: &[f64], into: &mut [f64], rng: &mut Rng) {
    for slot in into {
        *slot = from[rng.usize(..from.len())];
    }
}

/// The interval of `statistic` over a sample, from `resamples` draws. It is `None` for an empty
/// sample, without draws, or where the statistic of some draw is not a number. O(resamples x cost
/// of the statistic).
///
/// The statistic may reorder the slice it is given. The same generator state gives the same
/// interval.
///
/// ```
/// use taskscale_stats::bootstrap;
/// let sample: Vec<f64> = (0..200).map(f64::from).collect();
/// let mean = |draw: &mut [f64]| draw.iter().sum::<f64>() / draw.len() as f64;
/// let mut rng = fastrand::Rng::with_seed(1);
/// let (low, high) = bootstrap::interval(&sample, mean, bootstrap::RESAMPLES, 0.95, &mut rng).expect("a sample");
/// assert!(low < 99.5 && 99.5 < high && high - low < 20.0);
/// ```
pub fn interval(
    sample: &[f64],
    mut statistic: impl FnMut(&mut [f64]) -> f64,
    resamples: usize,
    confidence: f64,
    rng: &mut Rng,
) -> Option<(f64, f64)> {
    if sample.is_empty() {
        return None;
    }
    let mut draw = vec![0.0; sample.len()];
    let values = (0..resamples)
        .map(|_| {
            resample(sample, &mut draw, rng);
            statistic(&mut draw)
        })
        .collect();
    middle(values, confidence)
}

/// The middle share of bootstrapped values; `None` without values or where one is not a number. O(n
/// log n).
pub fn middle(mut values: Vec<f64>, confidence: f64) -> Option<(f64, f64)> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let outside = (1.0 - confidence) / 2.0;
    Some((quantile(&values, outside)?, quantile(&values, 1.0 - outside)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_has_the_known_width() {
        // The sample is 400 values of 0 and 1. The standard error of its mean is 0.5 / 20, so the
        // 95 % interval is 2 x 1.96 x 0.025 wide.
        let sample: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let mean = |draw: &mut [f64]| draw.iter().sum::<f64>() / draw.len() as f64;
        let (low, high) = interval(&sample, mean, 4000, 0.95, &mut Rng::with_seed(3)).expect("a sample");
        assert!(((high - low) / 0.098 - 1.0).abs() < 0.1, "{low} {high}");
    }

    #[test]
    fn the_seed_decides() {
        let sample: Vec<f64> = (0..50).map(|i| f64::from(i * i)).collect();
        let run = |seed| interval(&sample, |draw| draw[0], 200, 0.9, &mut Rng::with_seed(seed));
        assert_eq!(run(7), run(7));
        assert_eq!(interval(&[], |_| 0.0, 10, 0.95, &mut Rng::with_seed(1)), None);
        assert_eq!(interval(&sample, |_| f64::NAN, 10, 0.95, &mut Rng::with_seed(1)), None);
    }
}
