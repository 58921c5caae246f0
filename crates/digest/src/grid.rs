//! Parallelism over time in fixed memory: a grid whose bins double in width, with one point in
//! each.
//!
//! The average of a bin cannot tell "half of the time all, half of the time one" from "always
//! some": alternation faster than a bin vanishes in it. So each bin also has one point, at a fixed
//! place drawn by lot, where the number of workers inside a task is counted exactly. The points are
//! a stratified sample of the window. They show the share of time at each level of parallelism
//! without bias at any speed of alternation. The standard error is at most
//! `0.5 / sqrt(points in the window)`, which is 1.6 % at 1,024 points and usually far less.

use crate::{
    bins::{Bins, Cell},
    histogram::bucket,
};

/// The number of classes of gaps at the points. Gaps from 256 ns up to 67 ms are told apart by
/// powers of four, so that the line between dispatch and idleness can be drawn once the whole run
/// is known.
pub const GAP_CLASSES: usize = 10;

/// The length in nanoseconds at which a class ends.
pub fn gap_class_end(class: usize) -> u64 {
    256 << (2 * class)
}

/// One bin and its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GridPoint {
    /// The time of the point.
    pub at: i64,
    /// Time inside outermost spans in the whole bin, summed over workers.
    pub busy_ns: u64,
    /// The number of gaps of each class that cover the point.
    pub gaps: [u16; GAP_CLASSES],
    /// The number of outermost spans that cover the point.
    pub busy: u16,
    /// The histogram bucket of the longest piece of work at the point.
    pub longest: u8,
    /// Who runs that piece: name and worker of a [`Who`]. Of several equally long ones a lot
    /// decides, which is the same in any order of spans.
    name: u32,
    worker: u16,
    /// The lot of that piece. The largest is drawn.
    lot: u16,
}

/// A worker and the name of what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Who {
    /// The [mark](crate::names::mark) of the name.
    pub name: u32,
    /// The worker's index plus 1; 0 is no worker. The last 65,535 stands for all others.
    worker: u16,
}

impl Who {
    /// Stands for workers that have no place of their own, and for several.
    const OTHERS: u16 = u16::MAX;

    pub fn new(name: u32, worker: u32) -> Self {
        Who { name, worker: u16::try_from(worker.saturating_add(1)).unwrap_or(Who::OTHERS) }
    }

    /// The worker's index, if there is one that has a place of its own.
    pub fn worker(self) -> Option<u32> {
        (self.worker != Who::OTHERS).then(|| u32::from(self.worker).checked_sub(1)).flatten()
    }
}

/// The lot of a piece of work at a point. It rests on times and names, since the numbers of workers
/// depend on the order of spans. Pieces at the same times take turns from point to point.
fn lot(start: i64, end: i64, name: u32, at: i64) -> u16 {
    let times = (start as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ end as u64;
    let mixed = times.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ u64::from(name) ^ at as u64;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as u16
}

/// The end of a bin, its point, and its position.
#[derive(Debug, Clone, Copy)]
pub struct Bin {
    pub end: i64,
    pub at: i64,
    slot: usize,
}

impl GridPoint {
    /// Whether the point lies in `start..end`.
    #[inline]
    fn is_in(&self, start: i64, end: i64) -> bool {
        start <= self.at && self.at < end
    }

    /// Who runs the longest piece of work at the point.
    pub fn who(&self) -> Who {
        Who { name: self.name, worker: self.worker }
    }

    /// Notes a piece of work at the point if it is longer than what is known so far. Workers with
    /// pieces of one name at the same times are not told apart: none of them stands out.
    #[inline]
    fn runs(&mut self, class: u8, lot: u16, who: Who) {
        let (new, old) = ((class, lot, who.name), (self.longest, self.lot, self.name));
        if new > old {
            (self.longest, self.lot, self.name, self.worker) = (class, lot, who.name, who.worker);
        } else if new == old && self.worker != who.worker {
            self.worker = if self.worker == 0 { who.worker } else { Who::OTHERS };
        }
    }
}

impl Cell for GridPoint {
    fn new(at: i64) -> Self {
        GridPoint { at, ..GridPoint::default() }
    }

    fn join(&mut self, half: &Self, _before: bool) {
        self.busy_ns = self.busy_ns.saturating_add(half.busy_ns);
    }

    fn add(&mut self, other: &Self) {
        self.busy_ns = self.busy_ns.saturating_add(other.busy_ns);
        self.busy = self.busy.saturating_add(other.busy);
        self.runs(other.longest, other.lot, other.who());
        for (mine, theirs) in self.gaps.iter_mut().zip(other.gaps) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// Parallelism over time in bins, as the module describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid(Bins<GridPoint>);

impl Grid {
    /// Makes a grid of `length` bins, rounded up to a power of two of at least 16.
    pub fn new(length: usize) -> Self {
        Grid(Bins::new(length))
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Width of a bin in nanoseconds.
    pub fn width(&self) -> u64 {
        1 << self.0.shift()
    }

    /// Bins in use, in the order of time, each with its begin.
    pub fn cells(&self) -> impl Iterator<Item = (i64, &GridPoint)> {
        self.0.cells()
    }

    /// Adds an outermost span. `duration` is its own if it is one piece of work, else 0. `who` is
    /// asked only if the span covers a point or leaves its bin. O(bins that it touches).
    #[inline(always)]
    pub fn busy(&mut self, start: i64, end: i64, duration: u64, who: impl FnOnce() -> Who) {
        if end <= start {
            return;
        }
        // Most tasks are shorter than a bin and miss its point.
        if let Some(cell) = self.cell(start, end) {
            cell.busy_ns = cell.busy_ns.saturating_add((end - start) as u64);
            if !cell.is_in(start, end) {
                return;
            }
            cell.busy = cell.busy.saturating_add(1);
            let (at, who) = (cell.at, who());
            cell.runs(bucket(duration) as u8, lot(start, end, who.name, at), who);
            return;
        }
        self.busy_in_bins(start, end, duration, who());
    }

    /// Says how long the piece of work is that an outermost span does from `start` to `end`.
    /// O(bins that it touches).
    pub fn piece(&mut self, start: i64, end: i64, who: impl FnOnce() -> Who) {
        if end <= start || self.cell(start, end).is_some_and(|cell| !cell.is_in(start, end)) {
            return;
        }
        self.0.cover(start, end);
        let shift = self.0.shift();
        let (class, who) = (bucket((end - start) as u64) as u8, who());
        for bin in start >> shift..=(end - 1) >> shift {
            let slot = self.0.slot(bin);
            let cell = self.0.at_slot(slot);
            if cell.is_in(start, end) {
                let lot = lot(start, end, who.name, cell.at);
                cell.runs(class, lot, who);
            }
        }
    }

    /// The cell of the bin that holds all of `start..end`, if that bin is in use.
    #[inline]
    fn cell(&mut self, start: i64, end: i64) -> Option<&mut GridPoint> {
        let (bin, last) = (start >> self.0.shift(), (end - 1) >> self.0.shift());
        if bin == last { self.0.cell_mut(bin) } else { None }
    }

    #[inline(never)]
    fn busy_in_bins(&mut self, start: i64, end: i64, duration: u64, who: Who) {
        self.0.cover(start, end);
        let shift = self.0.shift();
        let class = bucket(duration) as u8;
        for bin in start >> shift..=(end - 1) >> shift {
            let begin = bin << shift;
            let slot = self.0.slot(bin);
            let cell = self.0.at_slot(slot);
            let part = (end.min(begin.saturating_add(1 << shift)) - start.max(begin)) as u64;
            cell.busy_ns = cell.busy_ns.saturating_add(part);
            if cell.is_in(start, end) {
                cell.busy = cell.busy.saturating_add(1);
                let lot = lot(start, end, who.name, cell.at);
                cell.runs(class, lot, who);
            }
        }
    }

    /// The bin that holds a time, if it is in use.
    pub fn bin(&self, time: i64) -> Option<Bin> {
        let shift = self.0.shift();
        let bin = time >> shift;
        let end = (bin << shift).saturating_add(1 << shift);
        self.0.cell(bin).map(|cell| Bin { end, at: cell.at, slot: self.0.slot(bin) })
    }

    /// Adds time of outermost spans that lie in the bin and do not cover its point.
    pub fn busy_in_bin(&mut self, bin: &Bin, busy: u64) {
        let cell = self.0.at_slot(bin.slot);
        cell.busy_ns = cell.busy_ns.saturating_add(busy);
    }

    /// Adds a gap between two outermost spans of a worker. Gaps of more than 67 ms are idle time in
    /// any run and are left out.
    #[inline]
    pub fn gap(&mut self, start: i64, end: i64) {
        if start < end && self.cell(start, end).is_some_and(|cell| !cell.is_in(start, end)) {
            return;
        }
        self.gap_in_bins(start, end);
    }

    fn gap_in_bins(&mut self, start: i64, end: i64) {
        let length = (end - start).max(0) as u64;
        if length == 0 || length >= gap_class_end(GAP_CLASSES - 1) {
            return;
        }
        // Classes begin at 256 ns = 2^8 and are two octaves wide.
        let class = ((length >> 6).max(1).ilog2() / 2) as usize;
        self.0.cover(start, end);
        let shift = self.0.shift();
        for bin in start >> shift..=(end - 1) >> shift {
            let slot = self.0.slot(bin);
            let cell = self.0.at_slot(slot);
            if cell.is_in(start, end) {
                cell.gaps[class] = cell.gaps[class].saturating_add(1);
            }
        }
    }

    /// Adds another grid. The result has the fewer bins of the two.
    pub fn merge(&mut self, other: &Grid) {
        self.0.merge(&other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_and_points_survive_widening_to_both_sides() {
        let spans: Vec<(i64, i64)> =
            (0..500).map(|i| (i * 977 - 200_000, i * 977 - 200_000 + 300 + i)).collect();
        let mut grid = Grid::new(64);
        for (index, (start, end)) in spans.iter().enumerate() {
            let (start, end) = if index % 2 == 0 { (*start, *end) } else { (-*end, -*start) };
            grid.busy(start, end, 300, Who::default);
        }
        let total: u64 = grid.cells().map(|(_, cell)| cell.busy_ns).sum();
        assert_eq!(total, spans.iter().map(|(start, end)| (end - start) as u64).sum::<u64>());
        for (begin, cell) in grid.cells() {
            assert!(cell.at >= begin && cell.at < begin + grid.width() as i64);
            let covering = spans.iter().enumerate().filter(|(index, (start, end))| {
                let (start, end) = if index % 2 == 0 { (*start, *end) } else { (-*end, -*start) };
                start <= cell.at && cell.at < end
            });
            assert_eq!(usize::from(cell.busy), covering.count());
        }
    }

    #[test]
    fn a_gap_is_in_the_class_that_ends_above_it() {
        for length in [1, 63, 64, 255, 256, 257, 1_023, 1_024, 4_095, 4_096, 60_000, 67_108_863, 67_108_864] {
            // Bins are 1 ns wide until the grid is widened, so every instant of the gap is a point
            // until then.
            let mut grid = Grid::new(16);
            grid.gap(0, length);
            let expected = (0..GAP_CLASSES).find(|class| (length as u64) < gap_class_end(*class));
            for (_, cell) in grid.cells().filter(|(_, cell)| (0..length).contains(&cell.at)) {
                let found: Vec<usize> = (0..GAP_CLASSES).filter(|class| cell.gaps[*class] > 0).collect();
                assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{length}");
            }
            assert_eq!(grid.cells().next().is_none(), expected.is_none(), "{length}");
        }
    }

    #[test]
    fn who_runs_at_a_point_depends_neither_on_order_nor_on_division() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut spans: Vec<(i64, i64, Who)> = (0..60)
                .map(|_| {
                    let (start, length) = (rng.i64(0..100_000), 1_000 << rng.i64(0..4));
                    (start, start + length, Who::new(rng.u32(1..4), rng.u32(0..3)))
                })
                .collect();
            let of = |spans: &[(i64, i64, Who)]| {
                let mut grid = Grid::new(64);
                for (start, end, who) in spans {
                    grid.busy(*start, *end, (end - start) as u64, || *who);
                }
                grid
            };
            let whole = of(&spans);
            rng.shuffle(&mut spans);
            let (left, right) = spans.split_at(rng.usize(0..60));
            let mut merged = of(right);
            merged.merge(&of(left));
            for (one, other) in whole.cells().zip(merged.cells()).filter(|(one, _)| one.1.busy > 0) {
                assert_eq!(one, other);
                let at = one.1.at;
                let covering: Vec<_> = spans.iter().filter(|span| span.0 <= at && at < span.1).collect();
                let longest = covering.iter().map(|span| bucket((span.1 - span.0) as u64)).max();
                let is_long = |span: &(i64, i64, Who)| Some(bucket((span.1 - span.0) as u64)) == longest;
                assert!(covering.iter().any(|span| span.2 == one.1.who() && is_long(span)));
            }
        }
    }

    #[test]
    fn equally_long_names_take_turns_and_workers_alike_are_none() {
        let mut grid = Grid::new(1_024);
        for at in 0..1_000 {
            for (name, worker) in [(1, 0), (1, 1), (3, 2)] {
                grid.busy(at * 1_000_000, (at + 1) * 1_000_000, 1_000_000, || Who::new(name, worker));
            }
        }
        for worker in [None, Some(2)] {
            let points = grid.cells().filter(|(_, cell)| cell.who().worker() == worker).count();
            let expected = grid.cells().count() / 2;
            assert!(points.abs_diff(expected) < grid.cells().count() / 8, "{worker:?}: {points}");
        }
        assert_eq!(Who::new(1, 65_533).worker(), Some(65_533));
        assert_eq!([Who::new(1, 65_534), Who::new(1, 65_536), Who::default()].map(Who::worker), [None; 3]);
    }

    #[test]
    fn the_ends_of_time_fit() {
        let mut grid = Grid::new(64);
        grid.busy(i64::MIN / 2, i64::MIN / 2 + 5, 5, Who::default);
        grid.busy(i64::MAX / 2 - 5, i64::MAX / 2, 5, Who::default);
        assert_eq!(grid.cells().map(|(_, cell)| cell.busy_ns).sum::<u64>(), 10);
    }
}
