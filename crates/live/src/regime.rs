//! When a worker times every task, and when one in several.
//!
//! Two readings of the clock take 2 to 10 ns, by machine and program, and counting a span another 7
//! (docs/evidence/live-taskflow.md). Beside tasks of some microseconds that is nothing, and all of
//! them are timed. Beside *tiny* tasks it is 3 to 50 % of the program, and they are alike as
//! nothing longer is, since nothing in them can wait: of these one is timed behind 8 to 23 others.
//!
//! ```text
//!                    a full buffer of tiny tasks, and nothing is owed
//!        +---------+ ------------------------------------------------> +---------+
//!        |  exact  |                                                   | sampled |
//!        +---------+ <------------------------------------------------ +---------+
//!             |        a buffer that is not tiny                            |
//!             |        a long task or window, a task inside an untimed one  |
//!             |        an unknown time, for which 8 times as long is owed --+
//!             +-- each full buffer of tiny tasks pays what it took
//! ```
//!
//! 1. **Tiny?** The last full buffer says it ([`tiny`]), so that a change of the program's ways is
//!    seen after at most 75 timed tasks, and a single long task or window at once.
//! 2. **Unknown.** Of a long time among tasks that were not timed it may not be known whether it
//!    was a task or a pause. It counts as a gap, and the digest says how much there was of it.
//! 3. **Owed.** Tiny tasks are then all timed for [`OWED`] times as long, in which the next such
//!    time is seen for what it is. Longer than the longest task that was timed it was likelier a
//!    pause, and for the rest of it nothing is owed: two runs of a graph with 25 ms between them
//!    would be timed all. Of long tasks that come again one in 16 is timed while tasks are sampled,
//!    and then it is owed in full.
//!
//! What each rule is worth: `cargo run --release -p taskscale-experiments --bin sampling`.

use taskscale_digest::Estimate;
use taskscale_sys::ticks::Rate;

use crate::entry::Entry;

/// Mean time from begin to begin up to which tasks are tiny: exact timing costs 3 to 6 % there.
pub const TINY_NS: u64 = 500;
/// A gap longer than this is not one between tiny tasks, nor is a window longer than this for each
/// of its tasks: tokio's tiny polls are 140 to 230 ns apart, Taskflow's tasks 22 to 60.
pub const ODD_NS: u64 = 1_000;
/// A timed task longer than this is not tiny, and a window that is so much longer than thrice the
/// usual one is unknown: a task of 10 us in a hundred is most of the time, and would count as gaps.
pub const ODD_TASK_NS: u64 = 4_000;
/// Tasks, gaps and windows longer than this are looked at one by one, and asked for run delay: the
/// question takes about 0.5 us, a fortieth of it. Any task may be as long, whatever was timed so
/// far.
pub const LONG_NS: u64 = 20_000;
/// How many times as long tiny tasks are timed all after an unknown time: what is not known of
/// tasks that come again then stays below a ninth of the time.
pub const OWED: u64 = 8;

/// How a worker's tasks are timed.
#[derive(Debug, Clone)]
pub struct Regime {
    sampled: bool,
    /// Whether it never samples.
    exact: bool,
    /// For so long tiny tasks are still to be timed all.
    owed_ns: u64,
    /// How long a task may be, by those that were timed.
    longest_ns: u64,
}

impl Regime {
    /// Exact; for good, where that is asked for.
    pub fn new(exact: bool) -> Self {
        Regime { sampled: false, exact, owed_ns: 0, longest_ns: LONG_NS }
    }

    /// Whether tasks are sampled.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// A full buffer was counted, or a part of one that is not tiny; of tiny tasks it took so long.
    /// Returns whether tasks are sampled from now on.
    pub fn buffer(&mut self, tiny_ns: Option<u64>) -> bool {
        if !self.sampled {
            self.owed_ns = self.owed_ns.saturating_sub(tiny_ns.unwrap_or(0));
        }
        self.sampled = tiny_ns.is_some() && self.owed_ns == 0 && !self.exact;
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

    /// So much time among tasks that were not timed was a task's, or a pause's.
    pub fn unknown(&mut self, ns: u64) {
        self.owed_ns = self.owed_ns.saturating_add(ns.min(self.longest_ns).saturating_mul(OWED));
    }
}

/// A buffer of tiny tasks.
#[derive(Debug, Clone, Copy)]
pub struct Tiny {
    /// How long tasks and gaps are.
    pub usual: Estimate,
    /// How long all of it took, in ticks.
    pub ticks: u64,
}

/// Whether the tasks of a buffer are tiny, all of them. `clock` ticks of each are the clock's.
pub fn tiny(mut entries: impl Iterator<Item = Entry>, rate: Rate, clock: u64) -> Option<Tiny> {
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
    let ticks = last - first.begin;
    if ticks >= tiny * tasks {
        return None;
    }
    let mean = |ticks: u64| ticks as f64 / tasks as f64;
    let busy = busy.min(ticks);
    Some(Tiny { usual: Estimate::new(mean(busy), mean(ticks - busy), odd_task, clock), ticks })
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

    /// Every tenth buffer of 40 us holds a task of 0.4 ms more. While tasks are sampled one such
    /// task in 16 is timed. Returns what of them was not known, and all time.
    fn unknown_tasks() -> (u64, u64) {
        let mut regime = Regime::new(false);
        let (mut unknown, mut time, mut sampled) = (0, 0, false);
        for buffer in 0..100_000u64 {
            let long = if buffer % 10 == 9 { 400_000 } else { 0 };
            if sampled && long > 0 && buffer / 10 % 16 != 15 {
                regime.unknown(long);
                unknown += long;
            } else if long > 0 {
                regime.long_task(long);
            }
            time += 40_000 + long;
            sampled = regime.buffer((long == 0).then_some(40_000));
        }
        (unknown, time)
    }

    #[test]
    fn what_is_not_known_stays_a_small_part_where_tasks_are_long() {
        let (part, time) = unknown_tasks();
        assert!(part > 0 && part * 9 <= time, "{part} of {time}");
    }

    /// What is sampled of graphs of so many buffers of 40 us, with 25 ms between them.
    fn sampled_between_pauses(buffers: u64) -> f64 {
        let mut regime = Regime::new(false);
        let mut sampled = 0;
        for buffer in 0..100 * buffers {
            if buffer % buffers == 0 {
                regime.unknown(25_000_000);
                regime.end();
            }
            sampled += u64::from(regime.buffer(Some(40_000)));
        }
        sampled as f64 / (100 * buffers) as f64
    }

    #[test]
    fn pauses_leave_most_of_the_tasks_sampled() {
        // 8 times 20 us are owed for each, which is four buffers.
        assert!(sampled_between_pauses(10) > 0.6);
        assert!(sampled_between_pauses(100) > 0.95);
    }
}
