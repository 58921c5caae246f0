//! What the binary carries: the suites, and the probes that an interpreter runs. A test holds both lists to the
//! folders they come from.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name)))),*]
    };
}

macro_rules! suites {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../suites/", $name, ".toml")))),*]
    };
}

/// Name and text of each suite.
pub const SUITES: &[(&str, &str)] = suites!("fanout", "nop", "quick");

/// Path and text of each file of the Python probe.
pub const PYTHON_PROBE: &[(&str, &str)] = files!("probes/python/taskscale_probe":
    "__init__.py",
    "__main__.py",
    "runtimes.py",
    "sdk/__init__.py",
    "sdk/clock.py",
    "sdk/describe.py",
    "sdk/request.py",
    "sdk/serve.py",
    "sdk/timing.py",
    "workloads/__init__.py",
    "workloads/count.py",
    "workloads/fanout.py",
    "workloads/nop.py",
    "workloads/spin.py",
);

/// Lays the Python probe into the cache folder (into the temporary one where that cannot be written) and returns the
/// folder to hand to an interpreter. The folder's name is a hash of its content, so that versions do not mix.
pub fn python_probe() -> anyhow::Result<PathBuf> {
    let name = format!("python-{:016x}", content_hash(PYTHON_PROBE));
    let mut problems = Vec::new();
    for base in bases() {
        let folder = base.join("probes").join(&name).join("taskscale_probe");
        match lay(&folder, PYTHON_PROBE) {
            Ok(()) => return Ok(folder),
            Err(error) => problems.push(format!("{}: {error}", folder.display())),
        }
    }
    anyhow::bail!(
        "cannot lay the Python probe anywhere: {}; set XDG_CACHE_HOME to a folder that can be written",
        problems.join("; ")
    )
}

fn bases() -> Vec<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache =
        std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or_else(home);
    let temporary = std::env::temp_dir().join(format!("taskscale-{}", user()));
    cache.map(|cache| cache.join("taskscale")).into_iter().chain([temporary]).collect()
}

/// Part of the temporary folder's name, so that users of one machine do not meet in it.
fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "user".into())
}

/// Writes what is not there or differs. Each file appears whole or not at all: it is written beside and renamed.
fn lay(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)?;
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        file.persist(&path).map_err(|error| error.error)?;
    }
    Ok(())
}

/// FNV-1a over names and texts.
fn content_hash(files: &[(&str, &str)]) -> u64 {
    let bytes =
        files.iter().flat_map(|(name, text)| [name.as_bytes(), &[0], text.as_bytes(), &[0]]).flatten();
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(folder: &str, suffix: &str) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, suffix: &str, into: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path()) {
                if entry.is_dir() {
                    walk(&entry, root, suffix, into);
                } else if entry.to_string_lossy().ends_with(suffix) {
                    into.push(entry.strip_prefix(root).expect("below").to_string_lossy().into_owned());
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let mut names = Vec::new();
        walk(&root, &root, suffix, &mut names);
        names.sort();
        names
    }

    #[test]
    fn the_binary_carries_every_file_of_the_python_probe() {
        let mut carried: Vec<&str> = PYTHON_PROBE.iter().map(|(name, _)| *name).collect();
        carried.sort_unstable();
        assert_eq!(carried, listed("probes/python/taskscale_probe", ".py"));
    }

    #[test]
    fn the_binary_carries_every_suite() {
        let carried: Vec<String> = SUITES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        assert_eq!(carried, listed("suites", ".toml"));
    }

    #[test]
    fn a_file_that_was_changed_is_laid_again() {
        let folder = tempfile::tempdir().expect("folder");
        let files = [("a.py", "one"), ("b/c.py", "two")];
        lay(folder.path(), &files).expect("laid");
        fs::write(folder.path().join("a.py"), "changed").expect("changed");
        lay(folder.path(), &files).expect("laid again");
        assert_eq!(fs::read_to_string(folder.path().join("a.py")).expect("read"), "one");
        assert_eq!(fs::read_to_string(folder.path().join("b/c.py")).expect("read"), "two");
    }
}
