//! The user's own folders: in the cache lies what is executed, in the state what is kept.
//!
//! There is no other place to fall back to: in a temporary folder, whose names can be guessed,
//! somebody else may have put a file before us ([`taskscale_sys::own`]).

use std::path::{Path, PathBuf};

use taskscale_model::missing::Missing;
use taskscale_sys::own::{self, Refusal};

/// A kind of folder, by the XDG Base Directory Specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserFolder {
    /// What can be made again: built probes.
    Cache,
    /// What cannot: run files.
    State,
}

impl UserFolder {
    /// The variable that names it, and its place in the home folder without that.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            UserFolder::Cache => ("XDG_CACHE_HOME", ".cache"),
            UserFolder::State => ("XDG_STATE_HOME", ".local/state"),
        }
    }

    /// Makes `name` in here, with what is above it, and returns its path without links.
    ///
    /// # Errors
    /// That there is no such folder, or that it is not the user's own, and which variable to set.
    pub fn make(self, name: &str) -> Result<PathBuf, Missing> {
        let made = below(&self.base()?, name, own::make);
        made.map_err(|refusal| {
            let mend = refusal.remedy().map(|mend| format!("{mend}, or ")).unwrap_or_default();
            Missing::new(refusal.to_string(), format!("{mend}{}", self.remedy()))
        })
    }

    /// Where `name` is in here; `None` where it is not, or where somebody else could have put it.
    /// Nothing is made.
    pub fn find(self, name: &str) -> Option<PathBuf> {
        below(&self.base().ok()?, name, own::find).ok()
    }

    /// What to do where there is no such folder.
    pub fn remedy(self) -> String {
        format!("set {} to a folder of your own, in which nobody else can write", self.names().0)
    }

    fn base(self) -> Result<PathBuf, Missing> {
        let (variable, in_home) = self.names();
        let refused = |reason: String| Err(Missing::new(reason, self.remedy()));
        let folder = match (absolute(variable), absolute("HOME")) {
            (Some(folder), _) => folder,
            (None, Some(home)) => home.join(in_home),
            (None, None) => {
                return refused(format!("neither {variable} nor HOME names a folder by an absolute path"));
            }
        };
        // Compilers and interpreters are told of it in lists and settings, in which these end a
        // path or begin something else: what was looked at would not be what is used.
        let is_odd = |c: char| c.is_control() || matches!(c, ':' | '"' | '\\' | '\u{fffd}');
        match folder.to_str() {
            Some(text) if !text.contains(is_odd) => Ok(folder.join("taskscale")),
            _ => refused(format!(
                "{folder:?} cannot be used: its path has a colon, a quotation mark, a backslash or what is no character"
            )),
        }
    }
}

/// The folder that a variable names; `None` also where it is relative, which the specification
/// calls invalid.
pub fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// What `take` makes of `base` and of each folder from there to `name`.
fn below(
    base: &Path,
    name: &str,
    take: impl Fn(&Path) -> Result<PathBuf, Refusal>,
) -> Result<PathBuf, Refusal> {
    name.split('/').try_fold(take(base)?, |folder, part| take(&folder.join(part)))
}
