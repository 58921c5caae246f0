//! What timed tasks say of those that were not timed.
//!
//! Tasks that were not timed are as long, taken together, as the timed ones behind them, each as
//! often as it stands for others; what remains of the windows is divided evenly among the gaps. So
//! counts are exact, and tasks and gaps together take exactly the time that there was. Within one
//! window a batch's mean serves and not the window's own neighbours: cut to what fits into that one
//! window, the long ones of two kinds of tasks would lose a third of their time.

use crate::scale::Scale;

/// The part of what it knew that an [`Estimate`] keeps from batch to batch: half within five
/// batches.
const KEPT: f64 = 0.875;
/// A window that takes so many times as long as usual, and longer than any tiny task, is odd.
const ODD_WINDOW: f64 = 3.0;

/// A span that was timed, in ticks, and the tasks that ran untimed in the window before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimedSpan {
    /// Begin.
    pub begin: u64,
    /// End.
    pub end: u64,
    /// Number of its name; 0 is none.
    pub number: u32,
    /// Tasks before it that were not timed.
    pub untimed: u32,
}

/// What timed tasks say of the others, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// Mean duration of a task that was not timed.
    task: f64,
    /// Mean gap before and after it.
    gap: f64,
    /// The share of the batch's windows in which such tasks ran.
    pub(crate) share: f64,
    /// Time of tasks that was counted as durations and not placed into windows yet, as they were
    /// full.
    carried: f64,
    /// A task longer than this is not tiny.
    odd: u64,
    /// Ticks that the clock took of a timed task, and not of others.
    clock: u64,
    sums: Sums,
}

/// Time of windows, of the tasks in them, and how many tasks and gaps that is.
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
    /// What so many of them take.
    pub fn all(self, tasks: u64) -> f64 {
        tasks as f64 * (self.task + self.gap)
    }
}

impl Estimate {
    /// Of tasks and gaps of so many ticks. No tiny task is longer than `odd`; `clock` ticks of a
    /// timed task were the clock's.
    pub fn new(task: f64, gap: f64, odd: u64, clock: u64) -> Self {
        let sums = Sums { windows: task + gap, busy: task, tasks: 1.0, gaps: 1.0 };
        let mut new = Estimate { odd, clock, sums, ..Self::default() };
        new.derive();
        new
    }

    /// Learns from a batch, whose first window begins at the tick `last`. Returns what windows that
    /// are not like the others have beyond the usual tasks and gaps.
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
        // What was carried is paid back little by little, so that gaps stay alike.
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

    /// A usual task and its gap.
    pub fn usual(&self, scale: Scale) -> Usual {
        Usual { task: scale.length(self.task), gap: scale.length(self.gap) }
    }

    /// How long a task is taken to be that was not timed and is like this one.
    #[inline(always)]
    pub(crate) fn like(&self, sample: &TimedSpan) -> u64 {
        (sample.end - sample.begin).saturating_sub(self.clock)
    }

    /// Whether so many ticks beside the usual tasks and gaps are too many to be theirs.
    pub fn is_odd_rest(&self, ticks: u64) -> bool {
        ticks > self.odd
    }

    #[inline(always)]
    fn is_odd_window(&self, sample: &TimedSpan, window: u64) -> bool {
        let usual = (self.task + self.gap) * f64::from(sample.untimed + 1);
        window as f64 > self.odd as f64 + ODD_WINDOW * usual
    }

    /// Whether a window, or the timed task behind it, says nothing about tasks that were not timed.
    #[inline(always)]
    pub(crate) fn is_odd(&self, sample: &TimedSpan, window: u64) -> bool {
        self.is_odd_window(sample, window) || sample.end - sample.begin > self.odd
    }
}
