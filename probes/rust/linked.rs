//! Tells build scripts which versions were really linked, because `env!` shows a package its own
//! version only. Cargo resolves them into the `Cargo.lock` of whatever is being built: this package
//! alone, the taskscale workspace, or a user's own probe. This file looks for that lock file,
//! nearest evidence first.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Sets `TASKSCALE_NAME_VERSION` for each of these dependencies of the package that is being built.
pub fn tell_versions(dependencies: &[&str]) {
    let lock = lock_file();
    if let Some(path) = &lock {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let text = lock.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    for dependency in dependencies {
        let version = version_in(&text, dependency).unwrap_or_else(|| "unknown".to_owned());
        let name = dependency.to_uppercase().replace('-', "_");
        println!("cargo:rustc-env=TASKSCALE_{name}_VERSION={version}");
    }
}

/// The lock file that this build was resolved by. A target directory lies beside it, unless the
/// user moved that (`CARGO_TARGET_DIR`). Then the directory that cargo was called from decides, and
/// last the package's own.
fn lock_file() -> Option<PathBuf> {
    ["OUT_DIR", "PWD", "CARGO_MANIFEST_DIR"].into_iter().filter_map(env::var_os).find_map(|start| {
        Path::new(&start).ancestors().map(|dir| dir.join("Cargo.lock")).find(|path| names_us(path))
    })
}

/// Whether the lock file at `path` resolves this very package.
fn names_us(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| package(&text, env!("CARGO_PKG_NAME")).is_some())
}

/// The version of `dependency` that this package uses. A lock file lists `"tokio"` if there is one
/// version of tokio, and `"tokio 1.54.1"` if there are several.
fn version_in(text: &str, dependency: &str) -> Option<String> {
    let listed = package(text, env!("CARGO_PKG_NAME"))?
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .find(|listed| listed.split(' ').next() == Some(dependency))?;
    match listed.split(' ').nth(1) {
        Some(version) => Some(version.to_owned()),
        None => value(package(text, dependency)?, "version").map(str::to_owned),
    }
}

/// The `[[package]]` block with this name.
fn package<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split("[[package]]").skip(1).find(|block| value(block, "name") == Some(name))
}

/// The value of `key = "value"` in a block.
fn value<'a>(block: &'a str, key: &str) -> Option<&'a str> {
    block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
}
