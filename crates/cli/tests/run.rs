//! `taskscale run` and `report` as processes: tests what users see, what is kept, how it ends.

mod common;

use std::{
    fs,
    io::Read,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use common::{SHORT, Tool, broken};
use serde_json::Value;

/// What is among `args` counts, and not what [`SHORT`] says of the same.
fn run(tool: &Tool, args: &[&str]) -> common::Ran {
    let short = SHORT.chunks(2).filter(|pair| !args.contains(&pair[0])).flatten();
    tool.run(&["run"].iter().chain(args).chain(short).copied().collect::<Vec<_>>())
}

fn rows<'a>(summary: &'a Value, status: &str) -> Vec<&'a Value> {
    summary["rows"].as_array().expect("rows").iter().filter(|row| row["status"] == status).collect()
}

#[test]
fn tokio_and_asyncio_give_rows_with_figures_and_a_control() {
    for (runtime, variant) in [("tokio", "current_thread/spawn"), ("asyncio", "await_each")] {
        let ran = run(&Tool::new(), &["fanout", "--runtime", runtime, "--size", "2048", "--format", "json"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let summary = ran.json();
        assert_eq!(summary["schema"], "taskscale.summary/1");
        assert_eq!((&summary["seed"], &summary["complete"]), (&Value::from(5), &Value::from(true)));
        let measured = rows(&summary, "ok");
        let row = measured
            .iter()
            .find(|row| {
                row["variant"] == variant && row["metric"] == "cpu_per_task" && row["role"] != "control"
            })
            .unwrap_or_else(|| panic!("{variant} is not among {measured:#?}"));
        assert_eq!((&row["size"], &row["n"], &row["unit"]), (&2048.into(), &6.into(), &"ns".into()));
        let figure = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
        assert!(figure("p0") > 0.0 && figure("p0") <= figure("p50") && figure("p50") <= figure("p100"));
        assert!(row["version"].as_str().is_some_and(|version| version.contains('.')), "{row}");
        assert!(!summary["control"]["rows"].as_array().expect("control").is_empty());
    }
}

#[test]
fn a_broken_probe_is_a_failed_row_and_the_others_go_on() {
    for (mode, words) in [
        ("crash", "SIGABRT"),
        ("skips-last", "right is"),
        ("boasts-wall", "cannot be"),
        ("junk", "not protocol 1"),
    ] {
        let args = [
            "fanout",
            "--runtime",
            "tokio",
            "--variant",
            "spawn",
            "--variant",
            "loop",
            "--size",
            "64",
            "--probe",
            &broken(mode),
            "--format",
            "json",
        ];
        let ran = run(&Tool::new(), &args);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let summary = ran.json();
        let failed = rows(&summary, "failed");
        assert!(!failed.is_empty(), "{mode}: {summary:#}");
        for row in failed {
            assert_eq!(row["runtime"], "broken");
            assert!(row["reason"].as_str().is_some_and(|reason| reason.contains(words)), "{row}");
            assert!(row["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{row}");
            assert!(row["p50"].is_null(), "a failed row has no figures: {row}");
        }
        assert!(rows(&summary, "ok").iter().any(|row| row["runtime"] == "tokio"));
    }
}

#[test]
fn what_does_not_fit_any_probe_is_refused_before_anything_is_measured() {
    let ran =
        run(&Tool::new(), &["fanout", "--runtime", "threads", "--size", "64", "--param", "window=wide"]);
    assert_eq!((ran.status, &*ran.out), (Some(2), ""), "{ran:?}");
    let words = "parameter \"window\" cannot be \"wide\"; it is an integer from 0 to 2^53 - 1 (give window such a value";
    assert!(ran.err.contains(words), "{}", ran.err);
}

#[test]
fn what_does_not_fit_one_of_two_probes_is_a_skipped_row_that_says_what_would() {
    let runtimes = ["--runtime", "threads", "--runtime", "asyncio"];
    let args = ["nop", "--size", "64", "--format", "json", "--param", "gc=off"];
    let summary = run(&Tool::with_shared_cache(), &[&args[..], &runtimes].concat()).json();
    let skipped: Vec<_> =
        rows(&summary, "skipped").into_iter().filter(|row| row["runtime"] == "threads").collect();
    assert!(!skipped.is_empty(), "{summary:#}");
    for row in skipped {
        let reason = row["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("threads does not offer this nop: unknown parameter \"gc\""), "{reason}");
    }
}

#[test]
fn a_hanging_probe_is_stopped_with_a_stray_that_left_its_group() {
    let mark = format!("taskscale-stray-{}", std::process::id());
    let probe = broken(&format!("hang-with-stray {mark}"));
    let ran = run(
        &Tool::new(),
        &["fanout", "--runtime", "threads", "--size", "64", "--timeout", "2s", "--probe", &probe],
    );
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("no answer to fanout loop at size 64 within 2 s"), "{}", ran.out);
    let left = fs::read_dir("/proc").expect("proc").filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.contains(&mark) && line.contains("sleep(600)")).then_some(line)
    });
    assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn what_is_not_here_is_a_skipped_row_with_its_remedy() {
    let tool = Tool::new();
    let ran = run(&tool, &["fanout", "--runtime", "threads,asyncio@/no/such/python", "--size", "64"]);
    assert_eq!(ran.status, Some(2), "what was named cannot be had: {ran:?}");
    let words = "asked for and not measured: asyncio@/no/such/python: /no/such/python is not a program";
    assert!(ran.err.contains(words), "{}", ran.err);
    assert!(ran.out.contains("CPU time per task"), "the other is measured and shown: {}", ran.out);
    assert!(
        ran.out.split_whitespace().collect::<Vec<_>>().join(" ").contains("is not a program on this machine"),
        "{}",
        ran.out
    );
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("--runtime asyncio@/path/to/python3"), "the remedy: {words}");
    let ran = run(&tool, &["fanout", "--runtime", "threads", "--size", "20000"]);
    assert_eq!(ran.status, Some(2), "nothing was measured: {}", ran.out);
    assert!(ran.out.contains("at most 10000"), "{}", ran.out);
}

#[test]
fn report_prints_the_same_tables_again_and_also_of_a_torn_file() {
    let tool = Tool::new();
    let file = tool.path("run.taskscale.jsonl");
    let name = file.to_str().expect("UTF-8");
    let ran = run(&tool, &["fanout", "--runtime", "tokio", "--variant", "spawn", "--size", "64", "-o", name]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(tool.run(&["report", name]).out, ran.out, "the tables of the run are those of the report");

    let again = run(&tool, &["fanout", "--runtime", "tokio", "--size", "64", "-o", name]);
    assert_eq!(again.status, Some(2), "a run file is never written over");
    assert!(again.err.contains("exists; choose another name"), "{}", again.err);

    let text = fs::read_to_string(&file).expect("kept");
    fs::write(&file, &text[..text.len() * 3 / 4]).expect("torn");
    let torn = tool.run(&["report", "--format", "json", name]);
    assert_eq!(torn.status, Some(0), "{}", torn.err);
    assert_eq!(torn.json()["complete"], false);
    assert!(!rows(&torn.json(), "ok").is_empty());
}

/// Starts a run without an end and waits until it has taken `samples` timed samples.
fn endless_run(tool: &Tool, file: &str, samples: usize) -> Child {
    let args = "run fanout --runtime tokio --size 64 --samples 100000 --sample-time 1ms --max-time 1h \
                --timeout 600s --precision 0 -o";
    let args: Vec<&str> = args.split_whitespace().chain([file]).collect();
    let mut child = tool.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let deadline = Instant::now() + Duration::from_secs(600);
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if timed(&text) >= samples {
            return child;
        }
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "{ended:?} before {samples} samples: {text}");
        assert!(Instant::now() < deadline, "fewer than {samples} samples in ten minutes: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn timed(text: &str) -> usize {
    text.lines().filter(|line| line.contains("\"kind\":\"timed\"")).count()
}

#[test]
fn a_run_that_is_killed_keeps_every_sample_but_the_one_under_way() {
    let tool = Tool::new();
    let file = tool.path("killed.taskscale.jsonl");
    let name = file.to_str().expect("UTF-8");
    let mut child = endless_run(&tool, name, 30);
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    let text = fs::read_to_string(&file).expect("kept");
    let whole = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert!(text.lines().count() - whole <= 1, "at most the last line is torn");
    let report = tool.run(&["report", "--format", "json", name]);
    assert_eq!(report.status, Some(0), "{}", report.err);
    let summary = report.json();
    assert_eq!(summary["complete"], false);
    let samples: u64 = rows(&summary, "ok")
        .iter()
        .filter(|row| row["metric"] == "cpu_per_task")
        .map(|row| row["n"].as_u64().expect("n"))
        .sum();
    assert_eq!(samples as usize, timed(&text), "every timed sample counts");
}

#[test]
fn ctrl_c_ends_in_good_order_with_the_figures_so_far() {
    let tool = Tool::new();
    let file = tool.path("stopped.taskscale.jsonl");
    let mut child = endless_run(&tool, file.to_str().expect("UTF-8"), 1);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("UTF-8");
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    assert!(out.contains("multi_thread/spawn"), "{out}");
    let text = fs::read_to_string(&file).expect("kept");
    assert!(text.lines().last().is_some_and(|line| line.contains("\"type\":\"end\"")));
}

#[test]
fn ctrl_c_before_the_first_figure_says_so_and_names_the_run_file() {
    let tool = Tool::new();
    let file = tool.path("early.taskscale.jsonl");
    let hangs = broken("hang");
    let args = ["run", "fanout", "--size", "64", "--timeout", "3s", "--probe", &hangs, "-o"];
    let args: Vec<&str> = args.into_iter().chain(file.to_str()).collect();
    let mut child =
        tool.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let deadline = Instant::now() + Duration::from_secs(600);
    while !fs::read_to_string(&file).unwrap_or_default().contains("\"type\":\"row\"") {
        assert!(Instant::now() < deadline, "no plan in ten minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    assert!(said.lines().all(|line| line.chars().count() <= 80 || !line.trim().contains(' ')), "{said}");
    let words =
        format!("interrupted; nothing was measured yet; the run file with the plan: {}", file.display());
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words), "{said}");
}

#[test]
fn usage_and_input_errors_exit_with_2_and_say_what_to_do() {
    let tool = Tool::new();
    let torn = tool.path("not-a-run.jsonl");
    fs::write(&torn, "{\"type\":\"sample\"}\n").expect("written");
    let suite = tool.path("bad.toml");
    fs::write(&suite, "schema = \"taskscale.suite/1\"\nname = 3\n").expect("written");
    let (torn, suite) = (torn.to_str().expect("UTF-8"), suite.to_str().expect("UTF-8"));
    let (trace, run) = (tool.path("trace.json"), tool.path("run.taskscale.jsonl"));
    fs::write(&trace, "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]}").expect("written");
    fs::write(&run, include_str!("../../analysis/tests/data/quick.jsonl")).expect("written");
    let (trace, run) = (trace.to_str().expect("UTF-8"), run.to_str().expect("UTF-8"));
    for (args, words) in [
        (&["run", "--probe", trace][..], &*format!("is a trace: taskscale digest {trace}; --probe takes a")),
        (
            &["run", "--probe", run],
            &format!("is a run file: taskscale report {run}; --probe takes a program"),
        ),
        (&["probe", "check", run], &format!("is a run file: taskscale report {run}")),
        (&["list", run], &format!("is a run file: taskscale report {run}; list takes suites")),
        (&["list", trace], &format!("is a trace: taskscale digest {trace}")),
        (
            &["run", "fanuot"],
            "no suite is named \"fanuot\"; did you mean fanout? There are blocking, bytes, cancel, cliffs, context, fanout",
        ),
        (&["run", torn], "is JSON, no suite; a trace is read by `taskscale digest"),
        (&["run", "guide", "-o", "x.html"], "raw samples, which are no html"),
        (&["run", "nop", "-o", "x.html"], "raw samples, which are no html; run without -o, then: taskscale"),
        (&["run", "--max-time", "-5s"], "give a number with its unit: 500ms, 30s"),
        (&["run", "tokio"], "no suite is named \"tokio\", but a runtime is: taskscale run --runtime tokio"),
        (
            &["list", "fanot"],
            "no suite or runtime is named \"fanot\"; did you mean fanout? There are the suites",
        ),
        (&["run", "--runtime", "toki"], "no runtime is named \"toki\"; did you mean tokio? There are tokio"),
        (&["run", "--variant", "gathre", "--runtime", "tokio"], "no variant is named gathre"),
        (
            &["run", "--variant", "spwan", "--runtime", "tokio"],
            "no variant is named spwan; did you mean spawn? The",
        ),
        (
            &["run", "fanout", "--runtime", "tokio", "--param", "windw=1"],
            "(did you mean window? Choose one of those",
        ),
        (&["run", "--runtime", "tokio", "--baseline", "x"], "--baseline x is not a row"),
        (
            &["run", "fanout", "--runtime", "tokio", "--param", "order=orderd"],
            "(did you mean ordered? Give order such a value, or leave it out)",
        ),
        (
            &["run", "nop", "--param", "gc=off", "--param", "gc=on"],
            "--param gc is given twice, as off and on",
        ),
        (&["run", "--runtime", "python"], "the runtimes of Python are asyncio, uvloop, trio, anyio"),
        (&["setup", "pyhton"], "no runtime or language is named \"pyhton\"; did you mean python? There"),
        (&["new-probe", "C#"], "no probe can be begun in \"C#\"; write csharp"),
        (&["rnu"], "a similar subcommand exists: 'run'"),
        (&["run", "--metrics", "alocs"], "a similar value exists: 'allocs'"),
        (&["run", "--metrics", "rss,GC"], "a similar value exists: 'gc'"),
        (&["run", "--max-time", "5"], "give a number with its unit"),
        (&["run", "--size", "0"], "at least 1"),
        (&["run", "--probe", "'open"], "not a command"),
        (&["run", suite], "bad.toml"),
        (&["run", "no/such.toml"], "cannot read the suite file no/such.toml"),
        (&["report", "no/such/file"], "cannot read the run file no/such/file; `last` is the newest run"),
        (&["report", torn], "not-a-run.jsonl cannot be reported"),
    ] {
        let ran = tool.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.err.contains(words), "{args:?}: {words:?} not in {}", ran.err);
        assert!(ran.out.is_empty(), "nothing but data goes to standard output: {}", ran.out);
    }
    let said = tool.command(&["run", "--metrics", "alocs"]).output().expect("the binary starts").stderr;
    let said = String::from_utf8(said).expect("UTF-8");
    assert!(said.contains("possible values") && said.lines().all(|line| line.len() <= 80), "{said}");
}

#[test]
fn all_values_of_a_table_are_measured_beside_what_the_workload_does_by_itself() {
    let tool = Tool::new();
    let args = "run nop --runtime asyncio --variant wait --size 64 --param gc=all --samples 1 --sample-time 1ms \
                --max-time 600s --timeout 600s --format json";
    let ran = tool.run(&args.split(' ').collect::<Vec<_>>());
    if ran.err.contains("asked for and not measured") {
        return;
    }
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let summary = ran.json();
    let has = |value: &str| {
        ran.out.contains(&format!("\"gc\":\"{value}\"")) || {
            let rows = summary["rows"].as_array().expect("rows");
            rows.iter().any(|row| row["case"]["gc"] == value)
        }
    };
    assert!(["off", "freeze"].iter().all(|value| has(value)), "{}", ran.out);
}

#[test]
fn work_is_calibrated_and_a_baseline_can_be_chosen() {
    let args = [
        "fanout",
        "--runtime",
        "tokio",
        "--variant",
        "spawn",
        "--size",
        "64",
        "--work",
        "10us",
        "--baseline",
        "tokio:current_thread/spawn",
        "--format",
        "json",
    ];
    let ran = run(&Tool::new(), &args);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let summary = ran.json();
    let ordered: Vec<_> =
        rows(&summary, "ok").into_iter().filter(|row| row["metric"] == "cpu_per_task").collect();
    assert!(
        ordered.iter().all(|row| row["params"]["work"].as_u64().is_some_and(|steps| steps > 100)),
        "{ordered:#?}"
    );
    assert!(
        ordered
            .iter()
            .any(|row| row["variant"] == "multi_thread/spawn"
                && row["baseline"] == "tokio:current_thread/spawn")
    );
}

#[test]
fn list_completions_and_man_print_data() {
    let tool = Tool::new();
    let list = tool.run(&["list", "--runtime", "tokio", "--runtime", "asyncio@/no/such/python"]);
    for words in
        ["fanout", "multi_thread/JoinSet", "[no task]", "missing  ", "/no/such/python is not a program"]
    {
        assert!(list.out.contains(words), "{words:?} not in {}", list.out);
    }
    let pages = tool.path("man1");
    assert_eq!(tool.run(&["man", "--folder", pages.to_str().expect("UTF-8")]).status, Some(0));
    for page in ["taskscale.1", "taskscale-run.1", "taskscale-digest.1", "taskscale-probe-check.1"] {
        assert!(fs::read_to_string(pages.join(page)).expect(page).contains(".SH SYNOPSIS"), "{page}");
    }
    let short = tool.run(&["list"]).out;
    assert!(short.lines().count() <= 50 && short.lines().all(|line| line.chars().count() <= 80), "{short}");
    assert!(!short.contains('~'), "nothing is cut: {short}");
    let suite = tool.run(&["list", "nop"]).out;
    assert!(suite.contains("n = 100,000; 200,000") && !suite.contains("Runtimes"), "{suite}");
    assert!(suite.contains("variants of nop: ") && suite.contains("spawn"), "{suite}");
    for (args, words) in [
        (&["completions", "bash"][..], "_taskscale"),
        (&["completions", "zsh"], "#compdef taskscale"),
        (&["completions", "fish"], "--command taskscale"),
        (&["man"], ".SH SYNOPSIS"),
    ] {
        let ran = tool.run(args);
        assert_eq!(ran.status, Some(0));
        assert!(ran.out.contains(words), "{args:?}");
    }
}

#[test]
fn a_probe_that_is_edited_under_the_tool_fails_its_rows() {
    let tool = Tool::new();
    let probe = tool.path("mine.py");
    let honest = broken("honest");
    let script: Vec<&str> = honest.split(' ').skip(1).collect();
    // The probe edits itself at its third start (the handshake was the first). Processes are
    // replaced after two rounds.
    let text = format!(
        "import os, sys\nwith open(__file__ + '.starts', 'a+') as starts:\n    starts.write('x')\n    starts.flush()\n    \
         starts.seek(0)\n    if len(starts.read()) == 3:\n        open(__file__, 'a').write('# edited\\n')\n\
         os.execv(sys.executable, [sys.executable] + {script:?})\n"
    );
    fs::write(&probe, text).expect("written");
    let command = format!("python3 {}", probe.display());
    let args = ["fanout", "--runtime", "tokio", "--variant", "loop", "--size", "64", "--probe", &command];
    let ran = run(&tool, &[&args[..], &["--format", "json"]].concat());
    let summary = ran.json();
    let failed = rows(&summary, "failed");
    assert!(!failed.is_empty(), "{summary:#}");
    for row in failed {
        let reason = row["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("mine.py changed while it was measured"), "{row}");
    }
}

#[test]
fn a_sweep_tells_the_smallest_task_with_what_it_was_read_from() {
    let tool = Tool::new();
    let suite = tool.path("sweep.toml");
    let text = "schema = \"taskscale.suite/1\"\nname = \"sweep\"\ntitle = \"t\"\nlimits = { restart_every = 1 }\n\
                [[workload]]\nname = \"fanout\"\ntitle = \"independent tasks\"\nsizes = [16]\n\
                variants = [\"current_thread/spawn\"]\nwork_ns = [200, 3200, 51200]\nanswer = { rule = \"sum_of_tasks\" }";
    fs::write(&suite, text).expect("a file");
    let file = suite.to_str().expect("UTF-8");
    let ran = run(&tool, &[file, "--runtime", "tokio", "--format", "json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let summary = ran.json();
    let sweeps = summary["granularity"].as_array().expect("granularity");
    assert_eq!((sweeps.len(), &sweeps[0]["variant"]), (1, &"current_thread/spawn".into()), "{sweeps:#?}");
    let points = sweeps[0]["points"].as_array().expect("points");
    let steps: Vec<u64> = points.iter().filter_map(|point| point["steps"].as_u64()).collect();
    assert!(steps.len() == 3 && steps[0] > 0 && steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    for point in points {
        let figure = |name: &str| point[name].as_f64().unwrap_or_else(|| panic!("{name}: {point}"));
        // A task costs at least what it does, but for noise. By wall time, one thread has one of
        // the cores.
        assert!(figure("cpu_ns") > 0.0 && figure("cpu_efficiency") > 0.0, "{point}");
        assert!(figure("core_ns") > 0.0 && figure("wall_efficiency") > 0.0, "{point}");
    }
    let metg = sweeps[0]["metg"].as_array().expect("metg");
    let asked: Vec<(&str, f64)> = metg
        .iter()
        .map(|one| (one["time"].as_str().unwrap_or(""), one["efficiency"].as_f64().unwrap_or(0.0)))
        .collect();
    let each = |time| [(time, 0.5), (time, 0.9), (time, 0.95)];
    assert_eq!(asked, [each("cpu"), each("wall")].concat());
    // Each entry has a figure or a reason, never neither.
    assert!(metg.iter().all(|one| one["ns"].is_number() != one["reason"].is_string()), "{metg:#?}");
    let ran = run(&tool, &[file, "--runtime", "tokio"]);
    // On a busy machine there may be none: then that is a finding.
    let ranked = ran.out.contains("smallest task that is 90 % work: independent tasks, 16 tasks");
    assert!(ranked || ran.out.contains("no smallest task for tokio current_thread/spawn"), "{}", ran.out);
    assert!(
        !ran.out.contains("CPU ns per task, median"),
        "rows of a sweep have no table of costs: {}",
        ran.out
    );
}

#[test]
fn a_disk_that_is_full_takes_back_nothing_that_was_measured() {
    let tool = Tool::new();
    let file = tool.path("full.taskscale.jsonl");
    let args = "run fanout --runtime tokio --variant spawn --size 64 --samples 100000 --sample-time 200us \
                --max-time 600s --timeout 600s --precision 0 -o";
    let args: Vec<&str> = args.split_whitespace().chain(file.to_str()).collect();
    let of_tool = tool.command(&args);
    // A limit of the size of files, with its signal ignored, fails as a full disk does. The shell
    // counts in blocks of 512 or 1,024 bytes.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"]).arg(of_tool.get_program());
    command.args(of_tool.get_args()).stdin(Stdio::null());
    for (name, value) in of_tool.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let ran = common::ran(&mut command);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.err.contains("cannot go on writing") && ran.err.contains("shown above"), "{}", ran.err);
    assert!(ran.out.contains("current_thread/spawn") && ran.out.contains("cut short"), "{}", ran.out);
}

#[test]
fn a_probe_that_does_not_say_what_it_is_is_waited_for_as_long_as_was_asked() {
    let began = std::time::Instant::now();
    let ran = Tool::new().run(&["run", "fanout", "--probe", "sleep 60", "--timeout", "1s"]);
    let words = "no answer to describe within 5 s";
    assert!(ran.status == Some(2) && format!("{}{}", ran.out, ran.err).contains(words), "{ran:?}");
    assert!(began.elapsed().as_secs() < 25, "{:?}", began.elapsed());
}

#[test]
fn words_that_are_refused_are_shown_plain() {
    for args in [&["run", "--no\u{202e}pe"][..], &["\u{202e}run"], &["run", "--samples", "\u{202e}7"]] {
        let ran = Tool::new().run(args);
        assert!(ran.status == Some(2) && !ran.err.contains('\u{202e}'), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_list_shows_on_a_terminal_what_it_waits_for_and_nothing_of_it_elsewhere() {
    let tool = Tool::new();
    let said = ["looking for runtimes", "asking the runtimes what they are"];
    let ran = tool.run(&["list"]);
    assert!(ran.status == Some(0) && said.iter().all(|words| !ran.err.contains(words)), "{ran:?}");
    assert!(ran.out.contains("built by its first run, which takes minutes"), "{}", ran.out);
    let mut terminal = Command::new("python3");
    terminal.args(["-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"]);
    let listed = tool.command(&["list"]);
    terminal.arg(listed.get_program()).args(listed.get_args()).env("TERM", "xterm").stdin(Stdio::null());
    listed.get_envs().for_each(|(name, value)| _ = value.map(|value| terminal.env(name, value)));
    let ran = common::ran(&mut terminal);
    for words in said {
        assert!(ran.status == Some(0) && ran.out.contains(words), "{words}: {ran:?}");
    }
}
