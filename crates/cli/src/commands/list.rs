//! `taskscale list`: says what there is to run, and on what.

use std::{collections::BTreeSet, fmt::Write};

use anyhow::bail;
use taskscale_bench::plan::Found;
use taskscale_model::{
    figure::count,
    params,
    protocol::{Description, OTHERS, Variant},
    suite::Suite,
};

use crate::{
    args::ListArgs,
    interrupt::Interrupt,
    names,
    output::{Outcome, print},
    progress::Building,
    runtimes::{self, Candidate, Standing},
    suites,
};

/// The most columns of a line. The short list cuts its lines there, the full one breaks them.
const COLUMNS: usize = 80;

/// Prints a line for each suite and runtime; or everything about those that are named, and builds
/// no others.
pub fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    let known = suites::built_in()?;
    for name in &args.names {
        if !known.iter().any(|suite| suite.name == *name) && !names::is_runtime(name) {
            bail!("{}", names::no_suite_or_runtime(runtimes::split_id(name).0));
        }
    }
    let is_suite = |name: &&String| known.iter().any(|suite| suite.name == **name);
    let (named, mut asked): (Vec<&String>, Vec<&String>) = args.names.iter().partition(is_suite);
    asked.extend(&args.runtime);
    let asked: Vec<String> = asked.into_iter().cloned().collect();
    let in_full = !args.names.is_empty() || !args.runtime.is_empty();
    let mut text = String::new();
    if !in_full {
        text.push_str("Suites (taskscale run SUITE):\n");
        let width = widest(known.iter().map(|suite| &*suite.name));
        for suite in &known {
            writeln!(text, "{}", line(&format!("  {:width$} {}", suite.name, suite.title)))?;
        }
        text.push('\n');
    }
    for suite in known.iter().filter(|suite| named.iter().any(|name| **name == suite.name)) {
        tables(&mut text, suite)?;
    }
    if !in_full || !asked.is_empty() {
        runtimes(&mut text, &asked)?;
    }
    if !in_full {
        text.push_str("\nIn full: taskscale list NAME\n");
    }
    print(&text)?;
    Ok(Outcome::Done)
}

/// Cuts a line of the short list.
fn line(text: &str) -> String {
    match text.char_indices().nth(COLUMNS) {
        None => text.trim_end().to_owned(),
        Some(_) => text.chars().take(COLUMNS - 1).chain(['~']).collect(),
    }
}

/// Breaks a line of the full list at blanks alone, since a remedy is there to be copied. What
/// follows stands four columns further in.
fn broken(text: &str) -> String {
    let inner = " ".repeat(text.len() - text.trim_start().len() + 4);
    let options = textwrap::Options::new(COLUMNS).subsequent_indent(&inner).break_words(false);
    textwrap::wrap(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation)).join("\n")
}

/// Writes a suite with its tables.
fn tables(text: &mut String, suite: &Suite) -> std::fmt::Result {
    writeln!(text, "{}", broken(&format!("Suite {}: {}", suite.name, suite.title)))?;
    for block in &suite.workloads {
        let sizes: Vec<String> = block.sizes.iter().map(|size| count(*size)).collect();
        let extra = if block.extra { " [with --all]" } else { "" };
        writeln!(text, "{}", broken(&format!("  {}{extra}", block.title())))?;
        writeln!(text, "{}", broken(&format!("    n = {}", sizes.join("; "))))?;
    }
    text.push('\n');
    Ok(())
}

/// Writes the runtimes that are asked for in full, or a line of each.
fn runtimes(text: &mut String, asked: &[String]) -> anyhow::Result<()> {
    let mut candidates = runtimes::candidates(asked, &[])?;
    let interrupt = Interrupt::listen()?;
    let building = Building::new(interrupt.clone());
    building.expect(candidates.iter().filter(|candidate| candidate.asked && candidate.is_unbuilt()).count());
    for candidate in candidates.iter_mut().filter(|candidate| candidate.asked) {
        candidate.prepare(&building);
    }
    let places: Vec<String> = candidates.iter().map(place).collect();
    text.push_str("Runtimes (taskscale run --runtime NAME):\n");
    let unbuilt: Vec<Option<String>> = candidates.iter().map(unbuilt).collect();
    let shaken = runtimes::shake_hands(candidates, None, &|| interrupt.came());
    let width = widest(shaken.iter().map(|one| &*one.found.id));
    for ((Found { id, asked, description, .. }, place), unbuilt) in
        shaken.iter().map(|one| &one.found).zip(places).zip(unbuilt)
    {
        let words = match (description, unbuilt) {
            (Ok(description), _) => {
                let runtime = &description.runtime;
                let workers = match description.workers {
                    None => String::new(),
                    Some(1) => ", 1 worker".to_owned(),
                    Some(workers) => format!(", {workers} workers"),
                };
                format!("ready      {} ({}{workers}){place}", runtime.version, runtime.toolchain)
            }
            (Err(_), Some(version)) => {
                format!("not built  {version}{place}; built at its first use, or by: taskscale setup {id}")
            }
            (Err(missing), None) => format!("missing    {missing}"),
        };
        let words = format!("  {id:width$} {words}");
        writeln!(text, "{}", if *asked { broken(&words) } else { line(&words) })?;
        if let (true, Ok(description)) = (*asked, description) {
            details(text, description)?;
        }
    }
    Ok(())
}

/// Returns the number of characters of the longest name, which is the width of a column.
fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or_default()
}

/// Says where the toolchain is, or that the runtime is built in.
fn place(candidate: &Candidate) -> String {
    candidate
        .job
        .as_ref()
        .map_or_else(|| ", built in".to_owned(), |job| format!(", {}", job.toolchain.program()))
}

/// Returns the version of the toolchain that would build the probe, where it is not built.
fn unbuilt(candidate: &Candidate) -> Option<String> {
    match &candidate.standing {
        Standing::Unbuilt(job) => Some(job.toolchain.version.clone()),
        Standing::Ready(_) | Standing::Missing(_) => None,
    }
}

fn label(variant: &Variant) -> String {
    let task = if variant.creates_task { "" } else { " [no task]" };
    let state = if variant.unavailable.is_some() { " [unavailable]" } else { "" };
    format!("{}{task}{state}", variant.name)
}

/// Writes a line per variant and per parameter.
fn details(text: &mut String, description: &Description) -> std::fmt::Result {
    for workload in &description.workloads {
        writeln!(text, "    {}", workload.name)?;
        let width = workload.variants.iter().map(label).map(|label| label.len()).max().unwrap_or(0);
        for variant in &workload.variants {
            let only: Vec<String> = variant
                .only
                .iter()
                .map(|(name, values)| {
                    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                    format!("{name}: {}", values.join(", "))
                })
                .collect();
            let state =
                variant.unavailable.as_ref().map(|missing| format!(" -- {missing}")).unwrap_or_default();
            let line = format!("      {:width$} {}{state}", label(variant), only.join("; "));
            writeln!(text, "{}", broken(line.trim_end()))?;
        }
        for param in workload.params.iter() {
            let mut choices: Vec<String> = param.choices.iter().map(ToString::to_string).collect();
            let word = |word: &str| if word == OTHERS { "other values" } else { word }.to_owned();
            choices.extend(param.unavailable.keys().map(|known| format!("{} [unavailable]", word(known))));
            let choices =
                if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(", ")) };
            let reasons: BTreeSet<String> = param.unavailable.values().map(ToString::to_string).collect();
            let reasons: String = reasons.iter().map(|reason| format!(" -- {reason}")).collect();
            let default = params::label(&[(param.name.clone(), param.default.clone())].into());
            writeln!(
                text,
                "{}",
                broken(&format!("      --param {default}{choices}: {}{reasons}", param.help))
            )?;
        }
    }
    Ok(())
}
