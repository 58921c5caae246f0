//! Baselines: run files under a name, in the folder `.taskscale` of the user's repository.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// The folder, within the current one.
const FOLDER: &str = ".taskscale";

/// Where a baseline is kept.
pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.taskscale.jsonl"))
}

/// Keeps a copy of a run file under a name, over the one of before; says so in a line. A reader
/// sees the one or the other, never a part.
pub fn save(name: &str, run: &Path) -> anyhow::Result<String> {
    let path = path(name);
    let failed =
        || format!("cannot keep the baseline {}; the run itself is {}", path.display(), run.display());
    fs::create_dir_all(FOLDER).with_context(failed)?;
    let replaced = if path.exists() { ", over the one of before" } else { "" };
    let mut copy = tempfile::NamedTempFile::new_in(FOLDER).with_context(failed)?;
    // Into the file that is open: its name may be another's by now, where others can write here.
    io::copy(&mut File::open(run).with_context(failed)?, copy.as_file_mut()).with_context(failed)?;
    copy.persist(&path).map_err(|error| error.error).with_context(failed)?;
    Ok(format!("Baseline {name}: {}{replaced}", path.display()))
}

/// The baselines that are there, for whoever asks for another one.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".taskscale.jsonl")?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
