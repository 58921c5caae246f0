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

use std::f64::consts::TAU;

use crate::{
    edges::{ENDLESS, Edge, Kept},
    releases::Window,
};

/// A begin that lies so far behind an end may follow from it: this share of the mean time between
/// two begins, within what waking a thread takes.
const BEHIND: f64 = 0.1;
const WAKES_NS: (f64, f64) = (2_000.0, 50_000.0);
/// The fewest begins that show a period.
const ENOUGH: usize = 24;
/// So many begins are looked at: 2 ms of work for the finish of a digest.
const MOST: usize = 512;
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

impl Ticks {
    /// Reads the longest slots that hold enough. O(edges + begins looked at).
    pub fn of(kept: &[Kept], window: &Window, resolution_ns: u64) -> Option<Ticks> {
        let found = kept.iter().rev().find_map(|kept| {
            let begins = begins(kept, window, resolution_ns);
            (begins.iter().filter(|begin| begin.free).count() >= ENOUGH).then_some((kept, begins))
        });
        let (kept, all) = found?;
        let base = base(kept, window);
        let span = (window.end - base) as f64;
        let covered = if kept.whole { span } else { covered(kept) };
        let rate = all.len() as f64 / covered;
        let free: Vec<Begin> = all.iter().filter(|begin| begin.free).copied().collect();
        let slot = (!kept.whole).then_some((1u64 << kept.shift) as f64);
        let by_time = |_: &Begin| 0;
        let by_worker = |begin: &Begin| begin.worker;
        let grid = grid(&free, by_time, rate, slot, span, resolution_ns)
            .or_else(|| grid(&free, by_worker, rate, slot, span, resolution_ns))?;
        let periods = covered / grid.period_ns;
        let mut seen: Vec<i64> = free.iter().map(|begin| (begin.at / grid.period_ns) as i64).collect();
        seen.dedup();
        let few = evenly(&all, grid.stretch);
        let ticks = Ticks {
            period_ns: grid.period_ns,
            on_grid: grid.measure,
            of_begins: free.len() as f64 / all.len() as f64,
            of_periods: (seen.len() as f64 / periods).min(1.0),
            followed: measure(&few, by_worker, span, grid.period_ns),
        };
        if std::env::var("TICKS").is_ok() { eprintln!("all {ticks:?}"); }
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
    group: impl Fn(&Begin) -> u32 + Copy,
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
        let steps = ((most * stretch - FEWEST) / 0.5).ceil().clamp(0.0, 1_024.0) as usize;
        let of: Vec<f64> =
            (0..=steps).map(|at| FEWEST / stretch + at as f64 * step).filter(|of| *of <= most).collect();
        let seen: Vec<f64> = of.iter().map(|of| measure(&begins, group, stretch, 1.0 / of)).collect();
        let top = seen.iter().copied().fold(0.0, f64::max);
        let widest = seen.iter().position(|seen| *seen >= 0.8 * top && *seen >= 0.5 * ON_GRID);
        if let Some(at) = widest
            && best.is_none_or(|best| top * 0.8 >= best.1)
        {
            // A neighbour may lie nearer to the true one.
            let at =
                (at..(at + 3).min(seen.len())).max_by(|a, b| seen[*a].total_cmp(&seen[*b])).unwrap_or(at);
            best = Some((of[at], seen[at], stretch));
        }
        most = most.min(FEWEST / stretch);
        if stretch >= longest {
            break;
        }
    }
    let (mut of, short, first) = best?;
    if short < 0.5 * ON_GRID {
        return None;
    }
    let few = evenly(begins, first);
    let mut stretch = first;
    let mut measured;
    let mut reach = 0.5 / first;
    loop {
        let step = 0.2 / stretch;
        let steps = (reach / step).ceil() as i64;
        let near = |at: i64| of + at as f64 * step;
        let tried = (-steps..=steps).map(near).filter(|of| *of > 0.0);
        let tried = tried.map(|of| (of, measure(&few, group, stretch, 1.0 / of)));
        (of, measured) = tried.max_by(|a, b| a.1.total_cmp(&b.1))?;
        if stretch >= span {
            break;
        }
        reach = 0.4 / stretch;
        stretch = (stretch * 4.0).min(span);
    }
    if std::env::var("TICKS").is_ok() { eprintln!("grid {} short {short} full {measured} first {first} begins {}", 1.0/of, begins.len()); }
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
fn measure(begins: &[Begin], group: impl Fn(&Begin) -> u32 + Copy, stretch: f64, period_ns: f64) -> f64 {
    let of = 1.0 / period_ns;
    // Begins that are spread evenly over the stretch leave this at its middle.
    let turns = of * stretch * std::f64::consts::PI;
    let even = if turns > 1e-9 { turns.sin() / turns } else { 1.0 };
    let (mut squares, mut alone, mut pairs) = (0.0, 0.0, 0.0);
    let mut sums: Vec<(u32, f64, f64, f64)> = Vec::new();
    for begins in begins.chunk_by(|a, b| (a.at / stretch) as i64 == (b.at / stretch) as i64) {
        sums.clear();
        let middle = ((begins[0].at / stretch).floor() + 0.5) * stretch;
        for begin in begins {
            let (sin, cos) = (TAU * ((begin.at - middle) * of).fract()).sin_cos();
            let key = group(begin);
            let found = sums.iter_mut().find(|sum| sum.0 == key);
            match found {
                Some(sum) => *sum = (key, sum.1 + cos, sum.2 + sin, sum.3 + 1.0),
                None => sums.push((key, cos, sin, 1.0)),
            }
        }
        for (_, cos, sin, count) in &sums {
            squares += (cos - count * even).powi(2) + sin.powi(2);
            alone += count;
            pairs += count * (count - 1.0);
        }
    }
    if pairs > 0.0 { ((squares - alone) / pairs).max(0.0) } else { 0.0 }
}
