//! When tasks were ready and had not started, in fixed memory.
//!
//! A task waits from when it is ready to its start. The number of tasks that wait at a moment is
//! the number of those that became ready up to it, less the number of those that started up to it.
//! So each bin keeps this difference alone, before its point and behind it. A wait of any length is
//! two steps, and not one step for each bin that it lies in.
//!
//! The bins are a set of their own. A ready time far before all spans, right or wrong, makes these
//! bins wide, and leaves those of the spans as they are.

use crate::{
    bins::{Bins, Cell},
    histogram::Histogram,
};

/// Tasks that became ready less tasks that started, in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Steps {
    /// The time of the point.
    at: i64,
    /// Up to the point. It wraps, and so do all sums, which are right as long as no more than 2^31
    /// tasks wait at once.
    before: i32,
    /// Behind the point.
    behind: i32,
}

impl Cell for Steps {
    fn new(at: i64) -> Self {
        Steps { at, ..Steps::default() }
    }

    fn join(&mut self, half: &Self, before: bool) {
        let all = half.before.wrapping_add(half.behind);
        let side = if before { &mut self.before } else { &mut self.behind };
        *side = side.wrapping_add(all);
    }

    fn add(&mut self, other: &Self) {
        self.before = self.before.wrapping_add(other.before);
        self.behind = self.behind.wrapping_add(other.behind);
    }
}

/// The delays of all tasks whose ready time is known, and how many waited when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    pub delays: Histogram,
    /// The number of tasks that were timed. Of `delays` the others have the times of these.
    pub timed: u64,
    bins: Bins<Steps>,
}

impl Waits {
    /// Makes room for waits at `points` moments, rounded up to a power of two.
    pub fn new(points: usize) -> Self {
        Waits { delays: Histogram::default(), timed: 0, bins: Bins::new(points) }
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.bins.bytes()
    }

    /// Takes in when a task became ready and when it started. A task is ready at its start at the
    /// latest. O(1) amortised.
    pub fn add(&mut self, ready: i64, start: i64) {
        self.add_many(ready, start, 1);
    }

    /// Takes in a task that stands for `tasks` of the same times.
    pub fn add_many(&mut self, ready: i64, start: i64, tasks: u32) {
        let delay = (start - ready).max(0) as u64;
        self.timed += 1;
        // The general way divides, which takes three times as long as all the rest.
        if tasks == 1 {
            self.delays.add(delay)
        } else {
            self.delays.add_many(delay, u64::from(tasks))
        }
        if ready < start {
            self.bins.cover(ready, start + 1);
            self.step(ready, tasks as i32);
            self.step(start, (tasks as i32).wrapping_neg());
        }
    }

    fn step(&mut self, time: i64, by: i32) {
        if let Some(cell) = self.bins.cell_mut(time >> self.bins.shift()) {
            let side = if time <= cell.at { &mut cell.before } else { &mut cell.behind };
            *side = side.wrapping_add(by);
        }
    }

    /// Adds what another one took in. Associative and commutative.
    pub fn merge(&mut self, other: &Waits) {
        self.delays.merge(&other.delays);
        self.timed += other.timed;
        self.bins.merge(&other.bins);
    }

    /// The number of waiting tasks at the points.
    pub fn counts(&self) -> Counts<'_> {
        let mut waiting = 0i32;
        let at_points = self.bins.cells().map(|(_, cell)| {
            let at_point = waiting.wrapping_add(cell.before);
            waiting = at_point.wrapping_add(cell.behind);
            at_point.max(0) as u64
        });
        let (begin, counts) = (self.bins.cells().next().map_or(0, |(begin, _)| begin), at_points.collect());
        Counts { bins: &self.bins, first: begin >> self.bins.shift(), counts }
    }
}

/// The number of waiting tasks at each point.
pub struct Counts<'w> {
    bins: &'w Bins<Steps>,
    first: i64,
    counts: Vec<u64>,
}

impl Counts<'_> {
    /// The number of tasks that wait at a moment which is a point of bins of any width. `None`
    /// where it is no point of these.
    pub fn at(&self, moment: i64) -> Option<u64> {
        let bin = moment >> self.bins.shift();
        match self.bins.cell(bin) {
            Some(cell) => (cell.at == moment).then(|| self.counts[(bin - self.first) as usize]),
            // Nothing waits before the first ready time and behind the last start. Such moments are
            // as dense as the others.
            None => self.bins.is_point(moment).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn counts_are_those_of_looking_at_each_wait(
            waits in proptest::collection::vec((-2_000i64..50_000, 0i64..9_000), 1..200),
            parts in 1usize..5,
        ) {
            let mut merged = Waits::new(64);
            for part in 0..parts {
                let mut own = Waits::new(64);
                let mine = waits.iter().enumerate().filter(|(index, _)| index % parts == part);
                mine.for_each(|(_, (ready, delay))| own.add(*ready, ready + delay));
                merged.merge(&own);
            }
            let mut whole = Waits::new(64);
            waits.iter().rev().for_each(|(ready, delay)| whole.add(*ready, ready + delay));
            prop_assert_eq!(&merged.delays, &whole.delays);
            let (counts, merged) = (whole.counts(), merged.counts());
            for (_, cell) in whole.bins.cells() {
                let waiting =
                    waits.iter().filter(|(ready, delay)| *ready <= cell.at && cell.at < ready + delay);
                prop_assert_eq!(counts.at(cell.at), Some(waiting.count() as u64));
                prop_assert_eq!(counts.at(cell.at), merged.at(cell.at));
            }
        }
    }

    #[test]
    fn the_ends_of_time_fit() {
        let mut waits = Waits::new(64);
        waits.add(-(i64::MAX / 2), i64::MAX / 2);
        waits.add(i64::MAX / 2, -(i64::MAX / 2));
        assert_eq!((waits.delays.count(), waits.delays.min()), (2, 0));
        let counts = waits.counts();
        assert!(waits.bins.cells().any(|(_, cell)| counts.at(cell.at) == Some(1)));
    }
}
