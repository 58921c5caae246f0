//! What a runtime does between two tasks while its worker does not wait.
//!
//! A gap in which nothing was told is the runtime's own, however long it is. One worker of tokio
//! takes 128 tasks at a time from the queue that other threads fill: 12 us once in 128 tasks, where
//! the others follow each other after 30 ns (32,768 tasks spawned at once, two CPUs of a shared
//! virtual machine).

use taskscale_model::digest::Losses;

use crate::{accumulator::Accumulator, calibrate::Dispatch};

/// The number of classes of lengths, one for each power of two.
const CLASSES: usize = 64;

/// Numbers and lengths of the gaps in which a worker waited, by powers of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldWaits([(u64, u64); CLASSES]);

impl Default for ToldWaits {
    fn default() -> Self {
        ToldWaits([(0, 0); CLASSES])
    }
}

impl ToldWaits {
    /// Adds a gap of `ns` nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let (count, sum) = &mut self.0[ns.max(1).ilog2() as usize];
        *count += 1;
        *sum = sum.saturating_add(ns);
    }

    pub fn merge(&mut self, other: &ToldWaits) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            mine.0 += others.0;
            mine.1 = mine.1.saturating_add(others.1);
        }
    }

    /// The number and the sum of gaps that are at least as long as `limit`, a power of two.
    fn from(&self, limit: u64) -> (u64, u64) {
        let above = &self.0[limit.max(1).ilog2() as usize..];
        above.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1.saturating_add(of.1)))
    }
}

/// Counts as dispatch what looks like time outside the run and is the runtime's, because no worker
/// waits meanwhile. What workers wait for a processor is not its own.
pub fn count_runtimes(
    sums: &Accumulator,
    workers: u64,
    window: u64,
    found: &mut Dispatch,
    losses: &mut Losses,
) {
    let Some(told) = sums.told_waits.as_deref().filter(|_| found.classes > 0) else { return };
    let (short, short_ns) = sums.sums.gaps.below(found.limit_ns);
    let (waits, waited_ns) = told.from(found.limit_ns);
    let count = (sums.sums.gaps.count() - short).saturating_sub(waits);
    let own =
        (sums.sums.gaps.sum() - short_ns).saturating_sub(waited_ns).saturating_sub(sums.preempted_in_gaps);
    let total = workers as f64 * window as f64;
    let moved = (own as f64).min(losses.outside * total);
    if moved > 0.0 {
        found.count += (count as f64 * moved / own as f64) as u64;
        found.sum_ns += moved as u64;

        losses.dispatch += moved / total;
        losses.outside = (losses.outside - moved / total).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use taskscale_model::span::Account;

    use super::*;
    use crate::accumulator::Config;

    /// 64 rounds of 128 tasks of 200 ns, 50 ns apart, with 12 us between rounds.
    fn rounds() -> Accumulator {
        let mut sums = Accumulator::new(Config::observer());
        let mut at = 0;
        for _ in 0..64 {
            for _ in 0..128 {
                sums.leaf(0, at, at + 200, b"step");
                at += 250;
            }
            at += 12_000;
        }
        sums
    }

    fn dispatch(sums: &Accumulator) -> (f64, f64) {
        let losses = sums.finish(&Account::default()).losses;
        (losses.dispatch, losses.outside)
    }

    #[test]
    fn what_a_worker_does_that_does_not_wait_is_the_runtimes() {
        let mut sums = rounds();
        let (untold, outside) = dispatch(&sums);
        assert!(outside > 0.25, "{outside}");
        sums.all_waits_are_told();
        let (dispatched, nothing) = dispatch(&sums);
        assert!((dispatched - untold - outside).abs() < 1e-9 && nothing < 1e-9, "{dispatched} {nothing}");
    }

    #[test]
    fn a_wait_that_was_told_is_no_dispatch() {
        let mut sums = rounds();
        let before = dispatch(&sums);
        (0..63).for_each(|_| sums.told_wait(12_050));
        let after = dispatch(&sums);
        assert!(
            (before.0 - after.0).abs() < 1e-9 && (before.1 - after.1).abs() < 1e-9,
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn waits_of_two_workers_add_up() {
        let (mut one, mut two) = (rounds(), Accumulator::new(Config::observer()));
        (0..40).for_each(|_| one.told_wait(12_050));
        (0..23).for_each(|_| two.told_wait(12_050));
        one.merge(&two);
        assert!((dispatch(&one).0 - dispatch(&rounds()).0).abs() < 1e-9);
    }

    #[test]
    fn a_wait_for_a_processor_is_not_the_runtimes() {
        let mut sums = rounds();
        sums.all_waits_are_told();
        sums.preempted(false, 63 * 12_050);
        let losses = sums.finish(&Account::default()).losses;
        assert!((losses.dispatch - dispatch(&rounds()).0).abs() < 1e-3, "{losses:?}");
    }
}
