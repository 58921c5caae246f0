//! A logarithmic axis that all lines of a plot share.

/// The axis: the decimal logarithms of its ends.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    low: f64,
    high: f64,
}

/// The steps within a decade at which an axis may begin, end and have a mark.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Values that an axis may hold. Beyond, its end would be infinite, and the decades up to it do not
/// fit into memory.
const POSSIBLE: std::ops::Range<f64> = 1e-300..1e300;

impl Axis {
    /// An axis that holds all of these values which are above 0, and begins and ends at 1, 2 or 5
    /// times a power of ten.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let known = values.filter(|value| POSSIBLE.contains(value));
        let (least, most) =
            known.fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 1.0) };
        let (mut low, mut high) = (step_below(least), step_above(most));
        // One lone value stands in the middle.
        if low >= high {
            (low, high) = (step_below(low / 1.5), step_above(high * 1.5));
        }
        Axis { low: low.log10(), high: high.log10() }
    }

    /// Where a value lies, from 0 to 1. A value outside is put on the nearest end.
    pub fn part(&self, value: f64) -> f64 {
        let part = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        part.clamp(0.0, 1.0)
    }

    /// The value at a part of the axis, from 0 to 1.
    pub fn value(&self, part: f64) -> f64 {
        10_f64.powf(self.low + part * (self.high - self.low))
    }

    /// Where a value lies, from 0 to 100.
    pub fn percent(&self, value: f64) -> f64 {
        100.0 * self.part(value)
    }

    /// At most `most` values that are worth a mark: 1, 2 and 5 times the powers of ten, or fewer of
    /// them.
    pub fn marks(&self, most: usize) -> Vec<f64> {
        let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        let inside = |value: &f64| {
            let log = value.log10();
            self.low - 1e-9 <= log && log <= self.high + 1e-9
        };
        let all = |every: usize, steps: &[f64]| -> Vec<f64> {
            let decades = decades.clone().step_by(every);
            decades.flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade))).collect()
        };
        let choices = [all(1, &STEPS), all(1, &[1.0, 3.0]), all(1, &[1.0]), all(2, &[1.0]), all(4, &[1.0])];
        let mut last = Vec::new();
        for choice in choices {
            last = choice.into_iter().filter(inside).collect();
            if last.len() <= most {
                break;
            }
        }
        last.truncate(most);
        last
    }
}

/// The largest step that is not above a value.
fn step_below(value: f64) -> f64 {
    let decade = 10_f64.powf((value.log10() + 1e-9).floor());
    let step = STEPS.iter().rev().find(|step| *step * decade <= value * (1.0 + 1e-9));
    step.unwrap_or(&1.0) * decade
}

/// The smallest step that is not below a value.
pub fn step_above(value: f64) -> f64 {
    let decade = 10_f64.powf((value.log10() + 1e-9).floor());
    let step = STEPS.iter().find(|step| *step * decade >= value * (1.0 - 1e-9));
    step.unwrap_or(&10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
    }

    #[test]
    fn an_axis_holds_its_values_and_a_lone_one_stands_inside() {
        let axis = Axis::over([150.0, 90_000.0].into_iter());
        near(axis.part(100.0), 0.0);
        near(axis.part(100_000.0), 1.0);
        near(axis.part(1.0), 0.0);
        near(axis.part(f64::INFINITY), 1.0);
        near(axis.percent(10_f64.powf(3.5)), 50.0);
        for lone in [1.0, 2.0, 3.0, 1e9, 0.02] {
            let part = Axis::over([lone].into_iter()).part(lone);
            assert!(0.05 < part && part < 0.95, "{lone}: {part}");
        }
        for impossible in [0.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -1.0] {
            let axis = Axis::over([impossible].into_iter());
            assert!(axis.part(impossible).is_finite() && axis.marks(6).len() < 7, "{impossible}");
        }
    }

    #[test]
    fn marks_are_round_and_as_many_as_there_is_room_for() {
        let marks = |low: f64, high: f64, most| Axis::over([low, high].into_iter()).marks(most);
        assert_eq!(marks(150.0, 1_800.0, 6), [100.0, 200.0, 500.0, 1_000.0, 2_000.0]);
        assert_eq!(marks(100.0, 10_000.0, 4), [100.0, 1_000.0, 10_000.0]);
        for (high, most) in [(1e3, 2), (1e9, 4), (1e15, 3)] {
            let marks = marks(1.0, high, most);
            assert!((1..=most).contains(&marks.len()), "{marks:?}");
        }
    }
}
