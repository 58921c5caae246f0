//! When a cell ends, and when its rows are given up.

use crate::link::Short;

/// How many times its time a cell may last before a round is broken off in the middle.
const OVERRUN: f64 = 1.5;

/// When a cell ends, whatever its intervals say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// The time of the cell, in nanoseconds. Warm-up gets a share of it.
    pub time_ns: u64,
    /// No round begins that would end more than half a round later than this.
    pub stop_ns: u64,
    /// A round that is still under way then is broken off.
    pub broken_off_ns: u64,
    /// A row that has no iterations by then is given up, but for the first that has.
    pub given_up_ns: u64,
    /// Nothing is asked after this, whatever has been measured by then.
    pub over_ns: u64,
    /// Nothing is counted after this.
    pub counted_ns: u64,
}

impl Deadline {
    /// Whether the time is too short for `pairs` turns, each of a pair of processes, after `turns`
    /// of them, the last of `turn_ns`, and `spent_ns` in all. That is so after the first or second
    /// turn where it would be with turns of half the length: later ones warm up less, and on a busy
    /// machine took half as long in eight of eleven runs. After more turns it is not asked.
    pub fn short(&self, pairs: u64, turns: u64, spent_ns: u64, turn_ns: u64) -> Option<Short> {
        let needs_ns =
            |turn_ns: u64| spent_ns.saturating_add(pairs.saturating_sub(turns).saturating_mul(turn_ns));
        let least_ns = match turns {
            ..=2 => needs_ns(turn_ns / 2),
            _ => return None,
        };
        let short = Short { pairs, pair_ns: turn_ns, has_ns: self.time_ns, needs_ns: needs_ns(turn_ns) };
        (least_ns > self.time_ns).then_some(short)
    }

    /// The deadline of a cell that is measured in one go, from now on.
    pub fn alone(now_ns: u64, time_ns: u64) -> Self {
        let after = |ns: u64| now_ns.saturating_add(ns);
        Deadline {
            time_ns,
            stop_ns: after(time_ns),
            broken_off_ns: after((time_ns as f64 * OVERRUN) as u64),
            // An iteration of a million tasks may take longer than the cell has.
            given_up_ns: u64::MAX,
            over_ns: u64::MAX,
            counted_ns: u64::MAX,
        }
    }

    /// The deadline of a cell that ends with its time, from now on. Where something is counted,
    /// half of the time is for that.
    pub fn bound(now_ns: u64, time_ns: u64, counts: bool) -> Self {
        let timed_ns = if counts { time_ns / 2 } else { time_ns };
        let ends_ns = now_ns.saturating_add(timed_ns);
        Deadline {
            time_ns: timed_ns,
            stop_ns: ends_ns,
            broken_off_ns: ends_ns,
            given_up_ns: u64::MAX,
            over_ns: ends_ns,
            counted_ns: now_ns.saturating_add(time_ns),
        }
    }

    /// When a row that has not been checked is given up so that those that have can be timed. The
    /// processes were up at `up_ns`, and `lost_ns` went to rows that failed. Of the rest a third is
    /// for checking: the start of 40 virtual machines on a busy machine took the third of all.
    pub fn unverified_ns(&self, up_ns: u64, lost_ns: u64) -> u64 {
        if self.over_ns == u64::MAX {
            return self.given_up_ns;
        }
        let began_ns = self.over_ns.saturating_sub(self.time_ns).max(up_ns);
        let rest_ns = self.over_ns.saturating_sub(began_ns).saturating_sub(lost_ns);
        began_ns.saturating_add(lost_ns).saturating_add(rest_ns / 3)
    }

    /// When a row that has no iterations is given up, where they are chosen from now on: half of
    /// what is left is for rounds.
    pub fn uncalibrated_ns(&self, now_ns: u64) -> u64 {
        match self.over_ns {
            u64::MAX => self.given_up_ns,
            over_ns => now_ns.saturating_add(over_ns.saturating_sub(now_ns) / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_which_processes_come_up_is_not_that_of_checking() {
        let deadline = Deadline::bound(0, 150, false);
        assert_eq!(deadline.unverified_ns(0, 0), 50);
        assert_eq!(deadline.unverified_ns(60, 0), 90, "a third of what is left");
        assert_eq!(deadline.unverified_ns(60, 30), 110, "and of what was not lost");
    }

    #[test]
    fn a_time_is_too_short_where_turns_of_half_the_length_are_too_long() {
        let has = |ns| Deadline::alone(0, ns);
        // One turn of 10 and seven more of 5 or 10.
        assert!(has(44).short(8, 1, 10, 10).is_some_and(|short| short.needs_ns == 80));
        assert_eq!(has(45).short(8, 1, 10, 10), None);
        // The second took 6, and six more as long.
        assert!(has(33).short(8, 2, 16, 6).is_some_and(|short| (short.needs_ns, short.pair_ns) == (52, 6)));
        assert_eq!(has(34).short(8, 2, 16, 6), None);
        assert_eq!(has(1).short(8, 3, 22, 6), None, "it was said before");
    }
}
