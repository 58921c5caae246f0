//! Axes with even steps: shares, counts, and time from the begin of the window.

use taskscale_model::figure::grouped;

use crate::page::{
    axis::step_above,
    marks::{Tick, short},
};

/// An axis from 0 to at least `most`.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The value at its end.
    pub end: f64,
    /// Between two labels.
    step: f64,
}

impl Scale {
    /// An axis that ends at a label, with at most `labels` behind the first.
    pub fn round(most: f64, labels: usize) -> Self {
        let step = step_for(most, labels);
        Scale { end: (most / step - 1e-9).ceil().max(1.0) * step, step }
    }

    /// An axis of whole numbers, as [`Scale::round`] makes it.
    pub fn whole(most: f64, labels: usize) -> Self {
        let step = step_for(most, labels).max(1.0);
        Scale { end: (most / step - 1e-9).ceil().max(1.0) * step, step }
    }

    /// An axis that ends at `most`, wherever its labels are.
    pub fn exact(most: f64, labels: usize) -> Self {
        Scale { end: if most.is_finite() && most > 0.0 { most } else { 1.0 }, step: step_for(most, labels) }
    }

    /// Where a value lies, from 0 to 100. A value outside is put on the nearest end.
    pub fn percent(&self, value: f64) -> f64 {
        let percent = 100.0 * (value / self.end);
        if percent.is_nan() { 0.0 } else { percent.clamp(0.0, 100.0) }
    }

    /// The labels in words that `say` gives.
    pub fn ticks(&self, say: impl Fn(f64) -> String) -> Vec<Tick> {
        let last = (self.end / self.step + 1e-9).floor() as u32;
        (0..=last.min(20))
            .map(|index| f64::from(index) * self.step)
            .map(|at| (self.percent(at), say(at)))
            .collect()
    }
}

/// A round step by which `most` is reached in no more than `labels`.
fn step_for(most: f64, labels: usize) -> f64 {
    let most = if (f64::MIN_POSITIVE..1e300).contains(&most) { most } else { 1.0 };
    step_above(most / labels.max(1) as f64)
}

/// Shares of the whole: 0 %, 25 %, ... 100 %.
pub fn shares() -> Vec<Tick> {
    [0.0, 25.0, 50.0, 75.0, 100.0].map(|at| (at, format!("{at:.0} %"))).into()
}

/// A time of an axis; its begin has no unit.
pub fn moment(ns: f64) -> String {
    if ns == 0.0 { "0".to_owned() } else { short(ns) }
}

/// A number of an axis: `20,000`, `0.5`.
pub fn plain_number(value: f64) -> String {
    let text = format!("{value:.3}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        for (most, labels, end, step) in
            [(2.0, 4, 2.0, 0.5), (60_000.0, 4, 60_000.0, 20_000.0), (7.0, 4, 8.0, 2.0), (0.31, 5, 0.4, 0.1)]
        {
            let scale = Scale::round(most, labels);
            assert!((scale.end - end).abs() < 1e-9 && (scale.step - step).abs() < 1e-9, "{most}: {scale:?}");
            assert!(scale.ticks(plain_number).len() <= labels + 1);
        }
        let scale = Scale::exact(105.0, 5);
        assert_eq!(scale.ticks(plain_number).last().map(|(_, label)| label.as_str()), Some("100"));
        for most in [0.0, f64::NAN, f64::INFINITY, -1.0, f64::MAX] {
            let scale = Scale::exact(most, 4);
            assert!(scale.percent(0.5).is_finite() && !scale.ticks(plain_number).is_empty(), "{most}");
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.5, 20_000.0].map(plain_number), ["0", "0.5", "20,000"]);
    }
}
