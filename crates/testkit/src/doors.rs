//! Checks that unsafe code, clocks, disk and environment are each used in few places only.
//!
//! The lints of the compiler and of clippy do the work: `Cargo.toml` has their levels,
//! `clippy.toml` the names that a pure crate must not use. These checks show that the lints are in
//! force everywhere.

use crate::repository::Repository;

/// Crates that take values and return values.
const PURE: [&str; 7] = ["model", "stats", "analysis", "report", "digest", "simulate", "programs"];
/// The line that makes clippy hold a crate to that.
const DENIED: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";

/// Places where unsafe code may stand. The type of python/src/raw needs a slot (am_send) that PyO3
/// does not offer. A mapped file is one of the ways that the workload `bytes` weighs. The clock of
/// another thread is asked for by the SDK, which depends on no crate of ours.
const UNSAFE: [&str; 5] = [
    "crates/sys/",
    "crates/capi/",
    "python/src/raw/",
    "probes/rust/src/workloads/bytes/map.rs",
    "probes/rust/sdk/src/threads.rs",
];
/// Prefixes of the paths of what is released or tests it.
const OURS: [&str; 4] = ["crates/", "probes/", "python/", "experiments/"];
/// Packages that stand for other people's programs.
const OTHERS: [&str; 1] = ["crates/trace/tests/real/"];

/// Finds pure crates that clippy does not hold to it, in whole or in part.
pub fn pure_crates(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for name in PURE {
        let root = format!("crates/{name}/src/lib.rs");
        let denied = |text: &str| text.lines().any(|line| line == DENIED);
        if !repository.file(&root).is_some_and(|file| denied(&file.text)) {
            problems.push(format!("{root}: must say {DENIED}: it takes values and returns values"));
        }
        let inside = format!("crates/{name}/src/");
        for file in repository.with_extension("rs").filter(|file| file.path.starts_with(&inside)) {
            for (index, line) in file.text.lines().enumerate() {
                if line.contains("clippy::disallowed_") && line != DENIED {
                    problems.push(format!("{}:{}: a pure crate has no exception", file.path, index + 1));
                }
            }
        }
    }
    problems
}

/// Finds packages where unsafe code is not denied, and places outside of its rooms where it is
/// allowed again.
pub fn unsafe_rooms(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    let starts = |path: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| path.starts_with(prefix));
    for file in repository.files.iter().filter(|file| starts(&file.path, &OURS)) {
        if file.path.ends_with("/Cargo.toml") && !starts(&file.path, &OTHERS) {
            if !denies_unsafe(&file.text) {
                problems.push(format!("{}: its lints must deny unsafe_code", file.path));
            }
        } else if file.extension() == Some("rs")
            && !starts(&file.path, &UNSAFE)
            && file.path != "crates/testkit/src/doors.rs"
        {
            for (index, line) in file.text.lines().enumerate() {
                if line.contains("unsafe_code") && !line.contains("deny(") && !line.contains("forbid(") {
                    problems.push(format!(
                        "{}:{}: unsafe code belongs to one of {}",
                        file.path,
                        index + 1,
                        UNSAFE.join(", ")
                    ));
                }
            }
        }
    }
    problems
}

/// Tells whether a manifest denies unsafe code, by a lint of its own or by those of the workspace.
fn denies_unsafe(manifest: &str) -> bool {
    let Ok(manifest) = manifest.parse::<toml::Table>() else { return false };
    let Some(lints) = manifest.get("lints") else { return false };
    let own = lints.get("rust").and_then(|rust| rust.get("unsafe_code"));
    own.and_then(toml::Value::as_str) == Some("deny")
        || lints.get("workspace").and_then(toml::Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_crates_are_held_to_it() {
        let roots: Vec<String> = PURE.iter().map(|name| format!("crates/{name}/src/lib.rs")).collect();
        let held = format!("//! What it is.\n{DENIED}\n");
        let with = |more: &[(&str, &str)], left_out: &str| {
            let roots = roots.iter().filter(|root| *root != left_out).map(|root| (&**root, &*held));
            pure_crates(&Repository::of(&roots.chain(more.iter().copied()).collect::<Vec<_>>()))
        };
        assert_eq!(with(&[], ""), [""; 0]);
        for root in &roots {
            assert_eq!(with(&[], root).len(), 1, "{root}");
            assert_eq!(with(&[(root, "//! What it is.\n")], root).len(), 1, "{root}");
        }
        let exception = "\n#[allow(clippy::disallowed_methods)]\nfn f() {}\n";
        let problems = with(&[("crates/stats/src/a.rs", exception)], "");
        assert_eq!(problems, ["crates/stats/src/a.rs:2: a pure crate has no exception"]);
        assert_eq!(
            with(&[("crates/stats/tests/a.rs", exception), ("crates/sys/src/a.rs", exception)], "").len(),
            0
        );
    }

    #[test]
    fn unsafe_code_has_its_rooms() {
        let allowed = "#![allow(unsafe_code)]\n";
        for (path, text, count) in [
            ("crates/bench/src/a.rs", allowed, 1),
            ("crates/bench/tests/a.rs", "\n    #[expect(unsafe_code, reason = \"why\")]\n", 1),
            ("probes/rust/src/workloads/a.rs", allowed, 1),
            ("probes/rust/sdk/src/clock.rs", allowed, 1),
            ("crates/sys/src/a.rs", allowed, 0),
            ("python/src/raw/a.rs", allowed, 0),
            ("python/src/session.rs", allowed, 1),
            ("experiments/src/bin/a.rs", allowed, 1),
            ("crates/bench/src/lib.rs", "#![forbid(unsafe_code)]\n", 0),
            ("crates/bench/Cargo.toml", "[lints]\nworkspace = true\n", 0),
            ("probes/rust/Cargo.toml", "[lints.rust]\nunsafe_code = \"deny\"\n", 0),
            ("probes/rust/Cargo.toml", "[lints.rust]\nunsafe_code = \"warn\"\n", 1),
            ("experiments/Cargo.toml", "[package]\n", 1),
            ("crates/trace/tests/real/x/Cargo.toml", "[package]\n", 0),
        ] {
            assert_eq!(unsafe_rooms(&Repository::of(&[(path, text)])).len(), count, "{path}: {text}");
        }
    }
}
