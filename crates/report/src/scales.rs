//! Tables of how throughput grows with a number of workers: a line for each number.

use taskscale_model::{
    figure::{count, time},
    summary::{Interval, Scale, Scales},
};

use crate::{
    overview::{COLUMNS, cut, factor, plural, width},
    style::{Ink, clean, ink},
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

/// A table in at most `room` rows, with its heading and what its columns say. A whole one names
/// each row whose workers had uneven shares.
pub fn lines(table: &Scales, room: usize) -> Vec<String> {
    let shown = &table.rows[..table.rows.len().min(room)];
    let runtime = width(shown, |row| clean(&row.runtime), NAMES.0);
    let variant = width(shown, |row| clean(&row.variant), NAMES.1);
    let param = cut(&clean(&table.param), PARAM);
    let workers = shown.iter().map(|row| count(row.workers).len()).max().unwrap_or_default();
    let workers = workers.max(param.chars().count());
    let names = runtime + 1 + variant;
    let head = format!(
        "{:names$} {param:>workers$} {:>PER_S$} {:>TIMES$} {:>EACH$}",
        "", "in all", "times [95 %]", "each worker"
    );
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &head)];
    for (index, row) in shown.iter().enumerate() {
        // The names of a series stand at its first line.
        let is_first = index == 0 || !same_series(row, &shown[index - 1]);
        let name = match is_first {
            true => format!(
                "{:runtime$} {:variant$}",
                cut(&clean(&row.runtime), runtime),
                cut(&clean(&row.variant), variant)
            ),
            false => " ".repeat(names),
        };
        let line = format!(
            "{name} {:>workers$} {:>PER_S$} {:>TIMES$} {:>EACH$}",
            count(row.workers),
            per_s(row.per_s),
            times(row),
            each(row)
        );
        lines.push(if is_first { ink(Ink::Bold, &line) } else { line });
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(said(table, room == usize::MAX).iter().map(|line| ink(Ink::Dim, line)));
    lines
}

fn same_series(one: &Scale, other: &Scale) -> bool {
    (&one.runtime, &one.variant) == (&other.runtime, &other.variant)
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

/// Tasks a second of all workers together.
pub fn per_s(per_s: f64) -> String {
    count(per_s.round() as u64)
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
