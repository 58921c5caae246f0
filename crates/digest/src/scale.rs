//! Converts the ticks of a clock to nanoseconds without losing fractions.

/// Fewer ticks than this, times a scale, fit into 64 bits for any clock of more than 62.5 MHz.
pub(crate) const SHORT: u64 = 1 << 28;

/// The scale by which a clock's ticks become nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// The tick at time 0.
    pub origin: u64,
    /// Nanoseconds in 2^32 ticks.
    pub ns_per_4g: u64,
}

impl Scale {
    /// The time of a tick, in nanoseconds.
    #[inline]
    pub fn ns(self, tick: u64) -> i64 {
        let ticks = tick as i128 - self.origin as i128;
        ((ticks * i128::from(self.ns_per_4g)) >> 32).clamp(i64::MIN as i128, i64::MAX as i128) as i64
    }

    /// The nanoseconds of `ticks` ticks.
    #[inline]
    pub fn length(self, ticks: f64) -> f64 {
        ticks * self.ns_per_4g as f64 / (1u64 << 32) as f64
    }

    /// The ticks of `ns` nanoseconds below 2^31, rounded down.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        (ns.min(1 << 31) << 32) / self.ns_per_4g.max(1)
    }

    /// The first tick whose time is not before `ns`.
    pub(crate) fn tick(self, ns: i64) -> u64 {
        let ticks =
            ((i128::from(ns) << 32) + i128::from(self.ns_per_4g) - 1) / i128::from(self.ns_per_4g.max(1));
        (ticks + self.origin as i128).clamp(0, u64::MAX as i128) as u64
    }

    /// The fraction of a nanosecond by which a tick is behind its [time](Scale::ns).
    pub(crate) fn rest(self, tick: u64) -> Rest {
        // The low half of the product is the same in 64 bits as in 128, also for ticks before the
        // origin.
        Rest(tick.wrapping_sub(self.origin).wrapping_mul(self.ns_per_4g) & REST)
    }

    /// The nanoseconds between two ticks that are fewer than [`SHORT`] apart: the difference of
    /// their times. `rest` is that of the first tick and becomes that of the second.
    #[inline(always)]
    pub(crate) fn short(self, ticks: u64, rest: &mut Rest) -> u64 {
        let exact = ticks * self.ns_per_4g + rest.0;
        rest.0 = exact & REST;
        exact >> 32
    }
}

/// A fraction of a nanosecond, in 2^-32. Each length begins with what the one before left over. If
/// fractions were cut off, gaps of 30 ns would be 29.03 ns long on average at 2.4005 ticks a
/// nanosecond.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rest(u64);

/// The bits of a [`Rest`].
const REST: u64 = u32::MAX as u64;
