//! Spans of one worker in batches: what a live observer's buffer is emptied by.
//!
//! Most spans of a worker are alike in this: each is behind the one before, holds no other, lies in the same bin as its
//! neighbours, covers no point and is not among the longest. Of these only the histograms take a step each; all else is
//! added up on the way and written once. It takes 80 instructions a span, and by way of [`Accumulator::leaf`] 230.

use crate::{accumulator::Accumulator, histogram::Tally};

/// Names in a batch: numbers below this.
pub const NUMBERS: usize = 17;

impl Accumulator {
    /// Takes in spans of one worker that contain no others and lie in none, in the order of time: start, end and the number
    /// of a name, which `name` gives; 0 is none. The same as [`Accumulator::leaf`] of each.
    pub fn leaves<'n>(
        &mut self,
        worker: u32,
        mut spans: impl Iterator<Item = (i64, i64, u32)>,
        name: impl Fn(u32) -> &'n [u8],
    ) {
        while let Some((start, end, number)) = self.simple_leaves(worker, &mut spans, &name) {
            self.leaf(worker, start, end, name(number));
        }
    }

    /// Takes in spans until one is not of the simple kind, which is given back.
    fn simple_leaves<'n>(
        &mut self,
        worker: u32,
        spans: &mut impl Iterator<Item = (i64, i64, u32)>,
        name: &impl Fn(u32) -> &'n [u8],
    ) -> Option<(i64, i64, u32)> {
        let Some((state, sums, names)) = self.parts(worker) else { return spans.next() };
        let Some(mut settled) = state.settled() else { return spans.next() };
        let Some(bin) = sums.grid.bin(settled) else { return spans.next() };
        let (begin, admits) = (settled, sums.top.admits());
        let (mut tasks, mut busy) = (0u64, 0u64);
        let mut named = [(0u64, 0u64); NUMBERS];
        let (mut durations, mut gaps) = (Tally::default(), Tally::default());
        let mut odd = None;
        for span in spans {
            let (start, end, number) = span;
            let duration = end.wrapping_sub(start) as u64;
            let simple = settled <= start
                && start <= end
                && end < bin.end
                // One comparison for the gap and the task: the point lies in neither.
                && (bin.at.wrapping_sub(settled) as u64) >= (end.wrapping_sub(settled) as u64)
                && duration < admits;
            let Some(entry) = named.get_mut(number as usize).filter(|_| simple) else {
                odd = Some(span);
                break;
            };
            durations.add(&mut sums.durations, duration);
            gaps.add(&mut sums.gaps, start.wrapping_sub(settled) as u64);
            entry.0 += 1;
            entry.1 += duration;
            tasks += 1;
            busy += duration;
            settled = end;
        }
        durations.close(&mut sums.durations, tasks);
        gaps.close(&mut sums.gaps, tasks);
        for (number, (tasks, total)) in
            named.into_iter().enumerate().skip(1).filter(|(_, (tasks, _))| *tasks > 0)
        {
            names.add_many(name(number as u32), tasks, total);
        }
        if settled > begin || tasks > 0 {
            state.simple_leaves(tasks, busy, settled);
            sums.grid.busy_in_bin(&bin, busy);
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
                (prop_oneof![9 => 0i64..40, 1 => -50i64..2_000_000], prop_oneof![9 => 0i64..60, 1 => 0i64..3_000_000], 0u32..4),
                1..600,
            ),
            batch in 1usize..130,
        ) {
            let mut now = 0;
            let spans: Vec<(i64, i64, u32)> = steps
                .into_iter()
                .map(|(gap, duration, name)| {
                    let start = now + gap;
                    now = start + duration;
                    (start, now, name)
                })
                .collect();
            let name = |number: u32| NAMES[number as usize];
            let mut one_by_one = Accumulator::new(Config::observer());
            let mut batched = Accumulator::new(Config::observer());
            spans.iter().for_each(|&(start, end, number)| one_by_one.leaf(3, start, end, name(number)));
            spans.chunks(batch).for_each(|batch| batched.leaves(3, batch.iter().copied(), name));
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
                use taskscale_model::span::{Depth, Span, SpanSink};
                spans.span(&Span { worker: 0, start_ns, end_ns, name: b"x", depth: Depth::Unknown });
            }
            prop_assert_eq!(leaves.finish(&Account::default()), spans.finish(&Account::default()));
        }
    }
}
