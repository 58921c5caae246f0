//! The order-statistic interval of a median, also called the sign-test interval (Thompson 1936;
//! Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", section 3.6).
//!
//! Each sample falls below the true median with probability 1/2, whatever the distribution. The
//! number of samples below is therefore binomial, and the k-th smallest and k-th largest enclose
//! the median with a probability that can be summed exactly. No shape is assumed, nothing is drawn
//! at random, nothing can be tuned.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Fewest samples for a 95 % interval. Five samples all lie on one side of the median in 2 of 32
/// cases, which is 6.25 %.
pub const FEWEST: usize = 6;

/// The probability that the `rank`-th smallest and the `rank`-th largest (from 1) of `n` enclose
/// the median of a continuous distribution. It is higher for one with ties, and zero where the
/// ranks cross. O(1).
///
/// ```
/// use taskscale_stats::sign::exact_coverage;
/// assert!((exact_coverage(6, 1) - (1.0 - 2.0 / 64.0)).abs() < 1e-12);
/// ```
pub fn exact_coverage(n: usize, rank: usize) -> f64 {
    if rank == 0 || 2 * rank > n {
        return if rank == 0 { 1.0 } else { 0.0 };
    }
    // `new` refuses only probabilities outside 0 to 1.
    let Ok(binomial) = Binomial::new(0.5, n as u64) else { return 0.0 };
    1.0 - 2.0 * binomial.cdf(rank as u64 - 1)
}

/// The ranks (from 1) of the samples that bound the median: the narrowest symmetric pair that
/// covers at least `confidence`. It is `None` where even the smallest and the largest sample cover
/// less. O(log n).
///
/// ```
/// use taskscale_stats::sign::sign_ranks;
/// assert_eq!(sign_ranks(20, 0.95), Some((6, 15)));
/// assert_eq!(sign_ranks(5, 0.95), None);
/// ```
pub fn sign_ranks(n: usize, confidence: f64) -> Option<(usize, usize)> {
    // Coverage falls as the rank rises. The loop searches the last rank that still covers.
    let (mut covers, mut too_narrow) = (0, n / 2 + 1);
    while too_narrow - covers > 1 {
        let rank = usize::midpoint(covers, too_narrow);
        if exact_coverage(n, rank) >= confidence {
            covers = rank;
        } else {
            too_narrow = rank;
        }
    }
    (covers > 0).then_some((covers, n + 1 - covers))
}

/// The fewest samples for an interval at `confidence`: 6 at 95 %, 12 over a hundred rows
/// (Bonferroni).
///
/// ```
/// use taskscale_stats::sign::fewest;
/// assert_eq!((fewest(0.95), fewest(1.0 - 0.05 / 100.0)), (6, 12));
/// ```
pub fn fewest(confidence: f64) -> usize {
    // All n samples lie on one side of the median with probability 2^(1 - n). Below 2^-62 no
    // confidence can be told from 1.
    (1..64).find(|&n| sign_ranks(n, confidence).is_some()).unwrap_or(usize::MAX)
}

/// The interval of the median of a sample in ascending order, in the unit of the sample. It is
/// `None` where the samples are too few ([`FEWEST`] at 95 %). O(log n).
///
/// ```
/// use taskscale_stats::sign::sign_interval;
/// let sorted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// assert_eq!(sign_interval(&sorted, 0.95), Some((1.0, 6.0)));
/// ```
pub fn sign_interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let (low, high) = sign_ranks(sorted.len(), confidence)?;
    Some((sorted[low - 1], sorted[high - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_table() {
        // Columns: n, ranks at 95 %, coverage in %, ranks with Bonferroni over 10 and over 50 rows.
        let table = [
            (15, (4, 12), 96.5, (2, 14), (2, 14)),
            (20, (6, 15), 95.9, (4, 17), (3, 18)),
            (50, (18, 33), 96.7, (15, 36), (14, 37)),
            (100, (40, 61), 96.5, (36, 65), (34, 67)),
            (200, (86, 115), 96.0, (80, 121), (77, 124)),
        ];
        for (n, ranks, coverage, ten, fifty) in table {
            assert_eq!(sign_ranks(n, 0.95), Some(ranks), "n = {n}");
            assert!((100.0 * exact_coverage(n, ranks.0) - coverage).abs() < 0.06, "n = {n}");
            assert_eq!(sign_ranks(n, 1.0 - 0.05 / 10.0), Some(ten), "n = {n}, ten rows");
            assert_eq!(sign_ranks(n, 1.0 - 0.05 / 50.0), Some(fifty), "n = {n}, fifty rows");
        }
    }

    #[test]
    fn fewest_samples_are_those_of_the_table() {
        for (rows, fewest) in [(1.0, FEWEST), (10.0, 9), (20.0, 10), (50.0, 11), (100.0, 12)] {
            let confidence = 1.0 - 0.05 / rows;
            assert_eq!(sign_ranks(fewest - 1, confidence), None, "{rows} rows");
            assert_eq!(sign_ranks(fewest, confidence), Some((1, fewest)), "{rows} rows");
        }
    }

    #[test]
    fn coverage_agrees_with_integer_sums() {
        for n in 1..=120_usize {
            let mut binomial: u128 = 1;
            let mut below: u128 = 0;
            for rank in 1..=n / 2 {
                below += binomial;
                binomial = binomial * (n - rank + 1) as u128 / rank as u128;
                let exact = 1.0 - 2.0 * (below as f64 / 2.0_f64.powi(n as i32));
                assert!((exact_coverage(n, rank) - exact).abs() < 1e-9, "n = {n}, rank = {rank}");
            }
        }
    }

    #[test]
    fn crossing_ranks_cover_nothing() {
        assert_eq!(exact_coverage(10, 6), 0.0);
        assert_eq!(exact_coverage(0, 1), 0.0);
        assert_eq!(sign_ranks(0, 0.95), None);
    }
}
