//! The digest of a partial: of one source, or of all that were merged.

use taskscale_model::{
    digest::{
        Confidence, ConfidenceGrade, Digest, Histograms, Losses, NameCost, Names, Nesting, OffCpu, Outlier,
        Parallelism, Pattern, PatternName, Quantiles, Queue, QueueShares, SCHEMA, Speedup, TaskShare,
        TimeClass, WorkerDetail, WorkersDetail,
    },
    figure::time,
    missing::Reading,
    partial::{CauseSums, Counts, Partial, Told, WorkerPart, Worst, most, short},
    span::{Account, Dropped},
};

use crate::{
    finish::{NAMES, disordered},
    histogram::{BUCKETS, OCTAVES, middle, of_octave},
    patterns::{Cause, WORTH, head, listed, margin, rank},
    top::NAME_BYTES,
};

/// The digest of all sources of a partial. Shares are of the worker time of all of them, and the
/// window is the longest one.
///
/// The diagnosis follows from the sums of what each source's own diagnosis put down to each cause.
/// What is said of a cause is said of the source in which it costs most. What needs one clock is
/// left out, and the notes say so.
pub fn digest(partial: &Partial) -> Digest {
    let Partial { time, .. } = partial;
    let whole = Whole { partial, capacity: time.capacity_ns };
    let (patterns, confidence) = whole.diagnosis();
    let alternative =
        patterns.first().and_then(|head| whole.worst(head.name)).and_then(|worst| worst.alternative.clone());
    let cost = reading(&partial.cost, |cost| cost.total_ps as f64 / 1e3 / cost.gaps.max(1) as f64);
    let break_even_ns = match &cost {
        Reading::Value(cost) => Reading::Value(cost * 9.0),
        Reading::Missing(missing) => Reading::Missing(missing.clone()),
    };
    let delays = partial.queue.sums.as_ref();
    Digest {
        schema: SCHEMA.to_owned(),
        tasks: partial.tasks,
        workers: time.workers,
        window_ns: time.longest_window_ns,
        clock_resolution_ns: time.clock_resolution_ns,
        losses: whole.losses(),
        unknown: whole.share(partial.losses.unknown_ns),
        duration: quantiles(&partial.durations)
            .map_or_else(|| Reading::missing("no tasks", "check what the source holds"), Reading::Value),
        gap: match quantiles(&partial.gaps) {
            Some(gap) => Reading::Value(gap),
            None if partial.disordered > 0 => disordered(),
            None => Reading::missing("no worker executed two tasks one after the other", ""),
        },
        scheduling_cost_ns: cost,
        break_even_ns,
        queue: whole.queue(),
        off_cpu: reading(&partial.off_cpu, |off| OffCpu {
            share: part(off.off_ns, off.capacity_ns),
            parents: part(off.parents_ns, off.capacity_ns),
            known: part(off.known_ns, off.busy_ns),
        }),
        histograms: Histograms {
            duration: classes(&partial.durations),
            gap: classes(&partial.gaps),
            queue_delay: delays.map(|queue| classes(&queue.delays)).unwrap_or_default(),
        },
        parallelism: Parallelism {
            mean: time.workers as f64 * whole.share(time.busy_ns),
            peak: time.peak as f64,
            ..Parallelism::default()
        },
        workers_detail: whole.workers(),
        outliers: whole.outliers(),
        names: whole.names(),
        nesting: Nesting {
            nested: partial.nesting.nested,
            depth: partial.nesting.depth,
            parent_self: reading(&partial.parent_self, |own| part(own.own_ns, own.capacity_ns)),
            naive_utilisation: match whole.capacity {
                0 => 0.0,
                capacity => sum(&partial.durations) as f64 / capacity as f64,
            },
            overlapping: partial.nesting.overlapping,
        },
        dropped: whole.account(),
        patterns,
        alternative,
        confidence,
        notes: whole.notes(),
    }
}

/// A share of a sum; 0 of nothing.
fn part(of: u128, all: u128) -> f64 {
    if all == 0 { 0.0 } else { (of as f64 / all as f64).min(1.0) }
}

fn reading<S, T>(told: &Told<S>, value: impl Fn(&S) -> T) -> Reading<T> {
    match (&told.sums, &told.why) {
        (Some(sums), _) => Reading::Value(value(sums)),
        (None, Some(why)) => Reading::Missing(why.clone()),
        (None, None) => Reading::missing("no source tells it", ""),
    }
}

struct Whole<'p> {
    partial: &'p Partial,
    capacity: u128,
}

impl Whole<'_> {
    fn share(&self, ns: u128) -> f64 {
        part(ns, self.capacity)
    }

    fn losses(&self) -> Losses {
        let sums = &self.partial.losses;
        if self.capacity == 0 {
            return Losses { work: 1.0, ..Losses::default() };
        }
        Losses {
            work: self.share(sums.work_ns),
            dispatch: self.share(sums.dispatch_ns),
            serial: self.share(sums.serial_ns),
            tail: self.share(sums.tail_ns),
            starvation: self.share(sums.starvation_ns),
            preempted: self.share(sums.preempted_ns),
            outside: self.share(sums.outside_ns),
        }
    }

    fn sums(&self, name: PatternName) -> Option<&CauseSums> {
        self.partial.causes.iter().find(|cause| cause.name == name)
    }

    fn worst(&self, name: PatternName) -> Option<&Worst> {
        self.sums(name)?.worst.as_ref()
    }

    /// The patterns by the rules of a single source's diagnosis, on the sums of all.
    fn diagnosis(&self) -> (Vec<Pattern>, Confidence) {
        use PatternName::{Healthy, Inconclusive, Mixed};
        let verdicts = &self.partial.verdicts;
        let is_cause = |cause: &&CauseSums| !matches!(cause.name, Healthy | Mixed | Inconclusive);
        let mut causes: Vec<Cause> = self
            .partial
            .causes
            .iter()
            .filter(is_cause)
            .map(|cause| Cause {
                name: cause.name,
                share: self.share(cause.lost_ns),
                gain: self.share(cause.saved_ns),
            })
            .collect();
        for name in [PatternName::SchedulingOverhead, PatternName::OutsideRun] {
            if causes.len() < 2 && causes.iter().all(|cause| cause.name != name) {
                causes.push(Cause { name, share: 0.0, gain: 0.0 });
            }
        }
        rank(&mut causes);
        let thin = verdicts.inconclusive_ns.saturating_mul(2) > self.capacity || self.partial.tasks == 0;
        let head = head(&causes, thin, self.losses().work);
        let (first, margin) = (causes[0], margin(&causes));
        let surely = self.share(verdicts.high_ns) >= 0.9;
        let grade = if thin {
            ConfidenceGrade::Low
        } else if surely && (margin >= 1.0 || first.gain < WORTH / 2.0) {
            ConfidenceGrade::High
        } else {
            ConfidenceGrade::Medium
        };
        let reasons = &verdicts.reasons.kept;
        let reasons = reasons.iter().map(|reason| self.of(reason.count, &reason.text)).collect();
        let patterns = listed(causes, head).iter().map(|cause| self.pattern(cause)).collect();
        (patterns, Confidence { grade, margin, reasons })
    }

    /// What is said of some sources.
    fn of(&self, count: u64, text: &str) -> String {
        match self.partial.sources {
            1 => text.to_owned(),
            sources => format!("{text} ({count} of {sources} sources)"),
        }
    }

    fn pattern(&self, cause: &Cause) -> Pattern {
        let sums = self.sums(cause.name);
        let saved = |ns: Option<u128>| 1.0 / (1.0 - ns.map_or(0.0, |ns| self.share(ns)).min(0.999));
        let predicted =
            Speedup { from: saved(sums.map(|sums| sums.from_ns)), to: saved(sums.map(|sums| sums.to_ns)) };
        let worst = self.worst(cause.name);
        let said = worst.map_or("", |worst| worst.evidence.as_str());
        let tasks = worst.map_or(&[][..], |worst| &worst.tasks);
        Pattern {
            name: cause.name,
            share: cause.share.clamp(0.0, 1.0),
            evidence: match (self.partial.sources, worst) {
                (1, _) => said.to_owned(),
                (sources, Some(worst)) => {
                    let diagnosed = sums.map_or(0, |sums| sums.diagnosed);
                    let host = if worst.host.is_empty() { "one" } else { &worst.host };
                    format!("in {diagnosed} of {sources} sources; {host}: {said}")
                }
                (sources, None) => format!("the sum over {sources} sources, each less"),
            },
            remedy: match worst {
                Some(worst) => worst.remedy.clone(),
                None => "digest the sources one by one: --by host".to_owned(),
            },
            change: worst.and_then(|worst| worst.change.clone()),
            predicted,
            bound: (1.0 / (1.0 - cause.gain.clamp(0.0, 0.999))).max(predicted.to),
            shortens_tasks: worst.is_some_and(|worst| worst.shortens_tasks),
            tasks: tasks
                .iter()
                .map(|task| TaskShare { name: task.name.clone(), share: task.millionths as f64 / 1e6 })
                .collect(),
            threads: Vec::new(),
            when: Vec::new(),
            all_along: false,
        }
    }

    fn queue(&self) -> Reading<Queue> {
        let Partial { queue, queue_shares, tasks, .. } = self.partial;
        let no_delay = || Quantiles::default();
        reading(queue, |sums| Queue {
            delay: quantiles(&sums.delays).unwrap_or_else(no_delay),
            known: (sums.delays.count as f64 / (*tasks).max(1) as f64).min(1.0),
            shares: reading(queue_shares, |shares| QueueShares {
                starved: part(shares.starved_ns, shares.capacity_ns),
                dispatch: part(shares.dispatch_ns, shares.capacity_ns),
                saturated: part(shares.saturated_ns, shares.windows_ns),
            }),
        })
    }

    fn workers(&self) -> WorkersDetail {
        const BILLION: f64 = 1e9;
        let sums = &self.partial.workers;
        let count = self.partial.time.workers.max(1) as f64;
        let mean = sums.busy as f64 / BILLION / count;
        let variance = (sums.busy_squared as f64 / BILLION / BILLION / count - mean * mean).max(0.0);
        let most = sums.busiest.first().map_or(0.0, |worker| worker.busy as f64 / BILLION);
        // With fewer workers than both lists hold, some are in both: the least busy of the one are
        // the busiest of the other.
        let all = usize::try_from(sums.active).unwrap_or(usize::MAX);
        let others = all.saturating_sub(sums.busiest.len()).min(sums.least.len());
        let mut workers: Vec<&WorkerPart> = sums.busiest.iter().chain(&sums.least[..others]).collect();
        workers.sort_by_key(|worker| (&worker.host, worker.worker, *worker));
        WorkersDetail {
            active: sums.active,
            busy_max_over_mean: if mean > 0.0 { most / mean } else { 1.0 },
            busy_variation: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
            folded: sums.active.saturating_sub(workers.len() as u64),
            workers: workers
                .into_iter()
                .map(|worker| WorkerDetail {
                    worker: worker.worker,
                    thread: self.thread(&worker.host, worker.thread.as_deref()),
                    tasks: worker.tasks,
                    busy: worker.busy as f64 / BILLION,
                    first_ns: worker.first_ns,
                    last_ns: worker.last_ns,
                })
                .collect(),
            by_busy: sums.tenths.to_vec(),
        }
    }

    /// The name of a worker's thread. Where there are several sources its host stands before it.
    fn thread(&self, host: &str, thread: Option<&str>) -> Option<String> {
        if self.partial.sources == 1 || host.is_empty() {
            return thread.map(str::to_owned);
        }
        let text = thread.map_or_else(|| host.to_owned(), |thread| format!("{host}/{thread}"));
        Some(short(&text, NAME_BYTES))
    }

    fn outliers(&self) -> Vec<Outlier> {
        let Partial { longest_ns, longest, durations, .. } = self.partial;
        let out = longest_ns.iter().fold(0u64, |sum, long| sum.saturating_add(*long));
        let others = durations.count.saturating_sub(longest_ns.len() as u64);
        if others == 0 {
            return Vec::new();
        }
        let typical = (sum(durations).saturating_sub(u128::from(out)) as f64 / others as f64).max(1.0);
        let most = quantile(durations, if durations.count < 100 { 0.5 } else { 0.99 });
        let stands_out = |ns: u64| ns > most.saturating_mul(2) && ns as f64 >= 2.0 * typical;
        longest
            .iter()
            .filter(|long| stands_out(long.duration_ns))
            .map(|long| Outlier {
                name: long.name.clone(),
                worker: long.worker,
                thread: self.thread(&long.host, long.thread.as_deref()),
                start_ns: long.start_ns,
                duration_ns: long.duration_ns,
                times_typical: long.duration_ns as f64 / typical,
            })
            .collect()
    }

    fn names(&self) -> Names {
        let Partial { names, durations, time, .. } = self.partial;
        let mut all = names.kept.clone();
        let known = all.len();
        for name in &names.costliest {
            if all[..known].iter().all(|kept| kept.name != name.name) {
                all.push(name.clone());
            }
        }
        let in_part = all.len() > known;
        all.sort_unstable();
        all.truncate(NAMES);
        let busy = u64::try_from(time.busy_ns).unwrap_or(u64::MAX);
        let others = |sum: u64, part: u64| sum.saturating_sub(part);
        let other_ns = all.iter().fold(busy, |rest, name| others(rest, name.own_ns));
        Names {
            other_tasks: all.iter().fold(durations.count, |rest, name| others(rest, name.tasks)),
            other_ns,
            overflowed: names.cut || names.overflowed,
            // Of a name that is known by one source alone, all others' may be more of it.
            error_ns: if names.cut || in_part { other_ns.max(names.error_ns) } else { names.error_ns },
            top: all
                .into_iter()
                .map(|name| NameCost {
                    share: part(u128::from(name.own_ns), time.busy_ns),
                    name: name.name,
                    tasks: name.tasks,
                    total_ns: name.total_ns,
                    own_ns: name.own_ns,
                })
                .collect(),
        }
    }

    fn account(&self) -> Account {
        let account = &self.partial.account;
        let formats: Vec<&str> = account.formats.kept.iter().map(|format| format.text.as_str()).collect();
        let mut dropped: Vec<Dropped> = account
            .dropped
            .kept
            .iter()
            .map(|reason| Dropped { reason: reason.text.clone(), events: reason.count })
            .collect();
        dropped.sort_by_key(|dropped| std::cmp::Reverse(dropped.events));
        Account {
            format: formats.join(" + "),
            bytes: account.bytes,
            seen: account.seen,
            counted: account.counted,
            dropped,
            workers: account.workers,
            clock_resolution_ns: self.partial.time.clock_resolution_ns,
            untold: account.untold,
            notes: Vec::new(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let Partial { sources, hosts, ids, time: times, .. } = self.partial;
        let mut notes = Vec::new();
        if *sources > 1 {
            let hosts = match (hosts.cut, hosts.kept.len()) {
                (true, _) => format!("more than {} hosts", most::HOSTS),
                (_, 1) => "1 host".to_owned(),
                (_, hosts) => format!("{hosts} hosts"),
            };
            notes.push(format!(
                "{sources} sources on {hosts}, each with its own clock: shares are of the worker time of \
                 all, windows are {} to {}",
                time(times.shortest_window_ns as f64),
                time(times.longest_window_ns as f64),
            ));
            let twice = ids.kept.iter().filter(|id| id.count > 1).count();
            if twice > 0 {
                notes.push(format!("merged more than once, and counted so: {twice} of the sources"));
            }
        }
        notes.push(
            "from partial sums: when losses were, and on which threads, is not known; digest the trace for it"
                .to_owned(),
        );
        notes.extend(self.partial.account.notes.kept.iter().map(|note| self.of(note.count, &note.text)));
        notes
    }
}

fn sum(counts: &Counts) -> u128 {
    counts.sums.iter().map(|sum| u128::from(*sum)).sum()
}

/// The quantiles of a histogram; `None` where it is empty.
fn quantiles(counts: &Counts) -> Option<Quantiles> {
    (counts.count > 0).then(|| Quantiles {
        count: counts.count,
        min: counts.min,
        p50: quantile(counts, 0.5),
        p90: quantile(counts, 0.9),
        p99: quantile(counts, 0.99),
        max: counts.max,
        mean: sum(counts) as f64 / counts.count as f64,
    })
}

/// The nearest rank, as the middle of its bucket.
fn quantile(counts: &Counts, q: f64) -> u64 {
    let rank = (q * counts.count as f64).ceil().max(1.0) as u64;
    let mut below = 0u64;
    for (at, count) in counts.counts.iter().enumerate() {
        below = below.saturating_add(*count);
        if below >= rank {
            let bucket = (counts.from as usize).saturating_add(at).min(BUCKETS - 1);
            return middle(bucket).clamp(counts.min, counts.max.max(counts.min));
        }
    }
    counts.max
}

/// Counts and sums by powers of two, from the first one that has a value to the last.
fn classes(counts: &Counts) -> Vec<TimeClass> {
    let at = |list: &[u64], from: u64, index: usize| {
        let index = index.checked_sub(from as usize);
        index.and_then(|index| list.get(index)).copied().unwrap_or_default()
    };
    let all = (0..OCTAVES).map(|octave| TimeClass {
        from_ns: if octave == 0 { 0 } else { 1 << octave },
        to_ns: 1u64.checked_shl(octave as u32 + 1).unwrap_or(u64::MAX),
        count: of_octave(octave)
            .map(|bucket| at(&counts.counts, counts.from, bucket))
            .fold(0, u64::saturating_add),
        total_ns: at(&counts.sums, counts.sums_from, octave),
    });
    let mut classes: Vec<TimeClass> = all.skip_while(|class| class.count == 0).collect();
    while classes.pop_if(|class| class.count == 0).is_some() {}
    classes
}
