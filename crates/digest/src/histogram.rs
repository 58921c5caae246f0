//! A histogram of nanoseconds in fixed memory: octaves of log2, each in four linear buckets.

use taskscale_model::digest::TimeClass;

/// The number of buckets: one each for 0 to 3 ns, then four for each of the 62 octaves up to 2^64.
pub const BUCKETS: usize = 252;
pub(crate) const OCTAVES: usize = 64;

/// Counts and sums of non-negative durations. It takes 1.5 KB, and adding a value costs about 2 ns.
///
/// A bucket is 14 to 25 % as wide as its lower edge, so its middle is within 12.5 % of every value
/// in it. Sums, by octave and overall, are exact. A bucket saturates at 2^32 - 1 counts; the total
/// does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: [u32; BUCKETS],
    sums: [u64; OCTAVES],
    count: u64,
    min: u64,
    max: u64,
}

/// The bucket of a value.
#[inline]
pub fn bucket(value: u64) -> usize {
    if value < 4 {
        return value as usize;
    }
    let top = 63 - value.leading_zeros() as usize;
    let next_two = (value >> (top - 2)) as usize & 3;
    (top - 1) * 4 + next_two
}

/// The smallest value of a bucket.
pub fn lower_edge(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let top = bucket / 4 + 1;
    (4 + bucket as u64 % 4) << (top - 2)
}

/// The middle of a bucket, which stands for its values.
pub fn middle(bucket: usize) -> u64 {
    let low = lower_edge(bucket);
    if bucket + 1 >= BUCKETS {
        return low + (u64::MAX - low) / 2;
    }
    low + (lower_edge(bucket + 1) - low) / 2
}

#[inline]
fn octave(value: u64) -> usize {
    63 - (value | 1).leading_zeros() as usize
}

/// The buckets of an octave.
pub(crate) fn of_octave(octave: usize) -> std::ops::Range<usize> {
    if octave < 2 { octave * 2..octave * 2 + 2 } else { (octave - 1) * 4..(octave * 4).min(BUCKETS) }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [0; BUCKETS], sums: [0; OCTAVES], count: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let slot = &mut self.counts[bucket(value)];
        *slot = slot.saturating_add(1);
        let sum = &mut self.sums[octave(value)];
        *sum = sum.saturating_add(value);
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts a value `times` times.
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.add_sum(times, value.saturating_mul(times));
    }

    /// Counts `times` values that are about equal and add up to `sum`.
    pub fn add_sum(&mut self, times: u64, sum: u64) {
        let Some(value) = sum.checked_div(times) else { return };
        let slot = &mut self.counts[bucket(value)];
        *slot = slot.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
        let slot = &mut self.sums[octave(value)];
        *slot = slot.saturating_add(sum);
        self.count += times;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds what another histogram counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all values, exact up to 2^64 ns (584 years).
    pub fn sum(&self) -> u64 {
        self.sums.iter().fold(0, |sum: u64, octave| sum.saturating_add(*octave))
    }

    /// The smallest value; 0 if there is none.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The largest value; 0 if there is none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The arithmetic mean; 0 if there is no value.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum() as f64 / self.count as f64 }
    }

    /// The value below which `q` of all values lie, within 12.5 %. It is the nearest rank, between
    /// minimum and maximum.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = (q * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0u64;
        for (index, count) in self.counts.iter().enumerate() {
            below += u64::from(*count);
            if below >= rank {
                return middle(index).clamp(self.min(), self.max);
            }
        }
        self.max
    }

    /// The count and the sum of the values below `edge`. They are exact because `edge` must be a
    /// power of two.
    pub fn below(&self, edge: u64) -> (u64, u64) {
        debug_assert!(edge.is_power_of_two());
        let count = self.counts[..bucket(edge)].iter().map(|count| u64::from(*count)).sum();
        (count, self.sums[..octave(edge)].iter().fold(0, |sum: u64, octave| sum.saturating_add(*octave)))
    }

    /// The count of the values from a bucket on.
    pub fn count_from(&self, from: usize) -> u64 {
        self.counts.iter().skip(from).map(|count| u64::from(*count)).sum()
    }

    /// Counts and sums by powers of two, from the first one that has a value to the last.
    pub fn classes(&self) -> Vec<TimeClass> {
        let all = (0..OCTAVES).map(|octave| {
            let from_ns = if octave == 0 { 0 } else { 1 << octave };
            let to_ns = 1u64.checked_shl(octave as u32 + 1).unwrap_or(u64::MAX);
            let count = self.counts[of_octave(octave)].iter().map(|count| u64::from(*count)).sum();
            TimeClass { from_ns, to_ns, count, total_ns: self.sums[octave] }
        });
        let mut classes: Vec<TimeClass> = all.skip_while(|class| class.count == 0).collect();
        while classes.last().is_some_and(|class| class.count == 0) {
            classes.pop();
        }
        classes
    }

    pub fn counts(&self) -> &[u32; BUCKETS] {
        &self.counts
    }

    /// The sums of the values of each power of two.
    pub fn sums(&self) -> &[u64; OCTAVES] {
        &self.sums
    }

    /// The sum of squares, within 2 %. Each value is taken as the middle of its bucket, scaled to
    /// the exact sum of its octave.
    pub fn sum_of_squares(&self) -> f64 {
        let mut total = 0.0;
        for (index, octave_sum) in self.sums.iter().enumerate() {
            let (mut sum, mut squares) = (0.0, 0.0);
            for slot in of_octave(index) {
                let (value, count) = (middle(slot) as f64, f64::from(self.counts[slot]));
                sum += value * count;
                squares += value * value * count;
            }
            if sum > 0.0 {
                let scale = *octave_sum as f64 / sum;
                total += squares * scale * scale;
            }
        }
        total
    }
}

/// Counts the values of a batch. Their number, the smallest and the largest are written at its end.
#[derive(Debug)]
pub struct Tally {
    min: u64,
    max: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { min: u64::MAX, max: 0 }
    }
}

impl Tally {
    /// Counts one value below 2^50.
    #[inline(always)]
    pub fn add(&mut self, histogram: &mut Histogram, value: u64) {
        self.add_many(histogram, value, 1);
    }

    /// Counts a value below 2^50 `times` times.
    #[inline(always)]
    pub fn add_many(&mut self, histogram: &mut Histogram, value: u64, times: u64) {
        debug_assert!(value < 1 << 50, "exact as a float");
        // The exponent of a float is the octave, and with two bits of its fraction the bucket.
        // `bucket` searches for the top bit, which is a slow instruction in code for old
        // processors.
        let (bucket, octave) = if value < 4 {
            (value as usize, usize::from(value > 1))
        } else {
            let bits = (value as i64 as f64).to_bits() as usize;
            ((bits >> 50) - 4 * 1_024, (bits >> 52) - 1_023)
        };
        let (count, sum) = (&mut histogram.counts[bucket], &mut histogram.sums[octave]);
        *count = count.saturating_add(times as u32);
        *sum = sum.wrapping_add(value * times);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Ends a batch of `values` values.
    pub fn close(self, histogram: &mut Histogram, values: u64) {
        histogram.count += values;
        histogram.min = histogram.min.min(self.min);
        histogram.max = histogram.max.max(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_line() {
        for index in 0..BUCKETS {
            assert_eq!(bucket(lower_edge(index)), index);
            if index + 1 < BUCKETS {
                assert_eq!(bucket(lower_edge(index + 1) - 1), index);
                assert!(lower_edge(index + 1) - lower_edge(index) <= (lower_edge(index) / 4).max(1));
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn sums_below_a_power_of_two_are_exact() {
        let mut histogram = Histogram::default();
        for value in [0, 1, 2, 3, 4, 7, 8, 1023, 1024, 5000] {
            histogram.add(value);
        }
        assert_eq!(histogram.below(1), (1, 0));
        assert_eq!(histogram.below(2), (2, 1));
        assert_eq!(histogram.below(4), (4, 6));
        assert_eq!(histogram.below(8), (6, 17));
        assert_eq!(histogram.below(1024), (8, 1048));
        assert_eq!((histogram.count(), histogram.sum()), (10, 7072));
    }

    #[test]
    fn classes_are_powers_of_two_and_hold_every_value() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.classes(), []);
        for value in [0, 1, 2, 3, 4, 7, 8, 1023, 1024, 5000] {
            histogram.add(value);
        }
        let classes = histogram.classes();
        assert_eq!(
            (classes[0].from_ns, classes[0].to_ns, classes[0].count, classes[0].total_ns),
            (0, 2, 2, 1)
        );
        assert_eq!((classes[9].from_ns, classes[9].count, classes[9].total_ns), (512, 1, 1023));
        assert_eq!(classes[5].count, 0, "between others");
        let last = classes[classes.len() - 1];
        assert_eq!((last.from_ns, last.to_ns), (4096, 8192));
        assert_eq!(classes.iter().map(|class| class.count).sum::<u64>(), histogram.count());
        assert_eq!(classes.iter().map(|class| class.total_ns).sum::<u64>(), histogram.sum());
        histogram.add(u64::MAX);
        assert_eq!(
            histogram.classes().last().map(|class| (class.from_ns, class.to_ns)),
            Some((1 << 63, u64::MAX))
        );
    }
}
