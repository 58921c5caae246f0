//! Folders of the user's own: nobody else can put a file into one, or another folder in its place.
//!
//! Such a folder holds what is executed or appended to without a look at its content. The superuser
//! is trusted: who has those rights needs no trick.

use std::{
    fs::{self, DirBuilder, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::ffi;

/// Why a folder cannot be trusted, or cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The folder does not exist.
    #[error("{0} is not there")]
    Absent(PathBuf),
    /// The path is a link, which may lead elsewhere tomorrow.
    #[error("{0} is a symbolic link")]
    Link(PathBuf),
    /// Something else has the folder's name.
    #[error("{0} is not a folder")]
    NoFolder(PathBuf),
    /// The folder belongs to somebody else.
    #[error("{path} belongs to user {owner} and not to user {user}, who runs this")]
    Foreign {
        /// The folder, or one above it.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// The user who asks.
        user: u32,
    },
    /// Others may write into the folder.
    #[error("{path} can be written by others (mode {mode:03o})")]
    Shared {
        /// The folder, or one above it.
        path: PathBuf,
        mode: u32,
    },
    /// The system refused.
    #[error("{0}: {1}")]
    System(PathBuf, io::Error),
    /// The user's own files cannot be told from those of nobody.
    #[error("user {0} stands for all users that this user namespace does not have")]
    Nameless(u32),
}

impl Refusal {
    /// Says what to do, where the folder itself can be mended.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Refusal::Shared { path, .. } => Some(format!("chmod go-w {}", path.display())),
            Refusal::Link(path) | Refusal::NoFolder(path) => Some(format!("remove {}", path.display())),
            Refusal::Nameless(_) => Some("map this user (unshare --map-root-user)".to_owned()),
            Refusal::Absent(_) | Refusal::Foreign { .. } | Refusal::System(..) => None,
        }
    }
}

/// Write permission of the group and of all.
const WRITE_BY_GROUP: u32 = 0o020;
const WRITE_BY_ALL: u32 = 0o002;
/// Only the owner of a folder with this bit and the owner of an entry rename or remove the entry
/// (`/tmp`).
const STICKY: u32 = 0o1000;

/// Makes `folder` and those above it that are missing, with mode 0700, or checks the one that is
/// there. Returns its path without links. Makes nothing below a folder that is refused. Closes a
/// folder of the user's that others can read but not write, and opens one that the user cannot.
///
/// # Errors
/// The folder is not the user's own, with the reason; also those of the file system.
pub fn make(folder: &Path) -> Result<PathBuf, Refusal> {
    make_for(folder, &User::current()?)
}

/// Returns the path without links of a folder of the user's own that is there. Makes and changes
/// nothing.
///
/// # Errors
/// As [`make`], and [`Refusal::Absent`].
pub fn find(folder: &Path) -> Result<PathBuf, Refusal> {
    find_for(folder, &User::current()?)
}

/// Removes what stands in the place of `folder`, in a folder of the user's own: the user's file or
/// link, and never what a link leads to. Returns what it was.
///
/// # Errors
/// The folder above, or what stands there, is not the user's own; also those of the file system.
pub fn clear(folder: &Path) -> Result<Option<Refusal>, Refusal> {
    clear_for(folder, &User::current()?)
}

/// Tells whether a program that was found by searching is the user's or the superuser's, and nobody
/// else can put another in its place.
pub fn is_safe_program(program: &Path) -> bool {
    let check = || {
        let user = User::current()?;
        let real = program.canonicalize().map_err(|error| not_there(program, error))?;
        real.ancestors().try_for_each(|path| may_lie_in(path, &user))
    };
    check().is_ok()
}

fn make_for(folder: &Path, user: &User) -> Result<PathBuf, Refusal> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
                return Err(Refusal::NoFolder(folder.to_owned()));
            };
            // Missing folders are made by us, one after the other, so that the first that is there
            // is checked before.
            let above = match above.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => make_for(above, user)?,
                _ => real_place(above, user)?,
            };
            let made = above.join(name);
            match DirBuilder::new().mode(0o700).create(&made) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    Err(Refusal::System(made, error))
                }
                _ => look(&made, user).map(|_| made),
            }
        }
        _ => {
            let real = place(folder, user)?;
            let there = look(&real, user)?;
            if there.mode() & 0o777 != 0o700 {
                fs::set_permissions(&real, Permissions::from_mode(0o700))
                    .map_err(|error| Refusal::System(real.clone(), error))?;
            }
            Ok(real)
        }
    }
}

fn find_for(folder: &Path, user: &User) -> Result<PathBuf, Refusal> {
    let real = place(folder, user)?;
    look(&real, user)?;
    Ok(real)
}

fn clear_for(folder: &Path, user: &User) -> Result<Option<Refusal>, Refusal> {
    // Where only the user can write, nobody else puts a thing in the place of what was looked at.
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(Refusal::NoFolder(folder.to_owned()));
    };
    let real = find_for(above, user)?.join(name);
    let was = match look(&real, user) {
        Err(was @ (Refusal::Link(_) | Refusal::NoFolder(_))) => was,
        _ => return Ok(None),
    };
    let there = real.symlink_metadata().map_err(|error| not_there(&real, error))?;
    if there.uid() != user.id {
        return Err(Refusal::Foreign { path: real, owner: there.uid(), user: user.id });
    }
    match fs::remove_file(&real) {
        Ok(()) => Ok(Some(was)),
        // Another process of the user's removed it, and may have made the folder.
        Err(_) if !matches!(look(&real, user), Err(Refusal::Link(_) | Refusal::NoFolder(_))) => Ok(None),
        Err(error) => Err(Refusal::System(real, error)),
    }
}

/// Returns the folder's path without links above it, where nobody else can take its place.
fn place(folder: &Path, user: &User) -> Result<PathBuf, Refusal> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(Refusal::NoFolder(folder.to_owned()));
    };
    Ok(real_place(above, user)?.join(name))
}

/// Returns a folder's path without links, where nobody else can take the place of what lies in it.
fn real_place(folder: &Path, user: &User) -> Result<PathBuf, Refusal> {
    let real = folder.canonicalize().map_err(|error| not_there(folder, error))?;
    real.ancestors().try_for_each(|path| may_lie_in(path, user))?;
    Ok(real)
}

/// Checks that nobody else can rename what lies in `path`, or write it where it is a file.
fn may_lie_in(path: &Path, user: &User) -> Result<(), Refusal> {
    let there = path.metadata().map_err(|error| not_there(path, error))?;
    let (owner, mode) = (there.uid(), there.mode() & 0o7777);
    // Only the superuser makes folders in `/`, but a namespace with few users shows the superuser's
    // number as that of nobody.
    let is_system = path.ancestors().count() <= 2 && user.is_of_nobody_here(owner);
    if owner != user.id && owner != 0 && !is_system {
        return Err(Refusal::Foreign { path: path.to_owned(), owner, user: user.id });
    }
    // With umask 002 the user's own group can write all that a user makes (Debian, Fedora).
    let by_group = mode & WRITE_BY_GROUP != 0
        && (ffi::has_acl(path) || !user.is_alone_in(there.gid(), &read("/etc/passwd"), &read("/etc/group")));
    if (by_group || mode & WRITE_BY_ALL != 0) && (mode & STICKY == 0 || !there.is_dir()) {
        return Err(Refusal::Shared { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Checks the folder itself.
fn look(path: &Path, user: &User) -> Result<Metadata, Refusal> {
    let there = path.symlink_metadata().map_err(|error| not_there(path, error))?;
    if there.is_symlink() {
        return Err(Refusal::Link(path.to_owned()));
    }
    if !there.is_dir() {
        return Err(Refusal::NoFolder(path.to_owned()));
    }
    if there.uid() != user.id {
        return Err(Refusal::Foreign { path: path.to_owned(), owner: there.uid(), user: user.id });
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

#[derive(Debug, Clone, Default)]
struct User {
    id: u32,
    /// The number that stands for all users that this user namespace does not have; `None` where it
    /// has all.
    overflow: Option<u32>,
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

impl User {
    fn current() -> Result<Self, Refusal> {
        let map = read("/proc/self/uid_map");
        let overflow = read("/proc/sys/kernel/overflowuid").trim().parse().ok();
        let overflow = overflow.filter(|_| !map.is_empty() && !has_all_users(&map));
        let id = ffi::effective_user();
        if overflow == Some(id) {
            return Err(Refusal::Nameless(id));
        }
        Ok(User { id, overflow })
    }

    /// Tells whether an owner is none of this namespace, as far as can be known.
    fn is_of_nobody_here(&self, owner: u32) -> bool {
        self.overflow == Some(owner)
    }

    /// Tells whether nobody else is in a group: the group is listed, has no other member and is no
    /// other user's own. `users` is `/etc/passwd` and `groups` is `/etc/group`.
    fn is_alone_in(&self, group: u32, users: &str, groups: &str) -> bool {
        let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
        let number = |field: Option<&String>| field.and_then(|field| field.parse::<u32>().ok());
        let users: Vec<Vec<String>> = users.lines().map(fields).collect();
        let own =
            users.iter().find(|user| number(user.get(2)) == Some(self.id)).and_then(|user| user.first());
        let entry = groups.lines().map(fields).find(|entry| number(entry.get(2)) == Some(group));
        let (Some(own), Some(entry)) = (own, entry) else { return false };
        let members = entry.get(3).map(String::as_str).unwrap_or_default();
        let no_other_member = members.split(',').all(|member| member.is_empty() || member == own);
        let others = users.iter().filter(|user| number(user.get(2)) != Some(self.id));
        no_other_member && others.into_iter().all(|user| number(user.get(3)) != Some(group))
    }
}

/// Tells whether `/proc/self/uid_map` maps all users to themselves. A line holds the first number
/// inside, the first outside, and how many.
fn has_all_users(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
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

    /// Returns another user, of whom as much is known.
    fn somebody(id: u32) -> User {
        User { id, ..User::current().expect("a user") }
    }

    /// Makes a folder to try things in, without links above it.
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
        // The stranger is neither root nor this user.
        let stranger = somebody(me().wrapping_add(4_242));
        for found in [make_for(&path, &stranger), find_for(&path, &stranger)] {
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
    fn what_stands_in_the_place_of_a_folder_is_removed_and_not_what_it_leads_to() {
        let (_kept, base) = folder();
        let (own, elsewhere) = (make(&base.join("own")).expect("made"), make(&base.join("b")).expect("made"));
        fs::write(elsewhere.join("kept"), "mine").expect("written");
        let build = own.join("build");
        for plant in [
            &(|| symlink(&elsewhere, &build)) as &dyn Fn() -> io::Result<()>,
            &|| symlink("nowhere", &build),
            &|| fs::write(&build, ""),
        ] {
            plant().expect("planted");
            let stranger = clear_for(&build, &somebody(me().wrapping_add(4_242)));
            assert!(matches!(stranger, Err(Refusal::Foreign { .. })), "{stranger:?}");
            assert!(build.symlink_metadata().is_ok(), "nothing is removed of another's");
            mode(&own, 0o777);
            assert!(matches!(clear(&build), Err(Refusal::Shared { .. })), "others can write there");
            mode(&own, 0o700);
            assert!(clear(&build).expect("removed").is_some());
            assert!(build.symlink_metadata().is_err());
        }
        assert_eq!(fs::read_to_string(elsewhere.join("kept")).expect("there"), "mine");
        make(&build).expect("made");
        assert!(clear(&build).expect("a folder of one's own").is_none() && build.is_dir());
        assert!(clear(&own.join("none")).expect("nothing").is_none());
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
    fn nothing_is_made_below_a_folder_that_is_refused() {
        let (_kept, base) = folder();
        let open = base.join("open");
        fs::create_dir(&open).expect("made");
        mode(&open, 0o777);
        assert!(matches!(make(&open.join("a/b")), Err(Refusal::Shared { .. })));
        assert_eq!(fs::read_dir(&open).expect("there").count(), 0);
    }

    #[test]
    fn a_group_is_ones_own_where_nobody_else_is_in_it() {
        let user = User { id: 1_000, ..User::default() };
        let users = "root:x:0:0::/root:\nann:x:1000:1000::/:\nbob:x:1001:1001::/:\ncat:x:1002:100::/:\n";
        let groups =
            "root:x:0:\nann:x:1000:\nbob:x:1001:ann\nusers:x:100:\nbuild:x:50:ann,bob\nmine:x:51:ann\n";
        for (group, alone) in
            [(1_000, true), (51, true), (50, false), (100, false), (1_001, false), (0, false), (7, false)]
        {
            assert_eq!(user.is_alone_in(group, users, groups), alone, "{group}");
        }
        // No file names this user, as where a directory service does.
        assert!(!User { id: 4_000, ..user }.is_alone_in(1_000, users, groups));
    }

    #[test]
    fn who_has_few_users_does_not_take_others_for_known_ones() {
        assert!(has_all_users("         0          0 4294967295\n"));
        for map in ["0 1000 1\n", "0 1000 1\n1 100000 65536\n", "what is this", "0 0 4294967295\n1 1 1"] {
            assert!(!has_all_users(map), "{map}");
        }
        let user = User { id: 0, overflow: Some(65_534) };
        assert!(user.is_of_nobody_here(65_534) && !user.is_of_nobody_here(1_000));
    }

    #[test]
    fn a_program_is_safe_where_no_one_else_can_put_another() {
        let (_kept, base) = folder();
        let bin = make(&base.join("bin")).expect("made");
        fs::write(bin.join("javac"), "").expect("written");
        assert!(is_safe_program(&bin.join("javac")) && is_safe_program(Path::new("/bin/sh")));
        mode(&bin.join("javac"), 0o777);
        assert!(!is_safe_program(&bin.join("javac")));
        mode(&bin.join("javac"), 0o755);
        mode(&bin, 0o777);
        assert!(!is_safe_program(&bin.join("javac")) && !is_safe_program(&bin.join("none")));
    }
}
