//! All that can be shown of each kind of data, and what all of it keeps to: text of others is
//! plain, whatever the format.
//!
//! The fuzz targets hold themselves to the same (`fuzz/src`).

#![allow(dead_code, reason = "each test and fuzz target shows some kinds of data")]

use std::borrow::Cow;

use serde_json::Value;
use taskscale_model::{
    compare::Comparison, digest::Digest, doctor::Checkup, guide::Verdicts, summary::Summary,
};
use taskscale_report::*;

/// A form: its name, and what shows a value in it.
pub type Form<T> = (&'static str, fn(&T) -> String);

const WIDE: Style = Style { colour: true, width: 120, detailed: true };
const PLAIN: Style = Style { colour: false, width: 80, detailed: false };

pub const SUMMARY: [Form<Summary>; 9] = [
    ("overview", |summary| overview(summary, &PLAIN, "last")),
    ("overview in colour", |summary| overview(summary, &WIDE, "last")),
    ("text", |summary| text(summary, &PLAIN)),
    ("text in detail and colour", |summary| text(summary, &WIDE)),
    ("Markdown", markdown),
    ("JSON", json),
    ("CSV", csv),
    ("HTML", page),
    ("SVG", strip_svg),
];

pub const COMPARISON: [Form<Comparison>; 7] = [
    ("overview", |comparison| compare_overview(comparison, &PLAIN, "taskscale compare a b")),
    ("overview in colour", |comparison| compare_overview(comparison, &WIDE, "taskscale compare a b")),
    ("text", |comparison| compare_text(comparison, &PLAIN)),
    ("text in colour", |comparison| compare_text(comparison, &WIDE)),
    ("Markdown", compare_markdown),
    ("JSON", compare_json),
    ("JUnit", compare_junit),
];

pub const CHECKUP: [Form<Checkup>; 6] = [
    ("overview", |checkup| doctor_overview(checkup, &PLAIN)),
    ("overview in colour", |checkup| doctor_overview(checkup, &WIDE)),
    ("text", |checkup| doctor_text(checkup, &PLAIN)),
    ("text in colour", |checkup| doctor_text(checkup, &WIDE)),
    ("Markdown", doctor_markdown),
    ("JSON", doctor_json),
];

pub const VERDICTS: [Form<Verdicts>; 6] = [
    ("overview", |verdicts| guide_overview(verdicts, None, &PLAIN, "last")),
    ("overview in colour", |verdicts| guide_overview(verdicts, None, &WIDE, "last")),
    ("text", |verdicts| guide_text(verdicts, &[], None, &PLAIN)),
    ("text in colour", |verdicts| guide_text(verdicts, &[], None, &WIDE)),
    ("Markdown", |verdicts| guide_markdown(verdicts, &[], None)),
    ("JSON", |verdicts| guide_json(verdicts, &[], None)),
];

pub const DIGEST: [Form<Digest>; 4] = [
    ("text", digest_text),
    ("Markdown", digest_markdown),
    ("JSON", digest_json),
    ("HTML", |digest| digest_html(digest, &["taskscale".to_owned(), "digest".to_owned()])),
];

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

/// What is wrong with a value in all forms: one line for each form.
pub fn problems<T>(forms: &[Form<T>], value: &T) -> Vec<String> {
    forms.iter().filter_map(|(form, show)| problem(form, &show(value))).collect()
}

/// What is wrong with what is shown in one form. The caller's own end of a line and what colours a
/// word are all that may be there beside what can be seen.
pub fn problem(form: &str, text: &str) -> Option<String> {
    let without = match form.ends_with("colour") {
        true => Cow::Owned(
            ["0", "1", "2", "31", "32", "33"]
                .iter()
                .fold(text.to_owned(), |text, code| text.replace(&format!("\u{1b}[{code}m"), "")),
        ),
        false => Cow::Borrowed(text),
    };
    let is_markup = matches!(form, "Markdown" | "HTML" | "SVG" | "JUnit");
    let markup = ["<script>alert", "<img src=x", "&#8238;", "&lrm;"];
    let held = markup.into_iter().find(|markup| is_markup && without.contains(markup));
    if let Some(held) = held {
        return Some(format!("{form}: {held:?} is left as it was"));
    }
    without.split('\n').find_map(|line| {
        if !is_ascii_that_is_seen(line)
            && let Some(at) = line.find(is_unseen)
        {
            let (before, found) = line.split_at(at);
            return Some(format!("{form}: {:?} behind {before:?}", found.chars().next()));
        }
        let is_markup = is_markup && (line.starts_with("# y") || line.starts_with("::error::"));
        let is_formula = form == "CSV" && line.starts_with(['=', '+', '@']);
        (is_markup || is_formula).then(|| format!("{form}: {line:?} is left as it was"))
    })
}

/// Tells whether there is nothing to look for in a line. Most lines are such, and pages have many.
fn is_ascii_that_is_seen(line: &str) -> bool {
    let (chunks, rest) = line.as_bytes().as_chunks::<16>();
    let is_seen = |bytes: &[u8]| bytes.iter().fold(true, |seen, byte| seen & matches!(byte, b' '..=b'~'));
    chunks.iter().all(|chunk| is_seen(chunk)) && is_seen(rest)
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
