//! The rules: which grade a curve earns, or why it earns none.

use super::{
    Grade, LINEAR_MAX, MAX_WIDTH, MIN_SIZES, QUADRATIC_MIN, Reason, SUPERLINEAR_MIN, Step, Stretch,
    curve::{Curve, octaves},
    shape,
};

/// By how much Akaike's criterion must prefer one explanation to rule out the other. From 4 on the
/// lesser model has considerably less support (Burnham and Anderson 2002, section 2.6).
const DECIDED: f64 = 4.0;
/// Lower bound of the exponent over the last three octaves that excuses steps below
/// [`SUPERLINEAR_MIN`], each of which must reach it with its interval. Noise of real runs puts one
/// of many steps of a quadratic below, and asking for every step costs 3 % of recall. Soft growth
/// that passed for superlinear had 1.4 to 1.5 (docs/evidence/growth.md).
const STEADY: f64 = 1.5;

/// How many times the factor between observations of one size the cost per task must grow by.
/// Figures of multi-threaded runtimes can be of two kinds, each for seconds. Sizes are measured one
/// after another, so a change of kind looks like growth. Swift's loose tasks took 600 or 3,000 ns,
/// and one of 20 quiet runs showed n^1.74. Growth over that factor was 1.0 there, and at least 1.7
/// in all runs of the real cliffs (docs/evidence/growth.md).
const BEYOND_SPREAD: f64 = 1.5;

/// Lower bound of the exponent over the last three octaves above which growth is never called soft,
/// however well something soft describes the curve. A cache that begins to miss reaches 2.0 over
/// three octaves; so does a quadratic, whose four sizes the soft candidates describe as well.
/// Larger sizes tell them apart.
const NEVER_SOFT: f64 = 1.6;

/// By how much the last step must be less steep than the one before it for growth to end. n steps
/// through memory that outgrows the caches have 2.2 where the caches end and 1.24 to 1.38 behind;
/// of five runs on a loaded machine three had 1.78 to 1.98, which look like a quadratic. A known
/// cliff ends with 2.07 and 1.62.
const FALLS_BY: f64 = 0.6;

/// Lower bound of the last step above which it is steep by itself. A jump before a quadratic has
/// 3.2 and then 1.93 or more.
const FALLS_TO: f64 = 1.8;

/// By how much the last step must be less steep than the steepest of the last three octaves for
/// growth to be dying away, where it is not quadratic and each step is less steep than the one
/// before. n steps through memory that outgrows the caches have 1.77, 1.58, 1.35 and 1.31 over four
/// octaves. Steps of a power are alike, and steps of a line with a power beside it get steeper.
const DIES_BY: f64 = 0.2;

/// Everything a grade rests on.
pub struct Evidence<'a> {
    pub curve: &'a Curve,
    /// The steps between neighbouring sizes.
    pub steps: &'a [Step],
    /// The stretch of all sizes.
    pub overall: Option<&'a Stretch>,
    /// The last three octaves, and the index of the size at which they start.
    pub tail: Option<(usize, &'a Stretch)>,
}

/// Grades a curve of CPU time. `left_out` is the number of sizes that could not be used.
pub fn grade(evidence: &Evidence<'_>, left_out: usize) -> Grade {
    let points = &evidence.curve.points;
    if points.len() < MIN_SIZES {
        return Grade::CannotTell(Reason::TooFewSizes { usable: points.len(), left_out });
    }
    // A tail exists where the sizes span three octaves.
    let (Some((start, tail)), Some(overall)) = (evidence.tail, evidence.overall) else {
        return Grade::CannotTell(Reason::TooNarrow { octaves: octaves(points) });
    };
    let lasting = shape::lasting(points);
    let steps = &evidence.steps[start..];
    let steep = steps.iter().all(|step| step.exponent > SUPERLINEAR_MIN)
        || (tail.interval.0 > STEADY && steps.iter().all(|step| step.interval.1 > SUPERLINEAR_MIN));
    if steep && !falls(steps) && tail.interval.0 > SUPERLINEAR_MIN && lasting > DECIDED {
        let (from, excess) = evidence.curve.excess(start);
        let spread = evidence.curve.spread(from);
        if excess < BEYOND_SPREAD * spread {
            return Grade::CannotTell(Reason::TwoKinds { spread });
        }
        if tail.exponent < QUADRATIC_MIN && dies_away(steps) {
            return Grade::CannotTell(Reason::SteepAtTheEnd { from: tail.sizes[0] });
        }
        return if tail.exponent >= QUADRATIC_MIN { Grade::QuadraticOrWorse } else { Grade::Superlinear };
    }
    // The curve is steep at the end, yet too short, too uneven or too much like something soft.
    // Growth that lasts is one explanation.
    let fresh = evidence.steps.iter().rev().take_while(|step| step.interval.0 > SUPERLINEAR_MIN).count();
    if lasting > -DECIDED && (fresh > 0 || tail.interval.0 > SUPERLINEAR_MIN) {
        let from = points[points.len() - 1 - fresh.max(1)].0 as u64;
        return Grade::CannotTell(Reason::SteepAtTheEnd { from });
    }
    let worse = if tail.exponent > overall.exponent { tail } else { overall };
    let width = worse.interval.1 - worse.interval.0;
    if width > MAX_WIDTH {
        Grade::CannotTell(Reason::TooNoisy { width })
    } else if tail.interval.0 > NEVER_SOFT {
        Grade::CannotTell(Reason::SteepAtTheEnd { from: tail.sizes[1] })
    } else if worse.exponent > LINEAR_MAX {
        Grade::SoftGrowth
    } else {
        Grade::Linear
    }
}

/// Whether growth ends: the last step lies far below the one before it, with its whole interval,
/// and is not steep by itself.
fn falls(steps: &[Step]) -> bool {
    let [.., before, last] = steps else { return false };
    let is_far = last.exponent < before.exponent - FALLS_BY && last.interval.1 < before.interval.0;
    is_far && last.interval.0 < FALLS_TO
}

/// Whether growth dies away: each of three steps or more is less steep than the one before it, and
/// the last one clearly.
fn dies_away(steps: &[Step]) -> bool {
    let [first, _, .., last] = steps else { return false };
    let exponents = || steps.iter().map(|step| step.exponent);
    last.exponent < first.exponent - DIES_BY && exponents().is_sorted_by(|a, b| a > b)
}
