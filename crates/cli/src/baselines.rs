//! Baselines: run files under a name, in the folder `.taskscale` of the user's repository.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// Lies within the current folder.
const FOLDER: &str = ".taskscale";

pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.taskscale.jsonl"))
}

/// Keeps a copy of a run file under a name, over the one of before, and returns a line that says
/// so. A reader sees the old file or the new one, never a part of either.
pub fn save(name: &str, run: &Path) -> anyhow::Result<String> {
    let path = path(name);
    let failed =
        || format!("cannot keep the baseline {}; the run itself is {}", path.display(), run.display());
    fs::create_dir_all(FOLDER).with_context(failed)?;
    let replaced = if path.exists() { ", over the one of before" } else { "" };
    let mut copy = tempfile::NamedTempFile::new_in(FOLDER).with_context(failed)?;
    // Writes into the file that is open: where others can write here, its name may be another's by
    // the time of the copy.
    io::copy(&mut File::open(run).with_context(failed)?, copy.as_file_mut()).with_context(failed)?;
    copy.persist(&path).map_err(|error| error.error).with_context(failed)?;
    Ok(format!("Baseline {name}: {}{replaced}", path.display()))
}

/// The names of the baselines that are there, for the message about one that is not.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".taskscale.jsonl")?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
