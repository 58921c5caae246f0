//! Says what else the same spans may mean, where they do not tell.
//!
//! A span that works and a span that waits look alike, and so do a queue that hands out late and a
//! queue that is empty. What is named here is the other side of such a pair, with what tells the
//! two apart.

use taskscale_model::digest::{Alternative, PatternName};

use super::{
    advice::{LITTLE, begins_first, is_busy, may_arrive},
    cause::{Cause, WORTH},
    causes::{
        evenly_divided, few_long, is_below_step, may_be_a_loop, may_make_children, one_holds_up,
        wait_over_task,
    },
    words::held_up,
};
use crate::{
    evidence::{Evidence, IdleWhile},
    histogram::{BUCKETS, Histogram, bucket, middle},
    releases::Released,
};

/// A loss this close below [`WORTH`] is named beside HEALTHY: the points do not tell it from one
/// that is worth a change.
const NEARLY: f64 = 0.75 * WORTH;
/// A loss this close below [`WORTH`] is named before what tasks may hide.
const CLOSE: f64 = 0.95 * WORTH;
/// Gaps longer than this may be waits: of many workers, and of one, which nothing is compared with.
/// A queue on the same machine hands over faster.
const SLOW_NS: (f64, f64) = (100_000.0, 5_000.0);
/// Waits that are shorter on average may be hand-overs that a contended queue makes longer.
const HAND_OVER_NS: f64 = 20_000.0;
/// The mean gap from which on no runtime takes it, even a dear one.
const LONG_GAP_NS: f64 = 500_000.0;
/// Gaps whose mean is so many times the scheduling cost are spread more widely than hand-overs.
const SPREAD: f64 = 3.0;
/// Shorter pauses of a single worker may be hand-overs.
const SHORT_PAUSE_NS: u64 = 300_000;
/// Waits of up to this many tasks may be what is left over where tasks are too few.
const FEW_TASKS: f64 = 4.0;

/// The shares of idle time with one active worker below which others could run beside it, and from
/// which on it may have run alone by design.
const MOSTLY_SERIAL: (f64, f64) = (0.8, 0.85);

/// What the diagnosis, which is the first of `ranked`, may be as well.
pub(super) fn alternative(evidence: &Evidence<'_>, ranked: &[Cause]) -> Option<Alternative> {
    use PatternName::*;
    let profile = evidence.profile;
    let alone = profile.workers == 1;
    let gain = |name: PatternName| {
        ranked.iter().skip(1).filter(|cause| cause.name == name).map(|cause| cause.gain).sum::<f64>()
    };
    let idle = profile.losses.serial + profile.losses.tail + profile.losses.starvation;
    let tasks_wait = evidence.idle_while() == IdleWhile::TasksWait;
    let empty = match evidence.queue {
        Some(_) => "where the queue is empty meanwhile, they come too slowly",
        None => "if the queue is empty meanwhile, they come too slowly: record when tasks are ready",
    };
    let (name, tell) = match ranked.first()?.name {
        UnderDecomposition | LoadImbalance | TooLittleReady if may_be_handed_over(evidence) => (
            SchedulingOverhead,
            "if tasks are waiting in these short gaps, the runtime takes them: batch tasks",
        ),
        Healthy => healthy(evidence, ranked)?,
        BlockedInTasks | RecursiveOverlap
            if ranked[0].name == BlockedInTasks || evidence.blocked_parents().is_some() =>
        {
            if evidence.sums.delay_known {
                return None;
            }
            (Preempted, "if other programs take the CPUs meanwhile, tasks wait for these")
        }
        RecursiveOverlap => {
            (Healthy, "if parents compute between their children, nothing is lost: compare their CPU time")
        }
        StragglerTasks if long_ones_may_wait(evidence) => (
            RecursiveOverlap,
            "if the long tasks wait for others inside, they hold a worker: see their CPU time",
        ),
        StragglerTasks if come_apart(evidence) && !tasks_wait => (TooLittleReady, empty),
        StragglerTasks => (UnderDecomposition, "if all tasks of that kind are as long, split each of them"),
        UnderDecomposition
            if gain(SerialBottleneck) * 2.0 >= ranked[0].gain || profile.losses.serial >= 0.4 * idle =>
        {
            (SerialBottleneck, "if what runs alone cannot be split, overlap it with other work")
        }
        UnderDecomposition if evidence.releases.released() == Released::ByNothingSeen && !tasks_wait => {
            if profile.losses.outside > 0.05 {
                (OutsideRun, "if all stop at once, for garbage or the program, that is what to shorten")
            } else {
                (TooLittleReady, empty)
            }
        }
        UnderDecomposition if profile.workers == 2 || evidence.releases.by_one >= 0.6 => {
            (SerialBottleneck, "if one worker makes what the others wait for, split what that one does")
        }
        SerialBottleneck
            if profile.peak > 1 && evidence.sums.sums.durations.count() < 8 * profile.workers =>
        {
            (UnderDecomposition, "if what runs alone is one of few tasks that could run at once, split all")
        }
        SerialBottleneck if one_holds_up(evidence) => {
            (LoadImbalance, "if the one is busy because tasks are its own alone, let any worker take them")
        }
        SerialBottleneck if profile.losses.serial < MOSTLY_SERIAL.0 * idle => {
            (UnderDecomposition, "if those that run could be more at once, split all")
        }
        SerialBottleneck if ran_alone_once(evidence) => {
            (StragglerTasks, "if it need not wait for the others, start it first")
        }
        LoadImbalance
            if profile.losses.serial >= MOSTLY_SERIAL.1 * idle
                && evidence.sums.sums.durations.count() >= 12 * profile.workers =>
        {
            (SerialBottleneck, "if what runs alone could not be divided, split it or overlap it")
        }
        LoadImbalance if may_be_too_few(evidence) => {
            (UnderDecomposition, "if any worker may take any task already, tasks are too few: split them")
        }
        UnderDecomposition if may_arrive(evidence) && !tasks_wait => (TooLittleReady, empty),
        EventLoopBlocked => (Healthy, "if this is no event loop, nothing waits for its long steps"),
        SchedulingOverhead if profile.losses.outside > 0.05 => {
            (OutsideRun, "if all stop at once, for garbage or the program, that is what to shorten")
        }
        SchedulingOverhead if ranked[0].gain < LITTLE => {
            (Healthy, "its loss is just above what is worth a change")
        }
        SchedulingOverhead if tasks_wait => return None,
        SchedulingOverhead if profile.take_turns() || profile.run_one_by_one() => {
            (SerialBottleneck, "if each waits for the other's result, they take turns: let them overlap")
        }
        SchedulingOverhead if evidence.ticks.is_some() => (
            if alone { OutsideRun } else { TooLittleReady },
            "if a timer or clients of a fixed rate start them, nothing is lost",
        ),
        SchedulingOverhead if !alone && is_slow(evidence) => (TooLittleReady, empty),
        SchedulingOverhead if is_slow(evidence) => {
            (OutsideRun, "if the worker waits for input or a timer between tasks, nothing is lost")
        }
        TooLittleReady
            if evidence.ticks.is_some()
                && evidence.idle_while() == IdleWhile::Unclear
                && evidence.sums.sums.gaps.mean() < SLOW_NS.0 =>
        {
            (SchedulingOverhead, "if tasks are waiting in these gaps, the runtime takes them: batch tasks")
        }
        TooLittleReady if profile.losses.serial >= 0.3 * idle => (
            SerialBottleneck,
            "if the others wait for what runs alone, split that or overlap it with other work",
        ),
        TooLittleReady if are_independent(evidence) && evidence.idle_while() == IdleWhile::Unclear => {
            (SchedulingOverhead, "if tasks are waiting in these gaps, the runtime takes them: batch tasks")
        }
        TooLittleReady if evidence.all_blocked().is_none() && some_are_long(evidence) => (
            RecursiveOverlap,
            "if the tasks that run wait for others inside, they hold their workers: see their CPU time",
        ),
        TooLittleReady => {
            (UnderDecomposition, "if what is missing waits for tasks that run, tasks are too few: split them")
        }
        OutsideRun
            if evidence.sums.sums.gaps.quantile(0.5) < SHORT_PAUSE_NS
                && evidence.idle_while() != IdleWhile::NothingWaits =>
        {
            (SchedulingOverhead, "if tasks are waiting in these pauses, the runtime takes them: batch tasks")
        }
        OutsideRun if evidence.pauses() * 2 >= evidence.sums.sums.durations.count() => {
            (TooLittleReady, "if something hands the tasks out one by one, let it hand out several at once")
        }
        Inconclusive if is_busy(evidence) && profile.losses.dispatch >= WORTH => (
            SchedulingOverhead,
            "if gaps are as long on a quiet machine, the runtime takes them: batch tasks",
        ),
        Inconclusive if profile.losses.dispatch > 0.0 && is_below_step(evidence) => {
            (SchedulingOverhead, below_step(evidence))
        }
        _ => return None,
    };
    Some(Alternative { name, tell: tell.to_owned() })
}

/// What tells scheduling overhead where gaps are shorter than the clock's step. A live observer has
/// the finest clock that there is.
fn below_step(evidence: &Evidence<'_>) -> &'static str {
    if evidence.dispatch.observer_ns > 0 {
        "gaps are shorter than the clock's step: batch some tasks, and see whether the run takes less time"
    } else {
        "gaps are shorter than the clock's step: use a finer clock or a live observer"
    }
}

fn healthy(evidence: &Evidence<'_>, ranked: &[Cause]) -> Option<(PatternName, &'static str)> {
    if may_make_children(evidence) {
        return Some((
            PatternName::SchedulingOverhead,
            "if parents do little but make their children, that takes the time: cut off the recursion earlier",
        ));
    }
    let alone = evidence.profile.workers == 1;
    let few = !alone && evidence.sums.sums.durations.count() < 4 * evidence.profile.workers;
    let may_be = (few || some_are_long(evidence))
        && if alone { may_be_a_loop(evidence) } else { evidence.all_blocked().is_none() };
    let causes = || ranked.iter().skip(1);
    let largest = causes().map(|cause| cause.gain).fold(0.0, f64::max);
    // What is worth a change and is not idle time lies inside of tasks.
    if may_be && !alone && largest < CLOSE {
        return Some((
            PatternName::RecursiveOverlap,
            "if the long tasks wait for others inside, they hold a worker: see their CPU time",
        ));
    }
    let together = causes().map(|cause| cause.gain).sum::<f64>() >= WORTH;
    let nearly = causes().find(|cause| cause.gain >= NEARLY);
    if let Some(cause) = nearly.or_else(|| causes().next().filter(|_| together)) {
        let name = match cause.name {
            PatternName::LoadImbalance if may_be_too_few(evidence) => PatternName::UnderDecomposition,
            name => name,
        };
        return Some((name, "its loss is just below what is worth a change"));
    }
    if is_below_step(evidence) && evidence.profile.losses.dispatch >= WORTH {
        return Some((PatternName::SchedulingOverhead, below_step(evidence)));
    }
    (may_be && alone).then_some((
        PatternName::EventLoopBlocked,
        "if this is an event loop, its long steps hold up all others",
    ))
}

/// Whether what ran alone is a single task that others came before. One that was last in a queue,
/// and began when all others had ended, looks like a stage that had to wait for them.
fn ran_alone_once(evidence: &Evidence<'_>) -> bool {
    few_long(evidence).is_some_and(|from| evidence.sums.sums.durations.count_from(from) == 1)
        && !begins_first(&held_up(evidence, None), evidence.profile)
}

/// Whether workers wait most while others work and more is to come, and go on one by one: whoever
/// hands tasks out may be too slow. Rounds end for all at once.
fn come_apart(evidence: &Evidence<'_>) -> bool {
    let losses = &evidence.profile.losses;
    evidence.releases.released() != Released::ByEnds
        && losses.starvation > 2.0 * (losses.serial + losses.tail)
        && evidence.releases.together(evidence.profile.workers) < 0.4
}

/// Whether the number of busy workers varies as that of independent ones does, and gaps are short:
/// each is held up on its own, as by its own hand-overs. Workers that share a queue of requests
/// have more variance, and those that a master serves in turn have less.
fn are_independent(evidence: &Evidence<'_>) -> bool {
    evidence.profile.independence.is_some_and(|variance| (0.7..1.3).contains(&variance))
        && evidence.sums.sums.gaps.mean() < LONG_GAP_NS
}

/// Whether waits are as short as hand-overs may be.
pub(super) fn may_be_handed_over(evidence: &Evidence<'_>) -> bool {
    let count = evidence.pauses();
    evidence.idle_while() != IdleWhile::NothingWaits
        && count * 4 >= evidence.sums.sums.durations.count()
        && (evidence.paused_ns() as f64) < HAND_OVER_NS * count as f64
}

/// Whether hand-overs take so long that they may be waits. They are none where those are told.
pub(super) fn is_slow(evidence: &Evidence<'_>) -> bool {
    if evidence.sums.told_waits.is_some() {
        return false;
    }
    let slow = if evidence.profile.workers == 1 { SLOW_NS.1 } else { SLOW_NS.0 };
    let dispatch = evidence.dispatch;
    dispatch.cost_ns.is_some_and(|cost| cost > slow || dispatch.mean_ns() > SPREAD * cost)
}

/// Whether workers that wait for others may wait because there is nothing to take: their waits are
/// few tasks long, or they were not given equal shares beforehand.
pub(super) fn may_be_too_few(evidence: &Evidence<'_>) -> bool {
    wait_over_task(evidence) < FEW_TASKS || !evenly_divided(evidence)
}

/// Whether long tasks may be waiting inside: there are some, and little is idle while they run.
pub(super) fn long_ones_may_wait(evidence: &Evidence<'_>) -> bool {
    let losses = &evidence.profile.losses;
    evidence.all_blocked().is_none() && some_are_long(evidence) && losses.serial + losses.tail < 0.2
}

/// Whether a few tasks, at most a quarter, are four times as long as the median and take a tenth of
/// the time.
pub(super) fn some_are_long(evidence: &Evidence<'_>) -> bool {
    let durations: &Histogram = &evidence.sums.sums.durations;
    let from = bucket(durations.quantile(0.5).saturating_mul(4)) + 1;
    let of = |index: usize| f64::from(durations.counts()[index]);
    let count: f64 = (from..BUCKETS).map(of).sum();
    let time: f64 = (from..BUCKETS).map(|index| of(index) * middle(index) as f64).sum();
    count > 0.0 && count <= 0.25 * durations.count() as f64 && time >= 0.1 * durations.sum() as f64
}
