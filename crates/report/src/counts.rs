//! Counts per task, as `text` and `markdown` show them: one line for each counted row.

use taskscale_model::{
    missing::Reading,
    summary::{CountPerTask, Row, Summary},
};

use crate::style::{clean, with_remedy};
use taskscale_analysis::summarize::counts::{ALL, Count};
use taskscale_model::figure::{count, grouped};

/// The legend of a count.
pub const LEGEND: &str = "Calls and bytes asked for, per task, in processes of their own that are not timed. A count is exact where its \
    processes agree within 0.1 %; `about` has the least and the most of them. Bytes of a realloc are its whole new size.";

/// The columns behind those that name a row.
pub const COLUMNS: [&str; 3] = ["allocations", "bytes", "system calls"];

/// One counted row.
pub struct Line {
    /// Table, runtime, variant with its case, size.
    pub name: [String; 4],
    /// Its counts, in the order of [`COLUMNS`].
    pub cells: [String; 3],
}

/// All rows that have a count, in the order of the plan. The reasons of a row without any stand
/// only in [`reasons`].
pub fn lines(summary: &Summary) -> Vec<Line> {
    let of = |row| {
        let readings = readings(row);
        let cells = readings.map(|(count, reading)| {
            reading.and_then(Reading::value).map(|value| cell(value, count)).unwrap_or_default()
        });
        let is_counted = readings.iter().any(|(_, reading)| reading.and_then(Reading::value).is_some());
        is_counted.then(|| Line { name: name(row), cells })
    };
    summary.rows.iter().filter_map(of).collect()
}

fn readings(row: &Row) -> [(Count, Option<&Reading<CountPerTask>>); 3] {
    let counts = row.figures().map(|figures| &figures.counts);
    ALL.map(|count| {
        let reading = counts.and_then(|counts| match count {
            Count::Allocations => counts.allocations.as_ref(),
            Count::Bytes => counts.bytes.as_ref(),
            Count::Syscalls => counts.syscalls.as_ref(),
        });
        (count, reading)
    })
}

fn name(row: &Row) -> [String; 4] {
    [
        clean(&row.key.heading()),
        clean(&row.key.runtime),
        clean(&row.key.variant_and_case()),
        count(row.key.size),
    ]
}

/// Writes `2.01` where the count is exact, or `about 2.1 (1.9 to 2.4)`.
fn cell(of: &CountPerTask, count: Count) -> String {
    let [least, median, most] = [of.least, of.median, of.most].map(|value| number(value, count));
    match (of.exact, of.processes) {
        (true, _) => median,
        (false, 2..) => format!("about {median} ({least} to {most})"),
        (false, _) => format!("about {median}"),
    }
}

/// Writes as many digits as the tolerance allows: three decimals of a call, one of a byte.
pub fn number(value: f64, count: Count) -> String {
    let decimals = match count {
        Count::Allocations | Count::Syscalls => 3,
        Count::Bytes => 1,
    };
    let text = format!("{value:.decimals$}");
    // A difference that the protocol's own traffic pushed below zero counts as zero.
    grouped(if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// Why counts are not known, each reason with its counts and runtimes.
pub fn reasons(summary: &Summary) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>, Vec<&str>)> = Vec::new();
    let lacking =
        |row| readings(row).into_iter().filter_map(move |(count, reading)| Some((row, count, reading?)));
    for (row, count, reading) in summary.rows.iter().flat_map(lacking) {
        let Reading::Missing(missing) = reading else { continue };
        let reason = with_remedy(&clean(&missing.reason), &clean(&missing.remedy));
        let what = if count == Count::Syscalls { "system calls" } else { "allocations" };
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
        format!("{} of {} not counted: {reason}", whats.join(" and "), runtimes.join(", "))
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
        ] {
            assert_eq!(number(value, count), expected);
        }
    }
}
