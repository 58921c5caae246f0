//! Tables of latency: one line for each rate at which requests started.

use taskscale_model::{
    figure::{count, time},
    summary::{Latencies, Latency},
};

use crate::{
    overview::{COLUMNS, cut, fitted},
    rates,
    style::{Ink, clean, ink},
    toolchain,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (8, 16);

/// What the percentiles rest on, and what they lack.
const WITHOUT: &str = "of all requests together, without intervals; a second run shows their spread";

/// A table in at most `room` rows, with its heading; below a whole one, what servers did not keep
/// up with.
pub fn lines(table: &Latencies, room: usize) -> Vec<String> {
    let ids: Vec<&str> = table.rows.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &Latency| toolchain::short(&row.runtime, &ids, NAMES.0);
    let (runtime, variant) = NAMES;
    let head = format!(
        "{:runtime$} {:variant$} {:>4} {:>7}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "", "", "rate", "req/s", "p50", "p90", "p99", "p99.9", "max"
    );
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &head)];
    for row in table.rows.iter().take(room) {
        let cell = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
        lines.push(format!(
            "{} {} {:>2} % {:>7}{:>8}{:>8}{:>8}{:>8}{:>8}",
            fitted(&runtime_of(row), runtime),
            fitted(&clean(&row.variant), variant),
            row.rate,
            rates::per_s(row.achieved_per_s),
            time(row.p50),
            time(row.p90),
            cell(row.p99),
            cell(row.p999),
            time(row.max)
        ));
    }
    if table.rows.len() > room {
        lines.push(ink(Ink::Dim, &format!("and {} more: --details", table.rows.len() - room)));
    }
    lines.push(ink(Ink::Dim, WITHOUT));
    if room == usize::MAX {
        lines.extend(table.rows.iter().filter_map(behind).map(|line| ink(Ink::Dim, &line)));
    }
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Latencies, columns: usize) -> String {
    let what = "latency from the intended start: ";
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// What a server did not keep up with: more than a twentieth of its requests waited when the last
/// one was to start.
fn behind(row: &Latency) -> Option<String> {
    (row.waiting.saturating_mul(20) > row.n).then(|| {
        format!(
            "{} {} at {} %: {} of {} waited when the last was to start; {}/s wanted",
            clean(&row.runtime),
            clean(&row.variant),
            row.rate,
            count(row.waiting),
            count(row.n),
            rates::per_s(row.wanted_per_s)
        )
    })
}
