//! The user's options for traces, and the origin of their times.

use taskscale_model::span::FARTHEST_NS;

/// Tells about a trace what the trace does not say itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// Counts only events whose category holds this text. Also turns off the selection by the
    /// writer's own rule, which shows Ray's phases and Node's event loop.
    pub cat: Option<String>,
    /// Counts only events whose name holds this text.
    pub name: Option<String>,
    /// The unit of the times of Chrome trace events, where it is not microseconds. Other formats
    /// have the unit of their one writer.
    pub unit: Option<Unit>,
    /// Sets the first time of each file to zero. It is meant for files whose clocks have nothing to
    /// do with each other. Without it times are those of the files.
    pub align: bool,
    /// Whether shapes of events are learned (faster, same result).
    pub learn_shapes: bool,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    Ns,
    #[default]
    Us,
    Ms,
    S,
}

impl Unit {
    /// Decimal places from a microsecond to it.
    pub fn places(self) -> i32 {
        match self {
            Unit::Ns => -3,
            Unit::Us => 0,
            Unit::Ms => 3,
            Unit::S => 6,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { cat: None, name: None, unit: None, align: false, learn_shapes: true }
    }
}

/// Holds the origin of times: the source's own, or the first time seen.
///
/// With the source's own origin, a digest does not depend on which event comes first.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin_ns: Option<i64>,
    first_ns: Option<i64>,
}

impl Clock {
    /// Makes a clock that keeps the source's times.
    pub fn of_source() -> Self {
        Clock { origin_ns: Some(0), first_ns: None }
    }

    /// Makes a clock that counts from the first time seen.
    pub fn of_first() -> Self {
        Clock { origin_ns: None, first_ns: None }
    }

    /// Returns the origin, once it is set.
    #[inline(always)]
    pub fn origin(&self) -> Option<i64> {
        self.origin_ns
    }

    /// Returns the first time seen, on the source's clock; 0 where there was none.
    pub fn first_ns(&self) -> i64 {
        self.first_ns.unwrap_or(0)
    }

    /// Returns a time relative to the origin; `None` where it is too far from it to be counted.
    #[inline(always)]
    pub fn since_origin(&mut self, ns: i64) -> Option<i64> {
        self.first_ns.get_or_insert(ns);
        ns.checked_sub(*self.origin_ns.get_or_insert(ns)).filter(|&ns| is_near(ns))
    }
}

/// Tells whether a time since the origin is one that digests take.
#[inline(always)]
pub fn is_near(ns: i64) -> bool {
    (-FARTHEST_NS..=FARTHEST_NS).contains(&ns)
}

/// Returns the end of a span; `None` where digests do not take it.
#[inline(always)]
pub fn end_of(start_ns: i64, duration_ns: i64) -> Option<i64> {
    start_ns.checked_add(duration_ns).filter(|&ns| is_near(ns))
}
