//! All that can be shown of each kind of data, and what all of it keeps to: text of others is
//! plain, whatever the format.
//!
//! The fuzz targets hold themselves to the same (`fuzz/src`).

#![allow(dead_code, reason = "each test and fuzz target shows some kinds of data")]

use serde_json::Value;
use taskscale_model::{
    compare::Comparison, digest::Digest, doctor::Checkup, guide::Verdicts, summary::Summary,
};
use taskscale_report::*;

/// Each form with its name.
pub type Shown = Vec<(&'static str, String)>;

const WIDE: Style = Style { colour: true, width: 120, detailed: true };
const PLAIN: Style = Style { colour: false, width: 80, detailed: false };

pub fn of_summary(summary: &Summary) -> Shown {
    vec![
        ("overview", overview(summary, &PLAIN, "last")),
        ("overview in colour", overview(summary, &WIDE, "last")),
        ("text", text(summary, &PLAIN)),
        ("text in detail and colour", text(summary, &WIDE)),
        ("Markdown", markdown(summary)),
        ("JSON", json(summary)),
        ("CSV", csv(summary)),
        ("HTML", page(summary)),
        ("SVG", strip_svg(summary)),
    ]
}

pub fn of_comparison(comparison: &Comparison) -> Shown {
    vec![
        ("overview", compare_overview(comparison, &PLAIN, "taskscale compare a b")),
        ("overview in colour", compare_overview(comparison, &WIDE, "taskscale compare a b")),
        ("text", compare_text(comparison, &PLAIN)),
        ("text in colour", compare_text(comparison, &WIDE)),
        ("Markdown", compare_markdown(comparison)),
        ("JSON", compare_json(comparison)),
        ("JUnit", compare_junit(comparison)),
    ]
}

pub fn of_checkup(checkup: &Checkup) -> Shown {
    vec![
        ("overview", doctor_overview(checkup, &PLAIN)),
        ("overview in colour", doctor_overview(checkup, &WIDE)),
        ("text", doctor_text(checkup, &PLAIN)),
        ("text in colour", doctor_text(checkup, &WIDE)),
        ("Markdown", doctor_markdown(checkup)),
        ("JSON", doctor_json(checkup)),
    ]
}

pub fn of_verdicts(verdicts: &Verdicts) -> Shown {
    vec![
        ("overview", guide_overview(verdicts, None, &PLAIN, "last")),
        ("overview in colour", guide_overview(verdicts, None, &WIDE, "last")),
        ("text", guide_text(verdicts, &[], None, &PLAIN)),
        ("text in colour", guide_text(verdicts, &[], None, &WIDE)),
        ("Markdown", guide_markdown(verdicts, &[], None)),
        ("JSON", guide_json(verdicts, &[], None)),
    ]
}

pub fn of_digest(digest: &Digest) -> Shown {
    vec![
        ("text", digest_text(digest)),
        ("Markdown", digest_markdown(digest)),
        ("JSON", digest_json(digest)),
        ("HTML", digest_html(digest, &["taskscale".to_owned(), "digest".to_owned()])),
    ]
}

/// Makes the lines of a summary's rows fit each other: a row with figures of several metrics, one
/// that failed, and one that was skipped.
pub fn mended(mut value: Value) -> Value {
    let Some(first) = value.pointer("/rows/0").filter(|line| line.get("p0").is_some()).cloned() else {
        return value;
    };
    let row = |status: &str, metric: &str| {
        let mut line = first.clone();
        let figure = |at: u64| Value::from(at as f64 + 0.5);
        for (at, name) in ["p0", "p25", "p50", "p75", "p90", "p99", "p100", "ratio"].into_iter().enumerate() {
            line[name] = if status == "ok" { figure(at as u64) } else { Value::Null };
        }
        (line["status"], line["metric"], line["exact"]) = (status.into(), metric.into(), true.into());
        line
    };
    value["rows"] = Value::Array(vec![
        row("ok", "cpu_per_task"),
        row("ok", "wall_per_task"),
        row("ok", "threads_ran"),
        row("ok", "syscalls_per_task"),
        row("ok", "calls_per_task"),
        row("failed", "allocations_per_task"),
        row("failed", "cpu_per_task"),
        row("skipped", "cpu_per_task"),
    ]);
    value
}

/// What is wrong with what is shown: one line for each form. The caller's own end of a line and
/// what colours a word are all that may be there beside what can be seen.
pub fn problems(shown: &Shown) -> Vec<String> {
    let problem = |(form, text): &(&str, String)| {
        let without: String = match form.ends_with("colour") {
            true => ["0", "1", "2", "31", "32", "33"]
                .iter()
                .fold(text.clone(), |text, code| text.replace(&format!("\u{1b}[{code}m"), "")),
            false => text.clone(),
        };
        if let Some(at) = without.find(is_unseen) {
            let around: String =
                without[..at].chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
            let found = without[at..].chars().next().unwrap_or_default();
            return Some(format!("{form}: {found:?} behind {around:?}"));
        }
        let markup = ["<script>alert", "<img src=x", "&#8238;", "&lrm;"];
        let is_markup = matches!(*form, "Markdown" | "HTML" | "SVG" | "JUnit");
        let held = markup.iter().find(|markup| is_markup && without.contains(**markup));
        let line = without
            .lines()
            .find(|line| is_markup && (line.starts_with("# y") || line.starts_with("::error::")));
        let formula = without.lines().find(|line| *form == "CSV" && line.starts_with(['=', '+', '@']));
        held.copied().or(line).or(formula).map(|held| format!("{form}: {held:?} is left as it was"))
    };
    shown.iter().filter_map(problem).collect()
}

/// Characters that cannot be seen, by the tables of Unicode 16 and not by the code under test.
fn is_unseen(c: char) -> bool {
    const UNSEEN: [(u32, u32); 20] = [
        (0x00, 0x09),
        (0x0b, 0x1f),
        (0x7f, 0x9f),
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0d),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfffb),
        (0xfffe, 0xffff),
        (0x1bca0, 0x1bca3),
        (0xe0000, 0xe0fff),
    ];
    UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}
