//! Words evidence and remedy in the user's own terms.

use taskscale_model::{digest::PatternName, figure::time};

use super::cause::Cause;
use crate::evidence::Evidence;

/// The evidence and the remedy of a cause. `others` are the causes ranked after it.
pub(crate) fn words(evidence: &Evidence<'_>, cause: &Cause, others: &[Cause]) -> (String, String) {
    let profile = evidence.profile;
    let losses = &profile.losses;
    let durations = &evidence.sums.sums.durations;
    let (tasks, workers) = (durations.count(), profile.workers);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match cause.name {
        PatternName::SchedulingOverhead => {
            let gap = evidence.dispatch.sum_ns as f64 / evidence.dispatch.count.max(1) as f64;
            let mean = durations.mean().max(1.0);
            let batch = (9.0 * gap / mean).ceil().max(2.0);
            (
                format!(
                    "a task of {} (mean) takes {} to schedule: {} of a busy worker's time",
                    time(mean),
                    time(gap),
                    percent(losses.dispatch / (losses.work + losses.dispatch).max(1e-12))
                ),
                format!("batch {batch} tasks into one, so that scheduling takes a tenth"),
            )
        }
        PatternName::SerialBottleneck => (
            format!("one worker of {workers} is active for {} of the window", percent(solo_time(evidence))),
            format!(
                "split the stage that runs alone into at least {workers} tasks, or overlap it with other work"
            ),
        ),
        PatternName::LoadImbalance => (
            format!(
                "workers wait for {} of the time while others still have several tasks",
                percent(cause.share)
            ),
            "hand tasks out one by one from a shared queue, or weigh them when you divide them".into(),
        ),
        PatternName::StragglerTasks => {
            let long = evidence.sums.sums.top.longest().first().copied();
            let (longest, name) = long.map_or((0, String::new()), |long| (long.duration, long.name.text()));
            let typical = durations.quantile(0.5).max(1);
            let fair = durations.sum() as f64 / workers.max(1) as f64 / 4.0;
            let pieces =
                (longest as f64 / fair.max(typical as f64)).ceil().clamp(2.0, 4.0 * workers.max(1) as f64);
            let who = if name.is_empty() { "the longest task".to_owned() } else { format!("{name:?}") };
            (
                format!(
                    "{who} takes {}, {:.0} times the median, and others wait for it",
                    time(longest as f64),
                    longest as f64 / typical as f64
                ),
                format!("split {who} into {pieces} pieces, or start it first"),
            )
        }
        PatternName::RecursiveOverlap => (
            format!(
                "tasks contain tasks: {} of the time is parents outside of their children, at work or waiting",
                percent(cause.share)
            ),
            "return or continue instead of waiting inside a task; do not add up durations of nested tasks"
                .into(),
        ),
        PatternName::UnderDecomposition => {
            let pieces = pieces(tasks, workers);
            (
                format!(
                    "{tasks} tasks of {} on {workers} workers, at most {} at once: waits are no longer than a task",
                    time(durations.mean()),
                    profile.peak
                ),
                format!("split each task into {pieces}, or use {} workers", profile.peak.max(1)),
            )
        }
        PatternName::EventLoopBlocked => (
            format!(
                "steps of more than 100 ms take {} of the window; the longest is {}",
                percent(cause.share),
                time(durations.max() as f64)
            ),
            "move long steps to a thread or process, or split them with an await".into(),
        ),
        PatternName::Preempted => (
            format!(
                "workers were ready and not run for {} of the time, and others waited for that for {}",
                percent(losses.preempted),
                percent((cause.share - losses.preempted).max(0.0))
            ),
            "use fewer workers than free cores, or stop what else runs".into(),
        ),
        PatternName::OutsideRun => (
            format!("no task was active for {} of the window", percent(cause.share)),
            "look at what the program does between its tasks, or mark the phases of interest".into(),
        ),
        PatternName::Healthy => {
            (format!("{} of all worker-time was work", percent(losses.work)), String::new())
        }
        PatternName::Mixed => {
            let names: Vec<&str> = others.iter().take(2).map(|other| other.name.as_str()).collect();
            ("no cause explains half of the loss".into(), format!("see {}", names.join(" and ")))
        }
        PatternName::Inconclusive => (
            "the evidence is too thin for a verdict".into(),
            "record at least a second, or several runs".into(),
        ),
    }
}

/// The number of pieces per task that gives every worker at least eight, which leaves at most an
/// eighth to rounding.
fn pieces(tasks: u64, workers: u64) -> u64 {
    (8 * workers).div_ceil(tasks.max(1)).max(2)
}

/// The share of the window in which one worker was active.
fn solo_time(evidence: &Evidence<'_>) -> f64 {
    let workers = evidence.profile.workers.max(2) as f64;
    evidence.profile.losses.serial * workers / (workers - 1.0)
}
