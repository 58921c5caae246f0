//! `taskscale run --counts` as a process: tests what is counted, whether it agrees, and what
//! `compare` makes of it.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

mod common;

use std::fs;

use common::{Ran, Tool};
use serde_json::Value;

/// The cell ends as soon as it can: times are not what is tested.
const SHORT: [&str; 6] = ["--samples", "1", "--sample-time", "1ms", "--max-time", "600s"];

fn has(program: &str) -> bool {
    let here = std::process::Command::new(program).arg("--version").output().is_ok();
    if !here {
        eprintln!("no {program}, so nothing is tested");
    }
    here
}

fn counted(tool: &Tool, args: &[&str], file: &str) -> Ran {
    let path = tool.path(file);
    let path = path.to_str().expect("UTF-8");
    let ran = tool
        .run(&[&["run", "fanout", "--counts", "--format", "json", "-o", path], &SHORT[..], args].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    ran
}

/// Returns the entry of a metric of the first row of a runtime.
fn metric(summary: &Value, runtime: &str, name: &str) -> Value {
    let rows = summary["rows"].as_array().expect("rows");
    let found = rows.iter().find(|row| row["metric"] == name && row["runtime"] == runtime);
    found.unwrap_or_else(|| panic!("no {name} of {runtime}")).clone()
}

const TOKIO: [&str; 6] = ["--runtime", "tokio", "--variant", "current_thread/spawn", "--size", "1000"];

#[test]
fn two_runs_of_a_single_threaded_executor_agree() {
    if !has("cc") {
        return;
    }
    let tool = Tool::with_shared_cache();
    let [first, again] = ["a.jsonl", "b.jsonl"].map(|file| counted(&tool, &TOKIO, file).json());
    let known = metric(&first, "tokio", "allocations_per_task");
    assert_eq!((&known["exact"], &known["n"], &known["unit"]), (&true.into(), &3.into(), &"calls".into()));
    // A task is one allocation; the runtime's own come once in an iteration.
    let value = known["p50"].as_f64().expect("a value");
    assert!((1.0..1.1).contains(&value), "{value}");
    for name in ["allocations_per_task", "allocated_bytes_per_task"] {
        let [a, b] =
            [&first, &again].map(|summary| metric(summary, "tokio", name)["p50"].as_f64().expect("a value"));
        assert!((a - b).abs() <= 0.001 * a, "{name}: {a} and {b}");
    }
    // The kernel counts system calls: there is a value, or a reason why not.
    let syscalls = metric(&first, "tokio", "syscalls_per_task");
    match syscalls["p50"].as_f64() {
        Some(calls) => assert!(calls < 1.0, "{calls}"),
        None => {
            for field in ["reason", "remedy"] {
                assert!(syscalls[field].as_str().is_some_and(|words| !words.is_empty()), "{syscalls}");
            }
        }
    }
}

/// Writes a probe whose tasks do nothing but what is planted.
fn probe(tool: &Tool, file: &str, planted: &str) -> String {
    let path = tool.path(file);
    let text = format!(
        "from taskscale_probe.sdk import param, serve, variant\n\
         param(\"fanout\", \"order\", \"ordered\", \"how results are collected\", choices=[\"ordered\"])\n\
         def task(i):\n    {planted}\n    return 31 * i\n\
         @variant(\"fanout\", \"calls\")\n\
         def calls(run):\n    return run.time(lambda phases: sum(task(i) for i in range(run.size)))\n\
         serve(\"planted\", \"1\")\n"
    );
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_planted_allocation_turns_compare_red() {
    if !has("cc") || !has("python3") {
        return;
    }
    let tool = Tool::with_shared_cache();
    let measure = |file: &str, planted: &str| {
        let probe = probe(&tool, "planted.py", planted);
        let ran = counted(
            &tool,
            &["--probe", &probe, "--runtime", "tokio", "--variant", "calls", "--size", "500"],
            file,
        );
        metric(&ran.json(), "planted", "allocations_per_task")["p50"].as_f64().expect("a value")
    };
    let compare = |old: &str, new: &str, format: &str| {
        let paths = [old, new].map(|file| tool.path(file).to_str().expect("UTF-8").to_owned());
        tool.run(&["compare", &paths[0], &paths[1], "--format", format])
    };
    let plain = measure("plain.jsonl", "pass");
    measure("again.jsonl", "pass");
    let planted = measure("planted.jsonl", "object()");
    assert!((planted - plain - 1.0).abs() < 0.01, "one object a task: {plain}, then {planted}");

    let same = compare("plain.jsonl", "again.jsonl", "json");
    assert_eq!(same.status, Some(0), "{}", same.out);
    assert_eq!(same.json()["counted"]["worse"], 0);

    // Times of one sample tell nothing; only the count does.
    let red = compare("plain.jsonl", "planted.jsonl", "json");
    assert_eq!(red.status, Some(1), "{}", red.out);
    let json = red.json();
    assert_eq!((&json["regression"], &json["counts"]["worse"]), (&true.into(), &0.into()));
    let rows = json["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["runtime"] == "planted").expect("the probe's");
    assert_eq!(row["verdict"], "cannot_tell");
    assert_eq!(
        (&row["counts"][0]["metric"], &row["counts"][0]["verdict"]),
        (&"allocations_per_task".into(), &"worse".into())
    );
    for format in ["text", "md", "junit"] {
        let red = compare("plain.jsonl", "planted.jsonl", format);
        assert_eq!(red.status, Some(1), "{format}");
        assert!(
            red.out.contains("allocations per task") && red.out.contains("(+1.000)"),
            "{format}: {}",
            red.out
        );
    }
    let green = compare("planted.jsonl", "plain.jsonl", "text");
    assert_eq!(green.status, Some(0), "{}", green.out);
    assert!(green.out.contains("\nbetter  planted calls, size 500: allocations"), "{}", green.out);
}

#[test]
fn without_a_compiler_the_reason_is_told_and_times_are_measured() {
    // The cache is this test's own, so that it holds no library from before.
    let tool = Tool::new();
    let output = tool
        .command(&[&["run", "fanout", "--counts", "--format", "json"], &SHORT[..], &TOKIO].concat())
        .env("PATH", "/no/such/folder")
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(metric(&summary, "tokio", "cpu_per_task")["status"], "ok");
    for name in ["allocations_per_task", "allocated_bytes_per_task"] {
        let missing = metric(&summary, "tokio", name);
        assert_eq!((&missing["p50"], &missing["status"]), (&Value::Null, &"skipped".into()));
        let reason = missing["reason"].as_str().expect("a reason");
        assert!(reason.contains("no cc or gcc or clang on the PATH"), "{reason}");
        assert!(missing["remedy"].as_str().expect("a remedy").contains("install a C compiler"));
    }
}

#[test]
fn nothing_is_counted_unless_it_is_asked_for() {
    let tool = Tool::new();
    let ran = tool.run(&[&["run", "fanout", "--format", "json"], &SHORT[..], &TOKIO].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(!ran.out.contains("allocations_per_task"), "{}", ran.out);
}

/// A probe in each language whose runtime counts by itself: a task allocates one object of 64
/// bytes, as the language lays it out, and the collector is asked to run once an iteration. `KNOWN`
/// are the objects and bytes of a task, where the runtime counts them.
const KNOWN: [(&str, &str, &str, Option<f64>, f64); 4] = [
    (
        "go",
        "known.go",
        "package main\nimport (\"runtime\"; \"taskscale/sdk\")\nvar kept *[64]byte\nfunc main() {\n\
         sdk.Variant(\"nop\", \"known\", func(run *sdk.Run) (sdk.Timing, error) {\n\
         return run.Time(func(phases *sdk.Phases) uint64 {\n\
         for i := uint64(0); i < run.Size; i++ { kept = new([64]byte) }\nruntime.GC()\nreturn run.Size }), nil },\n\
         sdk.CreatesTask(false))\nsdk.Serve(\"known\", \"1\") }\n",
        Some(1.0),
        64.0,
    ),
    (
        // A header of 16 bytes, a length of 8, and the bytes.
        "dotnet",
        "known.cs",
        "using Taskscale;\nProbe.Variant(\"nop\", \"known\", run => run.Time(phases => {\n\
         for (int i = 0; i < run.Size; i++) Kept.It = new byte[40];\nGC.Collect();\nreturn run.Size;\n\
         })).CreatesTask(false);\nProbe.Serve(\"known\", \"1\");\n\
         static class Kept { public static volatile byte[]? It; }\n",
        None,
        64.0,
    ),
    (
        "java",
        "Known.java",
        "import taskscale.sdk.Probe;\npublic class Known {\nstatic volatile byte[] kept;\n\
         public static void main(String[] args) {\nProbe.variant(\"nop\", \"known\", run -> run.time(phases -> {\n\
         for (int i = 0; i < run.size; i++) kept = new byte[48];\nSystem.gc();\nreturn run.size;\n\
         })).createsTask(false);\nProbe.serve(\"known\", \"1\");\n}\n}\n",
        None,
        64.0,
    ),
    (
        // A map, properties and elements of 8 bytes each, and five fields.
        "node",
        "known.mjs",
        "import { serve, variant } from \"taskscale-probe\";\nexport let kept;\n\
         variant(\"nop\", \"known\", { createsTask: false }, (run) => run.time(() => {\n\
         for (let i = 0; i < run.size; i++) kept = { a: 1, b: 2, c: 3, d: 4, e: 5 };\n\
         return run.size;\n}));\nserve(\"known\", \"1\");\n",
        Some(1.0),
        64.0,
    ),
];

#[test]
fn runtimes_that_count_by_themselves_tell_the_known_number() {
    let tool = Tool::with_shared_cache();
    let suite = tool.path("known.toml");
    let block = "[[workload]]\nname = \"nop\"\nsizes = [10000]\nanswer = { rule = \"count\" }\n";
    fs::write(&suite, format!("schema = \"taskscale.suite/1\"\nname = \"k\"\ntitle = \"k\"\n{block}"))
        .expect("written");
    let suite = suite.to_str().expect("UTF-8");
    for (program, file, text, objects, bytes) in KNOWN {
        if !has(program) {
            continue;
        }
        let path = tool.path(file);
        fs::write(&path, text).expect("written");
        let path = path.to_str().expect("UTF-8");
        let ran = tool.run(
            &[
                &["run", suite, "--probe", path, "--metrics", "allocs,bytes,gc"],
                &["--format", "json"][..],
                &SHORT[..],
            ]
            .concat(),
        );
        assert_eq!(ran.status, Some(0), "{file}: {}", ran.err);
        let summary = ran.json();
        let of = |name: &str| {
            let rows = summary["rows"].as_array().expect("rows");
            rows.iter()
                .find(|row| row["metric"] == name)
                .unwrap_or_else(|| panic!("no {name}: {summary}"))
                .clone()
        };
        // What a collection asked for allocates itself is shared by 10,000 tasks, and so is what
        // Node does beside: 5 KB on a busy machine.
        let near = |name: &str, known: f64, share: f64| {
            let counted = of(name);
            let value = counted["p50"].as_f64().unwrap_or_else(|| panic!("{file}: {counted}"));
            assert!((value - known).abs() <= share * known, "{file}: {name} {value}, right is {known}");
        };
        match objects {
            Some(objects) => near("allocations_per_task", objects, 0.005),
            None => assert!(of("allocations_per_task")["reason"].is_string(), "{file}"),
        }
        near("allocated_bytes_per_task", bytes, 0.02);
        // Node's program asks for no collection: how many there are is for the engine to say.
        if program != "node" {
            let collections = of("collections_per_task");
            let value = collections["p50"].as_f64().unwrap_or_else(|| panic!("{file}: {collections}"));
            assert!(
                (0.9e-4..9e-4).contains(&value),
                "{file}: {value} collections a task, one or more in 10,000"
            );
        }
    }
}
