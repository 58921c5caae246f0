//! Rust: our probe is built into this binary. A user's file becomes a package that depends on it. A
//! runtime that needs an old library is a package of its own, with its own lock file.

use std::collections::BTreeMap;

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, name_of},
    toolchain::{Toolchain, ask_version, find_program},
};

pub static RUST: Language = Language {
    name: "rust",
    extension: "rs",
    runtimes: &["tokio+futures-0.3.17"],
    files: embedded::RUST_PROBE,
    find,
    recipe,
};

/// The user's package has the probe's runtimes too, at the versions of its lock file.
const DEPENDENCIES: &str = r#"
[package]
name = "probe"
edition = "2024"
publish = false

# The cache may lie inside somebody's workspace.
[workspace]

[dependencies]
taskscale-probe-rust = { path = ".." }
"#;

/// The hint for a build that failed.
const NETWORK: &str = "cargo fetches what it depends on at the first build: is there a network?";

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let example = match source {
        Source::Runtime(runtime) => format!("--runtime {runtime}@/path/to/cargo"),
        Source::File(_) => "--probe my_probe.rs@/path/to/cargo".to_owned(),
    };
    let remedy = format!("install Rust 1.89 or newer (rustup.rs), or name its cargo: {example}");
    let program = find_program(asked, &["cargo"], &remedy)?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version })
}

fn recipe(cargo: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    // All packages share this folder, so that what they depend on is compiled once. cargo guards it
    // against two builds at a time.
    let target = site.src.join("../../target-rust").to_string_lossy().into_owned();
    // Without a network, the second attempt uses what cargo fetched before.
    let build = |folder: &str, more: &[&str]| {
        let command = |more: &[&str], last: &[&str]| Command {
            env: vec![("CARGO_TARGET_DIR".into(), target.clone())],
            // cargo and rustup look for settings, among them programs to start, in all folders
            // above the one they are started in. A folder above the cache may be one in which
            // others write (/tmp).
            directory: Some("/".into()),
            ..Command::new(
                cargo.program(),
                [
                    "build",
                    "--release",
                    "--quiet",
                    "--manifest-path",
                    &site.src(&format!("{folder}/Cargo.toml")),
                ]
                .iter()
                .chain(more)
                .chain(last)
                .copied(),
            )
        };
        Step::must(command(more, &[])).or(command(more, &["--offline"])).hint(NETWORK)
    };
    // The binary is copied, since the next build may write one of the same name.
    let keep =
        |name: &str| Step::must(Command::new("cp", [format!("{target}/release/{name}"), site.out("probe")]));
    match source {
        // The lock file is the point of this package: any other version that cargo would choose
        // mends the defect.
        Source::Runtime(_) => Recipe {
            files: Vec::new(),
            steps: vec![build("futures-0.3.17", &["--locked"]), keep("taskscale-probe-futures-0-3-17")],
            run: Command::new(site.out("probe"), [""; 0]),
        },
        Source::File(path) => {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            // A panic names the file as it was compiled.
            let file = format!("src/{}", name_of(path));
            let bin = format!("\n[[bin]]\nname = \"probe\"\npath = {file:?}\n");
            let manifest = format!("{}{}{bin}", DEPENDENCIES.trim_start(), theirs());
            Recipe {
                files: vec![
                    (format!("own/{file}"), text),
                    ("own/Cargo.toml".into(), manifest),
                    ("own/Cargo.lock".into(), of_probe("Cargo.lock").to_owned()),
                ],
                steps: vec![build("own", &[]), keep("probe")],
                run: Command::new(site.out("probe"), [""; 0]),
            }
        }
    }
}

fn of_probe(name: &str) -> &'static str {
    embedded::RUST_PROBE.iter().find(|(path, _)| *path == name).map_or("", |(_, text)| *text)
}

/// Returns the dependencies of the probe and of its SDK, so that `use tokio` works in the user's
/// file. Their paths are seen from one folder further down.
fn theirs() -> String {
    let lines = ["Cargo.toml", "sdk/Cargo.toml"].into_iter().flat_map(|manifest| {
        let list = of_probe(manifest).split("[dependencies]\n").nth(1).unwrap_or_default();
        // The list ends at the next table, or at the comment on it.
        let list = list.split("\n\n").next().unwrap_or_default();
        list.lines().filter(|line| !line.starts_with('#'))
    });
    // What both depend on is there once, as the probe has it: cargo adds the features of the SDK.
    let mut by_name: BTreeMap<&str, &str> = BTreeMap::new();
    for line in lines {
        by_name.entry(line.split(" = ").next().unwrap_or_default()).or_insert(line);
    }
    let mut list = String::new();
    for line in by_name.into_values() {
        list += &line.replace("path = \"", "path = \"../");
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_users_file_has_the_dependencies_of_the_probe_and_of_its_sdk() {
        let all = theirs();
        for line in ["tokio = {", "serde_json = ", "taskscale-probe-sdk = { path = \"../sdk\" }"] {
            assert_eq!(all.lines().filter(|there| there.starts_with(line)).count(), 1, "{line} in {all}");
        }
        let names: BTreeSet<Option<&str>> = all.lines().map(|line| line.split(" = ").next()).collect();
        assert_eq!(names.len(), all.lines().count(), "a name has two versions: {all}");
        assert!(all.lines().all(|line| line.contains(" = ")), "{all}");
    }
}
