//! The files of the repository, as the checks see them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Directories with what was built or fetched.
const NOT_OURS: [&str; 5] = [".git", "target", "__pycache__", ".venv", "node_modules"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path from the root of the repository, with `/` between the parts.
    pub path: String,
    pub text: String,
}

/// All text files, in order of their paths, and all paths.
#[derive(Debug, Clone, Default)]
pub struct Repository {
    /// Files that are UTF-8.
    pub files: Vec<File>,
    /// Files of any kind, and directories.
    pub paths: BTreeSet<String>,
}

impl Repository {
    /// Reads the repository that this crate is part of.
    ///
    /// # Errors
    /// A directory or file cannot be read.
    pub fn this() -> io::Result<Self> {
        let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect();
        let mut repository = Repository::default();
        repository.walk(&root, "")?;
        repository.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(repository)
    }

    /// Makes up a repository, to show a check its mistake.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut repository = Repository::default();
        for (path, text) in files {
            repository.files.push(File { path: path.to_string(), text: text.to_string() });
            for parent in Path::new(path).ancestors().filter(|path| *path != Path::new("")) {
                repository.paths.insert(parent.to_string_lossy().into_owned());
            }
        }
        repository
    }

    fn walk(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if NOT_OURS.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                self.walk(&entry.path(), &format!("{path}/"))?;
            } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                self.files.push(File { path: path.clone(), text });
            }
            self.paths.insert(path);
        }
        Ok(())
    }

    /// Returns the files whose name ends in `.extension`.
    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.extension() == Some(extension))
    }

    /// Returns the file at `path`, if it is there.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    /// Returns what follows the last dot of the name.
    pub fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_read() {
        let repository = Repository::this().expect("readable");
        assert!(repository.file("Cargo.toml").is_some_and(|file| file.text.contains("[workspace]")));
        assert!(repository.paths.contains("crates/testkit"));
        assert!(!repository.paths.iter().any(|path| path.starts_with(".git/")));
    }
}
