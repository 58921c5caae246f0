//! Tables of how throughput grows with a number of workers: a line for each number, or in words for
//! each series where the suite asks for its law.

pub mod laws;

use taskscale_model::{
    figure::{count, time},
    plain::columns,
    summary::{Interval, Scale, Scales},
};

use crate::{
    overview::{COLUMNS, cut, factor, fitted, plural, width},
    rates,
    style::{Ink, clean, ink},
    toolchain,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (9, 20);
/// The most columns of the parameter's name.
const PARAM: usize = 7;
/// Columns of tasks a second, of a multiple with its interval, and of what each worker did.
const PER_S: usize = 9;
const TIMES: usize = 19;
const EACH: usize = 11;
/// Workers whose speeds are within this factor have one figure.
const ALIKE: f64 = 1.05;
/// Shares are even where none is further from its part than this share of it.
const EVEN: f64 = 0.01;

/// A table in at most `room` rows, with its heading and what its columns say. One with more rows
/// has a line for each series; a whole one names each row whose workers had uneven shares.
pub fn lines(table: &Scales, room: usize) -> Vec<String> {
    if !table.laws.is_empty() && room != usize::MAX {
        return laws::screen(table, room);
    }
    let ids: Vec<&str> = table.rows.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &Scale| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(&table.rows, runtime_of, NAMES.0);
    let variant = width(&table.rows, |row| clean(&row.variant), NAMES.1);
    let name = |row: &Scale| {
        format!("{} {}", fitted(&runtime_of(row), runtime), fitted(&clean(&row.variant), variant))
    };
    let rows = if table.rows.len() <= room { by_row(table, &name) } else { by_series(table, &name, room) };
    let heading = std::iter::once(ink(Ink::Bold, &what(table, COLUMNS)));
    let said = said(table, room == usize::MAX);
    let rows = rows.into_iter().chain(laws::whole(table));
    heading.chain(rows).chain(said.iter().map(|line| ink(Ink::Dim, line))).collect()
}

/// The head of a table and a line for each row. The names of a series stand at its first line.
fn by_row(table: &Scales, name: &dyn Fn(&Scale) -> String) -> Vec<String> {
    let param = cut(&clean(&table.param), PARAM);
    let workers = table.rows.iter().map(|row| count(row.workers).len()).max().unwrap_or_default();
    let workers = workers.max(param.chars().count());
    let blank = " ".repeat(table.rows.first().map(|row| columns(&name(row))).unwrap_or_default());
    let line = |[first, workers_, per_s, times, each]: [&str; 5]| {
        format!("{first} {workers_:>workers$} {per_s:>PER_S$} {times:>TIMES$} {each:>EACH$}")
    };
    // Where no worker tells what it did, what is left to say is how much of one alone each is
    // worth.
    let told = table.rows.iter().any(|row| row.each.is_some());
    let last = if told { "each worker" } else { "efficiency" };
    let head = line([&blank, &param, "in all", "times [95 %]", last]);
    let last = |row: &Scale| if told { each(row) } else { efficiency(row) };
    let mut lines = vec![ink(Ink::Dim, &head)];
    for (index, row) in table.rows.iter().enumerate() {
        let is_first = index == 0 || series(row) != series(&table.rows[index - 1]);
        let first = if is_first { name(row) } else { blank.clone() };
        let cells = line([&first, &count(row.workers), &rates::per_s(row.per_s), &times(row), &last(row)]);
        lines.push(if is_first { ink(Ink::Bold, &cells) } else { cells });
    }
    lines
}

/// The head of a table and a line for each series: what the fewest workers do, and of the others
/// the multiples of the first and the last number.
fn by_series(table: &Scales, name: &dyn Fn(&Scale) -> String, room: usize) -> Vec<String> {
    let mut numbers: Vec<u64> = table.rows.iter().map(|row| row.workers).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let fewest = numbers.remove(0);
    if let [first, .., last] = numbers[..] {
        numbers = vec![first, last];
    }
    let mut groups: Vec<Vec<&Scale>> = Vec::new();
    for row in &table.rows {
        match groups.iter_mut().find(|group| series(group[0]) == series(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let param = cut(&clean(&table.param), PARAM);
    let blank = " ".repeat(columns(&name(groups[0][0])));
    let mut head = format!("{blank} {:>PER_S$}", format!("{param}={fewest}"));
    for number in &numbers {
        head.push_str(&format!(" {:>TIMES$}", format!("{param}={number} [95 %]")));
    }
    let mut lines = vec![ink(Ink::Dim, &head)];
    for group in groups.iter().take(room) {
        let of = |number: u64| group.iter().find(|row| row.workers == number && row.base == fewest);
        let cell =
            |number: u64, words: fn(&Scale) -> String| of(number).map_or("-".to_owned(), |row| words(row));
        let mut line = format!("{} {:>PER_S$}", name(group[0]), cell(fewest, |row| rates::per_s(row.per_s)));
        for number in &numbers {
            line.push_str(&format!(" {:>TIMES$}", cell(*number, times)));
        }
        lines.push(line);
    }
    let left_out = groups.len().saturating_sub(room);
    let more = if left_out > 0 { format!("and {} more, ", count(left_out as u64)) } else { String::new() };
    lines.push(ink(Ink::Dim, &format!("{more}each number of {param} and each worker: --details")));
    lines
}

fn series(row: &Scale) -> (&str, &str) {
    (&row.runtime, &row.variant)
}

/// What a table shows, in one line.
pub fn what(table: &Scales, columns: usize) -> String {
    let what = format!("{}s a second by wall time: ", clean(&table.unit));
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// What its columns mean, and whether shares were even.
fn said(table: &Scales, whole: bool) -> Vec<String> {
    let unit = clean(&table.unit);
    let mut said = vec![format!("times: those of {} of the same variant, paired by round", base(table))];
    let told = table.rows.iter().filter(|row| row.each.is_some()).count();
    let uneven: Vec<&Scale> = table.rows.iter().filter(|row| !is_even(row)).collect();
    match uneven.len() {
        0 if told > 0 => said.push(format!("every worker had an even share of the {unit}s")),
        0 => (),
        _ if whole => said.extend(uneven.iter().map(|row| {
            format!(
                "{} {}, {}: a worker had {} of the {unit}s",
                clean(&row.runtime),
                clean(&row.variant),
                plural(usize::try_from(row.workers).unwrap_or(usize::MAX), "worker"),
                share(row)
            )
        })),
        n => {
            said.push(format!("workers had uneven shares of the {unit}s in {}: --details", plural(n, "row")))
        }
    }
    said
}

/// The workers that rows are divided by.
pub fn base(table: &Scales) -> String {
    let mut bases: Vec<u64> = table.rows.iter().map(|row| row.base).collect();
    bases.sort_unstable();
    bases.dedup();
    match bases.as_slice() {
        [1] => "1 worker".to_owned(),
        [one] => format!("{} workers", count(*one)),
        _ => "the fewest workers".to_owned(),
    }
}

fn is_even(row: &Scale) -> bool {
    row.each.is_none_or(|each| {
        let even = 1.0 / row.workers as f64;
        even - each.least_share <= EVEN * even && each.most_share - even <= EVEN * even
    })
}

/// How many times the tasks a second of the fewest workers: `1.92x [1.88, 1.95]`.
pub fn times(row: &Scale) -> String {
    match row.ci {
        _ if row.workers == row.base => "base".to_owned(),
        Some(Interval(low, high)) => format!("{}x [{}, {}]", factor(row.times), factor(low), factor(high)),
        None => format!("{}x no interval", factor(row.times)),
    }
}

/// Tasks a second of each worker: one figure where they are alike, else the slowest and the
/// fastest.
pub fn each(row: &Scale) -> String {
    match row.each {
        None => "-".to_owned(),
        Some(each) if each.fastest_per_s <= ALIKE * each.slowest_per_s => {
            short((each.slowest_per_s * each.fastest_per_s).sqrt())
        }
        Some(each) => format!("{}-{}", short(each.slowest_per_s), short(each.fastest_per_s)),
    }
}

/// The share of all tasks that a worker had: `25 %`, or `20 to 30 %`.
pub fn share(row: &Scale) -> String {
    let Some(each) = row.each else { return "-".to_owned() };
    let [least, most] = [each.least_share, each.most_share].map(|share| format!("{:.0}", 100.0 * share));
    if least == most { format!("{least} %") } else { format!("{least} to {most} %") }
}

/// How much of one alone each worker is worth: `95 %`.
pub fn efficiency(row: &Scale) -> String {
    format!("{:.0} %", 100.0 * row.efficiency)
}

/// CPU time of a task.
pub fn cpu(row: &Scale) -> String {
    time(row.cpu_ns)
}

/// A number in at most five characters: `8,012`, `31.2k`, `1.20M`.
fn short(number: f64) -> String {
    match number {
        n if n < 9_999.5 => count(n.round() as u64),
        n if n < 99_950.0 => format!("{:.1}k", n / 1e3),
        n if n < 999_500.0 => format!("{:.0}k", n / 1e3),
        n if n < 9_995_000.0 => format!("{:.2}M", n / 1e6),
        n => format!("{:.0}M", n / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers =
            [0.4, 8_012.0, 9_999.4, 9_999.6, 31_249.0, 99_960.0, 999_400.0, 999_600.0, 12_345_678.0];
        let words = ["0", "8,012", "9,999", "10.0k", "31.2k", "100k", "999k", "1.00M", "12M"];
        assert_eq!(numbers.map(short), words);
    }
}
