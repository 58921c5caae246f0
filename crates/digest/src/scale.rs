//! From the ticks of a clock to nanoseconds, without losing the parts of one.

/// Ticks below which a product with a scale fits into 64 bits, for any clock of at least 16 MHz.
pub(crate) const SHORT: u64 = 1 << 28;

/// A clock's ticks as nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// The tick that is time 0.
    pub origin: u64,
    /// Nanoseconds of 2^32 ticks.
    pub ns_per_4g: u64,
}

impl Scale {
    /// The time of a tick.
    #[inline]
    pub fn ns(self, tick: u64) -> i64 {
        let ticks = tick as i128 - self.origin as i128;
        ((ticks * i128::from(self.ns_per_4g)) >> 32).clamp(i64::MIN as i128, i64::MAX as i128) as i64
    }

    /// Nanoseconds of so many ticks.
    #[inline]
    pub fn length(self, ticks: f64) -> f64 {
        ticks * self.ns_per_4g as f64 / (1u64 << 32) as f64
    }

    /// Ticks of so many nanoseconds below 2^31, and no more than those.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        (ns.min(1 << 31) << 32) / self.ns_per_4g.max(1)
    }

    /// The first tick whose time is not before `ns`.
    pub(crate) fn tick(self, ns: i64) -> u64 {
        let ticks =
            ((i128::from(ns) << 32) + i128::from(self.ns_per_4g) - 1) / i128::from(self.ns_per_4g.max(1));
        (ticks + self.origin as i128).clamp(0, u64::MAX as i128) as u64
    }

    /// The part of a nanosecond by which a tick is behind its [time](Scale::ns).
    pub(crate) fn rest(self, tick: u64) -> Rest {
        // The low half of the product is the same in 64 bits as in 128, and for ticks before the
        // origin.
        Rest(tick.wrapping_sub(self.origin).wrapping_mul(self.ns_per_4g) & REST)
    }

    /// Nanoseconds from one tick to another, fewer than [`SHORT`] ticks later: the difference of
    /// their times. `rest` is that of the first and becomes that of the second.
    #[inline(always)]
    pub(crate) fn short(self, ticks: u64, rest: &mut Rest) -> u64 {
        let exact = ticks * self.ns_per_4g + rest.0;
        rest.0 = exact & REST;
        exact >> 32
    }
}

/// A part of a nanosecond, in 2^-32. Each length begins with what the one before left over: cut off
/// for good, it made gaps of 30 ns 29.03 ns long on average at 2.4005 ticks a nanosecond.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rest(u64);

/// The bits of a [`Rest`].
const REST: u64 = u32::MAX as u64;
