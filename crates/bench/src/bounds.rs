//! How much a probe may say. All of it is kept for the whole run, in memory and in the run file,
//! for each row again.

use std::collections::BTreeSet;

use taskscale_model::{
    missing::Missing,
    protocol::{Description, Param, Sample, Variant, Workload},
};

use crate::fault::Fault;

/// The most variants of all workloads together. The probe with most has 160.
pub const MOST_VARIANTS: usize = 2_000;
/// The most workloads.
const MOST_WORKLOADS: usize = 100;
/// The most parameters of a workload, and the most words of one.
const MOST_PARAMS: usize = 100;
/// The longest name or word, in bytes. Variants are named by what they call: 50 bytes.
const LONGEST_NAME: usize = 200;
/// The longest text for people, in bytes.
const LONGEST_TEXT: usize = 4_000;
/// The most bytes of what a sample tells beside its times. 1,000 workers tell 40 kB of their own.
const LONGEST_EXTRA: usize = 128 << 10;

/// Refuses a description that is out of all proportion, before anything is made of it.
pub fn description(description: &Description) -> Result<(), Fault> {
    let runtime = &description.runtime;
    for text in [&runtime.name, &runtime.language] {
        name("a runtime's name or language", text)?;
    }
    for words in [&runtime.version, &runtime.toolchain] {
        text("a version or toolchain", words)?;
    }
    few("workloads", description.workloads.len(), MOST_WORKLOADS)?;
    few("variants", description.workloads.iter().map(|one| one.variants.len()).sum(), MOST_VARIANTS)?;
    description.workloads.iter().try_for_each(workload)?;
    once("the workload", description.workloads.iter().map(|one| &*one.name))?;
    description.workloads.iter().try_for_each(|one| {
        once("the variant", one.variants.iter().map(|one| &*one.name))?;
        once("the parameter", one.params.iter().map(|one| &*one.name))
    })
}

/// Refuses a name that stands for two things: a request could mean either.
fn once<'d>(what: &'static str, names: impl Iterator<Item = &'d str>) -> Result<(), Fault> {
    let mut known = BTreeSet::new();
    match names.into_iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(Fault::Twice { what, name: name.to_owned() }),
        None => Ok(()),
    }
}

/// Refuses a sample that is as large.
pub fn sample(sample: &Sample) -> Result<(), Fault> {
    if sample.extra.is_empty() {
        return Ok(());
    }
    let bytes = serde_json::to_vec(&sample.extra).map_or(usize::MAX, |bytes| bytes.len());
    few("bytes of `extra` in a sample", bytes, LONGEST_EXTRA)
}

/// The beginning of a message, which may be of any length.
pub fn message(mut message: String) -> String {
    if message.len() > LONGEST_TEXT {
        let end = (0..=LONGEST_TEXT).rev().find(|end| message.is_char_boundary(*end));
        message.truncate(end.unwrap_or(0));
        message.push_str(" ...");
    }
    message
}

fn workload(workload: &Workload) -> Result<(), Fault> {
    name("a workload's name", &workload.name)?;
    few("parameters of a workload", workload.params.len(), MOST_PARAMS)?;
    workload.params.iter().try_for_each(param)?;
    workload.variants.iter().try_for_each(variant)
}

fn param(param: &Param) -> Result<(), Fault> {
    name("a parameter's name", &param.name)?;
    text("the help of a parameter", &param.help)?;
    few("words of a parameter", param.choices.len().max(param.unavailable.len()), MOST_PARAMS)?;
    for word in param.choices.iter().chain([&param.default]) {
        name("a word of a parameter", &word.to_string())?;
    }
    param.unavailable.iter().try_for_each(|(word, why)| {
        name("a word of a parameter", word)?;
        missing(why)
    })
}

fn variant(variant: &Variant) -> Result<(), Fault> {
    name("a variant's name", &variant.name)?;
    text("the note of a variant", &variant.note)?;
    few("parameters of a variant", variant.only.len(), MOST_PARAMS)?;
    for (param, words) in &variant.only {
        name("a parameter's name", param)?;
        few("words of a parameter", words.len(), MOST_PARAMS)?;
        words.iter().try_for_each(|word| name("a word of a parameter", &word.to_string()))?;
    }
    variant.unavailable.iter().try_for_each(missing)
}

fn missing(why: &Missing) -> Result<(), Fault> {
    text("a reason", &why.reason)?;
    text("a remedy", &why.remedy)
}

fn name(what: &str, text: &str) -> Result<(), Fault> {
    few(&format!("bytes of {what}"), text.len(), LONGEST_NAME)
}

fn text(what: &str, text: &str) -> Result<(), Fault> {
    few(&format!("bytes of {what}"), text.len(), LONGEST_TEXT)
}

fn few(what: &str, count: usize, most: usize) -> Result<(), Fault> {
    match count > most {
        true => Err(Fault::Excess { what: what.to_owned(), count, most }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut serde_json::Value)) -> Result<(), String> {
        let mut value = serde_json::json!({
            "protocol": 1, "runtime": {"name": "r", "language": "l", "version": "1"},
            "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
            "workloads": [{"name": "w", "params": [{"name": "p", "default": "a", "choices": ["a"]}],
                "variants": [{"name": "v", "creates_task": false, "only": {"p": ["a"]}}]}],
        });
        change(&mut value);
        description(&serde_json::from_value(value).expect("a description")).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_name_stands_for_one_thing() {
        for (list, said) in [
            ("/workloads", r#"describes the workload "w" twice"#),
            ("/workloads/0/variants", r#"describes the variant "v" twice"#),
            ("/workloads/0/params", r#"describes the parameter "p" twice"#),
        ] {
            let twice = with(|one| {
                let list = one.pointer_mut(list).and_then(|list| list.as_array_mut()).expect("a list");
                list.push(list[0].clone());
            });
            assert_eq!(twice, Err(said.to_owned()));
        }
    }

    #[test]
    fn what_is_out_of_proportion_is_named() {
        assert_eq!(with(|_| ()), Ok(()));
        let long = "x".repeat(5_000);
        type Change<'a> = Box<dyn FnOnce(&mut serde_json::Value) + 'a>;
        let variants = |n: usize| -> Vec<serde_json::Value> {
            (0..n).map(|n| serde_json::json!({"name": format!("v{n}"), "creates_task": false})).collect()
        };
        assert_eq!(with(|one| one["workloads"][0]["variants"] = variants(2_000).into()), Ok(()));
        let cases: Vec<(&str, Change<'_>)> = vec![
            ("15000 variants", Box::new(|one| one["workloads"][0]["variants"] = variants(15_000).into())),
            (
                "a variant's name",
                Box::new(|one| one["workloads"][0]["variants"][0]["name"] = long.as_str().into()),
            ),
            (
                "the note of a variant",
                Box::new(|one| one["workloads"][0]["variants"][0]["note"] = long.as_str().into()),
            ),
            (
                "a word of a parameter",
                Box::new(|one| one["workloads"][0]["params"][0]["default"] = long.as_str().into()),
            ),
            (
                "the help of a parameter",
                Box::new(|one| one["workloads"][0]["params"][0]["help"] = long.as_str().into()),
            ),
            (
                "words of a parameter",
                Box::new(|one| one["workloads"][0]["variants"][0]["only"]["p"] = vec!["a"; 101].into()),
            ),
            ("a workload's name", Box::new(|one| one["workloads"][0]["name"] = long.as_str().into())),
            ("a version or toolchain", Box::new(|one| one["runtime"]["toolchain"] = long.as_str().into())),
        ];
        for (words, change) in cases {
            let said = with(change).expect_err(words);
            assert!(said.contains(words) && said.len() < 200, "{words}: {said}");
        }
    }

    #[test]
    fn a_sample_and_a_message_are_bounded() {
        let of = |bytes: usize| {
            let extra = serde_json::json!({"x": "y".repeat(bytes)});
            let extra = extra.as_object().cloned().unwrap_or_default();
            sample(&Sample {
                id: None,
                wall_ns: 1,
                cpu_ns: 1,
                answer: taskscale_model::protocol::Answer(0),
                extra,
            })
        };
        assert_eq!(of(100_000), Ok(()));
        assert!(of(200_000).is_err());
        assert_eq!(message("short".into()), "short");
        assert!(message("\u{e9}".repeat(100_000)).len() <= LONGEST_TEXT + 4);
    }
}
