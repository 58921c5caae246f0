//! Run files as a user meets them: damaged, endless, too large, telling too much; and probes whose
//! clocks are wrong.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use common::{Ran, Tool};
use taskscale_model::run_file::line;

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");

/// `report` with these words, with no more address space than that.
fn within(kb: u32, words: &str) -> Command {
    let mut command = Command::new("bash");
    let line = format!("ulimit -v {kb} && exec {} report {words}", env!("CARGO_BIN_EXE_taskscale"));
    command.args(["-c", &line]).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_run_file_ends_in_bounded_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let large = fs::File::create(path("large")).expect("a file");
    large.set_len(1 << 30).expect("a hole of 1 GB");
    assert!(Command::new("mkfifo").arg(path("pipe")).status().expect("mkfifo").success());
    fs::write(path("first.jsonl"), QUICK.lines().next().expect("a header").to_owned() + "\n")
        .expect("written");
    for (words, said) in [
        ("/dev/zero".to_owned(), "line 1 is longer than 1048576 bytes"),
        (path(""), "it is a folder"),
        (path("pipe"), "it is a pipe, and nothing was written to it for 5 s"),
        (path("large"), "it is larger than 256 MiB, which no run file is"),
        // A header, and nothing behind it that ends.
        (format!("<(cat {} /dev/zero)", path("first.jsonl")), "line 2 is longer than 1048576 bytes"),
        (format!("--salvage <(cat {} /dev/zero)", path("first.jsonl")), "is larger than 256 MiB"),
    ] {
        let ran = common::ran(&mut within(900_000, &words));
        assert_eq!(ran.status, Some(2), "{words}: {ran:?}");
        assert!(ran.err.contains(said) && !ran.err.contains("panicked"), "{words}: {}", ran.err);
    }
    // What is written to a pipe in time is read from it.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/data/quick.jsonl");
    let ran = common::ran(&mut within(900_000, &format!("<(sleep 0.2; cat {})", data.display())));
    assert!(ran.status == Some(0) && ran.out.contains("tokio"), "{ran:?}");
    assert!(ran.err.contains("has no check in its lines"), "{}", ran.err);
}

/// A run file of so many rows of one table, each with two samples.
fn with_rows(rows: usize) -> String {
    let lines: Vec<serde_json::Value> =
        QUICK.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind).cloned();
    let row = of("row").next().expect("a row");
    let sample = of("sample").find(|line| line["kind"] == "timed").expect("a sample");
    let mut out: Vec<serde_json::Value> = of("header").chain(of("runtime")).collect();
    for n in 0..rows {
        let mut row = row.clone();
        (row["row"], row["variant"]) = (n.into(), format!("v{n:05}").into());
        (row["role"], row["baseline"]) = ("row".into(), (rows - 1).into());
        out.push(row);
        for round in 0..2 {
            let mut sample = sample.clone();
            (sample["order"], sample["row"], sample["round"]) =
                ((2 * n + round).into(), n.into(), round.into());
            sample["variant"] = format!("v{n:05}").into();
            out.push(sample);
        }
    }
    out.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn thousands_of_rows_are_read_within_the_patience_of_a_reader() {
    let tool = Tool::new();
    let file = tool.path("many.taskscale.jsonl");
    fs::write(&file, with_rows(15_000)).expect("written");
    // Without optimisation, on a busy machine, and far below what the square of the rows takes.
    let ran = common::ran(&mut within(2_000_000, &file.display().to_string()));
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("v00000") && ran.out.len() < 100_000, "{} bytes", ran.out.len());
}

#[test]
fn a_changed_digit_is_named_and_salvage_reads_around_it() {
    let tool = Tool::new();
    let (old, new) = (tool.path("old.taskscale.jsonl"), tool.path("new.taskscale.jsonl"));
    fs::write(&old, QUICK).expect("written");
    let (from, to) = (old.display().to_string(), new.display().to_string());
    let ran = tool.run(&["report", &from, "--redact", &to]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let text = fs::read_to_string(&new).expect("written anew");
    assert!(text.lines().all(|text| line::check(text.as_bytes()) == line::Check::Right));
    assert_eq!(tool.run(&["report", &to]).out, tool.run(&["report", &from]).out.replace(&from, &to));
    assert!(!tool.run(&["report", &to]).err.contains("no check"), "it has some");

    let damaged = text.replacen("\"wall_ns\":1", "\"wall_ns\":2", 1);
    let number = 1 + text.lines().zip(damaged.lines()).position(|(a, b)| a != b).expect("a changed line");
    fs::write(&new, damaged).expect("written");
    let ran = tool.run(&["report", &to]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains(&format!("line {number} is damaged: it is not what was written")),
        "{}",
        ran.err
    );
    let ran = tool.run(&["report", &to, "--salvage", "--details"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("left out 1 damaged line: {number}")), "{words}");
    let ran = tool.run(&["report", &to, "--salvage"]);
    let said = "1 damaged line of the file read around: --details says which";
    assert!(ran.out.lines().take(4).any(|line| line == said), "{}", ran.out);
    let anew = tool.path("anew.taskscale.jsonl").display().to_string();
    let ran = tool.run(&["report", &to, "--salvage", "--redact", &anew]);
    assert!(ran.status == Some(0) && ran.err.contains(": 1 damaged line of "), "{ran:?}");
    assert!(
        ran.err.contains("looked for home folders") && ran.err.contains("replaced in 0 lines"),
        "{ran:?}"
    );
    let anew = fs::read_to_string(&anew).expect("written anew");
    assert_eq!(anew.lines().count() + 1, text.lines().count());
    let again = tool.run(&["report", &from, "--redact", &to]);
    assert!(again.status == Some(2) && again.err.contains("exists; choose another name"), "{again:?}");
}

#[test]
fn a_removed_line_is_an_error_that_salvage_reads_around() {
    let tool = Tool::new();
    let (old, new) = (tool.path("old.taskscale.jsonl"), tool.path("new.taskscale.jsonl"));
    let of = |kind: &str| QUICK.matches(&format!("{{\"type\":\"{kind}\"")).count();
    let records: Vec<String> = ["runtime", "row", "sample", "round", "count", "row_end"]
        .iter()
        .map(|kind| format!("\"{kind}\":{}", of(kind)))
        .collect();
    let whole = QUICK.trim_end().strip_suffix('}').expect("an end").to_owned();
    fs::write(&old, format!("{whole},\"records\":{{{}}}}}\n", records.join(","))).expect("written");
    let (from, to) = (old.display().to_string(), new.display().to_string());
    assert_eq!(tool.run(&["report", &from, "--redact", &to]).status, Some(0));
    let text = fs::read_to_string(&new).expect("written anew");
    assert_eq!(tool.run(&["report", &to]).status, Some(0));
    let end = text.lines().position(|line| line.contains("\"type\":\"row_end\"")).expect("an end of a row");
    let kept = text.split_inclusive('\n').enumerate().filter(|(at, _)| *at != end);
    fs::write(&new, kept.map(|(_, line)| line).collect::<String>()).expect("written");
    let said = format!("the run says {0} ends of rows, {1} are here", of("row_end"), of("row_end") - 1);
    for words in [&["report", &to][..], &["compare", &from, &to]] {
        let ran = tool.run(words);
        assert!(ran.status == Some(2) && ran.err.contains(&said), "{ran:?}");
        assert!(ran.err.contains("report --salvage"), "{ran:?}");
    }
    let ran = tool.run(&["report", &to, "--salvage"]);
    assert!(ran.status == Some(0) && ran.out.contains(&said), "{ran:?}");
}

#[test]
fn a_damaged_header_that_can_be_read_is_shown_and_never_given_a_new_check() {
    let tool = Tool::new();
    let (old, new) = (tool.path("old.taskscale.jsonl"), tool.path("new.taskscale.jsonl"));
    fs::write(&old, QUICK).expect("written");
    let (from, to) = (old.display().to_string(), new.display().to_string());
    assert_eq!(tool.run(&["report", &from, "--redact", &to]).status, Some(0));
    let text = fs::read_to_string(&new).expect("written anew");
    fs::write(&old, text.replacen("\"seed\":", "\"seed\":1", 1)).expect("written");
    let ran = tool.run(&["report", &from, "--salvage"]);
    assert!(ran.status == Some(0) && ran.out.contains("1 damaged line of the file"), "{ran:?}");
    let anew = tool.path("anew.taskscale.jsonl").display().to_string();
    let ran = tool.run(&["report", &from, "--salvage", "--redact", &anew]);
    assert!(ran.status == Some(2) && ran.err.contains("would give it a check that fits"), "{ran:?}");
    assert!(!Path::new(&anew).exists(), "nothing is left behind");
}

fn clocks(tool: &Tool, wall: u32, cpu: u32, words: &str) -> Ran {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes/clocks.py");
    let command = format!("python3 {} {wall} {cpu}", probe.display());
    let rest = "--size 1000 --samples 4 --sample-time 20ms --max-time 600s --timeout 600s --precision 0";
    let mut args = vec!["run", "fanout", "--probe", &command];
    args.extend(rest.split(' ').chain(words.split_whitespace()));
    let mut command = tool.command(&args);
    command.env("HOME", "/home/jane").env("USER", "jane");
    let mut ran = common::ran(&mut command);
    ran.out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    ran
}

#[test]
fn a_real_probe_with_a_wrong_clock_is_named_on_the_screen() {
    for (wall, cpu, said) in [
        (2, 2, "times the CPU time that the probe tells"),
        (10, 10, "reports a time that cannot be"),
        (1, 0, "reports a time that cannot be"),
    ] {
        let ran = clocks(&Tool::new(), wall, cpu, "");
        assert!(ran.out.contains(said), "1/{wall} and 1/{cpu}: {ran:?}");
    }
    let ran = clocks(&Tool::new(), 1, 1, "");
    assert!(!ran.out.contains("times the CPU time") && !ran.out.contains("cannot be"), "{ran:?}");
}

#[test]
fn what_works_for_a_probe_in_another_process_is_seen() {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes/clocks.py");
    let said = |before: &str, words: &str| {
        let command = format!("{before} python3 {} {words}", probe.display());
        let rest = "--size 1000 --samples 6 --sample-time 20ms --max-time 600s --timeout 600s --precision 0";
        let mut args = vec!["run", "fanout", "--probe", &command];
        args.extend(rest.split(' '));
        Tool::new().run(&args).out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let cannot_be = "reports a time that cannot be";
    // Neither replaces itself by the probe.
    for wrapper in ["timeout 900", "setsid -w"] {
        let ran = said(wrapper, "10 10");
        assert!(ran.contains(cannot_be), "{wrapper}: {ran}");
        let ran = said(wrapper, "1 1");
        assert!(ran.contains("clocks loop") && !ran.contains(cannot_be), "{wrapper}: {ran}");
        assert!(!ran.contains("times the CPU time"), "{wrapper}: {ran}");
    }
    let ran = said("env", "1 1 helper");
    assert!(ran.contains(cannot_be), "{ran}");
}

#[test]
fn a_wrong_clock_is_named_in_a_part_of_the_samples_and_in_few_of_them() {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes/clocks.py");
    let run = |clocks: &str, rest: &str| {
        let command = format!("python3 {} {clocks}", probe.display());
        let mut args = vec!["run", "fanout", "--probe", &command, "--size", "1000", "--timeout", "600s"];
        args.extend(rest.split(' '));
        let ran = Tool::new().run(&args);
        ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let many = "--samples 12 --sample-time 20ms --max-time 600s --precision 0";
    let said = run("20 20 2", many);
    assert!(said.contains("reports a time that cannot be"), "a half of all samples: {said}");
    let few = "--samples 3 --sample-time 20ms --max-time 600s --precision 0";
    let (noted, failed) = ("times the CPU time that the probe tells", "reports a time that cannot be");
    for (clocks, words) in [("50 50", failed), ("1 50", failed), ("4 4", noted)] {
        let said = run(clocks, few);
        assert!(said.contains(words), "{clocks} in three samples: {said}");
    }
    let said = run("1 1 2", few);
    assert!(!said.contains("times the CPU time") && !said.contains("cannot be"), "{said}");
}

#[test]
fn a_run_file_tells_no_home_no_user_and_no_secret() {
    let tool = Tool::new();
    let file = tool.path("own.taskscale.jsonl");
    let out = format!("--output {} --variant loop", file.display());
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes/clocks.py");
    let command = format!("env API_TOKEN=hunter2 FROM=/home/jane/x python3 {} 1 1", probe.display());
    let mut args = vec!["run", "fanout", "--probe", &command];
    args.extend("--size 10 --samples 1 --max-time 600s --timeout 600s".split(' ').chain(out.split(' ')));
    let ran = common::ran(tool.command(&args).env("HOME", "/home/jane").env("USER", "jane"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let text = fs::read_to_string(&file).expect("a run file");
    for secret in ["hunter2", "/home/jane", "jane"] {
        assert!(!text.contains(secret) && !ran.out.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("API_TOKEN=***") && text.contains("FROM=~/x"), "{text}");
}
