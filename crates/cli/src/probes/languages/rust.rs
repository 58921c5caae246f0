//! Rust: our probe is built into this binary. A user's file becomes a package that depends on what
//! the file names of it. A runtime that needs an old library is a package of its own, with its own
//! lock file.

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

/// The begin of a user's package.
const PACKAGE: &str = r#"
[package]
name = "probe"
edition = "2024"
publish = false

# The cache may lie inside somebody's workspace.
[workspace]

[dependencies]
"#;

/// What a user's file may take of our probe without its runtimes, which take most of a first build.
const WITHOUT_RUNTIMES: [&str; 2] = ["sdk", "parts"];

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
                ["build", "--release", "--manifest-path", &site.src(&format!("{folder}/Cargo.toml"))]
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
            let manifest = format!("{}{}{bin}", PACKAGE.trim_start(), dependencies(&text));
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

/// Returns the dependencies of a user's file, as lines of a manifest: what the probe and its SDK
/// depend on, at the versions of the lock file, as far as the file names it. A file that takes in
/// another one has them all.
fn dependencies(text: &str) -> String {
    let takes_in = text.contains("include!") || text.contains("#[path");
    let mut list = String::new();
    if takes_in || !after(text, "taskscale_probe_rust").is_empty() {
        let bare = !takes_in && after(text, "taskscale_probe_rust").into_iter().all(needs_no_runtime);
        let features = if bare { ", default-features = false" } else { "" };
        list = format!("taskscale-probe-rust = {{ path = \"..\"{features} }}\n");
    }
    for (name, line) in theirs() {
        if takes_in || !after(text, &name.replace('-', "_")).is_empty() {
            list += &line;
            list.push('\n');
        }
    }
    list
}

/// Returns what stands behind each mention of a crate.
fn after<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let is_part = |letter: char| letter == '_' || letter.is_alphanumeric();
    let whole = text.match_indices(name).filter_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        (!before.ends_with(is_part) && !behind.starts_with(is_part)).then_some(behind)
    });
    whole.collect()
}

/// Whether a path that goes on so leads to [`WITHOUT_RUNTIMES`]: `::sdk::Run`, `::{parts, sdk}`.
fn needs_no_runtime(behind: &str) -> bool {
    let Some(path) = behind.strip_prefix("::") else { return false };
    let first = |path: &str| {
        let end = path.find(|letter: char| letter != '_' && !letter.is_alphanumeric());
        WITHOUT_RUNTIMES.contains(&&path[..end.unwrap_or(path.len())])
    };
    let Some(group) = path.strip_prefix('{') else { return first(path) };
    let (mut depth, mut begins) = (0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '}' if depth == 0 => return true,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                if !first(&group[at..]) {
                    return false;
                }
                begins = false;
            }
            _ => (),
        }
    }
    false
}

/// Returns the dependencies of the probe and of its SDK by name, each a line of a manifest. Their
/// paths are seen from one folder further down.
fn theirs() -> BTreeMap<&'static str, String> {
    let lines = ["Cargo.toml", "sdk/Cargo.toml"].into_iter().flat_map(|manifest| {
        let list = of_probe(manifest).split("[dependencies]\n").nth(1).unwrap_or_default();
        // The list ends at the next table, or at the comment on it.
        let list = list.split("\n\n").next().unwrap_or_default();
        list.lines().filter(|line| !line.starts_with('#'))
    });
    // What both depend on is there once, as the probe has it: cargo adds the features of the SDK.
    let mut by_name = BTreeMap::new();
    for line in lines {
        let mine = || line.replace("path = \"", "path = \"../").replace(", optional = true", "");
        by_name.entry(line.split(" = ").next().unwrap_or_default()).or_insert_with(mine);
    }
    by_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_and_its_sdk_depend_on_each_library_once() {
        let all: Vec<String> = theirs().into_values().collect();
        for line in ["tokio = {", "serde_json = ", "taskscale-probe-sdk = { path = \"../sdk\" }"] {
            assert_eq!(all.iter().filter(|there| there.starts_with(line)).count(), 1, "{line} in {all:?}");
        }
        assert!(all.iter().all(|line| line.contains(" = ") && !line.contains("optional")), "{all:?}");
    }

    #[test]
    fn a_users_file_depends_on_what_it_names() {
        let names = |text: &str| -> Vec<String> {
            let list = dependencies(text);
            list.lines().map(|line| line.split(" = ").next().unwrap_or_default().to_owned()).collect()
        };
        let sdk = "use serde_json::json;\nuse taskscale_probe_sdk::{Probe, Run};\nlet tokios = my_tokio;";
        assert_eq!(names(sdk), ["serde_json", "taskscale-probe-sdk"]);
        let (_, template) = RUST.skeleton().expect("a template");
        assert_eq!(names(template), ["taskscale-probe-rust", "serde_json", "tokio"]);
        assert!(dependencies(template).contains("\"..\", default-features = false }"), "no runtimes in it");
        let all = theirs().len() + 1;
        for text in ["include!(\"/x/other.rs\");", "#[path = \"/x/other.rs\"] mod other;"] {
            assert_eq!(names(text).len(), all, "{text}");
            assert!(!dependencies(text).contains("default-features = false }"), "{text}");
        }
    }

    #[test]
    fn runtimes_are_compiled_for_whom_they_are_named() {
        for (text, bare) in [
            ("use taskscale_probe_rust::sdk::{Probe, Run};", true),
            ("use taskscale_probe_rust::{parts::in_parts, sdk::{criterion, Run}};", true),
            ("use taskscale_probe_rust::{\n    sdk,\n    parts,\n};", true),
            ("use taskscale_probe_rust::{sdk::Run, runtimes};", false),
            ("use taskscale_probe_rust::{sdk::Run", false),
            ("use taskscale_probe_rust::workloads::fanout;", false),
            ("use taskscale_probe_rust::sdkish;", false),
            ("use taskscale_probe_rust::*;", false),
            ("use taskscale_probe_rust as ours;", false),
            ("use taskscale_probe_rust::sdk;\nfn f() { taskscale_probe_rust::variants(\"\"); }", false),
        ] {
            assert_eq!(dependencies(text).contains(", default-features = false }\n"), bare, "{text}");
        }
    }
}
