//! The languages that probes are written in. Each has two functions: one finds a toolchain, one
//! makes a recipe for it.

mod cpp;
mod dotnet;
mod go;
mod java;
mod node;
mod ocaml;
pub mod python;
mod rust;
mod swift;

pub use java::feature as jdk_feature;

use std::path::Path;

use taskscale_model::missing::Missing;

use super::{
    embedded,
    recipe::{Recipe, Site, Source},
    toolchain::Toolchain,
};

/// How probes in one language are found and made.
#[derive(Debug)]
pub struct Language {
    /// The name that the user types: `go`.
    pub name: &'static str,
    /// The ending of its files, without the dot.
    pub extension: &'static str,
    /// The names of the runtimes that its probe weighs, in the order of the tables.
    pub runtimes: &'static [&'static str],
    /// Path and text of each file of the probe.
    pub files: &'static [(&'static str, &'static str)],
    /// Finds the toolchain for a source: the one asked for, else the best on this machine.
    pub find: fn(Option<&str>, &Source) -> Result<Toolchain, Missing>,
    /// Says how a probe is made with that toolchain.
    pub recipe: fn(&Toolchain, &Source, Site<'_>) -> Recipe,
}

/// The Rust probe's runtimes are built into this binary; its entry has only what is built by
/// itself.
pub static ALL: &[&Language] = &[
    &rust::RUST,
    &python::PYTHON,
    &go::GO,
    &java::JAVA,
    &node::NODE,
    &cpp::CPP,
    &swift::SWIFT,
    &dotnet::CSHARP,
    &dotnet::FSHARP,
    &ocaml::OCAML,
];

impl Language {
    /// Returns the smallest probe in this language, for `taskscale new-probe`: name of the file,
    /// and its text.
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

pub fn named(name: &str) -> Option<&'static Language> {
    ALL.iter().find(|language| language.name == name).copied()
}

/// Finds the language of a file by its ending.
pub fn of_file(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?;
    ALL.iter().find(|language| extension == language.extension).copied()
}

/// Finds the language whose probe weighs `runtime`.
pub fn of_runtime(runtime: &str) -> Option<&'static Language> {
    ALL.iter().find(|language| language.runtimes.contains(&runtime)).copied()
}
