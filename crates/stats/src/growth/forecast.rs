//! What the measured sizes say about a size that was not measured.

use super::{curve::Curve, fit};

/// Exponent of the last step above which a forecast assumes a cubic. The end of a true quadratic
/// measured 3.0 and 3.7 where its list left the cache or the heap began to thrash.
pub const STEEP: f64 = 2.5;
/// The exponent that a forecast assumes for one doubling of the size: it costs four times as much.
pub const FEARED: f64 = 2.0;
/// The exponent that it assumes after a step above [`STEEP`]: eight times as much.
pub const FEARED_AFTER_STEEP: f64 = 3.0;
/// Least exponent by which a size is extrapolated. Below it a cost that hardly rises would be
/// reached at sizes beyond any machine.
const LEAST: f64 = 0.25;

/// The size at which a row reaches a cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    pub size: f64,
    /// Its interval, by bootstrap over the observations of each size.
    pub interval: (f64, f64),
    /// The local exponent that the size rests on: that of the last octave measured, or of the step
    /// in which the cost was reached.
    pub exponent: f64,
    /// Whether the cost was reached within the measured sizes; otherwise the last exponent is
    /// assumed to continue.
    pub measured: bool,
}

/// Finds where a curve reaches `cost`, in the unit of its costs. Between two sizes it reads the
/// line between them in log-log space. Beyond the last size it assumes that the exponent of the
/// last octave continues. The result is `None` where the curve starts above the cost or does not
/// rise.
pub fn reach(curve: &Curve, cost: f64) -> Option<Reach> {
    if curve.points.first()?.1 >= cost {
        return None;
    }
    let crossing = curve.points.windows(2).position(|pair| pair[1].1 >= cost);
    let (start, end) = match crossing {
        Some(step) => (step, step + 2),
        None => (curve.last_octave()?, curve.points.len()),
    };
    let exponent = fit::exponent(&curve.points[start..end]);
    let size = |points: &[(f64, f64)]| {
        let points = &points[start..end];
        let Some(&(last, at_last)) = points.last() else { return f64::NAN };
        // A draw whose last octave is flat never reaches the cost. Infinity says so and sorts last.
        let exponent = fit::exponent(points);
        if exponent < LEAST { f64::INFINITY } else { last * (cost / at_last).powf(1.0 / exponent) }
    };
    let (size, interval) = curve.statistic(size)?;
    Some(Reach { size, interval, exponent, measured: crossing.is_some() })
}

/// Forecasts the cost at `next` from costs at smaller sizes, in any order. At the double size it is
/// four times as much, or eight times where the last step's exponent exceeds [`STEEP`].
///
/// The forecast is meant to be too high for most rows. A row that is stopped too early loses a
/// size. A row that is stopped too late holds up everything for minutes: one quadratic row went
/// past 150 s in a single step. Beyond one doubling the last step's exponent, at least 1 and at
/// most [`FEARED_AFTER_STEEP`], is assumed to continue, or no linear row would be measured at 64
/// and a million tasks. A step beyond that is a jump (a table of constant look-ups that became
/// lists, a sample that a neighbour made long) and goes on as no power: 0.2 ms at 256 were taken
/// for 307 s at 1,024. The result is `None` without a smaller size. O(n).
///
/// ```
/// use taskscale_stats::growth::forecast;
/// assert_eq!(forecast(&[(1000, 3.0), (2000, 6.0)], 4000), Some(24.0));
/// assert_eq!(forecast(&[(1000, 3.0), (2000, 30.0)], 4000), Some(240.0));
/// assert_eq!(forecast(&[(1000, 3.0), (2000, 6.0)], 200_000).map(f64::round), Some(2.0 * 600.0));
/// assert_eq!(forecast(&[(128, 1.0), (256, 1000.0)], 1024), Some(64.0 * 1000.0));
/// assert_eq!(forecast(&[(1000, 3.0)], 1000), None);
/// ```
pub fn forecast(costs: &[(u64, f64)], next: u64) -> Option<f64> {
    let mut known: Vec<(f64, f64)> = costs
        .iter()
        .filter(|(size, cost)| *size > 0 && *size < next && *cost > 0.0 && cost.is_finite())
        .map(|&(size, cost)| (size as f64, cost))
        .collect();
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let &(size, cost) = known.last()?;
    // Two entries for one size have an exponent that is not a number, which is no reason to assume
    // a cubic. `max` then gives 1.
    let seen = if known.len() > 1 { fit::exponent(&known[known.len() - 2..]).max(1.0) } else { 1.0 };
    let feared = if seen > STEEP { FEARED_AFTER_STEEP } else { FEARED };
    let ratio = next as f64 / size;
    let doubling = ratio.min(2.0);
    Some(cost * doubling.powf(feared) * (ratio / doubling).powf(seen.min(FEARED_AFTER_STEEP)))
}

/// Predictive stop: the forecast for `next` where it exceeds `budget`, in the unit of the costs.
/// The row should then be stopped and reported as truncated. `None` means that it should go on.
///
/// The stop complements a watchdog and does not replace one: between two sizes a true quadratic has
/// grown by n^3.7.
///
/// ```
/// use taskscale_stats::growth::breaks_budget;
/// let milliseconds = [(4000, 32.5), (8000, 109.0), (16_000, 1387.0)];
/// assert_eq!(breaks_budget(&milliseconds[..2], 16_000, 8000.0), None);
/// assert_eq!(breaks_budget(&milliseconds, 32_000, 8000.0), Some(8.0 * 1387.0));
/// ```
pub fn breaks_budget(costs: &[(u64, f64)], next: u64, budget: f64) -> Option<f64> {
    forecast(costs, next).filter(|&cost| cost > budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::SizeCost;

    fn curve(cost: impl Fn(f64) -> f64) -> Curve {
        let totals: Vec<(u64, [f64; 6])> =
            (0..5).map(|k| 1000 << k).map(|n: u64| (n, [cost(n as f64); 6])).collect();
        let costs: Vec<SizeCost<'_>> =
            totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
        Curve::of(&costs, &mut fastrand::Rng::with_seed(1))
    }

    #[test]
    fn a_cost_beyond_the_sizes_is_extrapolated_by_the_last_octave() {
        // The curve is linear up to 8,000, then quadratic. It reaches 1e9 at 8,000 x sqrt(1e9 /
        // 8e6).
        let found = reach(&curve(|n| 1000.0 * n * (n / 8000.0).max(1.0)), 1e9).expect("it rises");
        assert!((found.size - 8000.0 * 125.0_f64.sqrt()).abs() < 1.0, "{found:?}");
        assert!((found.exponent - 2.0).abs() < 1e-9 && !found.measured);
    }

    #[test]
    fn a_cost_within_the_sizes_is_read_off() {
        let found = reach(&curve(|n| n * n), 9e6).expect("it rises");
        assert!((found.size - 3000.0).abs() < 1e-6 && found.measured, "{found:?}");
    }

    #[test]
    fn what_does_not_rise_reaches_nothing() {
        assert_eq!(reach(&curve(|_| 7.0), 1e9), None);
        assert_eq!(reach(&curve(|n| n.powf(0.2)), 1e9), None, "at 10^45 tasks");
        assert_eq!(reach(&curve(|n| n), 500.0), None, "above it from the start");
    }

    #[test]
    fn forecasts_use_the_two_largest_sizes_in_any_order() {
        let near =
            |found: Option<f64>, cost: f64| found.is_some_and(|found| (found / cost - 1.0).abs() < 1e-9);
        assert!(near(forecast(&[(4000, 9.0), (1000, 1.0), (2000, 1.0)], 8000), 72.0));
        assert!(near(forecast(&[(1000, 1.0), (2000, 4.0)], 32_000), 4.0 * 256.0), "a square goes on");
        assert!(
            near(forecast(&[(1000, 1.0), (2000, 1.0)], 32_000), 32.0),
            "at least linear, and one doubling"
        );
        assert!(near(forecast(&[(1000, 1.0), (2000, 2.0)], 3000), 2.0 * 2.25), "less than a doubling");
        assert!(near(forecast(&[(1000, 1.0), (1000, 2.0)], 2000), 8.0), "twice the same size");
        assert_eq!(
            forecast(&[(16_000, 9.0), (1000, 1.0)], 2000),
            Some(4.0),
            "sizes beyond the next say nothing"
        );
        assert_eq!(forecast(&[(1000, f64::NAN), (500, 0.0)], 2000), None);
        assert_eq!(breaks_budget(&[(1000, 3.0)], 2000, 12.0), None, "just within");
        assert_eq!(breaks_budget(&[(1000, 3.0)], 2000, 11.9), Some(12.0));
    }
}
