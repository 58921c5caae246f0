//! When a worker times every task, and when one in several.
//!
//! Two readings of the clock take 9 to 10 ns, and counting a span another 7. Beside tasks of some microseconds that is
//! nothing, and all of them are timed (*exact*). Beside tasks that take less than half a microsecond together with the gap
//! behind them it is 3 to 50 % of the program, and they are alike as nothing longer is, since nothing in them can wait: of
//! these one in 4 to 11 others is timed (*sampled*).
//!
//! What decides is the last full buffer, so that a change of the program's ways is seen after at most 80 timed tasks, and a
//! single long task or gap at the next timed one. Where long ones come again and again, sampling is given up for longer and
//! longer: tasks and pauses that lie between tiny ones more often than once in some 5,000 are timed like those.

use taskscale_digest::Estimate;
use taskscale_sys::ticks::Rate;

use crate::state::Entry;

/// Mean time from begin to begin up to which tasks are tiny.
pub const TINY_NS: u64 = 500;
/// A window that holds more than this for each of its tasks holds something other than tiny tasks.
pub const ODD_NS: u64 = 1_000;
/// A timed task longer than this is not tiny. Four times as much as for windows: those are means already.
pub const ODD_TASK_NS: u64 = 4_000;
/// Least number of tasks that are not timed behind one that is. On top of it come 0 to 7, drawn by lot: a period of the
/// program cannot fall into step with it.
pub const SKIP: u64 = 4;

/// Sampled buffers (about 700 tasks each) in a row after which a worker is trusted again.
const QUIET: u32 = 8;
/// Full buffers of tiny tasks that are asked for at most before sampling.
const MOST: u32 = 64;

/// How a worker's tasks are timed.
#[derive(Debug, Clone)]
pub struct Regime {
    sampled: bool,
    /// Buffers of tiny tasks in a row that are asked for before sampling; `None` where sampling is not wanted.
    asked: Option<u32>,
    /// Buffers of tiny tasks in a row.
    tiny: u32,
}

impl Regime {
    /// Exact; for good, where that is asked for.
    pub fn new(exact: bool) -> Self {
        Regime { sampled: false, asked: (!exact).then_some(1), tiny: 0 }
    }

    /// A full buffer was counted. Returns whether tasks are sampled from now on.
    pub fn buffer(&mut self, tiny: bool) -> bool {
        if !tiny {
            return self.long();
        }
        self.tiny += 1;
        match self.asked {
            Some(asked) if !self.sampled && self.tiny >= asked => (self.sampled, self.tiny) = (true, 0),
            Some(_) if self.sampled && self.tiny >= QUIET => self.asked = Some(1),
            _ => (),
        }
        self.sampled
    }

    /// Something was not tiny: tasks are timed all, from now on. Returns whether they are sampled, which they are not.
    pub fn long(&mut self) -> bool {
        if self.sampled {
            self.asked = self.asked.map(|asked| (asked * 2).min(MOST));
        }
        (self.sampled, self.tiny) = (false, 0);
        false
    }
}

/// Whether tasks are tiny, all of them: then how long they and their gaps are.
pub fn tiny(mut entries: impl Iterator<Item = Entry>) -> Option<Estimate> {
    let [tiny, odd, odd_task] = [TINY_NS, ODD_NS, ODD_TASK_NS].map(|ns| Rate::of_machine().ticks(ns));
    let first = entries.next()?;
    let (mut last, mut tasks, mut busy) = (first.begin, 0, 0);
    for entry in std::iter::once(Entry { untimed: 0, ..first }).chain(entries) {
        let (task, window) = (entry.end.wrapping_sub(entry.begin), entry.begin.wrapping_sub(last));
        let here = u64::from(entry.untimed) + 1;
        if entry.depth > 0 || !entry.leaf || task > odd_task || window > odd * here {
            return None;
        }
        tasks += here;
        busy += task * here;
        last = entry.end;
    }
    let all = last - first.begin;
    let usual = |ticks: u64| ticks as f64 / tasks as f64;
    (all < tiny * tasks).then(|| Estimate::new(usual(busy.min(all)), usual(all - busy.min(all)), odd))
}

/// How many tasks are not timed behind one that ended at `now`. Mixed twice: after one product, whose upper bits go round
/// as regularly as the program does, every second task of a program of period 2 came out 5 % too often.
#[inline]
pub fn skip(now: u64) -> u64 {
    let mixed = now.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    SKIP + ((mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_tasks_are_sampled_and_long_ones_make_an_end_of_it() {
        let mut regime = Regime::new(false);
        assert!(!regime.buffer(false));
        assert!(regime.buffer(true));
        assert!(regime.buffer(true));
        assert!(!regime.long());
        assert!(!regime.buffer(true), "twice as many are asked for");
        assert!(regime.buffer(true));
        (0..QUIET).for_each(|_| assert!(regime.buffer(true)));
        assert!(!regime.buffer(false));
        assert!(!regime.buffer(true));
        assert!(regime.buffer(true), "twice of one, as all had been quiet");
        let mut exact = Regime::new(true);
        assert!((0..1_000).all(|_| !exact.buffer(true)));
    }

    #[test]
    fn long_ones_that_come_again_and_again_put_it_off() {
        let mut regime = Regime::new(false);
        let mut sampled = 0;
        for buffer in 0..10_000 {
            sampled += u32::from(regime.buffer(buffer % 5 != 0));
        }
        assert!(sampled < 30, "{sampled} of 10,000");
    }

    #[test]
    fn the_number_is_drawn_by_lot_from_any_counter() {
        for step in [1u64, 2, 8, 24, 1_000, 4_096] {
            let skips: Vec<u64> = (0..800).map(|at| skip(1 << 40 | (at * step))).collect();
            let mean = skips.iter().sum::<u64>() as f64 / 800.0;
            assert!(skips.iter().all(|skip| (4..12).contains(skip)));
            assert!((7.0..8.0).contains(&mean), "{step}: {mean}");
        }
    }
}
