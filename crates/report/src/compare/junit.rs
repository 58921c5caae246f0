//! Writes a comparison as JUnit XML, which CI systems show as tests. A row that is worse is a
//! failure, and one that cannot be told is skipped.
//!
//! The format has no standard. This is the part that Jenkins, GitLab and GitHub's report actions
//! all read: `testsuites`, `testsuite`, `testcase` with `failure` or `skipped`. It is written by
//! hand, since the smallest maintained library for it would bring five others for these forty
//! lines.

use std::fmt::Write;

use taskscale_model::compare::{ComparedRow, Comparison, Verdict};

use super::{counts, words};
use crate::style::clean;

/// Writes one suite for each table and one case for each row. O(rows x tables).
pub fn junit(comparison: &Comparison) -> String {
    let mut headings: Vec<String> = Vec::new();
    for row in &comparison.rows {
        let heading = words::heading(row);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let all: Vec<&ComparedRow> = comparison.rows.iter().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<testsuites name=\"taskscale compare\" {}>", totals(&all));
    for heading in &headings {
        let rows: Vec<&ComparedRow> =
            all.iter().copied().filter(|row| words::heading(row) == *heading).collect();
        let _ = writeln!(text, "  <testsuite name=\"{}\" {}>", escape(heading), totals(&rows));
        for row in rows {
            text.push_str(&case(heading, row));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn totals(rows: &[&ComparedRow]) -> String {
    let failures = rows.iter().filter(|row| is_worse(row)).count();
    let skipped = rows.iter().filter(|row| untold(row.verdict) && !is_worse(row)).count();
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\"", rows.len())
}

/// Whether a row is worse by time or by a count.
fn is_worse(row: &ComparedRow) -> bool {
    row.verdict == Verdict::Worse || !counts::worse(row).is_empty()
}

fn untold(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::CannotTell | Verdict::OtherMachine)
}

fn case(heading: &str, row: &ComparedRow) -> String {
    let begin = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"",
        escape(heading),
        escape(&words::name(row))
    );
    let what = [words::word(row.verdict).to_owned(), words::compared(row), words::reason(row)];
    let time = what.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    let message = counts::worse(row).into_iter().chain([time]).collect::<Vec<_>>().join("; ");
    match row.verdict {
        _ if is_worse(row) => format!(
            "{begin}>\n      <failure type=\"regression\" message=\"{}\">ns per task: OLD {}, NEW {}</failure>\n    </testcase>\n",
            escape(&message),
            escape(&words::figure(row.old.as_ref())),
            escape(&words::figure(row.new.as_ref()))
        ),
        verdict if untold(verdict) => {
            format!("{begin}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", escape(&message))
        }
        _ => format!("{begin}/>\n"),
    }
}

/// Makes text safe in an attribute and between tags.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_in_a_name_can_end_an_attribute() {
        assert_eq!(
            escape("a\"b'c<d>&amp;\n\u{1b}\u{fffe}\u{e9}"),
            "a&quot;b&apos;c&lt;d&gt;&amp;amp; ??\u{e9}"
        );
    }
}
