//! `taskscale run --probe FILE` without a suite as a process: tests what runs, what stands beside
//! it, and how answers are held to each other. Nothing is asked of how long it took.

mod common;

use std::{fs, path::Path};

use common::{SHORT, Tool};
use serde_json::Value;

const JSON: &[&str] = &["--format", "json"];

const SIZES: &[&str] = &["--size", "16", "--size", "64", "--size", "256", "--size", "1024"];

fn example(name: &str) -> String {
    format!("{}/../../examples/probes/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Writes a Python probe whose variants are these, each a name and what it returns.
fn probe(tool: &Tool, workload: &str, ways: &[(&str, &str)]) -> String {
    let mut text = "import random\nfrom taskscale_probe.sdk import serve, variant\n".to_owned();
    for (name, answer) in ways {
        text += &format!(
            "\n@variant(\"{workload}\", \"{name}\")\ndef _(run):\n    return run.time(lambda _: {answer})\n"
        );
    }
    let path = tool.path("mine.py");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text + "\nserve(\"mine\", \"1.0\")\n").expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn run(tool: &Tool, probe: &str, further: &[&str]) -> common::Ran {
    tool.run(&[&["run", "--probe", probe], further, SHORT, JSON].concat())
}

/// Runtime, variant, size and status of the rows that tell CPU time, or tell nothing.
fn rows(summary: &Value) -> Vec<(String, String, u64, String)> {
    let rows = summary["rows"].as_array().expect("rows").iter();
    let told = rows.filter(|row| row["status"] != "ok" || row["metric"] == "cpu_per_task");
    let word = |row: &Value, name: &str| row[name].as_str().expect(name).to_owned();
    let row = |row: &Value| {
        (
            word(row, "runtime"),
            word(row, "variant"),
            row["size"].as_u64().expect("a size"),
            word(row, "status"),
        )
    };
    told.map(row).collect()
}

fn ok(runtime: &str, variant: &str, size: u64) -> (String, String, u64, String) {
    (runtime.into(), variant.into(), size, "ok".into())
}

#[test]
fn code_that_no_suite_knows_has_a_row_a_size_and_its_growth_and_nothing_else_runs() {
    for (file, ways) in
        [("sorts.py", ["sorted", "by_insertion"]), ("sorts.go", ["slices.Sort", "by_insertion"])]
    {
        let tool = Tool::with_shared_cache();
        let ran = run(&tool, &example(file), SIZES);
        assert_eq!(ran.status, Some(0), "{file}: {ran:?}");
        let summary = ran.json();
        let each = [16, 64, 256, 1_024].into_iter().flat_map(|size| ways.map(|way| ok("sorts", way, size)));
        assert_eq!(rows(&summary), each.collect::<Vec<_>>(), "{file}");
        let growth: Vec<&str> = summary["growth"]
            .as_array()
            .expect("growth")
            .iter()
            .filter_map(|one| one["variant"].as_str())
            .collect();
        assert_eq!(growth, ways, "{file}: a line of growth each");
        let shown = tool.run(&["report", "last"]);
        assert!(shown.out.starts_with("taskscale free: what one sort costs\n"), "{}", shown.out);
        assert!(
            shown.out.contains("CPU time per unit of n: what one sort costs, n = 1,024"),
            "{}",
            shown.out
        );
    }
}

#[test]
fn benchmarks_of_harnesses_are_taken_as_they_are() {
    let tool = Tool::with_shared_cache();
    let sizes = ["--size", "100", "--size", "1000"];
    for (file, runtime, variant) in [
        ("benchmark.py", "sorting", "test_sort"),
        ("benchmark.go", "sorting-go", "BenchmarkSort"),
        ("benchmark.rs", "sorting-rust", "bench_sort"),
    ] {
        let ran = run(&tool, &example(file), &sizes);
        assert_eq!(ran.status, Some(0), "{file}: {ran:?}");
        assert_eq!(rows(&ran.json()), [100, 1_000].map(|size| ok(runtime, variant, size)), "{file}");
    }
}

#[test]
fn a_size_that_a_benchmark_of_criterion_does_not_have_is_answered_with_those_it_has() {
    let tool = Tool::with_shared_cache();
    let ran = run(&tool, &example("benchmark.rs"), &["--size", "128"]);
    let summary = ran.json();
    let reason = summary["rows"][0]["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("no benchmark \"sort/stable/128\" here; there are: sort/stable/100, "),
        "{summary:#}"
    );
}

#[test]
fn quadratic_code_is_graded_so() {
    // A count of steps, which grow by 16 where n does by 4.
    let tool = Tool::with_shared_cache();
    let ran =
        run(&tool, &probe(&tool, "pairs", &[("nested", "sum(1 for _ in range(run.size ** 2))")]), SIZES);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let growth = &ran.json()["growth"][0];
    assert_eq!(growth["variant"], "nested", "{growth}");
    assert!(
        ["superlinear", "quadratic_or_worse"].contains(&growth["grade"].as_str().expect("a grade")),
        "{growth}"
    );
    let shown = tool.run(&["report", "last"]).out;
    assert!(shown.contains("CPU time per unit of n, by n: what one pairs costs"), "{shown}");
    assert!(shown.contains("mine nested: n^") && shown.contains("a second at n = "), "{shown}");
}

#[test]
fn sizes_are_eight_by_themselves_and_the_time_is_said_first() {
    let tool = Tool::with_shared_cache();
    let path = probe(&tool, "one", &[("way", "run.size")]);
    // What is typed goes over the suite's limits, and the sizes stay.
    let ran =
        tool.run(&["run", "--probe", &path, "--samples", "1", "--sample-time", "200us", "--format", "json"]);
    assert!(ran.err.contains("8 rows, 45s at most"), "{}", ran.err);
    let sizes: Vec<u64> = rows(&ran.json()).into_iter().map(|row| row.2).collect();
    assert_eq!(sizes, [16, 64, 128, 256, 1_024, 4_096, 16_384, 65_536]);
}

#[test]
fn ways_that_disagree_fail_by_name_at_one_size_and_are_not_asked_at_others() {
    let tool = Tool::with_shared_cache();
    let path = probe(&tool, "sum", &[("right", "run.size + run.seed"), ("wrong", "run.size + run.seed + 1")]);
    let ran = run(&tool, &path, &SIZES[..4]);
    let summary = ran.json();
    let states: Vec<(String, String)> = rows(&summary).into_iter().map(|row| (row.1, row.3)).collect();
    let state = |way: &str, state: &str| (way.to_owned(), state.to_owned());
    let right = state("right", "ok");
    assert_eq!(
        states,
        [right.clone(), state("wrong", "failed"), right, state("wrong", "skipped")],
        "{summary:#}"
    );
    let row = |status: &str| {
        let mut rows = summary["rows"].as_array().expect("rows").iter();
        rows.find(|row| row["status"] == status).expect(status).clone()
    };
    let reason = row("failed")["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("mine:right gave ") && reason.contains("(size 16, seed "), "{reason}");
    assert!(row("failed")["remedy"].as_str().is_some_and(|remedy| remedy.contains("give the same number")));
    assert_eq!(row("skipped")["reason"], "not asked: its answer at size 16 was refused");
}

#[test]
fn a_way_that_stands_alone_is_held_to_itself_and_nothing_is_no_answer() {
    for (answer, words) in [
        ("random.randrange(1, 2 ** 60)", "before it was "),
        ("0", "the answer is 0 at size 16"),
        // A state that is kept from one iteration to the next.
        ("run.__dict__.__setitem__('k', getattr(run, 'k', 0) + 1) or run.k", "before it was "),
    ] {
        let tool = Tool::with_shared_cache();
        let ran = run(&tool, &probe(&tool, "alone", &[("way", answer)]), &["--size", "16"]);
        let summary = ran.json();
        let row = &summary["rows"][0];
        assert_eq!(row["status"], "failed", "{answer}: {summary:#}");
        assert!(row["reason"].as_str().is_some_and(|reason| reason.contains(words)), "{answer}: {row}");
    }
}

#[test]
fn several_probes_stand_side_by_side() {
    let tool = Tool::with_shared_cache();
    let further = ["--probe", &example("sorts.go"), "--size", "64", "--variant", "by_insertion"];
    let ran = run(&tool, &example("sorts.py"), &further);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    // Two languages agree on the numbers that they drew and on their order.
    assert_eq!(rows(&ran.json()), [ok("sorts", "by_insertion", 64), ok("sorts#2", "by_insertion", 64)]);
}

#[test]
fn runtimes_stand_beside_it_where_they_have_the_workload() {
    let tool = Tool::with_shared_cache();
    let beside = ["--beside", "tokio,asyncio", "--size", "64"];
    let ran = run(&tool, &example("my_probe.py"), &beside);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let all =
        [ok("tokio", "multi_thread/spawn", 64), ok("asyncio", "await_each", 64), ok("mine", "in_chunks", 64)];
    assert_eq!(rows(&ran.json()), all);
    // A runtime whose answer another one is held to comes first, so that the user's own row fails.
    let wrong = probe(&tool, "fanout", &[("wrong", "run.size")]);
    let summary = run(&tool, &wrong, &beside).json();
    let failed = rows(&summary).into_iter().filter(|row| row.3 == "failed").collect::<Vec<_>>();
    assert_eq!(failed, [("mine".into(), "wrong".into(), 64, "failed".into())]);
    let none = run(&tool, &example("sorts.py"), &beside);
    assert_eq!((none.status, &*none.out), (Some(2), ""), "{none:?}");
    for words in
        ["--beside tokio: it has no workload named sort; it has fanout, ", "or leave --beside tokio out"]
    {
        assert!(none.err.contains(words), "{}", none.err);
    }
    let suite = tool.run(&["run", "fanout", "--probe", &example("sorts.py"), "--beside", "tokio"]);
    assert!(suite.err.contains("with a suite, or with --runtime, say --runtime tokio"), "{}", suite.err);
}

#[test]
fn the_line_that_new_probe_prints_runs_what_it_wrote_and_no_runtime() {
    let tool = Tool::with_shared_cache();
    let path = tool.path("own.py");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let written = tool.run(&["new-probe", "python", path.to_str().expect("UTF-8")]);
    let line =
        written.out.lines().find_map(|line| line.trim().strip_prefix("taskscale run ")).expect("a line");
    assert_eq!(line, format!("--probe {}", path.display()));
    let args: Vec<&str> = line.split(' ').collect();
    let ran = tool.run(&[&["run"], &*args, &["--size", "64"], SHORT, JSON].concat());
    assert_eq!((ran.status, rows(&ran.json())), (Some(0), vec![ok("mine", "in_chunks", 64)]));
    assert!(Path::new(&path).exists());
}

#[test]
fn a_probe_that_cannot_be_had_says_why() {
    let ran = Tool::new().run(&["run", "--probe", "no-such-program"]);
    assert_eq!((ran.status, &*ran.out), (Some(2), ""), "{ran:?}");
    assert!(ran.err.contains("no-such-program: could not start no-such-program"), "{}", ran.err);
}

#[test]
fn a_parameter_of_ones_own_is_taken_at_each_value_that_is_asked_for() {
    let tool = Tool::with_shared_cache();
    let text = "from taskscale_probe.sdk import param, serve, variant\n\
                param(\"walk\", \"k\", 1, \"steps of a unit\")\nparam(\"walk\", \"way\", \"up\", \"where\", choices=[\"up\", \"down\"])\n\
                @variant(\"walk\", \"plain\")\ndef _(run):\n    k = run.params[\"k\"]\n    return run.time(lambda _: sum(range(run.size * k)) + 1)\n\
                serve(\"mine\", \"1.0\")\n";
    let path = tool.path("mine.py");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text).expect("written");
    let probe = path.to_str().expect("UTF-8");
    let params = |further: &[&str]| {
        let ran = run(&tool, probe, &[&["--size", "16"], further].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let summary: Value = serde_json::from_str(&ran.out).expect("JSON");
        let rows = summary["rows"].as_array().expect("rows").iter();
        let told = rows.filter(|row| row["metric"] == "cpu_per_task");
        let own = |row: &Value| format!("k={} way={}", row["params"]["k"], row["params"]["way"]);
        told.map(own).collect::<Vec<_>>()
    };
    assert_eq!(params(&["--param", "k=1,2,4"]), ["k=1 way=null", "k=2 way=null", "k=4 way=null"]);
    let both = params(&["--param", "k=3,5", "--param", "way=up,down"]);
    assert_eq!(
        both,
        ["k=3 way=\"up\"", "k=3 way=\"down\"", "k=5 way=\"up\"", "k=5 way=\"down\""],
        "every combination"
    );
    let ran = run(&tool, probe, &["--param", "depth=1,2"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.err.contains("has no parameter of that name; it has k, way"), "{}", ran.err);
}

/// The template of Python has such a function as a comment; what is above it may be left out in
/// part, as by a newcomer who forgets the parameter.
#[test]
fn a_function_that_is_no_task_takes_the_place_of_what_a_template_has() {
    let text = fs::read_to_string(example("my_probe.py")).expect("a template");
    let (above, own) = text.split_once("# @variant").expect("a comment");
    let own = format!("@variant{}", own.replace("\n# ", "\n"));
    let above = above.split("@variant(").next().unwrap_or_default();
    let plain = own.replace("poll(run.size)", "1 + sum(range(run.size))");
    let (call, coroutine) = own.split_once("  # a coroutine: ").expect("the form of a coroutine");
    let (start, _) = call.rsplit_once("return ").expect("a call");
    let coroutine =
        format!("{start}return {}", coroutine.replace("...", "asyncio.sleep(0, result=run.size)"));
    let tool = Tool::with_shared_cache();
    for text in [plain, coroutine] {
        let path = tool.path("mine.py");
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, format!("{above}{text}")).expect("written");
        let ran = run(&tool, path.to_str().expect("UTF-8"), &["--size", "16"]);
        assert_eq!(rows(&ran.json()), [ok("mine", "mine", 16)], "{text}\n{ran:?}");
        let shown = tool.run(&["report", "last"]).out;
        assert!(shown.starts_with("taskscale free: what one poll costs\n"), "{shown}");
    }
}

#[test]
fn of_sizes_that_would_take_too_long_the_smallest_is_told_with_its_size() {
    let tool = Tool::with_shared_cache();
    let slow =
        probe(&tool, "nap", &[("way", "__import__(\"time\").sleep(run.size * run.size / 1e8) or run.size")]);
    let sizes = ["256", "1024", "4096", "32768", "65536"].map(|size| ["--size", size]).concat();
    let further = [&sizes[..], &["--timeout", "4s"]].concat();
    let ran = tool
        .run(&[&["run", "--probe", &slow], &further[..], &["--samples", "2", "--max-time", "60s"]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let told: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("skipped")).collect();
    assert_eq!(told.len(), 1, "{}", ran.out);
    assert!(told[0].contains("mine way: a sample at size 32,768 may take"), "{}", told[0]);
}

#[test]
fn a_run_that_is_planned_for_a_grade_has_sizes_and_no_controls() {
    let tool = Tool::new();
    let planned = |words: &[&str]| {
        let ran = tool.run(&[&["run", "--grade", "--max-time", "1ms"], words, JSON].concat());
        let rows = rows(&serde_json::from_str(&ran.out).expect("JSON"));
        let mut sizes: Vec<u64> = rows.iter().map(|row| row.2).collect();
        sizes.sort_unstable();
        sizes
    };
    let own = ["fanout", "--runtime", "asyncio", "--variant", "gather"];
    let all = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];
    assert_eq!(planned(&own), all, "one row a size: no control");
    assert_eq!(planned(&[&own[..], &["--size", "50"]].concat()), [50], "sizes that are asked for stay");
}

#[test]
fn what_has_no_growth_to_grade_is_refused() {
    let tool = Tool::new();
    let ran = tool.run(&["run", "bytes", "--grade"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("--grade: no table of bytes is about"), "{}", ran.err);
    let ran = tool.run(&["run", "--grade", "--quick"]);
    assert_eq!(ran.status, Some(2));
}
