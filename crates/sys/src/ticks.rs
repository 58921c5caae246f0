//! The cheapest clock: the processor's time-stamp counter where it can be trusted, the monotonic
//! clock elsewhere.
//!
//! A reading of the counter takes 9 ns alone, and 1 to 2 ns where the processor has other work to
//! overlap it with. A reading of the monotonic clock takes 22 ns in either case (measured on the
//! machine of docs/evidence).

#![allow(unsafe_code)]

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::clock::monotonic_ns;

/// The clock that ticks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The time-stamp counter of x86-64: invariant, and the clock that the kernel itself uses.
    Counter,
    /// Nanoseconds of the monotonic clock.
    Monotonic,
}

static COUNTER: AtomicBool = AtomicBool::new(false);

/// Returns where ticks come from on this machine. It is decided once, at the first call.
///
/// The counter is taken where it is invariant (`constant_tsc` and `nonstop_tsc`) and the kernel's
/// clock source is `tsc`. A kernel that has found the counters of two cores apart uses another
/// source.
pub fn source() -> Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    *SOURCE.get_or_init(|| {
        let counter = counter_is_trusted();
        COUNTER.store(counter, Relaxed);
        if counter { Source::Counter } else { Source::Monotonic }
    })
}

// Miri has no such counter.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
fn counter_is_trusted() -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or("");
    let has = |flag| flags.split_whitespace().any(|word| word == flag);
    has("constant_tsc")
        && has("nonstop_tsc")
        && read("/sys/devices/system/clocksource/clocksource0/current_clocksource").trim() == "tsc"
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
fn counter_is_trusted() -> bool {
    false
}

/// Reads the ticks. Only differences mean something, and only with [`Rate`]. Before the first call
/// of [`source`], and of anything that calls it, these are ticks of the monotonic clock.
#[inline]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if COUNTER.load(Relaxed) {
        // SAFETY: every x86-64 processor has the instruction; no memory is touched.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    monotonic_ns()
}

/// Converts ticks to nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Nanoseconds of 2^32 ticks.
    ns_per_4g: u64,
}

impl Rate {
    /// Returns the rate of this machine. The first call measures for 2 ms, to some 25 parts in a
    /// million.
    pub fn of_machine() -> Self {
        static RATE: OnceLock<Rate> = OnceLock::new();
        *RATE.get_or_init(|| match source() {
            Source::Monotonic => Rate { ns_per_4g: 1 << 32 },
            Source::Counter => {
                let begin = Anchor::now();
                while monotonic_ns() < begin.ns + 2_000_000 {
                    std::hint::spin_loop();
                }
                Rate::between(begin, Anchor::now()).unwrap_or(Rate { ns_per_4g: 1 << 32 })
            }
        })
    }

    /// Returns the rate between two readings of both clocks; `None` where no time has passed.
    pub fn between(begin: Anchor, end: Anchor) -> Option<Self> {
        let (ns, ticks) = (end.ns.checked_sub(begin.ns)?, end.ticks.checked_sub(begin.ticks)?);
        let ns_per_4g = (u128::from(ns) << 32).checked_div(u128::from(ticks))?;
        Some(Rate { ns_per_4g: u64::try_from(ns_per_4g).ok().filter(|rate| *rate > 0)? })
    }

    /// Makes the rate at which 2^32 ticks take so many nanoseconds, at least one. 2^32 makes a
    /// clock of nanoseconds.
    pub const fn of_ns_per_4g(ns_per_4g: u64) -> Self {
        Rate { ns_per_4g: if ns_per_4g == 0 { 1 } else { ns_per_4g } }
    }

    /// Returns the nanoseconds of 2^32 ticks.
    pub fn ns_per_4g(self) -> u64 {
        self.ns_per_4g
    }

    /// Returns the nanoseconds of so many ticks.
    #[inline]
    pub fn ns(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_4g)) >> 32) as u64
    }

    /// Returns the ticks of so many nanoseconds.
    pub fn ticks(self, ns: u64) -> u64 {
        ((u128::from(ns) << 32) / u128::from(self.ns_per_4g)) as u64
    }

    /// Returns by which part this rate differs from another.
    pub fn differs(self, other: Rate) -> f64 {
        (self.ns_per_4g as f64 / other.ns_per_4g as f64 - 1.0).abs()
    }
}

/// Both clocks, read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Nanoseconds of the monotonic clock.
    pub ns: u64,
    pub ticks: u64,
}

impl Anchor {
    pub fn now() -> Self {
        Anchor { ns: monotonic_ns(), ticks: now() }
    }
}

/// Returns how many ticks a reading takes among readings only: this much of it is in what was
/// timed. It is measured once, as the median of a thousand.
pub fn reading_ticks() -> u64 {
    static READING: OnceLock<u64> = OnceLock::new();
    *READING.get_or_init(|| {
        source();
        let readings: Vec<u64> = (0..1_001).map(|_| now()).collect();
        let mut steps: Vec<u64> = readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        steps.sort_unstable();
        steps[steps.len() / 2]
    })
}

/// Returns the step of the clock in nanoseconds, at least 1. No duration can be finer.
///
/// The counter goes on by a few ticks at a time, far less than a reading takes: its step is the
/// greatest common divisor of a thousand differences. Nanoseconds of the monotonic clock are
/// rounded from a step that need not be whole, so that of these it is the smallest difference.
pub fn resolution_ns() -> u64 {
    let rate = Rate::of_machine();
    let readings: Vec<u64> = (0..1_000).map(|_| now()).collect();
    let steps = readings.windows(2).filter_map(|pair| pair[1].checked_sub(pair[0])).filter(|step| *step > 0);
    rate.ns(step(steps, source()).unwrap_or(1)).max(1)
}

/// The step behind differences that are not 0, in ticks; `None` if there are none.
fn step(differences: impl Iterator<Item = u64>, source: Source) -> Option<u64> {
    differences.reduce(match source {
        Source::Counter => common_divisor,
        Source::Monotonic => u64::min,
    })
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_nanoseconds_at_their_rate() {
        let anchor = |ns, ticks| Anchor { ns, ticks };
        let rate = Rate::between(anchor(1_000, 50), anchor(2_000, 2_646)).expect("time has passed");
        assert_eq!(rate.ns(2_596_000), 999_999, "cut off, not rounded");
        assert_eq!(rate.ticks(1_000), 2_596);
        // Over fifty years nothing overflows, and the rate is kept to a part in 10^9.
        let exact = u128::from(u64::MAX / 4) * 1_000 / 2_596;
        assert!(exact.abs_diff(u128::from(rate.ns(u64::MAX / 4))) < exact / 1_000_000_000);
        assert_eq!(Rate::between(anchor(1, 1), anchor(1, 1)), None);
        assert_eq!(Rate::between(anchor(1, 1), anchor(0, 5)), None);
        assert!(rate.differs(rate) == 0.0);
    }

    #[test]
    fn a_counter_is_finer_than_its_reading() {
        // A counter of 2.1 GHz that goes on by two ticks, read every 16 to 22 ns.
        assert_eq!(step([34, 48, 36, 46].into_iter(), Source::Counter), Some(2));
        assert_eq!(step([26, 52, 78].into_iter(), Source::Counter), Some(26));
        // A clock of 24 MHz, as ARM has it: 41.67 ns cut off to whole ones.
        assert_eq!(step([41, 42, 83, 125].into_iter(), Source::Monotonic), Some(41));
        assert_eq!(step(std::iter::empty(), Source::Counter), None);
    }

    #[test]
    fn the_clock_of_this_machine_goes_on() {
        source();
        let (begin, rate) = (Anchor::now(), Rate::of_machine());
        while now() == begin.ticks {}
        assert!(rate.ns(now() - begin.ticks) > 0 || source() == Source::Counter);
        assert!(resolution_ns() > 0);
        assert!(rate.ns(reading_ticks()) < 10_000);
    }
}
