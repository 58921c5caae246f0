//! The folder in which built probes are kept, under the user's cache.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use taskscale_model::missing::Missing;

use super::build::Watch;
use crate::folders::UserFolder;

/// A folder in our cache, held against other processes of this tool until it is dropped.
#[derive(Debug)]
pub struct Held {
    pub path: PathBuf,
    /// Frees the lock when it is dropped.
    _lock: File,
}

/// Time between two looks at whether another process still holds a folder.
const LOOK: Duration = Duration::from_millis(50);

/// Time after which a wait is told: most others lay a few files and are gone.
const PATIENCE: Duration = Duration::from_millis(300);

/// The most bytes of a process's number.
const LONGEST_PID: u64 = 20;

/// Creates and holds the folder `name` (`probes/go-0123456789abcdef`) of `what`. A file or a link
/// of the user's in its place is removed, and told. Waits while another process holds it, and tells
/// so.
///
/// # Errors
/// The cache cannot be written, or is not the user's own; or the user asks to stop while it waits.
pub fn hold(name: &str, what: &str, watch: &dyn Watch) -> Result<Held, Missing> {
    let nowhere = |why: &str, remedy: String| Missing::new(format!("nothing can be built: {why}"), remedy);
    let cache = UserFolder::Cache;
    if let Some(was) = cache.clear(name) {
        watch.tells(&format!("{what} in the cache is damaged: {was}, and is removed; it is made anew"));
    }
    let path = cache.make(name).map_err(|missing| nowhere(&missing.reason, missing.remedy))?;
    let failed = |error: io::Error| nowhere(&format!("{}: {error}", path.display()), cache.remedy());
    let beside = lock_of(&path);
    if fs::symlink_metadata(&beside).is_ok_and(|about| !about.is_file()) {
        let shown = beside.display();
        return Err(nowhere(
            &format!("{shown} is to be a file that is locked, and is none"),
            format!("remove {shown}"),
        ));
    }
    let opened = File::options().create(true).read(true).append(true).open(&beside);
    let opened = opened.map_err(|error| match beside.symlink_metadata() {
        Ok(_) => nowhere(
            &format!("{}: {error}", beside.display()),
            format!("remove {}, which is only locked", beside.display()),
        ),
        Err(_) => failed(error),
    })?;
    match lock(opened, &path, what, watch).map_err(failed)? {
        Some(lock) => Ok(Held { path, _lock: lock }),
        None => Err(Missing::new(
            format!("interrupted while another taskscale built {what}"),
            "run it again when that one is done",
        )),
    }
}

/// Returns the path of `name`, if it was made. Creates nothing.
pub fn find(name: &str) -> Option<PathBuf> {
    UserFolder::Cache.find(name)
}

/// The lock of a folder lies beside it: the folder may be emptied while it is held.
fn lock_of(path: &Path) -> PathBuf {
    let mut beside = OsString::from(path);
    beside.push(".lock");
    beside.into()
}

/// Takes the lock of a folder; `None` where the user does not want to wait any longer.
fn lock(mut lock: File, path: &Path, what: &str, watch: &dyn Watch) -> io::Result<Option<File>> {
    let (began, mut told) = (Instant::now(), false);
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => (),
        }
        if watch.interrupted() {
            return Ok(None);
        }
        if !told && began.elapsed() >= PATIENCE {
            told = true;
            let who = holder(&lock).map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            watch.tells(&format!(
                "waiting for another taskscale that builds {what}{who}; Ctrl-C ends the wait"
            ));
        }
        thread::sleep(LOOK);
    }
    // Who waits reads whom for.
    lock.set_len(0)?;
    write!(lock, "{}", std::process::id())?;
    // This fails where the folder is on a file system that has become read-only.
    tempfile::tempfile_in(path)?;
    Ok(Some(lock))
}

/// Returns the process that wrote its number into a lock.
fn holder(mut lock: &File) -> Option<u32> {
    let mut text = String::new();
    lock.seek(io::SeekFrom::Start(0)).ok()?;
    lock.take(LONGEST_PID).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Reads a file of the cache, up to `most` bytes. What is no file is not opened: a pipe would let
/// the tool wait for ever.
///
/// # Errors
/// Those of the file system; `InvalidData` where it is no file, or no text.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// Removes what lies at `path`, whatever it is and with all that is below; of a link, the link.
/// What of it may not be read or written is opened to its owner first.
///
/// # Errors
/// Those of the file system. That nothing is there is none.
pub fn remove(path: &Path) -> io::Result<()> {
    let there = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if !there.is_dir() {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_to_owner(path)?;
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

fn open_to_owner(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_to_owner(&entry.path())?;
        }
    }
    Ok(())
}

/// Writes the files that are not there or differ. Each is written beside its place and renamed, so
/// that it appears whole or not at all.
///
/// # Errors
/// Those of the file system, with the path.
pub fn lay(folder: &Path, files: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if read(&path, text.len() as u64 + 1).is_ok_and(|there| there == *text) {
            continue;
        }
        write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Writes a file beside its place and renames it. A folder in its place is removed.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(text.as_bytes())?;
    if path.symlink_metadata().is_ok_and(|there| there.is_dir()) {
        remove(path)?;
    }
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
