//! What must hold for any run file, any summary and any digest: no panic, JSON that is read back,
//! and text of others that is plain in every form.

use std::sync::OnceLock;

use serde_json::Value;
use taskscale_analysis::{CompareOptions, compare, parse_run, summarize};
use taskscale_model::{digest::Digest, run_file::Time, summary::Summary};
use taskscale_testkit::made::{self, HOSTILE};

use crate::{edit::edit, shown};

const HAND: &str = include_str!("../../crates/analysis/tests/data/hand.jsonl");
const SUMMARY: &str = include_str!("../../schemas/summary.schema.json");
const DIGEST: &str = include_str!("../../schemas/digest.schema.json");

fn plain(shown: &shown::Shown) {
    let problems = shown::problems(shown);
    assert!(problems.is_empty(), "{problems:?}");
}

/// Reads a run file and shows all that there is of it. The first byte says whether the rest stands
/// behind a header that is whole, or says how the lines of a kept file are changed.
pub fn check_run_file(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let file = if first & 1 == 0 {
        let header = HAND.lines().next().unwrap_or_default();
        [header.as_bytes(), b"\n", rest].concat()
    } else {
        static LINES: OnceLock<Value> = OnceLock::new();
        let lines =
            LINES.get_or_init(|| HAND.lines().map(|line| line.parse::<Value>().expect("JSON")).collect());
        let mut lines = lines.clone();
        edit(&mut lines, rest, &HOSTILE);
        let lines = lines.as_array().cloned().unwrap_or_default();
        lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
    };
    let Ok(run) = parse_run(&file) else { return };
    let summary = summarize(&run);
    let shown = shown::of_summary(&summary);
    plain(&shown);
    let json = &shown.iter().find(|(form, _)| *form == "JSON").expect("a form").1;
    assert_eq!(serde_json::from_str::<Summary>(json).expect("its own JSON"), summary);
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    plain(&shown::of_comparison(&compare((HOSTILE[0], &run), (HOSTILE[1], &run), &options)));
}

/// A value of a schema with its first two bytes for the alternatives, changed as the others say.
fn changed(schema: &str, bytes: &[u8]) -> Option<Value> {
    let (pick, rest) = bytes.split_first()?;
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let mut value = made::value(&schema, usize::from(pick % 16), &mut |path| path.to_owned());
    edit(&mut value, rest, &HOSTILE);
    Some(value)
}

/// Shows a summary with any values in it, in every form.
pub fn check_summary(bytes: &[u8]) {
    let Some(value) = changed(SUMMARY, bytes).map(shown::mended) else { return };
    if let Ok(summary) = serde_json::from_value::<Summary>(value) {
        plain(&shown::of_summary(&summary));
    }
}

/// Shows a digest with any values in it, in every form. The text has at most 2,048 bytes.
pub fn check_digest(bytes: &[u8]) {
    let Some(value) = changed(DIGEST, bytes) else { return };
    if let Ok(digest) = serde_json::from_value::<Digest>(value) {
        let shown = shown::of_digest(&digest);
        plain(&shown);
        let text = &shown[0].1;
        assert!(text.len() <= 2_048, "{} bytes of text", text.len());
    }
}
