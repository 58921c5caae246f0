//! Probes that turn on the tool, each at one step of the protocol, beside an honest row: each is
//! contained. Its row has a clear reason, the honest row its figures, the tool bounded memory, and
//! nothing is left alive.
//!
//! `crates/cli/tests/conformance.rs` shows `probe check` other probes, which break one rule each.

#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    process::{Child, Stdio},
    sync::Mutex,
    thread,
    time::Duration,
};

use common::Tool;

/// Each probe with words that its reason has. They stand in the run file, where nothing is cut.
const PROBES: [(&str, &str); 0] = [];

/// Memory that the tool may take, in kB: 1 MiB of a line, 64 MiB of a flood go through it, and none
/// of it stays. One with an honest row alone takes some 20 MB.
const MOST_KB: u64 = 120_000;

/// As many at a time: most of them wait.
const BESIDE: usize = 8;

struct Ended {
    status: Option<i32>,
    /// The reasons of rows and runtimes in the run file.
    reasons: Vec<String>,
    /// What was printed.
    said: String,
    honest: bool,
    peak_kb: u64,
}

fn run(mode: &str, mark: &str) -> Ended {
    let tool = Tool::new();
    let probe = format!("python3 {}/tests/probes/hostile.py {mode} {mark}", env!("CARGO_MANIFEST_DIR"));
    let file = tool.path("r.jsonl");
    let args = ["run", "fanout", "--runtime", "threads", "--size", "64", "--quick", "--max-time", "300ms"];
    let mut command = tool.command(&args);
    command.args(["--sample-time", "1ms", "--timeout", "2s", "--probe", &probe, "-o"]).arg(&file);
    let out = fs::File::create(tool.path("out")).expect("a file");
    let err = fs::File::create(tool.path("err")).expect("a file");
    let mut child =
        command.stdout(Stdio::from(out)).stderr(Stdio::from(err)).spawn().expect("the binary starts");
    let (status, peak_kb) = watched(&mut child);
    let read =
        |name: &str| String::from_utf8_lossy(&fs::read(tool.path(name)).unwrap_or_default()).into_owned();
    let records: Vec<serde_json::Value> =
        read("r.jsonl").lines().map(|line| serde_json::from_str(line).expect("whole lines")).collect();
    let reasons =
        records.iter().filter_map(|record| record["reason"].as_str().or(record["facts"]["reason"].as_str()));
    let honest = records.iter().any(|record| record["type"] == "sample" && record["runtime"] == "threads");
    Ended {
        status,
        reasons: reasons.map(str::to_owned).collect(),
        said: format!("{}{}", read("out"), read("err")),
        honest,
        peak_kb,
    }
}

/// Waits for the end and returns the exit status and the most memory that was seen.
fn watched(child: &mut Child) -> (Option<i32>, u64) {
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = mark.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kb.unwrap_or(0));
        if let Some(status) = child.try_wait().expect("waited for") {
            return (status.code(), peak);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes that have the mark in their command line.
fn alive(mark: &str) -> Vec<String> {
    let of = |entry: std::io::Result<fs::DirEntry>| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then_some(line)
    };
    fs::read_dir("/proc").expect("proc").filter_map(of).collect()
}

fn problems(mode: &str, words: &str) -> Vec<String> {
    let mark = format!("taskscale-hostile-{}-{}", std::process::id(), mode.replace('/', "-"));
    let ended = run(mode, &mark);
    let mut problems = Vec::new();
    if !ended.reasons.iter().any(|reason| reason.contains(words)) {
        problems.push(format!("{words:?} is in none of {:.600?}\n{:.900}", ended.reasons, ended.said));
    }
    if !ended.honest || !matches!(ended.status, Some(0 | 2)) {
        problems
            .push(format!("exit {:?}, honest row measured: {}: {}", ended.status, ended.honest, ended.said));
    }
    if ended.said.chars().any(|c| (c.is_control() && c != '\n') || ('\u{200b}'..='\u{206f}').contains(&c)) {
        problems.push(format!("drives the terminal: {:?}", ended.said));
    }
    if ended.said.len() > 20_000 || ended.said.contains("panicked") {
        problems.push(format!("{} bytes are said: {:.600}", ended.said.len(), ended.said));
    }
    if ended.peak_kb > MOST_KB {
        problems.push(format!("{} kB resident", ended.peak_kb));
    }
    let left = alive(&mark);
    if !left.is_empty() {
        problems.push(format!("left alive: {left:?}"));
    }
    problems.into_iter().map(|problem| format!("{mode}: {problem}")).collect()
}

#[test]
fn each_is_contained() {
    let (left, found) = (Mutex::new(PROBES.to_vec()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..BESIDE {
            scope.spawn(|| {
                loop {
                    let Some((mode, words)) = left.lock().expect("a list").pop() else { return };
                    let problems = problems(mode, words);
                    found.lock().expect("a list").extend(problems);
                }
            });
        }
    });
    let found = found.into_inner().expect("a list");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn all_that_there_are_are_run() {
    let script = format!("{}/tests/probes/hostile.py", env!("CARGO_MANIFEST_DIR"));
    let listed =
        std::process::Command::new("python3").args([&script, "--list"]).output().expect("python3 starts");
    let mut listed: Vec<String> =
        String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
    let mut run: Vec<&str> =
        PROBES.iter().map(|(mode, _)| *mode).filter(|mode| !mode.starts_with("late/")).collect();
    listed.sort_unstable();
    run.sort_unstable();
    assert_eq!(run, listed);
    assert!(PROBES.len() >= 72, "{}", PROBES.len());
}
