//! `taskscale config`: says where the headers and the library of the live observers are.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::{
    args::ConfigArgs,
    output::{Outcome, print},
};

/// What the static library needs from the system.
const NEEDS: &str = "-pthread -ldl -lm";

/// The name by which programs look for the shared library (`crates/capi/build.rs`).
fn shared_name() -> String {
    match (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")) {
        ("0", minor) => format!("libtaskscale.so.0.{minor}"),
        (major, _) => format!("libtaskscale.so.{major}"),
    }
}

/// Prints the flags on one line.
pub fn config(args: &ConfigArgs) -> anyhow::Result<Outcome> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let place = Place::beside(&program)?;
    let name = shared_name();
    if args.shared && !place.lib.join(&name).exists() {
        bail!(
            "programs look for the shared library as {name}, and {} has none: `make install PREFIX=...` lays it",
            place.lib.display()
        );
    }
    let mut flags = Vec::new();
    // Without a choice, both are printed.
    if args.cflags || !args.libs {
        flags.push(format!("-I{}", place.include.display()));
    }
    if args.libs || !args.cflags {
        let library = place.lib.display();
        flags.push(if args.shared {
            format!("-L{library} -Wl,-rpath,{library} -ltaskscale")
        } else {
            format!("{library}/libtaskscale.a {NEEDS}")
        });
    }
    print(&format!("{}\n", flags.join(" ")))?;
    Ok(Outcome::Done)
}

/// Headers and library of one build.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    include: PathBuf,
    lib: PathBuf,
}

impl Place {
    /// Looks at an installation (`PREFIX/bin/taskscale`) first, then at a checkout
    /// (`target/release/taskscale`).
    fn beside(program: &Path) -> anyhow::Result<Self> {
        let up = |levels: usize| program.ancestors().nth(levels).map(Path::to_owned).unwrap_or_default();
        let installed = Place { include: up(2).join("include"), lib: up(2).join("lib") };
        let built = Place { include: up(3).join("cpp/include"), lib: up(1) };
        let mut lacking = Vec::new();
        for place in [installed, built] {
            let needed = [place.include.join("taskscale/taskscale.h"), place.lib.join("libtaskscale.a")];
            match needed.into_iter().find(|file| !file.exists()) {
                None => return Ok(place),
                Some(file) => lacking.push(file.display().to_string()),
            }
        }
        bail!(
            "the library for C and C++ is not beside {}: neither {} is there; in a checkout run `make install \
             PREFIX=...` or `cargo build --release -p taskscale-capi`",
            program.display(),
            lacking.join(" nor ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_and_a_checkout_are_told_apart() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("has one")).expect("a folder");
            std::fs::write(&path, "").expect("a file");
            path
        };
        let program = root.path().join("target/release/taskscale");
        let error = Place::beside(&program).expect_err("nothing there").to_string();
        assert!(error.contains("make install"), "{error}");
        at("cpp/include/taskscale/taskscale.h");
        at("target/release/libtaskscale.a");
        let built = Place::beside(&program).expect("a checkout");
        assert_eq!(built.lib, root.path().join("target/release"));
        at("opt/include/taskscale/taskscale.h");
        at("opt/lib/libtaskscale.a");
        let installed = Place::beside(&root.path().join("opt/bin/taskscale")).expect("an installation");
        assert_eq!(installed.include, root.path().join("opt/include"));
    }
}
