//! The rules: which grade a curve earns, or why none.

use super::{
    Grade, LINEAR_MAX, MAX_WIDTH, MIN_SIZES, QUADRATIC_MIN, Reason, SUPERLINEAR_MIN, Step, Stretch,
    curve::{Curve, octaves},
    shape,
};

/// By how much Akaike's criterion must prefer one explanation before the other is ruled out
/// (Burnham and Anderson 2002, section 2.6: from 4 on the lesser model has considerably less
/// support).
const DECIDED: f64 = 4.0;
/// Lower bound of the exponent over the last three octaves from which a single step may lie below
/// [`SUPERLINEAR_MIN`], if its interval does not: noise of real runs put one step of many a
/// quadratic there, and with it 3 % of recall, while soft growth that passed for superlinear had
/// 1.4 to 1.5.
const STEADY: f64 = 1.5;

/// By how much the growth of the cost per task must exceed what processes of one size differ by:
/// multi-threaded runtimes are of two kinds for seconds (Swift's loose tasks took 600 or 3,000 ns
/// here), and sizes are measured one after the other, so that a change of kind looked like n^1.74
/// in one run of 20. There it was 1.0, in all runs of the real cliffs 1.7 and more.
const BEYOND_SPREAD: f64 = 1.5;

/// Everything a grade rests on.
pub struct Evidence<'a> {
    /// The curve.
    pub curve: &'a Curve,
    /// Each step between neighbours.
    pub steps: &'a [Step],
    /// All sizes.
    pub overall: Option<&'a Stretch>,
    /// The last three octaves, and where they start.
    pub tail: Option<(usize, &'a Stretch)>,
}

/// Grades a curve of CPU time. `left_out`: sizes that could not be used.
pub fn grade(evidence: &Evidence<'_>, left_out: usize) -> Grade {
    let points = &evidence.curve.points;
    if points.len() < MIN_SIZES {
        return Grade::CannotTell(Reason::TooFewSizes { usable: points.len(), left_out });
    }
    // A tail exists where three octaves do.
    let (Some((start, tail)), Some(overall)) = (evidence.tail, evidence.overall) else {
        return Grade::CannotTell(Reason::TooNarrow { octaves: octaves(points) });
    };
    let lasting = shape::lasting(points);
    let steps = &evidence.steps[start..];
    let steep = steps.iter().all(|step| step.exponent > SUPERLINEAR_MIN)
        || (tail.interval.0 > STEADY && steps.iter().all(|step| step.interval.1 > SUPERLINEAR_MIN));
    if steep && tail.interval.0 > SUPERLINEAR_MIN && lasting > DECIDED {
        let spread = evidence.curve.spread(start);
        if evidence.curve.excess(start) < BEYOND_SPREAD * spread {
            return Grade::CannotTell(Reason::TwoKinds { spread });
        }
        return if tail.exponent >= QUADRATIC_MIN { Grade::QuadraticOrWorse } else { Grade::Superlinear };
    }
    // Steep at the end, yet too short, too uneven or too much like something soft: growth that
    // lasts is one explanation.
    let fresh = evidence.steps.iter().rev().take_while(|step| step.interval.0 > SUPERLINEAR_MIN).count();
    if lasting > -DECIDED && (fresh > 0 || tail.interval.0 > SUPERLINEAR_MIN) {
        let from = points[points.len() - 1 - fresh.max(1)].0 as u64;
        return Grade::CannotTell(Reason::SteepAtTheEnd { from });
    }
    let worse = if tail.exponent > overall.exponent { tail } else { overall };
    let width = worse.interval.1 - worse.interval.0;
    if width > MAX_WIDTH {
        Grade::CannotTell(Reason::TooNoisy { width })
    } else if worse.exponent > LINEAR_MAX {
        Grade::SoftGrowth
    } else {
        Grade::Linear
    }
}
