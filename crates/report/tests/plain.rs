//! Text of others is plain wherever it is shown: one hostile text in every place that the schemas
//! have for a text, through every form.

mod common;

use std::collections::BTreeSet;

use common::shown::{self, Form};
use serde::de::DeserializeOwned;
use serde_json::Value;
use taskscale_model::{
    compare::Comparison, digest::Digest, doctor::Checkup, guide::Verdicts, summary::Summary,
};
use taskscale_testkit::made::{self, HOSTILE};

const SUMMARY: &str = include_str!("../../../schemas/summary.schema.json");
const COMPARE: &str = include_str!("../../../schemas/compare.schema.json");
const DOCTOR: &str = include_str!("../../../schemas/doctor.schema.json");
const VERDICTS: &str = include_str!("../../../schemas/guide-verdicts.schema.json");
const DIGEST: &str = include_str!("../../../schemas/digest.schema.json");

/// Alternatives of the schemas that are tried. A list goes on from its place, so that six picks see
/// all of eight.
const PICKS: usize = 6;

/// The text at a place: hostile, unless the place holds a word of a fixed list.
fn placed(path: &str, text: &str) -> String {
    // The second member of a map has another name.
    if path.ends_with("1#") { format!("{text}2") } else { text.to_owned() }
}

/// The place without the numbers of lists.
fn shape(path: &str) -> String {
    let part =
        |part: &str| if part.chars().all(|c| c.is_ascii_digit()) { "*".to_owned() } else { part.to_owned() };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Shows what the schema allows, with each hostile text in all places; where that is not plain,
/// with the text in one place after another, which names the places. Returns the places.
fn walk<T: DeserializeOwned>(schema: &str, forms: &[Form<T>]) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let (mut seen, mut read, mut problems) = (BTreeSet::new(), 0, BTreeSet::new());
    let mut refused = BTreeSet::new();
    for pick in 0..PICKS {
        for hostile in HOSTILE {
            let mut places = BTreeSet::new();
            let value = made::value(&schema, pick, &mut |path| {
                places.insert(shape(path));
                placed(path, hostile)
            });
            let value = match serde_json::from_value::<T>(shown::mended(value)) {
                Ok(value) => value,
                Err(error) => {
                    refused.insert(error.to_string());
                    continue;
                }
            };
            read += 1;
            if !shown::problems(forms, &value).is_empty() {
                for place in &places {
                    let value = made::value(&schema, pick, &mut |path| {
                        placed(path, if shape(path) == *place { hostile } else { "plain" })
                    });
                    let Ok(value) = serde_json::from_value::<T>(shown::mended(value)) else { continue };
                    problems.extend(
                        shown::problems(forms, &value).into_iter().map(|what| format!("{place}: {what}")),
                    );
                }
                assert!(!problems.is_empty(), "{:?}", shown::problems(forms, &value));
            }
            seen.extend(places);
        }
    }
    assert!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(read >= HOSTILE.len(), "only {read} values are read: {refused:?}");
    seen
}

#[test]
fn of_a_summary() {
    walk::<Summary>(SUMMARY, &shown::SUMMARY);
}

#[test]
fn of_a_comparison() {
    walk::<Comparison>(COMPARE, &shown::COMPARISON);
}

#[test]
fn of_a_checkup() {
    walk::<Checkup>(DOCTOR, &shown::CHECKUP);
}

#[test]
fn of_verdicts_on_the_guide() {
    walk::<Verdicts>(VERDICTS, &shown::VERDICTS);
}

#[test]
fn of_a_digest() {
    walk::<Digest>(DIGEST, &shown::DIGEST);
}
