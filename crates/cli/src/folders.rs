//! The user's own folders: in the cache lies what is executed, in the state what is kept.
//!
//! There is no other place to fall back to: in a temporary folder, whose names can be guessed, somebody else may have put a
//! file before us ([`taskscale_sys::own`]).

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
        made.map_err(|refusal| Missing::new(refusal.to_string(), self.remedy()))
    }

    /// Where `name` is in here; `None` where it is not, or where somebody else could have put it. Nothing is made.
    pub fn find(self, name: &str) -> Option<PathBuf> {
        below(&self.base().ok()?, name, own::find).ok()
    }

    /// What to do where there is no such folder.
    pub fn remedy(self) -> String {
        format!("set {} to a folder of your own, in which nobody else can write", self.names().0)
    }

    fn base(self) -> Result<PathBuf, Missing> {
        let (variable, in_home) = self.names();
        let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = of(variable).or_else(|| of("HOME").map(|home| home.join(in_home)));
        let none = || Missing::new(format!("neither {variable} nor HOME names a folder"), self.remedy());
        Ok(folder.ok_or_else(none)?.join(Path::new("taskscale")))
    }
}

/// What `take` makes of `base` and of each folder from there to `name`.
fn below(
    base: &Path,
    name: &str,
    take: impl Fn(&Path) -> Result<PathBuf, Refusal>,
) -> Result<PathBuf, Refusal> {
    name.split('/').try_fold(take(base)?, |folder, part| take(&folder.join(part)))
}
