//! Quantiles of a sample, by linear interpolation between order statistics (type 7 of Hyndman and
//! Fan, "Sample quantiles in statistical packages", 1996: the default of R, NumPy and Julia).

/// The sample in ascending order. NaN sorts last, so that it is seen as the maximum and not lost.
/// O(n log n).
pub fn sorted(sample: &[f64]) -> Vec<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile `p` (0 to 1, clamped) of a sample in ascending order; `None` for an empty one.
/// O(1).
///
/// ```
/// use taskscale_stats::quantile::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
/// assert_eq!(quantile(&[], 0.5), None);
/// ```
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * p.clamp(0.0, 1.0);
    let below = position.floor() as usize;
    let fraction = position - below as f64;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    // Equal neighbours, infinite ones too, must give themselves: the formula makes NaN of two
    // infinities.
    if fraction == 0.0 || low == high { Some(low) } else { Some((low + (high - low) * fraction).min(high)) }
}

/// The median of a sample in any order; `None` for an empty one. O(n log n).
///
/// ```
/// assert_eq!(taskscale_stats::quantile::median(&[9.0, 1.0, 5.0]), Some(5.0));
/// ```
pub fn median(sample: &[f64]) -> Option<f64> {
    quantile(&sorted(sample), 0.5)
}

/// The percentiles that every series is shown with, in the unit of the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentiles {
    /// Smallest.
    pub p0: f64,
    /// First quartile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// Third quartile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile. Below 100 samples it rests on the maximum alone.
    pub p99: f64,
    /// Largest.
    pub p100: f64,
}

impl Percentiles {
    /// The percentiles of a sample in ascending order; `None` for an empty one. O(1).
    ///
    /// ```
    /// use taskscale_stats::quantile::Percentiles;
    /// let hundred_and_one: Vec<f64> = (0..=100).map(f64::from).collect();
    /// let percentiles = Percentiles::of_sorted(&hundred_and_one).expect("not empty");
    /// assert_eq!((percentiles.p0, percentiles.p90, percentiles.p99), (0.0, 90.0, 99.0));
    /// ```
    pub fn of_sorted(sorted: &[f64]) -> Option<Self> {
        let at = |p| quantile(sorted, p);
        Some(Percentiles {
            p0: at(0.0)?,
            p25: at(0.25)?,
            p50: at(0.5)?,
            p75: at(0.75)?,
            p90: at(0.9)?,
            p99: at(0.99)?,
            p100: at(1.0)?,
        })
    }

    /// The percentiles of a sample in any order; `None` for an empty one. O(n log n).
    pub fn of(sample: &[f64]) -> Option<Self> {
        Self::of_sorted(&sorted(sample))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_numpy() {
        // numpy.quantile([15, 20, 35, 40, 50], [.05, .3, .4, .5, 1]) and R's quantile(type = 7).
        let sample = [15.0, 20.0, 35.0, 40.0, 50.0];
        for (p, expected) in [(0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (1.0, 50.0)] {
            let found = quantile(&sample, p).expect("not empty");
            assert!((found - expected).abs() < 1e-12, "p {p}: {found}");
        }
    }

    #[test]
    fn infinite_neighbours_stay_infinite() {
        assert_eq!(quantile(&[1.0, f64::INFINITY, f64::INFINITY], 0.75), Some(f64::INFINITY));
    }
}
