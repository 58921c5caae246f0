//! Judges one seed: what is true, what the digest says, and whether that is right.

use taskscale_digest::{Accumulator, Config, Thresholds};
use taskscale_model::{
    digest::{Digest, PatternName},
    span::{Account, Span},
};

use crate::{
    case::{Case, Cause},
    schedule::{observe, run},
};

/// The gain from which a fix is worth naming. It is the digest's own definition.
pub const WORTH: f64 = 0.1;

/// The truth about a case, and what the digest says about it.
#[derive(Debug, Clone)]
pub struct Trial {
    pub case: Case,
    /// The share of the time that removing each cause would save. It is found by executing the case
    /// without the cause.
    pub gains: Vec<(Cause, f64)>,
    /// The cause that saves most, if that is worth naming.
    pub truth: PatternName,
    /// How clear the truth is. At 1 it could be either. At 2 the cause saves twice what the next
    /// one does and twice what is worth naming (or half of that, where nothing is to be found).
    pub margin: f64,
    pub digest: Digest,
    /// The sums from which the digest was made.
    sums: Accumulator,
}

/// Returns the pattern that names a cause.
pub fn pattern(cause: Cause) -> PatternName {
    match cause {
        Cause::Scheduling => PatternName::SchedulingOverhead,
        Cause::Serial => PatternName::SerialBottleneck,
        Cause::Imbalance => PatternName::LoadImbalance,
        Cause::Straggler => PatternName::StragglerTasks,
        Cause::Recursive => PatternName::RecursiveOverlap,
        Cause::Under => PatternName::UnderDecomposition,
        Cause::Outside => PatternName::OutsideRun,
        Cause::Preempted => PatternName::Preempted,
        Cause::Blocking => PatternName::EventLoopBlocked,
    }
}

/// Executes a case with and without each cause, and digests it.
pub fn trial(case: Case) -> Trial {
    let config = Config { workers: Some(case.workers as u32), ..Config::default() };
    let mut accumulator = Accumulator::new(config);
    let time = observe(&case, &mut accumulator);
    let digest = accumulator.finish(&account());
    let gain = |case: &Case| 1.0 - run(case, &mut |_: &Span<'_>| ()) / time.max(1.0);
    let planted = |cause: Cause| case.causes.contains(&cause);
    let mut gains = Vec::new();
    for cause in Cause::ALL {
        let alone = gain(&case.without(cause)).max(0.0);
        // Splitting everything also splits stragglers. Only what it wins beyond that counts for too
        // coarse tasks.
        let other = if cause == Cause::Under && planted(Cause::Straggler) {
            gain(&case.without(Cause::Straggler)).max(0.0)
        } else {
            0.0
        };
        gains.push((cause, (alone - other).max(0.0)));
    }
    // An event loop that waits for events loses nothing by it. Without a step that blocks the loop,
    // spans do not show that it is one.
    if gains.iter().any(|(cause, gain)| *cause == Cause::Blocking && *gain >= WORTH) {
        gains.retain(|(cause, _)| *cause != Cause::Outside);
    }
    gains.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (first, second) = (gains[0], gains[1]);
    let (truth, margin) = if first.1 < WORTH {
        (PatternName::Healthy, WORTH / first.1.max(1e-9))
    } else {
        (pattern(first.0), (first.1 / WORTH).min(first.1 / second.1.max(1e-9)))
    };
    // Two causes may hold each other up: removing both wins much more than each wins by itself.
    // Then neither is the cause.
    let entangled = match case.causes[..] {
        [one, two] => {
            let both = gain(&case.without(one).without(two));
            let alone = |cause| gain(&case.without(cause)).max(0.0);
            both > alone(one) + alone(two) + WORTH
        }
        _ => false,
    };
    let margin = if entangled { 1.0 } else { margin };
    Trial { case, gains, truth, margin, digest, sums: accumulator }
}

/// Returns an account of simulated times, which are exact to 1 ns.
fn account() -> Account {
    Account { clock_resolution_ns: 1, ..Account::default() }
}

impl Trial {
    /// Digests the same spans with other thresholds.
    pub fn redo(&mut self, thresholds: &Thresholds) {
        self.digest = self.sums.finish_with(&account(), thresholds);
    }

    /// Returns the digest's diagnosis.
    pub fn diagnosis(&self) -> PatternName {
        self.digest.patterns[0].name
    }

    /// Tells whether the spans can show the truth. A source that knows no run delay cannot tell
    /// lost time from work.
    pub fn is_visible(&self) -> bool {
        self.truth != PatternName::Preempted || self.case.preemption.is_none_or(|preemption| preemption.known)
    }

    /// Tells whether the diagnosis is the truth.
    pub fn is_right(&self) -> bool {
        self.diagnosis() == self.truth
    }

    /// Tells whether the truth is among the first two, or the digest declined to choose.
    pub fn is_fair(&self) -> bool {
        matches!(self.diagnosis(), PatternName::Mixed | PatternName::Inconclusive)
            || self.digest.patterns.iter().take(2).any(|pattern| pattern.name == self.truth)
    }

    /// Returns the predicted over the true speed-up for the true cause, where it is worth fixing
    /// and the digest lists it.
    pub fn speedup_ratio(&self) -> Option<f64> {
        let truth = 1.0 / (1.0 - self.gains[0].1.min(0.999));
        let found = self.digest.patterns.iter().find(|pattern| pattern.name == self.truth)?;
        (self.truth != PatternName::Healthy).then(|| found.bound / truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seeds are fixed, so this cannot fail by chance. The figures that count are those of the
    /// experiment `diagnose`.
    #[test]
    fn clear_cases_are_told_right_and_their_gain_is_predicted() {
        let (mut clear, mut right, mut predicted, mut near) = (0, 0, 0, 0);
        for seed in 0..360 {
            let cause = Cause::ALL[seed as usize % Cause::ALL.len()];
            let planted = if seed % 4 == 0 { vec![] } else { vec![cause] };
            let trial = trial(Case::draw(seed, &planted));
            if trial.margin < 2.0 || !trial.is_visible() {
                continue;
            }
            clear += 1;
            right += u32::from(trial.is_right());
            if let Some(ratio) = trial.speedup_ratio() {
                predicted += 1;
                near += u32::from((ratio - 1.0).abs() <= 0.15);
            }
        }
        assert!(clear > 200 && right * 100 >= clear * 97, "{right} of {clear}");
        assert!(predicted > 100 && near * 100 >= predicted * 93, "{near} of {predicted}");
    }

    /// The sum of run delay does not say which task it was in. The digest may therefore decline,
    /// and may not blame a task.
    #[test]
    fn lost_cpu_is_not_taken_for_a_long_task() {
        let mut named = 0;
        for seed in 0..150 {
            let mut case = Case::draw(seed, &[Cause::Preempted]);
            if let Some(preemption) = &mut case.preemption {
                preemption.known = true;
            }
            let trial = trial(case);
            if trial.truth == PatternName::Preempted && trial.margin >= 1.5 {
                let declined = matches!(trial.diagnosis(), PatternName::Inconclusive | PatternName::Mixed);
                assert!(trial.is_right() || declined, "{seed}: {:?}", trial.digest.patterns);
                named += u32::from(trial.is_right());
            }
        }
        assert!(named >= 50, "{named}");
    }

    /// The digest says that what no timeline can show is unknown.
    #[test]
    fn without_run_delay_a_straggler_is_not_certain() {
        let mut found = 0;
        for seed in 0..60 {
            let trial = trial(Case::draw(seed, &[Cause::Straggler]));
            if trial.diagnosis() == PatternName::StragglerTasks {
                found += 1;
                let reasons = &trial.digest.confidence.reasons;
                assert!(reasons.iter().any(|reason| reason.contains("run delay is not known")), "{seed}");
            }
        }
        assert!(found > 20, "{found}");
    }
}
