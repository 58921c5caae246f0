//! Takes in batches of spans of which one in several was timed. Of the others, only their number is
//! known and the time in which they and their gaps lie.
//!
//! A *window* is the time between the end of one timed span and the begin of the next. What lies in
//! the windows is estimated for a whole batch ([`Estimate`]).

use std::ops::Range;

use crate::{
    accumulator::Accumulator,
    batch::{Bounds, Named},
    estimate::{Estimate, TimedSpan, Usual},
    histogram::Tally,
    scale::{Rest, Scale},
};

impl Accumulator {
    /// Takes in timed spans of one worker that contain no others and lie in none, in the order of
    /// time, with the untimed tasks before each. The first window begins at the tick `last`, where
    /// the worker's last span ended.
    pub fn samples<'n>(
        &mut self,
        worker: u32,
        samples: &[TimedSpan],
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

    /// Takes in any sample, task by task.
    fn sample(
        &mut self,
        worker: u32,
        sample: &TimedSpan,
        last: u64,
        estimate: &Estimate,
        scale: Scale,
        name: &[u8],
    ) {
        let untimed = u64::from(sample.untimed);
        let window = scale.ns(last)..scale.ns(sample.begin);
        if estimate.is_odd(sample, sample.begin.saturating_sub(last)) {
            // The usual tasks, and then one gap that holds all the excess before the timed task.
            self.lay_out(worker, window, untimed, estimate.usual(scale), name);
        } else if untimed > 0 {
            self.spread(worker, window, untimed, estimate.share, name);
            let each = scale.length(estimate.like(sample) as f64).round() as u64;
            self.sums.durations.add_many(each, untimed);
            self.names.add_some(name, untimed, each * untimed);
        }
        self.leaf(worker, scale.ns(sample.begin), scale.ns(sample.end), name);
    }

    /// Places `tasks` spans that take `share` of a window, evenly and with equal gaps.
    fn spread(&mut self, worker: u32, window: Range<i64>, tasks: u64, share: f64, name: &[u8]) {
        let Range { start: from, end: to } = window;
        let busy = (to - from) as f64 * share;
        let gap = ((to - from) as f64 - busy) / (tasks + 1) as f64;
        let before = |task: u64| busy * task as f64 / tasks as f64;
        for task in 0..tasks {
            let begin = from + (before(task) + gap * (task + 1) as f64) as i64;
            let end = from + (before(task + 1) + gap * (task + 1) as f64) as i64;
            self.place(worker, begin, end.min(to), name);
        }
    }

    /// Takes in `tasks` usual spans from the begin of a window on, each behind its gap. Both are
    /// shortened where they would take more than the window. Returns the end of the last span.
    pub fn lay_out(&mut self, worker: u32, window: Range<i64>, tasks: u64, usual: Usual, name: &[u8]) -> i64 {
        let from = window.start;
        let room = (window.end - from).max(0) as f64;
        let fit = (room / usual.all(tasks).max(1.0)).min(1.0);
        let (task, gap) = (usual.task * fit, usual.gap * fit);
        let mut end = from;
        for at in 0..tasks {
            let begin = from + (at as f64 * (task + gap) + gap) as i64;
            end = (from + ((at + 1) as f64 * (task + gap)) as i64).max(begin);
            self.leaf(worker, begin, end, name);
        }
        end
    }

    /// Takes in samples until one is odd or its window or span is not simple ([`Bounds`]). Returns
    /// how many it took.
    fn simple_samples<'n>(
        &mut self,
        worker: u32,
        samples: &[TimedSpan],
        last: u64,
        estimate: &Estimate,
        scale: Scale,
        name: &impl Fn(u32) -> &'n [u8],
    ) -> usize {
        let Some((state, sums, names)) = self.parts(worker) else { return 0 };
        let Some(bounds) = Bounds::of(state, sums, last, scale) else { return 0 };
        let mut settled = last;
        let (mut count, mut tasks, mut timed, mut windows) = (0, 0u64, 0u64, 0u64);
        let mut named = Named::default();
        let mut durations = Tally::default();
        let (mut rest, mut rest_of_untimed) = (scale.rest(last), Rest::default());
        for sample in samples {
            let window = sample.begin.wrapping_sub(settled);
            let simple = sample.untimed > 0
                && sample.begin <= sample.end
                && bounds.hold(settled, sample.begin, sample.end, sample.number)
                && !estimate.is_odd(sample, window);
            if !simple {
                break;
            }
            let untimed = u64::from(sample.untimed);
            let duration = sample.end - sample.begin;
            scale.short(window, &mut rest);
            let ns = scale.short(duration, &mut rest);
            let each = scale.short(estimate.like(sample), &mut rest_of_untimed);
            durations.add(&mut sums.durations, ns);
            durations.add_many(&mut sums.durations, each, untimed);
            named.add(sample.number, untimed + 1, ns + each * untimed);
            tasks += untimed + 1;
            timed += duration;
            windows += window;
            settled = sample.end;
            count += 1;
        }
        if count > 0 {
            durations.close(&mut sums.durations, tasks);
            named.close(names, name);
            let busy = scale.length(timed as f64 + windows as f64 * estimate.share) as u64;
            let idle = scale.length(windows as f64 * (1.0 - estimate.share)) as u64;
            sums.gaps.add_sum(tasks, idle);
            state.simple_leaves(tasks, busy, scale.ns(settled));
            sums.grid.busy_in_bin(&bounds.bin, busy);
        }
        count
    }
}
