//! Keeps raw samples in the file that was named, else in a new one in the state folder.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context, bail};

use taskscale_model::run_file::redact::Redactor;

use crate::folders::UserFolder;

/// A run file, open for appending.
#[derive(Debug)]
pub struct RunFile {
    /// It is not buffered: each record is one write.
    pub file: File,
    pub path: PathBuf,
}

/// Creates the run file. An existing one is never written over: raw samples cannot be had again.
pub fn create(asked: Option<&Path>, suites: &str, started_unix_s: u64) -> anyhow::Result<RunFile> {
    if let Some(path) = asked {
        return open_new(path);
    }
    let folder = UserFolder::State.make("runs").map_err(|missing| {
        anyhow::anyhow!(
            "there is nowhere to keep the run file: {}; {}, or name the file: --output FILE",
            missing.reason,
            missing.remedy
        )
    })?;
    open_new(&folder.join(default_name(suites, started_unix_s)))
}

/// Endings of what `taskscale report` writes and a run does not.
const SHOWN: [&str; 5] = ["html", "htm", "md", "csv", "svg"];

/// Refuses a name that only a report has.
///
/// # Errors
/// It has such an ending.
pub fn suits(asked: Option<&Path>) -> anyhow::Result<()> {
    let Some((path, end)) = asked.and_then(|path| Some((path, path.extension()?.to_str()?))) else {
        return Ok(());
    };
    if SHOWN.contains(&end.to_lowercase().as_str()) {
        bail!(
            "{0}: a run keeps raw samples, which are no {end}; run without -o, then: \
             taskscale report last -o {0}",
            path.display()
        );
    }
    Ok(())
}

/// Leaves home folders, this user's name and secrets out of a run file.
pub fn redactor() -> Redactor {
    let variable = |name: &str| std::env::var(name).ok();
    Redactor::new(variable("HOME").as_deref(), variable("USER").or_else(|| variable("LOGNAME")).as_deref())
}

/// The newest run file of the state folder. The names sort by time.
pub fn newest() -> Option<PathBuf> {
    let folder = UserFolder::State.find("runs")?;
    let entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_run = |path: &PathBuf| path.to_string_lossy().ends_with(".taskscale.jsonl");
    entries.filter(is_run).max()
}

fn open_new(path: &Path) -> anyhow::Result<RunFile> {
    let file = OpenOptions::new().append(true).create_new(true).open(path);
    let file = file.with_context(|| match path.exists() {
        true if path.is_file() => format!("{} exists; choose another name or remove it", path.display()),
        true => format!("{} exists and is no file; choose another name", path.display()),
        false => format!("cannot write the run file {}", path.display()),
    })?;
    Ok(RunFile { file, path: path.to_owned() })
}

/// Names like `2026-11-20T10-07-47Z-quick-4242.taskscale.jsonl` sort by time. Two runs of one
/// second differ by the process's number.
fn default_name(suites: &str, started_unix_s: u64) -> String {
    let time =
        humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(started_unix_s)).to_string();
    format!("{}-{suites}-{}.taskscale.jsonl", time.replace(':', "-"), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_file_is_never_written_over() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.taskscale.jsonl");
        create(Some(&path), "quick", 0).expect("new");
        let error = format!("{:#}", create(Some(&path), "quick", 0).expect_err("exists"));
        assert!(error.contains("exists; choose another name"), "{error}");
    }

    #[test]
    fn names_sort_by_time() {
        assert!(default_name("quick", 1_795_169_267).starts_with("2026-11-20T10-07-47Z-quick-"));
    }
}
