//! The folder in which built probes are kept, under the user's cache.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use taskscale_model::missing::Missing;

use crate::folders::UserFolder;

/// A folder in our cache, held against other processes of this tool until it is dropped.
#[derive(Debug)]
pub struct Held {
    pub path: PathBuf,
    /// Frees the lock when it is dropped.
    _lock: File,
}

/// Creates and holds the folder `name` (`probes/go-0123456789abcdef`). Waits while another process
/// holds it.
///
/// # Errors
/// The cache cannot be written, or is not the user's own.
pub fn hold(name: &str) -> Result<Held, Missing> {
    let nowhere = |why: &str, remedy: String| Missing::new(format!("nothing can be built: {why}"), remedy);
    let cache = UserFolder::Cache;
    let path = cache.make(name).map_err(|missing| nowhere(&missing.reason, missing.remedy))?;
    let lock =
        lock(&path).map_err(|error| nowhere(&format!("{}: {error}", path.display()), cache.remedy()))?;
    Ok(Held { path, _lock: lock })
}

/// Returns the path of `name`, if it was made. Creates nothing.
pub fn find(name: &str) -> Option<PathBuf> {
    UserFolder::Cache.find(name)
}

fn lock(path: &Path) -> io::Result<File> {
    // The lock lies beside the folder, which may be emptied while it is held.
    let mut beside = OsString::from(path);
    beside.push(".lock");
    let lock = File::options().create(true).append(true).open(beside)?;
    lock.lock()?;
    // This fails where the folder is on a file system that has become read-only.
    tempfile::tempfile_in(path)?;
    Ok(lock)
}

/// Writes the files that are not there or differ. Each is written beside its place and renamed, so
/// that it appears whole or not at all.
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
