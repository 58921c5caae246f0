//! The small files of `/proc` and `/sys`, of this machine or of another whose files were written
//! down.

use std::{collections::BTreeMap, fs, io};

use taskscale_model::missing::Reading;

/// A source of the kernel's texts.
pub trait Files {
    /// Returns the text of a file.
    ///
    /// # Errors
    /// The system's error; `NotFound` where there is no such file.
    fn text(&self, path: &str) -> io::Result<String>;

    /// Returns the names in a directory in order of the alphabet; none where it cannot be read.
    fn names(&self, directory: &str) -> Vec<String>;
}

/// Reads the files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThisMachine;

impl Files for ThisMachine {
    fn text(&self, path: &str) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }
}

/// Reads the files of another machine from one text: each file stands after a line `== PATH`.
///
/// ```
/// use taskscale_sys::machine::{Captured, Files};
/// let other = Captured::parse("== /proc/loadavg\n0.10 0.20 0.30 1/200 4711\n== /sys/a/b\n1\n");
/// assert_eq!(other.text("/sys/a/b")?, "1\n");
/// assert_eq!(other.names("/sys"), ["a"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Captured(BTreeMap<String, String>);

impl Captured {
    /// Parses the text. Lines before the first `== ` are comments.
    pub fn parse(text: &str) -> Self {
        let mut files = BTreeMap::new();
        let mut current: Option<&mut String> = None;
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("== ") {
                current = Some(files.entry(path.trim().to_owned()).or_default());
            } else if let Some(text) = &mut current {
                text.push_str(line);
                text.push('\n');
            }
        }
        Captured(files)
    }
}

impl Files for Captured {
    fn text(&self, path: &str) -> io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let inside = format!("{directory}/");
        let first = |path: &String| Some(path.strip_prefix(&inside)?.split('/').next()?.to_owned());
        let mut names: Vec<String> = self.0.keys().filter_map(first).collect();
        names.dedup();
        names
    }
}

/// Returns what `parse` finds in a file, or why it finds nothing.
pub(crate) fn reading<T>(
    files: &dyn Files,
    path: &str,
    otherwise: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Reading<T> {
    match files.text(path) {
        Ok(text) => match parse(&text) {
            Some(value) => Reading::Value(value),
            None => Reading::missing(format!("{path} {otherwise}"), ""),
        },
        Err(_) if !cfg!(target_os = "linux") => missing_outside_linux(path),
        Err(error) => Reading::missing(
            format!("cannot read {path}: {error}"),
            "run where /proc and /sys are mounted and readable",
        ),
    }
}

/// Reads the number that a file holds.
pub(crate) fn number<T: std::str::FromStr>(files: &dyn Files, path: &str) -> Reading<T> {
    reading(files, path, "holds no number", |text| text.trim().parse().ok())
}

pub(crate) fn missing_outside_linux<T>(what: &str) -> Reading<T> {
    Reading::missing(format!("{what} can be read on Linux only"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_machine_is_taken_apart() {
        let other = Captured::parse("a comment\n== /a/b\n1\n2\n== /a/cc/d\n\n== /ab/e\nx\n");
        assert_eq!(other.text("/a/b").expect("a file"), "1\n2\n");
        assert_eq!(other.text("/a/cc/d").expect("a file"), "\n");
        assert_eq!(other.names("/a"), ["b", "cc"]);
        assert_eq!(other.text("/a").expect_err("no file").kind(), io::ErrorKind::NotFound);
        assert!(other.names("/none").is_empty());
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let other = Captured::parse("== /n\nmany\n== /m\n 7\n");
        assert_eq!(number::<u64>(&other, "/m"), Reading::Value(7));
        let reason = |path| match number::<u64>(&other, path) {
            Reading::Missing(missing) => missing.reason,
            Reading::Value(value) => value.to_string(),
        };
        assert_eq!(reason("/n"), "/n holds no number");
        #[cfg(target_os = "linux")]
        assert_eq!(reason("/x"), "cannot read /x: No such file or directory (os error 2)");
    }
}
