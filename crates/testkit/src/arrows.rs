//! Checks which crate may depend on which: arrows point down only.

use crate::repository::Repository;

/// The picture of ARCHITECTURE.md: each crate and its layer.
const PICTURE: [(&str, u8); 15] = [
    ("model", 0),
    ("stats", 0),
    ("sys", 1),
    ("trace", 1),
    ("digest", 1),
    ("analysis", 1),
    ("load", 1),
    ("bench", 2),
    ("report", 2),
    ("live", 2),
    ("simulate", 2),
    ("programs", 2),
    ("cli", 3),
    ("capi", 3),
    ("tokio", 3),
];
/// Arrows that point down and are forbidden all the same: the crate that shows is pure.
const FORBIDDEN: [(&str, &str); 1] = [("report", "sys")];
/// This crate is outside of the picture.
const TESTKIT: &str = "testkit";
/// Only tests and experiments depend on these.
const FOR_TESTS: [&str; 3] = [TESTKIT, "simulate", "programs"];
/// This package is outside of the workspace; the binary carries it.
const PROBE: &str = "probe-rust";

/// Finds every dependency (`dev-dependencies` apart) that the picture does not have.
pub fn problems(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.files.iter() {
        let name = file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|name| !name.contains('/') && *name != TESTKIT) else { continue };
        let manifest: toml::Table = match file.text.parse() {
            Ok(manifest) => manifest,
            Err(error) => {
                problems.push(format!("{}: {error}", file.path));
                continue;
            }
        };
        let package =
            manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
        if package != Some(&format!("taskscale-{name}")) {
            problems.push(format!("{}: the package must be named taskscale-{name}", file.path));
        }
        let Some(layer) = layer(name) else {
            problems.push(unknown(&file.path, name));
            continue;
        };
        for dependency in internal_dependencies(&manifest) {
            problems.extend(arrow(name, layer, &dependency).err().map(|why| format!("{}: {why}", file.path)));
        }
    }
    problems
}

fn layer(name: &str) -> Option<u8> {
    PICTURE.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

fn unknown(path: &str, name: &str) -> String {
    format!(
        "{path}: crate {name:?} is not in the picture; add it to ARCHITECTURE.md and to crates/testkit/src/arrows.rs"
    )
}

/// Tells whether `from` may depend on `to`.
fn arrow(from: &str, from_layer: u8, to: &str) -> Result<(), String> {
    if FOR_TESTS.contains(&to) {
        return Err(format!("{to} is for [dev-dependencies] only"));
    }
    if to == PROBE {
        return if from_layer == 3 { Ok(()) } else { Err("only layer 3 may carry a probe".into()) };
    }
    let Some(to_layer) = layer(to) else { return Err(unknown(from, to)) };
    if to_layer >= from_layer || FORBIDDEN.contains(&(from, to)) {
        return Err(format!(
            "{from} (layer {from_layer}) must not depend on {to} (layer {to_layer}); see ARCHITECTURE.md, \"The house\""
        ));
    }
    Ok(())
}

/// Returns the names, without `taskscale-`, of our crates under `dependencies` and
/// `build-dependencies`, for any target.
fn internal_dependencies(manifest: &toml::Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(manifest)
        .chain(targets.into_iter().flat_map(|targets| targets.values().filter_map(toml::Value::as_table)));
    tables
        .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(|dependencies| dependencies.iter())
        // A dependency can be renamed: `x = { package = "taskscale-sys" }`.
        .map(|(key, value)| value.get("package").and_then(toml::Value::as_str).unwrap_or(key))
        .filter_map(|package| package.strip_prefix("taskscale-").map(str::to_string))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, rest: &str) -> String {
        let manifest = format!("[package]\nname = \"taskscale-{name}\"\n{rest}");
        problems(&Repository::of(&[(&format!("crates/{name}/Cargo.toml"), &manifest)])).join("\n")
    }

    #[test]
    fn arrows_that_point_down_are_fine() {
        assert_eq!(
            found(
                "cli",
                "[dependencies]\ntaskscale-bench.workspace = true\ntaskscale-probe-rust.workspace = true"
            ),
            ""
        );
        assert_eq!(found("bench", "[dependencies]\ntaskscale-sys.workspace = true\nserde = \"1\""), "");
        assert_eq!(found("stats", "[dev-dependencies]\ntaskscale-testkit.workspace = true"), "");
    }

    #[test]
    fn all_others_are_named() {
        for (name, rest, problem) in [
            (
                "model",
                "[dependencies]\ntaskscale-stats.workspace = true",
                "model (layer 0) must not depend on stats",
            ),
            (
                "report",
                "[dependencies]\ntaskscale-sys.workspace = true",
                "report (layer 2) must not depend on sys",
            ),
            (
                "bench",
                "[dependencies]\ntaskscale-report.workspace = true",
                "bench (layer 2) must not depend on report",
            ),
            ("sys", "[dependencies]\ntaskscale-cli.workspace = true", "sys (layer 1) must not depend on cli"),
            (
                "sys",
                "[build-dependencies]\ntaskscale-trace = \"1\"",
                "sys (layer 1) must not depend on trace",
            ),
            ("sys", "[target.'cfg(unix)'.dependencies]\ntaskscale-trace = \"1\"", "must not depend on trace"),
            ("sys", "[dependencies]\nx = { package = \"taskscale-trace\" }", "must not depend on trace"),
            (
                "bench",
                "[dependencies]\ntaskscale-probe-rust.workspace = true",
                "only layer 3 may carry a probe",
            ),
            (
                "cli",
                "[dependencies]\ntaskscale-testkit.workspace = true",
                "testkit is for [dev-dependencies] only",
            ),
            (
                "capi",
                "[dependencies]\ntaskscale-simulate.workspace = true",
                "simulate is for [dev-dependencies] only",
            ),
            (
                "simulate",
                "[dependencies]\ntaskscale-live.workspace = true",
                "simulate (layer 2) must not depend on live",
            ),
            ("cli", "[dependencies]\ntaskscale-new.workspace = true", "\"new\" is not in the picture"),
            ("new", "", "\"new\" is not in the picture; add it"),
            ("sys", "[dependencies", "crates/sys/Cargo.toml: TOML parse error"),
        ] {
            assert!(found(name, rest).contains(problem), "{name} {rest}: {:?}", found(name, rest));
        }
    }
}
