//! What a diagnosis is made of.

use crate::{
    accumulator::Accumulator, calibrate::Dispatch, histogram::middle, profile::Profile,
    thresholds::Thresholds,
};

/// All that patterns are decided from.
pub(crate) struct Evidence<'a> {
    pub thresholds: &'a Thresholds,
    pub sums: &'a Accumulator,
    pub profile: &'a Profile,
    pub dispatch: &'a Dispatch,
    /// Whether gaps are known at all.
    pub ordered: bool,
    pub resolution_ns: u64,
    /// Share of which it is not known whether a task took it.
    pub unknown: f64,
    pub parent_self: Option<f64>,
}

impl Evidence<'_> {
    /// Mean of the longest tasks that ran while workers waited, weighted by waiting.
    pub fn longest_meanwhile(&self) -> f64 {
        let both: Vec<f64> = self
            .profile
            .solo_by_longest
            .iter()
            .zip(&self.profile.shared_by_longest)
            .map(|(solo, shared)| solo + shared)
            .collect();
        mean_bucket(&both)
    }
}

/// Mean duration of a distribution over buckets; 0 where it is empty.
pub(crate) fn mean_bucket(shares: &[f64]) -> f64 {
    let weight: f64 = shares.iter().sum();
    let sum: f64 = shares.iter().enumerate().map(|(index, share)| share * middle(index) as f64).sum();
    if weight > 0.0 { sum / weight } else { 0.0 }
}
