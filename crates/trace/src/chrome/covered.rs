//! The stretch of time that the spans of a file cover, and times of another clock: microseconds
//! since 1970 beside microseconds since a start.
//!
//! No window holds two clocks. The spans of the first one's clock count, and all others are counted
//! apart. A span that went into a digest cannot be taken back, so where the others are the most the
//! file is refused.

/// Times closer than this are of one clock: ten years in nanoseconds. No trace is as long, and
/// clocks since a start and clocks since 1970 are further apart.
pub const NEAR_NS: i64 = 10 * 365 * 86_400 * 1_000_000_000;

/// The stretch of time that the spans cover which were handed on, and what their clock is.
#[derive(Debug)]
pub struct Covered {
    /// The first start, in the order of the file.
    reference: Option<i64>,
    first: i64,
    last: i64,
    /// Events on other clocks, and one of their times.
    others: u64,
    other: i64,
}

impl Default for Covered {
    fn default() -> Self {
        Covered { reference: None, first: i64::MAX, last: i64::MIN, others: 0, other: 0 }
    }
}

impl Covered {
    /// Tells whether a span is on the clock of the first one, and covers its time if so.
    #[inline(always)]
    pub fn takes(&mut self, start_ns: i64, end_ns: i64) -> bool {
        let reference = *self.reference.get_or_insert(start_ns);
        if start_ns.abs_diff(reference) > NEAR_NS as u64 {
            return false;
        }
        self.add(start_ns, end_ns);
        true
    }

    /// Covers a span that is on the clock of the first one.
    #[inline(always)]
    pub fn add(&mut self, start_ns: i64, end_ns: i64) {
        self.first = self.first.min(start_ns);
        self.last = self.last.max(end_ns);
    }

    /// Returns which starts are on the clock of the first one, as times since this origin. `None`
    /// before the first span.
    pub fn bounds(&self, origin_ns: i64) -> Option<Bounds> {
        let reference = self.reference?.saturating_add(origin_ns);
        let (low, high) = (reference.saturating_sub(NEAR_NS), reference.saturating_add(NEAR_NS));
        Some(Bounds { low, high, hold_zero: (low..=high).contains(&0) })
    }

    /// Returns the first start and the last end.
    pub fn stretch(&self) -> Option<(i64, i64)> {
        (self.first <= self.last).then_some((self.first, self.last))
    }

    /// Counts events of another clock.
    #[cold]
    pub fn count_other(&mut self, ns: i64, events: u64) {
        self.others += events;
        self.other = ns;
    }

    /// Returns how many events are of another clock and how far off one of them is, in words.
    pub fn others(&self) -> Option<(u64, String)> {
        let days = self.other.abs_diff(self.reference.unwrap_or(0)) as f64 / 86_400e9;
        (self.others > 0).then(|| (self.others, format!("{:.1} years", days / 365.25)))
    }
}

/// The starts that are on the clock of the first span.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    low: i64,
    high: i64,
    /// Whether zero lies inside, and with it all times of few digits.
    pub hold_zero: bool,
}

impl Bounds {
    /// Tells whether a start lies inside.
    pub fn hold(&self, ns: i64) -> bool {
        (self.low..=self.high).contains(&ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH_NS: i64 = 1_790_000_000_000_000_000;

    #[test]
    fn decades_apart_is_another_clock_and_years_are_none() {
        let mut covered = Covered::default();
        assert!([5_000, 7_000, 6_000].into_iter().all(|ns| covered.takes(ns, ns + 9)));
        assert!(!covered.takes(EPOCH_NS, EPOCH_NS + 9) && !covered.takes(-EPOCH_NS, -EPOCH_NS));
        assert_eq!(covered.stretch(), Some((5_000, 7_009)));
        covered.count_other(EPOCH_NS, 1);
        assert_eq!(covered.others(), Some((1, "56.7 years".to_owned())));
        assert!(covered.takes(NEAR_NS, NEAR_NS), "a process that ran for years");
    }

    #[test]
    fn bounds_are_what_is_taken() {
        assert!(Covered::default().bounds(0).is_none());
        for (reference, origin) in [(0, 0), (-7, 9), (40, EPOCH_NS)] {
            let mut covered = Covered::default();
            assert!(covered.takes(reference, reference));
            let bounds = covered.bounds(origin).expect("a span was taken");
            for ns in [0, 1, 100, NEAR_NS, -NEAR_NS].map(|ns| reference + ns) {
                for ns in [ns - 1, ns, ns + 1] {
                    assert_eq!(bounds.hold(ns + origin), covered.takes(ns, ns), "{ns} since {origin}");
                }
            }
            assert_eq!(bounds.hold_zero, bounds.hold(0));
        }
    }

    #[test]
    fn times_at_the_ends_of_the_range_do_not_overflow() {
        for first in [i64::MIN, -1, 0, i64::MAX] {
            for second in [i64::MIN, -1, 0, i64::MAX] {
                let mut covered = Covered::default();
                assert!(covered.takes(first, first));
                let near = first.abs_diff(second) <= NEAR_NS as u64;
                assert_eq!(covered.takes(second, second), near, "{first} {second}");
            }
        }
    }
}
