//! Batches of spans of which one in several was timed: what is known of the others is their number, and the time in which
//! they and the gaps between them lie.
//!
//! A *window* is the time between the end of one timed span and the begin of the next. What lies in windows is estimated for a
//! batch of them at once ([`Estimate`]): tasks that were not timed are as long, taken together, as the timed ones behind them, each
//! as often as it stands for others; what remains of the windows is divided evenly among the gaps. So counts are exact, and
//! tasks and gaps together take exactly the time that there was. Within one window a batch's mean serves and not the window's
//! own neighbours: cut to what fits into that one window, the long ones of two kinds of tasks would lose a third of their time.

use crate::{
    accumulator::Accumulator,
    batch::{NUMBERS, Rest, SHORT, Scale},
    histogram::Tally,
};

/// A span that was timed, in ticks, and the tasks that ran untimed between it and the timed one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Begin.
    pub begin: u64,
    /// End.
    pub end: u64,
    /// Number of its name; 0 is none.
    pub number: u32,
    /// Tasks before it that were not timed.
    pub untimed: u32,
}

/// What timed tasks say of the others: a mean that forgets half of what it knew within five batches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// Mean duration of a task that was not timed, in ticks.
    pub task: f64,
    /// Mean gap before and after it, in ticks.
    pub gap: f64,
    /// The share of the batch's windows in which such tasks ran.
    share: f64,
    /// Time of tasks that was counted as durations and not placed into windows yet, as they were full.
    carried: f64,
    /// A quarter of the ticks by which a window must exceed the usual, thrice, to hold something that is not like the others.
    odd: u64,
    /// Ticks that the clock took of a timed task, and not of others.
    clock: u64,
    windows: f64,
    timed: f64,
    tasks: f64,
    gaps: f64,
}

/// The part of what it knew that an [`Estimate`] keeps from batch to batch.
const KEPT: f64 = 0.875;
/// A window that takes so many times as long as usual is odd.
const ODD_WINDOW: f64 = 3.0;
/// A timed task that takes so many times what a window may hold for each is not like those that were not timed.
const ODD_TASK: u64 = 4;

impl Estimate {
    /// Of tasks and gaps of so many ticks. A window of four times `odd` ticks more than thrice what that makes
    /// says nothing about the usual one.
    /// `clock` ticks of a timed task were the clock's.
    pub fn new(task: f64, gap: f64, odd: u64, clock: u64) -> Self {
        let mut new = Estimate {
            odd,
            clock,
            windows: task + gap,
            timed: task,
            tasks: 1.0,
            gaps: 1.0,
            ..Self::default()
        };
        new.derive();
        new
    }

    /// Learns from a batch, whose first window begins at the tick `last`. Returns what windows that are
    /// not like the others have beyond the usual tasks and gaps.
    pub fn learn(&mut self, samples: &[Sample], mut last: u64) -> u64 {
        let (mut windows, mut timed, mut tasks, mut gaps, mut odd) = (0u64, 0u64, 0u64, 0u64, 0u64);
        for sample in samples {
            let window = sample.begin.saturating_sub(last);
            last = sample.end;
            if sample.untimed == 0 {
                continue;
            }
            if self.is_odd_window(sample, window) {
                let usual = (self.task + self.gap) * f64::from(sample.untimed) + self.gap;
                odd += window - (usual as u64).min(window);
            }
            if !self.is_odd(sample, window) {
                windows += window;
                timed += u64::from(sample.untimed) * self.like(sample);
                tasks += u64::from(sample.untimed);
                gaps += u64::from(sample.untimed) + 1;
            }
        }
        if windows > 0 {
            self.windows = self.windows * KEPT + windows as f64;
            self.timed = self.timed * KEPT + timed as f64;
            self.tasks = self.tasks * KEPT + tasks as f64;
            self.gaps = self.gaps * KEPT + gaps as f64;
            self.derive();
            // What was carried is paid back little by little, so that gaps stay alike.
            let wanted = self.share * windows as f64 + self.carried * (1.0 - KEPT);
            let busy = wanted.clamp(0.0, windows as f64);
            self.share = busy / windows as f64;
            self.carried += timed as f64 - busy;
        }
        odd
    }

    fn derive(&mut self) {
        let over = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        let busy = self.timed.min(self.windows);
        self.share = over(busy, self.windows);
        self.task = over(busy, self.tasks);
        self.gap = over(self.windows - busy, self.gaps);
    }

    /// How long a task is taken to be that was not timed and is like this one.
    fn like(&self, sample: &Sample) -> u64 {
        (sample.end - sample.begin).saturating_sub(self.clock)
    }

    /// Whether so many ticks beside the usual tasks and gaps are too many to be theirs.
    pub fn is_odd_rest(&self, ticks: u64) -> bool {
        ticks > self.odd * ODD_TASK
    }

    fn is_odd_window(&self, sample: &Sample, window: u64) -> bool {
        window as f64
            > (self.odd * ODD_TASK) as f64
                + ODD_WINDOW * (self.task + self.gap) * f64::from(sample.untimed + 1)
    }

    /// Whether a window, or the timed task behind it, says nothing about tasks that were not timed.
    fn is_odd(&self, sample: &Sample, window: u64) -> bool {
        self.is_odd_window(sample, window) || sample.end - sample.begin > self.odd * ODD_TASK
    }
}

impl Accumulator {
    /// Takes in timed spans of one worker that contain no others and lie in none, in the order of time, with the tasks that were
    /// not timed before each. The first window begins at the tick `last`, where the worker's last span ended.
    pub fn samples<'n>(
        &mut self,
        worker: u32,
        samples: &[Sample],
        mut last: u64,
        estimate: &Estimate,
        scale: Scale,
        name: impl Fn(u32) -> &'n [u8],
    ) {
        let mut at = 0;
        while let Some(sample) = samples.get(at) {
            self.sample(worker, sample, last, estimate, scale, name(sample.number));
            last = sample.end;
            at += 1;
            at += self.simple_samples(worker, &samples[at..], last, estimate, scale, &name);
            last = samples[at - 1].end;
        }
    }

    /// Any sample, task by task.
    fn sample(
        &mut self,
        worker: u32,
        sample: &Sample,
        last: u64,
        estimate: &Estimate,
        scale: Scale,
        name: &[u8],
    ) {
        let untimed = u64::from(sample.untimed);
        let window = sample.begin.saturating_sub(last);
        let (from, to) = (scale.ns(last), scale.ns(sample.begin));
        if estimate.is_odd(sample, window) {
            // The usual tasks, and all that is too much in one gap before the timed one.
            self.lay_out(
                worker,
                from,
                to,
                untimed,
                scale.length(estimate.task),
                scale.length(estimate.gap),
                name,
            );
        } else if untimed > 0 {
            let busy = (to - from) as f64 * estimate.share;
            let gap = ((to - from) as f64 - busy) / (untimed + 1) as f64;
            let before = |tasks: u64| busy * tasks as f64 / untimed as f64;
            for task in 0..untimed {
                let begin = from + (before(task) + gap * (task + 1) as f64) as i64;
                let end = from + (before(task + 1) + gap * (task + 1) as f64) as i64;
                self.place(worker, begin, end.min(to));
            }
            let each = scale.length(estimate.like(sample) as f64).round() as u64;
            self.sums.durations.add_many(each, untimed);
            self.names.add_some(name, untimed, each * untimed);
        }
        self.leaf(worker, to, scale.ns(sample.end), name);
    }

    /// Takes in `tasks` spans of `task` nanoseconds, each behind a gap of `gap`, from `from` on; both shortened where that would
    /// take until after `to`. Returns the end of the last one.
    #[allow(clippy::too_many_arguments, reason = "a worker, a time, and what lies in it")]
    pub fn lay_out(
        &mut self,
        worker: u32,
        from: i64,
        to: i64,
        tasks: u64,
        task: f64,
        gap: f64,
        name: &[u8],
    ) -> i64 {
        let room = (to - from).max(0) as f64;
        let fit = (room / (tasks as f64 * (task + gap)).max(1.0)).min(1.0);
        let (task, gap) = (task * fit, gap * fit);
        let mut end = from;
        for at in 0..tasks {
            let begin = from + (at as f64 * (task + gap) + gap) as i64;
            end = (from + ((at + 1) as f64 * (task + gap)) as i64).max(begin);
            self.leaf(worker, begin, end, name);
        }
        end
    }

    /// Takes in samples whose windows and spans lie in one bin, do not cover its point, and are neither odd nor among the
    /// longest, until one is not so. Returns how many.
    fn simple_samples<'n>(
        &mut self,
        worker: u32,
        samples: &[Sample],
        last: u64,
        estimate: &Estimate,
        scale: Scale,
        name: &impl Fn(u32) -> &'n [u8],
    ) -> usize {
        let Some((state, sums, names)) = self.parts(worker) else { return 0 };
        let settled = state.settled().filter(|settled| *settled == scale.ns(last));
        let Some(bin) = settled.and_then(|settled| sums.grid.bin(settled)) else { return 0 };
        let bin_end = scale.tick(bin.end).saturating_sub(1);
        let point = scale.tick(bin.at);
        let (point_from, point_to) = (point.saturating_sub(2), point.saturating_add(2));
        let long = scale.ticks(sums.top.admits()).min(SHORT);
        let mut settled = last;
        let (mut count, mut tasks, mut timed, mut windows) = (0, 0u64, 0u64, 0u64);
        let mut named = [(0u64, 0u64); NUMBERS];
        let mut durations = Tally::default();
        let (mut rest, mut rest_of_untimed) = (scale.rest(last), Rest::default());
        for sample in samples {
            let (duration, window) =
                (sample.end.wrapping_sub(sample.begin), sample.begin.wrapping_sub(settled));
            let untimed = u64::from(sample.untimed);
            let simple = duration < long
                && window < SHORT
                && untimed > 0
                && sample.begin <= sample.end
                && !estimate.is_odd(sample, window)
                && sample.end < bin_end
                && (sample.end < point_from || settled >= point_to)
                && (sample.number as usize) < NUMBERS;
            if !simple {
                break;
            }
            scale.short(window, &mut rest);
            let ns = scale.short(duration, &mut rest);
            let each = scale.short(estimate.like(sample), &mut rest_of_untimed);
            durations.add(&mut sums.durations, ns);
            durations.add_many(&mut sums.durations, each, untimed);
            if sample.number > 0 {
                let entry = &mut named[sample.number as usize];
                *entry = (entry.0 + untimed + 1, entry.1 + ns + each * untimed);
            }
            tasks += untimed + 1;
            timed += duration;
            windows += window;
            settled = sample.end;
            count += 1;
        }
        if count > 0 {
            durations.close(&mut sums.durations, tasks);
            let of_name = named.into_iter().enumerate().filter(|(_, (tasks, _))| *tasks > 0);
            of_name.for_each(|(number, (tasks, total))| names.add_many(name(number as u32), tasks, total));
            let busy = scale.length(timed as f64 + windows as f64 * estimate.share) as u64;
            let idle = scale.length(windows as f64 * (1.0 - estimate.share)) as u64;
            sums.gaps.add_sum(tasks, idle);
            state.simple_leaves(tasks, busy, scale.ns(settled));
            sums.grid.busy_in_bin(&bin, busy);
        }
        count
    }
}
