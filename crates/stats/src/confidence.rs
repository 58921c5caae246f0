//! How often an interval holds the true value.

/// Confidence of every interval that stands for itself, uncorrected for their number.
pub const CONFIDENCE: f64 = 0.95;

/// Confidence of each of `intervals` intervals that together miss in at most 5 % of the cases
/// (Bonferroni).
pub fn among(intervals: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / intervals.max(1) as f64
}

/// Confidence of all verdicts of a gate together. Identical code is called worse once in 200 gates
/// at most, and better as often. With 95 % it would be once in 40: on a busy machine, whose
/// intervals are wider than any threshold, 2 of 20 comparisons of identical code were called better
/// (docs/evidence/comparisons.md).
pub const GATE: f64 = 0.99;

/// Confidence of each of the `rows` of a gate (Bonferroni).
pub fn gate(rows: usize) -> f64 {
    1.0 - (1.0 - GATE) / rows.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interval_stands_for_itself_and_many_share_what_may_go_wrong() {
        assert_eq!((among(0), among(1)), (CONFIDENCE, CONFIDENCE));
        assert!((20.0 * (1.0 - among(20)) - 0.05).abs() < 1e-12);
        assert_eq!((gate(0), gate(1)), (GATE, GATE));
        assert!((20.0 * (1.0 - gate(20)) - 0.01).abs() < 1e-12);
    }
}
