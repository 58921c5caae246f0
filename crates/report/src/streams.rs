//! Tables of how many bytes a second are read: a line for each way, the floors above.

use taskscale_model::{
    figure::{count, time},
    summary::{Contrasted, Distribution, Interval, Stream, Streams},
};

use comfy_table::Cell as GridCell;

use crate::{
    folded::{self, left, name, right},
    overview::{COLUMNS, cut, factor, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
    wrap::hanging,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (9, 25);
/// Columns of MiB a second, and of a multiple with its interval.
const PER_S: usize = 9;
const TIMES: usize = 19;
/// Samples below which the 99th percentile is only the largest of them.
const PERCENTILES: u64 = 100;
/// Lines of contrasts on a screen.
const CONTRASTS: usize = 4;

/// A table in at most `room` rows, with its heading; below it what the server took, and the pairs
/// that differ in one thing. A whole one has every floor, and its percentiles too; others have the
/// cheapest buffer of each floor.
pub fn lines(table: &Streams, room: usize) -> Vec<String> {
    let is_whole = room == usize::MAX;
    let contrasts = if is_whole { usize::MAX } else { CONTRASTS };
    let below = said(table, contrasts);
    let rows: Vec<&Stream> = table.rows.iter().filter(|row| is_whole || !is_beaten(table, row)).collect();
    let shown = &rows[..rows.len().min(room.saturating_sub(below.len()).max(1))];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &Stream| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown.iter().copied(), runtime_of, NAMES.0);
    let variant = width(shown.iter().copied(), |row| clean(&row.variant), NAMES.1);
    let published = shown.iter().any(|row| row.published_cpu_mib_s.is_some());
    let line = |names: [&str; 2], cells: [&str; 3], last: &str| {
        let names = format!("{} {}", fitted(names[0], runtime), fitted(names[1], variant));
        let [cpu, wall, floor] = cells;
        format!("{names} {cpu:>PER_S$} {wall:>PER_S$} {floor:>TIMES$} {last:>7}").trim_end().to_owned()
    };
    let head =
        line(["", ""], ["MiB/s CPU", "wall", "CPU x floor [95 %]"], if published { "publ." } else { "" });
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &head)];
    for row in shown {
        let published = row.published_cpu_mib_s.map(rate).unwrap_or_default();
        let cells = [&*mib_s(row.cpu_mib_s), &mib_s(row.wall_mib_s), &floor(table, row)];
        let text = line([&runtime_of(row), &clean(&row.variant)], cells, &published);
        lines.push(if row.is_bare || is_floor(table, row) { ink(Ink::Bold, &text) } else { text });
    }
    let left_out = rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(below.iter().map(|line| ink(Ink::Dim, line)));
    if is_whole {
        lines.extend(block(table));
    }
    lines
}

/// Whether a floor is another one's with a buffer that costs more.
fn is_beaten(table: &Streams, row: &Stream) -> bool {
    let name = |row: &Stream| (row.runtime.clone(), row.variant.split(' ').next().map(str::to_owned));
    let first = table.rows.iter().find(|other| other.is_bare && name(other) == name(row));
    row.is_bare && first.is_some_and(|first| first.variant != row.variant)
}

/// What stands below the rows.
pub fn said(table: &Streams, contrasts: usize) -> Vec<String> {
    let server = table.server_mib_ns.map(|ns| format!("its server: {} of CPU a MiB, in no row", time(ns)));
    let published = (!table.published_on.is_empty() && table.rows.iter().any(has_published))
        .then(|| format!("publ.: MiB/s of CPU on {}", clean(&table.published_on)));
    let names =
        |is: &dyn Fn(&Stream) -> bool, words: &str| table.rows.iter().any(is).then(|| words.to_owned());
    let floor = names(
        &|row| is_floor(table, row),
        "floor: the least CPU time that reading and summing up takes here",
    );
    let bare = names(&|row| row.is_bare, "no sum: bytes are fetched, and none is looked at");
    let pairs = table.contrasts.iter().take(contrasts);
    let pairs = pairs.flat_map(|pair| {
        hanging(&contrasted(pair), 2, COLUMNS).lines().map(str::to_owned).collect::<Vec<_>>()
    });
    floor.into_iter().chain(bare).chain(server).chain(published).chain(pairs).collect()
}

fn has_published(row: &Stream) -> bool {
    row.published_cpu_mib_s.is_some()
}

/// The percentiles of CPU time and of wall time of a pass, folded to the columns of a screen.
fn block(table: &Streams) -> Vec<String> {
    let ids: Vec<&str> = table.rows.iter().map(|row| &*row.runtime).collect();
    let header: Vec<GridCell> = ["", ""].map(left).into_iter().chain(PERCENTILE_NAMES.map(right)).collect();
    let rows: Vec<Vec<GridCell>> = percentiles(table)
        .iter()
        .zip(table.rows.iter().flat_map(|row| [row, row]))
        .map(|(cells, row)| {
            let runtime = left(name(&toolchain::short(&row.runtime, &ids, folded::NAMES[0]), 0));
            let names = [runtime, left(name(&cells[1], 1))];
            names.into_iter().chain(cells[2..].iter().map(right)).collect()
        })
        .collect();
    // Each piece says of which clock and of how many samples it is.
    let drawn = folded::folded(&header, &rows, 4, COLUMNS);
    let title = ["", "a pass, from the fastest sample to the slowest"];
    title.into_iter().chain(drawn.lines()).map(str::to_owned).collect()
}

/// The columns of [`percentiles`] behind runtime and variant.
pub const PERCENTILE_NAMES: [&str; 9] = ["of", "n", "p0", "p25", "p50", "p75", "p90", "p99", "p100"];

/// Two rows for each way: CPU time and wall time of a pass.
pub fn percentiles(table: &Streams) -> Vec<Vec<String>> {
    let of = |row: &Stream, name: &str, of: &Distribution| {
        let p99 = if of.n < PERCENTILES { format!("max of {}", of.n) } else { time(of.p99) };
        let mut cells = vec![clean(&row.runtime), clean(&row.variant), name.to_owned(), count(of.n)];
        cells.extend([of.p0, of.p25, of.p50, of.p75, of.p90].map(time));
        cells.extend([p99, time(of.p100)]);
        cells
    };
    table.rows.iter().flat_map(|row| [of(row, "CPU", &row.cpu), of(row, "wall", &row.wall)]).collect()
}

/// What a table shows, in one line.
pub fn what(table: &Streams, columns: usize) -> String {
    let behind = format!(", {} a pass", size(table.size));
    let room = columns.saturating_sub(behind.chars().count());
    format!("{}{behind}", cut(&clean(&table.table), room))
}

/// A number of bytes: `128 MiB`, `64 KiB`, `65,537 B`.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", count(bytes >> 20)),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", count(bytes >> 10)),
        bytes => format!("{} B", count(bytes)),
    }
}

/// MiB a second; `-` where the clock saw nothing.
pub fn mib_s(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), rate)
}

/// A rate: `8.52`, `95.1`, `12,345`.
fn rate(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => count(value.round() as u64),
    }
}

fn is_floor(table: &Streams, row: &Stream) -> bool {
    let name = format!("{}:{}", row.runtime, row.variant);
    !row.is_bare && table.floor.as_ref() == Some(&name)
}

/// How many times the CPU time of the floor, or what the row is.
pub fn floor(table: &Streams, row: &Stream) -> String {
    match (row.times_floor, row.times_floor_ci) {
        _ if row.is_bare => "no sum".to_owned(),
        _ if is_floor(table, row) => "floor".to_owned(),
        (Some(times), Some(Interval(low, high))) => {
            format!("{} [{}, {}]", factor(times), factor(low), factor(high))
        }
        (Some(times), None) => format!("{} no interval", factor(times)),
        (None, _) => "-".to_owned(),
    }
}

/// Two ways that differ in one thing, by what the other costs beside the one, as the table has it.
pub fn contrasted(pair: &Contrasted) -> String {
    let [name, runtime, one, other] =
        [&pair.name, &pair.runtime, &pair.one, &pair.other].map(|text| clean(text));
    let figure = match pair.ci {
        Some(Interval(low, high)) => {
            format!("{}x [{}, {}]", factor(pair.times), factor(low), factor(high))
        }
        None => format!("{}x (no interval)", factor(pair.times)),
    };
    format!("{name}: {runtime} {other} costs {figure} the CPU time of {one}")
}
