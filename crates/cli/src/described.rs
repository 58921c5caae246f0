//! Keeps which variants each probe said it has, so that completions and `taskscale list SUITE` know
//! them without starting it: a small file for each runtime in the cache, written after a handshake.

use std::{collections::BTreeSet, fs, path::Path};

use taskscale_model::protocol::Description;

use crate::{
    folders::UserFolder,
    probes::{cache, embedded},
};

/// The folder in the cache.
const FOLDER: &str = "described";
/// The most files that are read, and bytes of each: a machine has some twenty runtimes, with some
/// 100 bytes each.
const FILES: usize = 200;
const BYTES: u64 = 64 << 10;

/// A runtime that answered, by the name under which a run has it, and its variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    pub runtime: String,
    pub variants: Vec<String>,
    /// Each workload with each of its variants.
    pub ways: Vec<(String, String)>,
}

/// Stands between a workload and its variant.
const BETWEEN: char = '\t';

/// Keeps what a probe said. That it cannot be kept harms only completions.
pub fn keep(runtime: &str, description: &Description) {
    if let Ok(folder) = UserFolder::Cache.make(FOLDER) {
        keep_in(&folder, runtime, description).ok();
    }
}

fn keep_in(folder: &Path, runtime: &str, description: &Description) -> std::io::Result<()> {
    let workloads = description.workloads.iter();
    let ways = workloads.flat_map(|workload| {
        let of = |name: &str| format!("{}{BETWEEN}{}", workload.name.trim(), name.trim());
        workload.variants.iter().map(move |variant| of(&variant.name))
    });
    let ways: BTreeSet<String> = ways.collect();
    let lines = std::iter::once(runtime.trim()).chain(ways.iter().map(String::as_str));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let path = folder.join(format!("{:016x}", embedded::content_hash([runtime])));
    // What is no small file is replaced unread: a pipe would let the tool wait for ever.
    if cache::read(&path, BYTES).is_ok_and(|before| before == text) {
        return Ok(());
    }
    // Whoever reads sees all of it or nothing of it.
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), text)?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns what was kept.
pub fn all() -> Vec<Described> {
    UserFolder::Cache.find(FOLDER).map(|folder| all_of(&folder)).unwrap_or_default()
}

fn all_of(folder: &Path) -> Vec<Described> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_small = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|of| of.is_file() && of.len() <= BYTES);
    let texts =
        entries.filter(is_small).take(FILES).filter_map(|entry| cache::read(&entry.path(), BYTES).ok());
    let described = texts.filter_map(|text| {
        let mut lines = text.lines();
        let runtime = lines.next()?.to_owned();
        // A line without a workload is of a version before.
        let (ways, alone): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains(BETWEEN));
        let ways = ways.into_iter().filter_map(|line| line.split_once(BETWEEN));
        let ways: Vec<(String, String)> = ways.map(|(of, name)| (of.to_owned(), name.to_owned())).collect();
        let names = ways.iter().map(|(_, name)| name.as_str()).chain(alone);
        let variants: BTreeSet<String> = names.map(str::to_owned).collect();
        Some(Described { runtime, variants: variants.into_iter().collect(), ways })
    });
    let mut all: Vec<Described> = described.collect();
    all.sort_by(|a, b| a.runtime.cmp(&b.runtime));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_probe_says_is_kept_and_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = |variants: &[&str]| -> Description {
            let variants: Vec<_> =
                variants.iter().map(|name| serde_json::json!({"name": name, "creates_task": true})).collect();
            serde_json::from_value(serde_json::json!({
                "protocol": 1, "runtime": {"name": "mine", "language": "go", "version": "1"},
                "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
                "workloads": [{"name": "fanout", "variants": variants}],
            }))
            .expect("a description")
        };
        keep_in(folder.path(), "mine@/opt/go", &said(&["b", "a", "b"])).expect("kept");
        keep_in(folder.path(), "other", &said(&[])).expect("kept");
        let mine =
            |all: Vec<Described>| all.into_iter().find(|one| one.runtime == "mine@/opt/go").expect("kept");
        assert_eq!(mine(all_of(folder.path())).variants, ["a", "b"]);
        let ways = ["a", "b"].map(|name| ("fanout".to_owned(), name.to_owned()));
        assert_eq!(mine(all_of(folder.path())).ways, ways);
        keep_in(folder.path(), "mine@/opt/go", &said(&["c"])).expect("kept");
        assert_eq!(mine(all_of(folder.path())).variants, ["c"]);
        assert_eq!(all_of(folder.path()).len(), 2);
        // A file of 8 TB without bytes on the disk, and a link to what has no end.
        for spoil in [
            |path: &Path| fs::File::create(path)?.set_len(1 << 43),
            |path: &Path| {
                fs::remove_file(path)?;
                std::os::unix::fs::symlink("/dev/zero", path)
            },
        ] {
            let path = folder.path().join(format!("{:016x}", embedded::content_hash(["mine@/opt/go"])));
            spoil(&path).expect("spoilt");
            assert_eq!(all_of(folder.path()).len(), 1);
            keep_in(folder.path(), "mine@/opt/go", &said(&["c"])).expect("kept");
            assert_eq!(mine(all_of(folder.path())).variants, ["c"]);
        }
    }
}
