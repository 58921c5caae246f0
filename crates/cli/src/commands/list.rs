//! `taskscale list`: says what there is to run, and on what.

use std::fmt::Write;

use taskscale_bench::plan::Found;
use taskscale_model::{
    params,
    protocol::{Description, Variant},
};

use crate::{
    args::ListArgs,
    interrupt::Interrupt,
    output::{Outcome, print},
    progress::Building,
    runtimes::{self, Candidate, Standing},
    suites,
};

/// Prints the suites, then every runtime with its version, path, state and variants. Prints
/// everything about the runtimes that are named, and builds no others.
pub fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut candidates = runtimes::candidates(&args.runtime, &[])?;
    let building = Building::new(Interrupt::listen()?);
    for candidate in candidates.iter_mut().filter(|candidate| candidate.asked) {
        candidate.prepare(&building);
    }
    let places: Vec<String> = candidates.iter().map(place).collect();
    let mut text = String::new();
    if args.runtime.is_empty() {
        suites(&mut text)?;
    }
    text.push_str("Runtimes (taskscale run --runtime NAME):\n");
    let unbuilt: Vec<Option<String>> = candidates.iter().map(unbuilt).collect();
    let shaken = runtimes::shake_hands(candidates, None);
    let width = widest(shaken.iter().map(|one| &*one.found.id));
    for ((Found { id, asked, description, .. }, place), unbuilt) in
        shaken.iter().map(|one| &one.found).zip(places).zip(unbuilt)
    {
        match description {
            Ok(description) => {
                let runtime = &description.runtime;
                let workers = match description.workers {
                    None => String::new(),
                    Some(1) => ", 1 worker".to_owned(),
                    Some(workers) => format!(", {workers} workers"),
                };
                writeln!(
                    text,
                    "  {id:width$} ready          {} ({}{workers}){place}",
                    runtime.version, runtime.toolchain
                )?;
                if *asked {
                    details(&mut text, description)?
                } else {
                    variants(&mut text, width, description)?
                }
            }
            Err(missing) => match unbuilt {
                Some(version) => {
                    let how = format!("built at its first use, or by: taskscale setup {id}");
                    writeln!(text, "  {id:width$} not built yet  {version}{place}; {how}")?;
                }
                None => writeln!(text, "  {id:width$} missing        {missing}")?,
            },
        }
    }
    print(&text)?;
    Ok(Outcome::Done)
}

fn suites(text: &mut String) -> anyhow::Result<()> {
    text.push_str("Suites (taskscale run SUITE):\n");
    let suites = suites::built_in()?;
    let width = widest(suites.iter().map(|suite| &*suite.name));
    for suite in &suites {
        writeln!(text, "  {:width$} {}", suite.name, suite.title)?;
        for block in &suite.workloads {
            let sizes: Vec<String> = block.sizes.iter().map(u64::to_string).collect();
            writeln!(text, "  {:width$}   {} (n = {})", "", block.title(), sizes.join(", "))?;
        }
    }
    text.push('\n');
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

/// Writes a line per workload.
fn variants(text: &mut String, width: usize, description: &Description) -> std::fmt::Result {
    for workload in &description.workloads {
        let names: Vec<String> = workload.variants.iter().map(label).collect();
        writeln!(text, "  {:width$}   {}: {}", "", workload.name, names.join(", "))?;
    }
    Ok(())
}

/// Writes a line per variant and per parameter.
fn details(text: &mut String, description: &Description) -> std::fmt::Result {
    for workload in &description.workloads {
        writeln!(text, "    {}", workload.name)?;
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
            let line = format!("      {:32} {}{state}", label(variant), only.join("; "));
            writeln!(text, "{}", line.trim_end())?;
        }
        for param in workload.params.iter() {
            let choices: Vec<String> = param.choices.iter().map(ToString::to_string).collect();
            let choices =
                if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(", ")) };
            let default = params::label(&[(param.name.clone(), param.default.clone())].into());
            writeln!(text, "      --param {default}{choices}: {}", param.help)?;
        }
    }
    Ok(())
}
