//! Words the evidence in the user's own terms.

use taskscale_model::{digest::PatternName, figure::time};

use super::{
    cause::Cause,
    causes::{held_up_by, one_never_waits},
};
use crate::evidence::Evidence;

/// The figures that speak for a cause. `who` is the task that it is put down to most.
pub(crate) fn words(evidence: &Evidence<'_>, cause: &Cause, who: Option<&str>) -> String {
    let profile = evidence.profile;
    let losses = &profile.losses;
    let durations = &evidence.sums.sums.durations;
    let (tasks, workers) = (durations.count(), profile.workers);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match cause.name {
        PatternName::SchedulingOverhead => {
            let gap = evidence.dispatch.mean_ns();
            let runtimes = (losses.dispatch - evidence.observer()).max(0.0);
            format!(
                "{} between tasks of {} (means): {} of a busy worker's time",
                time(gap),
                time(durations.mean().max(1.0)),
                percent(runtimes / (losses.work + runtimes).max(1e-12))
            )
        }
        PatternName::SerialBottleneck if held_up_by(evidence).is_some() => format!(
            "workers wait for {} of the time, mostly until one of {workers}, nearly always busy, ends a task",
            percent(cause.share)
        ),
        PatternName::SerialBottleneck => {
            format!("one worker of {workers} is active for {} of the window", percent(solo_time(evidence)))
        }
        PatternName::LoadImbalance if one_never_waits(evidence) => format!(
            "one worker of {workers} has tasks all along while the others wait for {} of the time",
            percent(cause.share * workers as f64 / (workers - 1) as f64)
        ),
        PatternName::LoadImbalance => format!(
            "workers wait for {} of the time while others still have several tasks",
            percent(cause.share)
        ),
        PatternName::StragglerTasks => {
            let Held { duration: longest, name, .. } = held_up(evidence, who);
            let typical = durations.quantile(0.5).max(1);
            let who = if name.is_empty() { "the longest task".to_owned() } else { format!("{name:?}") };
            format!(
                "{who} takes {}, {:.0} times the median, and others wait for it",
                time(longest as f64),
                longest as f64 / typical as f64
            )
        }
        PatternName::RecursiveOverlap if evidence.blocked_parents().is_some() => format!(
            "tasks contain tasks: for {} of the time parents hold a worker and do not run",
            percent(cause.share)
        ),
        PatternName::BlockedInTasks => format!(
            "for {} of the time a task holds its worker and does not run{}",
            percent(cause.share),
            if evidence.sums.delay_known { "" } else { ": it waits inside, or for a CPU" }
        ),
        PatternName::RecursiveOverlap => format!(
            "tasks contain tasks: {} of the time is parents outside of their children, at work or waiting",
            percent(cause.share)
        ),
        PatternName::UnderDecomposition => {
            let at_once = match profile.peak < workers {
                true => format!("{} or fewer at once for 99 % of the time", profile.peak),
                // As many as workers or fewer is what always runs.
                false => {
                    format!("fewer than that at once for {} of the time", percent(1.0 - profile.all_active))
                }
            };
            format!("{tasks} tasks of {} on {workers} workers, {at_once}", time(durations.mean()))
        }
        PatternName::EventLoopBlocked => format!(
            "steps of more than 100 ms take {} of the window; the longest is {}",
            percent(cause.share),
            time(durations.max() as f64)
        ),
        PatternName::Preempted => format!(
            "workers were ready and not run for {} of the time, and others waited for that for {}",
            percent(losses.preempted),
            percent((cause.share - losses.preempted).max(0.0))
        ),
        PatternName::OutsideRun => format!("no task was active for {} of the window", percent(cause.share)),
        PatternName::TooLittleReady if evidence.ticks.is_some() => {
            let period = evidence.ticks.map_or(0.0, |ticks| ticks.period_ns);
            format!(
                "workers wait for {} of the time, and tasks begin on a grid of {}, whenever others end",
                percent(cause.share),
                time(period)
            )
        }
        PatternName::TooLittleReady => format!(
            "workers wait for {} of the time, and tasks come one by one: all {workers} are active for {}",
            percent(cause.share),
            percent(profile.all_active)
        ),
        PatternName::Healthy => match evidence.all_blocked() {
            Some(blocked) => format!(
                "{} of all worker-time was work, {} of it inside tasks that did not run",
                percent(losses.work),
                percent((blocked.leaves + blocked.parents.unwrap_or(0.0)) / losses.work.max(1e-12))
            ),
            None => format!(
                "{} of all worker-time was inside tasks; whether they wait there is not seen",
                percent(losses.work)
            ),
        },
        PatternName::Mixed => "no cause explains half of the loss".into(),
        PatternName::Inconclusive => "the evidence is too thin for a verdict".into(),
    }
}

/// The share of the window in which one worker was active.
fn solo_time(evidence: &Evidence<'_>) -> f64 {
    let workers = evidence.profile.workers.max(2) as f64;
    evidence.profile.losses.serial * workers / (workers - 1.0)
}

/// The task that others waited for.
pub(super) struct Held {
    pub duration: u64,
    pub name: String,
    /// Nanoseconds from the start of the window; `None` where no task is known.
    pub begins: Option<u64>,
}

/// The task that others waited for: the longest of the culprit's name, or
/// the longest of all where that name has none of the longest. The longest of all may have held up
/// none.
pub(super) fn held_up(evidence: &Evidence<'_>, who: Option<&str>) -> Held {
    let longest = evidence.sums.sums.top.longest();
    let culprit = longest.iter().find(|long| Some(long.name.text().as_str()) == who);
    let held = culprit.or(longest.first());
    Held {
        duration: held.map_or(0, |long| long.duration),
        name: held.map_or_else(String::new, |long| long.name.text()),
        begins: held
            .map(|long| u64::try_from(long.start.saturating_sub(evidence.profile.start)).unwrap_or(0)),
    }
}
