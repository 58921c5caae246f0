//! The grid: two lines per row, as many sizes side by side as the width allows.

use comfy_table::{Cell as GridCell, ContentArrangement, Table as Grid, presets};
use taskscale_model::{
    run_file::Role,
    summary::{Distribution, Figures, Grade, Growth, Ratio, Row, RowState, lines},
};

use crate::{
    counts,
    folded::{NAMES, columns, drawn, folded, left, name, right},
    growth::{bytes, exponent, grade},
    layout::{Line, Table},
    style::{Ink, Style, ink},
    toolchain,
    wrap::broken,
};
use taskscale_model::figure::{contains_one, count, half_width, ratio, rounded, with_interval};

/// Draws a table in as many pieces as keep it within the width. Every piece has at least one size.
pub fn draw(table: &Table<'_>, style: &Style) -> String {
    let lines: Vec<&Line<'_>> = table.lines.iter().filter(|line| line.has_figures()).collect();
    let sizes = table.sizes_with_figures();
    let mut rest: &[u64] = &sizes;
    let mut text = String::new();
    let has_growth = lines.iter().any(|line| line.growth.is_some());
    let fits = |grid: &Grid| grid.lines().all(|line| columns(&line) <= style.width);
    // Growth belongs to the whole line. It stands in the first piece, or in a last one of its own
    // where there is no room for it beside one size.
    let is_beside = has_growth && !rest.is_empty() && fits(&grid(&lines, &rest[..1], true));
    let mut with_growth = is_beside;
    let mut put = |grid: Grid| {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&drawn(&grid));
    };
    while !rest.is_empty() {
        let piece = |count: usize| grid(&lines, &rest[..count], with_growth);
        let count = (1..=rest.len()).rev().find(|&count| fits(&piece(count))).unwrap_or(1);
        put(piece(count));
        rest = &rest[count..];
        with_growth = false;
    }
    if has_growth && !is_beside && !sizes.is_empty() {
        put(grid(&lines, &[], true));
    }
    text
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
    let ids: Vec<&str> = lines.iter().map(|line| &*line.row.key.runtime).collect();
    let mut runtime = String::new();
    for line in lines {
        let first = format!(
            "{}\n{}",
            name(&toolchain::short(&line.row.key.runtime, &ids, NAMES[0]), 0),
            name(&line.version(), 0)
        );
        // Runtimes are compared by whole name: two toolchains may end alike.
        let mut row = vec![left(if line.runtime() == runtime { "" } else { &first })];
        runtime = line.runtime();
        let remarks = broken(&line.remarks().join(", "), NAMES[1]);
        let remarks: Vec<String> = remarks.iter().map(|remark| dim(remark)).collect();
        row.push(left(format!("{}\n{}", name(&line.variant(), 1), remarks.join("\n"))));
        row.extend(sizes.iter().map(|&size| right(figures(line, size))));
        if with_growth {
            row.push(left(line.growth.map(growth).unwrap_or_default()));
        }
        grid.add_row(row);
    }
    grid
}

/// Writes CPU and wall time above, the ratio below, and the threads that ran where they differ from
/// the workers.
fn figures(line: &Line<'_>, size: u64) -> String {
    let Some(row) = line.at(size) else { return String::new() };
    let figures = match &row.state {
        RowState::Failed(_) => return ink(Ink::Red, "failed"),
        RowState::Skipped(_) => return ink(Ink::Dim, "skipped"),
        RowState::Ok(figures) => figures,
    };
    let threads = line.threads_at(size).map(|threads| "\n".to_owned() + &dim(&threads)).unwrap_or_default();
    format!("{}\n{}{threads}", times(figures), compared(row.role, figures.cpu.ratio))
}

/// Writes CPU time with its interval, and wall time in parentheses: `4,480 ±1.8% (5,120)`.
pub fn times(figures: &Figures) -> String {
    let (cpu, wall) = (figures.cpu.of, figures.wall.of);
    let half_width = wall.ci.map(|ci| half_width(wall.p50, ci));
    format!("{} ({})", with_interval(cpu.p50, cpu.ci), rounded(wall.p50, half_width))
}

/// Writes the ratio to the baseline in the colour of its meaning.
fn compared(role: Role, over: Option<Ratio>) -> String {
    match over {
        Some(Ratio { value, ci: Some(ci) }) => {
            let colour = match (contains_one(ci), role) {
                (true, _) => Ink::Dim,
                (false, Role::Control) => Ink::Yellow,
                (false, _) if value > 1.0 => Ink::Red,
                (false, _) => Ink::Green,
            };
            ink(colour, &ratio(value, Some(ci)))
        }
        Some(Ratio { value, ci: None }) => ratio(value, None),
        None if role == Role::Baseline => ink(Ink::Dim, "baseline"),
        None => String::new(),
    }
}

fn growth(growth: &Growth) -> String {
    let colour = match growth.grade {
        _ if growth.is_cliff() => Ink::Red,
        Grade::Linear => Ink::Green,
        Grade::SoftGrowth => Ink::Yellow,
        _ => Ink::Dim,
    };
    let bytes = bytes(growth).map(|bytes| format!("\n{bytes}")).unwrap_or_default();
    format!("{}\n{}{bytes}", ink(colour, grade(growth)), exponent(growth).unwrap_or_default())
}

/// Draws all percentiles of one size, one line per row and metric.
pub fn draw_percentiles(table: &Table<'_>, size: u64, style: &Style) -> String {
    let mut header = vec![left("runtime"), left("variant"), left("metric")];
    header.extend(["n", "p0", "p25", "p50", "p75", "p90", "p99", "p100", "95 % of p50"].map(right));
    let mut rows = Vec::new();
    for line in table.lines.iter().filter(|line| line.has_figures()) {
        let Some(figures) = line.at(size).and_then(Row::figures) else { continue };
        for (metric, of) in metrics(figures) {
            let mut variant = vec![line.variant()];
            variant.extend(line.names());
            variant.extend(
                figures.settled.map(|settled| format!("{} of {} settled", settled.processes, settled.of)),
            );
            let what = if metric.unit == "ns" { format!("{} ns", metric.name) } else { metric.name.into() };
            let names = [line.runtime(), variant.join(", "), what];
            let mut cells: Vec<GridCell> =
                names.iter().enumerate().map(|(place, text)| left(name(text, place))).collect();
            cells.push(right(count(of.n)));
            let value = |value: f64| value_of(metric, &of, value);
            let percentiles = [of.p0, of.p25, of.p50, of.p75, of.p90, of.p99, of.p100];
            cells.extend(percentiles.map(|p| right(value(p))));
            let interval = of.ci.map(|ci| format!("{} to {}", value(ci.0), value(ci.1)));
            cells.push(right(interval.unwrap_or_default()));
            rows.push(cells);
        }
    }
    folded(&header, &rows, NAMES.len(), style.width)
}

/// Draws counts per task, one line per row, with the name of a table above its rows.
pub fn draw_counts(section: &counts::Section, style: &Style) -> String {
    // A runtime and a variant have the columns that they have elsewhere; a table has a line above.
    let names = ["runtime", "variant"].map(left);
    let header: Vec<GridCell> =
        names.into_iter().chain([right("size")]).chain(section.columns.iter().map(right)).collect();
    let mut tables: Vec<(&str, Vec<Vec<GridCell>>)> = Vec::new();
    let mut before = "";
    for line in &section.lines {
        let [table, runtime, variant, size] = &line.name;
        if tables.last().is_none_or(|(last, _)| last != table) {
            tables.push((table, Vec::new()));
            before = "";
        }
        let shown = if runtime == before { String::new() } else { name(runtime, 0) };
        let names = [left(shown), left(name(variant, 1)), right(size)];
        let cells = names.into_iter().chain(line.cells.iter().map(right));
        tables.iter_mut().last().into_iter().for_each(|(_, rows)| rows.push(cells.clone().collect()));
        before = runtime;
    }
    let drawn: Vec<String> = tables
        .iter()
        .map(|(table, rows)| format!("{table}\n{}", folded(&header, rows, 3, style.width)))
        .collect();
    drawn.join("\n")
}

fn metrics(figures: &Figures) -> impl Iterator<Item = (lines::Metric, Distribution)> {
    [
        (lines::CPU_PER_TASK, Some(figures.cpu.of)),
        (lines::WALL_PER_TASK, Some(figures.wall.of)),
        (lines::COLD_CPU_PER_TASK, figures.cold_cpu),
        (lines::CREATE_CPU_SHARE, figures.create_cpu),
        (lines::THREADS_RAN, figures.threads),
        (lines::BUSIEST_THREAD_SHARE, figures.busiest),
    ]
    .into_iter()
    .filter_map(|(metric, of)| Some((metric, of?)))
}

/// Writes a value with the place of the median's fourth digit, for all figures of its row. A
/// percentile then differs visibly from its neighbour.
fn value_of(metric: lines::Metric, of: &Distribution, value: f64) -> String {
    match metric.unit {
        "share" => format!("{value:.3}"),
        // A median may lie between two whole numbers.
        "threads" => format!("{value:.1}"),
        _ => rounded(value, Some(of.p50.abs() / 1000.0)),
    }
}

fn dim(text: &str) -> String {
    if text.is_empty() { String::new() } else { ink(Ink::Dim, text) }
}
