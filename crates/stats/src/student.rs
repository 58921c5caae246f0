//! The interval of a mean of few observations (Student, "The probable error of a mean", Biometrika
//! 1908): three to five processes, of which a rank test has no 95 % interval.
//!
//! Assumed is that the observations are independent and about normal. Medians of the rounds of a
//! process are about that, however skewed the rounds are.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The fewest observations for an interval. With three, Student's factor at 95 % is 4.30; with two
/// it is 12.7, and says nothing.
pub const FEWEST: usize = 3;

/// The interval of the mean at `confidence`. It is `None` with fewer than [`FEWEST`] values, or
/// where one is not finite. O(n).
///
/// ```
/// use taskscale_stats::student::interval;
/// // The mean is 3, the standard deviation sqrt(2.5), and Student's factor for 4 is 2.776.
/// let (low, high) = interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).expect("five values");
/// assert!((low - 1.0368).abs() < 1e-3 && (high - 4.9632).abs() < 1e-3);
/// assert_eq!(interval(&[1.0, 2.0], 0.95), None);
/// ```
pub fn interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let n = values.len();
    if n < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half = factor(n - 1, confidence)? * (variance / n as f64).sqrt();
    Some((mean - half, mean + half))
}

/// How many standard errors an interval reaches to either side, by degrees of freedom. It is `None`
/// without any. O(1).
pub(crate) fn factor(freedom: usize, confidence: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    Some(student.inverse_cdf(0.5 + confidence / 2.0))
}
