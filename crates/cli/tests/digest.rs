//! `taskscale digest` as a process: takes any trace and prints at most 2,048 bytes and a diagnosis.

mod common;

use std::{fs, io::Write, process::Stdio};

use common::Tool;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

/// Returns a Taskflow-style trace: `tasks` tasks of `task_us` on each of `workers` workers,
/// `gap_us` apart.
fn trace(workers: u64, tasks: u64, task_us: u64, gap_us: u64) -> String {
    let mut events = Vec::new();
    for worker in 0..workers {
        for task in 0..tasks {
            let ts = task * (task_us + gap_us);
            events.push(
                json!({"cat": "ChromeObserver", "name": format!("{worker}_{task}"), "ph": "X", "pid": 1,
                               "tid": worker, "ts": ts, "dur": task_us}),
            );
        }
    }
    Value::from(events).to_string()
}

/// Writes a file and returns its path.
fn file(tool: &Tool, name: &str, text: &str) -> String {
    let path = tool.path(name);
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_balanced_run_of_long_tasks_is_healthy_and_its_figures_are_right() {
    let tool = Tool::new();
    let path = file(&tool, "t.json", &trace(4, 1_000, 500, 1));
    let digest = tool.run(&["digest", "--format", "json", &path]).json();
    assert_eq!(digest["schema"], "taskscale.digest/1");
    assert_eq!((&digest["tasks"], &digest["workers"]), (&json!(4_000), &json!(4)));
    // The window holds 1,000 tasks of 500 us and 999 gaps of 1 us.
    assert_eq!(digest["window_ns"], json!(1_000 * 500_000 + 999 * 1_000));
    assert_eq!(digest["patterns"][0]["name"], "HEALTHY", "{digest:#}");
    let losses = digest["losses"].as_object().expect("losses");
    let sum: f64 = losses.values().filter_map(Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

/// One worker, thousands of short steps and four that last 150 ms, as a format names them.
#[test]
fn long_steps_block_a_loop_only_where_the_format_can_have_one() {
    let steps = |event: &dyn Fn(u64, u64) -> Value| {
        let mut at = 0;
        let events = (0..4_000).map(|step| {
            let lasts = if step % 1_000 == 500 { 150_000 } else { 50 };
            at += lasts + 1;
            event(at - lasts - 1, lasts)
        });
        Value::from(events.collect::<Vec<_>>()).to_string()
    };
    let named = |cat: &'static str| move |ts: u64, dur: u64| json!({"cat": cat, "name": "step", "ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur});
    let tool = Tool::new();
    let says = |name: &str, text: &str| {
        let digest = tool.run(&["digest", "--format", "json", &file(&tool, name, text)]).json();
        digest["patterns"][0]["name"].as_str().expect("a name").to_owned()
    };
    assert_eq!(says("any.json", &steps(&named("task"))), "EVENT_LOOP_BLOCKED");
    assert_eq!(says("taskflow.json", &steps(&named("ChromeObserver"))), "HEALTHY");
}

#[test]
fn tiny_tasks_are_scheduling_overhead_and_the_remedy_counts_them() {
    let tool = Tool::new();
    let path = file(&tool, "t.json", &trace(2, 20_000, 2, 6));
    let digest = tool.run(&["digest", "--format", "json", &path]).json();
    assert_eq!(digest["patterns"][0]["name"], "SCHEDULING_OVERHEAD", "{digest:#}");
    let text = tool.run(&["digest", &path]);
    assert_eq!(text.status, Some(0));
    assert!(text.out.contains("SCHEDULING_OVERHEAD") && text.out.len() <= 2_048, "{}", text.out);
}

#[test]
fn workers_that_never_ran_count_where_the_user_says_so() {
    let tool = Tool::new();
    let path = file(&tool, "t.json", &trace(2, 200, 500, 1));
    let digest = tool.run(&["digest", "--workers", "8", "--format", "json", &path]).json();
    assert_eq!(digest["workers"], 8);
    assert!(digest["losses"]["work"].as_f64().is_some_and(|work| (0.2..0.3).contains(&work)), "{digest:#}");
}

#[test]
fn several_files_and_standard_input_become_one_digest() {
    let tool = Tool::new();
    let (a, b) =
        (file(&tool, "a.json", &trace(2, 300, 100, 1)), file(&tool, "b.json", &trace(3, 300, 100, 1)));
    let both = tool.run(&["digest", "--format", "json", &a, &b]).json();
    assert_eq!(
        (&both["tasks"], &both["workers"]),
        (&json!(1_500), &json!(5)),
        "workers of two files are apart"
    );

    let mut child = tool
        .command(&["digest", "--format", "json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("piped").write_all(trace(2, 300, 100, 1).as_bytes()).expect("written");
    let out = child.wait_with_output().expect("ends");
    let piped: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(piped["tasks"], 600);
}

#[test]
fn packed_traces_are_read_as_they_are() {
    let tool = Tool::new();
    let plain = trace(4, 300, 500, 1);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain.as_bytes()).expect("written");
    let packed = encoder.finish().expect("packed");
    let expected = tool.run(&["digest", &file(&tool, "t.json", &plain)]).out;
    // The name says nothing.
    let path = tool.path("trace");
    fs::write(&path, &packed).expect("written");
    assert_eq!(tool.run(&["digest", path.to_str().expect("UTF-8")]).out, expected);
    let mut child =
        tool.command(&["digest", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(&packed).expect("written");
    let out = child.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&out.stdout), expected);

    fs::write(&path, &packed[..packed.len() / 2]).expect("written");
    let cut = tool.run(&["digest", path.to_str().expect("UTF-8")]);
    assert_eq!(cut.status, Some(0), "{}", cut.err);
    assert!(cut.out.contains("the gzip data end too early: the file was cut off"), "{}", cut.out);
    fs::write(&path, &packed[..12]).expect("written");
    let nothing = tool.run(&["digest", path.to_str().expect("UTF-8")]);
    assert_eq!(nothing.status, Some(2), "{}", nothing.out);
    assert!(
        nothing.err.contains("no trace could be unpacked: the gzip data end too early"),
        "{}",
        nothing.err
    );
}

#[test]
fn the_clean_trace_holds_the_same_spans() {
    let tool = Tool::new();
    let path = file(&tool, "t.json", &trace(4, 500, 20, 3));
    let clean = tool.path("clean.json");
    let clean = clean.to_str().expect("UTF-8");
    let first = tool.run(&["digest", "--format", "json", "--chrome", clean, &path]).json();
    let again = tool.run(&["digest", "--format", "json", clean]).json();
    for field in ["tasks", "workers", "window_ns", "losses"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    let written: Value = serde_json::from_str(&fs::read_to_string(clean).expect("written")).expect("JSON");
    let events = written["traceEvents"].as_array().expect("events");
    let tasks: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(tasks.len(), 2_000);
    // Perfetto merges thread 0 with the thread whose number is the process's, and drops what then
    // overlaps.
    assert!(tasks.iter().all(|event| event["tid"] != 0 && event["tid"] != event["pid"]));
    let twice = tool.run(&["digest", "--chrome", clean, &path]);
    assert_eq!(twice.status, Some(2), "nothing is written over");
}

#[test]
fn a_damaged_trace_is_read_as_far_as_it_goes_and_the_account_says_what_was_lost() {
    let tool = Tool::new();
    let whole = trace(2, 300, 100, 1);
    let path = file(&tool, "t.json", &whole[..whole.len() - 37]);
    let ran = tool.run(&["digest", "--format", "json", &path]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let digest = ran.json();
    assert_eq!(digest["tasks"], 599);
    assert_ne!(
        digest["dropped"]["notes"].as_array().map_or(0, Vec::len)
            + digest["dropped"]["dropped"].as_array().map_or(0, Vec::len),
        0,
        "{digest:#}"
    );
}

#[test]
fn a_pipe_is_waited_for_and_not_for_ever() {
    let tool = Tool::new();
    let pipe = tool.path("pipe").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let said = "it is a pipe, and nothing was written to it for 5 s";
    for args in [&["digest", &pipe][..], &["run", &pipe]] {
        let ran = tool.run(args);
        assert!(ran.status == Some(2) && ran.err.contains(said), "{args:?}: {ran:?}");
    }
    let line = format!(
        "cat {} > {pipe} & exec {} digest {pipe}",
        file(&tool, "t.json", &trace(2, 50, 900, 100)),
        env!("CARGO_BIN_EXE_taskscale")
    );
    let ran = common::ran(std::process::Command::new("sh").args(["-c", &line]));
    assert!(ran.status == Some(0) && ran.out.contains("100 tasks"), "{ran:?}");
}

#[test]
fn what_is_no_trace_exits_with_2_and_says_what_is_known() {
    let tool = Tool::new();
    let empty = file(&tool, "empty.json", "");
    let prose = file(&tool, "prose.txt", "Dear reader, this is no trace.\n");
    let none = file(&tool, "none.json", "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{}}]");
    let list = file(&tool, "list.json", "[1, 2, 3]");
    let systrace = file(&tool, "s.html", "<!DOCTYPE html>\n<title>Android System Trace</title>");
    for (path, words) in [
        (empty.as_str(), "the input is empty"),
        (&prose, "not a task trace"),
        (&none, "no task was counted"),
        (&list, "3 of 3 events are malformed; the first stands at byte 1"),
        (&systrace, "traceconv json FILE trace.json"),
        ("no/such/file.json", "cannot open the trace no/such/file.json"),
    ] {
        for format in ["text", "json", "md", "html"] {
            let ran = tool.run(&["digest", "--format", format, path]);
            assert_eq!(ran.status, Some(2), "{path}: {ran:?}");
            assert!(ran.err.contains(words) && ran.err.lines().count() == 1, "{path}: {}", ran.err);
            assert!(ran.out.is_empty(), "{path} {format}: {}", ran.out);
        }
    }
}

/// Two crowds of `map` and `write` on three threads, and between them, from 200 to 300 ms, `reduce`
/// alone on the third. The names of the threads come behind all spans.
fn with_a_stage(thread: impl Fn(u64) -> String) -> Vec<Value> {
    let span = |tid: u64, ts: u64, dur: u64, name: &str| json!({"name": name, "ph": "X", "pid": 7, "tid": tid, "ts": ts, "dur": dur});
    let mut events = Vec::new();
    for tid in 1..4 {
        let lag = tid * 130;
        events.extend((0..100).map(|at| span(tid, lag + at * 2_000, 1_995, "map")));
        if tid == 3 {
            events.extend((0..4).map(|at| span(tid, 200_500 + at * 25_000, 24_995, "reduce")));
        }
        events.extend((0..150).map(|at| span(tid, 300_500 + lag + at * 2_000, 1_995, "write")));
    }
    events.extend((1..4).map(
        |tid| json!({"name": "thread_name", "ph": "M", "pid": 7, "tid": tid, "args": {"name": thread(tid)}}),
    ));
    events
}

#[test]
fn the_culprits_are_named_with_their_threads_and_their_time() {
    let tool = Tool::new();
    let mut events = with_a_stage(|tid| format!("pool-{tid}"));
    let path = file(&tool, "t.json", &Value::from(events.clone()).to_string());
    let text = tool.run(&["digest", &path]).out;
    let lines: Vec<&str> = text.lines().skip(2).take(6).collect();
    assert_eq!(
        lines,
        [
            "SERIAL_BOTTLENECK (11.1 %, fixing it: 1.06x to 1.13x faster)",
            "  why:  one worker of 3 is active for 17 % of the window",
            "  do:   split what runs alone into 12 tasks, or overlap it with other work",
            "  who:  held up others: \"reduce\" (100 %); on worker 2 \"pool-3\" (100 %)",
            "  when: 200 ms to 300 ms (100 %)",
            "confidence: high",
        ]
    );
    assert!(text.contains("; most: worker 2 \"pool-3\"; least:\n        worker 0 \"pool-1\"\n"), "{text}");
    assert!(text.contains("  serial     11.1 %  idle while exactly one worker is active\n"), "{text}");
    // Spans out of order are sorted, and the names stay.
    let known = tool.run(&["digest", "--format", "json", &path]).json();
    assert_eq!(known["workers_detail"]["workers"][1]["thread"], "pool-2");
    events.reverse();
    let path = file(&tool, "back.json", &Value::from(events).to_string());
    let back = tool.run(&["digest", "--format", "json", &path]).json();
    let (one, other) = (&known["patterns"][0], &back["patterns"][0]);
    for field in ["tasks", "when"] {
        assert_eq!(one[field], other[field], "{field}");
    }
    assert_eq!(
        (&one["threads"][0]["thread"], &other["threads"][0]["thread"]),
        (&json!("pool-3"), &json!("pool-3"))
    );
}

#[test]
fn hostile_names_of_threads_move_no_cursor_and_fill_no_screen() {
    let tool = Tool::new();
    let events = with_a_stage(|_| format!("\u{1b}[2J\u{202e}<b>\n{}", "x".repeat(1 << 20)));
    let path = file(&tool, "t.json", &Value::from(events).to_string());
    for format in ["text", "md", "html"] {
        let out = tool.run(&["digest", "--format", format, &path]).out;
        // A page brings its style, and the digest as data.
        let most = if format == "html" { 80 << 10 } else { 16 << 10 };
        assert!(out.contains("SERIAL_BOTTLENECK") && out.len() < most, "{format}: {}", out.len());
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{format}: {out}");
        assert!(format != "html" || !out.contains("<b>"), "{out}");
    }
}

#[test]
fn every_format_holds_the_diagnosis() {
    let tool = Tool::new();
    let path = file(&tool, "t.json", &trace(2, 20_000, 2, 6));
    for (format, words) in [("text", "confidence:"), ("md", "|"), ("html", "<html"), ("json", "\"patterns\"")]
    {
        let ran = tool.run(&["digest", "--format", format, &path]);
        assert!(ran.out.contains("SCHEDULING_OVERHEAD") && ran.out.contains(words), "{format}: {}", ran.out);
    }
}

/// Returns the digest of a trace that a real tool wrote; see `traces/README.md`.
fn of_real(name: &str, more: &[&str]) -> Value {
    let path = format!("{}/tests/traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let ran = Tool::new().run(&[&["digest", "--format", "json", &path], more].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    ran.json()
}

#[test]
fn taskflows_two_observers_of_one_run_give_the_same_digest() {
    for (name, tasks) in [("taskflow-balanced", 150), ("taskflow-straggler", 101)] {
        let chrome = of_real(&format!("{name}.chrome.json"), &[]);
        let tfprof = of_real(&format!("{name}.tfprof.json"), &[]);
        for digest in [&chrome, &tfprof] {
            assert_eq!((&digest["tasks"], &digest["workers"]), (&json!(tasks), &json!(2)), "{name}");
            assert_eq!(digest["clock_resolution_ns"], 1_000);
        }
        assert_eq!(chrome["dropped"]["format"], "taskflow");
        assert_eq!(tfprof["dropped"]["format"], "tfprof");
        assert_eq!(chrome["patterns"][0]["name"], tfprof["patterns"][0]["name"], "{name}");
        let work = |digest: &Value| digest["losses"]["work"].as_f64().expect("work");
        assert!((work(&chrome) - work(&tfprof)).abs() < 0.01, "{name}");
    }
}

#[test]
fn real_traces_are_diagnosed() {
    assert_eq!(of_real("taskflow-balanced.chrome.json", &[])["patterns"][0]["name"], "HEALTHY");
    let straggler = of_real("taskflow-straggler.chrome.json", &[]);
    assert_eq!(straggler["patterns"][0]["name"], "STRAGGLER_TASKS");
    assert!(straggler["patterns"][0]["remedy"].as_str().is_some_and(|remedy| remedy.contains("huge")));
    // One of two workers ran the whole chain; only the user can say that there was another.
    let chain = of_real("taskflow-chain.chrome.json", &["--workers", "2"]);
    assert_eq!(chain["patterns"][0]["name"], "SERIAL_BOTTLENECK", "{chain:#}");
}

#[test]
fn rays_phases_are_not_counted_beside_its_tasks() {
    let digest = of_real("ray.json", &[]);
    assert_eq!((&digest["tasks"], &digest["workers"]), (&json!(21), &json!(2)));
    assert_eq!((&digest["dropped"]["seen"], &digest["dropped"]["counted"]), (&json!(105), &json!(21)));
    // Times are doubles of microseconds since 1970.
    assert_eq!(digest["clock_resolution_ns"], 250);
    let share = digest["losses"]["work"].as_f64().expect("work");
    let busy_s = share * 2.0 * digest["window_ns"].as_f64().expect("window") / 1e9;
    assert!((busy_s - 0.715_299).abs() < 1e-4, "{busy_s}");
}
