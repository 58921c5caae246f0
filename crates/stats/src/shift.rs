//! The factor by which the median process of one session differs from that of another session.
//! Nothing is paired.
//!
//! The estimate is that of Hodges and Lehmann (1963): the median of all differences ln(new) -
//! ln(old) between a process of one side and a process of the other. The ends of its interval are
//! order statistics of these differences. Their coverage follows exactly from the null distribution
//! of the rank-sum statistic (Mann and Whitney 1947; Hollander, Wolfe and Chicken, "Nonparametric
//! Statistical Methods", section 4.3). The interval assumes no shape, but that both sides are
//! spread alike.
//!
//! `cargo run --release -p taskscale-experiments --bin shift` compares it with other intervals
//! (docs/evidence/comparisons.md). It cannot see a difference between the sessions themselves,
//! which is the same for all processes of a side.

use crate::quantile::{quantile, sorted};

/// The most processes of a side that are used. Of more, this many are taken evenly spaced in
/// ascending order, which only widens the interval. A file with a million processes would otherwise
/// need a million times a million differences.
pub const MOST: usize = 400;

/// A row is called better or worse only beyond this many times the largest shift of any row whose
/// code did not change. Two sessions on one machine differ, from row to row too. With 1 the row
/// that the sessions moved most stands out by chance (experiment `shift`).
pub const BEYOND_UNCHANGED: f64 = 2.0;

/// Largest product of the two numbers of processes for which the distribution is summed exactly.
/// The normal approximation, with correction for continuity, differs from it by less than one rank
/// in a hundred at 51 x 50 and 99.95 % (tested).
const EXACT: usize = 2_500;

/// The factor by which one side differs from another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The estimate of ln(new / old).
    pub log: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl Shift {
    /// The shift between two sides with one positive value for each process, and its interval at
    /// `confidence`. It is `None` where a value is not positive and finite or the processes are too
    /// few ([`fewest`]). O(n m log(n m)), with at most [`MOST`] on a side.
    ///
    /// ```
    /// use taskscale_stats::shift::Shift;
    /// let old = [100.0, 101.0, 99.0, 100.5, 99.5];
    /// let shift = Shift::of(&old, &old.map(|cost| 1.2 * cost), 0.95).expect("five processes a side");
    /// assert!((shift.log.exp() - 1.2).abs() < 1e-12 && shift.low > 0.15);
    /// ```
    pub fn of(old: &[f64], new: &[f64], confidence: f64) -> Option<Self> {
        let (old, new) = (logs(old)?, logs(new)?);
        let rank = rank(old.len(), new.len(), confidence)?;
        let differences = differences(&old, &new);
        Some(Shift {
            log: quantile(&differences, 0.5)?,
            low: differences[rank - 1],
            high: differences[differences.len() - rank],
        })
    }
}

/// The estimate of ln(new / old) alone. It is `None` where a side is empty or a value is not
/// positive and finite. It costs as much as [`Shift::of`].
pub fn estimate(old: &[f64], new: &[f64]) -> Option<f64> {
    quantile(&differences(&logs(old)?, &logs(new)?), 0.5)
}

/// The fewest processes on either side, as many on both, for an interval at `confidence`: 4 at 95
/// %, 8 over a hundred rows (Bonferroni).
///
/// ```
/// use taskscale_stats::shift::fewest;
/// assert_eq!((fewest(0.95), fewest(1.0 - 0.05 / 100.0)), (4, 8));
/// ```
pub fn fewest(confidence: f64) -> usize {
    // At 15 a side the interval of all differences misses in 1.3 cases of 100 million. No number of
    // processes serves a confidence beyond that.
    (1..=15).find(|&n| rank(n, n, confidence).is_some()).unwrap_or(usize::MAX)
}

/// Natural logarithms in ascending order, thinned to [`MOST`].
fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let logs: Option<Vec<f64>> =
        values.iter().map(|&value| (value > 0.0 && value.is_finite()).then(|| value.ln())).collect();
    let logs = sorted(&logs?);
    if logs.len() <= MOST {
        return Some(logs);
    }
    Some((0..MOST).map(|index| logs[index * (logs.len() - 1) / (MOST - 1)]).collect())
}

fn differences(old: &[f64], new: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = new.iter().flat_map(|new| old.iter().map(move |old| new - old)).collect();
    sorted(&all)
}

/// The rank (from 1) of the differences that bound the interval, counted from below and from above:
/// the largest that still covers. It is `None` where even the smallest and the largest difference
/// cover too little.
///
/// The `rank`-th smallest lies above the true shift when fewer than `rank` differences lie below
/// the shift. Their number is distributed like the rank-sum statistic U, so the tail of U below
/// `rank` may hold (1 - confidence) / 2.
fn rank(n: usize, m: usize, confidence: f64) -> Option<usize> {
    if n == 0 || m == 0 {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    if n * m > EXACT {
        return normal_rank(n, m, tail);
    }
    let mut below = 0.0;
    let mut rank = 0;
    for probability in u_distribution(n, m) {
        below += probability;
        if below > tail {
            break;
        }
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

/// The probabilities of U = 0, 1 ... n m / 2 where both sides come from one distribution without
/// ties, by the recurrence of Mann and Whitney. The largest of all values is of the first side in n
/// of n + m cases, and then lies above all m of the other. O(n^2 m^2), at most 3 million steps.
fn u_distribution(n: usize, m: usize) -> Vec<f64> {
    let most = n * m / 2;
    // by_m[j] is the distribution for (i, j) in round i.
    let unit = || {
        let mut only_zero = vec![0.0; most + 1];
        only_zero[0] = 1.0;
        only_zero
    };
    let mut by_m: Vec<Vec<f64>> = (0..=m).map(|_| unit()).collect();
    for i in 1..=n {
        for j in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut next = vec![0.0; most + 1];
            for (u, probability) in next.iter_mut().enumerate() {
                let first = if u >= j { by_m[j][u - j] } else { 0.0 };
                *probability = share * first + (1.0 - share) * by_m[j - 1][u];
            }
            by_m[j] = next;
        }
    }
    by_m.pop().unwrap_or_default()
}

fn normal_rank(n: usize, m: usize, tail: f64) -> Option<usize> {
    use statrs::distribution::{ContinuousCDF, Normal};
    let (n, m) = (n as f64, m as f64);
    let z = Normal::standard().inverse_cdf(tail);
    let rank = n * m / 2.0 + 0.5 + z * (n * m * (n + m + 1.0) / 12.0).sqrt();
    (rank >= 1.0).then_some(rank as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_printed_tables() {
        // Critical values of U, two-sided 5 % and 1 % (Mann and Whitney 1947 and every textbook
        // since). Each is the largest significant U, so the rank is one more.
        for (n, m, five, one) in [
            (4, 4, Some(0), None),
            (5, 5, Some(2), Some(0)),
            (6, 6, Some(5), Some(2)),
            (8, 8, Some(13), Some(7)),
            (7, 10, Some(14), Some(9)),
            (10, 10, Some(23), Some(16)),
            (15, 15, Some(64), Some(51)),
            (20, 20, Some(127), Some(105)),
        ] {
            assert_eq!(rank(n, m, 0.95), five.map(|u: usize| u + 1), "{n}, {m} at 95 %");
            assert_eq!(rank(n, m, 0.99), one.map(|u: usize| u + 1), "{n}, {m} at 99 %");
            assert_eq!(rank(m, n, 0.95), rank(n, m, 0.95), "{n}, {m}: either way round");
        }
        assert_eq!((rank(3, 3, 0.95), rank(0, 9, 0.95)), (None, None));
    }

    #[test]
    fn the_distribution_is_counted_rightly() {
        // All 70 ways of placing four of eight are counted one by one.
        let mut counts = [0.0; 17];
        for chosen in 0_u32..256 {
            if chosen.count_ones() == 4 {
                let below = |place: u32| (chosen & ((1 << place) - 1)).count_ones();
                let u: u32 = (0..8).filter(|place| chosen >> place & 1 == 0).map(below).sum();
                counts[u as usize] += 1.0 / 70.0;
            }
        }
        for (u, probability) in u_distribution(4, 4).iter().enumerate() {
            assert!((probability - counts[u]).abs() < 1e-12, "U = {u}: {probability}");
        }
    }

    #[test]
    fn the_approximation_is_close_where_it_takes_over() {
        for confidence in [0.95, 0.99, 0.9995] {
            let exact = rank(50, 50, confidence).expect("enough") as f64;
            let normal = normal_rank(50, 50, (1.0 - confidence) / 2.0).expect("enough") as f64;
            assert!((normal / exact - 1.0).abs() < 0.01, "{confidence}: {exact} {normal}");
        }
    }

    #[test]
    fn the_median_of_all_differences() {
        // Values of 1, 2 to 10, 20, 40 on the log scale, by hand.
        let exp = |values: &[f64]| values.iter().map(|x: &f64| x.exp()).collect::<Vec<_>>();
        let (old, new) = (exp(&[1.0, 2.0]), exp(&[10.0, 20.0, 40.0]));
        // 8, 9, 18, 19, 38, 39
        assert!((estimate(&old, &new).expect("positive") - 18.5).abs() < 1e-9);
        assert_eq!(Shift::of(&old, &new, 0.95), None, "too few");
    }

    #[test]
    fn what_cannot_be_compared_is_none() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Shift::of(&[1.0; 8], &[1.0, 1.0, 1.0, bad, 1.0, 1.0], 0.95), None, "{bad}");
        }
        assert_eq!((estimate(&[], &[1.0]), estimate(&[1.0], &[])), (None, None));
    }

    #[test]
    fn many_processes_are_thinned() {
        let many: Vec<f64> = (0..100_000).map(|i| 100.0 + f64::from(i % 1000) / 1000.0).collect();
        let shift = Shift::of(&many, &many, 0.999).expect("enough");
        assert!(shift.log.abs() < 1e-12 && shift.low < 0.0 && shift.high > 0.0);
    }
}
