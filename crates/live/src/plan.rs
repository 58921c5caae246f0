//! The plan of a worker whose tasks are sampled: how many outermost tasks go untimed before the
//! next timed one.
//!
//! The plan is one word, so that others read all of it at once, and so that an untimed task writes
//! nothing else. It is 0 while all tasks are timed.
//!
//! ```text
//! bit    63..32                         8                          7..0
//!        untimed tasks in all           one of them is open now    untimed tasks still to come
//! ```

/// The least number of untimed tasks behind a timed one. A further 0 to 15 are drawn by lot, so
/// that no period of the program falls into step with the sampling (tests: periods of 2 to 16).
pub const SKIP: u64 = 8;

/// The bit that is set while an untimed task is open.
pub const OPEN: u64 = 1 << 8;
/// The lowest bit of the number of untimed tasks in all.
const WERE: u32 = 32;

// All numbers that may be drawn fit below the bit.
const _: () = assert!(SKIP + 15 < OPEN);

/// The plan of one worker, as the word that the module describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan(pub u64);

impl Plan {
    /// All tasks are timed, and no untimed task is left to count.
    pub const NONE: Plan = Plan(0);

    /// The plan behind a timed task that ended at `now`.
    #[inline(always)]
    pub fn behind(now: u64) -> Plan {
        Plan(skip(now) * (1 << WERE | 1))
    }

    /// The plan after `tasks` untimed tasks have ended: the next one is timed.
    pub fn gone(tasks: u32) -> Plan {
        Plan(u64::from(tasks) << WERE)
    }

    /// Whether the next outermost task goes untimed: some are still to come, and none is open.
    #[inline(always)]
    pub fn skips(self) -> bool {
        (self.0 as u32).wrapping_sub(1) < OPEN as u32 - 1
    }

    /// Whether an untimed task is open.
    #[inline(always)]
    pub fn is_open(self) -> bool {
        self.0 as u32 >= OPEN as u32
    }

    /// The plan once the next untimed task has begun.
    #[inline(always)]
    pub fn begun(self) -> Plan {
        Plan(self.0 + OPEN)
    }

    /// The plan once the open untimed task has ended.
    #[inline(always)]
    pub fn ended(self) -> Plan {
        Plan(self.0 - OPEN - 1)
    }

    /// The number of untimed tasks in all. That many have ended when the next task is timed.
    #[inline(always)]
    pub fn all(self) -> u32 {
        (self.0 >> WERE) as u32
    }

    /// The number of untimed tasks that have ended since the last timed one. An open one is not
    /// among them.
    pub fn untimed(self) -> u32 {
        self.all().wrapping_sub(self.0 as u32 & (OPEN as u32 - 1))
    }
}

/// The number of tasks that go untimed behind one that ended at `now`. The time is mixed twice.
/// After a single product, whose upper bits go round as regularly as the program does, every second
/// task of a program of period 2 came out 5 % too often.
#[inline]
pub fn skip(now: u64) -> u64 {
    let mixed = now.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    SKIP + ((mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_drawn_by_lot_from_any_counter() {
        for step in [1u64, 2, 8, 24, 1_000, 4_096] {
            let skips: Vec<u64> = (0..800).map(|at| skip(1 << 40 | (at * step))).collect();
            let mean = skips.iter().sum::<u64>() as f64 / 800.0;
            assert!(skips.iter().all(|skip| (8..24).contains(skip)));
            assert!((14.5..16.5).contains(&mean), "{step}: {mean}");
        }
    }

    #[test]
    fn a_plan_counts_down_while_tasks_come_and_go() {
        let mut plan = Plan::behind(12_345);
        let all = plan.all();
        assert!((8..24).contains(&all));
        for gone in 0..all {
            assert!(plan.skips() && !plan.is_open() && plan.untimed() == gone);
            plan = plan.begun();
            assert!(!plan.skips() && plan.is_open() && plan.untimed() == gone, "one inside it is timed");
            plan = plan.ended();
        }
        assert!(!plan.skips() && plan.untimed() == all);
        assert_eq!(Plan::gone(all), plan);
        assert!(!Plan::NONE.skips() && Plan::NONE.untimed() == 0);
    }
}
