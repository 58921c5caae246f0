//! Estimates untimed tasks from timed ones.
//!
//! Untimed tasks are taken to be as long, in sum, as the timed ones behind them, each as often as
//! it stands for others. The rest of the windows is divided evenly among the gaps. So counts are
//! exact, and tasks and gaps together take exactly the time that there was. The share of tasks in a
//! window is the mean of a batch. If it came from the window's own neighbours, it would have to be
//! cut to what fits into that window, and the long tasks of two kinds would lose a third of their
//! time.

use crate::scale::Scale;

/// The part of its former sums that an [`Estimate`] keeps from batch to batch. Half of them is gone
/// after about five batches.
const KEPT: f64 = 0.875;
/// A window is odd if it exceeds this many times the usual one by more than any tiny task takes.
const ODD_WINDOW: f64 = 3.0;

/// A timed span, in ticks, and the number of untimed tasks in the window before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimedSpan {
    pub begin: u64,
    pub end: u64,
    /// The number of its name; 0 means none.
    pub number: u32,
    /// The number of untimed tasks before it.
    pub untimed: u32,
}

/// What timed tasks show of untimed ones, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The mean duration of an untimed task.
    task: f64,
    /// The mean gap before and after an untimed task.
    gap: f64,
    /// The share of tasks in the time of the batch's windows.
    pub(crate) share: f64,
    /// Time of tasks that counts as durations and has no place in a window yet, because the windows
    /// were full.
    carried: f64,
    /// A task longer than this is not tiny.
    odd: u64,
    /// Ticks of each timed task that the clock took. Untimed tasks do not have them.
    clock: u64,
    sums: Sums,
}

/// The time of windows and of the tasks in them, and the numbers of tasks and gaps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Sums {
    windows: f64,
    busy: f64,
    tasks: f64,
    gaps: f64,
}

/// A usual task and the gap before it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    pub(crate) task: f64,
    pub(crate) gap: f64,
}

impl Usual {
    /// The time that `tasks` of them take with their gaps.
    pub fn all(self, tasks: u64) -> f64 {
        tasks as f64 * (self.task + self.gap)
    }
}

impl Estimate {
    /// Makes an estimate from the mean ticks of tasks and gaps. No tiny task is longer than `odd`.
    /// The clock took `clock` ticks of each timed task.
    pub fn new(task: f64, gap: f64, odd: u64, clock: u64) -> Self {
        let sums = Sums { windows: task + gap, busy: task, tasks: 1.0, gaps: 1.0 };
        let mut new = Estimate { odd, clock, sums, ..Self::default() };
        new.derive();
        new
    }

    /// Learns from a batch whose first window begins at the tick `last`. Returns the ticks that odd
    /// windows have beyond the usual tasks and gaps.
    pub fn learn(&mut self, samples: &[TimedSpan], mut last: u64) -> u64 {
        let mut odd = 0;
        let mut new = Sums::default();
        for sample in samples {
            let window = sample.begin.saturating_sub(last);
            last = sample.end;
            if sample.untimed == 0 {
                continue;
            }
            if self.is_odd_window(sample, window) {
                let usual = (self.task + self.gap) * f64::from(sample.untimed) + self.gap;
                odd += window.saturating_sub(usual as u64);
            }
            if !self.is_odd(sample, window) {
                let tasks = f64::from(sample.untimed);
                new.windows += window as f64;
                new.busy += tasks * self.like(sample) as f64;
                new.tasks += tasks;
                new.gaps += tasks + 1.0;
            }
        }
        if new.windows > 0.0 {
            self.add(new);
        }
        odd
    }

    fn add(&mut self, new: Sums) {
        self.sums = Sums {
            windows: self.sums.windows * KEPT + new.windows,
            busy: self.sums.busy * KEPT + new.busy,
            tasks: self.sums.tasks * KEPT + new.tasks,
            gaps: self.sums.gaps * KEPT + new.gaps,
        };
        self.derive();
        // The carried time is paid back little by little, so that gaps stay alike.
        let wanted = self.share * new.windows + self.carried * (1.0 - KEPT);
        let busy = wanted.clamp(0.0, new.windows);
        self.share = busy / new.windows;
        self.carried += new.busy - busy;
    }

    fn derive(&mut self) {
        let over = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        let Sums { windows, busy, tasks, gaps } = self.sums;
        let busy = busy.min(windows);
        self.share = over(busy, windows);
        self.task = over(busy, tasks);
        self.gap = over(windows - busy, gaps);
    }

    /// The usual task and its gap, in nanoseconds.
    pub fn usual(&self, scale: Scale) -> Usual {
        Usual { task: scale.length(self.task), gap: scale.length(self.gap) }
    }

    /// The length that untimed tasks like this timed one are taken to have.
    #[inline(always)]
    pub(crate) fn like(&self, sample: &TimedSpan) -> u64 {
        (sample.end - sample.begin).saturating_sub(self.clock)
    }

    /// Whether `ticks` beside the usual tasks and gaps are too many to belong to them.
    pub fn is_odd_rest(&self, ticks: u64) -> bool {
        ticks > self.odd
    }

    #[inline(always)]
    fn is_odd_window(&self, sample: &TimedSpan, window: u64) -> bool {
        let usual = (self.task + self.gap) * f64::from(sample.untimed + 1);
        window as f64 > self.odd as f64 + ODD_WINDOW * usual
    }

    /// Whether a window, or the timed task behind it, says nothing about untimed tasks.
    #[inline(always)]
    pub(crate) fn is_odd(&self, sample: &TimedSpan, window: u64) -> bool {
        self.is_odd_window(sample, window) || sample.end - sample.begin > self.odd
    }
}
