//! Real processes whose descendants say that they are there.
#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};

use taskscale_sys::clock::monotonic_ns;
use taskscale_sys::process::{Child, Command};

/// Time limit: far more than any of these families needs, and less than a test runner's patience.
pub const PLENTY_NS: u64 = 30_000_000_000;

pub fn sh(script: &str) -> Child {
    Child::spawn(&Command::new("/bin/sh", ["-c", script])).expect("/bin/sh starts")
}

pub fn python(script: &str) -> Child {
    Child::spawn(&Command::new("python3", ["-c", script])).expect("python3 starts")
}

/// Tells whether not even a zombie is left.
pub fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// Runs a script whose descendants write their pids to a file, and returns the pids once `count`
/// are there.
pub fn family(
    make: impl Fn(&str) -> Child,
    script: &str,
    count: usize,
) -> (Child, Vec<u32>, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let file: PathBuf = directory.path().join("pids");
    let child = make(&script.replace("PIDS", file.to_str().expect("text")));
    let deadline = monotonic_ns() + PLENTY_NS;
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let pids: Vec<u32> = text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        if text.ends_with('\n') && pids.len() == count {
            return (child, pids, directory);
        }
        assert!(monotonic_ns() < deadline, "the family did not come up: {text:?}");
        std::thread::yield_now();
    }
}
