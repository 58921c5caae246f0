//! `taskscale report` as a process: which run, which rows, which files.

mod common;

use std::{fs, io::Write};

use common::{Ran, Tool, broken};

/// A small run of two runtimes, kept where runs are kept by default.
fn taken() -> (Tool, Ran) {
    let tool = Tool::new();
    let args = "run fanout --runtime tokio --runtime threads --variant spawn --variant scope --size 16 --size 64 \
                --samples 12 --sample-time 200us --max-time 600s --timeout 600s --precision 0 --seed 5";
    let ran = tool.run(&args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    (tool, ran)
}

#[test]
fn last_is_the_newest_run_and_its_screen_is_the_runs() {
    let tool = Tool::new();
    let ran = tool.run(&["report", "last"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("no run to report yet: taskscale run takes one"), "{}", ran.err);
    let (tool, first) = taken();
    let last = tool.run(&["report", "last"]);
    assert_eq!(last.out, first.out);
    let words = last.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("taskscale: the newest run, begun "), "{}", last.err);
    assert!(words.ends_with(".taskscale.jsonl"), "which file it is, and that it is whole: {}", last.err);
    assert!(first.out.contains("all figures: taskscale report last --details"), "{}", first.out);
    let details = tool.run(&["report", "last", "--details"]);
    assert!(details.out.contains("A cell: CPU ns per task"), "{}", details.out);
}

#[test]
fn a_run_without_a_sample_is_not_the_newest_and_says_why_it_has_none() {
    let (tool, first) = taken();
    let kept = || fs::read_dir(tool.path("state/taskscale/runs")).expect("runs").count();
    let ran = tool.run(&["run", "fanout", "--runtime", "asyncio@/no/such/python"]);
    assert_eq!((ran.status, kept()), (Some(2), 1), "{ran:?}");
    assert!(ran.err.contains("no process was asked, so no run file is kept"), "{}", ran.err);
    let crashes = tool.run(&["run", "--probe", &broken("crash")]);
    assert_eq!((crashes.status, kept()), (Some(2), 1), "{crashes:?}");
    assert!(crashes.err.contains("no process gave a sample, so no run file is kept"), "{}", crashes.err);
    assert_eq!(tool.run(&["report", "last"]).out, first.out);
    // What was named is the user's.
    let named = tool.path("named.jsonl");
    let words = ["run", "fanout", "--runtime", "asyncio@/no/such/python", "-o"];
    let ran = tool.run(&[&words[..], &[named.to_str().expect("UTF-8")]].concat());
    assert!(ran.status == Some(2) && named.exists(), "{ran:?}");
}

#[test]
fn screens_of_several_files_say_whose_they_are() {
    let tool = Tool::new();
    let file = tool.path("quick.jsonl");
    fs::write(&file, include_str!("../../analysis/tests/data/quick.jsonl")).expect("written");
    let name = file.to_str().expect("UTF-8");
    let one = tool.run(&["report", name]);
    let two = tool.run(&["report", name, name]);
    assert_eq!(two.out, format!("{name}:\n{}\n{name}:\n{}", one.out, one.out));
}

#[test]
fn a_run_file_may_be_packed() {
    let tool = Tool::new();
    let data = include_str!("../../analysis/tests/data/quick.jsonl");
    let plain = tool.path("quick.jsonl");
    fs::write(&plain, data).expect("written");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(data.as_bytes()).expect("packed");
    let packed = packed.finish().expect("packed");
    let path = tool.path("quick.jsonl.gz");
    let report = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("written");
        tool.run(&["report", path.to_str().expect("UTF-8"), "--format", "json"])
    };
    let whole = report(&packed);
    let plain = tool.run(&["report", plain.to_str().expect("UTF-8"), "--format", "json"]);
    assert!(whole.status == Some(0) && whole.json()["rows"] == plain.json()["rows"], "{}", whole.err);
    let cut = report(&packed[..packed.len() / 2]);
    assert!(cut.json()["notes"].to_string().contains("the gzip data end too early"), "{}", cut.out);
    assert!(cut.err.contains("the gzip data end too early"), "{}", cut.err);
    let mut flipped = packed.clone();
    *flipped.iter_mut().nth_back(6).expect("a checksum") ^= 1;
    let flipped = report(&flipped);
    assert!(flipped.err.contains("the gzip data are corrupt"), "{}", flipped.err);
    let ran = tool.run(&["digest", path.to_str().expect("UTF-8")]);
    assert!(ran.err.contains("is a run file, not a trace"), "{}", ran.err);
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    twice.write_all(&packed).expect("packed");
    let twice = report(&twice.finish().expect("packed"));
    assert!(twice.status == Some(2) && twice.err.contains("is packed twice"), "{}", twice.err);
}

#[test]
fn what_the_tool_wrote_for_others_is_named_for_what_it_is() {
    let tool = Tool::new();
    let file = tool.path("quick.jsonl");
    fs::write(&file, include_str!("../../analysis/tests/data/quick.jsonl")).expect("written");
    for (ending, kind) in [("json", "a report as JSON"), ("html", "a page"), ("svg", "a picture")] {
        let out = tool.path(&format!("r.{ending}"));
        let out = out.to_str().expect("UTF-8");
        assert_eq!(tool.run(&["report", file.to_str().expect("UTF-8"), "-o", out]).status, Some(0));
        let ran = tool.run(&["report", out]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.err.contains(&format!("is {kind}, and no run file; name one that")), "{}", ran.err);
    }
}

#[test]
fn what_has_no_end_is_read_no_further_than_its_beginning() {
    for (args, words) in [
        (&["report", "/dev/zero"][..], "line 1 is longer than"),
        (&["compare", "/dev/zero", "/dev/zero"], "line 1 is longer than"),
        (&["run", "/dev/zero"], "/dev/zero is no suite: it is longer than 1024 kB"),
    ] {
        let ran = Tool::new().run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    let mut command = Tool::new().command(&["report", "-"]);
    let lines = std::process::Command::new("yes").stdout(std::process::Stdio::piped()).spawn();
    let mut lines = lines.expect("yes");
    let ran = common::ran(command.stdin(lines.stdout.take().expect("piped")));
    lines.kill().ok();
    lines.wait().expect("ended");
    assert!(ran.status == Some(2) && ran.err.contains("not a run file"), "{ran:?}");
}

#[test]
fn what_comes_next_is_a_command_whatever_the_file_is_called() {
    let tool = Tool::new();
    let data = include_str!("../../analysis/tests/data/quick.jsonl");
    for (name, next) in [
        ("plain.jsonl", "taskscale report plain.jsonl --details"),
        ("a b; $(c).jsonl", "taskscale report 'a b; $(c).jsonl' --details"),
        ("it's\t.jsonl", "all figures: the same with --details"),
    ] {
        fs::write(tool.path(name), data).expect("written");
        let mut command = tool.command(&["report", name]);
        let ran = common::ran(command.current_dir(tool.path(name).parent().expect("a folder")));
        assert!(ran.out.contains(next), "{next} not in {}", ran.out);
    }
    let mut command = tool.command(&["digest", "a b; $(c).jsonl"]);
    let ran = common::ran(command.current_dir(tool.path("x").parent().expect("a folder")));
    assert!(ran.err.contains("not a trace: taskscale report 'a b; $(c).jsonl'"), "{}", ran.err);
}

#[test]
fn a_suite_may_begin_with_a_mark() {
    let tool = Tool::new();
    let suite = tool.path("marked.toml");
    let text = "\u{feff}schema = \"taskscale.suite/1\"\nname = \"marked\"\ntitle = \"t\"\n[[workload]]\n\
                name = \"fanot\"\nsizes = [1]\nanswer = { rule = \"count\" }";
    fs::write(&suite, text).expect("written");
    let ran = tool.run(&["run", suite.to_str().expect("UTF-8"), "--runtime", "tokio"]);
    assert!(ran.out.contains("tokio does not offer fanot"), "it is read: {ran:?}");
}

#[test]
fn rows_are_chosen_by_whole_names() {
    let (tool, _) = taken();
    let json = |args: &[&str]| {
        let ran = tool.run(&[&["report", "last", "--format", "json"], args].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let rows = ran.json()["rows"].as_array().expect("rows").clone();
        let mut names: Vec<String> =
            rows.iter().map(|row| format!("{} {}", row["runtime"], row["size"])).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(json(&["--size", "16|32"]), ["\"threads\" 16", "\"tokio\" 16"]);
    assert_eq!(json(&["--runtime", "t.*d.*"]), ["\"threads\" 16", "\"threads\" 64"]);
    assert_eq!(json(&["--variant", "scope", "--size", "6."]), ["\"threads\" 64"]);
    for (args, words) in [
        (
            &["--runtime", "tok"][..],
            "--runtime tok matches nothing in this run; did you mean tokio? There are tokio, threads",
        ),
        (
            &["--variant", "spwan"],
            "--variant spwan matches nothing in this run; did you mean multi_thread/spawn or current_thread/spawn? There",
        ),
        (&["--variant", "Scoep"], "matches nothing in this run; did you mean scope? There are "),
        (&["--library", "openpm"], "a similar value exists: 'openmp'"),
        (&["--library", "RAYON"], "a similar value exists: 'rayon'"),
        (&["--size", "15"], "--size 15 matches nothing in this run; there are 16, 64"),
        (
            &["--runtime", "tokio", "--variant", "scope"],
            "no row of this run fits --runtime, --variant and --size",
        ),
        (&["--variant", "("], "not a regular expression"),
        (
            &["--baseline", "tokyo"],
            "--baseline tokyo is not a row of this run; did you mean tokio? There are threads:scope",
        ),
        (&["--baseline", "scope"], "--baseline scope names no runtime; write threads:scope"),
        (&["--baseline", "threads", "--runtime", "tokio"], "--baseline threads is left out by --runtime"),
    ] {
        let ran = tool.run(&[&["report", "last"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains(words), "{words:?} is not in {}", ran.err);
    }
}

#[test]
fn the_baseline_and_the_order_of_the_ranking_can_be_chosen() {
    let (tool, _) = taken();
    let of = |args: &[&str]| tool.run(&[&["report", "last"], args].concat()).out;
    let line = |out: &str, word: &str| out.lines().find(|line| line.contains(word)).map(str::to_owned);
    let out = of(&["--baseline", "threads"]);
    assert!(line(&out, "threads scope").is_some_and(|line| line.contains("reference")), "{out}");
    let out = of(&["--sort", "name"]);
    let at = |word: &str| out.find(word).unwrap_or_else(|| panic!("{word} is not in {out}"));
    assert!(at("\nthreads scope") < at("\ntokio"), "{out}");
}

#[test]
fn files_are_written_by_their_endings() {
    let (tool, _) = taken();
    let path = |name: &str| tool.path(name).to_string_lossy().into_owned();
    let (md, csv, json, txt) = (path("r.md"), path("r.csv"), path("r.json"), path("r.txt"));
    let ran = tool.run(&["report", "last", "-o", &md, "-o", &csv, "-o", &json, "-o", &txt]);
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    let read = |name: &str| fs::read_to_string(name).expect("written");
    assert_eq!(read(&md), tool.run(&["report", "last", "--format", "md"]).out);
    assert_eq!(read(&json), tool.run(&["report", "last", "--format", "json"]).out);
    assert_eq!(read(&txt), tool.run(&["report", "last", "--details"]).out);
    let (html, svg) = (path("r.html"), path("r.svg"));
    assert_eq!(tool.run(&["report", "last", "-o", &html, "-o", &svg]).status, Some(0));
    assert!(read(&html).starts_with("<!doctype html>") && read(&html).contains("threads"));
    assert!(read(&svg).starts_with("<svg") && read(&svg).contains("threads"));
    let table = read(&csv);
    let lines = tool.run(&["report", "last", "--format", "json"]).json()["rows"].as_array().map(Vec::len);
    assert_eq!(Some(table.lines().count() - 1), lines);
    assert!(table.starts_with("suite,table,workload,runtime,"), "{table}");
    let columns = |line: &str| line.split(',').count();
    assert!(table.lines().all(|line| columns(line) >= 31), "{table}");

    let ran = tool.run(&["report", "last", "-o", &path("r.pdf")]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("r.pdf ends in none of .txt, .md, .json"), "{}", ran.err);
    let ran = tool.run(&["report", "last", "-o", &path("no/such/folder/r.md")]);
    assert!(ran.status == Some(2) && ran.err.contains("cannot write"), "{ran:?}");
}

#[test]
fn a_trace_and_a_run_file_are_told_apart() {
    let tool = Tool::new();
    let trace = tool.path("t.json");
    fs::write(&trace, r#"{"traceEvents":[{"ph":"X","ts":0,"dur":1,"pid":1,"tid":1,"name":"a"}]}"#)
        .expect("a file");
    let ran = tool.run(&["report", trace.to_str().expect("UTF-8")]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("is a trace, not a run file: taskscale digest"), "{}", ran.err);

    let (tool, _) = taken();
    let runs = tool.path("state/taskscale/runs");
    let run = fs::read_dir(runs).expect("runs").next().expect("a run").expect("a file").path();
    let ran = tool.run(&["digest", run.to_str().expect("UTF-8")]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("is a run file, not a trace: taskscale report"), "{}", ran.err);
}
