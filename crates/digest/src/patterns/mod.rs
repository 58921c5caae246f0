//! The diagnosis: which cause explains the loss.
//!
//! What ran meanwhile decides which cause each idle point of time is put down to ([`causes`]). Each
//! cause becomes a pattern, whose gain is the share of the run's time that removing it would save
//! ([`patterns()`]). The largest gain is the diagnosis, unless the evidence is too thin
//! ([`verdict`]). Who ran at the points of a pattern, and when these were, [`culprits`] tells. The
//! thresholds are ratios of quantities of the same run ([`Thresholds`](crate::Thresholds)). Only
//! definitions are absolute: a loss below [`cause::WORTH`] is healthy, and a cause that explains
//! less than half is not *the* cause.

mod advice;
mod alternative;
mod cause;
mod causes;
mod culprits;
mod delay;
mod ranges;
mod stages;
mod verdict;
mod words;

use taskscale_model::digest::{Alternative, Confidence, ConfidenceGrade, Pattern, PatternName};

use advice::Advice;
use culprits::Scene;

pub(crate) use cause::{Cause, WORTH};
pub(crate) use verdict::{head, listed, margin, rank};

use crate::evidence::Evidence;

/// What the evidence says.
pub(crate) struct Diagnosis {
    /// The diagnosis first.
    pub patterns: Vec<Pattern>,
    /// What it may be as well.
    pub alternative: Option<Alternative>,
    pub confidence: Confidence,
    /// All causes, in no order, those that cost nothing among them.
    pub causes: Vec<Cause>,
}

/// Judges.
pub(crate) fn diagnose(evidence: &Evidence<'_>) -> Diagnosis {
    let delay = delay::Delay::of(evidence);
    let most = causes::causes(evidence, delay.most);
    let least = causes::causes(evidence, delay.least);
    let causes = most.clone();
    let (ranked, mut confidence) = verdict::verdict(evidence, most, least);
    let alternative = alternative::alternative(evidence, &ranked);
    if alternative.is_some() && confidence.grade == ConfidenceGrade::High {
        confidence.grade = ConfidenceGrade::Medium;
    }
    let scene = Scene::new(evidence, &ranked);
    let patterns = ranked
        .iter()
        .enumerate()
        .map(|(rank, cause)| {
            let found = scene.culprits(cause.name);
            let who = found.tasks.first().map(|task| task.name.as_str());
            let advice = Advice::on(evidence, cause, &ranked[rank + 1..], who);
            Pattern {
                name: cause.name,
                share: cause.share.clamp(0.0, 1.0),
                evidence: words::words(evidence, cause, who),
                // A change may mend more than its own cause.
                bound: (1.0 / (1.0 - cause.gain.clamp(0.0, 0.999))).max(advice.predicted.to),
                shortens_tasks: cause.name == PatternName::SchedulingOverhead && advice::are_tiny(evidence),
                predicted: advice.predicted,
                remedy: advice.remedy,
                change: advice.change,
                tasks: found.tasks,
                threads: found.threads,
                when: found.when,
                all_along: found.all_along,
            }
        })
        .collect();
    Diagnosis { patterns, alternative, confidence, causes }
}
