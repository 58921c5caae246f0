//! Parallelism over time in fixed memory: a grid whose bins double in width, with one point in
//! each.
//!
//! The average of a bin cannot tell "half of the time all, half of the time one" from "always
//! some": alternation faster than a bin vanishes in it. So each bin also has one point, at a fixed
//! place drawn by lot, where the number of workers inside a task is counted exactly. The points are
//! a stratified sample of the window. They show the share of time at each level of parallelism
//! without bias at any speed of alternation. The standard error is at most
//! `0.5 / sqrt(points in the window)`, which is 1.6 % at 1,024 points and usually far less.
//!
//! Bins and points depend on nothing but absolute time, so merging is adding.

use crate::histogram::bucket;

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
    pub fn new(name: u32, worker: u32) -> Self {
        Who { name, worker: u16::try_from(worker.saturating_add(1)).unwrap_or(u16::MAX) }
    }

    /// The worker's index, if there is one that has a place of its own.
    pub fn worker(self) -> Option<u32> {
        (self.worker != u16::MAX).then(|| u32::from(self.worker).checked_sub(1)).flatten()
    }

    /// Whether another one is drawn before this one at a time. Names, and workers of one name, take
    /// turns from point to point.
    fn gives_way(self, other: Who, at: i64) -> bool {
        let lot = |of: u32| (of ^ (at ^ (at >> 32)) as u32).wrapping_mul(0x9E37_79B1);
        if self.worker == 0 || other.worker == 0 {
            return self.worker < other.worker;
        }
        if self.name != other.name {
            return lot(self.name) < lot(other.name);
        }
        lot(self.worker.into()) < lot(other.worker.into())
    }
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

    /// Notes a piece of work at the point if it is longer than what is known so far.
    #[inline]
    fn runs(&mut self, class: u8, who: Who) {
        if class > self.longest || (class == self.longest && self.who().gives_way(who, self.at)) {
            (self.longest, self.name, self.worker) = (class, who.name, who.worker);
        }
    }
}

/// Parallelism over time in bins, as the module describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Bin `k` is in cell `k mod length`. The length is a power of two.
    cells: Vec<GridPoint>,
    shift: u32,
    /// The first and last bin in use. None is in use if `first > last`.
    first: i64,
    last: i64,
}

/// Chooses the half of a bin that its point lies in: 1 for the upper half.
fn upper_half(bin: i64, shift: u32) -> i64 {
    // splitmix64's output function on (bin, shift).
    let mut z = (bin as u64).wrapping_add(u64::from(shift).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) & 1) as i64
}

/// The point of a bin. Halves are chosen down to 1 ns, so the point of a bin is also the point of
/// one of its halves.
fn point(mut bin: i64, shift: u32) -> i64 {
    for level in (1..=shift).rev() {
        bin = bin * 2 + upper_half(bin, level);
    }
    bin
}

impl Grid {
    /// Makes a grid of `length` bins, rounded up to a power of two of at least 16.
    pub fn new(length: usize) -> Self {
        Grid {
            cells: vec![GridPoint::default(); length.next_power_of_two().max(16)],
            shift: 0,
            first: i64::MAX,
            last: i64::MIN,
        }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<GridPoint>()
    }

    fn slot(&self, bin: i64) -> usize {
        bin as usize & (self.cells.len() - 1)
    }

    fn is_empty(&self) -> bool {
        self.first > self.last
    }

    /// Width of a bin in nanoseconds.
    pub fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Bins in use, in the order of time, each with its begin.
    pub fn cells(&self) -> impl Iterator<Item = (i64, &GridPoint)> {
        let range = self.first..=self.last;
        range.map(|bin| (bin << self.shift, &self.cells[self.slot(bin)]))
    }

    /// Brings `start..end` into the grid and widens the bins if need be. O(length) if it widens,
    /// else O(new bins).
    fn cover(&mut self, start: i64, end: i64) {
        let (mut first, mut last) = (start >> self.shift, (end - 1).max(start) >> self.shift);
        if first >= self.first && last <= self.last {
            return;
        }
        if !self.is_empty() {
            (first, last) = (first.min(self.first), last.max(self.last));
        }
        while (last as i128 - first as i128) >= self.cells.len() as i128 {
            self.widen();
            (first, last) = (first >> 1, last >> 1);
        }
        if self.is_empty() {
            (self.first, self.last) = (first, first - 1);
        }
        for bin in (first..self.first).chain(self.last + 1..=last) {
            let slot = self.slot(bin);
            self.cells[slot] = GridPoint { at: point(bin, self.shift), ..GridPoint::default() };
        }
        (self.first, self.last) = (first, last);
    }

    /// Doubles the width of the bins.
    fn widen(&mut self) {
        if !self.is_empty() {
            let old = self.cells.clone();
            let (first, last) = (self.first, self.last);
            let child = |bin: i64| (bin >= first && bin <= last).then(|| old[bin as usize & (old.len() - 1)]);
            for bin in first >> 1..=last >> 1 {
                let chosen = bin * 2 + upper_half(bin, self.shift + 1);
                let other = chosen ^ 1;
                let mut cell = child(chosen)
                    .unwrap_or_else(|| GridPoint { at: point(chosen, self.shift), ..GridPoint::default() });
                cell.busy_ns = cell.busy_ns.saturating_add(child(other).map_or(0, |other| other.busy_ns));
                let slot = self.slot(bin);
                self.cells[slot] = cell;
            }
            (self.first, self.last) = (first >> 1, last >> 1);
        }
        self.shift += 1;
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
            cell.runs(bucket(duration) as u8, who());
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
        self.cover(start, end);
        let (class, who) = (bucket((end - start) as u64) as u8, who());
        for bin in start >> self.shift..=(end - 1) >> self.shift {
            let slot = self.slot(bin);
            let cell = &mut self.cells[slot];
            if cell.is_in(start, end) {
                cell.runs(class, who);
            }
        }
    }

    /// The cell of the bin that holds all of `start..end`, if that bin is in use.
    #[inline]
    fn cell(&mut self, start: i64, end: i64) -> Option<&mut GridPoint> {
        let bin = start >> self.shift;
        let in_use = bin == (end - 1) >> self.shift && self.first <= bin && bin <= self.last;
        let slot = self.slot(bin);
        if in_use { self.cells.get_mut(slot) } else { None }
    }

    #[inline(never)]
    fn busy_in_bins(&mut self, start: i64, end: i64, duration: u64, who: Who) {
        self.cover(start, end);
        let class = bucket(duration) as u8;
        for bin in start >> self.shift..=(end - 1) >> self.shift {
            let begin = bin << self.shift;
            let slot = self.slot(bin);
            let cell = &mut self.cells[slot];
            let part = (end.min(begin.saturating_add(1 << self.shift)) - start.max(begin)) as u64;
            cell.busy_ns = cell.busy_ns.saturating_add(part);
            if cell.is_in(start, end) {
                cell.busy = cell.busy.saturating_add(1);
                cell.runs(class, who);
            }
        }
    }

    /// The bin that holds a time, if it is in use.
    pub fn bin(&self, time: i64) -> Option<Bin> {
        let bin = time >> self.shift;
        let slot = self.slot(bin);
        (self.first <= bin && bin <= self.last).then(|| Bin {
            end: (bin << self.shift).saturating_add(1 << self.shift),
            at: self.cells[slot].at,
            slot,
        })
    }

    /// Adds time of outermost spans that lie in the bin and do not cover its point.
    pub fn busy_in_bin(&mut self, bin: &Bin, busy: u64) {
        let cell = &mut self.cells[bin.slot];
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
        self.cover(start, end);
        for bin in start >> self.shift..=(end - 1) >> self.shift {
            let slot = self.slot(bin);
            let cell = &mut self.cells[slot];
            if cell.is_in(start, end) {
                cell.gaps[class] = cell.gaps[class].saturating_add(1);
            }
        }
    }

    /// Adds another grid. The result has the fewer bins of the two.
    pub fn merge(&mut self, other: &Grid) {
        let mut other = other.clone();
        let length = self.cells.len().min(other.cells.len());
        self.shrink(length);
        other.shrink(length);
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        while self.shift < other.shift {
            self.widen();
        }
        while other.shift < self.shift {
            other.widen();
        }
        // `cover` may widen this one further still.
        self.cover(other.first << other.shift, ((other.last << other.shift) as i128 + 1) as i64);
        while other.shift < self.shift {
            other.widen();
        }
        for bin in other.first..=other.last {
            let theirs = other.cells[other.slot(bin)];
            let slot = self.slot(bin);
            let mine = &mut self.cells[slot];
            mine.busy_ns = mine.busy_ns.saturating_add(theirs.busy_ns);
            mine.busy = mine.busy.saturating_add(theirs.busy);
            mine.runs(theirs.longest, theirs.who());
            for (mine, theirs) in mine.gaps.iter_mut().zip(theirs.gaps) {
                *mine = mine.saturating_add(theirs);
            }
        }
    }

    fn shrink(&mut self, length: usize) {
        if length == self.cells.len() {
            return;
        }
        while !self.is_empty() && self.last - self.first >= length as i64 {
            self.widen();
        }
        let mut small = vec![GridPoint::default(); length];
        if !self.is_empty() {
            for bin in self.first..=self.last {
                small[bin as usize & (length - 1)] = self.cells[self.slot(bin)];
            }
        }
        self.cells = small;
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
                assert!(
                    covering.iter().any(
                        |span| span.2 == one.1.who() && Some(bucket((span.1 - span.0) as u64)) == longest
                    )
                );
            }
        }
    }

    #[test]
    fn equally_long_names_and_workers_take_turns() {
        let mut grid = Grid::new(1_024);
        for at in 0..1_000 {
            for (name, worker) in [(1, 0), (1, 1), (3, 2)] {
                grid.busy(at * 1_000_000, (at + 1) * 1_000_000, 1_000_000, || Who::new(name, worker));
            }
        }
        for worker in 0..3 {
            let points = grid.cells().filter(|(_, cell)| cell.who().worker() == Some(worker)).count();
            let expected = grid.cells().count() / if worker == 2 { 2 } else { 4 };
            assert!(points.abs_diff(expected) < grid.cells().count() / 8, "{worker}: {points}");
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
