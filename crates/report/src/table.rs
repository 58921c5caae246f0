//! The grid: two lines per row, as many sizes side by side as the width allows.

use comfy_table::{Cell as GridCell, CellAlignment, ContentArrangement, Table as Grid, presets};
use taskscale_model::{
    run_file::Role,
    summary::{Grade, Row, RowStatus},
};

use crate::{
    counts,
    layout::{Cell, Line, Table, exponent, grade},
    style::{Ink, Style, ink},
};
use taskscale_analysis::figure::{contains_one, count, ratio, rounded, with_interval};

/// Draws a table, in as many pieces as it takes to stay within the width (but never without a size).
pub fn draw(table: &Table<'_>, style: &Style) -> String {
    let lines: Vec<&Line<'_>> = table.lines.iter().filter(|line| line.has_figures()).collect();
    let sizes = table.sizes_with_figures();
    let mut rest: &[u64] = &sizes;
    let mut text = String::new();
    let mut with_growth = lines.iter().any(|line| line.growth.is_some());
    while !rest.is_empty() {
        let piece = |count: usize| grid(&lines, &rest[..count], with_growth);
        let fits = |grid: &Grid| grid.lines().all(|line| columns(&line) <= style.width);
        let count = (1..=rest.len()).rev().find(|&count| fits(&piece(count))).unwrap_or(1);
        for line in piece(count).lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        rest = &rest[count..];
        // Growth is about the whole line and stands in the first piece only.
        with_growth = false;
        if !rest.is_empty() {
            text.push('\n');
        }
    }
    text
}

/// Columns a line takes on a terminal; colour marks take none. Names from other scripts may be a little off.
fn columns(line: &str) -> usize {
    crate::style::render(line, false).trim_end().chars().count()
}

fn grid(lines: &[&Line<'_>], sizes: &[u64], with_growth: bool) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec![left("runtime"), left("variant")];
    header.extend(sizes.iter().map(|&size| right(count(size))));
    if with_growth {
        header.push(left("growth"));
    }
    grid.set_header(header);
    let mut runtime = String::new();
    for line in lines {
        let first = format!("{}\n{}", line.short_runtime(), line.version());
        // By its whole name: two toolchains may end alike.
        let mut row = vec![left(if line.runtime() == runtime { "" } else { &first })];
        runtime = line.runtime();
        row.push(left(format!("{}\n{}", line.variant(), dim(&line.remarks().join(", ")))));
        row.extend(sizes.iter().map(|&size| right(figures(line, size))));
        if with_growth {
            row.push(left(line.growth.map(growth).unwrap_or_default()));
        }
        grid.add_row(row);
    }
    grid
}

/// CPU and wall time above, ratio below, and the threads that ran where that is news.
fn figures(line: &Line<'_>, size: u64) -> String {
    let Some(cell) = line.at(size) else { return String::new() };
    match cell.cpu.status {
        RowStatus::Failed => return ink(Ink::Red, "failed"),
        RowStatus::Skipped => return ink(Ink::Dim, "skipped"),
        RowStatus::Ok => {}
    }
    let threads = line.threads_at(size).map(|threads| "\n".to_owned() + &dim(&threads)).unwrap_or_default();
    format!("{}\n{}{threads}", times(cell), compared(cell.cpu))
}

/// `4,480 ±1.8% (5,120)`: CPU time with its interval, wall time in parentheses.
pub fn times(cell: &Cell<'_>) -> String {
    let cpu = cell.cpu.p50.map(|p50| with_interval(p50, cell.cpu.ci)).unwrap_or_default();
    let wall = cell.wall.and_then(|wall| Some((wall.p50?, wall.ci)));
    match wall {
        Some((p50, ci)) => {
            format!("{cpu} ({})", rounded(p50, ci.map(|ci| taskscale_analysis::figure::half_width(p50, ci))))
        }
        None => cpu,
    }
}

/// The ratio to the baseline in the colour of its meaning.
fn compared(row: &Row) -> String {
    match (row.ratio, row.ratio_ci) {
        (Some(value), Some(ci)) if contains_one(ci) => ink(Ink::Dim, &ratio(value, Some(ci))),
        (Some(value), Some(ci)) if row.role == Role::Control => ink(Ink::Yellow, &ratio(value, Some(ci))),
        (Some(value), Some(ci)) => {
            ink(if value > 1.0 { Ink::Red } else { Ink::Green }, &ratio(value, Some(ci)))
        }
        (Some(value), None) => ratio(value, None),
        (None, _) if row.role == Role::Baseline => ink(Ink::Dim, "baseline"),
        (None, _) => String::new(),
    }
}

fn growth(growth: &taskscale_model::summary::Growth) -> String {
    let colour = match growth.grade {
        Grade::Linear => Ink::Green,
        Grade::SoftGrowth => Ink::Yellow,
        Grade::Superlinear | Grade::QuadraticOrWorse => Ink::Red,
        Grade::CannotTell => Ink::Dim,
    };
    format!("{}\n{}", ink(colour, grade(growth)), exponent(growth).unwrap_or_default())
}

/// All percentiles of one size: one line per row and metric.
pub fn draw_percentiles(table: &Table<'_>, size: u64) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec![left("runtime"), left("variant"), left("metric")];
    header.extend(["n", "p0", "p25", "p50", "p75", "p90", "p99", "p100", "95 % of p50"].map(right));
    grid.set_header(header);
    for line in table.lines.iter().filter(|line| line.has_figures()) {
        let Some(cell) = line.at(size).filter(|cell| cell.cpu.status == RowStatus::Ok) else { continue };
        for row in [Some(cell.cpu), cell.wall, cell.cold, cell.create, cell.threads, cell.busiest]
            .into_iter()
            .flatten()
        {
            let mut variant = vec![line.variant()];
            variant.extend(line.names());
            variant.extend(
                row.settled.map(|settled| format!("{} of {} settled", settled.processes, settled.of)),
            );
            let mut cells = vec![left(line.runtime()), left(variant.join(", ")), left(metric(row))];
            cells.push(right(count(row.n)));
            let percentiles = [row.p0, row.p25, row.p50, row.p75, row.p90, row.p99, row.p100];
            cells.extend(percentiles.map(|p| right(p.map(|p| value(row, p)).unwrap_or_default())));
            cells.push(right(
                row.ci.map(|ci| format!("{} to {}", value(row, ci.0), value(row, ci.1))).unwrap_or_default(),
            ));
            grid.add_row(cells);
        }
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Counts per task: one line per row, the name of a table above its rows.
pub fn draw_counts(lines: &[counts::Line]) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let names = ["table", "runtime", "variant"].map(left);
    grid.set_header(names.into_iter().chain([right("size")]).chain(counts::COLUMNS.map(right)));
    let mut before = [String::new(), String::new()];
    for line in lines {
        let [table, runtime, variant, size] = &line.name;
        let is_new = [table != &before[0], table != &before[0] || runtime != &before[1]];
        let shown = |new: bool, text: &String| left(if new { text.as_str() } else { "" });
        let names = [shown(is_new[0], table), shown(is_new[1], runtime), left(variant), right(size)];
        grid.add_row(names.into_iter().chain(line.cells.iter().map(right)));
        before = [table.clone(), runtime.clone()];
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn metric(row: &Row) -> String {
    if row.unit == "ns" { format!("{} ns", row.metric) } else { row.metric.clone() }
}

/// Four digits of the median, for all figures of its row: enough to see a percentile differ from its neighbour.
fn value(row: &Row, value: f64) -> String {
    let median = row.p50.unwrap_or(value);
    match &*row.unit {
        "share" => format!("{value:.3}"),
        // A median may lie between two whole numbers.
        "threads" => format!("{value:.1}"),
        _ => rounded(value, Some(median.abs() / 1000.0)),
    }
}

fn dim(text: &str) -> String {
    if text.is_empty() { String::new() } else { ink(Ink::Dim, text) }
}

fn left(text: impl ToString) -> GridCell {
    GridCell::new(text).set_alignment(CellAlignment::Left)
}

fn right(text: impl ToString) -> GridCell {
    GridCell::new(text).set_alignment(CellAlignment::Right)
}
