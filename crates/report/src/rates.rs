//! Tables of tasks in a second of CPU time, beside published rates: a line for each size.

use taskscale_model::{
    figure::count,
    summary::{Interval, Rate, Rates},
};

use crate::{
    overview::{COLUMNS, cut, factor, fitted, plural, width},
    style::{Ink, clean, ink},
    wrap::hanging,
};

/// The most columns of a runtime with its variant.
const NAMES: usize = 20;
/// Columns of a size, a rate with its interval, a rate by wall time, a published one, a factor.
const SIZE: usize = 10;
const RATE: usize = 18;
const WALL: usize = 6;
const PUBLISHED: usize = 9;
const TIMES: usize = 6;

/// A table in at most `room` rows, with its heading; below it what the columns mean.
pub fn lines(table: &Rates, room: usize) -> Vec<String> {
    let shown = &table.rows[..table.rows.len().min(room.saturating_sub(1))];
    let names = width(shown, name, NAMES);
    let line = |[name, size, rate, wall, published, times]: [&str; 6]| {
        format!(
            "{} {size:>SIZE$} {rate:>RATE$} {wall:>WALL$} {published:>PUBLISHED$} {times:>TIMES$}",
            fitted(name, names)
        )
        .trim_end()
        .to_owned()
    };
    let head = line(["", "tasks", "a second [95 %]", "wall", "published", "here"]);
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &head)];
    let mut before = String::new();
    for row in shown {
        // A name stands once above its sizes.
        let name = cut(&name(row), names);
        let first = if name == before { "" } else { &name };
        lines.push(line([
            first,
            &count(row.size),
            &here(row),
            &row.wall_per_s.map(short).unwrap_or_default(),
            &row.published.map(published).unwrap_or_default(),
            &times(row),
        ]));
        before = name;
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    let said = hanging(&said(table), 2, COLUMNS);
    lines.extend(said.lines().map(|line| ink(Ink::Dim, line)));
    lines
}

fn name(row: &Rate) -> String {
    format!("{} {}", clean(&row.runtime), clean(&row.variant))
}

/// What a table shows, in one line.
pub fn what(table: &Rates, columns: usize) -> String {
    let what = "tasks in a second of CPU time: ";
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.len())))
}

/// What the columns of other clocks and machines are.
pub fn said(table: &Rates) -> String {
    format!(
        "wall: a second of wall time; published on {}; here: of the published",
        clean(&table.published_on)
    )
}

/// A rate of this machine with its interval.
pub fn here(row: &Rate) -> String {
    match row.ci {
        Some(Interval(low, high)) => format!("{} [{}, {}]", short(row.per_s), short(low), short(high)),
        None => format!("{} no interval", short(row.per_s)),
    }
}

/// A published rate, as it was printed.
pub fn published(per_s: f64) -> String {
    count(per_s.round() as u64)
}

/// The rate here divided by the published one.
pub fn times(row: &Rate) -> String {
    let published = row.published.filter(|&published| published > 0.0);
    published.map(|published| format!("{}x", factor(row.per_s / published))).unwrap_or_default()
}

/// What is done in a second, as a whole number: `12,345`.
pub fn per_s(per_s: f64) -> String {
    count(per_s.round() as u64)
}

/// A rate in three digits: `950`, `98.7k`, `129k`, `1.29M`.
pub fn short(per_s: f64) -> String {
    let digits = |value: f64| match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    };
    match per_s {
        rate if rate < 999.5 => format!("{rate:.0}"),
        rate if rate < 999_500.0 => format!("{}k", digits(rate / 1e3)),
        rate => format!("{}M", digits(rate / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn rates_have_three_digits() {
        for (rate, text) in [
            (0.4, "0"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (9_994.0, "9.99k"),
            (98_700.0, "98.7k"),
            (129_100.0, "129k"),
            (999_499.0, "999k"),
            (999_600.0, "1.00M"),
            (12_340_000.0, "12.3M"),
        ] {
            assert_eq!(short(rate), text);
        }
    }
}
