//! `taskscale list`: says what there is to run, and on what.

use std::{collections::BTreeSet, fmt::Write, path::Path};

use anyhow::bail;
use taskscale_bench::plan::Found;
use taskscale_model::{
    figure::count,
    params,
    plain::{clean, clean_lines, columns},
    protocol::{Description, OTHERS, Variant},
    suite::Suite,
};

use crate::{
    args::ListArgs,
    described::{self, Described},
    guide,
    interrupt::Interrupt,
    names,
    output::{Outcome, print},
    probes::build::Unwatched,
    progress::Building,
    run_file,
    runtimes::{self, Candidate, Standing},
    suites,
};

/// The most columns of a line; a longer one is broken.
const COLUMNS: usize = 80;

/// Prints a line for each suite and runtime; or everything about those that are named, and builds
/// no others.
pub fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    let known = suites::built_in()?;
    for name in &args.names {
        let is_suite = name == guide::NAME || known.iter().any(|suite| suite.name == *name);
        if !is_suite && !names::is_runtime(name) {
            if let Some(reader) = run_file::read_by(Path::new(name)) {
                bail!("{reader}; list takes suites and runtimes");
            }
            bail!("{}", names::no_suite_or_runtime(runtimes::split_id(name).0));
        }
    }
    let is_suite = |name: &&String| known.iter().any(|suite| suite.name == **name);
    let (claims, names): (Vec<&String>, Vec<&String>) =
        args.names.iter().partition(|name| *name == guide::NAME);
    let (named, mut asked): (Vec<&String>, Vec<&String>) = names.into_iter().partition(is_suite);
    asked.extend(&args.runtime);
    let asked: Vec<String> = asked.into_iter().cloned().collect();
    let in_full = !args.names.is_empty() || !args.runtime.is_empty();
    let mut text = String::new();
    if !in_full {
        text.push_str("Suites (taskscale run SUITE):\n");
        let width = widest(known.iter().map(|suite| &*suite.name));
        for suite in &known {
            let line = format!("  {:width$} {}", suite.name, suite.title);
            writeln!(text, "{}", hanging(&line, width + 3))?;
        }
        writeln!(text, "  {:width$} {}", guide::NAME, guide::TITLE)?;
        text.push('\n');
    }
    if !named.is_empty() {
        // What is built in says at once which variants it has; of others it is known since they
        // were last asked.
        let built_in = runtimes::known().filter(|name| runtimes::is_built_in(name)).map(runtimes::named);
        runtimes::shake_hands(built_in.collect::<anyhow::Result<_>>()?, None, &Unwatched);
    }
    let described = described::all();
    for suite in known.iter().filter(|suite| named.iter().any(|name| **name == suite.name)) {
        tables(&mut text, suite)?;
        ways(&mut text, suite, &described)?;
    }
    if !claims.is_empty() {
        text.push_str(&claims_of_guide()?);
    }
    if !in_full || !asked.is_empty() {
        runtimes(&mut text, &asked)?;
    }
    if !in_full {
        text.push_str("What is not built is built by its first run, which takes minutes then, or by:\n  taskscale setup NAME\n");
        text.push_str("In full, and what is missing: taskscale list NAME\n");
    }
    print(&clean_lines(&text))?;
    Ok(Outcome::Done)
}

/// Breaks a line of the full list. What follows stands four columns further in.
fn broken(text: &str) -> String {
    hanging(text, text.len() - text.trim_start().len() + 4)
}

/// Breaks a line at blanks, since a remedy is there to be copied. What follows stands at this
/// column.
fn hanging(text: &str, column: usize) -> String {
    let inner = " ".repeat(column.min(COLUMNS / 2));
    let options = textwrap::Options::new(COLUMNS).subsequent_indent(&inner).break_words(false);
    let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
    // What is not seen takes a column once it is a question mark.
    taskscale_report::lines(&clean(text), &options).join("\n")
}

/// What each claim of the guide says, and what the run of all takes.
fn claims_of_guide() -> anyhow::Result<String> {
    let programs = guide::programs::of(&[])?;
    let plan = guide::schedule::Plan::of(programs.len(), None, None);
    let mut text = format!("Suite {}: {}\n", guide::NAME, guide::TITLE);
    let mut claims: Vec<(u32, &str)> = programs
        .iter()
        .flat_map(|program| {
            program.claims.iter().map(|number| (*number, program.said_of(*number).unwrap_or_default()))
        })
        .collect();
    claims.sort_unstable();
    for (number, says) in claims {
        writeln!(text, "{}", hanging(&format!("{number:>4}  {says}"), 6))?;
    }
    let programs = programs.len();
    let (all, one) = (plan.budget_s, guide::schedule::Plan::of(1, None, None).budget_s);
    let words = [
        "What ends with a question mark is one: the guide claims nothing there.".to_owned(),
        format!(
            "taskscale run guide           {programs} programs, {:.0} minutes, and once a minute of compiling",
            all / 60.0
        ),
        format!("taskscale run guide --claim 28         the program of one claim, {one:.0} seconds"),
        "taskscale run guide --library onetbb   the claims that another library can be held to".to_owned(),
    ];
    for line in words {
        writeln!(text, "{}", hanging(&line, 6))?;
    }
    text.push('\n');
    Ok(text)
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
    Ok(())
}

/// The parts of a variant's name that say only which executor runs it.
const EXECUTORS: [&str; 2] = ["current_thread/", "multi_thread/"];

/// Writes the variants of a suite's workloads, of all runtimes that have answered on this machine.
fn ways(text: &mut String, suite: &Suite, described: &[Described]) -> std::fmt::Result {
    let workloads: BTreeSet<&str> = suite.workloads.iter().map(|block| block.name.as_str()).collect();
    for workload in workloads {
        let all = described.iter().flat_map(|one| &one.ways).filter(|(of, _)| of == workload);
        let short = |name: &'_ str| {
            let parts = EXECUTORS.iter().find_map(|part| name.strip_prefix(part));
            parts.unwrap_or(name).to_owned()
        };
        let names: BTreeSet<String> = all.map(|(_, name)| short(name)).collect();
        let names: Vec<String> = names.into_iter().collect();
        writeln!(text, "{}", broken(&format!("  variants of {workload}: {}", names.join(", "))))?;
    }
    text.push_str("  which of them a runtime has: taskscale list RUNTIME\n\n");
    Ok(())
}

/// Writes the runtimes that are asked for in full, or a line of each.
fn runtimes(text: &mut String, asked: &[String]) -> anyhow::Result<()> {
    let building = Building::new(Interrupt::listen()?);
    building.looks("looking for runtimes");
    let mut candidates = runtimes::candidates(asked, &[])?;
    building.expect(candidates.iter().filter(|candidate| candidate.asked && candidate.is_unbuilt()).count());
    for candidate in &mut candidates {
        match candidate.asked {
            true => candidate.prepare(&building),
            // Nobody waits for the build of what was not named, be it one anew.
            false => candidate.kept = false,
        }
    }
    let places: Vec<String> = candidates.iter().map(place).collect();
    text.push_str("Runtimes (taskscale run --runtime NAME):\n");
    let unbuilt: Vec<Option<String>> = candidates.iter().map(unbuilt).collect();
    building.looks("asking the runtimes what they are");
    let shaken = runtimes::shake_hands(candidates, None, &building);
    building.looked();
    let width = widest(shaken.iter().map(|one| &*one.found.id));
    for ((Found { id, asked, description, .. }, place), unbuilt) in
        shaken.iter().map(|one| &one.found).zip(places).zip(unbuilt)
    {
        let ready = |description: &Description| {
            let runtime = &description.runtime;
            let workers = match description.workers {
                None => String::new(),
                Some(1) => ", 1 worker".to_owned(),
                Some(workers) => format!(", {workers} workers"),
            };
            match asked {
                true => format!("ready      {} ({}{workers}){place}", runtime.version, runtime.toolchain),
                // Toolchain and place are in the full list.
                false => format!("ready      {}{workers}", runtime.version),
            }
        };
        let words = match (description, unbuilt) {
            (Ok(description), _) => ready(description),
            (Err(_), Some(version)) if !*asked => format!("not built  {version}"),
            (Err(_), Some(version)) => {
                format!(
                    "not built  {version}{place}; the first run builds it (minutes), or: taskscale setup {id}"
                )
            }
            (Err(missing), None) if !*asked => format!("missing    {}", missing.reason),
            (Err(missing), None) => format!("missing    {missing}"),
        };
        let line = match asked {
            true => broken(&format!("  {id:width$} {words}")),
            false => hanging(&format!("  {id:width$} {}", brief(&words)), width + 14),
        };
        writeln!(text, "{line}")?;
        if let (true, Ok(description)) = (*asked, description) {
            details(text, description)?;
        }
    }
    Ok(())
}

/// Leaves out what stands in brackets, such as the build of a compiler: it is in the full list.
fn brief(words: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for letter in words.chars() {
        match letter {
            '(' => {
                // A bracket stands after a blank, which belongs to it.
                kept.truncate(kept.trim_end().len());
                depth += 1;
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
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
        let width = workload.variants.iter().map(label).map(|label| columns(&label)).max().unwrap_or(0);
        let width = width.min(COLUMNS / 2);
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

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn what_stands_in_brackets_is_left_out() {
        for (words, kept) in [
            ("g++ (Debian 12.2.0-14) 12.2.0, Boost 1.74", "g++ 12.2.0, Boost 1.74"),
            ("4.5 (201511), libgomp", "4.5, libgomp"),
            ("cargo 1.95.0 (f2d3ce0bd 2026)", "cargo 1.95.0"),
            ("uvloop is not installed (3.11 (of pyenv), here)", "uvloop is not installed"),
            ("a) lone one", "a) lone one"),
        ] {
            assert_eq!(brief(words), kept);
        }
    }
}
