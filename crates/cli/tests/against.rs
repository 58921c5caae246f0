//! `taskscale run --against` as a process: tests two sides in one run, its verdicts and how it
//! ends.

mod common;

use std::fs;

use common::Tool;

/// Samples are few and short: these tests look at what is said, never at how long it took.
const SHORT: &[&str] = &[
    "--samples",
    "4",
    "--sample-time",
    "200us",
    "--max-time",
    "600s",
    "--timeout",
    "600s",
    "--precision",
    "0",
];

/// Writes the smallest Python probe, with an edit.
fn probe(tool: &Tool, folder: &str, from: &str, to: &str) -> String {
    let text = include_str!("../../../examples/probes/my_probe.py");
    assert!(text.contains(from), "the example says {from}");
    let path = tool.path(folder).join("mine.py");
    fs::create_dir_all(tool.path(folder)).expect("a folder");
    fs::write(&path, text.replace(from, to)).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn run(tool: &Tool, args: &[&str]) -> common::Ran {
    tool.run(&[&["run", "fanout", "--size", "64"], args, SHORT].concat())
}

#[test]
fn a_new_side_that_fails_is_a_regression_and_its_file_says_so_again() {
    let tool = Tool::with_shared_cache();
    let (old, new) = (probe(&tool, "old", "31 * i", "31 * i"), probe(&tool, "new", "31 * i", "30 * i"));
    let file = tool.path("both.taskscale.jsonl").to_str().expect("UTF-8").to_owned();
    let ran = run(&tool, &["--probe", &new, "--against", &old, "-o", &file, "--format", "json"]);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let verdicts = ran.json();
    assert_eq!(
        (&verdicts["schema"], &verdicts["design"]),
        (&"taskscale.compare/1".into(), &"one_run".into())
    );
    assert_eq!((&verdicts["old"]["name"], &verdicts["new"]["name"]), (&"mine#old".into(), &"mine".into()));
    // The suite's two other tables, which this probe does not offer, are not among them.
    assert_eq!(verdicts["rows"].as_array().map(Vec::len), Some(1), "{}", verdicts["rows"]);
    let row = &verdicts["rows"][0];
    assert_eq!((&row["variant"], &row["verdict"]), (&"in_chunks".into(), &"worse".into()));
    assert!(row["reason"].as_str().is_some_and(|why| why.starts_with("failed in NEW")), "{row}");
    for (format, words) in [("junit", "<failure"), ("text", "worse"), ("md", "**worse**")] {
        let again = tool.run(&["compare", &file, "--format", format]);
        assert_eq!((again.status, again.out.contains(words)), (Some(1), true), "{format}: {}", again.out);
    }
    // The same file also gives the tables.
    let tables = tool.run(&["report", &file]);
    assert!(tables.status == Some(0) && tables.out.contains("mine#old"), "{}", tables.out);

    // With the sides exchanged, the row is better.
    let ran = run(&tool, &["--probe", &old, "--against", &new]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("failed in OLD") && ran.err.contains("Raw samples:"), "{}", ran.out);
}

#[test]
fn one_runtime_against_itself_is_an_a_a_comparison() {
    let ran =
        run(&Tool::new(), &["--against", "tokio", "--variant", "current_thread/spawn", "--format", "json"]);
    // Four rounds are too few for any verdict, so the status does not depend on the time.
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let strict = ["--against", "tokio", "--variant", "current_thread/spawn", "--format", "json", "--strict"];
    assert_eq!(run(&Tool::new(), &strict).status, Some(3), "no verdict is not a good one");
    let verdicts = ran.json();
    assert_eq!((&verdicts["old"]["name"], &verdicts["new"]["name"]), (&"tokio#old".into(), &"tokio".into()));
    assert!(verdicts["notes"].to_string().contains("same program"), "{}", verdicts["notes"]);
    let rows = verdicts["rows"].as_array().expect("rows");
    assert!(!rows.is_empty());
    for row in rows {
        assert!(row["reason"].as_str().is_some_and(|why| why.starts_with("too few processes")), "{row}");
    }
}

#[test]
fn sides_that_cannot_be_had_end_with_status_2_before_anything_is_measured() {
    let tool = Tool::with_shared_cache();
    let mine = probe(&tool, "one", "31 * i", "31 * i");
    let cases: [(&[&str], &str); 8] = [
        (&["--against", "go@/no/such/go"], "the old side, go@/no/such/go, cannot be measured"),
        (
            &["--probe", "no-such-program", "--against", &mine],
            "the new side, no-such-program, cannot be measured",
        ),
        (&["--against", &mine], "name the new one with --probe"),
        (&["--probe", &mine, "--against", &mine, "--against", &mine], "name the new one with --probe"),
        (
            &["--probe", &mine, "--runtime", "tokio", "--against", "tokio", "--variant", "in_chunks"],
            "no row is on both sides",
        ),
        (
            &["--runtime", "go", "--against", "asyncio"],
            "nothing of this run stands against asyncio: it is about go; say --against go@TOOLCHAIN",
        ),
        (
            &["--probe", &mine, "--against", "tokio"],
            "say --against FILE, or name the new side too: --runtime tokio",
        ),
        (&["--probe", &mine, "--against", &mine, "--baseline", "x"], "cannot be used with"),
    ];
    for (args, words) in cases {
        let ran = run(&tool, args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
    let plain = tool.path("plain.jsonl").to_str().expect("UTF-8").to_owned();
    let ran = run(&tool, &["--runtime", "tokio", "--variant", "current_thread/spawn", "-o", &plain]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let ran = tool.run(&["compare", &plain]);
    assert!(ran.status == Some(2) && ran.err.contains("--against"), "{}", ran.err);
}

#[test]
fn a_new_side_that_tells_a_part_of_its_time_now_and_then_is_no_better() {
    let probe =
        |clocks: &str| format!("python3 {}/tests/probes/clocks.py {clocks}", env!("CARGO_MANIFEST_DIR"));
    let (old, new) = (probe("1 1"), probe("20 20 2"));
    let args = ["run", "fanout", "--probe", &new, "--against", &old, "--format", "json", "--size", "1000"];
    let length = "--samples 12 --sample-time 10ms --max-time 600s --timeout 600s --precision 0";
    let ran = Tool::new().run(&args.into_iter().chain(length.split(' ')).collect::<Vec<_>>());
    let row = &ran.json()["rows"][0];
    assert_eq!((ran.status, &row["verdict"]), (Some(1), &"worse".into()), "{row}");
    let reason = row["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("failed in NEW: reports a time that cannot be"), "{reason}");
}
