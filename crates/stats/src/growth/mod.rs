//! How the cost of one series grows with size: the exponent e of cost ~ n^e over all sizes and over
//! each step, with intervals, a grade, the size from which it bends, and the size at which it
//! reaches a given cost.
//!
//! | module | answers |
//! |---|---|
//! | `curve` | what was measured, and what a second measurement might have given |
//! | `fit` | which slope, which parts? |
//! | `shape` | does growth last, or does it look like a collector's or a cache's? From which size? |
//! | `grade` | the rules |
//! | `forecast` | at which size does a row take a second, would the next size break the budget? |
//! | `further` | which sizes would show whether growth lasts? |
//! | `control` | is it the form, or the machine? |
//! | `collector` | is it the form, or the collector? |
//!
//! A grade rests on CPU time totals at four sizes or more that span three octaves or more. Linear
//! controls gave exponents of 1.3 over a single octave, and of -6.9 to 5.9 in wall time. Sizes
//! should lie above the start-up region, where a fixed cost hides growth. For that reason the last
//! three octaves are judged beside the whole ladder.
//!
//! The cost at one size is the median of its observations. The minimum is the other usual choice.
//! It falls with the number of observations, and large sizes get fewer of them, so it would bend a
//! linear series upwards. The experiment `growth` shows what each rule is worth against noise of
//! real runs.

mod collector;
mod control;
mod curve;
mod fit;
mod forecast;
mod further;
mod grade;
mod shape;

use fastrand::Rng;

pub use collector::{ByBytes, Bytes, COLLECTOR_MAX, by_bytes, bytes};
pub use control::{Cause, cause, is_shared};
use curve::Curve;
pub use forecast::{FEARED, FEARED_AFTER_STEEP, Reach, STEEP, breaks_budget, forecast};
pub use further::over_octaves;
pub use shape::Bend;

/// The exponent up to which growth is linear.
pub const LINEAR_MAX: f64 = 1.1;
/// The exponent that the steps of the last three octaves, and the interval over them, must exceed
/// for superlinear growth. Collectors and caches reach 1.1 to 1.3 on linear programs with all tasks
/// alive.
pub const SUPERLINEAR_MIN: f64 = 1.3;
/// The exponent from which superlinear growth is quadratic or worse. True quadratics with a linear
/// part measure 1.7 to 2, and up to 3.7 at the end, where their list leaves the cache.
pub const QUADRATIC_MIN: f64 = 1.7;
/// Fewest sizes for a grade.
pub const MIN_SIZES: usize = 4;
/// Fewest octaves (doublings) for a grade.
pub const MIN_OCTAVES: f64 = 3.0;
/// Fewest steps in the last three octaves: one step is one chance. Three steps, as sizes that
/// double have them, would ask for six octaves behind a bend of sizes that quadruple, and cost 6 %
/// of recall (docs/evidence/growth.md).
pub const MIN_STEPS: usize = 2;
/// Fewest observations at one size.
pub const MIN_ROUNDS: usize = 5;
/// Widest interval of a grade below superlinear. A wider one covers linear and superlinear growth
/// at once.
pub const MAX_WIDTH: f64 = 0.4;

/// The observations at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeCost<'a> {
    /// The number of tasks.
    pub size: u64,
    /// Cost of one iteration in each observation, in any unit that all sizes share. An observation
    /// is a process, or a round where all rounds are of one process (see
    /// [`independent`](mod@crate::independent)).
    pub totals: &'a [f64],
}

/// The clock behind the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Process CPU time.
    Cpu,
    /// Monotonic time. It holds neighbours and idle waits, so nothing is graded by it.
    Wall,
    /// Monotonic time of iterations that wait for most of it, whoever else uses the machine. It is
    /// graded as CPU time is.
    Waits,
}

/// A stretch of sizes with its exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The sizes, ascending.
    pub sizes: Vec<u64>,
    /// Least-squares slope of ln cost over ln size.
    pub exponent: f64,
    /// Its interval at [`CONFIDENCE`](crate::confidence::CONFIDENCE), by bootstrap over the
    /// observations of each size.
    pub interval: (f64, f64),
}

/// The local exponent between two neighbouring sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub from: u64,
    pub to: u64,
    /// ln of the costs' ratio over ln of the sizes' ratio.
    pub exponent: f64,
    /// Its interval at [`CONFIDENCE`](crate::confidence::CONFIDENCE).
    pub interval: (f64, f64),
}

/// How bad the growth is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grade {
    /// The exponent is at most [`LINEAR_MAX`]. Constant and falling costs have this grade too.
    Linear,
    /// The exponent is larger, but not over three octaves, or in a way that a collector or a cache
    /// explains.
    SoftGrowth,
    /// The exponent is above [`SUPERLINEAR_MIN`] over the last three octaves, with its interval and
    /// in every step that noise does not explain. A power describes the curve clearly better than
    /// anything softer. The growth exceeds what observations of one size differ by.
    Superlinear,
    /// Superlinear growth whose exponent is at least [`QUADRATIC_MIN`].
    QuadraticOrWorse,
    CannotTell(Reason),
}

impl Grade {
    /// Whether the grade is superlinear, or quadratic or worse.
    pub fn is_superlinear(self) -> bool {
        matches!(self, Grade::Superlinear | Grade::QuadraticOrWorse)
    }

    /// Whether the curve was graded at all.
    pub fn is_grade(self) -> bool {
        !matches!(self, Grade::CannotTell(_))
    }
}

/// Why there is no grade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// Only wall time is known.
    WallOnly {
        /// Whether the same curve of CPU time would be superlinear. If so, CPU time is worth
        /// measuring.
        looks_superlinear: bool,
    },
    /// Fewer than [`MIN_SIZES`] sizes have at least [`MIN_ROUNDS`] observations.
    TooFewSizes {
        /// The number of sizes with enough observations.
        usable: usize,
        /// The number of sizes left out for too few observations, or for a cost that is not above
        /// zero.
        left_out: usize,
    },
    /// The sizes span fewer than [`MIN_OCTAVES`].
    TooNarrow {
        /// The octaves that they span.
        octaves: f64,
    },
    /// The curve is steep at the largest sizes, but too short, too uneven or too much like a cache
    /// to say that growth lasts.
    SteepAtTheEnd {
        /// The size from which it is steep.
        from: u64,
    },
    /// Observations of one size differ nearly as much as sizes do. A change between two kinds of
    /// figures would look the same.
    TwoKinds {
        /// The factor by which they differ.
        spread: f64,
    },
    /// The interval is wider than [`MAX_WIDTH`].
    TooNoisy {
        /// The upper end of the interval minus the lower end.
        width: f64,
    },
}

/// What can be said about the growth of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The usable sizes, ascending.
    pub sizes: Vec<u64>,
    /// All usable sizes together; `None` below two of them.
    pub overall: Option<Stretch>,
    /// The last three octaves (and at least [`MIN_STEPS`] steps); `None` where the sizes do not
    /// reach that far.
    pub tail: Option<Stretch>,
    /// Each step between neighbouring usable sizes, in order.
    pub steps: Vec<Step>,
    pub grade: Grade,
    /// Where the growth begins. Only superlinear growth with a linear part before it has a bend.
    pub bend: Option<Bend>,
    /// Where the curve reaches the cost that the caller asked for.
    pub reach: Option<Reach>,
}

impl Growth {
    /// The stretch that the grade rests on: the last three octaves where they grow faster than all
    /// sizes together, or where growth is superlinear.
    pub fn judged(&self) -> Option<&Stretch> {
        match (&self.overall, &self.tail) {
            (Some(overall), Some(tail)) if tail.exponent > overall.exponent => Some(tail),
            (Some(_), Some(tail)) if self.grade.is_superlinear() => Some(tail),
            (overall, _) => overall.as_ref(),
        }
    }
}

/// Judges the growth of one series. Sizes may be in any order, each at most once.
///
/// With `reach`, a cost in the unit of the totals, it also looks for the size that costs so much.
/// The bootstrap draws from `rng`. O([`RESAMPLES`](crate::bootstrap::RESAMPLES) x observations,
/// summed over sizes). Where growth is superlinear, the interval of the bend takes 200 times
/// O(octaves) fits. All of it takes 1 to 10 ms.
///
/// ```
/// use taskscale_stats::growth::{self, Clock, Grade, SizeCost};
/// let cost = |n: u64| [n as f64 * 10.0; 5];
/// let (a, b, c, d) = (cost(64), cost(128), cost(256), cost(512));
/// let sizes = [(64, &a), (128, &b), (256, &c), (512, &d)];
/// let sizes = sizes.map(|(size, totals)| SizeCost { size, totals });
/// let growth = growth::judge(&sizes, Clock::Cpu, Some(1e9), &mut fastrand::Rng::with_seed(1));
/// assert_eq!(growth.grade, Grade::Linear);
/// assert_eq!(growth.reach.map(|reach| reach.size.round()), Some(1e8));
/// ```
pub fn judge(sizes: &[SizeCost<'_>], clock: Clock, reach: Option<f64>, rng: &mut Rng) -> Growth {
    let curve = Curve::of(sizes, rng);
    let count = curve.points.len();
    let stretch = |start: usize| {
        let (exponent, interval) = curve.exponent(start, count)?;
        Some(Stretch { sizes: curve.sizes[start..].to_vec(), exponent, interval })
    };
    let steps: Vec<Step> = (1..count)
        .filter_map(|end| {
            let (exponent, interval) = curve.exponent(end - 1, end + 1)?;
            Some(Step { from: curve.sizes[end - 1], to: curve.sizes[end], exponent, interval })
        })
        .collect();
    let overall = if count < 2 { None } else { stretch(0) };
    let tail = curve.tail().and_then(|start| Some((start, stretch(start)?)));
    let evidence = grade::Evidence {
        curve: &curve,
        steps: &steps,
        overall: overall.as_ref(),
        tail: tail.as_ref().map(|(start, tail)| (*start, tail)),
    };
    let grade = match (grade::grade(&evidence, sizes.len() - count), clock) {
        (grade, Clock::Cpu | Clock::Waits) => grade,
        (grade, Clock::Wall) => {
            Grade::CannotTell(Reason::WallOnly { looks_superlinear: grade.is_superlinear() })
        }
    };
    let bend = if grade.is_superlinear() { shape::bend(&curve, rng) } else { None };
    let reach = reach.and_then(|cost| forecast::reach(&curve, cost));
    let tail = tail.map(|(_, tail)| tail);
    Growth { sizes: curve.sizes, overall, tail, steps, grade, bend, reach }
}

#[cfg(test)]
mod tests;
