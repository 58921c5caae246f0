//! The sizes at which a variant is asked. Code that is slow and right conforms: it is asked in
//! larger and larger sizes, as far as an answer can come in time.

use taskscale_model::{
    bytes,
    figure::{count, lasting},
    params::Params,
    protocol::{Variant, Workload},
};

use super::{Checker, SIZES};
use crate::{bytes::CHECKED, fault::Fault, invariants};

/// How many times as long as one iteration an answer may take: a size is asked for three iterations
/// too, on a machine that may be half as fast by then.
const SPARE: f64 = 6.0;

/// What a size is multiplied by where little is known of what the next one takes.
const CAREFUL: f64 = 1.5;

/// The exponent that costs are feared to have before two sizes tell, and what is added to theirs.
const FEARED: f64 = 2.0;
const MARGIN: f64 = 0.3;

/// The part of its time limit that an answer may take where times are compared: one of 32 times the
/// iterations is asked for as well.
const CLOCKS: f64 = 1.0 / 40.0;

/// The sizes for one workload. A task of some is long: a thousand requests to an interpreter with a
/// task at each of its 1,804 nodes take 8 s of asyncio.
pub(super) fn sizes_of(workload: &str) -> Vec<u64> {
    if workload == bytes::WORKLOAD {
        return CHECKED.to_vec();
    }
    let [one, few, many] = SIZES;
    let many = invariants::most_tasks(workload).map_or(many, |most| most.min(many));
    let mut sizes = vec![one, few, many];
    sizes.dedup();
    sizes
}

/// The largest of these sizes that a variant bears; its limit where that is less than all of them.
pub(super) fn largest(workload: &Workload, variant: &Variant) -> u64 {
    let limit = variant.max_size.unwrap_or(u64::MAX);
    let sizes = sizes_of(&workload.name);
    sizes.into_iter().filter(|size| *size <= limit).max().unwrap_or(limit)
}

/// What a variant answered: sizes in the order in which they were asked, with the wall ns of one
/// iteration.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub answered: Vec<(u64, f64)>,
    /// Whether every answer had the request's `id`.
    pub echoes: bool,
    /// The size that it is too slow for, with the seconds that it may take there.
    pub slow: Option<(u64, f64)>,
}

impl Asked {
    fn new() -> Self {
        Asked { echoes: true, ..Asked::default() }
    }

    /// The exponent by which the last two sizes differ. The first, a single task, costs what a call
    /// does.
    fn local(&self) -> Option<f64> {
        match &self.answered[..] {
            [_, .., (smaller, less), (larger, more)] if larger > smaller && *less > 0.0 => {
                let steps = (*larger as f64 / *smaller as f64).ln();
                Some(((more / less).ln() / steps).max(1.0))
            }
            _ => None,
        }
    }

    /// The exponent by which costs of larger sizes are feared to grow.
    fn exponent(&self) -> f64 {
        self.local().map_or(FEARED, |local| local + MARGIN)
    }

    /// The wall ns that one iteration at `size` takes, if cost grows by `exponent`.
    fn forecast_ns(&self, size: u64, exponent: f64) -> f64 {
        let Some((largest, ns)) = self.answered.last() else { return 0.0 };
        ns * (size as f64 / *largest as f64).max(1.0).powf(exponent)
    }

    /// Says that it is too slow for `size`.
    fn too_slow(&mut self, size: u64) {
        let ns = self.forecast_ns(size, self.local().unwrap_or(FEARED));
        self.slow = Some((size, ns / 1e9));
    }

    /// The size to ask next on the way to `size`; `None` where no larger one is answered in time.
    fn next(&self, size: u64, timeout_ns: u64, is_careful: bool) -> Option<u64> {
        let Some((largest, ns)) = self.answered.last() else { return Some(size) };
        let allowed_ns = timeout_ns as f64 / SPARE;
        let careful = ((*largest as f64 * CAREFUL).ceil() as u64).min(size);
        if self.forecast_ns(careful, self.exponent()) > allowed_ns {
            return None;
        }
        let within = *largest as f64 * (allowed_ns / ns.max(1.0)).powf(1.0 / self.exponent());
        let far = if is_careful { careful } else { (within as u64).min(size) };
        Some(far.max(careful))
    }

    /// What is said of a variant that is too slow for a size.
    pub fn said(&self) -> Option<String> {
        let (size, seconds) = self.slow?;
        let largest = self.answered.last().map_or(0, |(largest, _)| *largest);
        Some(format!(
            "slow: n={} takes {} by its growth; right up to n={}, and a longer --timeout checks further",
            count(size),
            lasting(seconds),
            count(largest)
        ))
    }

    /// The largest size at which times can be compared, where it is slow; the first if none can.
    pub fn for_clocks(&self, timeout_ns: u64) -> Option<u64> {
        self.slow?;
        let is_short = |(_, ns): &&(u64, f64)| *ns <= timeout_ns as f64 * CLOCKS;
        self.answered
            .iter()
            .filter(is_short)
            .map(|(size, _)| *size)
            .max()
            .or_else(|| Some(self.answered.first()?.0))
    }
}

impl Checker<'_> {
    /// Asks a variant in each of these sizes, or up to the largest that it answers in time.
    pub(super) fn sizes(
        &mut self,
        (workload, variant): (&Workload, &Variant),
        params: &Params,
        sizes: &[u64],
    ) -> Result<Asked, Fault> {
        let timeout_ns = self.timeout_ns;
        let mut asked = Asked::new();
        let is_bytes = workload.name == bytes::WORKLOAD && !self.other_work.contains(bytes::WORKLOAD);
        for &size in sizes {
            // Code that is feared to be too slow is not tried at once.
            let mut is_careful = false;
            loop {
                // A stream is asked for the lengths of the files that there are.
                let next = match is_bytes {
                    true => Some(size),
                    false => asked.next(size, timeout_ns, is_careful),
                };
                let Some(next) = next else {
                    asked.too_slow(size);
                    return Ok(asked);
                };
                let request = self.request(workload, variant, params, next);
                match self.answer(request) {
                    Ok((echoes, ns)) => {
                        asked.echoes &= echoes;
                        asked.answered.push((next, ns));
                    }
                    // Either it is stuck, or its cost grows by more than was feared.
                    Err(Fault::TimedOut { .. }) if !is_careful && !asked.answered.is_empty() && !is_bytes => {
                        self.probe = None;
                        is_careful = true;
                        continue;
                    }
                    Err(fault) => return Err(fault),
                }
                if next >= size {
                    break;
                }
            }
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn asked(answered: &[(u64, f64)]) -> Asked {
        Asked { answered: answered.to_vec(), ..Asked::new() }
    }

    #[test]
    fn what_is_quick_is_asked_at_once_and_what_is_slow_step_by_step() {
        assert_eq!(asked(&[]).next(1, SECOND_NS, false), Some(1));
        assert_eq!(asked(&[(1, 1e3), (7, 5e3)]).next(1_000, 20 * SECOND_NS, false), Some(1_000));
        assert_eq!(asked(&[(1, 1e3), (7, 5e3)]).next(1_000, 20 * SECOND_NS, true), Some(11));
        // 56 ms at 7: it may be 3.3 s at 54, if it is quadratic.
        assert_eq!(asked(&[(1, 8e6), (7, 56e6)]).next(1_000, 20 * SECOND_NS, false), Some(54));
        // Five seconds at 76 are too many already.
        let slow = asked(&[(1, 1e6), (7, 56e6), (76, 5e9)]);
        assert_eq!(slow.next(1_000, 20 * SECOND_NS, false), None);
    }

    #[test]
    fn a_slow_variant_is_told_with_its_forecast_and_compared_where_it_is_quick() {
        // Quadratic: a second at 100.
        let mut slow = asked(&[(1, 1e5), (10, 1e7), (100, 1e9)]);
        assert_eq!((slow.said(), slow.for_clocks(20 * SECOND_NS)), (None, None));
        slow.too_slow(1_000);
        let words = "slow: n=1,000 takes about 100 s by its growth; right up to n=100, and a longer --timeout \
                     checks further";
        assert_eq!(slow.said().as_deref(), Some(words));
        assert_eq!(slow.for_clocks(20 * SECOND_NS), Some(10));
    }
}
