//! The tool dies in any way at any moment: nothing that it started stays, and nothing is lost but
//! the sample under way.
//!
//! Each signal has three moments. `TASKSCALE_KILLS=200 cargo test -p taskscale-cli --test killed`
//! has 50 of each.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Tool, repository};
use serde_json::Value;

/// Time after which nothing may be left.
const GONE: Duration = Duration::from_secs(2);

/// Time for what a busy machine may take long for.
const PLENTY: Duration = Duration::from_secs(120);

/// The latest moment of a kill: the tool has shaken hands and measures by then.
const LATEST_MS: u64 = 2_500;

/// Three signals in four end the run in good order.
const IN_GOOD_ORDER: [&str; 3] = ["HUP", "TERM", "INT"];

fn kills() -> usize {
    let asked = std::env::var("TASKSCALE_KILLS").ok().and_then(|kills| kills.parse::<usize>().ok());
    asked.map_or(3, |kills| kills.div_ceil(4))
}

/// A mark that no other test and no other run of this one has.
fn mark() -> String {
    format!("mark-{}-{:016x}", std::process::id(), fastrand::u64(..))
}

/// Processes that carry the mark. A zombie has none any more.
fn alive(mark: &str) -> Vec<String> {
    let has = |path: &Path, file: &str| {
        let text = fs::read(path.join(file)).unwrap_or_default();
        text.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("a /proc").flatten().map(|entry| entry.path());
    let marked = processes.filter(|path| has(path, "cmdline") || has(path, "environ"));
    let words = |path: &Path| {
        let line =
            String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default()).replace('\0', " ");
        format!("{} {line}", path.display())
    };
    marked.map(|path| words(&path)).collect()
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().expect("kill").success());
}

fn run(tool: &Tool, mark: &str, file: &Path) -> Command {
    let family = repository().join("crates/cli/tests/probes/family.py");
    let probe = format!("python3 {} {mark} {}", family.display(), env!("CARGO_BIN_EXE_taskscale"));
    let args = "run fanout --size 64 --samples 100000 --sample-time 1ms --max-time 1h --precision 0";
    let args: Vec<&str> =
        args.split_whitespace().chain(["--probe", &probe, "-o"]).chain(file.to_str()).collect();
    let mut command = tool.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same command where these tests run under `nohup`, whose children ignore SIGHUP.
fn listens(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    command.get_envs().for_each(|(name, value)| match value {
        Some(value) => _ = env.env(name, value),
        None => _ = env.env_remove(name),
    });
    env.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    env
}

fn ended(child: &mut Child, what: &str) {
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        assert!(began.elapsed() < PLENTY, "{what}: still running");
        thread::sleep(Duration::from_millis(5));
    }
}

fn timed(text: &str) -> usize {
    text.lines().filter(|line| line.contains("\"kind\":\"timed\"")).count()
}

/// Asserts that nothing is left in time, and ends it if it is.
#[track_caller]
fn all_gone(mark: &str, what: &str) {
    let began = Instant::now();
    while !alive(mark).is_empty() && began.elapsed() < GONE {
        thread::sleep(Duration::from_millis(10));
    }
    let left = alive(mark);
    for pid in left.iter().filter_map(|line| line.strip_prefix("/proc/")?.split(' ').next()) {
        Command::new("kill").args(["-KILL", pid]).status().ok();
    }
    assert!(left.is_empty(), "{what}: {left:#?}");
}

/// Asserts that the run file has every sample that was taken, whole.
fn nothing_is_lost(tool: &Tool, file: &Path, signal: &str, what: &str) {
    // A kill before the plan leaves no file.
    let Ok(text) = fs::read_to_string(file) else { return };
    let whole = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert!(text.lines().count() - whole <= 1, "{what}: more than the last line is torn");
    if IN_GOOD_ORDER.contains(&signal) {
        let last = text.lines().last().unwrap_or_default();
        assert!(last.contains("\"type\":\"end\""), "{what}: no end: {last}");
    }
    // Of fewer, a row may have too few for figures.
    let samples = timed(&text);
    if samples < 30 {
        return;
    }
    let report = tool.run(&["report", "--format", "json", file.to_str().expect("UTF-8")]);
    assert_eq!(report.status, Some(0), "{what}: {}", report.err);
    let summary = report.json();
    let rows = summary["rows"].as_array().expect("rows");
    let of_cpu = rows.iter().filter(|row| row["metric"] == "cpu_per_task");
    let counted = of_cpu.filter_map(|row| row["n"].as_u64()).sum::<u64>();
    let without: Vec<&Value> = rows.iter().filter(|row| row["status"] != "ok").collect();
    if without.iter().any(|row| row["reason"].as_str().is_some_and(is_elsewhere)) {
        return;
    }
    assert_eq!(counted as usize, samples, "{what}: every timed sample counts; no figures: {without:#?}");
}

/// Whether a row failed since the family does not `exec` the probe: the kernel counts the script
/// alone, and 10 ms of CPU time that the probe tells (a slow sample, or ten) cannot be its.
fn is_elsewhere(text: &str) -> bool {
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains("the kernel counted")
}

fn nothing_stays(signal: &str) {
    let tool = Tool::new();
    for number in 0..kills() {
        let (mark, file) = (mark(), tool.path(&format!("{number}.taskscale.jsonl")));
        let moment = Duration::from_millis(fastrand::u64(0..LATEST_MS));
        let what = format!("SIG{signal} after {moment:?}");
        let mut child = listens(&run(&tool, &mark, &file)).spawn().expect("starts");
        thread::sleep(moment);
        send(signal, &child);
        if signal == "TERM" {
            // As `timeout` does: to the process, and then to its group.
            thread::sleep(Duration::from_millis(20));
            send(signal, &child);
        }
        ended(&mut child, &what);
        all_gone(&mark, &what);
        let output = child.wait_with_output().expect("read");
        // Before the tool listens, a signal ends it as any program.
        let listened = output.status.code().is_some();
        if IN_GOOD_ORDER.contains(&signal) && listened {
            let (out, text) =
                (String::from_utf8_lossy(&output.stdout), fs::read_to_string(&file).unwrap_or_default());
            // Where all its rows have failed, the run has ended before the signal.
            let code = output.status.code();
            assert!(code == Some(130) || code == Some(2) && is_elsewhere(&out), "{what}: {output:?}");
            assert!(timed(&text) < 3 || out.contains("multi_thread/spawn"), "{what}: no figures: {out}");
        }
        nothing_is_lost(&tool, &file, signal, &what);
    }
}

#[test]
fn nothing_stays_after_sigkill() {
    nothing_stays("KILL");
}

#[test]
fn nothing_stays_after_a_closed_terminal() {
    nothing_stays("HUP");
}

#[test]
fn nothing_stays_after_sigterm() {
    nothing_stays("TERM");
}

#[test]
fn nothing_stays_after_ctrl_c() {
    nothing_stays("INT");
}

/// Without the watchdog, the daemons of a tool that was killed live on: what the tests above find
/// gone was there.
#[test]
fn a_family_is_alive_while_the_tool_is() {
    let tool = Tool::new();
    let (mark, file) = (mark(), tool.path("alive.taskscale.jsonl"));
    let mut child = run(&tool, &mark, &file).spawn().expect("starts");
    let began = Instant::now();
    while timed(&fs::read_to_string(&file).unwrap_or_default()) == 0 {
        assert!(began.elapsed() < PLENTY, "no sample: {:?}", alive(&mark));
        thread::sleep(Duration::from_millis(20));
    }
    // The tool, the script, the probe, and two daemons with their `sleep`.
    let there = alive(&mark);
    assert!(there.len() >= 5, "{there:#?}");
    send("KILL", &child);
    ended(&mut child, "SIGKILL");
    all_gone(&mark, "SIGKILL");
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let tool = Tool::new();
    let (mark, file) = (mark(), tool.path("nohup.taskscale.jsonl"));
    let words = run(&tool, &mark, &file);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(words.get_program()).args(words.get_args());
    shell.envs(words.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let samples = || timed(&fs::read_to_string(&file).unwrap_or_default());
    let wait = |least: usize| {
        let began = Instant::now();
        while samples() < least {
            assert!(began.elapsed() < PLENTY, "fewer than {least} samples");
            thread::sleep(Duration::from_millis(20));
        }
    };
    wait(1);
    send("HUP", &child);
    wait(samples() + 10);
    send("INT", &child);
    ended(&mut child, "SIGINT");
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    all_gone(&mark, "SIGINT");
}
