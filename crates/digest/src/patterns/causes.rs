//! Divides idle time among causes. The rules, with W workers:
//!
//! * **Dispatch** is what busy workers spend between tasks. Removing it shrinks every active
//!   stretch alike. It therefore saves dispatch over (work + dispatch), whatever else is idle.
//! * **Solo** idle time (one worker active) is a *serial* part if a crowd of tasks or a stage of
//!   its own ran meanwhile: one whose name never runs beside others is such a stage, however long
//!   its tasks are. It is a *straggler's* if the task that ran is one of a few long ones
//!   and overlapped with others at some point of its life.
//! * **Shared** idle time (two or more active) is *under-decomposition* where no more than the
//!   present number are ever active, or where a worker's wait is no longer than the tasks that run
//!   meanwhile. Moving whole tasks cannot help there; only smaller ones can. Where waits are longer
//!   than tasks, tasks could have been moved: *load imbalance*.
//! * Where waits are short and the tasks that run alone are of the same kind as all others, the
//!   last one of a round is too coarse. Solo idle time of workers that were given less is their
//!   *load imbalance*.
//! * A wait that few long tasks cause, where most are much shorter, is a *straggler's* and not
//!   under-decomposition.
//! * **Run delay** inside tasks, where the source knows it, makes others wait as work does. That
//!   part of any wait is *preemption's* ([`super::delay`]).
//! * **Blocked** time inside tasks, where their CPU time is known, is that of parents, which wait
//!   for their children (*recursive overlap*), or of tasks that wait for something else. Where that
//!   of parents is not known, those that take much longer than tasks may be waiting.
//! * **Ready times**, where they are known, tell whether a task waits while a worker is idle. If
//!   so, the runtime takes the time (*overhead*), something stops all workers (*outside*), or tasks
//!   wait for other workers than the idle ones (*imbalance*). If not, no queue is at fault.
//! * On **one worker** nothing waits for anything. Steps that hold up an event loop are its loss,
//!   and its own waits are not.
//!
//! Removing idle time with share s of *workers x window* saves s of the window: the work stays and
//! the wait goes.

use taskscale_model::digest::PatternName;

use super::{
    cause::{Cause, WORTH},
    delay::{Waiting, waited_for},
    stages::alone_by_name,
};
use crate::{
    calibrate::Dispatch,
    evidence::{Evidence, IdleWhile, mean_bucket},
    histogram::{BUCKETS, bucket, middle},
    releases::Released,
};

/// Steps of asyncio's event loop that last longer are slow. This is the default of
/// `loop.slow_callback_duration`.
pub(super) const SLOW_STEP_NS: u64 = 100_000_000;

/// A loop makes many steps. A single call that holds all others is none.
const FEWEST_STEPS: u64 = 16;

/// All causes in no order, each with a share of at least 0. `delayed` is the share of waiting for
/// long tasks that is waiting for run delay.
pub(crate) fn causes(evidence: &Evidence<'_>, delayed: f64) -> Vec<Cause> {
    let losses = &evidence.profile.losses;
    let handed_over_late = handed_over_late(evidence);
    let idle_time = losses.serial + losses.tail + losses.starvation;
    let (dispatch, elsewhere) = if handed_over_late {
        (losses.dispatch + idle_time + losses.outside, 0.0)
    } else {
        (losses.dispatch, losses.outside)
    };
    let runtimes = evidence.runtimes(dispatch);
    let active = losses.work + runtimes;
    let told = handed_over_late || !is_below_step(evidence);
    let gain = if active > 0.0 && told { runtimes / active * (1.0 - elsewhere) } else { 0.0 };
    let mut causes = vec![Cause { name: PatternName::SchedulingOverhead, share: dispatch, gain }];
    let by_lengths = || evidence.parent_self.filter(|_| parents_wait(evidence));
    let parents = evidence.blocked_parents().or_else(by_lengths);
    causes.extend(parents.map(|share| idle(PatternName::RecursiveOverlap, share)));
    causes.extend(evidence.blocked.map(|blocked| idle(PatternName::BlockedInTasks, blocked.leaves)));
    let mut outside = idle(PatternName::OutsideRun, elsewhere);
    let mut preempted = losses.preempted;
    if evidence.profile.workers == 1 {
        let blocked = event_loop(evidence);
        if blocked.gain >= WORTH {
            // A loop that waits for events loses nothing by it.
            outside.gain = 0.0;
        }
        causes.push(blocked);
    } else {
        let solo = Waiting::new(&evidence.profile.solo_by_longest, evidence, delayed);
        let shared = Waiting::new(&evidence.profile.shared_by_longest, evidence, delayed);
        preempted += solo.delayed + shared.delayed;
        if stopped(evidence) {
            outside = idle(PatternName::OutsideRun, elsewhere + idle_time);
        } else if !handed_over_late {
            causes.extend(waits(evidence, &solo, &shared));
        }
    }
    causes.push(outside);
    causes.push(idle(PatternName::Preempted, preempted));
    for cause in &mut causes {
        // More at once takes free CPUs. Less to schedule takes none.
        if cause.name != PatternName::SchedulingOverhead {
            cause.gain = cause.gain.min(evidence.cpus_free());
        }
    }
    causes
}

/// The busy time of the busiest worker over the mean, up to which none has more to do than others.
const BALANCED: f64 = 1.1;

/// Gaps of so many times the median are no hand-overs like the others.
const RARE: u64 = 10;

/// Whether ready times say that tasks wait for the runtime: they wait while workers are idle, all
/// workers do as much, and most of the time between tasks is in gaps of the usual length.
fn handed_over_late(evidence: &Evidence<'_>) -> bool {
    evidence.idle_while() == IdleWhile::TasksWait && is_balanced(evidence) && gaps_are_alike(evidence)
}

/// Whether ready times say that something stops all workers now and then: tasks wait meanwhile.
fn stopped(evidence: &Evidence<'_>) -> bool {
    evidence.idle_while() == IdleWhile::TasksWait && is_balanced(evidence) && !gaps_are_alike(evidence)
}

fn is_balanced(evidence: &Evidence<'_>) -> bool {
    let most = evidence.sums.active().map(|(_, worker)| worker.busy).max().unwrap_or(0);
    most as f64 * evidence.profile.workers as f64 <= BALANCED * evidence.sums.busy() as f64
}

fn gaps_are_alike(evidence: &Evidence<'_>) -> bool {
    let gaps = &evidence.sums.sums.gaps;
    let usual = gaps.quantile(0.5).max(1).saturating_mul(RARE).next_power_of_two();
    gaps.below(usual).1 >= gaps.sum() / 2
}

/// Whether hand-overs take less than two steps of the clock. One that cuts off makes spans shorter
/// and the gaps between them longer, by up to a step.
pub(super) fn is_below_step(evidence: &Evidence<'_>) -> bool {
    let Dispatch { cost_ns, count, sum_ns, .. } = *evidence.dispatch;
    cost_ns.is_some() && sum_ns < count.saturating_mul(2 * evidence.resolution_ns)
}

/// Waiting for a child that another worker runs takes as long as waking that worker, 3 to 50 us on
/// Taskflow (docs/experiments/taskflow-guide.md, question 42). What parents do for less, for each
/// of their children, is to make them, or work.
const LEAST_WAIT_NS: f64 = 5_000.0;

/// The time in parents outside their children, in nanoseconds for each child; 0 without any.
fn own_of_child(evidence: &Evidence<'_>) -> f64 {
    let (own, children) = evidence.sums.active().fold((0.0, 0.0), |(own, children), (_, worker)| {
        (own + worker.busy.saturating_sub(worker.leaf) as f64, children + worker.nested as f64)
    });
    if children > 0.0 { own / children } else { 0.0 }
}

/// Whether making children may be what parents take: hardly any could wait in the time.
pub(super) fn may_make_children(evidence: &Evidence<'_>) -> bool {
    let own = own_of_child(evidence);
    own > 0.0 && own < LEAST_WAIT_NS && evidence.parent_self.is_some_and(|share| share >= WORTH)
}

/// Whether parents may be waiting: they do something between their children for three times as
/// long as a task takes, for each child as long as a wait takes, and there is another worker on
/// which a child may run. What parents do for less is work of their own, as in any program of
/// nested calls.
fn parents_wait(evidence: &Evidence<'_>) -> bool {
    let of = |value: fn(&crate::worker::Worker) -> u64| {
        evidence.sums.active().map(|(_, worker)| value(worker) as f64).sum::<f64>()
    };
    let parents = of(|worker| worker.tasks - worker.leaves.min(worker.tasks));
    let own = of(|worker| worker.busy.saturating_sub(worker.leaf)) / parents.max(1.0);
    let leaf = of(|worker| worker.leaf) / of(|worker| worker.leaves).max(1.0);
    evidence.profile.workers > 1 && own >= 3.0 * leaf && own_of_child(evidence) >= LEAST_WAIT_NS
}

/// Whether every worker was given as many tasks as the others, as a division beforehand does, and
/// all ran together at first. A queue gives more tasks to those that get short ones.
pub(super) fn evenly_divided(evidence: &Evidence<'_>) -> bool {
    let profile = evidence.profile;
    let (least, most) = tasks_of_workers(evidence);
    let starts = evidence.sums.active().map(|(_, worker)| worker.first - profile.start).max().unwrap_or(0);
    least == most
        && profile.peak >= profile.workers
        && evidence.sums.active().count() as u64 == profile.workers
        && (starts as f64) < profile.window as f64 / 50.0
        && profile.losses.starvation < 0.1 * (profile.losses.tail + profile.losses.serial)
}

/// The fewest and the most tasks of a worker.
fn tasks_of_workers(evidence: &Evidence<'_>) -> (u64, u64) {
    (evidence.steps().min().unwrap_or(0), evidence.steps().max().unwrap_or(0))
}

/// Whether all workers were given as many tasks, within a twentieth.
pub(super) fn were_given_as_many(evidence: &Evidence<'_>) -> bool {
    let (least, most) = tasks_of_workers(evidence);
    least * 20 >= most * 19
}

/// Whether workers wait for tasks that come at times of their own: most of their waits lie between
/// two of their tasks, and end neither behind another's end nor all together. Whoever hands tasks
/// out is too slow, or they arrive from outside; spans alone do not tell which. Tasks that begin
/// when a clock says come as well.
fn tasks_come(evidence: &Evidence<'_>) -> bool {
    if evidence.ticks.is_some() {
        return true;
    }
    match evidence.releases.released() {
        Released::ByEnds => false,
        _ if one_never_waits(evidence) => false,
        Released::ByNothingSeen => {
            waits_between_tasks(evidence) >= 0.5 && evidence.releases.together(evidence.profile.workers) < 0.7
        }
        Released::Unclear => come_one_by_one(evidence),
    }
}

/// The share of the window from which on a worker is busy all along, and that up to which the
/// others hardly are.
const BUSY_ALL_ALONG: (f64, f64) = (0.9, 0.4);

/// Whether one worker has a task after the other while the rest hardly has any. It has work ready
/// at all times, however the few tasks of the others come.
pub(super) fn one_never_waits(evidence: &Evidence<'_>) -> bool {
    let window = evidence.profile.window as f64;
    let busy = || evidence.sums.active().map(|(_, worker)| worker.busy as f64 / window);
    let most = busy().fold(0.0, f64::max);
    let others = (busy().sum::<f64>() - most) / (evidence.profile.workers.max(2) - 1) as f64;
    most >= BUSY_ALL_ALONG.0 && others <= BUSY_ALL_ALONG.1
}

/// Whether tasks come one by one, where it was not seen what ends waits: there are many for each
/// worker, at least every sixth began after a wait, hardly ever were all active, and how many were
/// varied as it does where tasks come at times of their own.
fn come_one_by_one(evidence: &Evidence<'_>) -> bool {
    let profile = evidence.profile;
    let losses = &profile.losses;
    let idle = losses.serial + losses.tail + losses.starvation + losses.outside;
    waits_between_tasks(evidence) >= 0.6
        && evidence.sums.sums.durations.count() >= 16 * profile.workers
        && wait_count(evidence) * 6.0 >= evidence.sums.sums.durations.count() as f64
        && profile.all_active < 0.15
        && losses.tail < 0.15 * idle
        && profile.dispersion > 0.1
        && profile.dispersion < 1.3
}

/// Of the idle time of workers that ran, the share between two of their tasks.
pub(super) fn waits_between_tasks(evidence: &Evidence<'_>) -> f64 {
    let (start, window) = (evidence.profile.start, evidence.profile.window as f64);
    let between = evidence.paused_ns() as f64;
    let since_start = |time: i64| (time - start) as f64;
    let at_ends = evidence
        .sums
        .active()
        .map(|(_, worker)| since_start(worker.first) + window - since_start(worker.last))
        .sum::<f64>();
    if between > 0.0 { between / (between + at_ends) } else { 0.0 }
}

/// The worker that all others wait for, whoever else is active meanwhile. `None` where waits are
/// put down to something else.
pub(super) fn held_up_by(evidence: &Evidence<'_>) -> Option<u32> {
    let is_serial =
        evidence.idle_while() != IdleWhile::TasksWait && !tasks_come(evidence) && one_holds_up(evidence);
    let busiest = evidence.sums.active().max_by_key(|(_, worker)| (worker.busy, worker.tasks));
    busiest.filter(|_| is_serial && evidence.profile.workers > 1).map(|(index, _)| index)
}

/// Whether one worker holds up the others: the ends of its tasks, which are many, let them go on,
/// one after the other, and it works nearly all the time.
pub(super) fn one_holds_up(evidence: &Evidence<'_>) -> bool {
    let profile = evidence.profile;
    let busiest = evidence.sums.active().map(|(_, worker)| (worker.busy, worker.tasks)).max();
    let (busy, tasks) = busiest.unwrap_or_default();
    evidence.releases.released() == Released::ByEnds
        && evidence.releases.by_one >= 0.6
        && evidence.releases.together(profile.workers) < 0.4
        && busy as f64 >= 0.85 * profile.window as f64
        && tasks * 5 >= evidence.sums.sums.durations.count()
        && profile.all_active < 0.6
}

fn idle(name: PatternName, share: f64) -> Cause {
    Cause { name, share, gain: share }
}

/// Whether there are as many steps as a loop makes, of a source that may record a loop.
pub(super) fn may_be_a_loop(evidence: &Evidence<'_>) -> bool {
    evidence.may_hold_loops && evidence.steps().sum::<u64>() >= FEWEST_STEPS
}

/// The loss of one worker: steps that are slow by asyncio's own measure while most are far from it.
fn event_loop(evidence: &Evidence<'_>) -> Cause {
    let durations = &evidence.sums.sums.durations;
    let slow = bucket(SLOW_STEP_NS) + 1;
    let typical = durations.quantile(0.5);
    // The exact sums of the octaves, less the middles of the buckets of the first one that are too
    // short.
    let octave = SLOW_STEP_NS.next_power_of_two() / 2;
    let short: f64 =
        (bucket(octave)..slow).map(|index| f64::from(durations.counts()[index]) * middle(index) as f64).sum();
    let time = ((durations.sum() - durations.below(octave).1.min(durations.sum())) as f64 - short).max(0.0);
    let share = if typical < SLOW_STEP_NS / 10 && may_be_a_loop(evidence) {
        (time / evidence.profile.window.max(1) as f64).min(1.0)
    } else {
        0.0
    };
    Cause { name: PatternName::EventLoopBlocked, share, gain: share }
}

/// The causes of waits of two or more workers.
fn waits(evidence: &Evidence<'_>, solo: &Waiting, shared: &Waiting) -> Vec<Cause> {
    let profile = evidence.profile;
    let waited: f64 = solo.by_longest.iter().chain(&shared.by_longest).sum();
    if evidence.idle_while() == IdleWhile::TasksWait {
        return vec![idle(PatternName::LoadImbalance, waited)];
    }
    if tasks_come(evidence) {
        return vec![idle(PatternName::TooLittleReady, waited)];
    }
    if held_up_by(evidence).is_some() {
        return vec![idle(PatternName::SerialBottleneck, waited)];
    }
    let stages = alone_by_name(evidence);
    let few = few_long(evidence);
    let (solo_long, shared_long) = (tail_sum(&solo.by_longest, few), tail_sum(&shared.by_longest, few));
    // Where one of few long tasks is waited for, moving whole tasks is no help, however many each
    // worker was given.
    let of_many = solo_long + shared_long < 0.5 * waited;
    if evenly_divided(evidence) && stages < 0.5 && of_many {
        return vec![idle(PatternName::LoadImbalance, waited)];
    }
    let (mut serial, mut straggler, mut under, mut imbalance) = (0.0, 0.0, 0.0, 0.0);
    for (index, share) in solo.by_longest.iter().enumerate().skip(few.unwrap_or(BUCKETS)) {
        *(if ran_alone(evidence, index) { &mut serial } else { &mut straggler }) += share;
    }
    straggler += shared_long;

    let solo_rest = (solo.by_longest.iter().sum::<f64>() - solo_long).max(0.0);
    let of_stages = solo_rest * stages;
    serial += of_stages;
    let solo_rest = solo_rest - of_stages;
    let shared_rest = (shared.by_longest.iter().sum::<f64>() - shared_long).max(0.0);
    let all_shared: f64 = profile.shared_by_longest.iter().sum();
    let scale = if all_shared > 0.0 { shared_rest / all_shared } else { 0.0 };
    let (narrow, wide) = (profile.narrow_idle * scale, profile.wide_idle * scale);
    under += narrow;
    let waits_are_short = wait_over_task(evidence) <= evidence.thresholds.short_wait;
    let parallel = if waits_are_short { &mut under } else { &mut imbalance };
    *parallel += wide;
    // If workers finish one after the other at even distances, the last one is alone for 2/W of all
    // their idle time.
    let expected_alone = 2.0 / profile.workers.max(2) as f64;
    let is_tail = solo_rest <= (1.0 + expected_alone) / 2.0 * (solo_rest + wide) && wide > 0.0;
    // If two never ran at once and waits are longer than tasks, nothing says that tasks could have
    // been moved. A chain is serial, whoever runs it.
    let can_move = profile.peak > 1 || waits_are_short;
    if waits_are_short && profile.peak > 1 && same_kind(evidence) {
        under += solo_rest;
    } else if is_tail || (can_move && was_given_less(evidence, solo_rest + wide)) {
        *(if waits_are_short { &mut under } else { &mut imbalance }) += solo_rest;
    } else {
        serial += solo_rest;
    }
    if evidence.idle_while() == IdleWhile::NothingWaits
        || (evidence.releases.released() == Released::ByEnds
            && evidence.releases.together(profile.workers) < 0.4)
    {
        // Who waits for another's end waits for what that one makes. Moving whole tasks is no help.
        under += std::mem::take(&mut imbalance);
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

/// The number of waits longer than dispatch, at least one. A worker waits between two tasks, before
/// its first and after its last.
fn wait_count(evidence: &Evidence<'_>) -> f64 {
    let profile = evidence.profile;
    let (end, limit) = (profile.start + profile.window as i64, evidence.dispatch.limit_ns as i64);
    let at_ends: u64 = evidence
        .sums
        .active()
        .map(|(_, worker)| {
            u64::from(worker.first - profile.start > limit) + u64::from(end - worker.last > limit)
        })
        .sum();
    let never_ran = profile.workers.saturating_sub(evidence.sums.active().count() as u64);
    (evidence.pauses() + at_ends + never_ran).max(1) as f64
}

/// The mean wait divided by the mean duration, by time, of the longest tasks that ran meanwhile.
pub(super) fn wait_over_task(evidence: &Evidence<'_>) -> f64 {
    let profile = evidence.profile;
    let losses = &profile.losses;
    let idle = losses.serial + losses.tail + losses.starvation;
    let wait = idle * profile.workers as f64 * profile.window as f64 / wait_count(evidence);
    let task = evidence.longest_meanwhile();
    if task > 0.0 { wait / task } else { 0.0 }
}

/// `1 - mean / max` of busy time.
fn busy_spread(evidence: &Evidence<'_>) -> f64 {
    let most = evidence.sums.active().map(|(_, worker)| worker.busy).max().unwrap_or(0) as f64;
    let mean = evidence.sums.busy() as f64 / evidence.profile.workers as f64;
    if most > 0.0 { 1.0 - mean / most } else { 0.0 }
}

/// The bucket from which on tasks are few and long. It is half of the mean of the longest tasks
/// that ran while others waited. That must stand out from the 90th percentile of all shorter tasks,
/// and such tasks must be at most one per wait and half of all.
pub(super) fn few_long(evidence: &Evidence<'_>) -> Option<usize> {
    let durations = &evidence.sums.sums.durations;
    let total = durations.count();
    let from = waited_for(evidence);
    let half = (evidence.longest_meanwhile() / 2.0) as u64;
    let count = durations.count_from(from);
    let typical = durations.quantile(0.9 * (total - count.min(total)) as f64 / total.max(1) as f64);
    let few = count > 0
        && half as f64 >= typical as f64 * evidence.thresholds.stands_out
        && count as f64 <= wait_count(evidence)
        && count * 2 <= total;
    few.then_some(from)
}

/// Whether the tasks that run alone are as long as tasks are on average, within a factor
/// ([`Thresholds::same_kind`]).
fn same_kind(evidence: &Evidence<'_>) -> bool {
    let mean = evidence.sums.sums.durations.mean();
    let alone = mean_bucket(&evidence.profile.solo_by_longest);
    let factor = evidence.thresholds.same_kind;
    alone <= factor * mean && mean <= factor * alone
}

/// Whether those that wait were given less. If so, busy time is spread as widely as waits are long,
/// all began together, and the tasks that ran alone are of the same kind as all others. Otherwise a
/// stage of its own ran.
fn was_given_less(evidence: &Evidence<'_>, waits: f64) -> bool {
    let profile = evidence.profile;
    let heads: i128 =
        evidence.sums.active().map(|(_, worker)| i128::from(worker.first - profile.start)).sum();
    let heads = heads as f64 / (profile.workers as f64 * profile.window.max(1) as f64);
    let phases = (wait_count(evidence) / profile.workers as f64).max(1.0);
    same_kind(evidence) && heads * phases * 2.0 <= waits && busy_spread(evidence) * 1.5 >= waits
}

/// Whether the long tasks of a bucket ran while nothing else did, as a stage of its own. Two
/// standard errors of the sample are allowed, and no more than [`Thresholds::overlap`].
pub(super) fn ran_alone(evidence: &Evidence<'_>, index: usize) -> bool {
    let (seen, alone) = evidence.profile.points_by_longest[index];
    if seen == 0 {
        return false;
    }
    let overlap = (seen - alone) as f64 / seen as f64;
    let error = 1.0 / (seen as f64).sqrt();
    let last = evidence.sums.active().map(|(_, worker)| worker.last).max();
    // Only the last stretch of the run is known exactly: which workers had ended when it began.
    let starts_alone = evidence.sums.sums.top.longest().iter().all(|long| {
        bucket(long.duration) != index
            || last != Some(long.start.saturating_add(long.duration as i64))
            || evidence.sums.active().all(|(other, worker)| other == long.worker || worker.last <= long.start)
    });
    overlap <= error.min(evidence.thresholds.overlap) && starts_alone
}
