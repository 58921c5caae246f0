//! What a load measured.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told from a longer one: ten minutes, above any time limit of a run.
const LONGEST_NS: u64 = 600_000_000_000;
/// Two digits: a bucket is 1 % wide, and a million latencies make some hundred of them.
const DIGITS: u8 = 2;

/// Times in nanoseconds and how often each came, ascending. Several can be added up.
pub type Buckets = Vec<(u64, u64)>;

/// What a load measured.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Requests that were answered rightly: all of them.
    pub answered: u64,
    /// From the first request to the last response.
    pub wall: Duration,
    /// From when a request was to start to its response. In a closed loop that is when it was sent.
    pub latency: Buckets,
    /// From when a request was sent to its response.
    pub from_send: Buckets,
    /// How late the client sent what no earlier request held up.
    pub late: Buckets,
    /// Requests that had no response when the last one was to start.
    pub waiting: u64,
}

/// A histogram of constant size.
pub(crate) struct Times(Histogram<u64>);

impl Times {
    pub fn new() -> Self {
        // The bounds are right by themselves, so the fallback is never used.
        Times(Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).unwrap_or_else(|_| empty()))
    }

    pub fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(LONGEST_NS);
        self.0.saturating_record(ns.max(1));
    }

    pub fn buckets(&self) -> Buckets {
        self.0.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
    }
}

#[allow(clippy::unwrap_used, reason = "two digits are among those that a histogram takes")]
fn empty() -> Histogram<u64> {
    Histogram::new(DIGITS).unwrap()
}
