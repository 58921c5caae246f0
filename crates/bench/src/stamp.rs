//! Whether a probe is still the same as when the run began. Processes are started again and again,
//! and a probe that is rebuilt or edited meanwhile would bring samples of two programs into one
//! row.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use taskscale_sys::process::Command;

/// The files that a command names, as they were at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<(PathBuf, Version)>);

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of the program and of every argument that is a file by its path. A name that is
    /// found on the `PATH` is a toolchain, whose version the description tells. It takes some
    /// microseconds.
    pub fn of(command: &Command) -> Self {
        let words = std::iter::once(&command.program).chain(&command.args);
        let paths = words.filter(|word| word.contains('/') || Path::new(word).extension().is_some());
        let inside = |path: &str| match &command.directory {
            Some(directory) => directory.join(path),
            None => PathBuf::from(path),
        };
        Stamp(
            paths
                .map(|word| inside(word.as_str()))
                .filter_map(|path| Some((path.clone(), version(&path)?)))
                .collect(),
        )
    }

    /// The first file that has changed.
    pub fn changed(&self) -> Option<&Path> {
        self.0.iter().find(|(path, was)| version(path) != Some(*was)).map(|(path, _)| path.as_path())
    }
}

fn version(path: &Path) -> Option<Version> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(Version { length: data.len(), modified: data.modified().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_again_or_removed_is_seen() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("probe.py");
        fs::write(&file, "one").expect("written");
        let stamp = Stamp::of(&Command::new("python3", [file.to_string_lossy(), "--fast".into()]));
        assert_eq!(stamp.changed(), None);
        fs::write(&file, "another").expect("written");
        assert_eq!(stamp.changed(), Some(file.as_path()));
        fs::remove_file(&file).expect("removed");
        assert_eq!(stamp.changed(), Some(file.as_path()));
    }

    #[test]
    fn words_that_are_no_files_are_left_alone() {
        assert_eq!(Stamp::of(&Command::new("sh", ["-c", "exit/3", "."])), Stamp(Vec::new()));
    }
}
