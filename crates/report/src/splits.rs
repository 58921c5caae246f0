//! Tables of what a task's cost consists of: a bar for each row, of creation, of running and
//! joining, and of the collector.

use taskscale_model::{
    figure::{count, time},
    missing::Reading,
    summary::{CostParts, Interval, Split, Splits},
};

use crate::{
    overview::{COLUMNS, cut, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
    wrap::hanging,
};

/// The most columns of a runtime's name and of a variant's with its case.
const NAMES: (usize, usize) = (14, 22);
/// The most columns of a bar.
const BAR: usize = 24;
/// Columns of the collector's part with its interval.
const PART: usize = 16;
/// What the parts are drawn with: full, half and a quarter of a cell, so that they differ without
/// colour.
const DRAWN: [char; 3] = ['\u{2588}', '\u{2592}', '\u{2591}'];
/// Reasons of rows without parts on a screen.
const REASONS: usize = 2;

/// A table in at most `room` rows, with its heading; below it why rows have no parts.
pub fn lines(table: &Splits, room: usize) -> Vec<String> {
    let reasons = reasons(table, if room == usize::MAX { usize::MAX } else { REASONS });
    let shown = &table.rows[..table.rows.len().min(room.saturating_sub(reasons.len()))];
    let ids: Vec<&str> = shown.iter().map(|row| row.runtime.as_str()).collect();
    let runtime_of = |row: &Split| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown, runtime_of, NAMES.0);
    let variant = width(shown, variant_and_case, NAMES.1);
    let bar = COLUMNS.saturating_sub(runtime + variant + 2 + 9 + 1 + 1 + PART).min(BAR);
    let [create, run, collector] = DRAWN;
    let tells = |row: &&Split| row.parts.value().is_some_and(|parts| parts.create.is_some());
    let legend = match shown.iter().any(|row| tells(&row)) {
        true => format!("{create} create {run} run, join {collector} collector [95 %]"),
        false => format!("{run} create, run, join {collector} collector [95 %]"),
    };
    // The legend ends where the figures end.
    let columns = runtime + 1 + variant + 1 + 8 + 1 + bar + 1 + PART;
    let mut lines =
        vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &format!("{legend:>columns$}"))];
    for row in shown {
        let names =
            format!("{} {}", fitted(&runtime_of(row), runtime), fitted(&variant_and_case(row), variant));
        let (drawn, part) = match &row.parts {
            Reading::Value(parts) => (draw(parts, bar), collector_of(parts)),
            Reading::Missing(_) => (String::new(), "-".to_owned()),
        };
        lines.push(format!("{names} {:>8} {drawn:bar$} {part:>PART$}", time(row.ns)));
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(reasons.iter().map(|line| ink(Ink::Dim, line)));
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Splits, columns: usize) -> String {
    let what = "CPU time per task, and what it goes to: ";
    let behind = format!(", {} at a time", count(table.size));
    let room = columns.saturating_sub(what.len() + behind.chars().count());
    format!("{what}{}{behind}", cut(&clean(&table.table), room))
}

/// The variant of a row with its case.
pub fn variant_and_case(row: &Split) -> String {
    format!("{} {}", clean(&row.variant), clean(&row.case)).trim_end().to_owned()
}

/// The collector's part with its interval, in percent; `none seen` where the counterpart takes as
/// long or longer.
pub fn collector_of(parts: &CostParts) -> String {
    match parts.collector_ci {
        ci if parts.collector <= 0.0 && ci.is_none_or(|Interval(_, high)| high >= 0.0) => {
            "none seen".to_owned()
        }
        Some(Interval(low, high)) => {
            format!("{} % [{}, {}]", whole(parts.collector), whole(low), whole(high))
        }
        None => format!("{} % no interval", whole(parts.collector)),
    }
}

/// Creation, or running and joining, in percent and in time.
pub fn part(percent: Option<f64>, ns: f64) -> String {
    percent.map_or_else(
        || "-".to_owned(),
        |percent| format!("{} % {}", whole(percent), time(ns * percent.max(0.0) / 100.0)),
    )
}

/// Collections by generation, the youngest first: `1,428 / 129 / 4`.
pub fn collections(row: &Split) -> String {
    if row.collections.is_empty() {
        return "-".to_owned();
    }
    let counts = row.collections.iter().map(|&collections| count(collections.round() as u64));
    counts.collect::<Vec<_>>().join(" / ")
}

/// A percentage without a fraction, and without a minus before nothing.
fn whole(percent: f64) -> String {
    let text = format!("{percent:.0}");
    if text == "-0" { "0".to_owned() } else { text }
}

/// The parts as cells. A collector that takes less than nothing has none.
fn draw(parts: &CostParts, columns: usize) -> String {
    let collector = parts.collector.clamp(0.0, 100.0);
    let left = 100.0 - collector;
    let told = parts.create.unwrap_or(0.0) + parts.rest;
    let create = if told > 0.0 { left * parts.create.unwrap_or(0.0) / told } else { 0.0 };
    let end = |percent: f64| (percent / 100.0 * columns as f64).round().clamp(0.0, columns as f64) as usize;
    let (create, left) = (end(create), end(left));
    let cells = [create, left.saturating_sub(create), columns - left];
    DRAWN.iter().zip(cells).map(|(cell, number)| cell.to_string().repeat(number)).collect()
}

/// Why rows have no parts; those with the same reason together.
fn reasons(table: &Splits, most: usize) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in &table.rows {
        let Reading::Missing(why) = &row.parts else { continue };
        let (why, name) =
            (clean(&why.to_string()), format!("{} {}", clean(&row.runtime), variant_and_case(row)));
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => groups.push((why, vec![name])),
        }
    }
    let line = |(why, names): &(String, Vec<String>)| match names.as_slice() {
        [name] => format!("{name}: {why}"),
        names => format!("{}: {why}", plural(names.len(), "row")),
    };
    let whole = groups.iter().map(line);
    let lines =
        whole.flat_map(|line| hanging(&line, 2, COLUMNS).lines().map(str::to_owned).collect::<Vec<_>>());
    lines.take(most).collect()
}
