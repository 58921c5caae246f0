//! What the points of the grid show: time by parallelism, and idle time by what the others did.

use taskscale_model::digest::{Level, Losses, Parallelism};

use crate::{accumulator::Accumulator, calibrate::Dispatch, grid::Who, histogram::BUCKETS};

/// The number of steps of the timeline.
const STEPS: usize = 60;
/// The number of levels of parallelism up to which each is listed alone.
const LEVELS: u64 = 16;

/// Sums over the points of the window, as shares of *workers x window* unless said otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub workers: u64,
    /// The first start.
    pub start: i64,
    pub window: u64,
    pub points: u64,
    /// Work and losses; together they are all of *workers x window*.
    pub losses: Losses,
    /// The most workers active at one time, without the rarest hundredth of the window.
    pub peak: u64,
    /// Idle time while at least two are active, up to the peak.
    pub wide_idle: f64,
    /// Idle time of the workers beyond the peak, while at least two are active.
    pub narrow_idle: f64,
    /// Idle time while one is active, by the bucket of the task that runs. A gap of that worker
    /// counts for its neighbours.
    pub solo_by_longest: Vec<f64>,
    /// Idle time while two or more are active, by the bucket of the longest task that runs.
    pub shared_by_longest: Vec<f64>,
    /// Points by the bucket of the longest task: all of them, and those while no other worker is
    /// active.
    pub points_by_longest: Vec<(u64, u64)>,
    /// The share of points at which all workers are active.
    pub all_active: f64,
    /// The variance of the number of busy workers at these points, over that of workers whose
    /// hand-overs are independent. `None` if there are too few points.
    pub hand_over_variance: Option<f64>,
    /// The variance of the number of active workers, over its mean.
    pub dispersion: f64,
    /// The variance of the number of busy workers, over that of independent workers. `None` if all
    /// or none are busy all the time.
    pub independence: Option<f64>,
    /// Pairs of tasks at the same time, divided by what independent workers would show. 0 is a
    /// chain.
    pub togetherness: f64,
    pub parallelism: Parallelism,
    /// The points in the order of time.
    pub seen: Vec<Point>,
    /// The distance between two points, on average.
    pub step: u64,
}

/// Reads a settled accumulator. O(points + workers log workers).
pub fn profile(sums: &Accumulator, workers: u64, dispatch: &Dispatch) -> Profile {
    let mut ends: Vec<i64> = sums.active().map(|(_, worker)| worker.last).collect();
    ends.sort_unstable();
    let start = sums.active().map(|(_, worker)| worker.first).min().unwrap_or(0);
    let end = ends.last().copied().unwrap_or(start);
    let window = (end - start) as u64;
    let points: Vec<Point> = sums
        .sums
        .grid
        .cells()
        .filter(|(_, cell)| cell.at >= start && cell.at < end)
        .map(|(begin, cell)| {
            let busy = u64::from(cell.busy).min(workers);
            let gaps: u64 = cell.gaps[..dispatch.classes].iter().map(|count| u64::from(*count)).sum();
            let active = (busy + gaps).min(workers);
            let ended = ends.partition_point(|end| *end <= cell.at) as u64;
            let longest = usize::from(cell.longest).min(BUCKETS - 1);
            Point { begin, busy, active, ended, longest, who: cell.who() }
        })
        .collect();
    let peak = peak(&points);
    let scale = 1.0 / (points.len().max(1) as f64 * workers.max(1) as f64);
    let mut profile = Profile {
        workers,
        start,
        window,
        points: points.len() as u64,
        losses: Losses::default(),
        peak,
        wide_idle: 0.0,
        narrow_idle: 0.0,
        solo_by_longest: vec![0.0; BUCKETS],
        shared_by_longest: vec![0.0; BUCKETS],
        points_by_longest: vec![(0, 0); BUCKETS],
        all_active: points.iter().filter(|point| point.active >= workers).count() as f64
            / points.len().max(1) as f64,
        hand_over_variance: hand_over_variance(&points, workers),
        dispersion: dispersion(&points),
        independence: independence(&points, workers),
        togetherness: togetherness(&points, workers),
        parallelism: parallelism(sums, start, window, workers, &points),
        seen: Vec::new(),
        step: sums.sums.grid.width(),
    };
    let mut idle = Losses::default();
    let mut latest = 0;
    for point in &points {
        let waiting = workers - point.active;
        if point.busy > 0 && point.longest > 0 {
            latest = point.longest;
        }
        let share = waiting as f64 * scale;
        if point.active > 0 {
            let seen = &mut profile.points_by_longest[latest];
            seen.0 += 1;
            seen.1 += u64::from(point.active == 1);
        }
        match point.active {
            0 => idle.outside += share,
            1 => {
                idle.serial += share;
                profile.solo_by_longest[latest] += share;
            }
            _ => {
                let tail = waiting.min(point.ended);
                idle.tail += tail as f64 * scale;
                idle.starvation += (waiting - tail) as f64 * scale;
                let wide = peak.saturating_sub(point.active).min(waiting);
                profile.wide_idle += wide as f64 * scale;
                profile.narrow_idle += (waiting - wide) as f64 * scale;
                profile.shared_by_longest[latest] += share;
            }
        }
    }
    profile.losses = identity(sums, workers, window, dispatch, &idle);
    profile.rescale(&idle);
    profile.seen = points;
    profile
}

/// What a point shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The begin of its bin.
    pub begin: i64,
    /// Workers inside a task.
    pub busy: u64,
    /// Workers inside a task or between two.
    pub active: u64,
    /// Workers that have executed their last task.
    pub ended: u64,
    /// The bucket of the longest piece of work, and who does it.
    pub longest: usize,
    pub who: Who,
}

/// The variance of busy workers over that of independent hand-overs: outside of this range workers
/// wait for each other or for one event. Independent ones were within 0.5 and 2 at 64 points.
const INDEPENDENT: std::ops::Range<f64> = 0.4..3.0;

/// Pairs of tasks at the same time, over those of independent workers, below which tasks run one by
/// one.
const ONE_BY_ONE: f64 = 0.25;

impl Profile {
    /// Whether workers run in turns, as they do that wait for each other.
    pub fn take_turns(&self) -> bool {
        self.hand_over_variance.is_some_and(|variance| variance < INDEPENDENT.start)
    }

    /// Whether hardly ever two run at once, less often than independent workers would.
    pub fn run_one_by_one(&self) -> bool {
        self.workers > 1 && self.togetherness < ONE_BY_ONE
    }

    /// Whether workers stop together, as they do that wait for one event.
    pub fn stop_together(&self) -> bool {
        self.hand_over_variance.is_some_and(|variance| variance >= INDEPENDENT.end)
    }

    /// Makes idle times by cause add up to the idle terms of the losses, which rest on the exact
    /// busy time.
    fn rescale(&mut self, sampled: &Losses) {
        let ratio = |exact: f64, sampled: f64| if sampled > 0.0 { exact / sampled } else { 0.0 };
        let shared = ratio(self.losses.tail + self.losses.starvation, sampled.tail + sampled.starvation);
        self.wide_idle *= shared;
        self.narrow_idle *= shared;
        self.shared_by_longest.iter_mut().for_each(|share| *share *= shared);
        let solo = ratio(self.losses.serial, sampled.serial);
        self.solo_by_longest.iter_mut().for_each(|share| *share *= solo);
    }
}

/// The losses. Work, dispatch and preemption are exact sums. The rest is idle time, which is
/// divided in the proportions that the points show.
fn identity(sums: &Accumulator, workers: u64, window: u64, dispatch: &Dispatch, idle: &Losses) -> Losses {
    let total = workers as f64 * window as f64;
    if total <= 0.0 {
        return Losses { work: 1.0, ..Losses::default() };
    }
    let busy = sums.busy() as f64;
    // Spans that overlap on one worker can add up to more time than there is.
    let busy = (busy / total).min(1.0);
    let preempted_in_tasks = (sums.preempted_in_tasks as f64 / total).min(busy);
    let micro = (dispatch.sum_ns as f64 / total).min(1.0 - busy);
    let rest = (1.0 - busy - micro).max(0.0);
    let preempted_in_gaps = (sums.preempted_in_gaps as f64 / total).min(rest);
    let rest = rest - preempted_in_gaps;
    let sampled = idle.serial + idle.tail + idle.starvation + idle.outside;
    let part = |share: f64| if sampled > 0.0 { rest * share / sampled } else { 0.0 };
    Losses {
        work: busy - preempted_in_tasks,
        dispatch: micro,
        serial: part(idle.serial),
        tail: part(idle.tail),
        // Without a single idle point the rest is too little for the points to see. It is some
        // worker's wait.
        starvation: if sampled > 0.0 { part(idle.starvation) } else { rest },
        preempted: preempted_in_tasks + preempted_in_gaps,
        outside: part(idle.outside),
    }
}

/// Mean and variance.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (usize, f64, f64) {
    let count = values.clone().count();
    let mean = values.clone().sum::<f64>() / count.max(1) as f64;
    (count, mean, values.map(|value| (value - mean).powi(2)).sum::<f64>() / count.max(1) as f64)
}

/// The fewest points in gaps that show a variance within a third.
const ENOUGH: f64 = 64.0;

/// Compares the number of busy workers, while all are busy or in a gap, with what independent
/// hand-overs give: a binomial number. Workers that wait for each other take turns (less), and
/// workers that wait for one event stop together (more).
fn hand_over_variance(points: &[Point], workers: u64) -> Option<f64> {
    let all = points.iter().filter(|point| point.active >= workers).map(|point| point.busy as f64);
    let (count, mean, variance) = moments(all);
    let in_gaps = count as f64 * (workers as f64 - mean);
    over_binomial(mean, variance, workers).filter(|_| in_gaps >= ENOUGH && workers > 1)
}

/// A variance of the number of busy workers, over that of independent ones with the same mean.
fn over_binomial(mean: f64, variance: f64, workers: u64) -> Option<f64> {
    let independent = mean * (1.0 - mean / workers.max(1) as f64);
    (independent > 0.0).then(|| variance / independent)
}

fn dispersion(points: &[Point]) -> f64 {
    let (_, mean, variance) = moments(points.iter().map(|point| point.active as f64));
    if mean > 0.0 { variance / mean } else { 0.0 }
}

fn independence(points: &[Point], workers: u64) -> Option<f64> {
    let (_, mean, variance) = moments(points.iter().map(|point| point.busy as f64));
    over_binomial(mean, variance, workers)
}

fn peak(points: &[Point]) -> u64 {
    let mut active: Vec<u64> = points.iter().map(|point| point.active).collect();
    active.sort_unstable();
    let rare = active.len() / 100;
    active.len().checked_sub(rare + 1).map_or(0, |at| active[at])
}

/// `E[b (b - 1)]` of the number `b` of busy workers while anyone is active, divided by that of
/// independent workers with the same mean.
fn togetherness(points: &[Point], workers: u64) -> f64 {
    let active: Vec<f64> =
        points.iter().filter(|point| point.active > 0).map(|point| point.busy as f64).collect();
    if workers < 2 || active.is_empty() {
        return 1.0;
    }
    let mean = active.iter().sum::<f64>() / active.len() as f64;
    let pairs = active.iter().map(|busy| busy * (busy - 1.0)).sum::<f64>() / active.len() as f64;
    let independent = mean * mean * (1.0 - 1.0 / workers as f64);
    if independent > 0.0 { pairs / independent } else { 1.0 }
}

fn parallelism(sums: &Accumulator, start: i64, window: u64, workers: u64, points: &[Point]) -> Parallelism {
    let steps = if window == 0 { 0 } else { STEPS.min(window as usize) };
    let step = if steps == 0 { 0.0 } else { window as f64 / steps as f64 };
    let mut timeline = vec![0.0; steps];
    let width = sums.sums.grid.width() as f64;
    for (begin, cell) in sums.sums.grid.cells() {
        if cell.busy_ns == 0 || steps == 0 {
            continue;
        }
        // All busy time of the bin lies in the part of it that is inside the window.
        let from = ((begin - start) as f64).max(0.0);
        let to = ((begin - start) as f64 + width).min(window as f64).max(from + 1e-9);
        let mut at = (from / step) as usize;
        while at < steps && (at as f64) * step < to {
            let overlap = ((at + 1) as f64 * step).min(to) - (at as f64 * step).max(from);
            timeline[at] += cell.busy_ns as f64 * (overlap.max(0.0) / (to - from)) / step;
            at += 1;
        }
    }
    let busy = sums.busy() as f64;
    Parallelism {
        mean: if window == 0 { 0.0 } else { busy / window as f64 },
        peak: points.iter().map(|point| point.busy as f64).fold(0.0, f64::max),
        step_ns: step.round() as u64,
        timeline,
        histogram: levels(points, workers),
    }
}

fn levels(points: &[Point], workers: u64) -> Vec<Level> {
    // Up to 16 workers have one level each. Beyond, 0 and 1 have their own and the others share 14
    // ranges of equal length.
    let range = |busy: u64| -> (u64, u64) {
        if workers <= LEVELS || busy < 2 {
            return (busy, busy);
        }
        let step = (workers - 1).div_ceil(LEVELS - 2);
        let from = 2 + (busy - 2) / step * step;
        (from, (from + step - 1).min(workers))
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    for point in points {
        *counts.entry(range(point.busy)).or_insert(0u64) += 1;
    }
    for ((from, to), count) in counts {
        levels.push(Level { from, to, share: count as f64 / points.len() as f64 });
    }
    levels
}
