//! The user's own folders: the cache holds what is executed, the state holds what is kept.
//!
//! There is no fallback: the names in a temporary folder can be guessed, so somebody else may have
//! put a file there before us ([`taskscale_sys::own`]).

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use taskscale_model::missing::Missing;
use taskscale_sys::own::{self, Refusal};
use tempfile::TempDir;

use crate::output::tell;

/// A kind of folder, by the XDG Base Directory Specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserFolder {
    /// Holds what can be made again: built probes.
    Cache,
    /// Holds what cannot be made again: run files.
    State,
}

impl UserFolder {
    /// Returns the variable that names the folder, and its place in the home folder without that
    /// variable.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            UserFolder::Cache => ("XDG_CACHE_HOME", ".cache"),
            UserFolder::State => ("XDG_STATE_HOME", ".local/state"),
        }
    }

    /// Makes `name` in this folder, with the folders above it, and returns its path without links.
    ///
    /// # Errors
    /// There is no such folder, or it is not the user's own. The remedy names the variable to set.
    pub fn make(self, name: &str) -> Result<PathBuf, Missing> {
        let made = below(&self.base()?, name, own::make);
        made.map_err(|refusal| {
            let mend = refusal.remedy().map(|mend| format!("{mend}, or ")).unwrap_or_default();
            Missing::new(refusal.to_string(), format!("{mend}{}", self.remedy()))
        })
    }

    /// Returns the path of `name` in this folder; `None` where it is not there, or where somebody
    /// else could have put it there. Makes nothing.
    pub fn find(self, name: &str) -> Option<PathBuf> {
        below(&self.base().ok()?, name, own::find).ok()
    }

    /// Removes a file or a link that stands in the place of `name` in this folder, and says what it
    /// was. What cannot be removed is refused by [`UserFolder::make`].
    pub fn clear(self, name: &str) -> Option<String> {
        let (above, last) = name.rsplit_once('/')?;
        let was = own::clear(&self.find(above)?.join(last));
        Some(was.ok()??.to_string())
    }

    /// Says what to do where there is no such folder.
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
        // Compilers and interpreters get this path in lists and settings, in which these characters
        // end a path or begin something else. The path that was checked would not be the one that
        // is used.
        let is_odd = |c: char| c.is_control() || matches!(c, ':' | '"' | '\\' | '\u{fffd}');
        match folder.to_str() {
            Some(text) if !text.contains(is_odd) => Ok(folder.join("taskscale")),
            _ => refused(format!(
                "{folder:?} cannot be used: its path has a colon, a quotation mark, a backslash or what is no character"
            )),
        }
    }
}

/// Says once of each variable with a relative path which folder stands in its place: the
/// specification has such a path ignored, and a run file is looked for where it was asked to be.
pub fn tell_of_ignored() {
    for folder in [UserFolder::Cache, UserFolder::State] {
        let (variable, _) = folder.names();
        let given = std::env::var_os(variable).filter(|given| !given.is_empty());
        let (Some(given), None, Ok(used)) = (given, absolute(variable), folder.base()) else { continue };
        tell(&format!(
            "taskscale: {variable} is ignored, {given:?} is no absolute path: {} is used",
            used.display()
        ));
    }
}

/// Time after which a folder for a while is nobody's: no build and no count takes a day.
const FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes a folder for a while in the cache, which is gone when the result is dropped. What another
/// process left there because it was killed is removed after a day.
///
/// # Errors
/// As [`UserFolder::make`].
pub fn scratch() -> Result<TempDir, Missing> {
    let folder = UserFolder::Cache.make("scratch")?;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|of| of.modified()).map(|time| time.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > FORGOTTEN)) {
            // One that cannot be removed harms nobody.
            fs::remove_dir_all(entry.path()).ok();
        }
    }
    tempfile::tempdir_in(&folder).map_err(|error| {
        Missing::new(
            format!("no folder can be made in {}: {error}", folder.display()),
            UserFolder::Cache.remedy(),
        )
    })
}

/// Returns the folder that a variable names; `None` also for a relative path, which the
/// specification calls invalid.
pub fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Applies `take` to `base` and to each folder from there to `name`, and returns what it makes of
/// the last.
fn below(
    base: &Path,
    name: &str,
    take: impl Fn(&Path) -> Result<PathBuf, Refusal>,
) -> Result<PathBuf, Refusal> {
    name.split('/').try_fold(take(base)?, |folder, part| take(&folder.join(part)))
}
