//! The interval of a median of few observations, by a spread that several groups share.
//!
//! Five observations have no 95 % interval of their own ([`crate::sign`]). Where the same program
//! was measured at several sizes, the relative spread between its processes is estimated from all
//! of them together (pooled variance; Student, "The probable error of a mean", Biometrika 1908).

use crate::student;

/// The fewest degrees of freedom of a spread. With eight, Student's factor is 2.31; with two it is
/// 4.30 and rests on nothing.
const FEWEST: usize = 8;

/// The spread of logarithms around the mean of their group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Pooled standard deviation.
    pub sd: f64,
    /// Observations less groups.
    pub freedom: usize,
}

/// The spread that groups of positive values share, each around its own level. The result is `None`
/// with fewer than eight degrees of freedom, or where a value is not positive. O(n).
///
/// ```
/// use taskscale_stats::pooled::spread;
/// let groups = [vec![1.0, 1.1, 0.9, 1.0, 1.05], vec![10.0, 11.0, 9.5, 10.1, 9.9]];
/// let shared = spread(groups.iter().map(Vec::as_slice)).expect("eight degrees of freedom");
/// assert!((0.05..0.08).contains(&shared.sd));
/// assert_eq!(spread([[1.0, 2.0].as_slice()]), None);
/// ```
pub fn spread<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<Spread> {
    let (mut squares, mut freedom) = (0.0, 0);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        if group.iter().any(|value| value.is_nan() || *value <= 0.0) {
            return None;
        }
        let mean = group.iter().map(|value| value.ln()).sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|value| (value.ln() - mean).powi(2)).sum::<f64>();
        freedom += group.len() - 1;
    }
    (freedom >= FEWEST).then(|| Spread { sd: (squares / freedom as f64).sqrt(), freedom })
}

impl Spread {
    /// The interval of a median of `n` observations. The variance of a median is at most pi/2 times
    /// that of a mean, which it is for many normal values; for two it is that of the mean. O(1).
    pub fn interval(&self, median: f64, n: usize, confidence: f64) -> Option<(f64, f64)> {
        let factor = student::factor(self.freedom, confidence)?;
        let half = factor * self.sd * (std::f64::consts::FRAC_PI_2 / n.max(1) as f64).sqrt();
        (n > 1).then(|| (median * (-half).exp(), median * half.exp()))
    }
}
