//! Calls that do nothing but wait, and are no tasks: of one worker.
//!
//! Time in which a worker waits for something to do is a gap, however many calls lie around the
//! wait. It is cut out of the outermost span, whose pieces settle one by one.

use taskscale_model::span::{WAITS, WAITS_FOR_OTHERS, WAITS_FOR_WORK};

use super::{Facts, NOT_TOLD, Settled, Waiting, Worker};

/// Tells whether a span is a call that does nothing but wait.
#[inline]
pub(super) fn is_wait(span: &Waiting) -> bool {
    matches!(span.cpu, WAITS | WAITS_FOR_OTHERS | WAITS_FOR_WORK)
}

impl Worker {
    /// Takes in a call that does nothing but wait.
    #[cold]
    #[inline(never)]
    pub fn wait(&mut self, start: i64, end: i64, facts: Facts, out: &mut impl Settled) {
        self.waits = true;
        self.span(start, end, None, facts, out);
    }

    /// Takes in a waiting span that is a wait or lies in one, and returns whether
    /// it was. A wait for work is cut out of all spans around it. Any other that lies in a span is
    /// that span's.
    #[cold]
    #[inline(never)]
    pub(super) fn takes_wait(&mut self, at: usize, out: &mut impl Settled) -> bool {
        let span = &{ self.waiting[at] };
        if span.start >= self.waited && !is_wait(span) {
            return false;
        }
        while let Some(top) = self.open.last()
            && top.end <= span.start
        {
            self.close(out);
        }
        if !is_wait(span) || span.end <= self.waited {
            let is_inside = span.end <= self.waited;
            if is_inside {
                self.no_task(span, out);
            }
            return is_inside;
        }
        if span.cpu == WAITS_FOR_OTHERS {
            self.for_others = self.for_others.saturating_add((span.end - span.start) as u64);
        }
        let Some(top) = self.open.last_mut() else {
            self.waited = span.end;
            self.no_task(span, out);
            return true;
        };
        if span.cpu == WAITS {
            self.waiting[at].cpu = 0;
            if span.start < top.own_from || span.end > top.end {
                return false;
            }
            // Who waits is the span around it.
            let duration = (span.end - span.start) as u64;
            top.leaf = false;
            top.holds(duration, 0);
            self.nested += 1;
            self.depth = self.depth.max(self.open.len() as u16);
            out.known(span.kept, true);
            self.add_leaf(duration, 0, span.mark, out);
            return true;
        }
        let (start, end) = (span.start.max(top.own_from), span.end.min(top.end));
        if start < end {
            if top.own_from < start {
                out.piece(top.own_from, start, top.mark);
            }
            top.own_from = end;
            top.leaf = false;
            top.holds((end - start) as u64, NOT_TOLD);
            let root = self.open[0];
            let from = self.goes_on.max(root.start);
            if from < start {
                self.settle_outermost(from, start, false, root.mark, out);
            }
            self.goes_on = end;
            self.waited = end;
        }
        self.no_task(span, out);
        true
    }

    /// Takes a span that was counted for a task out of the counts.
    pub(super) fn no_task(&mut self, span: &Waiting, out: &mut impl Settled) {
        self.tasks -= 1;
        out.known(span.kept, false);
        out.divide(span.mark, (span.end - span.start) as u64, 0);
    }

    /// Whether it does hardly anything but wait for other workers: it hands out their tasks.
    pub fn hands_out(&self) -> bool {
        const MOSTLY: f64 = 0.8;
        self.first <= self.last && self.for_others as f64 >= MOSTLY * (self.last - self.first) as f64
    }
}
