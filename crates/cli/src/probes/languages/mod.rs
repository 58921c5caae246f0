//! The languages that probes are written in. All have one shape: find a toolchain, then a recipe
//! for it.

mod cpp;
mod go;
mod java;
mod node;
pub mod python;
mod rust;
mod swift;

use std::path::Path;

use taskscale_model::missing::Missing;

use super::{
    embedded,
    recipe::{Recipe, Site, Source},
    toolchain::Toolchain,
};

/// A language.
#[derive(Debug)]
pub struct Language {
    /// As the user names it: `go`.
    pub name: &'static str,
    /// The ending of its files.
    pub extension: &'static str,
    /// The runtimes that its probe weighs, by name, in the order of the tables.
    pub runtimes: &'static [&'static str],
    /// Path and text of each file of the probe.
    pub files: &'static [(&'static str, &'static str)],
    /// Finds the toolchain for a source: the one asked for, else the best that is here.
    pub find: fn(Option<&str>, &Source) -> Result<Toolchain, Missing>,
    /// How a probe is made with it.
    pub recipe: fn(&Toolchain, &Source, Site<'_>) -> Recipe,
}

/// All of them. The Rust probe's runtimes are built into this binary, so that its entry has only
/// what is built by itself.
pub static ALL: &[&Language] =
    &[&rust::RUST, &python::PYTHON, &go::GO, &java::JAVA, &node::NODE, &cpp::CPP, &swift::SWIFT];

impl Language {
    /// The smallest probe in this language, for `taskscale new-probe`: name of the file, and its
    /// text.
    pub fn skeleton(&self) -> Option<(&'static str, &'static str)> {
        let is_it = |name: &str| {
            let path = Path::new(name);
            path.extension().is_some_and(|extension| extension == self.extension)
                && path.file_stem().is_some_and(|stem| {
                    stem.to_string_lossy().to_lowercase().contains("myprobe") || stem == "my_probe"
                })
        };
        embedded::EXAMPLES.iter().find(|(name, _)| is_it(name)).copied()
    }
}

/// The language of that name.
pub fn named(name: &str) -> Option<&'static Language> {
    ALL.iter().find(|language| language.name == name).copied()
}

/// The language of a file, by its ending.
pub fn of_file(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?;
    ALL.iter().find(|language| extension == language.extension).copied()
}

/// The language whose probe weighs `runtime`.
pub fn of_runtime(runtime: &str) -> Option<&'static Language> {
    ALL.iter().find(|language| language.runtimes.contains(&runtime)).copied()
}
