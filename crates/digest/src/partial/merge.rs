//! Adds one partial to another: associative and commutative, to the byte.

use std::cmp::Ordering;

use taskscale_model::{
    missing::Missing,
    partial::{
        AccountSums, CauseSums, CostSums, Counts, LossSums, NameSums, NestingSums, OffCpuSums, ParentSums,
        Partial, QueueSums, QueueTimes, Time, Told, Verdicts, WorkerSums, Worst, most,
    },
};

use super::lists::{first, join, join_bags};

/// Adds what other sources have. O(size of a partial).
pub fn merge(into: &mut Partial, other: &Partial) {
    for (mine, theirs) in [
        (&mut into.labels.host, &other.labels.host),
        (&mut into.labels.stage, &other.labels.stage),
        (&mut into.labels.rank, &other.labels.rank),
    ] {
        if mine != theirs {
            *mine = None;
        }
    }
    add(&mut into.sources, other.sources);
    join_bags(&mut into.ids, &other.ids, most::SOURCES);
    join_bags(&mut into.hosts, &other.hosts, most::HOSTS);
    add(&mut into.tasks, other.tasks);
    time(&mut into.time, &other.time);
    losses(&mut into.losses, &other.losses);
    verdicts(&mut into.verdicts, &other.verdicts);
    causes(&mut into.causes, &other.causes);
    counts(&mut into.durations, &other.durations);
    counts(&mut into.gaps, &other.gaps);
    add(&mut into.disordered, other.disordered);
    told(&mut into.cost, &other.cost, |mine: &mut CostSums, theirs| {
        add(&mut mine.gaps, theirs.gaps);
        add_time(&mut mine.total_ps, theirs.total_ps);
    });
    told(&mut into.queue, &other.queue, |mine: &mut QueueSums, theirs| {
        counts(&mut mine.delays, &theirs.delays);
    });
    told(&mut into.queue_shares, &other.queue_shares, queue_times);
    told(&mut into.off_cpu, &other.off_cpu, off_cpu);
    told(&mut into.parent_self, &other.parent_self, |mine: &mut ParentSums, theirs| {
        add_time(&mut mine.capacity_ns, theirs.capacity_ns);
        add_time(&mut mine.own_ns, theirs.own_ns);
    });
    nesting(&mut into.nesting, &other.nesting);
    workers(&mut into.workers, &other.workers);
    first(&mut into.longest_ns, &other.longest_ns, most::LONGEST, |a, b| b.cmp(a));
    first(&mut into.longest, &other.longest, most::OUTLIERS, Ord::cmp);
    names(&mut into.names, &other.names);
    account(&mut into.account, &other.account);
}

fn add(mine: &mut u64, theirs: u64) {
    *mine = mine.saturating_add(theirs);
}

fn add_time(mine: &mut u128, theirs: u128) {
    *mine = mine.saturating_add(theirs);
}

fn time(mine: &mut Time, theirs: &Time) {
    add(&mut mine.workers, theirs.workers);
    add_time(&mut mine.capacity_ns, theirs.capacity_ns);
    add_time(&mut mine.busy_ns, theirs.busy_ns);
    mine.shortest_window_ns = mine.shortest_window_ns.min(theirs.shortest_window_ns);
    mine.longest_window_ns = mine.longest_window_ns.max(theirs.longest_window_ns);
    mine.clock_resolution_ns = mine.clock_resolution_ns.max(theirs.clock_resolution_ns);
    add(&mut mine.peak, theirs.peak);
}

fn losses(mine: &mut LossSums, theirs: &LossSums) {
    add_time(&mut mine.work_ns, theirs.work_ns);
    add_time(&mut mine.dispatch_ns, theirs.dispatch_ns);
    add_time(&mut mine.serial_ns, theirs.serial_ns);
    add_time(&mut mine.tail_ns, theirs.tail_ns);
    add_time(&mut mine.starvation_ns, theirs.starvation_ns);
    add_time(&mut mine.preempted_ns, theirs.preempted_ns);
    add_time(&mut mine.outside_ns, theirs.outside_ns);
    add_time(&mut mine.unknown_ns, theirs.unknown_ns);
}

fn verdicts(mine: &mut Verdicts, theirs: &Verdicts) {
    add_time(&mut mine.inconclusive_ns, theirs.inconclusive_ns);
    add_time(&mut mine.high_ns, theirs.high_ns);
    add_time(&mut mine.medium_ns, theirs.medium_ns);
    add_time(&mut mine.low_ns, theirs.low_ns);
    join_bags(&mut mine.reasons, &theirs.reasons, most::TEXTS);
}

/// Adds causes to those of the same name.
pub fn causes(mine: &mut Vec<CauseSums>, theirs: &[CauseSums]) {
    for other in theirs {
        match mine.binary_search_by(|cause| cause.name.cmp(&other.name)) {
            Err(at) => mine.insert(at, other.clone()),
            Ok(at) => {
                let cause = &mut mine[at];
                add(&mut cause.diagnosed, other.diagnosed);
                add_time(&mut cause.lost_ns, other.lost_ns);
                add_time(&mut cause.saved_ns, other.saved_ns);
                add_time(&mut cause.from_ns, other.from_ns);
                add_time(&mut cause.to_ns, other.to_ns);
                if let Some(theirs) = &other.worst
                    && cause.worst.as_ref().is_none_or(|mine| worse(theirs, mine).is_gt())
                {
                    cause.worst = Some(theirs.clone());
                }
            }
        }
    }
}

/// A total order, so that it does not matter in which order sources come. Of equal ones the first
/// host counts, and then whatever differs.
fn worse(a: &Worst, b: &Worst) -> Ordering {
    let (more, host) = ((a.diagnosis, a.lost_ns).cmp(&(b.diagnosis, b.lost_ns)), b.host.cmp(&a.host));
    more.then(host).then_with(|| b.id.cmp(&a.id)).then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
}

/// Adds the counts of one histogram to another.
pub fn counts(mine: &mut Counts, theirs: &Counts) {
    if theirs.count == 0 {
        return;
    }
    if mine.count == 0 {
        *mine = theirs.clone();
        return;
    }
    add(&mut mine.count, theirs.count);
    mine.min = mine.min.min(theirs.min);
    mine.max = mine.max.max(theirs.max);
    row(&mut mine.from, &mut mine.counts, theirs.from, &theirs.counts);
    row(&mut mine.sums_from, &mut mine.sums, theirs.sums_from, &theirs.sums);
}

/// Adds numbers from a place on, where none before it and none behind them is known.
fn row(from: &mut u64, mine: &mut Vec<u64>, theirs_from: u64, theirs: &[u64]) {
    if theirs.is_empty() {
        return;
    }
    if mine.is_empty() {
        (*from, *mine) = (theirs_from, theirs.to_vec());
        return;
    }
    if theirs_from < *from {
        let before = (*from - theirs_from) as usize;
        mine.splice(0..0, std::iter::repeat_n(0, before));
        *from = theirs_from;
    }
    let at = (theirs_from - *from) as usize;
    mine.resize(mine.len().max(at + theirs.len()), 0);
    for (mine, theirs) in mine[at..].iter_mut().zip(theirs) {
        add(mine, *theirs);
    }
}

fn told<T: Clone>(mine: &mut Told<T>, theirs: &Told<T>, join: impl Fn(&mut T, &T)) {
    match (&mut mine.sums, &theirs.sums) {
        (Some(mine), Some(theirs)) => join(mine, theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
    add(&mut mine.silent, theirs.silent);
    let before = |a: &Missing, b: &Missing| (&a.reason, &a.remedy) < (&b.reason, &b.remedy);
    if let Some(theirs) = &theirs.why
        && mine.why.as_ref().is_none_or(|mine| before(theirs, mine))
    {
        mine.why = Some(theirs.clone());
    }
}

fn queue_times(mine: &mut QueueTimes, theirs: &QueueTimes) {
    add_time(&mut mine.capacity_ns, theirs.capacity_ns);
    add_time(&mut mine.starved_ns, theirs.starved_ns);
    add_time(&mut mine.dispatch_ns, theirs.dispatch_ns);
    add_time(&mut mine.windows_ns, theirs.windows_ns);
    add_time(&mut mine.saturated_ns, theirs.saturated_ns);
}

fn off_cpu(mine: &mut OffCpuSums, theirs: &OffCpuSums) {
    add_time(&mut mine.capacity_ns, theirs.capacity_ns);
    add_time(&mut mine.off_ns, theirs.off_ns);
    add_time(&mut mine.parents_ns, theirs.parents_ns);
    add_time(&mut mine.known_ns, theirs.known_ns);
    add_time(&mut mine.busy_ns, theirs.busy_ns);
}

fn nesting(mine: &mut NestingSums, theirs: &NestingSums) {
    add(&mut mine.nested, theirs.nested);
    mine.depth = mine.depth.max(theirs.depth);
    add(&mut mine.overlapping, theirs.overlapping);
}

fn workers(mine: &mut WorkerSums, theirs: &WorkerSums) {
    add(&mut mine.active, theirs.active);
    add_time(&mut mine.busy, theirs.busy);
    add_time(&mut mine.busy_squared, theirs.busy_squared);
    for (mine, theirs) in mine.tenths.iter_mut().zip(theirs.tenths) {
        add(mine, theirs);
    }
    first(&mut mine.busiest, &theirs.busiest, most::WORKERS, Ord::cmp);
    first(&mut mine.least, &theirs.least, most::WORKERS, |a, b| b.cmp(a));
}

fn names(mine: &mut NameSums, theirs: &NameSums) {
    mine.cut |= join(&mut mine.kept, &theirs.kept, most::NAMES) | theirs.cut;
    // Of each name the most that it took in one source.
    for other in &theirs.costliest {
        match mine.costliest.iter_mut().find(|known| known.name == other.name) {
            Some(known) if other < known => *known = other.clone(),
            Some(_) => {}
            None => mine.costliest.push(other.clone()),
        }
    }
    mine.costliest.sort_unstable();
    mine.costliest.truncate(most::COSTLIEST);
    add(&mut mine.error_ns, theirs.error_ns);
    mine.overflowed |= theirs.overflowed;
}

fn account(mine: &mut AccountSums, theirs: &AccountSums) {
    join_bags(&mut mine.formats, &theirs.formats, most::TEXTS);
    add(&mut mine.bytes, theirs.bytes);
    add(&mut mine.seen, theirs.seen);
    add(&mut mine.counted, theirs.counted);
    add(&mut mine.workers, theirs.workers);
    add(&mut mine.untold, theirs.untold);
    join_bags(&mut mine.dropped, &theirs.dropped, most::TEXTS);
    join_bags(&mut mine.notes, &theirs.notes, most::TEXTS);
}
