//! Candidates that are files, by the endings that a command takes.

use std::{ffi::OsStr, path::Path};

use clap_complete::{CompletionCandidate, PathCompleter, engine::ValueCompleter};
use taskscale_model::suite;

use super::words;
use crate::{commands::report::LAST, probes::languages, run_file, suites as plans};

/// Endings of what `taskscale digest` reads. It tells traces apart by their content, so others may
/// be typed out.
const TRACES: [&str; 6] = [".json", ".tfp", ".gz", ".zst", ".trace", ".ninja_log"];
/// Endings of what `taskscale report --output` writes.
const REPORTS: [&str; 6] = [".txt", ".md", ".json", ".csv", ".html", ".svg"];
/// Ending of run files.
const RUN: &str = ".jsonl";

/// Suites by name, and files that hold one.
pub fn suites(current: &OsStr) -> Vec<CompletionCandidate> {
    let known = plans::built_in().unwrap_or_default();
    let known = known.iter().map(|suite| words::candidate(&suite.name, &suite.title));
    // Most TOML files are something else.
    let is_suite = |path: &Path| {
        path.extension().is_some_and(|of| of == "toml") && run_file::begins_with(path, suite::SCHEMA)
    };
    let mut own = PathCompleter::any().filter(is_suite).complete(current);
    // Folders are in the way of who looks for a name.
    own.retain(|file| !current.is_empty() || !is_folder(file));
    with_names(known.collect(), current, own)
}

fn is_folder(file: &CompletionCandidate) -> bool {
    file.get_value().to_string_lossy().ends_with('/')
}

/// `last`, and run files.
pub fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let last = words::candidate(LAST, "the newest run");
    with_names(vec![last], current, files(current, &[RUN]))
}

/// Run files.
pub fn run_files(current: &OsStr) -> Vec<CompletionCandidate> {
    files(current, &[RUN])
}

/// What a run can be judged against: runtimes, and probes of the user's.
pub fn sides(current: &OsStr) -> Vec<CompletionCandidate> {
    with_names(words::runtimes(), current, probes(current))
}

/// Traces.
pub fn traces(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = files(current, &TRACES);
    if current.is_empty() {
        found.push(words::candidate("-", "standard input"));
    }
    found
}

/// Partial sums of digests.
pub fn partials(current: &OsStr) -> Vec<CompletionCandidate> {
    files(current, &[".partial"])
}

/// Probes of the user's, in the languages that are known.
pub fn probes(current: &OsStr) -> Vec<CompletionCandidate> {
    let endings: Vec<String> =
        languages::ALL.iter().map(|language| format!(".{}", language.extension)).collect();
    files(current, &endings.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Reports to write over.
pub fn reports(current: &OsStr) -> Vec<CompletionCandidate> {
    files(current, &REPORTS)
}

/// The names that begin as the current word does, before the files.
fn with_names(
    names: Vec<CompletionCandidate>,
    current: &OsStr,
    files: Vec<CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    let begin = current.to_string_lossy();
    let fits = |name: &CompletionCandidate| name.get_value().to_string_lossy().starts_with(&*begin);
    names.into_iter().filter(fits).chain(files).collect()
}

/// Files whose names have one of the endings, and folders.
fn files(current: &OsStr, endings: &[&str]) -> Vec<CompletionCandidate> {
    let endings: Vec<String> = endings.iter().map(|&ending| ending.to_owned()).collect();
    let is_wanted = move |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !path.is_dir() && endings.iter().any(|ending| name.ends_with(ending.as_str()))
    };
    PathCompleter::any().filter(is_wanted).complete(current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_offered_by_their_endings() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.json", "b.tfp", "c.txt", "d.taskscale.jsonl", "e.json.gz", "f.py", "g.toml"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        std::fs::write(folder.path().join("h.toml"), format!("schema = {:?}", suite::SCHEMA))
            .expect("written");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        let below = format!("{}/", folder.path().display());
        let names = |found: Vec<CompletionCandidate>| -> Vec<String> {
            let name = |one: &CompletionCandidate| one.get_value().to_string_lossy().replace(&below, "");
            found.iter().map(name).collect()
        };
        let current = OsStr::new(&below);
        assert_eq!(names(traces(current)), ["a.json", "b.tfp", "e.json.gz", "sub/"]);
        assert_eq!(names(runs(current)), ["d.taskscale.jsonl", "sub/"]);
        assert_eq!(names(probes(current)), ["f.py", "sub/"]);
        assert_eq!(names(suites(current)), ["h.toml", "sub/"]);
        assert_eq!(names(reports(current)), ["a.json", "c.txt", "sub/"]);
    }

    #[test]
    fn names_come_before_files() {
        let first = |found: Vec<CompletionCandidate>| found[0].get_value().to_string_lossy().into_owned();
        assert_eq!(first(runs(OsStr::new("la"))), LAST);
        assert_eq!(first(suites(OsStr::new("fan"))), "fanout");
    }
}
