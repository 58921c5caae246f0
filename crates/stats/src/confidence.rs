//! How often an interval holds the true value.

/// Confidence of every interval that stands for itself, uncorrected for their number.
pub const CONFIDENCE: f64 = 0.95;

/// Confidence of each of `intervals` intervals that together miss in at most 5 % of the cases
/// (Bonferroni).
pub fn among(intervals: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / intervals.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interval_stands_for_itself_and_many_share_what_may_go_wrong() {
        assert_eq!((among(0), among(1)), (CONFIDENCE, CONFIDENCE));
        assert!((20.0 * (1.0 - among(20)) - 0.05).abs() < 1e-12);
    }
}
