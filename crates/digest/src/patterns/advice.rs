//! Says what to change, in the user's own terms and as data, and predicts what that gives.
//!
//! The prediction is for the printed change and no other. A change that is carried out takes away a
//! part of the loss and adds what it costs: each further task pays for its dispatch. The range has
//! room for what a timeline does not show, such as how well pieces fit.

use taskscale_model::digest::{Change, PatternName, Speedup};

use super::{
    alternative::{is_slow, long_ones_may_wait, may_be_handed_over, may_be_too_few},
    cause::Cause,
    causes::{held_up_by, is_below_step, one_holds_up, waits_between_tasks, were_given_as_many},
    verdict::is_too_short,
    words::{Held, held_up},
};
use crate::{evidence::Evidence, profile::Profile, releases::Released};

/// What to do about a cause.
pub(crate) struct Advice {
    pub change: Option<Change>,
    /// The change in words; empty where nothing is to be done.
    pub remedy: String,
    pub predicted: Speedup,
}

/// Of the loss that a change aims at, what it takes away at least in nine of ten simulated programs
/// (`judge --odd`).
const AT_LEAST: f64 = 0.5;

/// A shorter task takes longer alone than in a batch, by what the runtime's own code and memory
/// between two tasks push out of the caches. On Taskflow these are some 50 ns of one of 100 ns (two
/// workers, 2026-11-25): a tenth of a task of this length.
const TINY_NS: f64 = 500.0;

/// Whether tasks get shorter themselves where they are batched, which no prediction counts.
pub(super) fn are_tiny(evidence: &Evidence<'_>) -> bool {
    evidence.sums.sums.durations.mean() < TINY_NS
}

/// More tasks than this are not made from few: their scheduling would be the next thing to mend.
const MOST_PIECES: u64 = 50_000;

impl Advice {
    /// A change that saves between these shares of the run's time.
    fn saving(change: Change, remedy: String, least: f64, most: f64) -> Self {
        let speedup = |share: f64| 1.0 / (1.0 - share.clamp(0.0, 0.999));
        let predicted = Speedup { from: speedup(least.min(most)), to: speedup(most) };
        Advice { change: Some(change), remedy, predicted }
    }

    /// Something to look at, with nothing promised.
    fn nothing_promised(remedy: &str) -> Self {
        Advice { change: None, remedy: remedy.to_owned(), predicted: Speedup { from: 1.0, to: 1.0 } }
    }

    /// The advice on a cause. `others` are the causes ranked after it; `who` is the first culprit.
    /// Where a condition is open
    /// that spans do not show, it is named and nothing is promised.
    pub fn on(evidence: &Evidence<'_>, cause: &Cause, others: &[Cause], who: Option<&str>) -> Self {
        let advice = Advice::without_doubt(evidence, cause, others, who);
        match doubt(evidence, cause, &advice) {
            Some(condition) => Advice::nothing_promised(&format!("{condition}: {}", advice.remedy)),
            None => advice,
        }
    }

    fn without_doubt(evidence: &Evidence<'_>, cause: &Cause, others: &[Cause], who: Option<&str>) -> Self {
        let workers = evidence.profile.workers;
        let (least, most) = (AT_LEAST * cause.gain, cause.gain);
        match cause.name {
            PatternName::SchedulingOverhead => batch(evidence, cause),
            PatternName::UnderDecomposition => split(evidence, cause, others),
            PatternName::StragglerTasks => split_longest(evidence, cause, who),
            PatternName::SerialBottleneck => {
                let tasks = evidence.sums.sums.durations.count().max(1);
                let into = (4 * workers).min(MOST_PIECES / tasks).max(4);
                let what = match held_up_by(evidence) {
                    Some(_) => "each task that others wait for",
                    None => "what runs alone",
                };
                let remedy = format!("split {what} into {into} tasks, or overlap it with other work");
                Advice::saving(Change::SplitAlone { into }, remedy, least, most)
            }
            PatternName::LoadImbalance if may_be_too_few(evidence) => {
                let mut split = split(evidence, cause, others);
                if let Some(Change::SplitTasks { share_queue, .. }) = &mut split.change {
                    *share_queue = true;
                }
                let remedy = format!("hand tasks out from one queue, and {}", split.remedy);
                Advice { remedy, ..split }
            }
            PatternName::LoadImbalance => Advice::saving(
                Change::ShareQueue,
                "hand tasks out one by one from a shared queue, or weigh them when you divide them".into(),
                least,
                most,
            ),
            PatternName::RecursiveOverlap if evidence.all_blocked().is_some() => Advice::nothing_promised(
                "return or continue, do not wait inside a task for the tasks that it started",
            ),
            PatternName::BlockedInTasks => Advice::nothing_promised(
                "see what they wait for: shorten what is locked, wait without holding a worker, or use more workers",
            ),
            PatternName::RecursiveOverlap => Advice::nothing_promised(
                "if they wait: return or continue, do not wait inside a task; if they work, nothing is lost",
            ),
            PatternName::EventLoopBlocked => Advice::nothing_promised(
                "move long steps to a thread or process, or split them with an await: the others are served sooner",
            ),
            PatternName::Preempted => {
                // Of a busy machine fewer workers get less, unless the others wait for the one that
                // has lost its CPU.
                let waited = cause.share - evidence.profile.losses.preempted;
                let else_ = if waited >= WAITED_FOR {
                    "use no more workers than CPUs are free"
                } else {
                    "give the program a higher priority or CPUs of its own"
                };
                let remedy = format!("stop what else runs; where that cannot be, {else_}");
                Advice::saving(Change::FreeCpus, remedy, least, most)
            }
            PatternName::OutsideRun => Advice::nothing_promised(
                "if the program does something else meanwhile, shorten that; waiting for input or a timer loses nothing",
            ),
            PatternName::TooLittleReady if evidence.ticks.is_some() => Advice::nothing_promised(
                "if a timer, a screen or clients of a fixed rate start them, nothing is lost; if one place hands them out, let it hand out several at once",
            ),
            PatternName::TooLittleReady => Advice::nothing_promised(
                "if one place hands tasks out, let it hand out several at once; if they arrive from outside, nothing is lost",
            ),
            PatternName::Healthy => Advice::nothing_promised(""),
            PatternName::Mixed => {
                let names: Vec<&str> = others.iter().take(2).map(|other| other.name.as_str()).collect();
                Advice::nothing_promised(&format!("see {}", names.join(" and ")))
            }
            // What is neither too short nor below the clock's step is hidden by what else runs.
            PatternName::Inconclusive
                if is_busy(evidence) || !(is_too_short(evidence) || is_below_step(evidence)) =>
            {
                Advice::nothing_promised("stop what else runs, and run it again")
            }
            PatternName::Inconclusive => {
                Advice::nothing_promised("record at least a second, or several runs")
            }
        }
    }
}

/// Whether so much of the time is preempted that it hides all else.
pub(super) fn is_busy(evidence: &Evidence<'_>) -> bool {
    evidence.profile.losses.preempted >= evidence.thresholds.preempted
}

/// Waits for workers that have lost their CPU, as a share of *workers x window*, from which on it
/// matters that all run at once.
const WAITED_FOR: f64 = 0.1;
/// Moments in which no task at all is active, as a share of the time, from which on work may come
/// from outside.
const NONE_ACTIVE: f64 = 0.01;
/// The longest gap that still is a hand-over among others, as a share of the window. Where one is
/// longer, others may be waits as well.
const LONGEST_GAP: f64 = 0.002;
/// Time in gaps that are no hand-overs, as a share of the time in those that are, up to which a
/// long one is a single event and says nothing of the others.
const FEW_PAUSES: f64 = 0.1;
/// Waits for a straggler while other tasks are yet to come, as a share of the time. Rounds in which
/// each has its own straggler have more, and splitting the longest of them mends one round.
const BEFORE_THE_LAST: f64 = 0.001;
/// A loss of which splitting, that mends some two thirds, saves a tenth of the time.
pub(super) const LITTLE: f64 = 0.15;
/// The share of a task that its scheduling takes, from which on pieces pay too much for theirs.
const DEAR: f64 = 0.016;

/// What must hold for the advice to help, where the spans do not show whether it does. In
/// simulated programs the advice is of no use in every second to tenth case where one of these is
/// open, and in one of fifty where none is (`judge --odd`).
fn doubt(evidence: &Evidence<'_>, cause: &Cause, advice: &Advice) -> Option<&'static str> {
    let profile = evidence.profile;
    let losses = &profile.losses;
    let work = evidence.sums.sums.durations.mean().max(1.0);
    if may_be_handed_over(evidence)
        && cause.name != PatternName::SchedulingOverhead
        && matches!(advice.change, Some(Change::SplitTasks { .. }))
    {
        return Some("if the runtime is not what takes the time between tasks");
    }
    match (cause.name, &advice.change) {
        (PatternName::SchedulingOverhead, _) => {
            let longest = evidence.sums.sums.gaps.max() as f64;
            let pauses = evidence.paused_ns() as f64 / evidence.dispatch.sum_ns.max(1) as f64;
            let doubtful = (longest > LONGEST_GAP * profile.window as f64 && pauses > FEW_PAUSES)
                || is_slow(evidence)
                || profile.take_turns()
                || profile.run_one_by_one()
                || evidence.ticks.is_some()
                || cause.gain < LITTLE;
            doubtful.then_some("if tasks are ready in the gaps")
        }
        (PatternName::StragglerTasks, _) => {
            let doubtful = losses.starvation > BEFORE_THE_LAST
                || long_ones_may_wait(evidence)
                || were_given_as_many(evidence);
            doubtful.then_some("if others wait for it")
        }
        // Never two at once, of many: a chain, or a semaphore that pieces would wait at as well.
        (PatternName::SerialBottleneck, _)
            if profile.peak == 1 && evidence.sums.sums.durations.count() >= 4 * profile.workers =>
        {
            Some("if no lock or semaphore lets in one at a time")
        }
        (PatternName::SerialBottleneck, _) => (evidence.dispatch.cost_ns.unwrap_or(0.0) > DEAR * work
            || losses.outside > NONE_ACTIVE
            || evidence.sums.sums.durations.count() < 4 * profile.workers
            || (one_holds_up(evidence) && profile.workers <= 3))
            .then_some("if it can be split"),
        (_, Some(Change::SplitTasks { .. })) if cause.gain < LITTLE => Some("if a tenth is worth it"),
        (_, Some(Change::SplitTasks { by, .. })) => {
            let dearer = losses.dispatch * (by - 1) as f64;
            if may_arrive(evidence) {
                Some("if tasks do not arrive from outside")
            } else {
                (dearer > 0.3 * cause.gain).then_some("if pieces are scheduled as cheaply")
            }
        }
        _ => None,
    }
}

/// Whether tasks may arrive from outside, some of them at least.
pub(super) fn may_arrive(evidence: &Evidence<'_>) -> bool {
    evidence.releases.released() == Released::ByNothingSeen
        || evidence.profile.losses.outside > NONE_ACTIVE
        || evidence.releases.by_chance > 0.95
        || some_come(evidence)
}

/// Whether some of the tasks may come from outside: there are many, workers wait between them, and
/// not nearly all of these waits end behind another's end.
fn some_come(evidence: &Evidence<'_>) -> bool {
    let profile = evidence.profile;
    evidence.sums.sums.durations.count() >= 4 * profile.workers
        && waits_between_tasks(evidence) >= 0.3
        && (evidence.releases.released() == Released::Unclear || evidence.releases.beyond_chance() < 0.9)
}

/// Batches so large that dispatch takes a tenth, and no larger than leaves every worker eight.
fn batch(evidence: &Evidence<'_>, cause: &Cause) -> Advice {
    let durations = &evidence.sums.sums.durations;
    let gap = evidence.dispatch.mean_ns();
    let leave = durations.count() / (8 * evidence.profile.workers.max(1));
    let by = ((9.0 * gap / durations.mean().max(1.0)).ceil() as u64).min(leave).max(2);
    let saved = cause.gain * (1.0 - 1.0 / by as f64);
    let remedy = format!("batch {by} tasks into one, so that scheduling takes less");
    Advice::saving(Change::BatchTasks { by }, remedy, AT_LEAST * saved, saved)
}

/// So many pieces per task that every worker gets at least eight, which leaves at most an eighth to
/// rounding. Where tasks are many and come in phases, so many that those that run while others wait
/// fit better ([`fitting`]). Each piece pays for its dispatch.
///
/// Smaller tasks that any worker may take shorten waits of other causes too, so at most those go as
/// well.
fn split(evidence: &Evidence<'_>, cause: &Cause, others: &[Cause]) -> Advice {
    use PatternName::{LoadImbalance, SerialBottleneck, StragglerTasks, UnderDecomposition};
    let profile = evidence.profile;
    let waits = [SerialBottleneck, StragglerTasks, UnderDecomposition, LoadImbalance];
    let also: f64 = others.iter().filter(|other| waits.contains(&other.name)).map(|other| other.gain).sum();
    let (tasks, workers) = (evidence.sums.sums.durations.count(), profile.workers);
    let enough = (8 * workers).div_ceil(tasks.max(1)).max(2);
    let fits = fitting(enough, typically_active(profile), workers);
    let by = fits.unwrap_or(enough);
    let dispatch = profile.losses.dispatch * (by - 1) as f64;
    let most = (cause.gain - dispatch).max(0.0);
    let least = if fits.is_some() { AT_LEAST * (most * (1.0 - 1.0 / by as f64)) } else { 0.0 };
    let fewer = if profile.peak < workers {
        format!(", or use {} workers", profile.peak.max(1))
    } else {
        String::new()
    };
    let remedy = format!("split each task into {by} that any worker may take{fewer}");
    let all = (most + also).min(0.999);
    Advice::saving(Change::SplitTasks { by, name: None, share_queue: false }, remedy, least, all)
}

/// The most pieces of each of many tasks.
const MOST_OF_EACH: u64 = 8;

/// The fewest pieces of each task, `enough` at least, that save at least half of what division
/// without a rest would, where `active` tasks run at once on `workers`. k pieces of each take
/// ceil(active k / workers) / k of a task's time: 2 pieces of 5 tasks on 8 workers save nothing.
fn fitting(enough: u64, active: u64, workers: u64) -> Option<u64> {
    let saves = |by: u64| by.saturating_sub((active * by).div_ceil(workers.max(1)));
    let idle = workers.saturating_sub(active);
    (enough..=enough.max(MOST_OF_EACH)).find(|&by| 2 * saves(by) * workers >= by * idle)
}

/// The median number of active workers while others wait.
fn typically_active(profile: &Profile) -> u64 {
    let waits = |active: &u64| (1..profile.workers).contains(active);
    let mut active: Vec<u64> = profile.seen.iter().map(|point| point.active).filter(waits).collect();
    active.sort_unstable();
    active.get(active.len() / 2).copied().unwrap_or(1)
}

/// What begins within this share of the window is started first as it is.
const FIRST: f64 = 0.01;

/// Whether the task that others wait for begins first as it is.
pub(super) fn begins_first(held: &Held, profile: &Profile) -> bool {
    held.begins.is_some_and(|begins| begins as f64 <= FIRST * profile.window as f64)
}

/// So many pieces of the longest task that each is no longer than a quarter of a worker's share, or
/// than the median; and as many for each worker, since what is left over runs while others wait:
/// of a task of 60 ms on four workers two pieces gave 1.17, four 1.45.
fn split_longest(evidence: &Evidence<'_>, cause: &Cause, who: Option<&str>) -> Advice {
    let durations = &evidence.sums.sums.durations;
    let workers = evidence.profile.workers.max(1);
    let held = held_up(evidence, who);
    let fair = durations.sum() as f64 / workers as f64 / 4.0;
    let typical = durations.quantile(0.5).max(1) as f64;
    let into = (held.duration as f64 / fair.max(typical)).ceil().clamp(2.0, 4.0 * workers as f64) as u64;
    let into = into.next_multiple_of(workers.max(2));
    let or = if begins_first(&held, evidence.profile) {
        ""
    } else {
        ", or start it first where it cannot be split"
    };
    let name = held.name;
    let what = if name.is_empty() { "the longest task".to_owned() } else { format!("{name:?}") };
    let remedy = format!("split {what} into {into} pieces{or}");
    let name = (!name.is_empty()).then_some(name);
    let saved = cause.gain * (1.0 - 1.0 / into as f64);
    Advice::saving(Change::SplitLongest { name, into }, remedy, AT_LEAST * saved, cause.gain)
}
