//! `taskscale list`: what there is to run, and on what.

use std::fmt::Write;

use taskscale_bench::plan::Found;
use taskscale_model::{params, protocol::Description};

use crate::{
    args::ListArgs,
    output::{Outcome, print},
    runtimes, suites,
};

/// Prints suites, then runtimes with their workloads and variants, then what is missing and how to get it.
pub fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    let shaken = runtimes::shake_hands(runtimes::candidates(&args.runtime, &[])?);
    let mut text = String::from("Suites (taskscale run SUITE):\n");
    for suite in suites::built_in()? {
        writeln!(text, "  {:10} {}", suite.name, suite.title)?;
        for block in &suite.workloads {
            let sizes: Vec<String> = block.sizes.iter().map(u64::to_string).collect();
            writeln!(text, "  {:10}   {} (n = {})", "", block.title(), sizes.join(", "))?;
        }
    }
    text.push_str("\nRuntimes found here:\n");
    for Found { id, description, .. } in shaken.iter().map(|one| &one.found) {
        if let Ok(description) = description {
            describe(&mut text, id, description)?;
        }
    }
    let missing: Vec<_> = shaken
        .iter()
        .filter_map(|one| Some((&one.found.id, one.found.description.as_ref().err()?)))
        .collect();
    if !missing.is_empty() {
        text.push_str("\nNot here:\n");
        for (id, missing) in missing {
            writeln!(text, "  {id:10} {missing}")?;
        }
    }
    print(&text)?;
    Ok(Outcome::Done)
}

fn describe(text: &mut String, id: &str, description: &Description) -> std::fmt::Result {
    let runtime = &description.runtime;
    let workers = match description.workers {
        None => String::new(),
        Some(1) => ", 1 worker".to_owned(),
        Some(workers) => format!(", {workers} workers"),
    };
    writeln!(text, "  {id} {} ({}{workers})", runtime.version, runtime.toolchain)?;
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
            let task = if variant.creates_task { "" } else { " [no task]" };
            let state =
                variant.unavailable.as_ref().map(|missing| format!(" -- {missing}")).unwrap_or_default();
            let line = format!("      {:32}{task} {}{state}", variant.name, only.join("; "));
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
