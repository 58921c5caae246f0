//! Counts per task, or per pass of a stream, as `text` and `markdown` show them: one line for each
//! counted row.

use taskscale_model::{
    figure::{count, grouped},
    metric::{self, Count},
    missing::Reading,
    run_file::Role,
    suite::is_free,
    summary::{CountPerTask, Row, Streams, Summary},
};

use crate::{
    overview::{COLUMNS, cut, factor, fitted, plural, width},
    style::{Ink, clean, ink, with_remedy},
    toolchain,
};

/// What follows the counts of a section, where it has a legend.
const LEGENDS: [(Count, &str); 5] = [
    (
        Count::Allocations,
        "Calls and bytes asked for, per task, in processes of their own that are not timed. A count is exact where its \
         processes agree within 0.1 %; `about` has the least and the most of them. Bytes of a realloc are its whole new size.",
    ),
    (
        Count::Collections,
        "Runs of the garbage collector in a million tasks, and nanoseconds for which it stopped the program, per task, by the \
         runtime's own clock, which is wall time: on a busy machine a pause holds waiting for a CPU. What it costs in CPU time \
         is told by rows with the collector off (suite nop, --all).",
    ),
    (
        Count::VoluntarySwitches,
        "How often a thread gave up its CPU to wait, or had it taken, per task. The scheduler of the system decides it: no \
         two runs agree.",
    ),
    (
        Count::Instructions,
        "Instructions in user space, per task, in processes of their own that are not timed.",
    ),
    (
        Count::PeakResident,
        "The most memory of a fresh process, in MiB: the kernel's high-water mark over one iteration, less that of an \
         iteration of one task before it.",
    ),
];

/// Counts that stand side by side.
const SECTIONS: [&[metric::Metric]; 6] = {
    use metric::Metric::*;
    [&[Allocs, Bytes, Syscalls], &[Gc], &[Switches, Faults], &[Instructions, Callgrind], &[Retains], &[Rss]]
};

/// Counts of one kind, of all rows.
pub struct Section {
    /// `Counts per task`.
    pub title: String,
    /// What its counts are of.
    pub unit: Unit,
    /// Before the name of a table on a screen.
    pub short: String,
    pub columns: Vec<&'static str>,
    pub lines: Vec<Line>,
    pub legend: String,
}

/// What a count is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Task,
    /// A unit of the size of a workload that no suite knows.
    N,
    /// A pass over a stream, whose tasks are bytes: an allocation in 1,000 bytes says nothing.
    Pass,
    Process,
}

impl Unit {
    /// What the count of a row is of.
    fn of(summary: &Summary, row: &Row, count: Count) -> Self {
        let is_it = |table: &Streams| {
            (&table.suite, &table.table, table.size) == (&row.key.suite, &row.key.table, row.key.size)
        };
        match count.is_of_process() {
            true => Unit::Process,
            false if summary.overview.streams.iter().any(is_it) => Unit::Pass,
            false if is_free(&row.key.suite) => Unit::N,
            false => Unit::Task,
        }
    }

    /// How many times a count per task it is. Collections are told for a million tasks.
    fn factor(self, size: u64, count: Count) -> f64 {
        match (self, count) {
            (Unit::Pass, Count::Collections) => size as f64 / 1e6,
            (Unit::Pass, _) => size as f64,
            (Unit::Task | Unit::N | Unit::Process, _) => 1.0,
        }
    }

    /// `, per task` behind a title.
    fn behind(self) -> &'static str {
        match self {
            Unit::Task => ", per task",
            Unit::N => ", per unit of n",
            Unit::Pass => ", per pass",
            Unit::Process => "",
        }
    }
}

/// One counted row.
pub struct Line {
    /// Table, runtime, variant with its case, size.
    pub name: [String; 4],
    /// Its counts, in the order of [`Section::columns`].
    pub cells: Vec<String>,
    /// The same in few columns; `-` where it is missing.
    pub short: Vec<String>,
}

/// All sections that have a count. The reasons of rows without any stand only in [`reasons`].
pub fn sections(summary: &Summary) -> Vec<Section> {
    let of = |number: usize, metrics: &[metric::Metric], unit: Unit| {
        let counts = metrics.iter().flat_map(|metric| metric.counts()).copied();
        let counts: Vec<Count> = counts.filter(|count| is_asked(summary, *count)).collect();
        let first = metrics.first()?.counts().first()?;
        let legend = LEGENDS.iter().find(|(of, _)| of == first).map_or("", |(_, legend)| legend);
        let legend = match unit {
            Unit::Pass => legend.replace("per task", "per pass").replace("in a million tasks", "in a pass"),
            Unit::N => legend.replace("per task", "per unit of n").replace("million tasks", "million units"),
            Unit::Task | Unit::Process => legend.to_owned(),
        };
        let titles: Vec<&str> = metrics
            .iter()
            .filter(|metric| metric.counts().iter().any(|count| counts.contains(count)))
            .map(|metric| metric.about().title)
            .collect();
        let has_ratio = |count: &Count| summary.rows.iter().any(|row| ratio(summary, row, *count).is_some());
        let counts: Vec<(Count, bool)> = counts.into_iter().map(|count| (count, has_ratio(&count))).collect();
        let title_of = |count: &Count| match (unit, count) {
            (Unit::Pass, Count::Collections) => "collections",
            _ => count.title(),
        };
        let columns = counts.iter().flat_map(|(count, has_ratio)| {
            std::iter::once(title_of(count)).chain(has_ratio.then_some(RATIO))
        });
        let columns = columns.collect();
        let rows = summary.rows.iter().filter(|row| Unit::of(summary, row, *first) == unit);
        let lines: Vec<Line> = rows.filter_map(|row| line(summary, row, &counts)).collect();
        let short = titles.join(", ");
        let title = match (number, unit) {
            (0, Unit::Pass) => "Counts per pass".to_owned(),
            (0, Unit::N) => "Counts per unit of n".to_owned(),
            (0, _) => "Counts per task".to_owned(),
            _ => format!("{short}{}", unit.behind()),
        };
        (!lines.is_empty()).then_some(Section { title, unit, short, columns, lines, legend })
    };
    let units = [Unit::Task, Unit::N, Unit::Pass, Unit::Process];
    let all = SECTIONS.iter().enumerate();
    all.flat_map(|(number, metrics)| units.map(|unit| of(number, metrics, unit))).flatten().collect()
}

fn is_asked(summary: &Summary, count: Count) -> bool {
    let has = |row: &Row| row.figures().is_some_and(|figures| figures.counts.contains_key(&count));
    summary.rows.iter().any(has)
}

fn value(row: &Row, count: Count) -> Option<&CountPerTask> {
    row.figures()?.counts.get(&count)?.value()
}

/// A count of a row divided by that of its baseline, where both are exact.
fn ratio(summary: &Summary, row: &Row, count: Count) -> Option<f64> {
    let name = row.baseline.as_ref()?;
    let is_it = |other: &&Row| {
        let (one, other_key) = (&row.key, &other.key);
        other.role != Role::Control
            && (&one.suite, &one.table, one.size) == (&other_key.suite, &other_key.table, other_key.size)
            && one.case == other_key.case
            && other_key.full_name() == *name
    };
    let exact = |row: &Row| value(row, count).filter(|value| value.exact).map(|value| value.median);
    let baseline = summary.rows.iter().find(is_it)?;
    // A baseline that is written as 0.000 is what a request takes, shared among its tasks.
    let shown = Unit::of(summary, row, count).factor(row.key.size, count);
    let (one, other) = (exact(row)?, exact(baseline).filter(|other| other * shown >= 0.0005)?);
    // The ratio of a baseline to itself is no figure.
    (baseline.key != row.key).then_some(one / other)
}

/// The counts of a row. A count with `true` has its ratio behind it.
fn line(summary: &Summary, row: &Row, counts: &[(Count, bool)]) -> Option<Line> {
    let written = |as_text: fn(&CountPerTask, Count) -> String| {
        let absent = || "-".to_owned();
        let of = |(count, has_ratio): &(Count, bool)| {
            let factor_of = Unit::of(summary, row, *count).factor(row.key.size, *count);
            let value = value(row, *count).map(|value| times(value, factor_of));
            let value = value.map_or_else(absent, |value| as_text(&value, *count));
            let ratio = ratio(summary, row, *count).map(|ratio| format!("{}x", factor(ratio)));
            std::iter::once(value).chain(has_ratio.then(|| ratio.unwrap_or_default()))
        };
        counts.iter().flat_map(of).collect()
    };
    let is_counted = counts.iter().any(|(count, _)| value(row, *count).is_some());
    is_counted.then(|| Line { name: name(row), cells: written(cell), short: written(short) })
}

/// So many times a count per task.
fn times(of: &CountPerTask, factor: f64) -> CountPerTask {
    let [least, median, most] = [of.least, of.median, of.most].map(|value| value * factor);
    CountPerTask { least, median, most, ..*of }
}

fn name(row: &Row) -> [String; 4] {
    [
        clean(&row.key.heading()),
        clean(&row.key.runtime),
        clean(&row.key.variant_and_case()),
        count(row.key.size),
    ]
}

/// The most columns of a runtime's and of a variant's name, and of a count.
const NAMES: (usize, usize) = (8, 22);
const COUNT: usize = 15;
/// The name and the columns of a ratio.
const RATIO: &str = "ratio";
const RATIOS: usize = 6;

/// A section for a screen: at most `room` rows with short cells, and what it means.
pub fn screen(section: &Section, room: usize) -> Vec<String> {
    let shown = &section.lines[..section.lines.len().min(room)];
    let is_new = |at: usize| at == 0 || shown[at].name[0] != shown[at - 1].name[0];
    let sizes = section.lines.iter().any(|line| line.name[3] != section.lines[0].name[3]);
    let ids: Vec<&str> = shown.iter().map(|line| &*line.name[1]).collect();
    let runtime_of = |line: &Line| toolchain::short(&line.name[1], &ids, NAMES.0);
    let runtime = width(shown, runtime_of, NAMES.0);
    let variant = width(shown, |line| line.name[2].clone(), NAMES.1);
    // Ratios stand where there is room for all of them.
    let of = |column: &str| 1 + if column == RATIO { RATIOS } else { COUNT };
    let names = runtime + 1 + variant + if sizes { 10 } else { 0 };
    let has_room = names + section.columns.iter().map(|column| of(column)).sum::<usize>() <= COLUMNS;
    let cells = |cells: Vec<&str>| -> String {
        let placed = cells.into_iter().zip(&section.columns);
        let placed = placed.filter(|(_, column)| has_room || **column != RATIO);
        placed.map(|(cell, column)| format!("{cell:>width$}", width = of(column))).collect()
    };
    let mut lines = Vec::new();
    for (at, line) in shown.iter().enumerate() {
        let [table, _, of_variant, size] = &line.name;
        if is_new(at) {
            let per = section.unit.behind();
            lines.push(ink(Ink::Bold, &cut(&format!("{}{per}: {table}", section.short), COLUMNS)));
            let titles = cells(section.columns.clone());
            let size = if sizes { format!(" {:>9}", "size") } else { String::new() };
            lines.push(ink(Ink::Dim, &format!("{:runtime$} {:variant$}{size}{titles}", "", "")));
        }
        let cells = cells(line.short.iter().map(String::as_str).collect());
        let size = if sizes { format!(" {size:>9}") } else { String::new() };
        let (of_runtime, of_variant) = (fitted(&runtime_of(line), runtime), fitted(of_variant, variant));
        lines.push(format!("{of_runtime} {of_variant}{size}{cells}"));
    }
    let left_out = section.lines.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    if section.columns.contains(&Count::PauseNs.title()) {
        lines.push(ink(
            Ink::Dim,
            "collections/M: in a million tasks; GC pause: wall time, with any wait for a CPU",
        ));
    }
    if shown.iter().any(|line| line.short.iter().any(|cell| cell.starts_with('~'))) {
        lines.push(ink(
            Ink::Dim,
            "~ not exact: processes or requests differ; -: not counted, and why: --details",
        ));
    } else if shown.iter().any(|line| line.short.iter().any(|cell| cell == "-")) {
        lines.push(ink(Ink::Dim, "-: not counted, and why: --details"));
    }
    lines
}

/// Writes `~2.1` for what is not exact.
fn short(of: &CountPerTask, count: Count) -> String {
    let about = if of.exact { "" } else { "~" };
    format!("{about}{}", number(of.median, count))
}

/// Writes `2.01` where the count is exact, or `about 2.1 (1.9 to 2.4)`.
fn cell(of: &CountPerTask, count: Count) -> String {
    let [least, median, most] = [of.least, of.median, of.most].map(|value| number(value, count));
    match (of.exact || least == most, of.processes) {
        (true, 2..) => median,
        (_, 2..) => format!("about {median} ({least} to {most})"),
        _ => format!("about {median}"),
    }
}

/// Writes as many digits as the tolerance allows: three decimals of a call, one of a byte.
pub fn number(value: f64, count: Count) -> String {
    let decimals = match count {
        Count::PeakResident => return format!("{:.1} MiB", value / f64::from(1 << 20)),
        Count::Bytes | Count::Instructions | Count::Simulated | Count::PauseNs | Count::Collections => 1,
        _ => 3,
    };
    // A collection is shared by thousands of tasks.
    let value = if count == Count::Collections { value * 1e6 } else { value };
    // Of a large count the tolerance leaves no fraction.
    let decimals = if value.abs() >= 1e4 { 0 } else { decimals };
    let text = format!("{value:.decimals$}");
    // A difference that the protocol's own traffic pushed below zero counts as zero.
    grouped(if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// The system calls that each row makes most often: `go WaitGroup: futex 0.12, write 0.02`.
pub fn calls(summary: &Summary) -> Vec<String> {
    let of = |row: &Row| {
        let calls = &row.figures()?.calls;
        let unit = Unit::of(summary, row, Count::Syscalls);
        let factor = unit.factor(row.key.size, Count::Syscalls);
        let one = |(name, calls): &(String, f64)| {
            format!("{} {}", clean(name), number(*calls * factor, Count::Syscalls))
        };
        let calls = calls.iter().map(one).collect::<Vec<_>>().join(", ");
        let [_, runtime, variant, size] = name(row);
        (!calls.is_empty()).then(|| format!("{runtime} {variant} at {size}{}: {calls}", unit.behind()))
    };
    summary.rows.iter().filter_map(of).collect()
}

/// Why counts are not known, each reason with its counts and runtimes.
pub fn reasons(summary: &Summary) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>, Vec<&str>)> = Vec::new();
    let with_figures = summary.rows.iter().filter_map(|row| Some((row, row.figures()?)));
    let with_row =
        with_figures.flat_map(|(row, figures)| figures.counts.iter().map(move |reading| (row, reading)));
    for (row, (count, reading)) in with_row {
        let Reading::Missing(missing) = reading else { continue };
        let reason = with_remedy(&clean(&missing.reason), &clean(&missing.remedy));
        let what = count.title();
        let runtime = clean(&row.key.runtime);
        match groups.iter_mut().find(|group| group.0 == reason) {
            Some((_, runtimes, whats)) => {
                if !runtimes.contains(&runtime) {
                    runtimes.push(runtime);
                }
                if !whats.contains(&what) {
                    whats.push(what);
                }
            }
            None => groups.push((reason, vec![runtime], vec![what])),
        }
    }
    let words = |(reason, runtimes, whats): (String, Vec<String>, Vec<&str>)| {
        format!("{} of {}: {reason}", whats.join(" and "), runtimes.join(", "))
    };
    groups.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_the_tolerance_leaves() {
        for (value, count, expected) in [
            (19.0942, Count::Allocations, "19.094"),
            (0.0004, Count::Allocations, "0.000"),
            (-0.0001, Count::Syscalls, "0.000"),
            (-0.5, Count::Syscalls, "-0.500"),
            (1902.13, Count::Bytes, "1,902.1"),
            (134_217_728.4, Count::Bytes, "134,217,728"),
        ] {
            assert_eq!(number(value, count), expected);
        }
    }
}
