//! Run delay: a task that lost its CPU looks long, and others wait for it.

use crate::{
    evidence::Evidence,
    histogram::{BUCKETS, bucket, middle},
};

/// The share of the waiting for long tasks that is waiting for run delay inside them.
///
/// Only the sum of run delay is known. At most (`most`), all of it that fits lies in the tasks that
/// others wait for. At least (`least`), they have the part for which the shorter tasks have no
/// room, none of which can have lost more than its length beyond the median. They also have at
/// least their proportion of running time, because run delay takes all tasks alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delay {
    pub least: f64,
    pub most: f64,
}

impl Delay {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let lost = evidence.sums.preempted_in_tasks as f64;
        if lost == 0.0 {
            return Delay { least: 0.0, most: 0.0 };
        }
        let durations = &evidence.sums.sums.durations;
        let (from, typical) = (waited_for(evidence), durations.quantile(0.5));
        let of = |index: usize| f64::from(durations.counts()[index]);
        let long: f64 = (from..BUCKETS).map(|index| of(index) * middle(index) as f64).sum();
        let room: f64 = (0..from).map(|index| of(index) * middle(index).saturating_sub(typical) as f64).sum();
        let evenly = even_delay(evidence);
        let share = |lost: f64| if long > 0.0 { (lost / long).clamp(evenly, 1.0) } else { evenly };
        Delay { least: share(lost - room), most: share(lost) }
    }
}

/// Run delay as a share of all running time.
fn even_delay(evidence: &Evidence<'_>) -> f64 {
    let losses = &evidence.profile.losses;
    let all = losses.work + losses.dispatch + losses.preempted;
    if all > 0.0 { losses.preempted / all } else { 0.0 }
}

/// The bucket from which on tasks count as waited for: half of the mean of the longest tasks that
/// ran meanwhile.
pub(crate) fn waited_for(evidence: &Evidence<'_>) -> usize {
    bucket((evidence.longest_meanwhile() / 2.0) as u64)
}

/// Idle time by the bucket of the longest task that ran meanwhile. Waiting for run delay is taken
/// out.
pub(crate) struct Waiting {
    pub by_longest: Vec<f64>,
    /// The share that was taken out in all.
    pub delayed: f64,
}

impl Waiting {
    pub(crate) fn new(by_longest: &[f64], evidence: &Evidence<'_>, delayed: f64) -> Self {
        let (from, evenly) = (waited_for(evidence), even_delay(evidence));
        let kept =
            |(index, share): (usize, &f64)| share * (1.0 - if index < from { evenly } else { delayed });
        let kept: Vec<f64> = by_longest.iter().enumerate().map(kept).collect();
        Waiting { delayed: by_longest.iter().sum::<f64>() - kept.iter().sum::<f64>(), by_longest: kept }
    }
}
