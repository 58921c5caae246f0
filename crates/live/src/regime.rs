//! When a worker times every task, and when one in several.
//!
//! Two readings of the clock take 2 to 10 ns, by machine and program (docs/evidence/live-taskflow.md), and counting a span another 7. Beside tasks of some microseconds that is
//! nothing, and all of them are timed (*exact*). Beside tasks that take less than half a microsecond together with the gap
//! behind them it is 3 to 50 % of the program, and they are alike as nothing longer is, since nothing in them can wait: of
//! these one is timed behind 8 to 23 others (*sampled*).
//!
//! What decides is the last full buffer, so that a change of the program's ways is seen after at most 75 timed tasks, and a
//! single long task or gap at the next timed one. Of a long time among tasks that were not timed it may not be known
//! whether it was a task or a gap, and not what task. For such a time tiny tasks are then timed all for eight times as long, so
//! that what is not known stays a small part of the whole, and is timed where it comes again and again. What is longer than any task
//! that was timed is likelier a pause, and for that a quarter as long must do: of long tasks that come again one is timed before long, and
//! then it is eight times.

use taskscale_digest::Estimate;
use taskscale_sys::ticks::Rate;

use crate::state::Entry;

/// Mean time from begin to begin up to which tasks are tiny.
pub const TINY_NS: u64 = 500;
/// A gap longer than this is not one between tiny tasks; nor is a window four times as much longer than thrice the usual one: a
/// task of 10 us in a hundred would be most of the time, and would count as gaps.
pub const ODD_NS: u64 = 1_000;
/// A timed task longer than this is not tiny.
pub const ODD_TASK_NS: u64 = 4_000;
/// Least number of tasks that are not timed behind one that is. On top of it come 0 to 15, drawn by lot: a period of the
/// program cannot fall into step with it.
pub const SKIP: u64 = 8;

/// How many times as long tiny tasks are timed all after a time of which nobody knows what it was, as far as the longest task that
/// was timed makes it likely to have been a task.
const UNKNOWN: u64 = 8;
/// One in so many parts, however long that one was: there is a pause between any two runs of a graph, and with 8 times as long
/// for it two runs of a million empty tasks with 25 ms between them were timed all.
const PAUSE: u64 = 4;
/// One in so many parts: the same after a time that was a task's, and only the name is not known.
const UNNAMED: u64 = 32;

/// What is owed is paid at once when it is so many times the tiny time between two such times: in that, the next ones come while
/// all tasks are timed. Paid bit by bit behind each, it would miss every one in a program of regular ways.
const LUMP: u64 = 2;

/// How a worker's tasks are timed.
#[derive(Debug, Clone, Default)]
pub struct Regime {
    sampled: bool,
    exact: bool,
    /// Time for which tiny tasks are still to be timed all, and whether they are now for that.
    owed_ns: u64,
    pays: bool,
    /// Time of tiny tasks since the last time that was not known.
    since_ns: u64,
    /// The longest task that was timed, where one was long.
    longest_ns: u64,
}

impl Regime {
    /// Exact; for good, where that is asked for.
    pub fn new(exact: bool) -> Self {
        Regime { exact, ..Self::default() }
    }

    /// A full buffer was counted, or a part of one that is not tiny; of tiny tasks it took so long. Returns whether tasks are sampled
    /// from now on.
    pub fn buffer(&mut self, tiny_ns: Option<u64>) -> bool {
        let here_ns = tiny_ns.unwrap_or(0);
        self.since_ns = self.since_ns.saturating_add(here_ns);
        if !self.sampled {
            self.owed_ns = self.owed_ns.saturating_sub(here_ns);
        }
        self.pays &= self.owed_ns > 0;
        self.sampled = tiny_ns.is_some() && !self.pays && !self.exact;
        self.sampled
    }

    /// Tasks are timed all, until the next full buffer at least.
    pub fn end(&mut self) {
        self.sampled = false;
    }

    /// A task that was timed took so long.
    pub fn long_task(&mut self, ns: u64) {
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// So much time among tasks that were not timed was a task's, or a gap.
    pub fn unknown(&mut self, ns: u64) {
        self.owe((ns / PAUSE).saturating_add(ns.min(self.longest_ns).saturating_mul(UNKNOWN)));
        self.since_ns = 0;
    }

    /// The same, little by little: too short for a pause.
    pub fn odd(&mut self, ns: u64) {
        self.owe(ns.saturating_mul(UNKNOWN));
    }

    /// So much time among tasks that were not timed was a task's.
    pub fn unnamed(&mut self, ns: u64) {
        self.owe(ns / UNNAMED);
        self.since_ns = 0;
    }

    fn owe(&mut self, ns: u64) {
        self.owed_ns = self.owed_ns.saturating_add(ns);
        self.pays |= self.owed_ns >= self.since_ns.saturating_mul(LUMP);
    }
}

/// Whether tasks are tiny, all of them: then how long they and their gaps are, and all of them together, in ticks.
/// `clock` ticks of each are the clock's.
pub fn tiny(mut entries: impl Iterator<Item = Entry>, rate: Rate, clock: u64) -> Option<(Estimate, u64)> {
    let [tiny, odd, odd_task] = [TINY_NS, ODD_NS, ODD_TASK_NS].map(|ns| rate.ticks(ns));
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
    let estimate = || Estimate::new(usual(busy.min(all)), usual(all - busy.min(all)), odd, clock);
    (all < tiny * tasks).then(|| (estimate(), all))
}

/// How many tasks are not timed behind one that ended at `now`. Mixed twice: after one product, whose upper bits go round
/// as regularly as the program does, every second task of a program of period 2 came out 5 % too often.
#[inline]
pub fn skip(now: u64) -> u64 {
    let mixed = now.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    SKIP + ((mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_tasks_are_sampled_and_others_make_an_end_of_it() {
        let mut regime = Regime::new(false);
        assert!(!regime.buffer(None));
        assert!(regime.buffer(Some(5_000)));
        assert!(!regime.buffer(None));
        assert!(regime.buffer(Some(5_000)));
        regime.end();
        assert!(regime.buffer(Some(5_000)), "a long task that was timed is known");
        let mut exact = Regime::new(true);
        assert!((0..1_000).all(|_| !exact.buffer(Some(5_000))));
    }

    /// Every tenth buffer of 40 us holds 0.4 ms more, a task's or a pause. Returns what of that was not known, and all time.
    fn unknown(is_task: bool) -> (u64, u64) {
        let mut regime = Regime::new(false);
        let (mut unknown, mut time, mut sampled) = (0, 0, false);
        for buffer in 0..100_000u64 {
            let long = if buffer % 10 == 9 { 400_000 } else { 0 };
            if sampled && long > 0 {
                regime.unknown(long);
                unknown += long;
            } else if long > 0 && is_task {
                regime.long_task(long);
            }
            time += 40_000 + long;
            sampled = regime.buffer((long == 0).then_some(40_000));
        }
        (unknown, time)
    }

    #[test]
    fn what_is_not_known_stays_a_small_part_where_tasks_are_long() {
        let (part, time) = unknown(true);
        assert!(part > 0 && part * 9 <= time, "{part} of {time}");
    }

    #[test]
    fn pauses_leave_most_of_the_tasks_sampled() {
        // A quarter of 0.4 ms is owed for each. Behind seven it is twice the 0.36 ms between two, and as many come while all is timed.
        let (part, time) = unknown(false);
        assert!((0.4..0.45).contains(&(part as f64 / time as f64)), "{part} of {time}");
    }

    #[test]
    fn the_number_is_drawn_by_lot_from_any_counter() {
        for step in [1u64, 2, 8, 24, 1_000, 4_096] {
            let skips: Vec<u64> = (0..800).map(|at| skip(1 << 40 | (at * step))).collect();
            let mean = skips.iter().sum::<u64>() as f64 / 800.0;
            assert!(skips.iter().all(|skip| (8..24).contains(skip)));
            assert!((14.5..16.5).contains(&mean), "{step}: {mean}");
        }
    }
}
