//! The centre of values that lie alike on both sides of it, and its interval: the estimate of
//! Hodges and Lehmann (1963) and the interval by the signed-rank test (Wilcoxon 1945; Hollander,
//! Wolfe and Chicken, "Nonparametric Statistical Methods", section 3.2).
//!
//! Both are order statistics of the Walsh averages, the means of all pairs of values, each value
//! with itself included. The coverage follows exactly from the null distribution of the signed-rank
//! statistic. Assumed is symmetry, no shape. ln(b / a) of identical code is symmetric whatever the
//! noise is, since a and b can be exchanged: the rate of false alarms is exact. Of rows whose noise
//! differs in shape the centre lies a little beside the median, on the side of the longer tail.
//!
//! The interval is about 0.8 times as wide as that of the sign test ([`crate::sign`]) where the
//! noise is normal, which is worth half as many processes again (efficiency 0.955 against 0.637).
//! `cargo run --release -p taskscale-experiments --bin coverage` compares them.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::sign;

/// Up to so many values the distribution is summed exactly. Beyond, the normal approximation with
/// correction for continuity gives ranks that cover at least as much (tested at 51).
const EXACT: usize = 50;

/// The rank (from 1) of the Walsh average that bounds the centre of `n` values from below, counted
/// from the smallest; the upper bound has the same rank from the largest. It is `None` where even
/// the extremes cover less than `confidence`. O(n^3) up to 50 values, O(1) beyond.
///
/// ```
/// use taskscale_stats::signed_rank::rank;
/// // Hollander, Wolfe and Chicken, table A.4: for n = 10 a sum of at most 8 has probability 0.0244.
/// assert_eq!((rank(10, 0.95), rank(6, 0.95), rank(5, 0.95)), (Some(9), Some(1), None));
/// ```
pub fn rank(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    if n <= EXACT {
        return Some(exact(n, tail)).filter(|&rank| rank > 0);
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let sd = (mean * (2.0 * n + 1.0) / 6.0).sqrt();
    let below = mean + sd * Normal::standard().inverse_cdf(tail) - 0.5;
    Some(below as usize).filter(|&rank| rank > 0)
}

/// The largest rank whose smaller sums have at most the tail's probability.
fn exact(n: usize, tail: f64) -> usize {
    let mut below = 0.0;
    let sums = probabilities(n).into_iter().take_while(|probability| {
        below += probability;
        below <= tail
    });
    sums.count()
}

/// The probability of each sum of the ranks 1 to `n`, each of which is in it or not as a coin
/// falls, for the sums from 0 to half of the largest.
fn probabilities(n: usize) -> Vec<f64> {
    let mut of = vec![0.0; n * (n + 1) / 4 + 1];
    of[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..of.len()).rev() {
            let without = of[sum];
            let with = if sum >= rank { of[sum - rank] } else { 0.0 };
            of[sum] = f64::midpoint(without, with);
        }
    }
    of
}

/// The fewest values for an interval at `confidence`. All of them lie on one side of the centre
/// with the probability that the sign test has for it: 6 at 95 %.
pub fn fewest(confidence: f64) -> usize {
    sign::fewest(confidence)
}

/// The estimate of Hodges and Lehmann: the median of the Walsh averages of a sample in ascending
/// order. It is `None` for an empty sample and for one with a NaN. O(n log n).
///
/// ```
/// use taskscale_stats::signed_rank::centre;
/// // The averages are 1, 1.5, 2, 5, 5.5, 9.
/// assert_eq!(centre(&[1.0, 2.0, 9.0]), Some(3.5));
/// assert_eq!(centre(&[]), None);
/// ```
pub fn centre(sorted: &[f64]) -> Option<f64> {
    if sorted.is_empty() || sorted.iter().any(|value| value.is_nan()) {
        return None;
    }
    let averages = sorted.len() * (sorted.len() + 1) / 2;
    let middle = |rank| walsh(sorted, rank);
    Some(f64::midpoint(middle(averages.div_ceil(2)), middle(averages / 2 + 1)))
}

/// The interval of the centre of a sample in ascending order, in the unit of the sample. It is
/// `None` where the values are too few ([`fewest`]) or one is a NaN. O(n log n).
///
/// ```
/// use taskscale_stats::signed_rank::interval;
/// assert_eq!(interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95), Some((1.0, 6.0)));
/// ```
pub fn interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if sorted.iter().any(|value| value.is_nan()) {
        return None;
    }
    let rank = rank(sorted.len(), confidence)?;
    let averages = sorted.len() * (sorted.len() + 1) / 2;
    Some((walsh(sorted, rank), walsh(sorted, averages + 1 - rank)))
}

/// The Walsh average of this rank (from 1) of a sample in ascending order without NaN. The answer
/// is found by halving the range of floating-point numbers, 64 times: no average is kept, and a
/// million values take no more memory than they have.
fn walsh(sorted: &[f64], rank: usize) -> f64 {
    let (mut below, mut at_most) = (key(f64::NEG_INFINITY) - 1, key(f64::INFINITY));
    while at_most - below > 1 {
        let middle = below + (at_most - below) / 2;
        if averages_up_to(sorted, value(middle)) >= rank { at_most = middle } else { below = middle }
    }
    value(at_most)
}

/// The number of Walsh averages up to `limit`. O(n): where the smaller partner grows, the larger
/// may not.
fn averages_up_to(sorted: &[f64], limit: f64) -> usize {
    let mut end = sorted.len();
    let mut count = 0;
    for (at, &small) in sorted.iter().enumerate() {
        while end > at && f64::midpoint(small, sorted[end - 1]) > limit {
            end -= 1;
        }
        if end <= at {
            break;
        }
        count += end - at;
    }
    count
}

/// A number that is in the order of the floating-point numbers.
fn key(value: f64) -> i128 {
    let bits = value.to_bits();
    let magnitude = i128::from(bits & !(1 << 63));
    if bits >> 63 == 1 { -magnitude } else { magnitude }
}

/// The inverse of [`key`].
fn value(key: i128) -> f64 {
    let magnitude = f64::from_bits(key.unsigned_abs() as u64);
    if key < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::sorted;

    /// All Walsh averages of a sample in ascending order.
    fn averages(values: &[f64]) -> Vec<f64> {
        let pairs = (0..values.len()).flat_map(|a| (a..values.len()).map(move |b| (a, b)));
        sorted(&pairs.map(|(a, b)| f64::midpoint(values[a], values[b])).collect::<Vec<_>>())
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The largest sum of signed ranks with a probability of at most 2.5 % and of at most 0.5 %
        // on a side (Wilcoxon and Wilcox 1964); the rank is one more.
        let table = [
            (6, Some(0), None),
            (7, Some(2), None),
            (8, Some(3), Some(0)),
            (9, Some(5), Some(1)),
            (10, Some(8), Some(3)),
            (12, Some(13), Some(7)),
            (15, Some(25), Some(15)),
            (20, Some(52), Some(37)),
            (25, Some(89), Some(68)),
            (30, Some(137), Some(109)),
        ];
        let sum = |n, confidence| rank(n, confidence).map(|rank| rank - 1);
        for (n, five, one) in table {
            assert_eq!((sum(n, 0.95), sum(n, 0.99)), (five, one), "n = {n}");
        }
    }

    #[test]
    fn all_sums_have_probability_one() {
        for n in [1, 2, 3, 6, 7, 40] {
            let half = probabilities(n);
            let largest = n * (n + 1) / 2;
            let below: f64 = half.iter().sum();
            // Sums lie alike on both sides of the middle, which is itself a sum if it is whole.
            let middle = if largest.is_multiple_of(2) { half[largest / 2] } else { 0.0 };
            assert!((2.0 * below - middle - 1.0).abs() < 1e-12, "n = {n}");
        }
    }

    #[test]
    fn the_approximation_covers_no_less_than_it_says() {
        let n = EXACT + 1;
        for confidence in [0.9, 0.95, 0.99, 1.0 - 0.05 / 100.0, 1.0 - 0.05 / 1000.0] {
            let approximate = rank(n, confidence).expect("enough");
            let exact = exact(n, (1.0 - confidence) / 2.0);
            assert!(
                (exact * 9 / 10..=exact).contains(&approximate),
                "{confidence}: {approximate} of {exact}"
            );
        }
    }

    #[test]
    fn every_rank_is_that_of_the_sorted_averages() {
        let mut rng = fastrand::Rng::with_seed(3);
        for n in [1, 2, 3, 7, 20] {
            let sample = sorted(&(0..n).map(|_| f64::from(rng.i32(-9..9)) / 3.0).collect::<Vec<_>>());
            for (at, average) in averages(&sample).into_iter().enumerate() {
                assert_eq!(walsh(&sample, at + 1), average, "{sample:?}, rank {}", at + 1);
            }
        }
    }

    #[test]
    fn extreme_values_are_values() {
        let sample = [f64::NEG_INFINITY, -f64::MAX, -0.0, f64::MIN_POSITIVE, 1.0, f64::MAX];
        assert_eq!(interval(&sample, 0.95), Some((f64::NEG_INFINITY, f64::MAX)));
        assert_eq!(interval(&[f64::INFINITY; 6], 0.95), Some((f64::INFINITY, f64::INFINITY)));
        assert_eq!(centre(&[1.0, f64::NAN]), None);
        assert_eq!(interval(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], 0.95), None);
    }

    #[test]
    fn the_centre_lies_in_its_interval_and_is_that_of_symmetric_values() {
        let sample: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(centre(&sample), Some(10.5));
        assert_eq!(interval(&sample, 0.95), Some((7.5, 13.5)));
        assert_eq!(fewest(0.95), sign::FEWEST);
        assert_eq!(rank(fewest(1.0 - 0.05 / 100.0) - 1, 1.0 - 0.05 / 100.0), None);
    }
}
