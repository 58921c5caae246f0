//! How long tasks waited for their first step.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use taskscale_digest::histogram::{BUCKETS, bucket, middle};

/// A histogram that is added to without a lock. Whoever adds holds the GIL, so no count is lost.
#[derive(Debug)]
pub struct Delays {
    counts: [AtomicU32; BUCKETS],
    max: AtomicU64,
}

/// Quantiles of delays in nanoseconds. Each is within 12.5 %; the maximum is exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The number of delays.
    pub count: u64,
    pub p50: u64,
    pub p99: u64,
    /// The longest delay.
    pub max: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Delays { counts: std::array::from_fn(|_| AtomicU32::new(0)), max: AtomicU64::new(0) }
    }
}

impl Delays {
    /// Counts a delay in nanoseconds. This takes about 3 ns.
    #[inline]
    pub fn add(&self, ns: u64) {
        let count = &self.counts[bucket(ns)];
        count.store(count.load(Relaxed).saturating_add(1), Relaxed);
        if ns > self.max.load(Relaxed) {
            self.max.store(ns, Relaxed);
        }
    }

    pub fn clear(&self) {
        self.counts.iter().for_each(|count| count.store(0, Relaxed));
        self.max.store(0, Relaxed);
    }

    /// The quantiles of the delays so far.
    pub fn quantiles(&self) -> Quantiles {
        let counts: Vec<u64> = self.counts.iter().map(|count| u64::from(count.load(Relaxed))).collect();
        let (count, max) = (counts.iter().sum::<u64>(), self.max.load(Relaxed));
        let quantile = |per_cent: u64| {
            let rank = (count * per_cent).div_ceil(100).max(1);
            let mut below = 0;
            let at = counts.iter().position(|count| {
                below += count;
                below >= rank
            });
            at.map_or(0, |at| middle(at).min(max))
        };
        Quantiles { count, p50: quantile(50), p99: quantile(99), max }
    }
}
