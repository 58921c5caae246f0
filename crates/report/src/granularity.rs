//! How small a task may be, as tables: one per suite, table and size, one line per variant. `text`
//! and `markdown` draw the same words.

use comfy_table::Cell as GridCell;
use taskscale_model::{
    run_file::Time,
    summary::{Grain, GrainPoint, Granularity, Interval, Metg, MetgState, Summary},
};

use crate::{
    folded::{NAMES, folded, left, name, right},
    style::{Ink, clean, ink},
    toolchain,
};
use taskscale_model::figure::{count, duration, half_width, percent};

/// The legend of these tables.
pub const LEGEND: &str = "Smallest task (METG): the smallest CPU time per task, its work included, of which that share is work, with half its 95 % \
    interval; in parentheses by wall time x cores / tasks, where idle cores count too. < and >: beyond what was measured. Reached: the \
    largest share measured. Threads: those that ran, of so many cores.";

/// One table of sweeps.
pub struct Sweeps<'a> {
    pub heading: String,
    /// One sweep for each line.
    pub lines: Vec<&'a Granularity>,
}

/// All sweeps that have figures, in the order of the plan.
pub fn tables(summary: &Summary) -> Vec<Sweeps<'_>> {
    let mut tables: Vec<Sweeps<'_>> = Vec::new();
    for one in summary.granularity.iter().filter(|one| one.figures.value().is_some()) {
        let heading =
            clean(&format!("{}: {}, {} of them", one.key.suite, one.key.table, count(one.key.size)));
        match tables.iter_mut().find(|table| table.heading == heading) {
            Some(table) => table.lines.push(one),
            None => tables.push(Sweeps { heading, lines: vec![one] }),
        }
    }
    tables
}

/// The efficiencies that any of the sweeps has a figure for. Each has a column.
fn efficiencies(table: &Sweeps<'_>) -> Vec<f64> {
    let mut all = Vec::new();
    for metg in table.lines.iter().flat_map(|one| of_time(one, Time::Cpu)) {
        if !all.contains(&metg.efficiency) {
            all.push(metg.efficiency);
        }
    }
    all
}

/// The columns behind runtime and variant.
pub fn header(table: &Sweeps<'_>) -> Vec<String> {
    let columns = efficiencies(table).into_iter().map(|efficiency| format!("{} % work", percent(efficiency)));
    std::iter::once("threads".to_owned()).chain(columns).chain(["reached".to_owned()]).collect()
}

/// The variant, and below it a remark where its units are no tasks.
pub fn variant(one: &Granularity) -> String {
    let no_task = if one.creates_task == Some(false) { "\nno task" } else { "" };
    clean(&one.key.variant) + no_task
}

/// The cells below [`header`]. A figure has CPU time first, then wall time.
pub fn cells(table: &Sweeps<'_>, one: &Granularity) -> Vec<String> {
    let of = |time, efficiency| of_time(one, time).find(|metg| metg.efficiency == efficiency);
    let figure = |efficiency: f64| match (of(Time::Cpu, efficiency), of(Time::Wall, efficiency)) {
        (Some(cpu), Some(wall)) => format!("{}\n({})", cpu_figure(one, cpu), wall_figure(one, wall)),
        (Some(cpu), None) => cpu_figure(one, cpu),
        (None, _) => String::new(),
    };
    let figures = efficiencies(table).into_iter().map(figure);
    std::iter::once(threads(one)).chain(figures).chain([reached(one)]).collect()
}

fn of_time(one: &Granularity, time: Time) -> impl Iterator<Item = &Metg> {
    let all = one.figures.value().map(|grains| &*grains.metg).unwrap_or_default();
    all.iter().filter(move |metg| metg.time == time)
}

fn points(one: &Granularity) -> &[GrainPoint] {
    one.figures.value().map(|grains| &*grains.points).unwrap_or_default()
}

/// Writes the threads that ran and the cores: `1 of 2`.
fn threads(one: &Granularity) -> String {
    let ran = one.threads.map_or("?".to_owned(), |(least, most)| match least == most {
        true => count(most),
        false => format!("{} to {}", count(least), count(most)),
    });
    one.cores.map_or(ran.clone(), |cores| format!("{ran} of {}", count(cores)))
}

/// The half-width, as a share, from which both ends are shown. Such intervals are far from even.
const WIDE: f64 = 0.5;

/// Writes a figure with its interval: `4.6 us ±18%`, or `115 us` and below it `from 88 us` where it
/// has no upper end.
fn cpu_figure(one: &Granularity, metg: &Metg) -> String {
    let Some(&Grain { ns, low, high }) = metg.grain.value() else { return state(one, metg) };
    let rough = |ns: f64| duration(ns, Some(ns / 10.0));
    match (low, high) {
        (Some(low), Some(high)) => {
            let half = half_width(ns, Interval(low, high));
            match half / ns {
                share if share > WIDE => format!("{}\n{} to {}", rough(ns), rough(low), rough(high)),
                share => format!("{} ±{}%", duration(ns, Some(half)), percent(share)),
            }
        }
        (Some(low), None) => format!("{}\nfrom {}", rough(ns), rough(low)),
        (None, Some(high)) => format!("{}\nup to {}", rough(ns), rough(high)),
        (None, None) => duration(ns, None),
    }
}

/// Writes a figure rounded to its interval, without the interval.
fn wall_figure(one: &Granularity, metg: &Metg) -> String {
    let Some(&Grain { ns, low, high }) = metg.grain.value() else { return state(one, metg) };
    let half = low.zip(high).map(|(low, high)| half_width(ns, Interval(low, high)));
    duration(ns, half)
}

fn state(one: &Granularity, metg: &Metg) -> String {
    let cost = |point: Option<&GrainPoint>| {
        let cost = point.and_then(|point| match metg.time {
            Time::Cpu => Some(point.cpu_ns),
            Time::Wall => point.core_ns,
        });
        cost.map_or("?".to_owned(), |ns| duration(ns, None))
    };
    match metg.state {
        MetgState::Below => format!("< {}", cost(points(one).first())),
        MetgState::Above => format!("> {}", cost(points(one).last())),
        MetgState::Undefined => "undefined".into(),
        MetgState::Found | MetgState::CannotTell => "cannot tell".into(),
    }
}

/// Writes the largest efficiencies, by CPU time and by wall time: `99% (87%)`.
fn reached(one: &Granularity) -> String {
    let most =
        |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max).map(|share| percent(share) + "%");
    let cpu = most(&mut points(one).iter().map(|point| point.cpu_efficiency)).unwrap_or_default();
    match most(&mut points(one).iter().filter_map(|point| point.wall_efficiency)) {
        Some(wall) => format!("{cpu}\n({wall})"),
        None => cpu,
    }
}

/// Missing figures with their reason: `who: which: why`.
pub fn reasons(summary: &Summary) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |reason: String, who: String| match groups.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, all)) if all.contains(&who) => {}
        Some((_, all)) => all.push(who),
        None => groups.push((reason, vec![who])),
    };
    for one in &summary.granularity {
        let who = clean(&format!("{} {}, {}", one.key.runtime, one.key.variant, one.key.table));
        if let Some(missing) = one.figures.why() {
            add(clean(&missing.reason), who.clone());
        }
        for (time, name) in [(Time::Cpu, "CPU"), (Time::Wall, "wall")] {
            let lacking: Vec<&Metg> = of_time(one, time).filter(|metg| is_no_bound(metg)).collect();
            let Some(missing) = lacking.first().and_then(|metg| metg.grain.why()) else { continue };
            // All figures that one sweep lacks by one time have the same reason.
            let which: Vec<String> = lacking.iter().map(|metg| percent(metg.efficiency)).collect();
            // Too few threads is a property of the variant, whatever its tasks wait for.
            let undefined = lacking.iter().all(|metg| metg.state == MetgState::Undefined);
            let who = if undefined {
                clean(&format!("{} {}", one.key.runtime, one.key.variant))
            } else {
                who.clone()
            };
            add(clean(&format!("{} % by {name} time: {}", which.join(", "), missing.reason)), who);
        }
    }
    groups.into_iter().map(|(reason, who)| format!("{}: {reason}", who.join("; "))).collect()
}

/// Whether the cell says less than a bound does.
fn is_no_bound(metg: &Metg) -> bool {
    matches!(metg.state, MetgState::Undefined | MetgState::CannotTell)
}

/// Draws a table for a terminal, wall time below CPU time, folded to its width.
pub fn draw(table: &Sweeps<'_>, width: usize) -> String {
    let header: Vec<GridCell> =
        ["runtime", "variant"].map(left).into_iter().chain(header(table).iter().map(right)).collect();
    let mut runtime = "";
    let mut rows: Vec<Vec<GridCell>> = Vec::new();
    for one in &table.lines {
        let [first, variant] = names(table, one);
        let first = if one.key.runtime == runtime { "" } else { &first };
        runtime = &one.key.runtime;
        rows.push(
            [first, &variant]
                .map(left)
                .into_iter()
                .chain(cells(table, one).iter().map(|cell| figure(cell)))
                .collect(),
        );
    }
    folded(&header, &rows, 2, width)
}

/// Draws all points of all sweeps for a terminal, folded to its width.
pub fn draw_points(table: &Sweeps<'_>, width: usize) -> String {
    let columns = ["work", "steps", "CPU per task", "work", "wall x cores", "work"];
    let header: Vec<GridCell> =
        ["runtime", "variant"].map(left).into_iter().chain(columns.map(right)).collect();
    let mut rows: Vec<Vec<GridCell>> = Vec::new();
    for one in &table.lines {
        for point in points(one) {
            let share = |share: f64| percent(share) + "%";
            let figures = [
                duration(point.work_ns as f64, None),
                count(point.steps),
                duration(point.cpu_ns, None),
                share(point.cpu_efficiency),
                point.core_ns.map(|ns| duration(ns, None)).unwrap_or_default(),
                point.wall_efficiency.map(share).unwrap_or_default(),
            ];
            let first = [&toolchain(table, one), &clean(&one.key.variant)];
            let first = [0, 1].map(|place| left(name(first[place], place)));
            rows.push(first.into_iter().chain(figures.map(right)).collect());
        }
    }
    // Each piece names the point that it is about.
    folded(&header, &rows, 3, width)
}

/// Runtime and variant in as many lines as their columns need.
fn names(table: &Sweeps<'_>, one: &Granularity) -> [String; 2] {
    let version = name(&clean(&one.key.version), 0);
    let no_task = if one.creates_task == Some(false) { "\nno task" } else { "" };
    [format!("{}\n{version}", name(&toolchain(table, one), 0)), name(&clean(&one.key.variant), 1) + no_task]
}

/// The runtime, in short where its toolchain is named by a long path.
fn toolchain(table: &Sweeps<'_>, one: &Granularity) -> String {
    let ids: Vec<&str> = table.lines.iter().map(|line| &*line.key.runtime).collect();
    toolchain::short(&one.key.runtime, &ids, NAMES[0])
}

fn figure(text: &str) -> GridCell {
    right(if text.starts_with("cannot tell") { ink(Ink::Dim, text) } else { text.to_owned() })
}
