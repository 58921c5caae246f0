//! Folders that are one's own: nobody else can put a file into one, or another folder in its place.
//!
//! What is executed or appended to without a look at its content lies in such a folder. The superuser is trusted: who has
//! those rights needs no trick.

use std::{
    fs::{self, DirBuilder, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::ffi;

/// Why a folder cannot be trusted, or not be had.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is none yet.
    #[error("{0} is not there")]
    Absent(PathBuf),
    /// A link may lead elsewhere tomorrow.
    #[error("{0} is a symbolic link")]
    Link(PathBuf),
    /// Something else has its name.
    #[error("{0} is not a folder")]
    NoFolder(PathBuf),
    /// Somebody else's.
    #[error("{path} belongs to user {owner} and not to user {user}, who runs this")]
    Foreign {
        /// The folder, or one above it.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// Others may write into it.
    #[error("{path} can be written by others (mode {mode:03o})")]
    Shared {
        /// The folder, or one above it.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The system's word.
    #[error("{0}: {1}")]
    System(PathBuf, io::Error),
}

/// Write permission of the group and of all.
const WRITE_BY_GROUP: u32 = 0o020;
const WRITE_BY_ALL: u32 = 0o002;
/// In a folder with this bit only its owner and the owner of an entry rename or remove the entry (`/tmp`).
const STICKY: u32 = 0o1000;

/// Makes `folder` and those above it that are missing, with mode 0700, or looks at the one that is there. Returns its path
/// without links. A folder that is the user's and that others can read but not write is closed to them.
///
/// # Errors
/// A folder that is not one's own, with the reason; those of the file system.
pub fn make(folder: &Path) -> Result<PathBuf, Refusal> {
    make_for(folder, ffi::effective_user())
}

/// The path without links of a folder of one's own that is there; nothing is made or changed.
///
/// # Errors
/// As [`make`], and [`Refusal::Absent`].
pub fn find(folder: &Path) -> Result<PathBuf, Refusal> {
    find_for(folder, ffi::effective_user())
}

fn make_for(folder: &Path, user: u32) -> Result<PathBuf, Refusal> {
    if let Some(above) = folder.parent() {
        private(&mut DirBuilder::new())
            .recursive(true)
            .create(above)
            .map_err(|error| Refusal::System(above.to_owned(), error))?;
    }
    let real = place(folder, user)?;
    match private(&mut DirBuilder::new()).create(&real) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Refusal::System(real, error));
        }
        _ => (),
    }
    let there = look(&real, user)?;
    if there.mode() & 0o077 != 0 {
        fs::set_permissions(&real, Permissions::from_mode(0o700))
            .map_err(|error| Refusal::System(real.clone(), error))?;
    }
    Ok(real)
}

fn find_for(folder: &Path, user: u32) -> Result<PathBuf, Refusal> {
    let real = place(folder, user)?;
    look(&real, user)?;
    Ok(real)
}

/// The folder's path without links above it, where nobody else can take its place.
fn place(folder: &Path, user: u32) -> Result<PathBuf, Refusal> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(Refusal::NoFolder(folder.to_owned()));
    };
    let above = above.canonicalize().map_err(|error| not_there(above, error))?;
    for path in above.ancestors() {
        let there = path.metadata().map_err(|error| not_there(path, error))?;
        let (owner, mode) = (there.uid(), there.mode() & 0o7777);
        if owner != user && owner != 0 && !is_of_no_user_here(owner) {
            return Err(Refusal::Foreign { path: path.to_owned(), owner, user });
        }
        // A group of the user's own may write: with umask 002 all that a user makes is so (Debian, Fedora).
        let by_group =
            mode & WRITE_BY_GROUP != 0 && there.gid() != 0 && there.gid() != ffi::effective_group();
        if (by_group || mode & WRITE_BY_ALL != 0) && mode & STICKY == 0 {
            return Err(Refusal::Shared { path: path.to_owned(), mode });
        }
    }
    Ok(above.join(name))
}

/// Looks at the folder itself.
fn look(path: &Path, user: u32) -> Result<Metadata, Refusal> {
    let there = path.symlink_metadata().map_err(|error| not_there(path, error))?;
    if there.is_symlink() {
        return Err(Refusal::Link(path.to_owned()));
    }
    if !there.is_dir() {
        return Err(Refusal::NoFolder(path.to_owned()));
    }
    if there.uid() != user {
        return Err(Refusal::Foreign { path: path.to_owned(), owner: there.uid(), user });
    }
    let mode = there.mode() & 0o7777;
    if mode & (WRITE_BY_GROUP | WRITE_BY_ALL) != 0 {
        return Err(Refusal::Shared { path: path.to_owned(), mode });
    }
    Ok(there)
}

fn not_there(path: &Path, error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::Absent(path.to_owned()),
        _ => Refusal::System(path.to_owned(), error),
    }
}

fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

/// Whether `owner` stands for users that this user namespace does not have: what belongs to them, `/` among it, is shown under
/// one number, and no process in here is that user.
fn is_of_no_user_here(owner: u32) -> bool {
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid");
    let map = fs::read_to_string("/proc/self/uid_map");
    let (Ok(overflow), Ok(map)) = (overflow, map) else { return false };
    overflow.trim().parse() == Ok(owner) && !is_mapped(owner, &map)
}

/// Whether `/proc/self/uid_map` gives the user a number outside: lines of the first number inside, the first outside, how many.
fn is_mapped(user: u32, map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u64>().ok());
        let (Some(Some(first)), Some(Some(_)), Some(Some(count))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return true;
        };
        (first..first.saturating_add(count)).contains(&u64::from(user))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own");
    }

    fn me() -> u32 {
        ffi::effective_user()
    }

    /// A folder to try things in, without links above it.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("there");
        (folder, path)
    }

    #[test]
    fn what_is_made_is_closed_to_others_with_all_above_it() {
        let (_kept, base) = folder();
        let made = make(&base.join("a/b/c")).expect("made");
        assert_eq!(made, base.join("a/b/c"));
        for path in ["a", "a/b", "a/b/c"] {
            let mode = base.join(path).metadata().expect("there").mode() & 0o777;
            assert_eq!(mode, 0o700, "{path}");
        }
        assert_eq!(make(&made).expect("is there already"), made);
        assert_eq!(find(&made).expect("found"), made);
    }

    #[test]
    fn what_others_can_read_is_closed_and_what_they_can_write_is_refused() {
        let (_kept, base) = folder();
        let path = base.join("cache");
        fs::create_dir(&path).expect("made");
        mode(&path, 0o755);
        find(&path).expect("nobody else can write");
        make(&path).expect("taken");
        assert_eq!(path.metadata().expect("there").mode() & 0o777, 0o700);
        for open in [0o770, 0o707, 0o777, 0o1777, 0o720] {
            mode(&path, open);
            for found in [make(&path), find(&path)] {
                assert!(matches!(found, Err(Refusal::Shared { .. })), "{open:o}: {found:?}");
            }
        }
    }

    #[test]
    fn another_users_folder_is_refused() {
        let (_kept, base) = folder();
        let path = make(&base.join("cache")).expect("made");
        // Somebody who is neither root nor we.
        let stranger = me().wrapping_add(4_242);
        for found in [make_for(&path, stranger), find_for(&path, stranger)] {
            let error = found.expect_err("not the stranger's").to_string();
            assert!(error.contains(&format!("belongs to user {}", me())), "{error}");
        }
    }

    #[test]
    fn a_link_and_a_file_are_no_folder_of_ones_own() {
        let (_kept, base) = folder();
        let real = make(&base.join("real")).expect("made");
        symlink(&real, base.join("link")).expect("linked");
        symlink(base.join("nowhere"), base.join("dangling")).expect("linked");
        fs::write(base.join("file"), "").expect("written");
        for (name, words) in
            [("link", "symbolic link"), ("dangling", "symbolic link"), ("file", "not a folder")]
        {
            for found in [make(&base.join(name)), find(&base.join(name))] {
                let error = found.expect_err(name).to_string();
                assert!(error.contains(words), "{name}: {error}");
            }
        }
        // A link further up is followed once: the path that comes out has none.
        assert_eq!(make(&base.join("link/inner")).expect("made"), real.join("inner"));
    }

    #[test]
    fn a_folder_that_others_can_replace_is_refused_and_a_sticky_one_above_will_do() {
        let (_kept, base) = folder();
        let path = make(&base.join("open/cache")).expect("made");
        mode(&base.join("open"), 0o777);
        assert!(matches!(find(&path), Err(Refusal::Shared { .. })));
        assert!(matches!(make(&path), Err(Refusal::Shared { .. })));
        mode(&base.join("open"), 0o1777);
        assert_eq!(find(&path).expect("as in /tmp"), path);
    }

    #[test]
    fn nothing_is_made_where_it_is_only_looked_for() {
        let (_kept, base) = folder();
        assert!(matches!(find(&base.join("cache")), Err(Refusal::Absent(_))));
        assert!(matches!(find(&base.join("none/cache")), Err(Refusal::Absent(_))));
        assert!(!base.join("cache").exists());
    }

    #[test]
    fn a_user_of_no_number_here_is_told_from_one_who_could_log_in() {
        assert!(is_mapped(65_534, "         0          0 4294967295\n"));
        assert!(!is_mapped(65_534, "0 1000 1\n"));
        assert!(!is_mapped(65_534, "0 1000 1\n1 100000 65533\n"));
        assert!(is_mapped(65_534, "0 1000 1\n1 100000 65536\n"));
        assert!(is_mapped(65_534, "what is this"), "a map that is not understood excuses nobody");
    }
}
