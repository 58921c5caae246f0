//! Makes the digest from the sums.

use taskscale_model::{
    digest::{
        Digest, Histograms, NameCost, Names, Nesting, OffCpu, Outlier, Quantiles, QueueShares, SCHEMA,
        WorkerDetail, WorkersDetail, by_busy, no_cpu_times,
    },
    missing::Reading,
    span::Account,
};

use crate::{
    accumulator::{Accumulator, MAX_WORKERS},
    calibrate::{Dispatch, dispatch},
    edges::{ENDLESS, Edge, Kept},
    evidence::{Blocked, Evidence, may_hold_loops},
    histogram::{Histogram, bucket},
    patterns::{Cause, Diagnosis, diagnose},
    profile::{Profile, profile as profile_of},
    queue::queue,
    releases::{Releases, Window},
    thresholds::Thresholds,
    ticks::Ticks,
    told::count_runtimes,
};

/// The number of names that a digest lists.
pub(crate) const NAMES: usize = 16;
/// The number of outliers that a digest lists.
const OUTLIERS: usize = 5;
/// The number of workers that a digest lists at either end, where there are more than twice as
/// many.
const WORKERS: usize = 8;
/// The share of spans out of order above which gaps are not trusted.
const DISORDER: f64 = 0.001;

impl Accumulator {
    /// The digest of all spans so far; more may follow. `account` says what the source held and how
    /// fine its clock is.
    ///
    /// # Errors against keeping every span
    ///
    /// An exact reference on random timelines checks these bounds (`tests/bounds.rs`,
    /// `tests/properties.rs`). P is the number of points in the window. It is at least half of
    /// [`Config::points`](crate::Config) for windows of more nanoseconds than that.
    ///
    /// | figure | bound |
    /// |---|---|
    /// | tasks, window, busy time, `work`, `preempted`, minimum, mean and maximum of durations and gaps | exact, for spans sorted by start or by end on each worker |
    /// | `dispatch` | exact up to its line, which is within a factor of two of 16 times the scheduling cost |
    /// | `scheduling_cost_ns` | the exact mean of the hand-overs, where these lie within 20 % of each other and waits are at least 64 times longer |
    /// | `serial`, `tail`, `starvation`, `outside` | their sum is exact; each is within four standard errors, 2 / sqrt(P) (6 % at the default) |
    /// | share of time at each level of parallelism | the same |
    /// | `queue.shares` | `starved` and `dispatch` add up to the exact time outside tasks; each, and `saturated`, is within four standard errors |
    /// | quantiles | 12.5 % |
    /// | `outliers` | exact in name, place and duration; that they exceed twice the 99th percentile is known within 13 % of it. Leaves that were displaced by parents do not come back |
    /// | `names` | exact up to [`Config::names`](crate::Config) names; beyond, too low by at most the stated `error_ns` |
    ///
    /// It takes O(points + workers log workers) and a copy of the accumulator, because what the
    /// stack keeps back stays open.
    pub fn finish(&self, account: &Account) -> Digest {
        self.finish_with(account, &Thresholds::default())
    }

    /// Makes the digest with other thresholds, to see what depends on them.
    pub fn finish_with(&self, account: &Account, thresholds: &Thresholds) -> Digest {
        let mut settled = self.clone();
        settled.settle();
        digest(&settled, account, thresholds).0
    }
}

/// The kept begins and ends, with the last end of each worker.
fn kept(sums: &Accumulator) -> Vec<Kept> {
    let mut edges = sums.sums.edges.clone();
    for (worker, state) in sums.active() {
        edges.add(Edge { at: state.last, pause: ENDLESS, worker, begins: false });
    }
    edges.into_each_length().collect()
}

/// The window, and that pauses which are no hand-overs are waits.
fn window(profile: &Profile, found: &Dispatch) -> Window {
    let (start, end) = (profile.start, profile.start + profile.window as i64);
    Window { longer_than: found.limit_ns as i64, start, end }
}

/// What lets workers that wait go on.
fn releases(
    sums: &Accumulator,
    kept: &[Kept],
    window: &Window,
    found: &Dispatch,
    resolution_ns: u64,
) -> Releases {
    // Hand-overs differ by some times their mean.
    let cost = found.cost_ns.map_or(0, |cost| (8.0 * cost) as i64);
    Releases::of(kept, window, cost.max(2 * resolution_ns as i64).max(2_000), sums.sums.durations.mean())
}

/// The digest of settled sums, and all causes that were weighed for it.
pub(crate) fn digest(sums: &Accumulator, account: &Account, thresholds: &Thresholds) -> (Digest, Vec<Cause>) {
    let tasks = sums.sums.durations.count();
    let handing = sums.active().filter(|(_, worker)| worker.hands_out()).count();
    let seen = sums.active().count();
    // Of workers that wait for each other none hands out tasks.
    let seen = (if handing < seen { seen - handing } else { seen }) as u64;
    let workers = u64::from(sums.config.workers.unwrap_or(0)).max(seen);
    let late = sums.late();
    let ordered = late as f64 <= DISORDER * tasks as f64;
    let resolution_ns = account.clock_resolution_ns;
    let observed = sums.what_was_observed();
    let mut found = dispatch(&sums.sums.gaps, thresholds.dispatch_reach, resolution_ns).observed(&observed);
    if !ordered {
        // Gaps next to spans that came late are made up, so all time between tasks counts as idle.
        found = Dispatch::NONE;
    }
    let mut profile = profile_of(sums, workers, &found);
    let queue = queue(sums, &profile, account.untold);
    let shares = queue.value().and_then(|queue| queue.shares.value().copied());
    let kept = kept(sums);
    let ticks = Ticks::of(&kept, &window(&profile, &found), resolution_ns);
    if are_waits(&found, &profile, shares) || (ticks.is_some() && !may_be_costs(sums, &found)) {
        found = Dispatch::NONE;
        profile = profile_of(sums, workers, &found);
    }
    count_runtimes(sums, workers, profile.window, &mut found, &mut profile.losses);
    let parent_self = parent_self(sums, &profile);
    let off_cpu = off_cpu(sums, &profile);
    let unknown = unknown(sums, &profile);
    let evidence = Evidence {
        thresholds,
        sums,
        profile: &profile,
        dispatch: &found,
        ordered,
        resolution_ns,
        unknown,
        parent_self: parent_self.value().copied(),
        blocked: blocked(sums, &profile, off_cpu.value()),
        releases: releases(sums, &kept, &window(&profile, &found), &found, resolution_ns),
        ticks,
        may_hold_loops: may_hold_loops(&account.format),
        queue: shares,
    };
    let Diagnosis { patterns, alternative, confidence, causes } = diagnose(&evidence);
    let cost = cost(&found, ordered, resolution_ns);
    let break_even_ns = match &cost {
        Reading::Value(cost) => Reading::Value(cost * 9.0),
        Reading::Missing(missing) => Reading::Missing(missing.clone()),
    };
    let delays = sums.waits.as_ref().filter(|_| queue.value().is_some());
    let histograms = Histograms {
        duration: sums.sums.durations.classes(),
        gap: if ordered { sums.sums.gaps.classes() } else { Vec::new() },
        queue_delay: delays.map(|waits| waits.delays.classes()).unwrap_or_default(),
    };
    let digest = Digest {
        schema: SCHEMA.to_owned(),
        tasks,
        workers,
        window_ns: profile.window,
        clock_resolution_ns: resolution_ns,
        losses: profile.losses,
        unknown,
        duration: quantiles(&sums.sums.durations, "no tasks", "check what the source holds"),
        gap: if ordered {
            quantiles(&sums.sums.gaps, "no worker executed two tasks one after the other", "")
        } else {
            disordered()
        },
        scheduling_cost_ns: cost,
        queue,
        break_even_ns,
        off_cpu,
        histograms,
        parallelism: profile.parallelism.clone(),
        workers_detail: workers_detail(sums, &profile),
        outliers: outliers(sums, profile.start),
        names: names(sums),
        nesting: nesting(sums, &profile, parent_self),
        dropped: account.clone(),
        patterns,
        alternative,
        confidence,
        notes: notes(sums, late, ordered, account),
    };
    (digest, causes)
}

/// Hand-overs below this are a runtime's even where workers stop together: tasks and costs that are
/// all alike keep step by themselves.
const HAND_OVER_NS: f64 = 20_000.0;
/// Workers that take turns do not do so by chance, down to the time that a wake-up takes.
const WAKE_UP_NS: f64 = 2_000.0;
/// On one worker nothing else shows what a gap is. No runtime takes a millisecond.
const ALONE_NS: f64 = 1_000_000.0;
/// A scheduler on another machine takes a millisecond (Dask's own documentation says 1 ms per
/// task), and none takes two.
const REMOTE_NS: f64 = 2_000_000.0;

/// The share of the gaps that look like dispatch in which a task waits, below which they are none.
const HARDLY: f64 = 0.3;

/// Whether the gaps that look like dispatch are waits: workers take turns, or stop together, or no
/// task waits meanwhile.
fn are_waits(found: &Dispatch, profile: &Profile, queue: Option<QueueShares>) -> bool {
    let Some(cost) = found.cost_ns else { return false };
    if queue.is_some_and(|queue| queue.dispatch < HARDLY * profile.losses.dispatch) {
        profile.losses.dispatch > 0.02
    } else if profile.workers == 1 {
        cost > ALONE_NS
    } else if profile.take_turns() {
        cost > WAKE_UP_NS
    } else {
        cost > REMOTE_NS || (cost > HAND_OVER_NS && profile.stop_together())
    }
}

/// Whether begins lie on a grid because tasks are all alike and so is what the runtime takes for
/// each: durations differ by less than a bucket, and gaps are as short as hand-overs.
fn may_be_costs(sums: &Accumulator, found: &Dispatch) -> bool {
    let durations = &sums.sums.durations;
    let alike = bucket(durations.quantile(0.95)) <= bucket(durations.quantile(0.05)) + 1;
    alike && found.cost_ns.is_some_and(|cost| cost <= HAND_OVER_NS)
}

/// The share of *workers x window* outside tasks that may have been a task's.
fn unknown(sums: &Accumulator, profile: &Profile) -> f64 {
    let total = profile.workers as f64 * profile.window as f64;
    if total > 0.0 { (sums.unknown as f64 / total).min(1.0 - profile.losses.work) } else { 0.0 }
}

fn quantiles(histogram: &Histogram, reason: &str, remedy: &str) -> Reading<Quantiles> {
    if histogram.count() == 0 {
        return Reading::missing(reason, remedy);
    }
    Reading::Value(quantiles_of(histogram))
}

/// The quantiles of a histogram that is not empty.
pub(crate) fn quantiles_of(histogram: &Histogram) -> Quantiles {
    Quantiles {
        count: histogram.count(),
        min: histogram.min(),
        p50: histogram.quantile(0.5),
        p90: histogram.quantile(0.9),
        p99: histogram.quantile(0.99),
        max: histogram.max(),
        mean: histogram.mean(),
    }
}

pub(crate) fn disordered<T>() -> Reading<T> {
    Reading::missing(
        "spans of a worker are sorted neither by start nor by end",
        "sort the trace by time to get gaps, scheduling cost and self time",
    )
}

fn cost(found: &Dispatch, ordered: bool, resolution_ns: u64) -> Reading<f64> {
    match found.runtimes_cost_ns() {
        _ if !ordered => disordered(),
        None => Reading::missing("fewer than 16 gaps between tasks that are in no other", ""),
        Some(cost) if cost < 1.0 && found.observer_ns > 0 => Reading::missing(
            format!("too little beside what observing takes, {:.0} ns of a gap", found.observing_ns()),
            "batch some tasks, and see whether the run takes less time",
        ),
        Some(cost) if cost < resolution_ns as f64 => Reading::missing(
            format!("below the clock's step of {resolution_ns} ns"),
            "record with a finer clock, or use a live observer",
        ),
        Some(cost) => Reading::Value(cost),
    }
}

/// The time inside tasks off the CPU, as far as CPU times are known.
fn off_cpu(sums: &Accumulator, profile: &Profile) -> Reading<OffCpu> {
    let of = |value: fn(&crate::worker::Worker) -> u64| {
        sums.active().map(|(_, worker)| u128::from(value(worker))).sum::<u128>() as f64
    };
    let told = of(|worker| worker.off_cpu[0].told.saturating_add(worker.off_cpu[1].told));
    if told == 0.0 {
        return no_cpu_times();
    }
    let total = profile.workers as f64 * profile.window.max(1) as f64;
    let (leaves, parents) = (of(|worker| worker.off_cpu[0].off), of(|worker| worker.off_cpu[1].off));
    Reading::Value(OffCpu {
        share: ((leaves + parents) / total).min(1.0),
        parents: (parents / total).min(1.0),
        known: (told / sums.busy().max(1) as f64).min(1.0),
    })
}

/// What tasks waited for inside, other than for a CPU. Run delay, where it is known, takes leaves
/// and parents alike.
fn blocked(sums: &Accumulator, profile: &Profile, off_cpu: Option<&OffCpu>) -> Option<Blocked> {
    let off = off_cpu?;
    let kept = if off.share > 0.0 { (1.0 - profile.losses.preempted / off.share).max(0.0) } else { 0.0 };
    let of_parents = sums.active().any(|(_, worker)| worker.off_cpu[1].told > 0);
    Some(Blocked {
        leaves: (off.share - off.parents) * kept,
        parents: of_parents.then_some(off.parents * kept),
        all_known: off.known >= ALL_KNOWN,
    })
}

/// The share of task time of which CPU time is known, from which on the rest changes no verdict.
const ALL_KNOWN: f64 = 0.95;

/// The share of time in spans that contain others, outside those others.
fn parent_self(sums: &Accumulator, profile: &Profile) -> Reading<f64> {
    let of = |value: fn(&crate::worker::Worker) -> u64| {
        sums.active().fold(0u64, |sum, (_, worker)| sum.saturating_add(value(worker)))
    };
    let unknown = sums.late() + of(|worker| worker.unplaced);
    if (unknown > 0 || sums.what_was_observed().too_deep) && of(|worker| worker.nested) > 0 {
        return Reading::missing(
            "not every span's parent is known",
            "sort the trace by start to get self time",
        );
    }
    let (busy, leaf) = (of(|worker| worker.busy), of(|worker| worker.leaf));
    let total = profile.workers as f64 * profile.window as f64;
    Reading::Value(if total > 0.0 { (busy.saturating_sub(leaf) as f64 / total).min(1.0) } else { 0.0 })
}

fn nesting(sums: &Accumulator, profile: &Profile, parent_self: Reading<f64>) -> Nesting {
    let total = profile.workers as f64 * profile.window as f64;
    Nesting {
        nested: sums.active().map(|(_, worker)| worker.nested).sum(),
        depth: sums.active().map(|(_, worker)| worker.depth).max().unwrap_or(0),
        parent_self,
        naive_utilisation: if total > 0.0 { sums.sums.durations.sum() as f64 / total } else { 0.0 },
        overlapping: sums.active().map(|(_, worker)| worker.overlapping).sum(),
    }
}

fn workers_detail(sums: &Accumulator, profile: &Profile) -> WorkersDetail {
    let window = profile.window.max(1) as f64;
    let mut workers: Vec<WorkerDetail> = sums
        .active()
        .map(|(index, worker)| WorkerDetail {
            worker: index,
            thread: None,
            tasks: worker.tasks,
            busy: (worker.busy as f64 / window).min(1.0),
            first_ns: (worker.first - profile.start) as u64,
            last_ns: (worker.last - profile.start) as u64,
        })
        .collect();
    let in_order =
        |a: &WorkerDetail, b: &WorkerDetail| b.busy.total_cmp(&a.busy).then(a.worker.cmp(&b.worker));
    // Sums of fractions depend on their order in the last digit.
    workers.sort_by(in_order);
    let count = profile.workers.max(1) as f64;
    let mean = workers.iter().map(|worker| worker.busy).sum::<f64>() / count;
    let idle = count - workers.len() as f64;
    let squares = workers.iter().map(|worker| (worker.busy - mean).powi(2)).sum::<f64>() + idle * mean * mean;
    let most = workers.iter().map(|worker| worker.busy).fold(0.0, f64::max);
    let active = workers.len() as u64;
    let mut by_busy = by_busy(workers.iter().map(|worker| worker.busy));
    by_busy[0] += profile.workers.saturating_sub(active);
    let folded = (workers.len()).saturating_sub(2 * WORKERS);
    if folded > 0 {
        workers.drain(WORKERS..WORKERS + folded);
    }
    workers.sort_by_key(|worker| worker.worker);
    WorkersDetail {
        active,
        busy_max_over_mean: if mean > 0.0 { most / mean } else { 1.0 },
        busy_variation: if mean > 0.0 { (squares / count).sqrt() / mean } else { 0.0 },
        workers,
        folded: folded as u64,
        by_busy,
    }
}

/// Outliers, compared with the mean of all other spans. Spans longer than twice the 99th percentile
/// stand out.
fn outliers(sums: &Accumulator, start: i64) -> Vec<Outlier> {
    let longest = sums.sums.top.longest();
    let durations = &sums.sums.durations;
    let out = longest.iter().fold(0u64, |sum, long| sum.saturating_add(long.duration));
    let others = durations.count().saturating_sub(longest.len() as u64);
    if others == 0 {
        return Vec::new();
    }
    let typical = (durations.sum().saturating_sub(out) as f64 / others as f64).max(1.0);
    // With fewer than 100 spans the 99th percentile is the longest one itself.
    let most = if durations.count() < 100 { durations.quantile(0.5) } else { durations.quantile(0.99) };
    longest
        .iter()
        .filter(|long| long.duration > most.saturating_mul(2) && long.duration as f64 >= 2.0 * typical)
        .take(OUTLIERS)
        .map(|long| Outlier {
            name: long.name.text(),
            worker: long.worker,
            thread: None,
            start_ns: long.start.saturating_sub(start).max(0) as u64,
            duration_ns: long.duration,
            times_typical: long.duration as f64 / typical,
        })
        .collect()
}

fn names(sums: &Accumulator) -> Names {
    let all = sums.busy().min(u128::from(u64::MAX)) as u64;
    let top: Vec<NameCost> = sums
        .names
        .costliest()
        .into_iter()
        .filter(|name| name.tasks > 0)
        .take(NAMES)
        .map(|name| NameCost {
            name: name.name.text(),
            tasks: name.tasks,
            total_ns: name.total,
            own_ns: name.own(),
            share: if all > 0 { (name.own() as f64 / all as f64).min(1.0) } else { 0.0 },
        })
        .collect();
    Names {
        other_tasks: sums.sums.durations.count().saturating_sub(top.iter().map(|name| name.tasks).sum()),
        other_ns: top.iter().fold(all, |rest, name| rest.saturating_sub(name.own_ns)),
        overflowed: sums.names.error > 0,
        error_ns: sums.names.error,
        top,
    }
}

fn notes(sums: &Accumulator, late: u64, ordered: bool, account: &Account) -> Vec<String> {
    let mut notes = account.notes.clone();
    let mut note = |count: u64, text: &str| {
        if count > 0 {
            notes.push(format!("{count} spans {text}"));
        }
    };
    note(sums.reversed, "end before they start and are not counted");
    note(sums.folded, &format!("ran on workers beyond the first {MAX_WORKERS}, which count as one"));
    note(
        late,
        if ordered {
            "came out of order; their neighbours' gaps are a little off"
        } else {
            "came out of order: gaps, dispatch and self time cannot be had"
        },
    );
    let handing = sums.active().filter(|(_, worker)| worker.hands_out()).count() as u64;
    if handing > 0 {
        notes.push(format!(
            "{handing} of the threads wait for others nearly all the time: no workers, though what they do counts"
        ));
    }
    let mut note = |count: u64, text: &str| {
        if count > 0 {
            notes.push(format!("{count} spans {text}"));
        }
    };
    note(
        sums.active().map(|(_, worker)| worker.unplaced).sum(),
        "are nested and their parent is not known, or lie too deep; self time cannot be had",
    );
    note(
        sums.active().map(|(_, worker)| worker.overlapping).sum(),
        "overlap another on the same worker: is that a worker?",
    );
    notes
}
