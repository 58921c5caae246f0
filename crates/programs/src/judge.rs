//! What is wrong with a program, found by changing it.
//!
//! Every sensible change is carried out, and the program is executed again with the same random
//! numbers. What helps most is what was wrong.

mod grid;

use taskscale_model::digest::PatternName;

use crate::{
    change::Change,
    execution::Execution,
    program::{Program, Role},
    view::View,
};

/// Whether spans can show what a change removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Gaps, orders or lengths of spans show it.
    BySpans,
    /// Only who knows for how long workers had no core can tell.
    ByRunDelay,
    /// It lies inside of spans that look like work.
    Never,
}

/// What the best change of a class gains.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    pub class: PatternName,
    pub change: Change,
    /// Time before over time after.
    pub speedup: f64,
    /// As `speedup`, of the mean response.
    pub response: Option<f64>,
    pub shown: Shown,
}

/// What a diagnosis is held to.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    pub time_ns: u64,
    pub response_ns: Option<f64>,
    /// The best change of each class, the best class first.
    pub gains: Vec<Gain>,
    /// What a diagnosis may say.
    pub acceptable: Vec<PatternName>,
    /// No change gives more than `WORTH`, or arrivals set the pace.
    pub nothing_to_fix: bool,
    /// Work comes from outside at its own times.
    pub arrivals: bool,
    /// The speed-up at which workers would never be idle, with spans as long as they are.
    room: f64,
    event_loop: bool,
    fewer_workers_do: bool,
    thin: bool,
}

/// A speed-up that is worth a change.
pub const WORTH: f64 = 1.10;
/// A class that gains less is no answer to anything.
const NOTICED: f64 = 1.03;
/// What may be promised to a program that waits for arrivals.
const PROMISE: f64 = 1.05;
/// A loop answers so much sooner that it was held up.
const SOONER: f64 = 1.25;

impl Truth {
    /// Whether a diagnosis with its predicted speed-up is right.
    pub fn accepts(&self, name: PatternName, predicted_speedup: f64) -> bool {
        self.acceptable.contains(&name) || (self.arrivals && predicted_speedup <= PROMISE)
    }

    /// What a diagnosis may say that saw no more than this view shows. It contains `acceptable`.
    pub fn acceptable_in(&self, view: &View) -> Vec<PatternName> {
        let shown = |gain: &&Gain| match gain.shown {
            Shown::BySpans => true,
            Shown::ByRunDelay => view.run_delay_known,
            Shown::Never => false,
        };
        let seen: Vec<Gain> = self.gains.iter().filter(shown).map(|gain| self.seen(gain)).collect();
        let mut gains: Vec<&Gain> = seen.iter().collect();
        gains.sort_by(|a, b| b.speedup.total_cmp(&a.speedup));
        let mut names = self.acceptable.clone();
        names.extend(self.verdict(&gains).into_iter().filter(|name| !self.acceptable.contains(name)));
        names
    }

    /// What spans show of a gain. A change that moves spans saves idle time at most; what saves
    /// more makes spans shorter, by less dispatch, waiting or locking inside of what looks like
    /// work.
    fn seen(&self, gain: &Gain) -> Gain {
        let moves = match gain.change {
            Change::UseWorkers { .. }
            | Change::FreeCpus
            | Change::ContinueInsteadOfWait
            | Change::UnblockLoop => false,
            Change::BatchTasks { .. }
            | Change::SplitTasks { .. }
            | Change::SplitLongest { .. }
            | Change::StartLongestFirst
            | Change::SplitAlone { .. }
            | Change::OverlapAlone
            | Change::SpeedUpMaster { .. }
            | Change::ShortenLock { .. }
            | Change::ShardLock { .. }
            | Change::ShareQueue
            | Change::RemovePauses => true,
        };
        Gain { speedup: if moves { gain.speedup.min(self.room) } else { gain.speedup }, ..gain.clone() }
    }

    /// The speed-up of the best change.
    pub fn best(&self) -> f64 {
        self.gains.first().map_or(1.0, |gain| gain.speedup.max(1.0))
    }

    /// What may be said where these are the gains, best first.
    fn verdict(&self, gains: &[&Gain]) -> Vec<PatternName> {
        let of_loop = gains.iter().find(|gain| gain.class == PatternName::EventLoopBlocked);
        // One worker that is no event loop gains by a second one as well. Nobody has to say so.
        let counts = |gain: &&&Gain| self.event_loop || gain.class != PatternName::EventLoopBlocked;
        let gains: Vec<&Gain> = gains.iter().filter(counts).copied().collect();
        let saving = |gain: &Gain| 1.0 - 1.0 / gain.speedup.max(1.0);
        let best = gains.first().map_or(0.0, |gain| saving(gain));
        let best_speedup = gains.first().map_or(1.0, |gain| gain.speedup);
        let mut names: Vec<PatternName> = gains
            .iter()
            .filter(|gain| gain.speedup >= NOTICED)
            .filter(|gain| saving(gain) >= 0.7 * best || saving(gain) >= best - 0.05)
            .map(|gain| gain.class)
            .collect();
        if best_speedup <= WORTH {
            names.insert(0, PatternName::Healthy);
            if self.fewer_workers_do {
                names.push(PatternName::UnderDecomposition);
            }
        }
        let other = gains.iter().find(|gain| gain.class != gains[0].class);
        if let (Some(first), Some(second)) = (gains.first(), other)
            && second.speedup > WORTH
            && saving(second) * 2.0 >= saving(first)
        {
            names.push(PatternName::Mixed);
        }
        if self.arrivals {
            names.extend([PatternName::Healthy, PatternName::OutsideRun]);
        }
        let held_up =
            |gain: &&&Gain| gain.speedup > WORTH || gain.response.is_some_and(|response| response >= SOONER);
        names.extend(of_loop.filter(held_up).map(|gain| gain.class));
        if self.thin {
            names.push(PatternName::Inconclusive);
        }
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(*name);
                true
            }
        });
        names
    }
}

/// Time before over time after. 0 where the changed program never ends or means nothing.
pub fn speedup(program: &Program, change: &Change) -> f64 {
    let Ok(before) = program.try_execute() else { return 0.0 };
    let after = program.with(change).and_then(|changed| changed.try_execute().ok());
    after.map_or(0.0, |after| ratio(&before, &after))
}

fn ratio(before: &Execution, after: &Execution) -> f64 {
    before.time_ns as f64 / after.time_ns.max(1) as f64
}

/// The pattern that advises a change.
pub fn class(program: &Program, change: &Change) -> PatternName {
    match change {
        Change::BatchTasks { .. } => PatternName::SchedulingOverhead,
        Change::SplitTasks { name: Some(name), .. } if is_alone(program, name) => {
            PatternName::SerialBottleneck
        }
        Change::UseWorkers { .. } if program.machine.cores.is_some() => PatternName::Preempted,
        Change::SplitTasks { .. } | Change::UseWorkers { .. } => PatternName::UnderDecomposition,
        Change::SplitLongest { .. } | Change::StartLongestFirst => PatternName::StragglerTasks,
        Change::SplitAlone { .. } | Change::OverlapAlone | Change::SpeedUpMaster { .. } => {
            PatternName::SerialBottleneck
        }
        Change::ShortenLock { .. } | Change::ShardLock { .. } => PatternName::SerialBottleneck,
        Change::ShareQueue => PatternName::LoadImbalance,
        Change::ContinueInsteadOfWait => PatternName::RecursiveOverlap,
        Change::RemovePauses => PatternName::OutsideRun,
        Change::UnblockLoop => PatternName::EventLoopBlocked,
        Change::FreeCpus => PatternName::Preempted,
    }
}

fn is_alone(program: &Program, name: &str) -> bool {
    let at = program.names.iter().position(|known| known == name);
    let mut of_name = program.tasks.iter().filter(|task| Some(usize::from(task.name)) == at);
    of_name.all(|task| task.role == Role::Alone)
}

fn shown(program: &Program, change: &Change) -> Shown {
    match change {
        Change::ShortenLock { .. } | Change::ShardLock { .. } => Shown::Never,
        Change::RemovePauses if program.machine.collection.is_some_and(|pause| !pause.between_tasks) => {
            Shown::Never
        }
        Change::FreeCpus => Shown::ByRunDelay,
        Change::UseWorkers { .. } if program.machine.cores.is_some() => Shown::ByRunDelay,
        _ => Shown::BySpans,
    }
}

/// Judges a program.
pub fn judge(program: &Program) -> Truth {
    judge_execution(program, &program.execute())
}

/// Judges a program that was executed already.
pub fn judge_execution(program: &Program, before: &Execution) -> Truth {
    let mut gains: Vec<Gain> = Vec::new();
    grid::each(program, before, |change, after| {
        let gain = Gain {
            class: class(program, &change),
            speedup: ratio(before, after),
            response: before
                .response_ns
                .zip(after.response_ns)
                .map(|(before, after)| before / after.max(1.0)),
            shown: shown(program, &change),
            change,
        };
        let speedup = gain.speedup;
        match gains.iter_mut().find(|known| known.class == gain.class && known.shown == gain.shown) {
            Some(known) if known.speedup < gain.speedup => *known = gain,
            Some(_) => {}
            None => gains.push(gain),
        }
        speedup
    });
    gains.sort_by(|a, b| b.speedup.total_cmp(&a.speedup));
    let mut truth = Truth {
        time_ns: before.time_ns,
        response_ns: before.response_ns,
        nothing_to_fix: false,
        gains,
        acceptable: Vec::new(),
        arrivals: program.arrivals,
        room: before.room(),
        event_loop: program.event_loop,
        fewer_workers_do: grid::fewer_workers_do(program, before),
        thin: before.window_ns() < 1_000_000 || before.spans.len() < 16 || before.preempted() > 0.3,
    };
    let gains: Vec<&Gain> = truth.gains.iter().collect();
    truth.acceptable = truth.verdict(&gains);
    truth.nothing_to_fix = truth.acceptable.contains(&PatternName::Healthy);
    truth
}

#[cfg(test)]
mod tests {
    use PatternName::*;

    use super::*;

    fn truth(gains: &[(PatternName, f64)], arrivals: bool) -> Truth {
        let gain = |(class, speedup): &(PatternName, f64)| Gain {
            class: *class,
            change: Change::ShareQueue,
            speedup: *speedup,
            response: None,
            shown: Shown::BySpans,
        };
        let gains: Vec<Gain> = gains.iter().map(gain).collect();
        Truth {
            time_ns: 1,
            response_ns: None,
            gains,
            acceptable: Vec::new(),
            nothing_to_fix: false,
            arrivals,
            room: f64::INFINITY,
            event_loop: false,
            fewer_workers_do: false,
            thin: false,
        }
    }

    fn verdict(gains: &[(PatternName, f64)], arrivals: bool) -> Vec<PatternName> {
        let truth = truth(gains, arrivals);
        truth.verdict(&truth.gains.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_moves_spans_saves_idle_time_at_most() {
        let view = View::sorted();
        let in_room = |room| Truth { room, ..truth(&[(LoadImbalance, 1.5)], false) }.acceptable_in(&view);
        assert_eq!(in_room(1.6), [LoadImbalance]);
        assert_eq!(in_room(1.05), [Healthy, LoadImbalance]);
    }

    #[test]
    fn seventy_percent_of_the_best_saving_will_do() {
        // The best saves 75 % of the time: 70 % of that is 52.5 %.
        let second = |speedup| verdict(&[(LoadImbalance, 4.0), (StragglerTasks, speedup)], false);
        assert_eq!(second(1.0 / 0.47), [LoadImbalance, StragglerTasks, Mixed]);
        assert_eq!(second(1.0 / 0.48), [LoadImbalance, Mixed]);
        assert_eq!(second(1.2), [LoadImbalance]);
        // Within 5 points of the makespan: 13 % and 9 %.
        let close = verdict(&[(LoadImbalance, 1.0 / 0.87), (StragglerTasks, 1.0 / 0.91)], false);
        assert_eq!(close, [LoadImbalance, StragglerTasks]);
    }

    #[test]
    fn little_to_gain_is_healthy() {
        assert_eq!(verdict(&[], false), [Healthy]);
        assert_eq!(verdict(&[(LoadImbalance, 1.02)], false), [Healthy]);
        assert_eq!(verdict(&[(LoadImbalance, 1.09)], false), [Healthy, LoadImbalance]);
        assert_eq!(verdict(&[(LoadImbalance, 1.11)], false), [LoadImbalance]);
        assert_eq!(verdict(&[], true), [Healthy, OutsideRun]);
        // A second worker is no news to a program that is no event loop.
        assert_eq!(verdict(&[(EventLoopBlocked, 1.9)], false), [Healthy, EventLoopBlocked]);
    }
}
