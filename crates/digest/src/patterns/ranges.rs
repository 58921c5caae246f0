//! The few time ranges that hold most of a loss.
//!
//! The rule: of all choices of one to three ranges, take the one that holds the largest share of
//! the loss beyond its share of the window, where each range after the first has to bring 5 points
//! more. A range therefore ends where the loss falls below its mean over the window, and a short
//! interruption does not cut it in two. The loss lies *all along* if the best choice
//!
//! * holds less than half of it,
//! * is not twice as dense as the rest of the window, or
//! * holds less than 10 points beyond its share of the window, or no more than points of chance
//!   show.
//!
//! It takes O(points) time and no memory but the ranges. A range ends within a bin of where the
//! loss does.

use std::ops::Range;

/// The most ranges.
const MOST: usize = 3;
/// What a further range has to hold beyond its part of the window.
const FURTHER: f64 = 0.05;
/// The share of the loss that ranges must hold, and how much of it beyond their part of the window.
const HELD: f64 = 0.5;
const BEYOND: f64 = 0.1;
/// How much denser the loss must be in them than elsewhere.
const DENSER: f64 = 2.0;
/// Points of chance exceed so many standard errors in none of 1,000 tries.
const ERRORS: f64 = 3.0;

/// A choice of ranges.
#[derive(Debug, Clone, Copy)]
struct Choice {
    value: f64,
    ends: [(usize, usize); MOST],
}

impl Choice {
    const NONE: Choice = Choice { value: f64::NEG_INFINITY, ends: [(0, 0); MOST] };

    fn max(self, other: Choice) -> Choice {
        if other.value > self.value { other } else { self }
    }
}

/// The ranges of positions that hold most of the weight, in their order; `None` if it lies all
/// along.
pub(crate) fn ranges(weights: &[f64]) -> Option<Vec<Range<usize>>> {
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return None;
    }
    let even = 1.0 / weights.len() as f64;
    // The best choices of one, two and three ranges, of which the last is open or need not be.
    let (mut open, mut closed) = ([Choice::NONE; MOST], [Choice::NONE; MOST]);
    for (at, weight) in weights.iter().enumerate() {
        let gain = weight / all - even;
        for count in 0..MOST {
            let before = match count {
                0 => Choice { value: 0.0, ..Choice::NONE },
                _ => Choice { value: closed[count - 1].value - FURTHER, ..closed[count - 1] },
            };
            let mut begun = before;
            begun.ends[count] = (at, at);
            let mut best = open[count].max(begun);
            best.value += gain;
            best.ends[count].1 = at + 1;
            open[count] = best;
        }
        // A range may begin at this point no earlier than behind the one before it.
        for count in 0..MOST {
            closed[count] = closed[count].max(open[count]);
        }
    }
    let (count, best) = (0..MOST)
        .map(|count| (count, closed[count]))
        .reduce(|a, b| if b.1.value > a.1.value { b } else { a })?;
    let found: Vec<Range<usize>> = best.ends[..=count].iter().map(|(from, to)| *from..*to).collect();
    let held: f64 = found.iter().flat_map(|range| &weights[range.clone()]).sum::<f64>() / all;
    let taken = found.iter().map(Range::len).sum::<usize>() as f64 * even;
    // Of the sum over all points of their loss beyond the mean.
    let error = weights.iter().map(|weight| (weight / all - even).powi(2)).sum::<f64>().sqrt();
    // A single short stretch differs from chance by being one.
    let chance = (ERRORS * error).min(0.9);
    let is_denser = held * (1.0 - taken) >= DENSER * (1.0 - held) * taken;
    (held >= HELD && is_denser && held - taken >= BEYOND.max(chance)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: usize, lost: &[Range<usize>]) -> Vec<f64> {
        (0..points).map(|at| f64::from(u8::from(lost.iter().any(|range| range.contains(&at))))).collect()
    }

    #[test]
    fn a_stage_is_its_range() {
        for one in [200..300, 140..1_000, 0..700, 500..503] {
            assert_eq!(ranges(&of(1_000, std::slice::from_ref(&one))), Some(vec![one]));
        }
        assert_eq!(ranges(&of(1_000, &[0..100, 500..650, 999..1_000])), Some(vec![0..100, 500..650]));
        let three = [100..200, 400..500, 800..900];
        assert_eq!(ranges(&of(1_000, &three)), Some(three.to_vec()));
    }

    #[test]
    fn a_short_interruption_does_not_cut_a_range() {
        let whole = 200..300;
        assert_eq!(ranges(&of(1_000, &[200..250, 255..300])), Some(vec![whole]));
    }

    #[test]
    fn of_many_stages_three_hold_what_they_can() {
        let many: Vec<Range<usize>> = (0..5).map(|at| at * 200 + 50..at * 200 + 60).collect();
        let found = ranges(&of(1_000, &many)).expect("three of five");
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|range| many.contains(range)), "{found:?}");
    }

    #[test]
    fn a_loss_that_is_everywhere_is_in_no_range() {
        assert_eq!(ranges(&[1.0; 1_000]), None);
        assert_eq!(ranges(&[&[0.0; 60][..], &[1.0; 940]].concat()), None);
        let often: Vec<Range<usize>> = (0..100).map(|at| at * 10..at * 10 + 3).collect();
        assert_eq!(ranges(&of(1_000, &often)), None);
        assert_eq!(ranges(&[]), None);
        assert_eq!(ranges(&[0.0; 20]), None);
        // Points of chance.
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            for part in [0.02, 0.1, 0.5, 0.9] {
                let weights: Vec<f64> = (0..1_500).map(|_| f64::from(u8::from(rng.f64() < part))).collect();
                assert_eq!(ranges(&weights), None, "{seed} {part}");
            }
        }
    }
}
