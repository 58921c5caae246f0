//! Runs `taskscale probe check` against every probe of ours, and against probes that break one rule
//! each.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a skipped check is named in the test output")]

mod common;

use common::{Tool, broken};

/// Tells whether the toolchain of a probe is on this machine, and prints that it is not. A probe
/// that does not build is no missing toolchain.
fn is_here(name: &str, ran: &common::Ran) -> bool {
    let said = format!("{}{}", ran.out, ran.err);
    assert!(!said.contains("does not build"), "{name}: {said}");
    if ran.status == Some(2) {
        println!("skipped: {name}: {}", said.trim());
    }
    ran.status != Some(2)
}

/// Returns what was said, `None` where the toolchain is missing.
fn conforms(runtime: &str, workload: &str) -> Option<String> {
    let tool = Tool::with_shared_cache();
    if tool.fetched(runtime).is_some_and(|ran| !is_here(runtime, &ran)) {
        return None;
    }
    let ran = tool.run(&["probe", "check", "--runtime", runtime, "--verbose"]);
    if !is_here(runtime, &ran) {
        return None;
    }
    assert_eq!(ran.status, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("conforms to probe protocol 1") && ran.out.contains(" 0 failed"), "{}", ran.out);
    assert!(ran.out.contains(&format!("answers: {workload}")), "{}", ran.out);
    Some(ran.out)
}

macro_rules! ours {
    ($($name:ident),*) => { $(#[test] fn $name() { conforms(stringify!($name), "fanout"); })* };
}
ours!(tokio, rayon, smol, threads, asyncio, uvloop, trio, anyio);
ours!(go, java, node, taskflow, onetbb, openmp, cpp, swift, csharp, fsharp, ocaml);

/// This probe has nothing but the cliff for which the old library is kept.
#[test]
fn tokio_with_the_old_futures() {
    conforms("tokio+futures-0.3.17", "drain");
}

/// These have the one workload that is measured without the collector.
#[test]
fn java_with_a_large_young_generation() {
    conforms("java+large-young", "nop");
}

/// Returns the newest JDK without virtual threads: 17 to 20.
fn jdk_before_virtual_threads() -> Option<String> {
    let jdks = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let folders = jdks.map(|jdk| jdk.path()).chain(std::env::var_os("JAVA_HOME").map(Into::into));
    let feature = |folder: &std::path::Path| {
        let said = std::process::Command::new(folder.join("bin/javac")).arg("-version").output().ok()?;
        let said = String::from_utf8(said.stdout).ok()?;
        said.trim().strip_prefix("javac ")?.split(['.', '-']).next()?.parse::<u32>().ok()
    };
    let old = folders.filter_map(|folder| Some((feature(&folder)?, folder)));
    let newest = old.filter(|(version, _)| (17..21).contains(version)).max()?;
    Some(newest.1.display().to_string())
}

/// All that needs no virtual threads is there, and the rest says why it is not.
#[test]
fn java_before_virtual_threads() {
    let Some(jdk) = jdk_before_virtual_threads() else {
        println!("skipped: java_before_virtual_threads: no JDK of 17 to 20 in /usr/lib/jvm or JAVA_HOME");
        return;
    };
    let runtime = format!("java@{jdk}");
    let said = conforms(&runtime, "fanout").expect("a JDK that was found");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for workload in
        ["fanout", "parked", "scale", "pingpong", "remote", "context", "idle", "cancel", "blocking"]
    {
        let here = format!("ok answers: {workload} ");
        assert!(said.contains(&here), "{workload}: {said}");
        let missing = format!("note answers: {workload} virtual/");
        let why = "not to be had here: virtual threads came with JDK 21 (name a newer JDK: ";
        assert!(said.contains(&missing) && said.contains(why), "{workload}: {said}");
    }
}

#[test]
fn node_with_a_large_semi_space() {
    conforms("node+large-semi-space", "nop");
}

/// This probe has the interpreter alone.
#[test]
fn csharp_with_runtime_async() {
    conforms("csharp+runtime-async", "interp");
}

/// Checks a user's probe of ten lines, as `taskscale new-probe` writes it in each language.
fn example_conforms(file: &str) {
    let path = format!("{}/../../examples/probes/{file}", env!("CARGO_MANIFEST_DIR"));
    let ran = Tool::with_shared_cache().run(&["probe", "check", &path]);
    if is_here(file, &ran) {
        assert_eq!(ran.status, Some(0), "{file}: {}\n{}", ran.out, ran.err);
        assert!(ran.out.contains("conforms to probe protocol 1"), "{file}: {}", ran.out);
    }
}

#[test]
fn what_is_slow_and_right_conforms_and_is_told() {
    let tool = Tool::with_shared_cache();
    let file = tool.path("slow.py");
    // 20 us of CPU time for each pair: 20 s at 1,000.
    let text = "import time\nfrom taskscale_probe.sdk import serve, variant\n
@variant('pairs', 'all')
def all(run):
    def one(phases):
        end = time.process_time() + run.size ** 2 * 20e-6
        while time.process_time() < end:
            pass
        return run.size
    return run.time(one)\n
serve('mine', '1.0')\n";
    std::fs::write(&file, text).expect("written");
    let ran = tool.run(&["probe", "check", file.to_str().expect("UTF-8"), "--timeout", "6s"]);
    if is_here("slow.py", &ran) {
        let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ran.status, Some(0), "{said}\n{}", ran.err);
        assert!(said.contains("note answers: pairs all slow: n=1,000 takes about "), "{said}");
        assert!(said.contains(" 0 failed, 1 noted"), "{said}");
    }
}

/// Writes a probe of one way to do a workload, which gives this.
fn of_one_way(tool: &Tool, workload: &str, answer: &str) -> String {
    let file = tool.path("mine.py");
    let text = format!(
        "from taskscale_probe.sdk import serve, variant\n
@variant('{workload}', 'mine')
def mine(run):
    return run.time(lambda _phases: {answer})\n
serve('mine', '1.0')\n"
    );
    std::fs::write(&file, text).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_users_workload_with_the_name_of_a_built_in_one_is_judged_as_a_run_does() {
    const TRIANGLE: &str = "sum(range(run.size + 1))";
    let tool = Tool::with_shared_cache();
    let sizes = ["--size", "7", "--size", "1000", "--quick"];
    for (workload, answer, status, words) in [
        ("drain", TRIANGLE, 0, "note answers: drain mine other work than the built-in workload drain"),
        ("interp", TRIANGLE, 0, "note answers: interp mine other work than the built-in workload interp"),
        ("bytes", TRIANGLE, 0, "note answers: bytes mine other work than the built-in workload bytes"),
        ("drain", "run.size", 0, "0 failed, 0 noted"),
        ("drain", "0", 1, "the answer is 0 at size 7"),
        ("sums", "0", 1, "the answer is 0 at size 7"),
        ("drain", "id(object()) % 1000 + run.iterations", 1, "FAILED answers: drain mine"),
    ] {
        let file = of_one_way(&tool, workload, answer);
        let checked = tool.run(&["probe", "check", &file]);
        let said = checked.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(checked.status, Some(status), "{workload} {answer}: {said}");
        assert!(said.contains(words), "{workload} {answer}: {said}");
        let ran = tool.run(&[&["run", "--probe", &file], &sizes[..]].concat());
        assert_eq!(ran.status == Some(0), status == 0, "{workload} {answer}: {ran:?}");
    }
    // A command speaks for itself: what it calls `drain` is `drain`.
    let file = of_one_way(&tool, "drain", TRIANGLE);
    let checked = tool.run(&["probe", "check", &format!("python3 {file}")]);
    assert_eq!(checked.status, Some(1), "{}", checked.out);
}

macro_rules! examples {
    ($($name:ident: $file:literal),* $(,)?) => { $(#[test] fn $name() { example_conforms($file); })* };
}
examples! {
    of_ones_own_in_python: "my_probe.py",
    of_ones_own_in_go: "my_probe.go",
    of_ones_own_in_java: "MyProbe.java",
    of_ones_own_on_node: "my_probe.mjs",
    of_ones_own_in_cpp: "my_probe.cpp",
    of_ones_own_in_swift: "my_probe.swift",
    of_ones_own_in_csharp: "my_probe.cs",
    of_ones_own_in_fsharp: "my_probe.fsx",
    of_ones_own_in_ocaml: "my_probe.ml",
    of_ones_own_in_rust: "my_probe.rs",
}

/// Checks the same probe given as a command: `--probe 'python3 my_probe.py'`.
#[test]
fn a_command_that_hands_a_file_to_an_interpreter_finds_the_sdk() {
    for (program, file) in [("python3", "my_probe.py"), ("node", "my_probe.mjs")] {
        let command = format!("{program} {}/../../examples/probes/{file}", env!("CARGO_MANIFEST_DIR"));
        let ran = Tool::with_shared_cache().run(&["probe", "check", &command]);
        if ran.out.contains("could not start") {
            println!("skipped: {command}: {}", ran.out.trim());
            continue;
        }
        assert_eq!(ran.status, Some(0), "{command}: {}\n{}", ran.out, ran.err);
    }
}

#[test]
fn the_honest_probe_of_the_tests_conforms() {
    for mode in ["honest", "interp-honest"] {
        let ran = Tool::new().run(&["probe", "check", &broken(mode)]);
        assert_eq!(ran.status, Some(0), "{}", ran.out);
    }
}

/// Breaks one rule and expects the words that name it.
fn is_found(mode: &str, words: &str) {
    // Only a probe that hangs is waited for in vain. One that answers may take its time on a busy
    // machine.
    let timeout = if words.starts_with("no answer") || mode == "stays" { "3s" } else { "60s" };
    let ran = Tool::new().run(&["probe", "check", "--timeout", timeout, &broken(mode)]);
    assert_eq!(ran.status, Some(1), "{mode}: {}{}", ran.out, ran.err);
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("does not conform") && told.contains(words),
        "{mode}: {words:?} not in\n{}",
        ran.out
    );
    assert!(ran.out.contains("remedy: "), "{mode}: {}", ran.out);
}

macro_rules! breaks {
    ($($name:ident: $mode:literal => $words:literal;)*) => { $(#[test] fn $name() { is_found($mode, $words); })* };
}
breaks! {
    mute: "mute" => "no answer to describe within 3 s";
    hangs: "hang" => "no answer to fanout loop at size 1 within 3 s";
    hangs_at_one_size: "slow-size-7" => "no answer to fanout loop at size 7";
    exits: "exit" => "ended (exit status 3)";
    crashes: "crash" => "SIGABRT";
    traceback: "traceback" => "RuntimeError: the pool is already shut down; it ended (exit status 1)";
    fails: "fails" => "variant 'loop' failed: the pool is already shut down, when asked for fanout loop at size 1";
    junk: "junk" => "not protocol 1";
    log_line: "log-line" => "connecting to the pool";
    banner: "banner" => "Welcome to my probe!";
    floods: "flood" => "flooded its output";
    floods_stderr: "flood-stderr" => "flooded its output";
    other_protocol: "protocol-2" => "speaks protocol 2, this build speaks 1";
    any_protocol: "any-protocol" => "describe with protocol 999";
    no_workloads: "no-workloads" => "offers no workload";
    no_resolution: "no-resolution" => "resolution is given as 0";
    wrong_answer: "skips-last" => "the answer is 465, right is 651";
    ignores_iterations: "ignores-iterations" => "3 iterations";
    multiplies: "multiplies" => "the work is not repeated";
    boasts_cpu: "boasts-cpu" => "a time that cannot be";
    boasts_wall: "boasts-wall" => "of wall time, while only";
    microseconds: "microseconds" => "are the units nanoseconds?";
    negative_time: "negative-time" => "not protocol 1";
    other_id: "other-id" => "answered request";
    no_answer: "no-answer" => "missing field `answer`";
    speaks_twice: "speaks-twice" => "spoke out of turn";
    accepts_anything: "accepts-anything" => "answered as if it were right";
    dies_of_errors: "dies-of-errors" => "ended (exit status 1) instead of answering an unknown workload";
    dies_of_garbage: "dies-of-garbage" => "a line that is not JSON";
    empty_errors: "empty-errors" => "an error without a message";
    exit_status: "exit-status-4" => "did not end with status 0";
    stays: "stays" => "did not end with status 0";
    skips_a_node: "interp-skips" => "counted nodes 1803, right is 1804 (requests: 1): it visits other nodes";
    overlaps: "interp-overlaps" => "counted order \"1\", right is 2153812598003189471";
    uses_a_result_twice: "interp-twice" => "consumed_twice 1, right is 0 (requests: 1): a result that can be used once";
    does_not_pause: "interp-no-pause" => "counted suspended 0, right is 6 (requests: 1): a pause did not suspend";
}

#[test]
fn a_probe_that_gives_no_ids_is_told_but_conforms() {
    let ran = Tool::new().run(&["probe", "check", &broken("no-id")]);
    assert_eq!(ran.status, Some(0), "{}", ran.out);
    assert!(ran.out.contains("does not copy the request's id"), "{}", ran.out);
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let ran = Tool::new().run(&["probe", "check", "no-such-program-anywhere"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.out.contains("could not start no-such-program-anywhere"), "{}", ran.out);
}
