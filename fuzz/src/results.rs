//! What must hold for any run file, any summary and any digest: no panic, JSON that is read back,
//! and text of others that is plain in every form.
//!
//! The first bytes choose a form, a value to start from and how much of it is kept, so that an
//! execution is cheap. The others change what is kept.

use std::{fmt::Debug, sync::LazyLock};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use taskscale_analysis::{CompareOptions, compare, parse_run, summarize};
use taskscale_model::{digest::Digest, run_file::Time, summary::Summary};
use taskscale_testkit::made::{self, HOSTILE};

use crate::{
    digests,
    edit::{edit, edited},
    less::{self, Lines, luck},
    shown::{self, Form},
};

/// Kept run files. The first has the header that stands before any lines.
const KEPT: [&str; 6] = [
    include_str!("../../crates/analysis/tests/data/hand.jsonl"),
    include_str!("../../crates/analysis/tests/data/threads.jsonl"),
    include_str!("../../crates/analysis/tests/data/granularity.jsonl"),
    include_str!("../../crates/analysis/tests/data/jit.jsonl"),
    include_str!("../../crates/analysis/tests/data/versions.jsonl"),
    include_str!("../../crates/analysis/tests/data/wide.jsonl"),
];
const SUMMARY: &str = include_str!("../../schemas/summary.schema.json");
const DIGEST: &str = include_str!("../../schemas/digest.schema.json");

/// Checks the value in the form that a byte chooses.
fn check_form<T: Debug + PartialEq + DeserializeOwned>(forms: &[Form<T>], which: u8, value: &T) -> String {
    let (form, show) = forms[usize::from(which) % forms.len()];
    let text = show(value);
    if let Some(problem) = shown::problem(form, &text) {
        panic!("{problem}");
    }
    if form == "JSON" {
        let read: T = serde_json::from_str(&text).expect("its own JSON");
        assert_eq!(read, *value, "JSON is read back as something else");
    }
    text
}

/// A run file. The first byte chooses the form, and its highest bit whether the rest stands behind
/// a header that is whole. Else three bytes choose lines of a kept file, and the others say how
/// these are changed.
pub fn run_file(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [0..128, kept, first, many, edits @ ..] => {
            static LINES: LazyLock<[Lines; KEPT.len()]> = LazyLock::new(|| KEPT.map(Lines::new));
            let lines = LINES[usize::from(*kept) % KEPT.len()].few([*first, *many], luck(bytes));
            edited(&lines, edits, &HOSTILE).into_bytes()
        }
        [_, rest @ ..] => [KEPT[0].lines().next().unwrap_or_default().as_bytes(), b"\n", rest].concat(),
        [] => Vec::new(),
    }
}

/// Reads a run file and shows it or its comparison with itself.
pub fn check_run_file(bytes: &[u8]) {
    let Ok(run) = parse_run(run_file(bytes)) else { return };
    let form = bytes.first().copied().unwrap_or_default();
    let which = form % 128 % (shown::SUMMARY.len() + shown::COMPARISON.len()) as u8;
    match which.checked_sub(shown::SUMMARY.len() as u8) {
        None => drop(check_form(&shown::SUMMARY, which, &summarize(&run))),
        Some(which) => {
            let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
            let sides = ((HOSTILE[0], &run), (HOSTILE[1], &run));
            check_form(&shown::COMPARISON, which, &compare(sides.0, sides.1, &options));
        }
    }
}

/// Values that a target starts from: what a schema allows, and what there is besides.
fn starts<T: Serialize>(schema: &str, besides: impl IntoIterator<Item = T>) -> Vec<Value> {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let made = (0..16).map(|pick| made::value(&schema, pick, &mut |path| path.to_owned()));
    let besides = besides.into_iter().map(|value| serde_json::to_value(value).expect("JSON"));
    made.map(shown::mended).chain(besides).collect()
}

/// The form that the first byte chooses, and a value: the second byte chooses one to start from,
/// two more what is kept of it, and the others change it. `None` where that is no value of the
/// type.
fn changed<T: DeserializeOwned>(starts: &[Value], bytes: &[u8]) -> Option<(u8, T)> {
    let [form, start, first, second, edits @ ..] = bytes else { return None };
    let start = &starts[usize::from(*start) % starts.len()];
    let mut value = less::of_value(start, [*first, *second], luck(bytes));
    edit(&mut value, edits, &HOSTILE);
    Some((*form, serde_json::from_value(value).ok()?))
}

/// Shows a summary with any values in it.
pub fn check_summary(bytes: &[u8]) {
    static STARTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let summary = |file: &&str| summarize(&parse_run(file).expect("a kept file"));
        starts(SUMMARY, KEPT.iter().map(summary))
    });
    if let Some((form, summary)) = changed(&STARTS, bytes) {
        check_form::<Summary>(&shown::SUMMARY, form, &summary);
    }
}

/// Shows a digest with any values in it. The text has at most 2,048 bytes.
pub fn check_digest(bytes: &[u8]) {
    static STARTS: LazyLock<Vec<Value>> =
        LazyLock::new(|| starts(DIGEST, HOSTILE.map(|name| digests::digest(name, 2, 1))));
    if let Some((form, digest)) = changed(&STARTS, bytes) {
        let text = check_form::<Digest>(&shown::DIGEST, form, &digest);
        let is_text = usize::from(form).is_multiple_of(shown::DIGEST.len());
        assert!(!is_text || text.len() <= 2_048, "{} bytes of text", text.len());
    }
}
