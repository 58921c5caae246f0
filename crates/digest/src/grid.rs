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
    /// The histogram bucket of the longest of them.
    pub longest: u8,
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
        self.longest = self.longest.max(other.longest);
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

    /// Adds an outermost span. `duration` is its own if it is one piece of work, else 0.
    /// O(bins that it touches).
    #[inline]
    pub fn busy(&mut self, start: i64, end: i64, duration: u64) {
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
            cell.longest = cell.longest.max(bucket(duration) as u8);
            return;
        }
        self.busy_in_bins(start, end, duration);
    }

    /// Says how long the piece of work is that an outermost span does from `start` to `end`.
    /// O(bins that it touches).
    pub fn piece(&mut self, start: i64, end: i64) {
        if end <= start || self.cell(start, end).is_some_and(|cell| !cell.is_in(start, end)) {
            return;
        }
        self.0.cover(start, end);
        let shift = self.0.shift();
        let class = bucket((end - start) as u64) as u8;
        for bin in start >> shift..=(end - 1) >> shift {
            let slot = self.0.slot(bin);
            let cell = self.0.at_slot(slot);
            if cell.is_in(start, end) {
                cell.longest = cell.longest.max(class);
            }
        }
    }

    /// The cell of the bin that holds all of `start..end`, if that bin is in use.
    #[inline]
    fn cell(&mut self, start: i64, end: i64) -> Option<&mut GridPoint> {
        let (bin, last) = (start >> self.0.shift(), (end - 1) >> self.0.shift());
        if bin == last { self.0.cell_mut(bin) } else { None }
    }

    fn busy_in_bins(&mut self, start: i64, end: i64, duration: u64) {
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
                cell.longest = cell.longest.max(class);
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
            grid.busy(start, end, 300);
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
    fn the_ends_of_time_fit() {
        let mut grid = Grid::new(64);
        grid.busy(i64::MIN / 2, i64::MIN / 2 + 5, 5);
        grid.busy(i64::MAX / 2 - 5, i64::MAX / 2, 5);
        assert_eq!(grid.cells().map(|(_, cell)| cell.busy_ns).sum::<u64>(), 10);
    }
}
