//! Rankings: one line a row, on an axis that all sizes of a table share.

use taskscale_model::{
    figure::{self, count, time},
    run_file::{Role, Time},
    suite::is_free,
    summary::{Distribution, Interval, Quantity, Ranked, Ranking, Ratio, Row, Standing, Summary},
};

use super::room::Room;
use crate::{
    legend,
    overview::{beside, is_by_size, variant, what},
    page::{axis::Axis, marks, markup::Markup},
    style::clean,
};

/// One table of the page.
pub struct Strip {
    /// What is ranked.
    pub heading: String,
    /// The end of the heading, which goes with the size that is shown: `256 tasks at a time`.
    pub at: String,
    /// Names the table in ids.
    pub number: usize,
    pub axis: Markup,
    pub grid: Markup,
    /// One panel for each size, ascending.
    pub panels: Vec<Panel>,
    /// The panel that is shown first.
    pub first: usize,
    /// The most that the slider may say.
    pub last: usize,
    /// What is not ranked, and which times drifted.
    pub below: Vec<String>,
    /// What is not shown; empty where everything is.
    pub left_out: String,
}

/// The rows at one size.
pub struct Panel {
    /// `256 tasks at a time`
    pub size: String,
    pub is_first: bool,
    pub lines: Vec<Line>,
}

/// One row.
pub struct Line {
    pub runtime: String,
    pub variant: String,
    pub figure: String,
    /// The interval in words; empty where there is none.
    pub interval: String,
    /// The ratio in words.
    pub beside: String,
    pub class: &'static str,
    pub is_reference: bool,
    pub mark: Markup,
}

/// A row of a panel, before it is drawn.
struct Cost {
    runtime: String,
    variant: String,
    ns: f64,
    ci: Option<Interval>,
    standing: Option<Standing>,
    beside: String,
}

/// The rankings of a summary, in their order, as far as there is room.
pub fn strips(summary: &Summary, room: &Room) -> Vec<Strip> {
    summary
        .overview
        .rankings
        .iter()
        .enumerate()
        .map(|(number, ranking)| strip(summary, ranking, number, room))
        .collect()
}

fn strip(summary: &Summary, ranking: &Ranking, number: usize, room: &Room) -> Strip {
    let mut panels: Vec<(u64, Vec<Cost>)> = match ranking.quantity {
        Quantity::PerTask(time) if !is_by_size(ranking) => {
            let others = ranking.sizes.iter().map(|&size| match size == ranking.size {
                true => (size, ranked(ranking)),
                false => (size, at_size(summary, ranking, time, size)),
            });
            others.filter(|(_, costs)| !costs.is_empty()).collect()
        }
        _ => vec![(ranking.size, ranked(ranking))],
    };
    let left_out = cut(&mut panels, ranking.size, room);
    let ends = panels.iter().flat_map(|(_, costs)| costs).flat_map(|cost| {
        let ends = cost.ci.map_or([cost.ns; 2], |ci| [ci.0, ci.1]);
        [cost.ns, ends[0], ends[1]]
    });
    let axis = Axis::over(ends);
    // A smallest task has one size, and no slider.
    let whole = what(ranking, usize::MAX);
    let at = in_words(ranking, ranking.size);
    let (heading, at) = match whole.strip_suffix(&at) {
        Some(heading) => (heading, at),
        None => (&*whole, String::new()),
    };
    let first = panels.iter().position(|(size, _)| *size == ranking.size).unwrap_or_default();
    Strip {
        heading: heading.to_owned(),
        at,
        number,
        below: legend::below(summary, ranking),
        axis: Markup(marks::labels(&axis)),
        grid: Markup(marks::grid(&axis)),
        last: panels.len().saturating_sub(1),
        panels: panels
            .into_iter()
            .enumerate()
            .map(|(index, (size, costs))| Panel {
                size: in_words(ranking, size),
                is_first: index == first,
                lines: costs.iter().map(|cost| line(cost, &axis)).collect(),
            })
            .collect(),
        first,
        left_out,
    }
}

/// Leaves out sizes and rows that there is no room for, and says which. The size of the ranking
/// itself and the cheapest rows stay.
fn cut(panels: &mut Vec<(u64, Vec<Cost>)>, own: u64, room: &Room) -> String {
    let mut said = Vec::new();
    let count_before = panels.len();
    if count_before > room.sizes {
        let others = room.sizes.saturating_sub(1);
        // Evenly, with both ends.
        let chosen: Vec<u64> = (0..others)
            .map(|index| panels[index * (count_before - 1) / others.saturating_sub(1).max(1)].0)
            .collect();
        panels.retain(|(size, _)| *size == own || chosen.contains(size));
        let sizes = count_before - panels.len();
        said.push(format!(
            "{} of {} sizes are not shown here",
            count(sizes as u64),
            count(count_before as u64)
        ));
    }
    let rows =
        panels.iter().map(|(_, costs)| costs.len().saturating_sub(room.lines)).max().unwrap_or_default();
    if rows > 0 {
        panels.iter_mut().for_each(|(_, costs)| costs.truncate(room.lines));
        said.push(format!("the {} dearest rows of a size are not shown", count(rows as u64)));
    }
    match said.is_empty() {
        true => String::new(),
        false => format!("So that the page stays small, {}.", said.join(", and ")),
    }
}

/// A size as the headings have it.
fn in_words(ranking: &Ranking, size: u64) -> String {
    if is_free(&ranking.suite) {
        return format!("n = {}", count(size));
    }
    format!("{} {} at a time", count(size), if size == 1 { "task" } else { "tasks" })
}

/// The rows of the ranking itself.
fn ranked(ranking: &Ranking) -> Vec<Cost> {
    let cost = |row: &Ranked| Cost {
        runtime: clean(&row.runtime),
        variant: variant(ranking, row),
        ns: row.ns,
        ci: row.ci,
        standing: Some(row.standing),
        beside: words(row),
    };
    ranking.rows.iter().map(cost).collect()
}

/// The ratio of a ranked row in the words of the overview.
pub fn words(row: &Ranked) -> String {
    beside(row).1.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rows of the same table at another size, the cheapest first. Their ratios are to baselines of
/// their own, which are not always the ranking's reference.
fn at_size(summary: &Summary, ranking: &Ranking, clock: Time, size: u64) -> Vec<Cost> {
    let rows = summary.rows.iter().filter(|row| row.key.size == size && is_of(row, ranking));
    let mut costs: Vec<Cost> = rows
        .filter_map(|row| {
            let figures = row.figures()?;
            let timing = match clock {
                Time::Cpu => figures.cpu,
                Time::Wall => figures.wall,
            };
            Some(Cost {
                runtime: clean(&row.key.runtime),
                variant: clean(&row.key.variant_and_case()),
                ns: timing.of.p50,
                ci: timing.of.ci,
                standing: timing.ratio.and_then(standing),
                beside: of_baseline(row, timing.ratio),
            })
        })
        .collect();
    costs.sort_by(|a, b| a.ns.total_cmp(&b.ns));
    costs
}

/// Whether a row is one of those that a ranking ranks, at any size.
pub fn is_of(row: &Row, ranking: &Ranking) -> bool {
    (&row.key.suite, &row.key.table) == (&ranking.suite, &ranking.table)
        && row.role != Role::Control
        && row.creates_task != Some(false)
        && row.sweep.is_none()
}

/// The distribution that a ranked row is the median of.
pub fn distribution(summary: &Summary, ranking: &Ranking, ranked: &Ranked) -> Option<Distribution> {
    let Quantity::PerTask(clock) = ranking.quantity else { return None };
    let row = summary.rows.iter().find(|row| {
        row.key.size == ranked.size
            && is_of(row, ranking)
            && row.key.runtime == ranked.runtime
            && row.key.variant_and_case() == ranked.variant
    })?;
    row.figures().map(|figures| match clock {
        Time::Cpu => figures.cpu.of,
        Time::Wall => figures.wall.of,
    })
}

fn standing(ratio: Ratio) -> Option<Standing> {
    let ci = ratio.ci.filter(|ci| !figure::contains_one(*ci))?;
    Some(if ci.1 < 1.0 { Standing::Cheaper } else { Standing::Dearer })
}

fn of_baseline(row: &Row, ratio: Option<Ratio>) -> String {
    let Some(ratio) = ratio else { return String::new() };
    let ratio = figure::ratio(ratio.value, ratio.ci);
    match &row.baseline {
        Some(baseline) => {
            // Nearly always it is another way of the same runtime.
            let own = baseline.strip_prefix(&row.key.runtime).and_then(|rest| rest.strip_prefix(':'));
            format!("{ratio} of {}", clean(own.unwrap_or(baseline)))
        }
        None => ratio,
    }
}

fn line(cost: &Cost, axis: &Axis) -> Line {
    Line {
        runtime: cost.runtime.clone(),
        variant: cost.variant.clone(),
        figure: time(cost.ns),
        interval: interval(cost.ci),
        beside: cost.beside.clone(),
        class: marks::class(cost.standing),
        is_reference: cost.standing == Some(Standing::Reference),
        mark: Markup(marks::point(axis, cost.ns, cost.ci, cost.standing)),
    }
}

/// An interval in words, or nothing.
pub fn interval(ci: Option<Interval>) -> String {
    ci.map(|ci| format!("{} to {}", time(ci.0), time(ci.1))).unwrap_or_default()
}
