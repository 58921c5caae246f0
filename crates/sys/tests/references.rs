//! Retains and releases of a Swift program whose number of them is known.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

mod known;

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use known::{PATIENCE_NS, compiled};
use taskscale_sys::{
    clock::monotonic_ns,
    counts::references::{Page, References, SOURCE, VARIABLE},
    process::{Child, Command},
};

const K: u64 = 10_000;

/// Builds the library once.
fn library() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let name = format!("references-{}.c", std::process::id());
        let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&source, SOURCE).expect("written");
        let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared"];
        let flags = [&flags[..], &["-fvisibility=hidden", "-fno-builtin"]].concat();
        let library = compiled(&source, "references.so", &flags);
        std::fs::remove_file(source).expect("removed");
        library
    };
    BUILT.get_or_init(build).clone()
}

/// Builds the program; `None`, and says so, without a Swift compiler.
fn program(flags: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/references.swift");
    let name = format!("references{}", flags.concat());
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = std::process::Command::new("swiftc").args(flags).arg(source).arg("-o").arg(&to).output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(to)
        }
        Err(error) => {
            eprintln!("skipped: retains and releases: no swiftc: {error} (install Swift 6.0 or newer)");
            None
        }
    }
}

fn start(program: &Path, mode: &str, library: &Path, page: &Page) -> Child {
    let mut command = Command::new(program.to_string_lossy(), [mode]);
    command.env.push(("LD_PRELOAD".into(), library.to_string_lossy().into_owned()));
    command.env.push((VARIABLE.into(), page.path().to_string_lossy().into_owned()));
    Child::spawn(&command).expect("it starts")
}

fn ask(child: &mut Child, turns: u64) {
    let deadline_ns = monotonic_ns() + PATIENCE_NS;
    child.send_line(turns.to_string().as_bytes(), deadline_ns).expect("sent");
    assert_eq!(child.read_line(deadline_ns).expect("an answer"), b"done");
}

/// What 2k turns count more than k, a turn.
fn by_turn(program: &Path, mode: &str, library: &Path) -> (f64, f64) {
    let page = Page::create().expect("a file");
    let mut child = start(program, mode, library, &page);
    // What the first use of things costs is left behind.
    ask(&mut child, 2 * K);
    let read = || page.read().expect("read").expect("the library is loaded");
    let mut asked = |turns: u64| -> References {
        let before = read();
        ask(&mut child, turns);
        read().since(&before)
    };
    let (once, twice) = (asked(K), asked(2 * K));
    let share = |once: u64, twice: u64| (twice as f64 - once as f64) / K as f64;
    (share(once.retains, twice.retains), share(once.releases, twice.releases))
}

#[test]
fn every_retain_and_release_is_counted() {
    let Some(library) = library() else { return };
    for flags in [["-Onone"], ["-O"]] {
        let Some(program) = program(&flags) else { return };
        let seen = ["retain", "release", "array"].map(|mode| by_turn(&program, mode, &library));
        let truth = [(1.0, 0.0), (1.0, 1.0), (1.0, 1.0)];
        for ((retains, releases), expected) in seen.into_iter().zip(truth) {
            // Unoptimised code may hold an object while it calls: once more up, once more down.
            let held = retains - expected.0;
            assert_eq!(releases - expected.1, held, "{flags:?}: {seen:?}");
            assert!(
                held == 0.0 || (flags == ["-Onone"] && [1.0, 2.0].contains(&held)),
                "{flags:?}: {seen:?}"
            );
        }
    }
}

#[test]
fn a_program_without_the_runtime_is_told_from_one_that_retains_nothing() {
    let (Some(library), Some(known)) = (library(), known::known()) else { return };
    let page = Page::create().expect("a file");
    let mut child = start(known, "calls", &library, &page);
    child.end(PATIENCE_NS);
    assert_eq!(page.read().expect("read"), None);
    let Some(program) = program(&["-O", "-static-stdlib"]) else { return };
    let page = Page::create().expect("a file");
    let mut child = start(&program, "retain", &library, &page);
    ask(&mut child, K);
    assert_eq!(page.read().expect("read"), None, "its runtime is its own");
}
