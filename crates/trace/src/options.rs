//! The user's options for traces, and the origin of their times.

/// Tells about a trace what the trace does not say itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// Counts only events whose category holds this text. Also turns off the selection by the
    /// writer's own rule, which shows Ray's phases and Node's event loop.
    pub cat: Option<String>,
    /// Counts only events whose name holds this text.
    pub name: Option<String>,
    /// Sets the first time of each file to zero. It is meant for files whose clocks have nothing to
    /// do with each other. Without it all files of a [`Reader`](crate::Reader) share the origin of
    /// the first one.
    pub align: bool,
    /// Whether shapes of events are learned (faster, same result).
    pub learn_shapes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { cat: None, name: None, align: false, learn_shapes: true }
    }
}

/// Holds the origin of times: the first one seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    origin_ns: Option<i64>,
}

impl Clock {
    /// Returns the origin, once it is set.
    #[inline(always)]
    pub fn origin(&self) -> Option<i64> {
        self.origin_ns
    }

    /// Returns the first time seen, 0 where there was none.
    pub fn origin_ns(&self) -> i64 {
        self.origin_ns.unwrap_or(0)
    }

    /// Returns a time relative to the first one; `None` where the difference passes 64 bits.
    #[inline(always)]
    pub fn since_origin(&mut self, ns: i64) -> Option<i64> {
        ns.checked_sub(*self.origin_ns.get_or_insert(ns))
    }
}
