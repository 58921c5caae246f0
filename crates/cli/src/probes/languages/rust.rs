//! Rust: our probe is built into this binary; a user's file becomes a package that depends on its SDK.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step},
    toolchain::{Toolchain, ask_version, find_program},
};

pub static RUST: Language =
    Language { name: "rust", extension: "rs", runtimes: &[], files: embedded::RUST_PROBE, find, recipe };

/// The runtimes of the probe are the user's too, at the versions of its lock file.
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

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy =
        "install Rust 1.89 or newer (rustup.rs), or name its cargo: --probe my_probe.rs@/path/to/cargo";
    let program = find_program(asked, &["cargo"], remedy)?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version })
}

fn recipe(cargo: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let Source::File(path) = source else {
        return Recipe { files: Vec::new(), steps: Vec::new(), run: Command::default() };
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let of_probe = |name: &str| {
        embedded::RUST_PROBE.iter().find(|(path, _)| *path == name).map_or("", |(_, text)| *text)
    };
    // The probe's own list of dependencies, so that `use tokio` works in the user's file.
    let theirs = of_probe("Cargo.toml").split("[dependencies]").nth(1).unwrap_or_default();
    let theirs = theirs.split("\n[").next().unwrap_or_default();
    // Shared by all files: what they depend on is compiled once. cargo guards it against two builds at a time.
    let target = site.src.join("../../target-rust").to_string_lossy().into_owned();
    let build = |more: &[&str]| Command {
        env: vec![("CARGO_TARGET_DIR".into(), target.clone())],
        directory: Some(site.src.join("own")),
        ..Command::new(cargo.program(), ["build", "--release", "--quiet"].iter().chain(more).copied())
    };
    Recipe {
        files: vec![
            ("own/src/main.rs".into(), text),
            ("own/Cargo.toml".into(), format!("{}{}", DEPENDENCIES.trim_start(), theirs.trim_start())),
            ("own/Cargo.lock".into(), of_probe("Cargo.lock").to_owned()),
        ],
        steps: vec![
            Step::must(build(&[])).or(build(&["--offline"])),
            // The next file's binary takes the same name.
            Step::must(Command::new("cp", [format!("{target}/release/probe"), site.out("probe")])),
        ],
        run: Command::new(site.out("probe"), [""; 0]),
    }
}
