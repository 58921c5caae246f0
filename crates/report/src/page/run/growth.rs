//! Growth in small multiples: CPU time per iteration over size, both logarithmic, on axes that all
//! plots share.

use std::fmt::Write;

use taskscale_model::{
    figure::{count, time},
    run_file::Role,
    suite::sized,
    summary::{Growth, Interval, Summary},
};

use super::strip::interval;
use crate::{
    growth,
    page::{
        axis::Axis,
        markup::{Markup, escape, number},
    },
    style::clean,
};

/// The most plots of a page.
const PLOTS: usize = 24;

/// The width and height of a plot, in its own units.
const SIZE: (f64, f64) = (250.0, 170.0);
/// The axes: left, right, top and bottom.
const FRAME: (f64, f64, f64, f64) = (46.0, 240.0, 8.0, 146.0);

/// The plots, and what is said of those that are not there.
pub struct Plots {
    pub plots: Vec<Plot>,
    /// Empty where all series are drawn.
    pub left_out: String,
}

/// One series.
pub struct Plot {
    pub table: String,
    pub runtime: String,
    pub variant: String,
    /// The grade with the exponent.
    pub grade: String,
    pub is_cliff: bool,
    pub drawing: Markup,
    pub lines: Vec<Line>,
}

/// One size of a series.
pub struct Line {
    pub size: String,
    pub iteration: String,
    pub interval: String,
    pub task: String,
}

struct Point {
    size: f64,
    /// CPU time of an iteration, in nanoseconds.
    ns: f64,
    ci: Option<Interval>,
}

/// Draws the series that have figures at two sizes or more: cliffs first, then in the order of the
/// plan.
pub fn plots(summary: &Summary) -> Plots {
    let mut series: Vec<(&Growth, Vec<Point>)> =
        summary.growth.iter().map(|growth| (growth, points(summary, growth))).collect();
    let all = series.len();
    series.retain(|(_, points)| points.len() > 1);
    let short = all - series.len();
    series.sort_by_key(|(growth, _)| !growth.is_cliff());
    let many = series.len().saturating_sub(PLOTS);
    series.truncate(PLOTS);
    let points = || series.iter().flat_map(|(_, points)| points);
    let across = Axis::over(points().map(|point| point.size));
    let up = Axis::over(points().flat_map(|point| {
        let ends = point.ci.map_or([point.ns; 2], |ci| [ci.0, ci.1]);
        [point.ns, ends[0], ends[1]]
    }));
    let mut left_out = Vec::new();
    if many > 0 {
        left_out.push(format!(
            "{} more series are not drawn; their figures are in the table of all rows",
            count(many as u64)
        ));
    }
    if short > 0 {
        left_out.push(format!("{} series have figures at fewer than two sizes", count(short as u64)));
    }
    Plots {
        plots: series
            .iter()
            .enumerate()
            .map(|(number, (growth, points))| plot(number, growth, points, &across, &up))
            .collect(),
        left_out: left_out.join("; "),
    }
}

fn points(summary: &Summary, growth: &Growth) -> Vec<Point> {
    let rows = summary
        .rows
        .iter()
        .filter(|row| row.key.series == growth.key && row.role != Role::Control && row.sweep.is_none());
    let mut points: Vec<Point> = rows
        .filter_map(|row| {
            let of = row.figures()?.cpu.of;
            let size = row.key.size as f64;
            let ci = of.ci.map(|ci| Interval(ci.0 * size, ci.1 * size));
            Some(Point { size, ns: of.p50 * size, ci })
        })
        // A probe without a CPU clock reports zero.
        .filter(|point| point.ns > 0.0)
        .collect();
    points.sort_by(|a, b| a.size.total_cmp(&b.size));
    points
}

fn plot(number: usize, growth: &Growth, points: &[Point], across: &Axis, up: &Axis) -> Plot {
    let exponent = growth::exponent(growth).map(|exponent| format!(", {exponent}")).unwrap_or_default();
    let bytes = growth::bytes(growth).map(|bytes| format!(", {bytes}")).unwrap_or_default();
    let grade = format!("{}{exponent}{bytes}", growth::grade(growth));
    Plot {
        table: clean(&growth.key.heading()),
        runtime: clean(&growth.key.runtime),
        variant: clean(&growth.key.variant_and_case()),
        is_cliff: growth.is_cliff(),
        drawing: draw(number, growth, points, (across, up), &grade),
        grade,
        lines: points
            .iter()
            .map(|point| Line {
                size: count(point.size as u64),
                iteration: time(point.ns),
                interval: interval(point.ci),
                task: time(point.ns / point.size),
            })
            .collect(),
    }
}

fn draw(number: usize, growth: &Growth, points: &[Point], axes: (&Axis, &Axis), grade: &str) -> Markup {
    let (left, right, top, bottom) = FRAME;
    let x = |size: f64| left + axes.0.part(size) * (right - left);
    let y = |ns: f64| bottom - axes.1.part(ns) * (bottom - top);
    let at = |size: f64, ns: f64| format!("{},{}", self::number(x(size)), self::number(y(ns)));
    let name = escape(&format!("{} {}", growth.key.runtime, growth.key.variant_and_case()));
    let mut drawn = format!(
        "<svg class=\"series\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"growth-{number}-title \
         growth-{number}-desc\"><title id=\"growth-{number}-title\">{name}: {}</title><desc \
         id=\"growth-{number}-desc\">{}</desc>",
        SIZE.0,
        SIZE.1,
        escape(grade),
        escape(&described(growth, points))
    );
    frame(&mut drawn, axes);
    if let (Some(bend), ci) = (growth.bend, growth.bend_ci) {
        if let Some(ci) = ci {
            let (from, to) = (x(ci.0), x(ci.1));
            let _ = write!(
                drawn,
                "<rect class=\"bend-ci\" x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
                self::number(from),
                self::number((to - from).max(0.5)),
                bottom - top
            );
        }
        let (bend, label) = (self::number(x(bend)), self::number(x(bend) + 3.0));
        let _ = write!(
            drawn,
            "<line class=\"bend\" x1=\"{bend}\" x2=\"{bend}\" y1=\"{top}\" y2=\"{bottom}\"/><text \
             class=\"tick\" x=\"{label}\" y=\"{}\">bend</text>",
            bottom - 4.0
        );
    }
    let band: Vec<(f64, Interval)> =
        points.iter().filter_map(|point| Some((point.size, point.ci?))).collect();
    let upper = band.iter().map(|(size, ci)| at(*size, ci.1));
    let lower = band.iter().rev().map(|(size, ci)| at(*size, ci.0));
    let outline: Vec<String> = upper.chain(lower).collect();
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let (to, end) = (last.size, first.ns * last.size / first.size);
        // A line beyond the frame ends where it leaves it.
        let most = axes.1.value(1.0);
        let (to, end) = if end > most { (to * most / end, most) } else { (to, end) };
        let _ = write!(
            drawn,
            "<polyline class=\"linear\" points=\"{} {}\"/>",
            at(first.size, first.ns),
            at(to, end)
        );
    }
    let line: Vec<String> = points.iter().map(|point| at(point.size, point.ns)).collect();
    let _ = write!(
        drawn,
        "<polygon class=\"band\" points=\"{}\"/><polyline class=\"line\" points=\"{}\"/>",
        outline.join(" "),
        line.join(" ")
    );
    for point in points {
        let (x, y) = (self::number(x(point.size)), self::number(y(point.ns)));
        let _ = write!(drawn, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"2.5\"/>");
    }
    drawn.push_str("</svg>");
    Markup(drawn)
}

/// The axes with their labels.
fn frame(drawn: &mut String, axes: (&Axis, &Axis)) {
    let (left, right, top, bottom) = FRAME;
    for size in axes.0.marks(4) {
        let x = number(left + axes.0.part(size) * (right - left));
        let _ = write!(
            drawn,
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{bottom}\"/><text class=\"tick\" \
             x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 15.0,
            short(size)
        );
    }
    for ns in axes.1.marks(5) {
        let y = bottom - axes.1.part(ns) * (bottom - top);
        let label = time(ns).replace(".00 ", " ").replace(".0 ", " ");
        let _ = write!(
            drawn,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{0}\" y2=\"{0}\"/><text class=\"tick\" \
             x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{label}</text>",
            number(y),
            left - 4.0,
            number(y + 4.0)
        );
    }
}

/// A size in few letters: `500`, `10k`, `2M`.
fn short(size: f64) -> String {
    match size {
        size if size >= 1e6 => format!("{}M", number(size / 1e6)),
        size if size >= 1e3 => format!("{}k", number(size / 1e3)),
        size => number(size),
    }
}

fn described(growth: &Growth, points: &[Point]) -> String {
    let mut text = match (points.first(), points.last()) {
        (Some(first), Some(last)) => format!(
            "CPU time of an iteration goes from {} at {} to {} at {}",
            time(first.ns),
            sized(&growth.key.suite, &count(first.size as u64)),
            time(last.ns),
            sized(&growth.key.suite, &count(last.size as u64))
        ),
        _ => String::new(),
    };
    if let Some(bend) = growth.bend {
        let _ = write!(text, "; it bends at about {}", sized(&growth.key.suite, &count(bend.round() as u64)));
    }
    text
}
