//! The shift of one row against two rows of the same code that were measured beside it: the test of
//! Hodges and Lehmann by aligned ranks (1962, "Rank methods for combination of independent
//! experiments in analysis of variance", section 4), and the interval that it does not refuse.
//!
//! Each triple of processes is aligned, so that its three values lie around 0, and the values of
//! all triples are ranked together. If the first row is the same code as the two others, each of
//! the three values of a triple is as likely to be its own as the others'. The null distribution of
//! its sum of ranks follows from that alone, whatever the shape of the noise: the rate of false
//! alarms is exact. Means of the two others against the first would not have that: of skewed noise
//! they lie to one side.
//!
//! Against the signed ranks of the first two rows ([`crate::signed_rank`]) the interval is some
//! 0.85 times as wide, which is worth 40 % more processes, and it needs fewer of them: five at 99
//! %, where signed ranks need eight.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to so many triples the distribution is summed exactly. Beyond, it is the normal one, with
/// correction for continuity.
const EXACT: usize = 50;

/// The ends of an interval are known to this, in ln units: a millionth.
const PRECISION: f64 = 1e-6;

/// The logs of three values that were measured side by side, of which the first is compared with
/// the two others.
pub type Triple = [f64; 3];

/// The fewest triples for an interval at `confidence`: 4 at 95 %, 5 at 99 %. The first values of
/// all are the largest with the probability 3^-n.
///
/// ```
/// use taskscale_stats::aligned_rank::fewest;
/// assert_eq!((fewest(0.95), fewest(0.99)), (4, 5));
/// ```
pub fn fewest(confidence: f64) -> usize {
    let tail = (1.0 - confidence) / 2.0;
    (1..64).find(|&n| 3_f64.powi(-n) <= tail).map_or(usize::MAX, |n| n as usize)
}

/// The interval of the first value less the others. It is `None` where the triples are too few
/// ([`fewest`]) or a value is no finite number. O(n^2) for each of some 40 tests up to 50 triples,
/// O(n log n) beyond.
///
/// ```
/// use taskscale_stats::aligned_rank::interval;
/// let triples = [[1.3, 0.0, 0.1], [1.1, 0.1, 0.0], [1.2, 0.0, 0.0], [1.0, 0.1, 0.1], [1.2, 0.1, 0.0]];
/// let (low, high) = interval(&triples, 0.99).expect("five triples");
/// assert!(low > 0.8 && high < 1.4);
/// ```
pub fn interval(triples: &[Triple], confidence: f64) -> Option<(f64, f64)> {
    let tail = (1.0 - confidence) / 2.0;
    let reach = reach(triples).filter(|_| triples.len() >= fewest(confidence))?;
    let low = first(-reach, reach, |shift| Null::of(triples, shift).at_least() > tail);
    let high = first(-reach, reach, |shift| Null::of(triples, shift).at_most() <= tail);
    Some((low, high))
}

/// The shift at which the first values are ranked as the others are. It is `None` for no triple,
/// and where a value is no finite number.
pub fn centre(triples: &[Triple]) -> Option<f64> {
    let reach = reach(triples)?;
    // A third of all ranks: twice the sum of 1 to 3 n, over 3.
    let middle = triples.len() * (3 * triples.len() + 1);
    Some(first(-reach, reach, |shift| Null::of(triples, shift).sum <= middle))
}

/// More than by what any two values differ: so far up or down the first ones lie beyond all others.
fn reach(triples: &[Triple]) -> Option<f64> {
    let all = || triples.iter().flatten().copied();
    if triples.is_empty() || !all().all(f64::is_finite) {
        return None;
    }
    let low = all().fold(f64::INFINITY, f64::min);
    let high = all().fold(f64::NEG_INFINITY, f64::max);
    Some((high - low) + 2.0 * PRECISION)
}

/// Where `is` begins to hold between `below` and `from`, by halving.
fn first(mut below: f64, mut from: f64, is: impl Fn(f64) -> bool) -> f64 {
    while from - below > PRECISION {
        let middle = f64::midpoint(below, from);
        if is(middle) { from = middle } else { below = middle }
    }
    f64::midpoint(below, from)
}

/// The sum of the first values' ranks, with what it could have been.
struct Null {
    /// Twice the ranks (from 1) of each triple's values. Equal values share the mean of theirs.
    ranks: Vec<[usize; 3]>,
    /// Of the first values.
    sum: usize,
}

impl Null {
    /// With the first values less `shift`.
    fn of(triples: &[Triple], shift: f64) -> Self {
        let moved = |at: usize| if at.is_multiple_of(3) { shift } else { 0.0 };
        let values: Vec<f64> = triples.iter().flatten().enumerate().map(|(at, v)| v - moved(at)).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut doubled = vec![0; values.len()];
        let mut from = 0;
        while from < order.len() {
            let alike = order[from..].iter().take_while(|&&at| values[at] <= values[order[from]]).count();
            // The ranks from + 1 to from + alike.
            for &at in &order[from..from + alike] {
                doubled[at] = 2 * from + 1 + alike;
            }
            from += alike;
        }
        let ranks: Vec<[usize; 3]> =
            doubled.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect();
        Null { sum: ranks.iter().map(|three| three[0]).sum(), ranks }
    }

    /// The probability of this sum or more.
    fn at_least(&self) -> f64 {
        self.tail(self.sum, |three| three)
    }

    /// The probability of this sum or less.
    fn at_most(&self) -> f64 {
        let top = 6 * self.ranks.len() + 2;
        let mirrored = |three: [usize; 3]| three.map(|rank| top - rank);
        self.tail(top * self.ranks.len() - self.sum, mirrored)
    }

    /// The probability that one of each triple's ranks, as `of` makes them, sum to `sum` or more.
    fn tail(&self, sum: usize, of: impl Fn([usize; 3]) -> [usize; 3]) -> f64 {
        let ranks = self.ranks.iter().map(|&three| of(three));
        if self.ranks.len() > EXACT {
            return normal_tail(ranks, sum);
        }
        let least = |three: [usize; 3]| three.into_iter().min().unwrap_or(0);
        let Some(above) = sum.checked_sub(ranks.clone().map(least).sum()) else { return 1.0 };
        // The probabilities of sums above the least, up to the one wanted: what reaches it stays.
        let mut sums = vec![0.0; above + 1];
        sums[0] = 1.0;
        for three in ranks {
            let steps = three.map(|rank| rank - least(three));
            let mut next = vec![0.0; above + 1];
            for (at, probability) in sums.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
                for step in steps {
                    next[(at + step).min(above)] += probability / 3.0;
                }
            }
            sums = next;
        }
        sums[above]
    }
}

fn normal_tail(ranks: impl Iterator<Item = [usize; 3]>, sum: usize) -> f64 {
    let (mut mean, mut variance) = (0.0, 0.0);
    for three in ranks {
        let three = three.map(|rank| rank as f64);
        let middle = three.iter().sum::<f64>() / 3.0;
        mean += middle;
        variance += three.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>() / 3.0;
    }
    if variance <= 0.0 {
        return 1.0;
    }
    // Ranks are doubled, so sums lie two apart where no values are equal.
    1.0 - Normal::standard().cdf((sum as f64 - 1.0 - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use proptest::prelude::*;

    /// The probability by trying all ways to choose one value of each triple.
    fn by_trying(triples: &[Triple]) -> (f64, f64) {
        let null = Null::of(triples, 0.0);
        let (mut least, mut most, mut ways) = (0, 0, 0);
        for way in 0..3_usize.pow(triples.len() as u32) {
            let sum: usize = null
                .ranks
                .iter()
                .enumerate()
                .map(|(at, three)| three[way / 3_usize.pow(at as u32) % 3])
                .sum();
            ways += 1;
            least += usize::from(sum >= null.sum);
            most += usize::from(sum <= null.sum);
        }
        (f64::from(least as u32) / f64::from(ways), f64::from(most as u32) / f64::from(ways))
    }

    fn drawn(n: usize, rng: &mut Rng, mut noise: impl FnMut(&mut Rng) -> f64) -> Vec<Triple> {
        (0..n)
            .map(|_| {
                let three = [noise(rng), noise(rng), noise(rng)];
                let mean = three.iter().sum::<f64>() / 3.0;
                three.map(|value| value - mean)
            })
            .collect()
    }

    #[test]
    fn ranks_are_those_of_all_values_and_equal_ones_share_theirs() {
        let null = Null::of(&[[0.5, -0.2, -0.3], [0.5, 0.1, -0.6]], 0.0);
        assert_eq!(null.ranks, [[11, 6, 4], [11, 8, 2]]);
        assert_eq!(null.sum, 22);
        let moved = Null::of(&[[0.5, -0.2, -0.3], [0.5, 0.1, -0.6]], 1.0);
        assert_eq!(moved.ranks, [[5, 10, 8], [5, 12, 2]]);
    }

    #[test]
    fn so_few_triples_have_an_interval_and_one_fewer_have_none() {
        for confidence in [0.95, 0.99, 0.9975] {
            let n = fewest(confidence);
            let triples = drawn(n, &mut Rng::with_seed(1), Rng::f64);
            assert!(interval(&triples, confidence).is_some(), "{n}");
            assert_eq!(interval(&triples[1..], confidence), None, "{n}");
        }
        assert_eq!(interval(&[[f64::NAN, 0.0, 0.0]; 9], 0.95), None);
        assert_eq!((centre(&[]), interval(&[], 0.5)), (None, None));
    }

    /// Identical code, whose noise is skewed, is told apart as often as the confidence says, with 3
    /// standard errors of 4,000 trials.
    #[test]
    fn the_rate_of_false_alarms_is_the_nominal_one_for_skewed_noise() {
        let mut rng = Rng::with_seed(7);
        for n in [6, 12, 24] {
            let trials = 4_000;
            let missed = (0..trials)
                .filter(|_| {
                    let triples = drawn(n, &mut rng, |rng| -(1.0 - rng.f64()).ln());
                    let null = Null::of(&triples, 0.0);
                    null.at_least() <= 0.025 || null.at_most() <= 0.025
                })
                .count();
            let rate = missed as f64 / f64::from(trials);
            assert!((0.03..0.061).contains(&rate), "{n} triples: {rate}");
        }
    }

    #[test]
    fn beyond_what_is_summed_the_normal_distribution_is_as_good() {
        let triples = drawn(EXACT, &mut Rng::with_seed(3), Rng::f64);
        for shift in [-0.1, -0.05, 0.05] {
            let null = Null::of(&triples, shift);
            let exact = null.at_least();
            let normal = normal_tail(null.ranks.iter().copied(), null.sum);
            assert!((exact - normal).abs() < 0.003, "{shift}: {exact} {normal}");
        }
        assert_eq!(normal_tail(std::iter::empty(), 0), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn tails_are_those_of_all_ways(seed: u64, n in 1usize..7, ties: bool) {
            let mut rng = Rng::with_seed(seed);
            let noise = |rng: &mut Rng| if ties { f64::from(rng.u8(0..4)) } else { rng.f64() };
            let triples: Vec<Triple> = (0..n).map(|_| [noise(&mut rng), noise(&mut rng), noise(&mut rng)]).collect();
            let null = Null::of(&triples, 0.0);
            let (least, most) = by_trying(&triples);
            prop_assert!((null.at_least() - least).abs() < 1e-9);
            prop_assert!((null.at_most() - most).abs() < 1e-9);
        }

        #[test]
        fn a_shift_moves_the_interval_and_a_mirror_mirrors_it(seed: u64, n in 5usize..12, shift in -2.0f64..2.0) {
            let triples = drawn(n, &mut Rng::with_seed(seed), |rng| rng.f64().powi(2));
            let moved: Vec<Triple> = triples.iter().map(|t| [t[0] + shift, t[1], t[2]]).collect();
            let mirrored: Vec<Triple> = triples.iter().map(|t| t.map(|value| -value)).collect();
            let (low, high) = interval(&triples, 0.99).expect("enough");
            let (moved_low, moved_high) = interval(&moved, 0.99).expect("enough");
            let (mirror_low, mirror_high) = interval(&mirrored, 0.99).expect("enough");
            prop_assert!((moved_low - low - shift).abs() < 1e-4 && (moved_high - high - shift).abs() < 1e-4);
            prop_assert!((mirror_low + high).abs() < 1e-4 && (mirror_high + low).abs() < 1e-4);
            let middle = centre(&triples).expect("some");
            prop_assert!(low <= middle && middle <= high);
        }
    }
}
