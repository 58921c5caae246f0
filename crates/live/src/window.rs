//! Counts windows, in which tasks ran untimed, where the ordinary count does not do.

use crate::state::{State, Waits};

/// The name of a long task that was not timed. The name of the timed task behind it would be a
/// guess. So is that it was a task: between two runs a worker of Taskflow may make the next run
/// ready, and take as much CPU time.
const LONG: &[u8] = b"(task or runtime: see exact)";

/// Where untimed tasks ended when they were counted.
#[derive(Debug, Clone, Copy)]
pub struct Laid {
    /// The tick at which the last of them ends.
    pub end: u64,
    /// Nanoseconds left behind it.
    pub rest_ns: u64,
}

impl State {
    /// Counts untimed tasks between the last outermost span and `until`. They are laid out one
    /// after the other from the begin on, with the usual lengths and gaps. If `long` is not 0, the
    /// last one took that many nanoseconds.
    pub fn window(&mut self, until: u64, tasks: u32, long: u64) -> Laid {
        self.window_from(self.last.max(self.since), until, tasks, long)
    }

    fn window_from(&mut self, from: u64, until: u64, tasks: u32, long: u64) -> Laid {
        let tasks = self.remembered(until, tasks);
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

    /// The number of untimed tasks before `until` that the clearing has not forgotten.
    fn remembered(&mut self, until: u64, tasks: u32) -> u32 {
        if until < self.since {
            0
        } else if self.last < self.since {
            tasks.saturating_sub(std::mem::take(&mut self.forgotten))
        } else {
            tasks
        }
    }

    /// Counts untimed tasks like [`State::window`], in a long time of `window_ns` that ends at
    /// `now`, and counts everything up to there. For `waited_ns` of it the worker waited for a
    /// processor. Returns whether one of the tasks was long. Otherwise the time was a pause, as far
    /// as is known.
    pub fn long_window(&mut self, now: u64, tasks: u32, window_ns: u64, waited_ns: u64) -> bool {
        let long = match self.waits {
            Waits::Told => window_ns,
            Waits::UseNoCpu => match self.burnt_since_last() {
                0 => 0,
                // The task had to wait for a processor in its own time.
                burnt => burnt.saturating_add(waited_ns).min(window_ns),
            },
            Waits::Unknown => 0,
        };
        let from = self.long_window_begins(now, tasks, long);
        let rest = self.window_from(from, now, tasks, long).rest_ns;
        if long == 0 {
            self.unknown(rest.saturating_sub(waited_ns));
        }
        self.last = now;
        long > 0
    }

    /// Where untimed tasks begin that end at `now` with a pause among them, the last after `long`
    /// nanoseconds: behind the last span, or, if the sums were cleared since, behind the pause. Who
    /// clears between two runs does it while workers wait.
    fn long_window_begins(&self, now: u64, tasks: u32, long: u64) -> u64 {
        if self.last >= self.since {
            return self.last;
        }
        let tasks = u64::from(tasks.saturating_sub(self.forgotten));
        let took = self.estimate.usual(self.scale()).all(tasks) as u64;
        now.saturating_sub(self.rate.ticks(took.saturating_add(long))).max(self.since)
    }

    /// The CPU time since the last outermost span, if it is so much that only a task can have used
    /// it. Behind a clearing there is none: the span and what was burnt may lie before it.
    pub fn burnt_since_last(&self) -> u64 {
        if self.last < self.since { 0 } else { self.cpu.burnt_since(self.last, self.rate) }
    }

    /// Notes that `ns` nanoseconds of a gap were a task's or a pause's.
    pub fn unknown(&mut self, ns: u64) {
        if ns > 0 {
            self.accumulator.unknown(ns);
            self.regime.unknown(ns);
        }
    }

    /// Whether the clearing forgot more than the `untimed` tasks that have ended since the last
    /// timed one. If so, it also forgot one that was open.
    pub fn forgets(&self, untimed: u32) -> bool {
        self.last < self.since && self.forgotten > untimed
    }

    /// The begin of an open task that turns out to be timed, `untimed` tasks behind the last timed
    /// one. It is `now`, unless the clearing cut the task. A cut task begins before the clearing;
    /// its end then counts it as cut once more.
    pub fn begin_known(&mut self, now: u64, untimed: u32) -> u64 {
        if !self.forgets(untimed) {
            return now;
        }
        self.cut.open = self.cut.open.saturating_sub(1);
        self.since.saturating_sub(1)
    }
}
