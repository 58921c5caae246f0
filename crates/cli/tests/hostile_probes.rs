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
use taskscale_model::plain::columns;

/// Each probe with words that its reason has. They stand in the run file, where nothing is cut.
const PROBES: [(&str, &str); 90] = [
    ("describe/ends", "ended (exit status 0)"),
    ("describe/fails", "ended (exit status 3)"),
    ("describe/is-killed", "ended (killed by signal 9 (SIGKILL))"),
    ("describe/faults", "ended (killed by signal 11 (SIGSEGV))"),
    ("describe/half-a-line", "ended (exit status 0)"),
    ("describe/invalid-utf-8", "not protocol 1"),
    ("describe/utf-16", "not protocol 1"),
    ("describe/a-mark-before", "not protocol 1"),
    ("describe/a-list", "not protocol 1"),
    ("describe/a-number", "not protocol 1"),
    ("describe/null", "not protocol 1"),
    ("describe/an-empty-line", "not protocol 1"),
    ("describe/zeros", "not protocol 1"),
    ("describe/depth", "not protocol 1"),
    ("describe/a-line-of-2-mib", "flooded its output"),
    ("describe/200000-variants", "flooded its output"),
    ("describe/a-sample", "a description was expected"),
    ("describe/a-type-that-is-a-number", "not protocol 1"),
    ("describe/an-unknown-type", "not protocol 1"),
    ("describe/protocol-as-a-word", "not protocol 1"),
    ("describe/protocol-of-30-digits", "not protocol 1"),
    ("describe/protocol-minus-one", "not protocol 1"),
    ("describe/workloads-as-an-object", "not protocol 1"),
    ("describe/variants-as-numbers", "not protocol 1"),
    ("describe/a-resolution-of-a-half", "not protocol 1"),
    ("describe/no-runtime", "missing field `runtime`"),
    ("describe/no-clock", "missing field `clock`"),
    ("describe/a-member-twice", "duplicate field"),
    ("describe/closes-its-output", "it closed its output"),
    ("describe/floods-errors", "flooded its output"),
    ("describe/floods", "flooded its output"),
    ("describe/floods-lines", "not protocol 1"),
    ("describe/dies-beside-a-stray", "ended (exit status 3)"),
    ("describe/python-not-json", "not protocol 1"),
    ("describe/missing-without-words", "missing field `message`"),
    ("describe/an-error-that-is-a-number", "not protocol 1"),
    ("describe/an-error-that-drives-the-terminal", "when asked for describe"),
    ("describe/an-error-of-900-kb", "no way no way"),
    ("run/ends", "ended (exit status 0)"),
    ("run/fails", "ended (exit status 3)"),
    ("run/is-killed", "ended (killed by signal 9 (SIGKILL))"),
    ("run/faults", "ended (killed by signal 11 (SIGSEGV))"),
    ("run/hangs", "no answer to"),
    ("run/stops-itself", "no answer to"),
    ("run/hangs-and-ignores-signals", "no answer to"),
    ("run/hangs-with-a-stray", "no answer to"),
    ("run/hangs-with-50-children", "no answer to"),
    ("run/half-a-line", "ended (exit status 0)"),
    ("run/half-a-line-and-hangs", "no answer to"),
    ("run/ends-while-a-child-holds-the-pipe", "ended (exit status 0)"),
    ("run/dies-beside-a-stray", "ended (exit status 3)"),
    ("run/invalid-utf-8", "not protocol 1"),
    ("run/an-answer-that-is-a-fraction", "not protocol 1"),
    ("run/an-answer-of-40-digits", "not protocol 1"),
    ("run/an-answer-below-zero", "not protocol 1"),
    ("run/an-answer-that-is-null", "not protocol 1"),
    ("run/an-answer-that-is-a-list", "not protocol 1"),
    ("run/an-answer-of-another-size", "the answer is 7"),
    ("run/a-time-of-2-to-64", "not protocol 1"),
    ("run/a-time-of-2-to-64-less-1", "reports a time that cannot be"),
    ("run/a-time-that-is-a-word", "not protocol 1"),
    ("run/a-time-that-is-a-fraction", "not protocol 1"),
    ("run/a-time-that-is-no-number", "not protocol 1"),
    ("run/a-time-without-end", "not protocol 1"),
    ("run/no-cpu-time", "missing field `cpu_ns`"),
    ("run/cpu-time-of-a-year", "reports a time that cannot be"),
    ("run/an-id-that-is-a-word", "not protocol 1"),
    ("run/the-id-before", "answered request"),
    ("run/an-id-of-30-digits", "not protocol 1"),
    ("run/a-description-again", "a sample was expected"),
    ("run/a-list", "not protocol 1"),
    ("run/an-empty-line", "not protocol 1"),
    ("run/words-behind", "not protocol 1"),
    ("run/an-answer-twice", "spoke out of turn"),
    ("run/an-answer-to-the-next", "spoke out of turn"),
    ("run/an-error-that-is-a-list", "not protocol 1"),
    ("run/an-error-that-drives-the-terminal", "when asked for fanout loop"),
    ("run/an-error-as-long-as-a-line-may-be", "..., when asked for fanout loop at size 64"),
    ("run/an-error-of-900-kb", "no way no way"),
    ("run/floods", "flooded its output"),
    ("run/floods-lines", "not protocol 1"),
    ("run/floods-errors", "flooded its output"),
    ("run/closes-its-output", "it closed its output"),
    ("run/an-extra-that-is-a-list", "not protocol 1"),
    ("before/speaks-first", "spoke out of turn"),
    ("before/closes-its-input", "no answer to"),
    ("late/ends", "ended (exit status 0)"),
    ("late/hangs", "no answer to"),
    ("late/an-answer-of-another-size", "the answer is 7"),
    ("late/the-id-before", "answered request"),
];

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
    let args = ["run", "fanout", "--runtime", "threads", "--size", "64", "--samples", "2"];
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
    let mark = format!("taskscale-hostile-{}-{}", std::process::id(), mode.replace('/', "-") + "-end");
    let ended = run(mode, &mark);
    let mut problems = Vec::new();
    if !ended.reasons.iter().any(|reason| reason.contains(words)) {
        problems.push(format!("{words:?} is in none of {:.600?}\n{:.900}", ended.reasons, ended.said));
    }
    if !ended.honest || !matches!(ended.status, Some(0 | 2)) {
        problems
            .push(format!("exit {:?}, honest row measured: {}: {}", ended.status, ended.honest, ended.said));
    }
    if ended.said.chars().any(|c| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    }) {
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
fn names_that_no_line_has_room_for_stay_within_80_columns() {
    let (tool, probe) = (Tool::new(), common::broken("long-names"));
    let few = ["--size", "64", "--samples", "2", "--sample-time", "1ms", "--max-time", "60s"];
    let run = [&["run", "fanout", "--probe", &probe][..], &few].concat();
    let misspelt = [&run[..], &["--variant", "lopo"]].concat();
    let all: [&[&str]; 7] = [
        &run,
        &["report", "last"],
        &["report", "last", "--details"],
        &misspelt,
        &["probe", "check", &probe],
        &["list", "fanout"],
        &["list"],
    ];
    for words in all {
        let ended = tool.command(words).output().expect("the binary starts");
        let said = [ended.stdout, ended.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        for line in said.iter().flat_map(|text| text.lines()) {
            // A path is there to be copied.
            assert!(columns(line) <= 80 || line.trim().starts_with('/'), "{words:?}: {line}");
        }
        assert!(words.len() == 1 || said.concat().contains("www"), "{words:?}: {said:?}");
    }
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
