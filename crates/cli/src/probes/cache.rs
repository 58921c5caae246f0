//! The folder in which built probes are kept: under the user's cache, or the temporary folder where that cannot be
//! written.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use taskscale_model::missing::Missing;

/// A folder of ours, held against other processes of this tool until it is dropped.
#[derive(Debug)]
pub struct Held {
    /// The folder.
    pub path: PathBuf,
    /// Its lock is freed with the file.
    _lock: File,
}

/// Creates and holds the folder `name` (`probes/go-0123456789abcdef`); waits while another process holds it.
///
/// # Errors
/// When neither cache nor temporary folder can be written; both are named.
pub fn hold(name: &str) -> Result<Held, Missing> {
    let mut problems = Vec::new();
    for base in bases() {
        let path = base.join(name);
        match try_hold(&path) {
            Ok(lock) => return Ok(Held { path, _lock: lock }),
            Err(error) => problems.push(format!("{}: {error}", path.display())),
        }
    }
    Err(Missing::new(
        format!("nothing can be built: {}", problems.join("; ")),
        "set XDG_CACHE_HOME to a folder that can be written",
    ))
}

/// Where `name` is, if it was made; nothing is created.
pub fn find(name: &str) -> Option<PathBuf> {
    bases().into_iter().map(|base| base.join(name)).find(|path| path.is_dir())
}

fn try_hold(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path)?;
    // The lock lies beside the folder, which may be emptied while it is held. Opening it for writing is also the proof
    // that the folder is not read-only.
    let lock = File::options().create(true).append(true).open(path.with_extension("lock"))?;
    lock.lock()?;
    tempfile::tempfile_in(path)?;
    Ok(lock)
}

/// The user's cache folder, then the temporary one.
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

/// Writes the files that are not there or differ. Each appears whole or not at all: it is written beside and renamed.
///
/// # Errors
/// Those of the file system, with the path.
pub fn lay(folder: &Path, files: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        lay_one(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn lay_one(path: &Path, text: &str) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
