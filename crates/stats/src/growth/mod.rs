//! How the cost of one series grows with size: the exponent e of cost ~ n^e, its interval, and a grade.
//!
//! A grade rests on CPU time totals at four sizes or more that span three octaves or more: linear controls gave
//! exponents of 1.3 over a single octave. Sizes should lie above the start-up region, where a fixed cost hides growth;
//! for that reason the last three octaves are judged beside the whole ladder and the worse of the two counts.
//!
//! The cost at one size is the median of its rounds. The minimum is the other usual choice, but it falls with the
//! number of rounds, large sizes get fewer of them, and so it would bend a linear series upwards.

mod fit;

use fastrand::Rng;

use crate::{
    bootstrap::{self, RESAMPLES},
    quantile::{median, quantile},
};

/// Exponent up to which growth is called linear.
pub const LINEAR_MAX: f64 = 1.1;
/// Exponent that every step, and the interval, must exceed for superlinear growth. Collectors and caches reach 1.1 to
/// 1.3 on linear programs with all tasks alive.
pub const SUPERLINEAR_MIN: f64 = 1.3;
/// Exponent from which superlinear growth is called quadratic or worse; true quadratics with a linear part measure
/// 1.7 to 2.
pub const QUADRATIC_MIN: f64 = 1.7;
/// Fewest sizes for a grade.
pub const MIN_SIZES: usize = 4;
/// Fewest octaves (doublings) for a grade.
pub const MIN_OCTAVES: f64 = 3.0;
/// Fewest rounds at one size.
pub const MIN_ROUNDS: usize = 5;
/// Widest interval of a grade below superlinear: a wider one covers linear and superlinear growth at once.
pub const MAX_WIDTH: f64 = 0.4;
/// Confidence of the interval.
pub const CONFIDENCE: f64 = 0.95;

/// The rounds measured at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeCost<'a> {
    /// Number of tasks.
    pub size: u64,
    /// Total cost of one iteration in each round; any unit, the same for all sizes.
    pub totals: &'a [f64],
}

/// A stretch of sizes with its exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The sizes, ascending.
    pub sizes: Vec<u64>,
    /// Least-squares slope of ln cost over ln size.
    pub exponent: f64,
    /// Its interval at [`CONFIDENCE`], by bootstrap over the rounds of each size.
    pub interval: (f64, f64),
}

/// How bad the growth is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grade {
    /// At most [`LINEAR_MAX`].
    Linear,
    /// More than that, but not shown to last or to be quadratic.
    SoftGrowth,
    /// Above [`SUPERLINEAR_MIN`] in every step of the last three octaves, the interval too, and a + b n + c n^2 fits
    /// better than a + b n.
    Superlinear,
    /// The same, at [`QUADRATIC_MIN`] or more.
    QuadraticOrWorse,
    /// No grade.
    NotJudged(Reason),
}

/// Why there is no grade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// Fewer than [`MIN_SIZES`] sizes with at least [`MIN_ROUNDS`] rounds.
    TooFewSizes {
        /// Sizes with enough rounds.
        usable: usize,
        /// Sizes that were left out for too few rounds, or for a cost that is not above zero.
        left_out: usize,
    },
    /// The sizes span fewer than [`MIN_OCTAVES`].
    TooNarrow {
        /// What they span.
        octaves: f64,
    },
    /// The interval is wider than [`MAX_WIDTH`].
    TooNoisy {
        /// Its width.
        width: f64,
    },
}

/// What can be said about the growth of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// All usable sizes; `None` below two of them.
    pub overall: Option<Stretch>,
    /// The last three octaves (and at least three steps); `None` where the sizes do not reach that far.
    pub tail: Option<Stretch>,
    /// Exponent of each step between neighbouring usable sizes, in order.
    pub steps: Vec<f64>,
    /// The grade.
    pub grade: Grade,
}

impl Growth {
    /// The stretch that the grade rests on: the worse of the two.
    pub fn judged(&self) -> Option<&Stretch> {
        match (&self.overall, &self.tail) {
            (Some(overall), Some(tail)) if tail.exponent > overall.exponent => Some(tail),
            (Some(_), Some(tail)) if self.superlinear() => Some(tail),
            (overall, _) => overall.as_ref(),
        }
    }

    fn superlinear(&self) -> bool {
        matches!(self.grade, Grade::Superlinear | Grade::QuadraticOrWorse)
    }
}

/// Judges the growth of one series; sizes in any order, each at most once. The bootstrap draws from `rng`.
/// O([`RESAMPLES`] x rounds, summed over sizes).
///
/// ```
/// use taskscale_stats::growth::{self, Grade, SizeCost};
/// let cost = |n: u64| [n as f64 * 10.0; 5];
/// let (a, b, c, d) = (cost(64), cost(128), cost(256), cost(512));
/// let sizes = [(64, &a), (128, &b), (256, &c), (512, &d)];
/// let sizes = sizes.map(|(size, totals)| SizeCost { size, totals });
/// let growth = growth::judge(&sizes, &mut fastrand::Rng::with_seed(1));
/// assert_eq!(growth.grade, Grade::Linear);
/// ```
pub fn judge(sizes: &[SizeCost<'_>], rng: &mut Rng) -> Growth {
    let mut usable: Vec<SizeCost<'_>> = sizes.iter().copied().filter(is_usable).collect();
    usable.sort_unstable_by_key(|cost| cost.size);
    let points: Vec<(f64, f64)> = usable.iter().map(|cost| (cost.size as f64, centre(cost.totals))).collect();
    let steps: Vec<f64> = points.windows(2).map(fit::exponent).collect();
    let octaves = octaves(&points);

    let tail_start = tail_start(&points);
    let (overall, tail) = stretches(&usable, tail_start, rng);
    let mut growth = Growth { overall, tail, steps, grade: Grade::Linear };
    growth.grade = if usable.len() < MIN_SIZES {
        let left_out = sizes.len() - usable.len();
        Grade::NotJudged(Reason::TooFewSizes { usable: usable.len(), left_out })
    } else if octaves < MIN_OCTAVES {
        Grade::NotJudged(Reason::TooNarrow { octaves })
    } else {
        grade(&growth, tail_start, &points)
    };
    growth
}

fn is_usable(cost: &SizeCost<'_>) -> bool {
    cost.size > 0 && cost.totals.len() >= MIN_ROUNDS && cost.totals.iter().all(|&t| t > 0.0 && t.is_finite())
}

/// The cost at one size. Never NaN: usable totals are finite and not empty.
fn centre(totals: &[f64]) -> f64 {
    median(totals).unwrap_or(f64::NAN)
}

fn octaves(points: &[(f64, f64)]) -> f64 {
    match (points.first(), points.last()) {
        (Some(first), Some(last)) => (last.0 / first.0).log2(),
        _ => 0.0,
    }
}

/// Index of the size at which the last three octaves begin: the largest from which there are three octaves and
/// three steps to the end.
fn tail_start(points: &[(f64, f64)]) -> Option<usize> {
    let last_start = points.len().checked_sub(MIN_SIZES)?;
    (0..=last_start).rev().find(|&start| octaves(&points[start..]) >= MIN_OCTAVES)
}

/// Both stretches with their intervals, from the same draws.
fn stretches(
    usable: &[SizeCost<'_>],
    tail: Option<usize>,
    rng: &mut Rng,
) -> (Option<Stretch>, Option<Stretch>) {
    if usable.len() < 2 {
        return (None, None);
    }
    let (mut overall, mut tails) = (Vec::with_capacity(RESAMPLES), Vec::with_capacity(RESAMPLES));
    let mut draw = Vec::new();
    for _ in 0..RESAMPLES {
        let points: Vec<(f64, f64)> = usable
            .iter()
            .map(|cost| {
                draw.resize(cost.totals.len(), 0.0);
                bootstrap::resample(cost.totals, &mut draw, rng);
                draw.sort_unstable_by(f64::total_cmp);
                (cost.size as f64, quantile(&draw, 0.5).unwrap_or(f64::NAN))
            })
            .collect();
        overall.push(fit::exponent(&points));
        tails.extend(tail.map(|start| fit::exponent(&points[start..])));
    }
    let stretch = |costs: &[SizeCost<'_>], exponents| {
        let points: Vec<(f64, f64)> =
            costs.iter().map(|cost| (cost.size as f64, centre(cost.totals))).collect();
        let interval = bootstrap::middle(exponents, CONFIDENCE)?;
        let sizes = costs.iter().map(|cost| cost.size).collect();
        Some(Stretch { sizes, exponent: fit::exponent(&points), interval })
    };
    (stretch(usable, overall), tail.and_then(|start| stretch(&usable[start..], tails)))
}

/// The grade of a series with enough sizes and octaves.
fn grade(growth: &Growth, tail_start: Option<usize>, points: &[(f64, f64)]) -> Grade {
    if let (Some(tail), Some(start)) = (&growth.tail, tail_start) {
        let lasting = growth.steps[start..].iter().all(|&step| step > SUPERLINEAR_MIN);
        if lasting && tail.interval.0 > SUPERLINEAR_MIN && fit::quadratic_wins(points) {
            let quadratic = tail.exponent >= QUADRATIC_MIN;
            return if quadratic { Grade::QuadraticOrWorse } else { Grade::Superlinear };
        }
    }
    let Some(judged) = growth.judged() else {
        return Grade::NotJudged(Reason::TooFewSizes { usable: points.len(), left_out: 0 });
    };
    let width = judged.interval.1 - judged.interval.0;
    if width > MAX_WIDTH {
        Grade::NotJudged(Reason::TooNoisy { width })
    } else if judged.exponent > LINEAR_MAX {
        Grade::SoftGrowth
    } else {
        Grade::Linear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(sizes: &[u64], rounds: usize, cost: impl Fn(f64) -> f64) -> Growth {
        let totals: Vec<Vec<f64>> = sizes.iter().map(|&n| vec![cost(n as f64); rounds]).collect();
        let costs: Vec<SizeCost<'_>> =
            sizes.iter().zip(&totals).map(|(&size, totals)| SizeCost { size, totals }).collect();
        judge(&costs, &mut Rng::with_seed(1))
    }

    #[test]
    fn two_or_three_sizes_are_never_judged() {
        let growth = judged(&[64, 2048, 17_000], 20, |n| n * n);
        assert_eq!(growth.grade, Grade::NotJudged(Reason::TooFewSizes { usable: 3, left_out: 0 }));
        assert!((growth.judged().expect("an exponent all the same").exponent - 2.0).abs() < 1e-9);
        let growth = judged(&[100, 200, 300, 400, 700], 20, |n| n * n);
        assert!(matches!(growth.grade, Grade::NotJudged(Reason::TooNarrow { octaves }) if octaves < 2.9));
        let growth = judged(&[64, 128, 256, 512], 4, |n| n);
        assert_eq!(growth.grade, Grade::NotJudged(Reason::TooFewSizes { usable: 0, left_out: 4 }));
        assert_eq!(growth.judged(), None);
    }

    #[test]
    fn a_single_steep_step_is_not_superlinear() {
        // Cost doubles per task from 4096 on: a level shift, as of a cache that is left. The last three octaves hold it.
        let growth = judged(&[512, 1024, 2048, 4096, 8192], 9, |n| if n > 2048.0 { 2.0 * n } else { n });
        assert_eq!(growth.grade, Grade::SoftGrowth);
        assert_eq!(growth.judged().map(|judged| judged.sizes.len()), Some(4), "the last three octaves");
    }

    #[test]
    fn steep_steps_without_a_quadratic_fit_are_soft_growth() {
        // Steps of 3, 1.35 and 1.35: all above the limit, yet a line with a negative start fits as well as a parabola.
        let growth = judged(&[1, 2, 4, 8], 9, |n| if n > 1.0 { 8.0 * (n / 2.0).powf(1.35) } else { 1.0 });
        assert!(growth.steps.iter().all(|&step| step > SUPERLINEAR_MIN));
        assert_eq!(growth.grade, Grade::SoftGrowth);
    }

    #[test]
    fn an_interval_that_reaches_below_the_limit_is_not_superlinear() {
        // Medians grow by n^1.5, but the rounds of each size spread by a factor of four.
        let spread = [0.5, 0.6, 1.0, 1.5, 2.0];
        let totals = [64_u64, 128, 256, 512].map(|n| (n, spread.map(|factor| factor * (n as f64).powf(1.5))));
        let costs = totals.each_ref().map(|(size, totals)| SizeCost { size: *size, totals });
        let growth = judge(&costs, &mut Rng::with_seed(1));
        assert!(growth.steps.iter().all(|&step| step > SUPERLINEAR_MIN));
        assert!(matches!(growth.grade, Grade::NotJudged(Reason::TooNoisy { .. })), "{growth:?}");
    }

    #[test]
    fn a_bend_is_found_behind_a_long_linear_stretch() {
        let sizes: Vec<u64> = (6..=17).map(|k| 1 << k).collect();
        let growth = judged(&sizes, 9, |n| n + n * (n / 16_384.0).powi(2).min(n / 2048.0));
        assert!(matches!(growth.grade, Grade::QuadraticOrWorse | Grade::Superlinear), "{growth:?}");
        assert_eq!(growth.judged().map(|judged| judged.sizes[0]), Some(1 << 14));
    }

    #[test]
    fn half_octaves_and_wide_steps_are_measured_in_octaves() {
        let points: Vec<(f64, f64)> =
            (0..=12).map(|i| (64.0 * 2.0_f64.powf(f64::from(i) / 2.0), 1.0)).collect();
        assert_eq!(tail_start(&points), Some(6), "six half octaves");
        let points: Vec<(f64, f64)> = [1.0, 10.0, 100.0, 1000.0, 10_000.0].map(|n| (n, 1.0)).to_vec();
        assert_eq!(tail_start(&points), Some(1), "three steps, though one alone spans three octaves");
    }

    #[test]
    fn a_cost_of_zero_leaves_its_size_out() {
        let (zero, one) = ([0.0; 9], [1.0; 9]);
        let sizes = [1, 2, 4, 8].map(|size| SizeCost { size, totals: if size == 2 { &zero } else { &one } });
        let growth = judge(&sizes, &mut Rng::with_seed(1));
        assert_eq!(growth.grade, Grade::NotJudged(Reason::TooFewSizes { usable: 3, left_out: 1 }));
    }
}
