//! Names the culprits of a pattern: the tasks and workers that ran at the points of its loss, and
//! the time ranges in which it lies.
//!
//! | pattern | points of its loss | weight |
//! |---|---|---|
//! | scheduling overhead | a busy worker is between two tasks | such workers |
//! | outside | no worker is active | all workers |
//! | serial, straggler, under-decomposition, imbalance, too little ready | some wait and some are active, divided as [`causes`](super::causes) divides them | those that wait |
//! | event loop blocked | a slow step runs | 1 |
//!
//! Points know neither parents that wait nor run delay, so the patterns of these name nobody. Where
//! CPU times of tasks are known, the names tell who was off the CPU.
//!
//! At a point, the longest piece of work counts, because it is what others wait for. Where no task
//! runs, it is the latest one: what ran before a pause.

use std::collections::BTreeMap;

use taskscale_model::digest::{PatternName, TaskShare, ThreadShare, TimeRange};

use super::{
    cause::Cause,
    causes::{SLOW_STEP_NS, few_long, held_up_by, ran_alone},
    ranges::ranges,
};
use crate::{evidence::Evidence, grid::Who, histogram::bucket, names::mark, profile::Point, top::ShortName};

/// The most names, workers and ranges of a pattern.
const MOST: usize = 3;
/// The least share of a name that is worth naming.
const LEAST: f64 = 0.1;
/// A worker is named if it ran for so many times its even part, and at most this share.
const STANDS_OUT: (f64, f64) = (1.5, 0.9);

/// Who is to blame, and when.
#[derive(Debug, Default)]
pub(crate) struct Culprits {
    pub tasks: Vec<TaskShare>,
    pub threads: Vec<ThreadShare>,
    pub when: Vec<TimeRange>,
    pub all_along: bool,
}

/// What all patterns of a digest share.
pub(crate) struct Scene<'a> {
    evidence: &'a Evidence<'a>,
    /// The patterns that are named at all.
    named: Vec<PatternName>,
    /// The bucket from which on tasks are few and long.
    few: Option<usize>,
    /// The worker that all others wait for, even while some of them are active.
    holder: Option<u32>,
    /// Who ran last, at each point.
    latest: Vec<Who>,
    /// The names by their marks. Where two names share a mark there is none.
    names: BTreeMap<u32, Option<ShortName>>,
}

impl<'a> Scene<'a> {
    /// O(points + names).
    pub fn new(evidence: &'a Evidence<'a>, ranked: &[Cause]) -> Self {
        let mut last = Who::default();
        let latest = evidence.profile.seen.iter().map(|point| {
            last = if point.busy > 0 { point.who } else { last };
            last
        });
        let latest = latest.collect();
        let mut names = BTreeMap::new();
        for name in evidence.sums.names.costliest() {
            names.entry(name.mark).and_modify(|known| *known = None).or_insert(Some(name.name));
        }
        // A long task is known even where its name was displaced by others.
        for long in evidence.sums.sums.top.longest() {
            names.entry(mark(long.name.bytes())).or_insert(Some(long.name));
        }
        let named = ranked.iter().filter(|cause| cause.share > 0.0).map(|cause| cause.name).collect();
        Scene { evidence, named, few: few_long(evidence), holder: held_up_by(evidence), latest, names }
    }

    /// The culprits of a pattern. O(points).
    pub fn culprits(&self, name: PatternName) -> Culprits {
        if matches!(name, PatternName::RecursiveOverlap | PatternName::BlockedInTasks) {
            return Culprits { tasks: self.off_cpu(name), ..Culprits::default() };
        }
        let profile = self.evidence.profile;
        let weights: Vec<f64> = profile.seen.iter().map(|point| self.weight(name, point)).collect();
        let all: f64 = weights.iter().sum();
        if all <= 0.0 {
            return Culprits::default();
        }
        // At a point of time one task is known. Where one worker holds up the others, its own tasks
        // speak for all.
        let holder = self.holder.filter(|_| name == PatternName::SerialBottleneck);
        let counts = |who: &Who| holder.is_none() || who.worker() == holder;
        let known: Vec<(f64, Who)> = weights.iter().copied().zip(self.latest.iter().copied()).collect();
        let known = || known.iter().filter(|(weight, who)| *weight > 0.0 && counts(who));
        let told: f64 = known().map(|(weight, _)| weight).sum();
        let (mut by_name, mut by_worker) = (BTreeMap::new(), BTreeMap::new());
        for (weight, who) in known() {
            *by_name.entry(who.name).or_insert(0.0) += weight / told;
            if let Some(worker) = who.worker() {
                *by_worker.entry(worker).or_insert(0.0) += weight / told;
            }
        }
        if let Some(holder) = holder {
            by_worker.insert(holder, 1.0);
        }
        let dispatch = name == PatternName::SchedulingOverhead;
        let when = self.when(&weights, all);
        Culprits {
            tasks: if dispatch { self.most_often() } else { self.tasks(&by_name) },
            // While a worker is between two tasks, others run that have no part in it.
            threads: if dispatch { Vec::new() } else { self.threads(&by_worker) },
            all_along: when.is_none(),
            when: when.unwrap_or_default(),
        }
    }

    /// The part that a point has in the loss of a pattern.
    fn weight(&self, name: PatternName, point: &Point) -> f64 {
        let waiting = (self.evidence.profile.workers - point.active) as f64;
        match name {
            PatternName::SchedulingOverhead => (point.active - point.busy) as f64,
            PatternName::OutsideRun if point.active == 0 => waiting,
            PatternName::EventLoopBlocked if point.busy > 0 && point.longest > bucket(SLOW_STEP_NS) => 1.0,
            PatternName::SerialBottleneck
            | PatternName::StragglerTasks
            | PatternName::UnderDecomposition
            | PatternName::LoadImbalance
            | PatternName::TooLittleReady
                if point.active > 0 && self.is_of(name, point) =>
            {
                waiting
            }
            _ => 0.0,
        }
    }

    /// Whether a point at which some wait counts for a pattern.
    fn is_of(&self, name: PatternName, point: &Point) -> bool {
        let has = |name: PatternName| self.named.contains(&name);
        let (serial, straggler) = (PatternName::SerialBottleneck, PatternName::StragglerTasks);
        if self.holder.is_some() && has(serial) {
            return name == serial;
        }
        let long = self.few.is_some_and(|few| point.longest >= few);
        let of = match point.active {
            1 if long && has(serial) && ran_alone(self.evidence, point.longest) => serial,
            _ if long && has(straggler) => straggler,
            1 if has(serial) => serial,
            _ => return name != serial && name != straggler,
        };
        name == of
    }

    fn tasks(&self, shares: &BTreeMap<u32, f64>) -> Vec<TaskShare> {
        let known = |(mark, share): (&u32, &f64)| {
            let name = (*self.names.get(mark)?)?;
            Some((name.text(), *share)).filter(|(name, _)| !name.is_empty())
        };
        most(shares.iter().filter_map(known), LEAST)
            .into_iter()
            .map(|(name, share)| TaskShare { name, share })
            .collect()
    }

    /// The names of parents, or of the others, by their time off the CPU.
    fn off_cpu(&self, pattern: PatternName) -> Vec<TaskShare> {
        let mut names = self.evidence.sums.names.costliest();
        let parents = pattern == PatternName::RecursiveOverlap;
        names.retain(|name| name.off_cpu > 0 && (name.own() < name.total) == parents);
        let all = names.iter().map(|name| name.off_cpu as f64).sum::<f64>();
        most(names.iter().map(|name| (name.name.text(), name.off_cpu as f64 / all)), LEAST)
            .into_iter()
            .map(|(name, share)| TaskShare { name, share })
            .collect()
    }

    /// The names by how many tasks have them.
    fn most_often(&self) -> Vec<TaskShare> {
        let all = self.evidence.sums.sums.durations.count().max(1) as f64;
        let names = self.evidence.sums.names.costliest();
        most(names.iter().map(|name| (name.name.text(), name.tasks as f64 / all)), LEAST)
            .into_iter()
            .map(|(name, share)| TaskShare { name, share })
            .collect()
    }

    fn threads(&self, shares: &BTreeMap<u32, f64>) -> Vec<ThreadShare> {
        if self.evidence.profile.workers < 2 {
            return Vec::new();
        }
        let even = 1.0 / self.evidence.sums.active().count().max(1) as f64;
        let least = (STANDS_OUT.0 * even).min(STANDS_OUT.1);
        most(shares.iter().map(|(worker, share)| (*worker, *share)), least)
            .into_iter()
            .map(|(worker, share)| ThreadShare { worker, thread: None, share })
            .collect()
    }

    /// The ranges in time, or `None` where the loss lies all along.
    fn when(&self, weights: &[f64], all: f64) -> Option<Vec<TimeRange>> {
        let profile = self.evidence.profile;
        let since = |time: i64| time.saturating_sub(profile.start).clamp(0, profile.window as i64) as u64;
        let found = ranges(weights)?.into_iter().map(|range| TimeRange {
            from_ns: since(profile.seen[range.start].begin),
            to_ns: since(profile.seen[range.end - 1].begin.saturating_add(profile.step as i64)),
            share: weights[range].iter().sum::<f64>() / all,
        });
        Some(found.collect())
    }
}

/// The largest shares, at least `least` each; of equal ones the first by order.
fn most<K: Ord>(shares: impl Iterator<Item = (K, f64)>, least: f64) -> Vec<(K, f64)> {
    let mut shares: Vec<(K, f64)> = shares.filter(|(_, share)| *share >= least).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    shares.truncate(MOST);
    shares
}
