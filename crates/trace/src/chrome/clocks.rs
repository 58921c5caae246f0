//! Times of two clocks in one file: microseconds since 1970 beside microseconds since a start.
//!
//! No window holds both. The events of the first event's clock count, and all others are counted
//! apart. A span that went into a digest cannot be taken back, so where the others are the most the
//! file is refused.

/// Times closer than this are of one clock: a year in nanoseconds. Clocks since a start and clocks
/// since 1970 are decades apart.
const NEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;
/// Times are of one clock where the gap between them is at most so many times the stretch that the
/// times before it cover.
const FACTOR: i64 = 1_000;

/// The stretches of time that the events of a file cover.
#[derive(Debug)]
pub struct Clocks {
    /// The first and the last time on the clock of the first event.
    first: i64,
    last: i64,
    /// Events on other clocks, and one of their times.
    others: u64,
    other: i64,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks { first: i64::MAX, last: i64::MIN, others: 0, other: 0 }
    }
}

impl Clocks {
    /// Tells whether a time is on the clock of the first event.
    #[inline(always)]
    pub fn takes(&mut self, ns: i64) -> bool {
        if ns > self.last {
            if ns.wrapping_sub(self.last) as u64 > NEAR_NS as u64 && self.is_other(ns) {
                return false;
            }
            self.last = ns;
        }
        if ns < self.first {
            if self.first.wrapping_sub(ns) as u64 > NEAR_NS as u64 && self.is_other(ns) {
                return false;
            }
            self.first = ns;
        }
        true
    }

    #[cold]
    fn is_other(&self, ns: i64) -> bool {
        // Before the first event nothing is known.
        let Some(covered) = self.last.checked_sub(self.first).filter(|covered| *covered >= 0) else {
            return false;
        };
        self.distance(ns) > covered.saturating_mul(FACTOR) as u64
    }

    fn distance(&self, ns: i64) -> u64 {
        if ns > self.last { ns.abs_diff(self.last) } else { self.first.abs_diff(ns) }
    }

    /// Counts events of another clock.
    #[cold]
    pub fn count_other(&mut self, ns: i64, events: u64) {
        self.others += events;
        self.other = ns;
    }

    /// Returns how many events are of another clock and how far off one of them is, in words.
    pub fn others(&self) -> Option<(u64, String)> {
        let days = self.distance(self.other) as f64 / 86_400e9;
        (self.others > 0).then(|| (self.others, format!("{:.1} years", days / 365.25)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH_NS: i64 = 1_790_000_000_000_000_000;

    #[test]
    fn decades_apart_is_another_clock_and_a_long_trace_is_none() {
        let mut clocks = Clocks::default();
        assert!([5_000, 7_000, 6_000].into_iter().all(|ns| clocks.takes(ns)));
        assert!(!clocks.takes(EPOCH_NS) && !clocks.takes(-EPOCH_NS));
        clocks.count_other(EPOCH_NS, 1);
        assert_eq!(clocks.others(), Some((1, "56.7 years".to_owned())));
        assert!(clocks.takes(86_400 * 1_000_000_000 * 300), "a process that ran for 300 days");

        let mut clocks = Clocks::default();
        let month = 30 * 86_400 * 1_000_000_000;
        assert!((0..40).all(|i| clocks.takes(EPOCH_NS + i * month)), "more than three years in all");
        assert!(clocks.takes(EPOCH_NS) && clocks.takes(EPOCH_NS + 41 * 13 * month));
        assert_eq!(clocks.others(), None);
    }

    #[test]
    fn times_at_the_ends_of_the_range_do_not_overflow() {
        for first in [i64::MIN, -1, 0, i64::MAX] {
            for second in [i64::MIN, -1, 0, i64::MAX] {
                let mut clocks = Clocks::default();
                assert!(clocks.takes(first));
                let near = first.abs_diff(second) <= NEAR_NS as u64;
                assert_eq!(clocks.takes(second), near, "{first} {second}");
            }
        }
    }
}
