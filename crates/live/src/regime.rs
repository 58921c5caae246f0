//! When a worker times every task, and when it times one in several.
//!
//! Two readings of the clock take 2 to 10 ns, by machine and program, and counting a span takes
//! another 7 (docs/evidence/live-taskflow.md). Beside tasks of some microseconds that is nothing,
//! and all of them are timed. Beside *tiny* tasks it is 3 to 50 % of the program. Tiny tasks are
//! more alike than longer ones, because nothing in them can wait. So one of them is timed behind 8
//! to 23 others.
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
//! 1. **Tiny?** The last full buffer decides ([`tiny`]). A change in the program is therefore seen
//!    after at most 75 timed tasks, and a single long task or window is seen at once.
//! 2. **Unknown.** A long time among untimed tasks may have been a task or a pause. Where that is
//!    not known it counts as a gap, and the digest says how much there was of it.
//! 3. **Owed.** After unknown time, tiny tasks are all timed for [`OWED`] times as long. The next
//!    such time then falls among timed tasks and is seen for what it is. Time beyond the longest
//!    timed task was likelier a pause, and nothing is owed for the part beyond; otherwise two runs
//!    of a graph with 25 ms between them would be timed in full. Of long tasks that come again, one
//!    in 16 is timed while tasks are sampled; the time is then owed in full.
//!
//! `cargo run --release -p taskscale-experiments --bin sampling` shows what each rule is worth.

use taskscale_digest::Estimate;
use taskscale_sys::ticks::Rate;

use crate::entry::Entry;

/// Tasks are tiny if their mean time from begin to begin is below this. Exact timing costs 3 to 6 %
/// there.
pub const TINY_NS: u64 = 500;
/// A longer gap does not lie between tiny tasks, and neither does a window that is longer for each
/// of its tasks. Tiny polls of tokio are 140 to 230 ns apart, tasks of Taskflow 22 to 60.
pub const ODD_NS: u64 = 1_000;
/// A timed task longer than this is not tiny. A window is unknown if it exceeds three times the
/// usual one by more than this. A task of 10 us in a hundred is most of the time and would count as
/// gaps.
pub const ODD_TASK_NS: u64 = 4_000;
/// Tasks, gaps and windows longer than this are looked at one by one, and the kernel is asked for
/// their run delay. The question takes about 0.5 us, a fortieth of this. Any task is thought to be
/// able to last this long, whatever was timed so far.
pub const LONG_NS: u64 = 20_000;
/// After an unknown time, tiny tasks are all timed for this many times as long. The unknown part of
/// tasks that come again then stays below a ninth of the time.
pub const OWED: u64 = 8;

/// The regime of one worker: whether its tasks are all timed or sampled.
#[derive(Debug, Clone)]
pub struct Regime {
    sampled: bool,
    /// Whether it never samples.
    exact: bool,
    /// How long tiny tasks are still to be timed all.
    owed_ns: u64,
    /// The length of the longest task that was timed, at least [`LONG_NS`].
    longest_ns: u64,
}

impl Regime {
    /// Makes a regime that times every task; it does so for good if `exact` is set.
    pub fn new(exact: bool) -> Self {
        Regime { sampled: false, exact, owed_ns: 0, longest_ns: LONG_NS }
    }

    /// Whether tasks are sampled.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// Judges a buffer that was full, or part of a buffer that is not tiny. `tiny_ns` is the time
    /// that a buffer of tiny tasks took. Returns whether tasks are sampled from here on.
    pub fn buffer(&mut self, tiny_ns: Option<u64>) -> bool {
        if !self.sampled {
            self.owed_ns = self.owed_ns.saturating_sub(tiny_ns.unwrap_or(0));
        }
        self.sampled = tiny_ns.is_some() && self.owed_ns == 0 && !self.exact;
        self.sampled
    }

    /// Times all tasks, at least until the next full buffer.
    pub fn end(&mut self) {
        self.sampled = false;
    }

    /// Notes that a timed task took `ns` nanoseconds.
    pub fn long_task(&mut self, ns: u64) {
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Notes that `ns` nanoseconds among untimed tasks were a task's or a pause's.
    pub fn unknown(&mut self, ns: u64) {
        self.owed_ns = self.owed_ns.saturating_add(ns.min(self.longest_ns).saturating_mul(OWED));
    }
}

/// What a buffer of tiny tasks shows.
#[derive(Debug, Clone, Copy)]
pub struct Tiny {
    /// The usual length of tasks and gaps.
    pub usual: Estimate,
    /// The time that the whole buffer took, in ticks.
    pub ticks: u64,
}

/// What a buffer shows whose tasks are all tiny; `None` for any other buffer. A reading of the
/// clock takes `clock` ticks of each task.
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

    /// Plays buffers of 40 us, every tenth with a task of 0.4 ms more. While tasks are sampled, one
    /// such task in 16 is timed. Returns the unknown time of the long tasks, and all time.
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

    /// The sampled share of graphs of `buffers` buffers of 40 us each, with 25 ms between the
    /// graphs.
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
        // 8 times 20 us are owed for each pause, which is four buffers.
        assert!(sampled_between_pauses(10) > 0.6);
        assert!(sampled_between_pauses(100) > 0.95);
    }
}
