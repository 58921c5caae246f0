//! Ranks causes, refuses a verdict where the evidence is thin, and grades the confidence.

use taskscale_model::digest::{Confidence, ConfidenceGrade, PatternName};

use super::{
    advice::is_busy,
    alternative::some_are_long,
    cause::{Cause, WORTH},
    causes::{may_make_children, waits_between_tasks},
};
use crate::{evidence::Evidence, releases::Released};

/// With fewer points, shares of time are not known to a tenth.
const POINTS: u64 = 32;
/// A shorter window is no longer than one wake-up.
const WINDOW_NS: u64 = 1_000_000;

/// The causes, the diagnosis first. There are at least two, so that there is a runner-up.
///
/// `causes` puts as much waiting down to run delay as that can explain; `least` puts down as little
/// as it must.
pub(crate) fn verdict(
    evidence: &Evidence<'_>,
    mut causes: Vec<Cause>,
    mut least: Vec<Cause>,
) -> (Vec<Cause>, Confidence) {
    rank(&mut causes);
    rank(&mut least);
    let mut reasons = reasons(evidence);
    if causes[0].gain >= WORTH {
        reasons.extend(match causes[0].name {
            PatternName::StragglerTasks => may_be_preempted(evidence),
            name => unseen(evidence, name),
        });
    } else if evidence.all_blocked().is_none() {
        reasons.push("what tasks wait for inside is not seen: their CPU time is not known".into());
    }
    let mut thin = refusals(evidence, &causes);
    if thin.is_empty() && causes[0].name != least[0].name && causes[0].gain.max(least[0].gain) >= WORTH {
        thin.push(
            "run delay is known only in sum: the long tasks may be long, or only have waited for a CPU"
                .into(),
        );
    }
    let (first, margin) = (causes[0], margin(&causes));
    let head = head(&causes, !thin.is_empty(), evidence.profile.losses.work);
    let grade = if !thin.is_empty() {
        ConfidenceGrade::Low
    } else if reasons.is_empty() && (margin >= 1.0 || (first.gain < WORTH / 2.0)) {
        ConfidenceGrade::High
    } else {
        ConfidenceGrade::Medium
    };
    let confidence = Confidence { grade, margin, reasons: thin.into_iter().chain(reasons).collect() };
    (listed(causes, head), confidence)
}

/// How far the first of ranked causes is ahead of the second.
pub(crate) fn margin(causes: &[Cause]) -> f64 {
    let (first, second) = (causes[0], causes[1]);
    let margin = if second.gain > 0.0 { first.gain / second.gain - 1.0 } else { 1.0 };
    margin.clamp(0.0, 1.0)
}

/// What stands before the ranked causes where none of them is the diagnosis: the evidence is too
/// `thin`, nothing is worth a change, or no cause explains half. `work` is the share of work.
pub(crate) fn head(causes: &[Cause], thin: bool, work: f64) -> Option<Cause> {
    // Gains overlap where one fix makes another worth less. Together they cannot exceed the whole.
    let lost = causes.iter().map(|cause| cause.gain).sum::<f64>().min(1.0);
    let (first, second) = (causes[0], causes[1]);
    if thin {
        Some(Cause { name: PatternName::Inconclusive, share: lost, gain: 0.0 })
    } else if first.gain < WORTH {
        Some(Cause { name: PatternName::Healthy, share: work, gain: 0.0 })
    } else if first.gain < lost / 2.0 && second.gain >= WORTH {
        let gain = (first.gain + second.gain).min(0.999);
        Some(Cause { name: PatternName::Mixed, share: (first.share + second.share).min(1.0), gain })
    } else {
        None
    }
}

/// The ranked causes that a digest lists, with what stands before them.
pub(crate) fn listed(mut causes: Vec<Cause>, head: Option<Cause>) -> Vec<Cause> {
    let second = causes[1];
    causes.retain(|cause| cause.gain > 0.0);
    if let Some(head) = head {
        causes.insert(0, head);
    }
    if causes.len() == 1 {
        // A runner-up is always named. Without another cause it is that nothing is wrong.
        let name = if causes[0].name == PatternName::Healthy { second.name } else { PatternName::Healthy };
        causes.push(Cause { name, share: 0.0, gain: 0.0 });
    }
    causes.truncate(4);
    causes
}

/// Puts the causes in order, the largest gain first.
pub(crate) fn rank(causes: &mut [Cause]) {
    causes.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.name.cmp(&b.name)));
    grain_first(causes);
}

/// Puts grain first where dispatch takes more than work, because idle workers then have nothing
/// worth taking.
fn grain_first(causes: &mut [Cause]) {
    let overhead = causes.iter().position(|cause| cause.name == PatternName::SchedulingOverhead);
    if let Some(at) = overhead.filter(|at| causes[*at].gain >= 0.5) {
        causes[..=at].rotate_right(1);
    }
}

/// Whether the window is too short for a verdict.
pub(super) fn is_too_short(evidence: &Evidence<'_>) -> bool {
    evidence.profile.points < POINTS || evidence.profile.window < WINDOW_NS
}

/// The reasons that forbid a verdict.
fn refusals(evidence: &Evidence<'_>, causes: &[Cause]) -> Vec<String> {
    let profile = evidence.profile;
    let tasks = evidence.sums.sums.durations.count();
    let mut thin = Vec::new();
    // The time from begin to begin on one worker. Tasks alone may take less than a step of the
    // clock; sums over many of them are not off by that.
    let busy = (profile.losses.work + profile.losses.dispatch) * profile.workers as f64;
    let period = profile.window as f64 * busy / tasks.max(1) as f64;
    if tasks == 0 {
        thin.push("no tasks".into());
    } else if is_too_short(evidence) {
        thin.push(format!(
            "the window is only {:.1} us; record at least a second",
            profile.window as f64 / 1e3
        ));
    } else if is_busy(evidence) && causes[0].name != PatternName::Preempted && evidence.cpus_free() >= WORTH {
        thin.push(format!("{:.0} % of the time was preempted", profile.losses.preempted * 100.0));
    } else if (evidence.resolution_ns as f64) > period && profile.losses.dispatch >= WORTH {
        thin.push(format!(
            "tasks follow each other within the clock's step of {} ns",
            evidence.resolution_ns
        ));
    }
    thin
}

/// Doubts why workers wait if what ends their waits was not seen, or speaks for another cause.
fn unseen(evidence: &Evidence<'_>, name: PatternName) -> Option<String> {
    let (released, workers) = (evidence.releases.released(), evidence.profile.workers);
    match (name, released) {
        (PatternName::UnderDecomposition | PatternName::SerialBottleneck, Released::ByNothingSeen) => {
            Some("waits end while no task ends: what is not seen (input, a timer) may end them".into())
        }
        (PatternName::TooLittleReady, _)
            if evidence.all_blocked().is_none()
                && (some_are_long(evidence) || evidence.releases.together(workers) > 0.5) =>
        {
            Some("the long tasks may wait inside for others".into())
        }
        (PatternName::UnderDecomposition, Released::Unclear | Released::ByEnds)
            if waits_between_tasks(evidence) >= 0.3 && evidence.releases.beyond_chance() < 0.9 =>
        {
            Some("some waits end while no task ends: what is not seen (input, a timer) may end them".into())
        }
        (PatternName::TooLittleReady, Released::Unclear) => {
            Some("too few waits were seen to end to tell what ends them".into())
        }
        (PatternName::SerialBottleneck, _) if workers == 2 && evidence.profile.all_active > 0.0 => {
            Some("with two workers, whoever waits waits for the other one".into())
        }
        (PatternName::LoadImbalance, Released::Unclear) if evidence.profile.losses.starvation == 0.0 => {
            Some("workers wait at the end alone: tasks may be few, or divided unevenly".into())
        }
        _ => None,
    }
}

/// Doubts a long task if run delay is not known, because a task that lost its CPU looks long. A
/// task whose name is long every time is long. No timeline can tell for the others.
fn may_be_preempted(evidence: &Evidence<'_>) -> Option<String> {
    let longest = evidence.sums.sums.top.longest().first().copied()?;
    let names = evidence.sums.names.costliest();
    let of_name = names.iter().find(|name| name.name == longest.name);
    let usual = of_name.map_or(0.0, |name| name.total as f64 / name.tasks.max(1) as f64);
    (!evidence.sums.delay_known && usual * 2.0 <= longest.duration as f64).then(|| {
        "run delay is not known: tasks that are long in one run and not in the next have lost their CPU"
            .into()
    })
}

fn count(number: u64, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// The reasons that weaken a verdict.
fn reasons(evidence: &Evidence<'_>) -> Vec<String> {
    let profile = evidence.profile;
    let tasks = evidence.sums.sums.durations.count();
    let mut reasons = Vec::new();
    if !evidence.ordered {
        reasons.push("gaps are not known, so dispatch counts as idle time".into());
    }
    if tasks < 4 * profile.workers {
        reasons.push(format!("only {} on {}", count(tasks, "task"), count(profile.workers, "worker")));
    }
    if profile.window < 100 * WINDOW_NS {
        reasons.push("the window is shorter than 100 ms: one late wake-up can change the picture".into());
    }
    if profile.run_one_by_one() && profile.losses.dispatch > profile.losses.work / 4.0 {
        reasons.push("tasks run one after the other: both their size and their order hold them up".into());
    }
    if evidence.unknown >= WORTH {
        reasons.push(format!(
            "{:.0} % of the time may be a task's or a pause's: it was not timed (see exact)",
            evidence.unknown * 100.0
        ));
    }
    if evidence.cpus_free() < WORTH && profile.losses.work + profile.losses.dispatch < 1.0 - WORTH {
        reasons.push("the program keeps its CPUs busy: more at once gains nothing on these".into());
    }
    if let Some(own) = evidence.parent_self.filter(|_| may_make_children(evidence)) {
        reasons.push(format!(
            "{:.0} % of the time is parents outside of their children: at work, or making these",
            own * 100.0
        ));
    }
    if evidence.parent_self.is_none() {
        reasons.push("nesting could not be resolved".into());
    }
    reasons
}
