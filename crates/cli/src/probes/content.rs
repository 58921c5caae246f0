//! What lies in a folder of the cache, file by file, so that a probe that was damaged is told from
//! the one that was built: a disk fails, a copy ends early, a build is killed while it writes.
//!
//! It guards against accidents. Who can write into the folder can write the list too; that nobody
//! else can is held by [`taskscale_sys::own`].

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs::{self, File},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use taskscale_model::plain::clean;

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The most bytes of a list: some 150 files with 100 bytes each are usual.
pub const LONGEST: u64 = 4 << 20;

/// Lists the files below `parts` of `folder`, a line each: hash, whether it can be executed, bytes,
/// path.
///
/// # Errors
/// A file cannot be read.
pub fn list(folder: &Path, parts: &[&str]) -> io::Result<String> {
    let mut paths = BTreeSet::new();
    parts.iter().try_for_each(|part| collect(folder, Path::new(part), &mut paths))?;
    let mut text = String::new();
    for path in paths {
        // A path that is no line of text is nobody's output; its file is not looked at.
        if let Some(name) = path.to_str().filter(|name| !name.contains('\n')) {
            let path = folder.join(&path);
            writeln!(text, "{} {} {name}", seal(&path)?, size(&path)?).map_err(io::Error::other)?;
        }
    }
    Ok(text)
}

/// Says what differs first from a list of `parts`; `None` where all is as it was. Of the files that
/// came since only those count that an interpreter takes for a module of the probe; what it keeps
/// compiled beside its files does not.
pub fn differs(folder: &Path, parts: &[&str], list: &str) -> Option<String> {
    let changed = list.lines().find_map(|line| {
        let Some(Entry { seal: seal_then, size: size_then, name }) = Entry::of(line) else {
            return Some(format!("its list of files has no such line: {}", clean(line)));
        };
        let path = folder.join(name);
        // What has another size is not read: it may be of any.
        let now = size(&path).and_then(|now| if now == size_then { seal(&path).map(Some) } else { Ok(None) });
        match now {
            Ok(Some(seal_now)) if seal_now == seal_then => None,
            Ok(_) => Some(format!("{name} is not what was built")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{name} is not there")),
            Err(error) => Some(format!("{name} cannot be read ({error})")),
        }
    });
    changed.or_else(|| {
        let mut paths = BTreeSet::new();
        // A folder that cannot be read has no module either.
        parts.iter().for_each(|part| _ = collect(folder, Path::new(part), &mut paths).ok());
        let listed: BTreeSet<&str> = list.lines().filter_map(|line| Some(Entry::of(line)?.name)).collect();
        let came = |path: &&PathBuf| {
            let is_module = path.extension().is_some_and(|end| end == "py" || end == "so" || end == "pyc");
            is_module
                && !path.components().any(|part| part.as_os_str() == "__pycache__")
                && path.to_str().is_none_or(|name| !listed.contains(name))
        };
        paths.iter().find(came).map(|path| format!("{} was not built", path.display()))
    })
}

/// A line of a list.
struct Entry<'a> {
    seal: &'a str,
    size: u64,
    name: &'a str,
}

impl<'a> Entry<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (seal, behind) = line.split_at_checked(line.match_indices(' ').nth(1)?.0)?;
        let (size, name) = behind.strip_prefix(' ')?.split_once(' ')?;
        Some(Entry { seal, size: size.parse().ok()?, name })
    }
}

/// Adds the files and links below `folder/part`.
fn collect(folder: &Path, part: &Path, paths: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(part))? {
        let entry = entry?;
        let path = part.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => collect(folder, &path, paths)?,
            false => _ = paths.insert(path),
        }
    }
    Ok(())
}

/// The bytes of a file; 0 of anything else.
fn size(path: &Path) -> io::Result<u64> {
    let there = path.symlink_metadata()?;
    Ok(if there.is_file() { there.len() } else { 0 })
}

/// Returns what tells a file from another: its hash and `x` or `-`; of a link, where it leads.
fn seal(path: &Path) -> io::Result<String> {
    let there = path.symlink_metadata()?;
    let mut hash = Sha256::new();
    if there.is_symlink() {
        hash.update(fs::read_link(path)?.as_os_str().as_bytes());
    } else if there.is_file() {
        let (mut file, mut chunk) = (File::open(path)?, vec![0; CHUNK]);
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(many) => hash.update(&chunk[..many]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }
    let mut text: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let executable = there.is_file() && there.permissions().mode() & 0o111 != 0;
    text.push_str(if executable { " x" } else { " -" });
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [&str; 2] = ["out", "src"];

    /// A folder with `out/probe` and `src/a/b.py`, and its list.
    fn built() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("out/probe", "binary"), ("src/a/b.py", "print()"), ("log", "said")] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        std::os::unix::fs::symlink("probe", folder.path().join("out/link")).expect("linked");
        let list = list(folder.path(), &PARTS).expect("read");
        (folder, list)
    }

    #[test]
    fn what_was_built_is_listed_and_holds() {
        let (folder, list) = built();
        let names: Vec<&str> = list.lines().filter_map(|line| Some(Entry::of(line)?.name)).collect();
        assert_eq!(names, ["out/link", "out/probe", "src/a/b.py"]);
        assert_eq!(differs(folder.path(), &PARTS, &list), None);
        fs::create_dir(folder.path().join("src/a/__pycache__")).expect("made");
        for name in ["src/a/__pycache__/b.pyc", "out/core"] {
            fs::write(folder.path().join(name), "came since").expect("written");
            assert_eq!(differs(folder.path(), &PARTS, &list), None, "{name}");
        }
    }

    #[test]
    fn a_module_that_came_since_is_named() {
        for name in ["src/asyncio.py", "src/a/json.py", "src/a/b.pyc", "out/b.so"] {
            let (folder, list) = built();
            fs::write(folder.path().join(name), "planted").expect("written");
            let said = differs(folder.path(), &PARTS, &list);
            assert_eq!(said, Some(format!("{name} was not built")));
        }
    }

    #[test]
    fn a_file_of_another_size_is_not_read() {
        let (folder, list) = built();
        // It has no bytes on the disk, and to read it would take a day.
        let huge = File::options().write(true).open(folder.path().join("out/probe")).expect("opened");
        huge.set_len(1 << 43).expect("made long");
        let said = differs(folder.path(), &PARTS, &list);
        assert_eq!(said.as_deref(), Some("out/probe is not what was built"));
    }

    #[test]
    fn a_line_that_is_none_of_a_list_is_named() {
        let (folder, list) = built();
        for line in ["0123 x out/probe", "0123 x many out/probe", "\u{1b}[31m", ""] {
            let said = differs(folder.path(), &PARTS, &format!("{list}{line}\n")).expect("a difference");
            assert!(said.starts_with("its list of files has no such line: ") && !said.contains('\u{1b}'));
        }
    }

    #[test]
    fn every_damage_is_named() {
        type Damage<'a> = &'a dyn Fn(&Path) -> io::Result<()>;
        let damages: [(Damage<'_>, &str); 6] = [
            (&|at| fs::write(at.join("out/probe"), "binarz"), "out/probe is not what was built"),
            (&|at| fs::write(at.join("out/probe"), ""), "out/probe is not what was built"),
            (&|at| fs::remove_file(at.join("out/probe")), "out/probe is not there"),
            (&|at| fs::remove_dir_all(at.join("src")), "src/a/b.py is not there"),
            (
                &|at| fs::set_permissions(at.join("out/probe"), PermissionsExt::from_mode(0o755)),
                "out/probe is not",
            ),
            (
                &|at| {
                    fs::remove_file(at.join("out/link"))?;
                    std::os::unix::fs::symlink("elsewhere", at.join("out/link"))
                },
                "out/link is not what was built",
            ),
        ];
        for (damage, words) in damages {
            let (folder, list) = built();
            damage(folder.path()).expect(words);
            let said = differs(folder.path(), &PARTS, &list).expect(words);
            assert!(said.starts_with(words), "{said}");
        }
    }
}
