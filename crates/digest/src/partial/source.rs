//! The partial of one source.

use taskscale_model::{
    digest::{Confidence, ConfidenceGrade, Digest, PatternName},
    missing::Reading,
    partial::{
        AccountSums, CauseSums, CostSums, Counts, Labels, LongSpan, LossSums, NamePart, NameSums,
        NestingSums, OffCpuSums, ParentSums, Partial, QueueSums, QueueTimes, SCHEMA, SOURCE_BYTES, TaskPart,
        Time, Told, Verdicts, WorkerPart, WorkerSums, Worst, hash, most, short, write,
    },
    span::Account,
};

use super::{lists::bag, merge};
use crate::{
    accumulator::Accumulator, finish, histogram::Histogram, patterns::Cause, thresholds::Thresholds,
};

/// Parts of a whole are kept as so many of it.
const BILLION: u128 = 1_000_000_000;

impl Accumulator {
    /// The sums so far as those of one source, at most 16 KiB of them, to be merged with others'.
    /// `thread` has the names of workers.
    ///
    /// Where it would be larger, the cheapest names are left out and counted as others, and then
    /// workers, notes and sentences.
    pub fn partial<'n>(
        &self,
        account: &Account,
        labels: &Labels,
        thread: impl Fn(u32) -> Option<&'n str>,
    ) -> Partial {
        let mut settled = self.clone();
        settled.settle();
        let (digest, causes) = finish::digest(&settled, account, &Thresholds::default());
        let name = |text: &str| short(text, most::NAME_BYTES);
        let label = |label: &Option<String>| Some(name(label.as_deref().unwrap_or_default()));
        let labels =
            Labels { host: label(&labels.host), stage: label(&labels.stage), rank: label(&labels.rank) };
        let source = Source {
            sums: &settled,
            digest: &digest,
            host: labels.host.clone().unwrap_or_default(),
            capacity: u128::from(digest.workers) * u128::from(digest.window_ns),
            thread: &|worker| thread(worker).map(name),
        };
        let mut partial = source.partial(labels, account, &causes);
        name_it(&mut partial, &"0".repeat(16));
        while write(&partial).len() > SOURCE_BYTES && leave_out(&mut partial) {}
        let id = format!("{:016x}", hash(&String::from_utf8_lossy(&write(&partial))));
        name_it(&mut partial, &id);
        partial
    }
}

/// Gives a source its id.
fn name_it(partial: &mut Partial, id: &str) {
    for worst in partial.causes.iter_mut().filter_map(|cause| cause.worst.as_mut()) {
        id.clone_into(&mut worst.id);
    }
    partial.ids = bag([(id, 1)], most::SOURCES, most::NAME_BYTES);
}

/// Leaves one thing out of what takes room. The result is whether there was any.
fn leave_out(partial: &mut Partial) -> bool {
    let names = &mut partial.names;
    let cheapest =
        |names: &[NamePart]| names.iter().enumerate().max_by_key(|(_, name)| *name).map(|(at, _)| at);
    if names.kept.len() > 8
        && let Some(at) = cheapest(&names.kept)
    {
        names.error_ns = names.error_ns.max(names.kept.remove(at).own_ns);
        names.overflowed = true;
        return true;
    }
    if names.costliest.len() > 8 {
        return names.costliest.pop().is_some();
    }
    let workers = &mut partial.workers;
    if workers.least.len() > 2 {
        return workers.least.pop().is_some();
    }
    if workers.busiest.len() > 2 {
        return workers.busiest.pop().is_some();
    }
    let account = &mut partial.account;
    for bag in [&mut account.notes, &mut account.dropped, &mut partial.verdicts.reasons] {
        if bag.kept.len() > 1 {
            bag.cut = true;
            return bag.kept.pop().is_some();
        }
    }
    let worst = |cause: &mut CauseSums| cause.worst.take_if(|worst| !worst.diagnosis).is_some();
    partial.causes.iter_mut().any(worst) || names.costliest.pop().is_some() || partial.longest.pop().is_some()
}

/// One source, and what was made of it.
struct Source<'s> {
    sums: &'s Accumulator,
    digest: &'s Digest,
    host: String,
    /// *Workers x window*.
    capacity: u128,
    thread: &'s dyn Fn(u32) -> Option<String>,
}

impl Source<'_> {
    /// A share of *workers x window* as worker time.
    fn time(&self, share: f64) -> u128 {
        of(self.capacity, share)
    }

    fn partial(&self, labels: Labels, account: &Account, causes: &[Cause]) -> Partial {
        let (digest, sums) = (self.digest, self.sums);
        let ordered = digest.gap.value().is_some() || sums.sums.gaps.count() == 0;
        Partial {
            schema: SCHEMA.to_owned(),
            labels,
            sources: 1,
            ids: bag([], most::SOURCES, most::NAME_BYTES),
            hosts: bag([(self.host.as_str(), 1)], most::HOSTS, most::NAME_BYTES),
            tasks: digest.tasks,
            time: Time {
                workers: digest.workers,
                capacity_ns: self.capacity,
                busy_ns: sums.busy(),
                shortest_window_ns: digest.window_ns,
                longest_window_ns: digest.window_ns,
                clock_resolution_ns: digest.clock_resolution_ns,
                peak: digest.parallelism.peak as u64,
            },
            losses: self.losses(),
            verdicts: self.verdicts(&digest.confidence),
            causes: self.causes(causes),
            durations: counts(&sums.sums.durations),
            gaps: if ordered { counts(&sums.sums.gaps) } else { Counts::default() },
            disordered: u64::from(!ordered),
            cost: told(&digest.scheduling_cost_ns, |cost| {
                let gaps = sums.sums.gaps.count().max(1);
                CostSums { gaps, total_ps: of(u128::from(gaps) * 1_000, *cost) }
            }),
            queue: told(&digest.queue, |_| {
                let delays = sums.waits.as_ref().map(|waits| counts(&waits.delays));
                QueueSums { delays: delays.unwrap_or_default() }
            }),
            queue_shares: match &digest.queue {
                Reading::Missing(missing) => Told { sums: None, silent: 1, why: Some(missing.clone()) },
                Reading::Value(queue) => told(&queue.shares, |shares| QueueTimes {
                    capacity_ns: self.capacity,
                    starved_ns: self.time(shares.starved),
                    dispatch_ns: self.time(shares.dispatch),
                    windows_ns: u128::from(digest.window_ns),
                    saturated_ns: of(u128::from(digest.window_ns), shares.saturated),
                }),
            },
            off_cpu: told(&digest.off_cpu, |off| OffCpuSums {
                capacity_ns: self.capacity,
                off_ns: self.time(off.share),
                parents_ns: self.time(off.parents),
                known_ns: of(sums.busy(), off.known),
                busy_ns: sums.busy(),
            }),
            parent_self: told(&digest.nesting.parent_self, |own| ParentSums {
                capacity_ns: self.capacity,
                own_ns: self.time(*own),
            }),
            nesting: NestingSums {
                nested: digest.nesting.nested,
                depth: digest.nesting.depth,
                overlapping: digest.nesting.overlapping,
            },
            workers: self.workers(),
            longest_ns: sums
                .sums
                .top
                .longest()
                .iter()
                .take(most::LONGEST)
                .map(|long| long.duration)
                .collect(),
            longest: self.longest(),
            names: self.names(),
            account: AccountSums {
                formats: bag([(account.format.as_str(), 1)], most::TEXTS, most::NAME_BYTES),
                bytes: account.bytes,
                seen: account.seen,
                counted: account.counted,
                workers: account.workers,
                untold: account.untold,
                dropped: bag(
                    account.dropped.iter().map(|dropped| (dropped.reason.as_str(), dropped.events)),
                    most::TEXTS,
                    most::NAME_BYTES,
                ),
                notes: bag(
                    digest.notes.iter().map(|note| (note.as_str(), 1)),
                    most::TEXTS,
                    most::SENTENCE_BYTES,
                ),
            },
        }
    }

    /// The losses as worker time. The largest takes what rounding leaves, so that they add up.
    fn losses(&self) -> LossSums {
        let mut terms = self.digest.losses.terms().map(|(_, share)| self.time(share));
        let largest = (0..terms.len()).max_by_key(|at| terms[*at]).unwrap_or_default();
        terms[largest] = 0;
        terms[largest] = self.capacity.saturating_sub(terms.iter().sum());
        let [work_ns, dispatch_ns, serial_ns, tail_ns, starvation_ns, preempted_ns, outside_ns] = terms;
        LossSums {
            work_ns,
            dispatch_ns,
            serial_ns,
            tail_ns,
            starvation_ns,
            preempted_ns,
            outside_ns,
            unknown_ns: self.time(self.digest.unknown),
        }
    }

    fn verdicts(&self, confidence: &Confidence) -> Verdicts {
        let is = |yes: bool| if yes { self.capacity } else { 0 };
        let head = self.digest.patterns.first().map(|pattern| pattern.name);
        Verdicts {
            inconclusive_ns: is(head == Some(PatternName::Inconclusive)),
            high_ns: is(confidence.grade == ConfidenceGrade::High),
            medium_ns: is(confidence.grade == ConfidenceGrade::Medium),
            low_ns: is(confidence.grade == ConfidenceGrade::Low),
            reasons: bag(
                confidence.reasons.iter().map(|reason| (reason.as_str(), 1)),
                most::TEXTS,
                most::SENTENCE_BYTES,
            ),
        }
    }

    fn causes(&self, causes: &[Cause]) -> Vec<CauseSums> {
        let none = |name| CauseSums {
            name,
            diagnosed: 0,
            lost_ns: 0,
            saved_ns: 0,
            from_ns: 0,
            to_ns: 0,
            worst: None,
        };
        let mut all = Vec::new();
        for cause in causes {
            let (lost_ns, saved_ns) = (self.time(cause.share), self.time(cause.gain));
            merge::causes(&mut all, &[CauseSums { lost_ns, saved_ns, ..none(cause.name) }]);
        }
        let saved = |speedup: f64| self.time(1.0 - 1.0 / speedup.max(1.0));
        for (rank, pattern) in self.digest.patterns.iter().enumerate() {
            let sentence = |text: &str| short(text, most::SENTENCE_BYTES);
            let lost_ns = self.time(pattern.share);
            let worst = Worst {
                diagnosis: rank == 0,
                lost_ns,
                host: self.host.clone(),
                id: String::new(),
                evidence: sentence(&pattern.evidence),
                remedy: sentence(&pattern.remedy),
                change: pattern.change.clone(),
                shortens_tasks: pattern.shortens_tasks,
                tasks: pattern
                    .tasks
                    .iter()
                    .map(|task| TaskPart {
                        name: short(&task.name, most::NAME_BYTES),
                        millionths: (task.share.clamp(0.0, 1.0) * 1e6).round() as u64,
                    })
                    .collect(),
                alternative: self.digest.alternative.clone().filter(|_| rank == 0),
            };
            // What a head of the list has is no cause of its own: it adds no loss to others.
            let is_cause = causes.iter().any(|cause| cause.name == pattern.name);
            let part = CauseSums {
                diagnosed: u64::from(rank == 0),
                lost_ns: if is_cause { 0 } else { lost_ns },
                from_ns: saved(pattern.predicted.from),
                to_ns: saved(pattern.predicted.to),
                worst: Some(worst),
                ..none(pattern.name)
            };
            merge::causes(&mut all, &[part]);
        }
        all
    }

    fn workers(&self) -> WorkerSums {
        let window = self.digest.window_ns;
        let start = self.sums.active().map(|(_, worker)| worker.first).min().unwrap_or_default();
        let mut busiest: Vec<WorkerPart> = self
            .sums
            .active()
            .map(|(index, worker)| WorkerPart {
                busy: (u128::from(worker.busy.min(window)) * BILLION / u128::from(window.max(1))) as u64,
                host: self.host.clone(),
                worker: index,
                thread: None,
                tasks: worker.tasks,
                first_ns: (worker.first - start) as u64,
                last_ns: (worker.last - start) as u64,
            })
            .collect();
        busiest.sort_unstable();
        let active = busiest.len() as u64;
        let (mut busy, mut busy_squared) = (0, 0);
        for worker in &busiest {
            busy += u128::from(worker.busy);
            busy_squared += u128::from(worker.busy).pow(2);
        }
        let mut tenths = [0; 10];
        for (tenth, count) in tenths.iter_mut().zip(&self.digest.workers_detail.by_busy) {
            *tenth = *count;
        }
        let mut least: Vec<WorkerPart> = busiest.iter().rev().take(most::WORKERS).cloned().collect();
        busiest.truncate(most::WORKERS);
        for worker in busiest.iter_mut().chain(&mut least) {
            worker.thread = (self.thread)(worker.worker);
        }
        WorkerSums { active, busy, busy_squared, tenths, busiest, least }
    }

    fn longest(&self) -> Vec<LongSpan> {
        let start = self.sums.active().map(|(_, worker)| worker.first).min().unwrap_or_default();
        let longest = self.sums.sums.top.longest();
        let mut longest: Vec<LongSpan> = longest
            .iter()
            .map(|long| LongSpan {
                duration_ns: long.duration,
                host: self.host.clone(),
                worker: long.worker,
                thread: None,
                name: short(&long.name.text(), most::NAME_BYTES),
                start_ns: long.start.saturating_sub(start).max(0) as u64,
            })
            .collect();
        longest.sort_unstable();
        longest.truncate(most::OUTLIERS);
        for long in &mut longest {
            long.thread = (self.thread)(long.worker);
        }
        longest
    }

    fn names(&self) -> NameSums {
        let names = self.sums.names.costliest();
        let all = names.iter().filter(|name| name.tasks > 0);
        let left_out = all.clone().nth(most::NOMINATED).map(|name| name.own());
        let part = |name: &crate::names::Name| NamePart {
            own_ns: name.own(),
            name: short(&name.name.text(), most::NAME_BYTES),
            tasks: name.tasks,
            total_ns: name.total,
        };
        let mut sums = NameSums::default();
        for name in all.take(most::NOMINATED).map(part) {
            sums.cut |= super::lists::join(&mut sums.kept, &[name], most::NAMES);
        }
        sums.costliest = sums.kept.clone();
        sums.costliest.sort_unstable();
        sums.costliest.truncate(most::COSTLIEST);
        sums.error_ns = self.sums.names.error.max(left_out.unwrap_or_default());
        sums.overflowed = self.sums.names.error > 0 || left_out.is_some();
        sums
    }
}

/// A share of an amount, rounded.
fn of(amount: u128, share: f64) -> u128 {
    (share.max(0.0) * amount as f64).round() as u128
}

fn told<T, S>(reading: &Reading<T>, sums: impl Fn(&T) -> S) -> Told<S> {
    match reading {
        Reading::Value(value) => Told { sums: Some(sums(value)), silent: 0, why: None },
        Reading::Missing(missing) => Told { sums: None, silent: 1, why: Some(missing.clone()) },
    }
}

/// A histogram without what it does not hold at either end.
fn counts(histogram: &Histogram) -> Counts {
    let counts: Vec<u64> = histogram.counts().iter().map(|count| u64::from(*count)).collect();
    let (from, counts) = trimmed(counts);
    let (sums_from, sums) = trimmed(histogram.sums().to_vec());
    let (count, min, max) = (histogram.count(), histogram.min(), histogram.max());
    Counts { count, min, max, from, counts, sums_from, sums }
}

/// The numbers from the first to the last that is not 0, and where they begin.
fn trimmed(mut numbers: Vec<u64>) -> (u64, Vec<u64>) {
    while numbers.pop_if(|number| *number == 0).is_some() {}
    let from = numbers.iter().take_while(|number| **number == 0).count();
    (from as u64, numbers.split_off(from))
}
