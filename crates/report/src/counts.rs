//! Counts per task, as `text` and `markdown` show them: one line for each row that was counted.

use taskscale_model::{
    params,
    summary::{Row, RowStatus, Summary},
};

use crate::style::clean;
use taskscale_analysis::{
    figure::{count, grouped},
    summarize::counts::{ALL, Count, is_count},
};

/// How to read a count.
pub const LEGEND: &str = "Calls and bytes asked for, per task, in processes of their own that are not timed. A count is exact where its \
    processes agree within 0.1 %; `about` has the least and the most of them. Bytes of a realloc are its whole new size.";

/// The columns after those that name a row.
pub const COLUMNS: [&str; 3] = ["allocations", "bytes", "system calls"];

/// One row that was counted.
pub struct Line {
    /// Table, runtime, variant with its case, size.
    pub name: [String; 4],
    /// In the order of [`COLUMNS`].
    pub cells: [String; 3],
}

/// All rows that have a count, in the order of the plan. A row without any has its reasons in [`reasons`] alone.
pub fn lines(summary: &Summary) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in summary.rows.iter().filter(|row| is_count(row) && row.status == RowStatus::Ok) {
        let name = name(row);
        if lines.last().is_none_or(|line| line.name != name) {
            lines.push(Line { name, cells: Default::default() });
        }
        let place = ALL.iter().position(|count| count.metric() == row.metric);
        if let (Some(line), Some(place)) = (lines.last_mut(), place) {
            line.cells[place] = cell(row, ALL[place]);
        }
    }
    lines
}

fn name(row: &Row) -> [String; 4] {
    let variant = match row.case.is_empty() {
        true => row.variant.clone(),
        false => format!("{} {}", row.variant, params::label(&row.case)),
    };
    let table =
        if row.table == row.suite { row.table.clone() } else { format!("{}: {}", row.suite, row.table) };
    [clean(&table), clean(&row.runtime), clean(&variant), count(row.size)]
}

/// `2.01`, or `about 2.1 (1.9 to 2.4)`.
fn cell(row: &Row, count: Count) -> String {
    let Some(value) = row.p50 else { return String::new() };
    match (row.exact, row.p0, row.p100) {
        (Some(true), ..) => number(value, count),
        (_, Some(least), Some(most)) if row.n > 1 => {
            format!("about {} ({} to {})", number(value, count), number(least, count), number(most, count))
        }
        _ => format!("about {}", number(value, count)),
    }
}

/// As many digits as the tolerance lets stand: three decimals of a call, one of a byte.
pub fn number(value: f64, count: Count) -> String {
    let decimals = match count {
        Count::Allocations | Count::Syscalls => 3,
        Count::Bytes => 1,
    };
    let text = format!("{value:.decimals$}");
    // A difference that came out below zero by the protocol's own traffic is none.
    grouped(if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// Why counts are not known, each reason with the counts and the runtimes that it concerns.
pub fn reasons(summary: &Summary) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>, Vec<&str>)> = Vec::new();
    for row in summary.rows.iter().filter(|row| is_count(row) && row.status != RowStatus::Ok) {
        let reason = clean(row.reason.as_deref().unwrap_or_default());
        let reason = crate::text::with_remedy(&reason, &clean(row.remedy.as_deref().unwrap_or_default()));
        let what = if row.metric == Count::Syscalls.metric() { "system calls" } else { "allocations" };
        let runtime = clean(&row.runtime);
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
