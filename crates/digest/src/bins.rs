//! Bins over time that double in width when time runs out of them, with one point in each.
//!
//! A point lies at a fixed place of its bin, drawn by lot. The point of a bin is also the point of
//! one of its halves. So what is counted at a point stays counted there when bins are widened, and
//! two sets of bins of different width have points in common.
//!
//! Bins and points depend on nothing but absolute time, so merging is adding.

/// What one bin holds.
pub trait Cell: Copy + Default {
    /// An empty cell whose point is at this time.
    fn new(at: i64) -> Self;
    /// Takes in the other half of a bin of twice the width. That half has no point any more. It
    /// lies before this one, or behind it.
    fn join(&mut self, half: &Self, before: bool);
    /// Adds the same bin of another set.
    fn add(&mut self, other: &Self);
}

/// Bins over time, as the module describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bins<C> {
    /// Bin `k` is in cell `k mod length`. The length is a power of two.
    cells: Vec<C>,
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

/// The point of a bin. Halves are chosen down to 1 ns.
fn point(mut bin: i64, shift: u32) -> i64 {
    for level in (1..=shift).rev() {
        bin = bin * 2 + upper_half(bin, level);
    }
    bin
}

impl<C: Cell> Bins<C> {
    /// Makes `length` bins, rounded up to a power of two of at least 16.
    pub fn new(length: usize) -> Self {
        Bins {
            cells: vec![C::default(); length.next_power_of_two().max(16)],
            shift: 0,
            first: i64::MAX,
            last: i64::MIN,
        }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<C>()
    }

    /// The base-two logarithm of the width of a bin in nanoseconds.
    #[inline(always)]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The position of a bin's cell.
    #[inline(always)]
    pub fn slot(&self, bin: i64) -> usize {
        bin as usize & (self.cells.len() - 1)
    }

    /// Whether the bin is in use.
    #[inline(always)]
    pub fn holds(&self, bin: i64) -> bool {
        self.first <= bin && bin <= self.last
    }

    /// The cell at a position.
    #[inline(always)]
    pub fn at_slot(&mut self, slot: usize) -> &mut C {
        &mut self.cells[slot]
    }

    /// The cell of a bin in use.
    #[inline(always)]
    pub fn cell(&self, bin: i64) -> Option<&C> {
        if self.holds(bin) { self.cells.get(self.slot(bin)) } else { None }
    }

    /// The cell of a bin in use.
    #[inline(always)]
    pub fn cell_mut(&mut self, bin: i64) -> Option<&mut C> {
        let slot = self.slot(bin);
        if self.holds(bin) { self.cells.get_mut(slot) } else { None }
    }

    /// Whether a time is the point of its bin.
    pub fn is_point(&self, time: i64) -> bool {
        point(time >> self.shift, self.shift) == time
    }

    fn is_empty(&self) -> bool {
        self.first > self.last
    }

    /// Bins in use, in the order of time, each with its begin.
    pub fn cells(&self) -> impl Iterator<Item = (i64, &C)> {
        let range = self.first..=self.last;
        range.map(|bin| (bin << self.shift, &self.cells[self.slot(bin)]))
    }

    /// Brings `start..end` into the bins and widens them if need be. O(length) if it widens, else
    /// O(new bins).
    pub fn cover(&mut self, start: i64, end: i64) {
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
            self.cells[slot] = C::new(point(bin, self.shift));
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
                let mut cell = child(chosen).unwrap_or_else(|| C::new(point(chosen, self.shift)));
                if let Some(half) = child(other) {
                    cell.join(&half, other < chosen);
                }
                let slot = self.slot(bin);
                self.cells[slot] = cell;
            }
            (self.first, self.last) = (first >> 1, last >> 1);
        }
        self.shift += 1;
    }

    /// Adds other bins. The result has the fewer of the two.
    pub fn merge(&mut self, other: &Self) {
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
        // `cover` may widen these further still.
        self.cover(other.first << other.shift, ((other.last << other.shift) as i128 + 1) as i64);
        while other.shift < self.shift {
            other.widen();
        }
        for bin in other.first..=other.last {
            let theirs = other.cells[other.slot(bin)];
            let slot = self.slot(bin);
            self.cells[slot].add(&theirs);
        }
    }

    fn shrink(&mut self, length: usize) {
        if length == self.cells.len() {
            return;
        }
        while !self.is_empty() && self.last - self.first >= length as i64 {
            self.widen();
        }
        let mut small = vec![C::default(); length];
        if !self.is_empty() {
            for bin in self.first..=self.last {
                small[bin as usize & (length - 1)] = self.cells[self.slot(bin)];
            }
        }
        self.cells = small;
    }
}
