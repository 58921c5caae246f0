//! Candidates that are names: of suites, runtimes, variants, languages and baselines.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read},
    path::PathBuf,
};

use clap_complete::CompletionCandidate;
use taskscale_model::run_file::Record;

use crate::{baselines as kept, described, probes::languages, run_file, runtimes as found, suites};

/// What is read of a run file: its rows stand at its beginning.
const READ: u64 = 4 << 20;

/// A name with what it is, which zsh and fish show beside it.
pub fn candidate(name: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.to_owned().into()))
}

/// Runtimes that the tool knows, and toolchains of them that have answered here.
pub fn runtimes() -> Vec<CompletionCandidate> {
    let is_known = |id: &str| found::known().any(|known| known == found::split_id(id).0);
    let mut ids: Vec<String> = found::known().map(str::to_owned).collect();
    let described = described::all().into_iter().map(|one| one.runtime);
    ids.extend(described.filter(|id| id.contains('@') && !id.contains('#') && is_known(id)));
    ids.iter().map(|id| candidate(id, language(id))).collect()
}

/// Runtimes whose probe is linked into this binary.
pub fn built_in() -> Vec<CompletionCandidate> {
    taskscale_probe_rust::RUNTIMES.iter().map(|id| candidate(id, "")).collect()
}

/// Suites and runtimes, as `taskscale list` takes them.
pub fn names() -> Vec<CompletionCandidate> {
    let suites = suites::built_in().unwrap_or_default();
    suites.iter().map(|suite| candidate(&suite.name, &suite.title)).chain(runtimes()).collect()
}

/// Languages and runtimes, as `taskscale setup` takes them.
pub fn setups() -> Vec<CompletionCandidate> {
    let known: BTreeSet<&str> =
        languages::ALL.iter().flat_map(|language| language.runtimes).copied().collect();
    let built = found::known().filter(|id| known.contains(id)).map(|id| candidate(id, language(id)));
    let mut all = languages();
    let is_new = |id: &CompletionCandidate| all.iter().all(|other| other.get_value() != id.get_value());
    let built: Vec<CompletionCandidate> = built.filter(is_new).collect();
    all.extend(built);
    all
}

/// The languages that probes are written in.
pub fn languages() -> Vec<CompletionCandidate> {
    languages::ALL.iter().map(|language| candidate(language.name, "")).collect()
}

/// Variants of the runtimes that the line names, or of all: those that suites name, those of the
/// probe that is built in, and those of each probe that has answered on this machine.
pub fn variants() -> Vec<CompletionCandidate> {
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |variant: &str, runtime: &str| {
        by_name.entry(variant.to_owned()).or_default().insert(runtime.to_owned());
    };
    for suite in suites::built_in().unwrap_or_default() {
        for (runtime, variants) in &suite.baseline {
            // A baseline of another runtime bears its name: `tokio:spawn`.
            let own = variants.iter().filter(|variant| !variant.contains(':'));
            own.for_each(|variant| add(variant, runtime));
        }
    }
    for runtime in taskscale_probe_rust::RUNTIMES {
        taskscale_probe_rust::variants(runtime).for_each(|variant| add(&variant, runtime));
    }
    for one in described::all() {
        one.variants.iter().for_each(|variant| add(variant, &one.runtime));
    }
    of_named(by_name, &options_of_line(&["--runtime", "-r"]))
}

/// Variants with the runtimes that have them, of those named where any is.
fn of_named(variants: BTreeMap<String, BTreeSet<String>>, named: &[String]) -> Vec<CompletionCandidate> {
    let is_named = |runtime: &String| named.is_empty() || named.contains(runtime);
    let shown = variants.into_iter().filter(|(_, runtimes)| runtimes.iter().any(is_named));
    shown
        .map(|(variant, runtimes)| {
            candidate(&variant, &runtimes.into_iter().filter(is_named).collect::<Vec<_>>().join(", "))
        })
        .collect()
}

/// Baselines that were kept in this folder.
pub fn baselines() -> Vec<CompletionCandidate> {
    kept::names().iter().map(|name| candidate(name, "")).collect()
}

/// Runtimes with rows in the run file that the line names, or in the newest.
pub fn measured_runtimes() -> Vec<CompletionCandidate> {
    let runtimes: BTreeSet<String> = rows().into_iter().map(|(runtime, _)| runtime).collect();
    runtimes.iter().map(|runtime| candidate(runtime, "")).collect()
}

/// Variants with rows in the run file that the line names, or in the newest.
pub fn measured_variants() -> Vec<CompletionCandidate> {
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (runtime, variant) in rows() {
        by_name.entry(variant).or_default().insert(runtime);
    }
    of_named(by_name, &options_of_line(&["--runtime"]))
}

/// Runtime and variant of each row.
fn rows() -> Vec<(String, String)> {
    let named = of_line().into_iter().map(PathBuf::from).find(|path| run_file::is_a_run(path));
    let file = named.or_else(crate::store::newest).and_then(|path| std::fs::File::open(path).ok());
    let lines =
        file.into_iter().flat_map(|file| BufReader::new(file.take(READ)).lines().map_while(Result::ok));
    // Samples follow the rows of their cell, and are by far the most lines.
    let rows = lines.filter(|line| line.starts_with(r#"{"type":"row","#));
    rows.filter_map(|line| match serde_json::from_str(&line) {
        Ok(Record::Row(row)) => Some((row.key.runtime.clone(), row.key.variant.clone())),
        _ => None,
    })
    .collect()
}

/// What a runtime is written in, where its name does not say so.
fn language(id: &str) -> &'static str {
    let name = found::split_id(id).0;
    languages::of_runtime(name).map_or("rust", |language| language.name)
}

/// The words of the line that is completed.
pub fn of_line() -> Vec<String> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The values that the line gives to an option.
fn options_of_line(names: &[&str]) -> Vec<String> {
    options(&of_line(), names)
}

fn options(words: &[String], names: &[&str]) -> Vec<String> {
    let behind = words.windows(2).filter(|pair| names.contains(&&*pair[0])).map(|pair| pair[1].clone());
    let joined = words.iter().filter_map(|word| {
        names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    });
    behind.chain(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_found_in_both_forms() {
        let line = ["taskscale", "run", "-r", "go", "--runtime=java", "--variant", "x"].map(str::to_owned);
        assert_eq!(options(&line, &["--runtime", "-r"]), ["go", "java"]);
    }

    #[test]
    fn variants_are_those_of_the_runtimes_that_are_named() {
        let of = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        let all =
            BTreeMap::from([("spawn".into(), of(&["tokio", "smol"])), ("scope".into(), of(&["rayon"]))]);
        let shown = of_named(all.clone(), &["smol".into()]);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].get_value(), "spawn");
        assert_eq!(shown[0].get_help().map(ToString::to_string).as_deref(), Some("smol"));
        assert_eq!(of_named(all, &[]).len(), 2);
    }

    #[test]
    fn what_is_built_in_needs_no_probe() {
        let has = |all: Vec<CompletionCandidate>, name: &str| all.iter().any(|one| one.get_value() == name);
        assert!(has(runtimes(), "tokio") && has(runtimes(), "swift"));
        assert!(has(variants(), "multi_thread/JoinSet") && has(variants(), "nursery"));
        assert!(has(setups(), "python") && has(setups(), "uvloop") && !has(setups(), "tokio"));
        assert!(has(names(), "quick") && has(names(), "go"));
    }
}
