//! Unsafe code, output, clocks, disk and environment each stand behind one door.

use crate::repository::Repository;
use crate::rust_code::{lines_with, without_texts_and_tests};

/// A kind of words and where they may stand.
struct Door {
    words: &'static [&'static str],
    /// Prefixes of the paths that are looked at.
    within: &'static [&'static str],
    /// Prefixes of the paths where the words may stand.
    allowed: &'static [&'static str],
    why: &'static str,
}

/// Crates that take values and return values.
const PURE: [&str; 5] = [
    "crates/model/src/",
    "crates/stats/src/",
    "crates/analysis/src/",
    "crates/report/src/",
    "crates/digest/src/",
];

const DOORS: [Door; 3] = [
    Door {
        words: &["unsafe"],
        within: &["crates/", "probes/", "examples/", "python/"],
        allowed: &["crates/sys/", "crates/capi/", "probes/rust/sdk/", "python/src/raw/"],
        why: "unsafe code belongs to crates/sys, crates/capi, the clock of the Rust probe and python/src/raw, whose \
              type needs a slot (am_send) that PyO3 does not offer",
    },
    Door {
        words: &["println!", "print!", "eprintln!", "eprint!", "dbg!", "process::exit"],
        within: &["crates/"],
        allowed: &["crates/cli/"],
        why: "only crates/cli prints and exits; return a value or an error instead",
    },
    Door {
        words: &[
            "std::time",
            "core::time",
            "Instant",
            "SystemTime",
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
        ],
        within: &PURE,
        allowed: &[],
        why: "this crate takes values and returns values: no clock, no disk, no environment",
    },
];

/// Every word of [`DOORS`] that stands where it must not. Tests, examples, benches and build scripts may print.
pub fn problems(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.with_extension("rs") {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| file.path.starts_with(prefix));
        let doors: Vec<&Door> =
            DOORS.iter().filter(|door| starts(door.within) && !starts(door.allowed)).collect();
        if doors.is_empty() {
            continue;
        }
        let is_product = file.path.contains("/src/");
        let code = without_texts_and_tests(&file.text);
        for door in doors.iter().filter(|door| is_product || door.words == ["unsafe"]) {
            for word in door.words {
                for line in lines_with(&code, word) {
                    problems.push(format!("{}:{line}: `{word}`: {}", file.path, door.why));
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, source: &str) -> usize {
        problems(&Repository::of(&[(path, source)])).len()
    }

    #[test]
    fn each_door_is_the_only_one() {
        for (path, source, count) in [
            ("crates/bench/src/a.rs", "fn f() { unsafe {} }", 1),
            ("crates/bench/tests/a.rs", "fn f() { unsafe {} }", 1),
            ("probes/rust/src/workloads/a.rs", "fn f() { unsafe {} }", 1),
            ("probes/rust/sdk/src/clock.rs", "fn f() { unsafe {} }", 0),
            ("crates/sys/src/a.rs", "fn f() { unsafe {} }", 0),
            ("python/src/raw/a.rs", "fn f() { unsafe {} }", 0),
            ("python/src/session.rs", "fn f() { unsafe {} }", 1),
            ("crates/bench/src/a.rs", "fn f() { println!(); eprint!() }", 2),
            ("crates/bench/src/a.rs", "fn f() { std::process::exit(1) }", 1),
            (
                "crates/bench/src/a.rs",
                "/// println!(\"x\")\n#[cfg(test)] mod tests { fn f() { println!() } }",
                0,
            ),
            ("crates/bench/examples/a.rs", "fn f() { println!() }", 0),
            ("crates/cli/src/main.rs", "fn f() { println!(); std::process::exit(1) }", 0),
            ("crates/stats/src/a.rs", "use std::time::Instant;", 2),
            ("crates/report/src/a.rs", "fn f() { std::fs::read(\"x\"); std::env::var(\"x\") }", 2),
            ("crates/bench/src/a.rs", "use std::time::Duration;", 0),
            ("crates/model/src/a.rs", "fn f(std_time: u8, instant: u8) { env!(\"X\"); }", 0),
        ] {
            assert_eq!(found(path, source), count, "{path}: {source}");
        }
    }

    #[test]
    fn the_line_is_named() {
        let problems = problems(&Repository::of(&[("crates/bench/src/a.rs", "\n\nfn f() { dbg!(1); }\n")]));
        assert!(problems[0].starts_with("crates/bench/src/a.rs:3: `dbg!`"), "{problems:?}");
    }
}
