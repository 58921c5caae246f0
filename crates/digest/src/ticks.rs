//! Whether a clock sets when tasks begin: a client of constant rate, a timer, a screen's refresh.
//!
//! A program that is its own pace begins a task where another one ends. Of all begins, those count
//! that no end comes before, and they are compared with a grid. The grid is found in short
//! stretches of time, where its period need not be known well, and is then followed through the
//! whole window: a clock keeps its phase, and the phase of a loop of tasks drifts with each of
//! them.
//!
//! The measure is the squared mean vector of the phases (Rayleigh's), less what chance makes: 1 if
//! all begins lie on the grid, 0.4 if each is up to half a period late, 0 without a grid.

use std::f64::consts::{PI, TAU};

use crate::{
    edges::{ENDLESS, Edge, Kept},
    releases::Window,
};

/// A begin that lies so far behind an end may follow from it: this share of the mean time between
/// two begins, within what waking a thread takes.
const BEHIND: f64 = 0.1;
const WAKES_NS: (f64, f64) = (2_000.0, 50_000.0);
/// The fewest begins that show a period.
const ENOUGH: usize = 16;
/// The share of begins before which nothing ends, below which they are no clock's: a frame may take
/// some dozens of tasks.
const FREE: f64 = 0.02;
/// So many begins are looked at: a millisecond of work where the finish of a digest finds nothing.
const MOST: usize = 256;
/// Stretches of so many begins, then of 8 times as many for grids that are so much wider.
const STRETCHES: [f64; 3] = [64.0, 512.0, 4_096.0];
/// The fewest periods in a stretch, and in the window.
const FEWEST: f64 = 4.0;
const IN_WINDOW: f64 = 12.0;
/// The share of periods in which something begins by the clock, and of begins that are the clock's
/// own, from which on it sets the pace.
const SEEN: f64 = 0.4;
const MOSTLY: f64 = 0.5;
/// The measure from which on begins lie on a grid.
const ON_GRID: f64 = 0.3;
/// Chance shows no more than this, over the square root of the number of pairs of begins: of some
/// hundred periods that are tried, the best has `ln(300) + 3` times the mean of one.
const BY_CHANCE: f64 = 8.0;
/// Of the measure in stretches, what the whole window must keep.
const KEPT: f64 = 0.8;

/// What a clock does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ticks {
    pub period_ns: f64,
    /// The measure over the whole window.
    pub on_grid: f64,
    /// Of the begins, the share before which nothing ends.
    pub of_begins: f64,
    /// The share of the periods in which such a begin was seen.
    pub of_periods: f64,
    /// The measure of all begins of each worker by itself, on the same grid.
    pub followed: f64,
}

/// A begin, and on which worker.
#[derive(Debug, Clone, Copy)]
struct Begin {
    at: f64,
    worker: u32,
    free: bool,
}

/// Which begins share a grid: all, or those of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    All,
    Worker,
}

impl Ticks {
    /// Reads slots of each length, from the longest on. O(edges + begins looked at).
    pub fn of(kept: &[Kept], window: &Window, resolution_ns: u64) -> Option<Ticks> {
        kept.iter().rev().find_map(|kept| Ticks::of_slots(kept, window, resolution_ns))
    }

    fn of_slots(kept: &Kept, window: &Window, resolution_ns: u64) -> Option<Ticks> {
        let all = begins(kept, window, resolution_ns);
        let base = base(kept, window);
        let span = (window.end - base) as f64;
        let covered = if kept.whole { span } else { covered(kept) };
        let rate = all.len() as f64 / covered;
        let free: Vec<Begin> = all.iter().filter(|begin| begin.free).copied().collect();
        if free.len() < ENOUGH || (free.len() as f64) < FREE * all.len() as f64 {
            return None;
        }
        let slot = (!kept.whole).then_some((1u64 << kept.shift) as f64);
        let grid = grid(&free, Group::All, rate, slot, span, resolution_ns)
            .or_else(|| grid(&free, Group::Worker, rate, slot, span, resolution_ns))?;
        let periods = covered / grid.period_ns;
        let mut seen: Vec<i64> = free.iter().map(|begin| (begin.at / grid.period_ns) as i64).collect();
        seen.dedup();
        let few = evenly(&all, grid.stretch);
        let ticks = Ticks {
            period_ns: grid.period_ns,
            on_grid: grid.measure,
            of_begins: free.len() as f64 / all.len() as f64,
            of_periods: (seen.len() as f64 / periods).min(1.0),
            followed: measure(&few, Group::Worker, span, grid.period_ns),
        };
        Some(ticks).filter(Ticks::set_the_pace)
    }

    /// Whether most begins are the clock's own, or all follow those that are.
    fn set_the_pace(&self) -> bool {
        self.of_periods >= SEEN && (self.of_begins >= MOSTLY || self.followed >= ON_GRID)
    }
}

/// Where stretches are counted from, so that none holds parts of two slots.
fn base(kept: &Kept, window: &Window) -> i64 {
    if kept.whole { window.start } else { window.start >> kept.shift << kept.shift }
}

/// The begins of all slots, relative to the base.
fn begins(kept: &Kept, window: &Window, resolution_ns: u64) -> Vec<Begin> {
    let edges = &kept.edges;
    let count = edges.iter().filter(|edge| edge.begins).count();
    let covered = if kept.whole { (window.end - window.start) as f64 } else { covered(kept) };
    let near = (BEHIND * covered / count.max(1) as f64).clamp(WAKES_NS.0, WAKES_NS.1);
    let near = (near as i64).max(2 * resolution_ns as i64);
    let base = base(kept, window);
    let mut last_end = i64::MIN;
    let mut begins = Vec::with_capacity(count);
    // Where an end and a begin fall on one moment, the end comes first.
    let mut at = 0;
    while at < edges.len() {
        let moment = edges[at].at;
        let same = edges[at..].iter().take_while(|edge| edge.at == moment).count();
        let together = &edges[at..at + same];
        if together.iter().any(|edge| !edge.begins) {
            last_end = moment;
        }
        let from = moment >> kept.shift << kept.shift;
        // What lies at the rim of a slot has neighbours that were not kept.
        if kept.whole || moment - near >= from {
            let free = last_end.checked_add(near).is_none_or(|until| until < moment) || last_end == i64::MIN;
            let begin = |edge: &Edge| Begin { at: (edge.at - base) as f64, worker: edge.worker, free };
            begins.extend(together.iter().filter(|edge| edge.begins && edge.pause != ENDLESS).map(begin));
        }
        at += same;
    }
    begins
}

/// The time of the slots in which something was kept.
fn covered(kept: &Kept) -> f64 {
    let slots = kept.edges.chunk_by(|a, b| a.at >> kept.shift == b.at >> kept.shift).count();
    slots as f64 * (1u64 << kept.shift) as f64
}

struct Grid {
    period_ns: f64,
    measure: f64,
    stretch: f64,
}

/// The widest grid on which the begins of a group lie about as well as on the best one, if they
/// lie on one through the whole window.
fn grid(
    begins: &[Begin],
    group: Group,
    rate: f64,
    slot: Option<f64>,
    span: f64,
    resolution_ns: u64,
) -> Option<Grid> {
    // Times that a clock cuts off lie on a grid of its steps.
    let most = (1.25 * rate).min(0.25 / resolution_ns.max(1) as f64);
    let mut best: Option<(f64, f64, f64)> = None;
    let longest = slot.unwrap_or(span);
    // A slot is halved, so that no stretch holds parts of two.
    let fit = |wanted: f64| match slot {
        Some(slot) => slot / (slot / wanted).max(1.0).log2().floor().exp2(),
        None => wanted.min(span),
    };
    let mut most = most;
    for count in STRETCHES {
        let stretch = fit(count / rate);
        let begins = evenly(begins, stretch);
        let step = 0.5 / stretch;
        let steps = ((most * stretch - FEWEST) / 0.5).clamp(0.0, 1_024.0) as usize;
        let of = |at: usize| FEWEST / stretch + at as f64 * step;
        let mut phases = Phases::new(&begins, group, stretch, of(0), step);
        let seen: Vec<f64> = (0..=steps)
            .map(|_| {
                let seen = phases.measure().0;
                phases.step();
                seen
            })
            .collect();
        let top = seen.iter().copied().fold(0.0, f64::max);
        let widest = seen.iter().position(|seen| *seen >= 0.8 * top && *seen >= 0.5 * ON_GRID);
        if let Some(at) = widest
            && best.is_none_or(|best| top * 0.8 >= best.1)
        {
            // A neighbour may lie nearer to the true one.
            let at =
                (at..(at + 3).min(seen.len())).max_by(|a, b| seen[*a].total_cmp(&seen[*b])).unwrap_or(at);
            best = Some((of(at), seen[at], stretch));
        }
        most = most.min(FEWEST / stretch);
        if stretch >= longest {
            break;
        }
    }
    let (mut of, short, first) = best?;
    let few = evenly(begins, first);
    let (seen, pairs) = Phases::new(&few, group, first, of, 0.0).measure();
    if seen < (BY_CHANCE / pairs.sqrt()).max(0.5 * ON_GRID) {
        return None;
    }
    let mut stretch = first;
    let mut measured;
    let mut reach = 0.5 / first;
    loop {
        let step = 0.2 / stretch;
        let steps = (reach / step).ceil() as usize;
        let lowest = of - steps as f64 * step;
        let mut phases = Phases::new(&few, group, stretch, lowest, step);
        let tried = (0..=2 * steps).map(|at| {
            let seen = phases.measure().0;
            phases.step();
            (lowest + at as f64 * step, seen)
        });
        (of, measured) = tried.filter(|(of, _)| *of > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))?;
        if stretch >= span {
            break;
        }
        reach = 0.4 / stretch;
        stretch = (stretch * 4.0).min(span);
    }
    (measured >= ON_GRID && measured >= KEPT * short && of * span >= IN_WINDOW).then_some(Grid {
        period_ns: 1.0 / of,
        measure: measured,
        stretch: first,
    })
}

/// At most [`MOST`] begins: those of whole stretches, spread evenly.
fn evenly(begins: &[Begin], stretch: f64) -> Vec<Begin> {
    if begins.len() <= MOST {
        return begins.to_vec();
    }
    let every = begins.len().div_ceil(MOST);
    let stretches = begins.chunk_by(|a, b| (a.at / stretch) as i64 == (b.at / stretch) as i64);
    let mut kept: Vec<Begin> = Vec::new();
    let mut debt = 0usize;
    for begins in stretches {
        // Each begin that was seen allows for a part of one.
        debt += begins.len();
        if debt >= every * begins.len() && kept.len() < MOST {
            debt -= (every * begins.len()).min(debt);
            kept.extend(begins.iter().take(MOST));
        }
    }
    if kept.len() < ENOUGH { begins[..MOST].to_vec() } else { kept }
}

/// How well begins of one group and stretch lie on a grid of this period, whatever its phase in
/// each.
fn measure(begins: &[Begin], group: Group, stretch: f64, period_ns: f64) -> f64 {
    Phases::new(begins, group, stretch, 1.0 / period_ns, 0.0).measure().0
}

/// The phases of begins on a grid, whose frequency grows step by step. A step is a rotation, which
/// takes a tenth of the time of a sine.
struct Phases {
    /// The sine and cosine of each begin's phase, and those of what a step adds.
    phases: Vec<[f64; 4]>,
    /// The number of begins of each group of each stretch.
    counts: Vec<usize>,
    /// Turns of the grid in half a stretch, and what a step adds.
    turns: f64,
    more: f64,
}

impl Phases {
    fn new(begins: &[Begin], group: Group, stretch: f64, of: f64, step: f64) -> Self {
        let mut placed: Vec<(i64, u32, f64)> = (begins.iter())
            .map(|begin| {
                let number = (begin.at / stretch).floor();
                let worker = if group == Group::Worker { begin.worker } else { 0 };
                (number as i64, worker, begin.at - (number + 0.5) * stretch)
            })
            .collect();
        if group == Group::Worker {
            placed.sort_by_key(|begin| (begin.0, begin.1));
        }
        let counts = placed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(<[_]>::len).collect();
        let turn = |turns: f64| (TAU * turns.fract()).sin_cos();
        let phase = |begin: &(i64, u32, f64)| {
            let ((sin, cos), (by_sin, by_cos)) = (turn(begin.2 * of), turn(begin.2 * step));
            [sin, cos, by_sin, by_cos]
        };
        let phases = placed.iter().map(phase).collect();
        Phases { phases, counts, turns: of * stretch * PI, more: step * stretch * PI }
    }

    /// The measure, and the number of pairs of begins that it rests on.
    fn measure(&self) -> (f64, f64) {
        // Begins that are spread evenly over the stretch leave this at its middle.
        let even = if self.turns > 1e-9 { self.turns.sin() / self.turns } else { 1.0 };
        let (mut squares, mut pairs) = (0.0, 0.0);
        let mut rest = &self.phases[..];
        for count in &self.counts {
            let (of_group, others) = rest.split_at(*count);
            rest = others;
            let count = *count as f64;
            let sin: f64 = of_group.iter().map(|phase| phase[0]).sum();
            let cos: f64 = of_group.iter().map(|phase| phase[1]).sum();
            squares += (cos - count * even).powi(2) + sin.powi(2);
            pairs += count * (count - 1.0);
        }
        let alone = self.phases.len() as f64;
        if pairs > 0.0 { (((squares - alone) / pairs).max(0.0), pairs) } else { (0.0, 0.0) }
    }

    fn step(&mut self) {
        self.turns += self.more;
        for [sin, cos, by_sin, by_cos] in &mut self.phases {
            (*sin, *cos) = (*sin * *by_cos + *cos * *by_sin, *cos * *by_cos - *sin * *by_sin);
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::edges::Edges;

    /// What is seen of tasks that arrive at times, each with its length, on workers that take the
    /// first free one.
    fn served(workers: usize, tasks: impl Iterator<Item = (f64, f64)>) -> Option<Ticks> {
        let mut spans: Vec<(u32, i64, i64)> = Vec::new();
        let mut free = vec![0i64; workers];
        for (at, length) in tasks {
            let worker = (0..workers).min_by_key(|worker| (free[*worker].max(at as i64), *worker));
            let worker = worker.unwrap_or(0);
            let start = free[worker].max(at as i64) + 500;
            free[worker] = start + length as i64;
            spans.push((worker as u32, start, free[worker]));
        }
        seen(spans, 1)
    }

    fn seen(mut spans: Vec<(u32, i64, i64)>, resolution_ns: u64) -> Option<Ticks> {
        spans.sort_unstable();
        let mut edges = Edges::new(4_096);
        for spans in spans.chunk_by(|a, b| a.0 == b.0) {
            let worker = spans[0].0;
            edges.add(Edge { at: spans[0].1, pause: ENDLESS, worker, begins: true });
            for pair in spans.windows(2) {
                edges.pause(pair[0].2, pair[1].1, worker);
            }
            edges.add(Edge { at: spans[spans.len() - 1].2, pause: ENDLESS, worker, begins: false });
        }
        let end = spans.iter().map(|span| span.2).max().unwrap_or(0);
        let kept: Vec<Kept> = edges.into_each_length().collect();
        Ticks::of(&kept, &Window { longer_than: 5_000, start: spans[0].1, end }, resolution_ns)
    }

    fn assert_period(ticks: Option<Ticks>, period: f64) {
        let found = ticks.unwrap_or_else(|| panic!("no grid of {period}"));
        assert!((found.period_ns / period - 1.0).abs() < 1e-3, "{found:?} {period}");
    }

    #[test]
    fn a_client_of_constant_rate_is_a_clock() {
        for (seed, (period, jitter, tasks)) in
            [(1e6, 0.0, 500), (1e6, 0.05, 40_000), (2e4, 0.05, 3_000), (5e7, 0.2, 100), (3e5, 0.3, 9_000)]
                .into_iter()
                .enumerate()
        {
            let mut rng = Rng::with_seed(seed as u64);
            let tasks = (0..tasks).map(|tick| {
                let at = period * (f64::from(tick) + jitter * rng.f64());
                (at, period * 2.4 * -(1.0 - rng.f64()).ln())
            });
            assert_period(served(4, tasks.collect::<Vec<_>>().into_iter()), period);
        }
    }

    #[test]
    fn bursts_and_clients_of_their_own_are_clocks() {
        let mut rng = Rng::with_seed(1);
        let bursts = (0..4_000).map(|task| (1e7 * f64::from(task / 5), 1e6 * (1.0 + rng.f64())));
        assert_period(served(8, bursts.collect::<Vec<_>>().into_iter()), 1e7);
        let mut rng = Rng::with_seed(2);
        let clients = (0..4_000).map(|task| {
            (1e6 * f64::from(task / 3) + [0.0, 13e4, 55e4][task as usize % 3], 5e5 * (1.0 + rng.f64()))
        });
        // Of three phases on one grid, a finer grid may hold two.
        let found = served(8, clients.collect::<Vec<_>>().into_iter()).expect("the clients' grid");
        let parts = 1e6 / found.period_ns;
        assert!(parts < 8.5 && (parts - parts.round()).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn stages_that_follow_a_screen_do_so() {
        let mut rng = Rng::with_seed(3);
        let mut spans = Vec::new();
        let mut free = [0i64; 3];
        for frame in 0..900 {
            let mut at = frame * 16_666_667;
            for (stage, free) in free.iter_mut().enumerate() {
                let start = at.max(*free) + rng.i64(1_000..40_000);
                at = start + 9_000_000 + rng.i64(0..900_000);
                *free = at;
                spans.push((stage as u32, start, at));
            }
        }
        assert_period(seen(spans, 1), 16_666_667.0);
    }

    #[test]
    fn random_arrivals_and_loops_of_tasks_are_none() {
        for seed in 0..20 {
            let mut rng = Rng::with_seed(seed);
            let mut at = 0.0;
            let arrivals = (0..3_000).map(|_| {
                at -= 1e6 * (1.0 - rng.f64()).ln();
                (at, 2e6 * rng.f64())
            });
            assert_eq!(served(4, arrivals.collect::<Vec<_>>().into_iter()), None, "{seed}");
            // Tasks of one length, each 300 us after the one before, give or take a tenth.
            let mut rng = Rng::with_seed(seed);
            let mut spans = Vec::new();
            for worker in 0..4 {
                let mut at = 0;
                for _ in 0..1_000 {
                    at += rng.i64(270_000..330_000);
                    spans.push((worker, at, at + 500_000));
                    at += 500_000;
                }
            }
            assert_eq!(seen(spans, 1), None, "{seed}");
        }
    }

    #[test]
    fn the_steps_of_a_clock_are_no_grid_of_tasks() {
        let mut rng = Rng::with_seed(4);
        let mut at = 0;
        let spans = (0..3_000).map(|task| {
            at += rng.i64(1..8) * 1_000_000;
            (task % 4, at, at + rng.i64(1..8) * 1_000_000)
        });
        assert_eq!(seen(spans.collect(), 1_000_000), None);
    }
}
