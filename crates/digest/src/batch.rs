//! Takes in spans of one worker in batches. A live observer empties its buffers this way.
//!
//! Most spans of a worker are simple: each is behind the one before, holds no other, lies in the
//! same bin as its neighbours, covers no point and is not among the longest. A simple span takes a
//! step in each histogram. All else is compared in the ticks that were recorded, summed on the way
//! and written once per batch. A span takes some 70 instructions this way, and 230 through
//! [`Accumulator::leaf`].

use crate::{
    accumulator::{Accumulator, Sums},
    grid::Bin,
    histogram::Tally,
    names::Names,
    scale::{SHORT, Scale},
    worker::Worker,
};

/// Numbers of names in a batch are below this.
pub const NUMBERS: usize = 17;

/// The bounds of simple spans, in ticks. A simple span lies in the bin in which the worker's last
/// one ended, does not cover its point, and is not among the longest.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub bin: Bin,
    bin_end: u64,
    /// The point, with room for the rounding of the span's times.
    point_from: u64,
    point_to: u64,
    long: u64,
}

impl Bounds {
    /// The bounds of spans behind one that ended at the tick `last`. `None` if that one is not
    /// settled.
    pub fn of(state: &Worker, sums: &Sums, last: u64, scale: Scale) -> Option<Self> {
        let settled = state.settled().filter(|settled| *settled == scale.ns(last))?;
        let bin = sums.grid.bin(settled)?;
        let point = scale.tick(bin.at);
        Some(Bounds {
            bin_end: scale.tick(bin.end).saturating_sub(1),
            point_from: point.saturating_sub(2),
            point_to: point.saturating_add(2),
            long: scale.ticks(sums.top.admits()).min(SHORT),
            bin,
        })
    }

    /// Whether a span is simple, given that the one before ended at `settled`.
    #[inline(always)]
    pub fn hold(&self, settled: u64, begin: u64, end: u64, number: u32) -> bool {
        end.wrapping_sub(begin) < self.long
            && begin.wrapping_sub(settled) < SHORT
            && end < self.bin_end
            && (end < self.point_from || settled >= self.point_to)
            && (number as usize) < NUMBERS
    }
}

/// The number of tasks and their time for each name of a batch.
#[derive(Debug, Default)]
pub(crate) struct Named([(u64, u64); NUMBERS]);

impl Named {
    /// Adds tasks of a name and their time. `number` is below [`NUMBERS`].
    #[inline(always)]
    pub fn add(&mut self, number: u32, tasks: u64, ns: u64) {
        if number > 0 {
            let entry = &mut self.0[number as usize];
            *entry = (entry.0 + tasks, entry.1 + ns);
        }
    }

    /// Ends the batch and adds its sums to the names.
    pub fn close<'n>(self, names: &mut Names, name: &impl Fn(u32) -> &'n [u8]) {
        let of_name = self.0.into_iter().enumerate().filter(|(_, (tasks, _))| *tasks > 0);
        for (number, (tasks, total)) in of_name {
            names.add_many(name(number as u32), tasks, total);
        }
    }
}

impl Accumulator {
    /// Takes in spans of one worker that contain no others and lie in none, in the order of time.
    /// Each is given by begin and end in ticks and the number of its name, which `name` resolves; 0
    /// means none. The result is that of [`Accumulator::leaf`] for each.
    pub fn leaves<'n>(
        &mut self,
        worker: u32,
        mut spans: impl Iterator<Item = (u64, u64, u32)>,
        scale: Scale,
        name: impl Fn(u32) -> &'n [u8],
    ) {
        let mut next = spans.next();
        while let Some((begin, end, number)) = next {
            self.leaf(worker, scale.ns(begin), scale.ns(end), name(number));
            next = self.simple_leaves(worker, end, &mut spans, scale, &name);
        }
    }

    /// Takes in simple spans behind one that ended at the tick `last`. Returns the first span that
    /// is not simple.
    #[inline]
    fn simple_leaves<'n>(
        &mut self,
        worker: u32,
        last: u64,
        spans: &mut impl Iterator<Item = (u64, u64, u32)>,
        scale: Scale,
        name: &impl Fn(u32) -> &'n [u8],
    ) -> Option<(u64, u64, u32)> {
        let Some((state, sums, names)) = self.parts(worker) else { return spans.next() };
        let Some(bounds) = Bounds::of(state, sums, last, scale) else { return spans.next() };
        let mut settled = last;
        let (mut tasks, mut busy) = (0u64, 0u64);
        let mut named = Named::default();
        let (mut durations, mut gaps) = (Tally::default(), Tally::default());
        let mut rest = scale.rest(last);
        let mut odd = None;
        for span in spans {
            let (begin, end, number) = span;
            if !bounds.hold(settled, begin, end, number) {
                odd = Some(span);
                break;
            }
            gaps.add(&mut sums.gaps, scale.short(begin.wrapping_sub(settled), &mut rest));
            let ns = scale.short(end.wrapping_sub(begin), &mut rest);
            durations.add(&mut sums.durations, ns);
            named.add(number, 1, ns);
            tasks += 1;
            busy += ns;
            settled = end;
        }
        if tasks > 0 {
            durations.close(&mut sums.durations, tasks);
            gaps.close(&mut sums.gaps, tasks);
            named.close(names, name);
            state.simple_leaves(tasks, busy, scale.ns(settled));
            sums.grid.busy_in_bin(&bounds.bin, busy);
        }
        odd
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use taskscale_model::span::Account;

    use super::*;
    use crate::Config;

    const NAMES: [&[u8]; 4] = [b"", b"load", b"solve", b"reduce"];

    proptest! {
        #[test]
        fn a_batch_is_its_spans_one_by_one(
            steps in proptest::collection::vec(
                (prop_oneof![9 => 0i64..40, 1 => -50i64..2_000_000], prop_oneof![9 => 0u64..60, 1 => 0u64..3_000_000], 0u32..4),
                1..600,
            ),
            batch in 1usize..130,
            ns_per_4g in prop_oneof![Just(1 << 32), (1u64 << 29)..(1 << 34)],
        ) {
            let scale = Scale { origin: 1_000_000, ns_per_4g };
            let mut now = 1_000_000;
            let spans: Vec<(u64, u64, u32)> = steps
                .into_iter()
                .map(|(gap, duration, name)| {
                    let begin = (now as i64 + gap) as u64;
                    now = begin + duration;
                    (begin, now, name)
                })
                .collect();
            let name = |number: u32| NAMES[number as usize];
            let mut one_by_one = Accumulator::new(Config::observer());
            let mut batched = Accumulator::new(Config::observer());
            let times = spans.iter().map(|&(begin, end, number)| (scale.ns(begin), scale.ns(end), number));
            times.for_each(|(start, end, number)| one_by_one.leaf(3, start, end, name(number)));
            spans.chunks(batch).for_each(|batch| batched.leaves(3, batch.iter().copied(), scale, name));
            let account = Account::default();
            prop_assert_eq!(batched.finish(&account), one_by_one.finish(&account));
            prop_assert_eq!(&batched.sums.grid, &one_by_one.sums.grid);
            prop_assert_eq!(&batched.sums.durations, &one_by_one.sums.durations);
            prop_assert_eq!(&batched.sums.gaps, &one_by_one.sums.gaps);
        }

        #[test]
        fn a_leaf_is_a_span_that_holds_no_other(gaps in proptest::collection::vec((0i64..5_000, 1i64..9_000), 1..300)) {
            let mut now = 0;
            let (mut leaves, mut spans) = (Accumulator::new(Config::observer()), Accumulator::new(Config::observer()));
            for (gap, duration) in gaps {
                let (start_ns, end_ns) = (now + gap, now + gap + duration);
                now = end_ns;
                leaves.leaf(0, start_ns, end_ns, b"x");
                use taskscale_model::span::{Span, SpanSink};
                spans.span(&Span { worker: 0, start_ns, end_ns, name: b"x", ..Span::default() });
            }
            prop_assert_eq!(leaves.finish(&Account::default()), spans.finish(&Account::default()));
        }
    }
}
