//! Windows: times in which tasks were not timed, where something is special about them.

use crate::state::{State, Waits};

/// The name of a task that was long and not timed; that of the one timed behind it would be a
/// guess.
const LONG: &[u8] = b"(long, not timed: see exact)";

/// Tasks without a time, as they were counted.
#[derive(Debug, Clone, Copy)]
pub struct Laid {
    /// The tick at which the last one ends.
    pub end: u64,
    /// Nanoseconds that are left behind it.
    pub rest_ns: u64,
}

impl State {
    /// Counts tasks without a time between the last outermost span and `until`: as long as the last
    /// ones known, one after the other from the begin on, with the usual gaps. Where `long` is not
    /// 0 the last one of them took so many nanoseconds.
    pub fn window(&mut self, until: u64, tasks: u32, long: u64) -> Laid {
        let (tasks, from) = (self.remembered(until, tasks), self.last.max(self.since));
        if tasks == 0 {
            return Laid { end: from, rest_ns: 0 };
        }
        let (scale, name) = (self.scale(), self.names.name(self.latest));
        let (from_ns, until_ns) = (scale.ns(from), scale.ns(until.max(from)));
        let usual = self.estimate.usual(scale);
        let short = u64::from(tasks) - u64::from(long > 0);
        let room = (until_ns - from_ns) as f64 - usual.all(short);
        let long = long.min(room.max(0.0) as u64) as i64;
        let window = from_ns..until_ns - long;
        let mut end = self.accumulator.lay_out(self.worker, window, short, usual, name);
        if long > 0 {
            self.accumulator.leaf(self.worker, end, end + long, LONG);
            end += long;
        }
        self.sampled.untimed += u64::from(tasks);
        Laid { end: self.since + self.rate.ticks(end.max(0) as u64), rest_ns: (until_ns - end).max(0) as u64 }
    }

    /// How many of the tasks without a time before `until` the clearing has not forgotten.
    fn remembered(&mut self, until: u64, tasks: u32) -> u32 {
        if until < self.since {
            0
        } else if self.last < self.since {
            tasks.saturating_sub(std::mem::take(&mut self.forgotten))
        } else {
            tasks
        }
    }

    /// Counts tasks without a time, as [`State::window`], in a long time of `window_ns` up to
    /// `now`, and all up to there. `waited_ns` of it the worker waited for a processor. Returns
    /// whether one of them was long; otherwise it was a pause, as far as is known.
    pub fn long_window(&mut self, now: u64, tasks: u32, window_ns: u64, waited_ns: u64) -> bool {
        let long = match self.waits {
            Waits::Told => window_ns,
            Waits::UseNoCpu => match self.burnt_since_last() {
                0 => 0,
                // It was kept waiting for a processor in its own time.
                burnt => burnt.saturating_add(waited_ns).min(window_ns),
            },
            Waits::Unknown => 0,
        };
        let rest = self.window(now, tasks, long).rest_ns;
        if long == 0 {
            self.unknown(rest.saturating_sub(waited_ns));
        }
        self.last = now;
        long > 0
    }

    /// CPU time since the last outermost span that only a task can have used.
    pub fn burnt_since_last(&self) -> u64 {
        self.cpu.burnt_since(self.last, self.rate)
    }

    /// So many nanoseconds of a gap were a task's, or a pause.
    pub fn unknown(&mut self, ns: u64) {
        if ns > 0 {
            self.accumulator.unknown(ns);
            self.regime.unknown(ns);
        }
    }

    /// Whether the clearing forgot more than the `untimed` tasks that have ended since the last one
    /// with a time: one that was open.
    pub fn forgets(&self, untimed: u32) -> bool {
        self.last < self.since && self.forgotten > untimed
    }

    /// The begin of an open task of which it is now known that it is timed, `untimed` behind the
    /// last one with a time: `now`, or before the clearing, where the clearing cut it; then its end
    /// will say so once more.
    pub fn begin_known(&mut self, now: u64, untimed: u32) -> u64 {
        if !self.forgets(untimed) {
            return now;
        }
        self.cut.open = self.cut.open.saturating_sub(1);
        self.since.saturating_sub(1)
    }
}
