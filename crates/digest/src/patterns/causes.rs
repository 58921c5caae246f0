//! Idle time by cause. The rules, with W workers:
//!
//! * **Dispatch** is what busy workers spend between tasks. Removing it shrinks every active stretch alike, so what it saves is
//!   dispatch over (work + dispatch), whatever else is idle.
//! * **Solo** idle time (one worker active) is a *serial* part if a crowd of tasks or a stage of its own ran meanwhile, a
//!   *straggler's* if the task that ran is one of a few long ones and overlapped with others at some point of its life.
//! * **Shared** idle time (two or more active) is *under-decomposition* where no more than the present number are ever active,
//!   or where a worker's wait is no longer than the tasks that run meanwhile: then moving whole tasks cannot help, only
//!   smaller ones can. Where waits are longer than tasks, tasks could have been moved: *load imbalance*.
//! * Where waits are short and the tasks that run alone are of the same kind as all others, the last one of a round is too
//!   coarse; solo idle time of workers that were given less is their *load imbalance*.
//! * A wait that few long tasks cause, where most are much shorter, is a *straggler's* and not under-decomposition.
//!
//! * **Run delay** inside tasks, where the source knows it, makes others wait as work does: that part of any wait is
//!   *preemption's* ([`Delay`]).
//! * On **one worker** nothing waits for anything; steps that hold up an event loop are its loss, and its own waits are not.
//!
//! Removing idle time with share s of *workers x window* saves s of the window: the same work, without the wait.

use taskscale_model::digest::PatternName;

use super::{Cause, WORTH};
use crate::{
    finish::Evidence,
    histogram::{BUCKETS, bucket, middle},
};

/// Steps of asyncio's event loop that last longer count as slow: the default of `loop.slow_callback_duration`.
const SLOW_STEP_NS: u64 = 100_000_000;

/// How much of the waiting for long tasks is waiting for run delay inside them, as a share of it.
///
/// Run delay is known in sum. It lies in the tasks that others wait for as far as it fits into them (`most`), or as far as the
/// shorter tasks, none of which can have lost more than its length beyond the median, have no room for it; but at least in
/// proportion to running time, as it takes all alike (`least`).
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

/// Run delay over all running time.
fn even_delay(evidence: &Evidence<'_>) -> f64 {
    let losses = &evidence.shape.losses;
    let all = losses.work + losses.dispatch + losses.preempted;
    if all > 0.0 { losses.preempted / all } else { 0.0 }
}

/// The bucket from which tasks count as those that others wait for: half of the mean of the longest that ran meanwhile.
fn waited_for(evidence: &Evidence<'_>) -> usize {
    bucket((longest_meanwhile(evidence) / 2.0) as u64)
}

/// All causes, in no order; each with a share of at least 0. `delayed` is the share of waiting for long tasks that is waiting
/// for run delay.
pub(crate) fn causes(evidence: &Evidence<'_>, delayed: f64) -> Vec<Cause> {
    let losses = &evidence.shape.losses;
    let active = losses.work + losses.dispatch;
    let gain = if active > 0.0 { losses.dispatch / active * (1.0 - losses.outside) } else { 0.0 };
    let mut causes = vec![Cause { name: PatternName::SchedulingOverhead, share: losses.dispatch, gain }];
    if let Some(parent_self) = evidence.parent_self {
        causes.push(idle(PatternName::RecursiveOverlap, parent_self));
    }
    let mut outside = idle(PatternName::OutsideRun, losses.outside);
    let mut preempted = losses.preempted;
    if evidence.shape.workers == 1 {
        let blocked = event_loop(evidence);
        if blocked.gain >= WORTH {
            // A loop that waits for events loses nothing by it.
            outside.gain = 0.0;
        }
        causes.push(blocked);
    } else {
        let solo = Waiting::new(&evidence.shape.solo_by_longest, evidence, delayed);
        let shared = Waiting::new(&evidence.shape.shared_by_longest, evidence, delayed);
        preempted += solo.delayed + shared.delayed;
        causes.extend(waits(evidence, &solo, &shared));
    }
    causes.push(outside);
    causes.push(idle(PatternName::Preempted, preempted));
    causes
}

/// Idle time by the bucket of the longest task that ran meanwhile, without what was waiting for run delay.
struct Waiting {
    by_longest: Vec<f64>,
    delayed: f64,
}

impl Waiting {
    fn new(by_longest: &[f64], evidence: &Evidence<'_>, delayed: f64) -> Self {
        let (from, evenly) = (waited_for(evidence), even_delay(evidence));
        let kept =
            |(index, share): (usize, &f64)| share * (1.0 - if index < from { evenly } else { delayed });
        let kept: Vec<f64> = by_longest.iter().enumerate().map(kept).collect();
        Waiting { delayed: by_longest.iter().sum::<f64>() - kept.iter().sum::<f64>(), by_longest: kept }
    }
}

fn idle(name: PatternName, share: f64) -> Cause {
    Cause { name, share, gain: share }
}

/// One worker: steps that are slow by asyncio's own measure while most are far from it.
fn event_loop(evidence: &Evidence<'_>) -> Cause {
    let durations = &evidence.sums.sums.durations;
    let slow = bucket(SLOW_STEP_NS) + 1;
    let typical = durations.quantile(0.5);
    let time: f64 =
        (slow..BUCKETS).map(|index| f64::from(durations.counts()[index]) * middle(index) as f64).sum();
    let share =
        if typical < SLOW_STEP_NS / 10 { (time / evidence.shape.window.max(1) as f64).min(1.0) } else { 0.0 };
    Cause { name: PatternName::EventLoopBlocked, share, gain: share }
}

/// Waits of two or more workers.
fn waits(evidence: &Evidence<'_>, solo: &Waiting, shared: &Waiting) -> Vec<Cause> {
    let shape = evidence.shape;
    let (mut serial, mut straggler, mut under, mut imbalance) = (0.0, 0.0, 0.0, 0.0);
    let few = few_long(evidence);
    let solo_long: f64 = tail_sum(&solo.by_longest, few);
    let shared_long: f64 = tail_sum(&shared.by_longest, few);
    // Time of the few long tasks, and how much of it alone.
    let (seen, alone) = few.map_or((0, 0), |few| {
        shape.points_by_longest[few..].iter().fold((0, 0), |sum, point| (sum.0 + point.0, sum.1 + point.1))
    });
    let stage_of_its_own = seen > 0 && ran_alone(evidence, few, seen, alone);
    if stage_of_its_own {
        serial += solo_long;
    } else {
        straggler += solo_long;
    }
    straggler += shared_long;

    let solo_rest = (solo.by_longest.iter().sum::<f64>() - solo_long).max(0.0);
    let shared_rest = (shared.by_longest.iter().sum::<f64>() - shared_long).max(0.0);
    let all_shared: f64 = shape.shared_by_longest.iter().sum();
    let scale = if all_shared > 0.0 { shared_rest / all_shared } else { 0.0 };
    let (narrow, wide) = (shape.narrow_idle * scale, shape.wide_idle * scale);
    under += narrow;
    let waits_are_short = wait_over_task(evidence) <= 1.5;
    let parallel = if waits_are_short { &mut under } else { &mut imbalance };
    *parallel += wide;
    // Workers that finish one after the other leave a last one alone for 2/W of all their idle time, if evenly spread.
    let expected_alone = 2.0 / shape.workers.max(2) as f64;
    let is_tail = solo_rest <= (1.0 + expected_alone) / 2.0 * (solo_rest + wide) && wide > 0.0;
    // Where never two ran at once, and waits are longer than tasks, nothing says that tasks could have been moved: a chain
    // is serial, whoever runs it.
    let can_move = shape.peak > 1 || waits_are_short;
    if waits_are_short && shape.peak > 1 && same_kind(evidence) {
        under += solo_rest;
    } else if is_tail || (can_move && was_given_less(evidence, solo_rest + wide)) {
        *(if waits_are_short { &mut under } else { &mut imbalance }) += solo_rest;
    } else {
        serial += solo_rest;
    }
    vec![
        idle(PatternName::SerialBottleneck, serial),
        idle(PatternName::StragglerTasks, straggler),
        idle(PatternName::UnderDecomposition, under),
        idle(PatternName::LoadImbalance, imbalance),
    ]
}

fn tail_sum(shares: &[f64], from: Option<usize>) -> f64 {
    from.map_or(0.0, |from| shares[from..].iter().sum())
}

/// Waits longer than dispatch: macro gaps of workers, and what lies before their first and after their last task.
fn wait_count(evidence: &Evidence<'_>) -> f64 {
    let gaps = evidence.sums.sums.gaps.count().saturating_sub(evidence.dispatch.count);
    gaps as f64 + evidence.shape.workers as f64
}

/// Mean wait over the mean duration, by time, of the longest tasks that ran meanwhile.
fn wait_over_task(evidence: &Evidence<'_>) -> f64 {
    let shape = evidence.shape;
    let losses = &shape.losses;
    let idle = losses.serial + losses.tail + losses.starvation;
    let wait = idle * shape.workers as f64 * shape.window as f64 / wait_count(evidence);
    let task = longest_meanwhile(evidence);
    if task > 0.0 { wait / task } else { 0.0 }
}

/// `1 - mean / max` of busy time.
fn busy_spread(evidence: &Evidence<'_>) -> f64 {
    let busy: Vec<f64> = evidence.sums.active().map(|(_, worker)| worker.busy as f64).collect();
    let most = busy.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { 1.0 - busy.iter().sum::<f64>() / evidence.shape.workers as f64 / most } else { 0.0 }
}

/// The bucket from which tasks are few and long: half of the mean of the longest tasks that ran while others waited, where
/// that is at least twice the 90th percentile of all shorter ones, and such tasks are at most one per worker and phase and
/// half of all. A phase is what a worker does between two waits.
fn few_long(evidence: &Evidence<'_>) -> Option<usize> {
    let durations = &evidence.sums.sums.durations;
    let total = durations.count();
    let from = waited_for(evidence);
    let half = (longest_meanwhile(evidence) / 2.0) as u64;
    let count: u64 = durations.counts().get(from..)?.iter().map(|count| u64::from(*count)).sum();
    let typical = durations.quantile(0.9 * (total - count.min(total)) as f64 / total.max(1) as f64);
    let phases = wait_count(evidence) / evidence.shape.workers as f64;
    let few = count > 0
        && half >= typical.saturating_mul(2)
        && count as f64 <= (evidence.shape.workers as f64 * phases).max(1.0)
        && count * 2 <= total;
    few.then_some(from)
}

/// Mean of the longest tasks that ran while workers waited, weighted by waiting.
fn longest_meanwhile(evidence: &Evidence<'_>) -> f64 {
    let shape = evidence.shape;
    let both: Vec<f64> = shape
        .solo_by_longest
        .iter()
        .zip(&shape.shared_by_longest)
        .map(|(solo, shared)| solo + shared)
        .collect();
    mean_bucket(&both)
}

/// Mean duration of a distribution over buckets; 0 where it is empty.
fn mean_bucket(shares: &[f64]) -> f64 {
    let weight: f64 = shares.iter().sum();
    let sum: f64 = shares.iter().enumerate().map(|(index, share)| share * middle(index) as f64).sum();
    if weight > 0.0 { sum / weight } else { 0.0 }
}

/// Whether the tasks that run alone are as long as tasks are on the whole, within a factor of two.
fn same_kind(evidence: &Evidence<'_>) -> bool {
    let mean = evidence.sums.sums.durations.mean();
    let alone = mean_bucket(&evidence.shape.solo_by_longest);
    alone <= 2.0 * mean && mean <= 2.0 * alone
}

/// Whether those that wait are the ones that were given less: busy time is spread as widely as waits are long, all began
/// together, and the tasks that ran alone are of the same kind as all others. Else a stage of its own ran.
fn was_given_less(evidence: &Evidence<'_>, waits: f64) -> bool {
    let shape = evidence.shape;
    let heads: f64 = evidence.sums.active().map(|(_, worker)| (worker.first - shape.start) as f64).sum();
    let heads = heads / (shape.workers as f64 * shape.window.max(1) as f64);
    let phases = (wait_count(evidence) / shape.workers as f64).max(1.0);
    same_kind(evidence) && heads * phases * 2.0 <= waits && busy_spread(evidence) * 1.5 >= waits
}

/// Whether the long tasks ran while nothing else did: a stage of its own. Two standard errors of the sample are allowed.
fn ran_alone(evidence: &Evidence<'_>, few: Option<usize>, seen: u64, alone: u64) -> bool {
    let overlap = (seen - alone) as f64 / seen as f64;
    let error = 1.0 / (seen as f64).sqrt();
    let last = evidence.sums.active().map(|(_, worker)| worker.last).max();
    let starts_alone = evidence
        .sums
        .sums
        .top
        .longest()
        .iter()
        .filter(|long| few.is_some_and(|few| bucket(long.duration) >= few))
        .all(|long| {
            // Only the last stretch of the run is known exactly: who had ended when it began.
            let ends_last = last == Some(long.start.saturating_add(long.duration as i64));
            !ends_last
                || evidence
                    .sums
                    .active()
                    .all(|(index, worker)| index == long.worker || worker.last <= long.start)
        });
    overlap <= error.min(0.1) && starts_alone
}
