//! The order in which a trace has its spans changes nothing in its digest but the numbers of
//! workers.

mod common;

use std::{fs, io::Write, process::Stdio};

use common::Tool;
use serde_json::{Value, json};

/// Thread, start and duration in microseconds, name.
type Span = (u32, f64, f64, String);

/// Draws nested timelines of several threads: parents with up to 40 children, up to four levels,
/// times of a step of 1 ns, waits of any length. Children may end a little behind their parent, as
/// rounded times do.
fn nested(seed: u64, threads: u32) -> Vec<Span> {
    fn fill(rng: &mut fastrand::Rng, spans: &mut Vec<Span>, thread: u32, from: f64, to: f64, level: u32) {
        let children = rng.u32(0..40);
        let mut at = from;
        for _ in 0..children {
            let room = (to - from) / f64::from(children);
            let start = at + room * 0.3 * rng.f64();
            let end = (start + room * 0.6 * rng.f64()).min(to);
            let rounding = if rng.u8(..) < 40 && end == to { 0.002 } else { 0.0 };
            let round = |time: f64| (time * 1e3).round() / 1e3;
            let (start, end) = (round(start), round(end + rounding));
            spans.push((
                thread,
                start,
                round(end - start).max(0.0),
                format!("level {level} of {}", rng.u32(0..9)),
            ));
            if level < 3 && rng.u8(..) < 35 {
                fill(rng, spans, thread, start, end, level + 1);
            }
            at += room;
        }
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut spans = Vec::new();
    for thread in 0..threads {
        let until = 1e5 * (0.3 + rng.f64());
        for part in 0..3 {
            let from = until * f64::from(part) / 3.0;
            fill(&mut rng, &mut spans, thread, from, from + until / 3.0, 0);
        }
    }
    spans
}

fn events(spans: &[Span]) -> String {
    let event = |(thread, ts, dur, name): &Span| {
        format!(r#"{{"name":"{name}","ph":"X","pid":1,"tid":{thread},"ts":{ts},"dur":{dur}}}"#)
    };
    format!("[{}]", spans.iter().map(event).collect::<Vec<_>>().join(",\n"))
}

/// The spans in every order that writers are known to have.
fn orders(spans: &[Span], seed: u64) -> Vec<(&'static str, Vec<Span>)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let by_start =
        |spans: &mut Vec<Span>| spans.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)));
    let mut sorted = spans.to_vec();
    by_start(&mut sorted);
    let mut by_worker = sorted.clone();
    by_worker.sort_by_key(|span| span.0);
    let mut by_end = sorted.clone();
    by_end.sort_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)).then(a.2.total_cmp(&b.2)));
    let mut shuffled = sorted.clone();
    rng.shuffle(&mut shuffled);
    let mut blocks: Vec<&[Span]> = sorted.chunks(97).collect();
    rng.shuffle(&mut blocks);
    let in_blocks = blocks.concat();
    // Every other span first, then the rest: two sections of each thread.
    let (first, second): (Vec<_>, Vec<_>) =
        sorted.iter().cloned().enumerate().partition(|(at, _)| at % 2 == 0);
    let sections = first.into_iter().chain(second).map(|(_, span)| span).collect();
    let mut backwards = sorted.clone();
    backwards.reverse();
    vec![
        ("by start", sorted),
        ("worker by worker", by_worker),
        ("by end", by_end),
        ("shuffled", shuffled),
        ("shuffled in blocks", in_blocks),
        ("in two sections", sections),
        ("backwards", backwards),
    ]
}

/// What a digest says without the numbers of workers, which are those of their first events.
fn without_numbers(mut digest: Value) -> Value {
    let workers = digest["workers_detail"]["workers"].as_array_mut().expect("workers");
    workers.iter_mut().for_each(|worker| worker["worker"] = json!(0));
    workers.sort_by_key(Value::to_string);
    for pattern in digest["patterns"].as_array_mut().expect("patterns") {
        let threads = pattern["threads"].as_array_mut().expect("threads");
        threads.iter_mut().for_each(|thread| thread["worker"] = json!(0));
    }
    digest["outliers"]
        .as_array_mut()
        .expect("outliers")
        .iter_mut()
        .for_each(|long| long["worker"] = json!(0));
    digest
}

#[test]
fn every_order_gives_the_same_digest() {
    let tool = Tool::new();
    for seed in 0..6 {
        let spans = nested(seed, 1 + seed as u32 * 2);
        let mut first: Option<Value> = None;
        for (order, spans) in orders(&spans, seed) {
            let path = tool.path("trace.json");
            fs::write(&path, events(&spans)).expect("written");
            let ran = tool.run(&["digest", "--format", "json", path.to_str().expect("UTF-8")]);
            assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{order}");
            let found = without_numbers(ran.json());
            let first = first.get_or_insert_with(|| found.clone());
            for (field, value) in first.as_object().expect("an object") {
                assert_eq!(*value, found[field], "seed {seed}, {order}, {field}");
            }
        }
        let first = first.expect("there are orders");
        assert!(first["nesting"]["nested"].as_u64() > Some(100) && first["notes"] == json!([]), "{first:#}");
    }
}

#[test]
fn a_stream_that_is_out_of_order_is_sorted_too() {
    let tool = Tool::new();
    let spans = nested(3, 4);
    let mut found = Vec::new();
    for (_, spans) in orders(&spans, 3) {
        let mut child = tool
            .command(&["digest", "--format", "json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        child.stdin.take().expect("piped").write_all(events(&spans).as_bytes()).expect("written");
        let out = child.wait_with_output().expect("ends");
        found.push(without_numbers(serde_json::from_slice(&out.stdout).expect("JSON")));
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

/// One thread submits tasks to others by flows, which come behind all tasks.
#[test]
fn flows_behind_all_tasks_tell_the_delays_of_flows_beside_them() {
    let tool = Tool::new();
    let (mut tasks, mut flows) = (Vec::new(), Vec::new());
    for id in 0..600 {
        let (thread, ts) = (1 + id % 3, 100 * id);
        let event = |phase, thread, ts, more: &str| {
            format!(r#"{{"name":"f","cat":"c","ph":"{phase}","pid":1,"tid":{thread},"ts":{ts}{more}}}"#)
        };
        let (begin, end) = (format!(r#","id":{id}"#), format!(r#","id":{id},"bp":"e""#));
        tasks.push(event("X", thread, ts, r#","dur":90"#));
        flows.push([event("s", 0, ts - id % 50, &begin), event("f", thread, ts + id % 20, &end)]);
    }
    let beside = tasks.iter().zip(&flows).flat_map(|(task, flow)| [task, &flow[0], &flow[1]]);
    let beside: Vec<&str> = beside.map(String::as_str).collect();
    let behind: Vec<&str> = tasks.iter().chain(flows.iter().flatten()).map(String::as_str).collect();
    let mut found = Vec::new();
    for (events, stream) in [(&beside, false), (&behind, false), (&behind, true)] {
        let path = tool.path("trace.json");
        fs::write(&path, format!("[{}]", events.join(",\n"))).expect("written");
        let mut command = tool.command(&["digest", "--format", "json"]);
        if stream {
            command.arg("-").stdin(fs::File::open(&path).expect("opens"));
        } else {
            command.arg(&path);
        }
        let out = command.output().expect("runs");
        found.push(serde_json::from_slice::<Value>(&out.stdout).expect("JSON"));
    }
    assert_eq!(found[0]["queue"]["delay"]["count"], json!(600), "{:#}", found[0]["queue"]);
    assert_eq!(found[0]["notes"], json!([]));
    assert!(found.iter().all(|digest| *digest == found[0]), "{:#}", found[1]["queue"]);
}

/// The clean trace is written while a file is read, and the part that was read before the disorder
/// showed is not written twice.
#[test]
fn the_clean_trace_of_a_shuffled_one_holds_each_span_once() {
    let tool = Tool::new();
    let mut spans = nested(5, 3);
    let sorted = spans.len() / 2;
    fastrand::Rng::with_seed(5).shuffle(&mut spans[sorted..]);
    let path = tool.path("trace.json");
    fs::write(&path, events(&spans)).expect("written");
    let clean = tool.path("clean.json");
    let first = tool.run(&[
        "digest",
        "--format",
        "json",
        "--chrome",
        clean.to_str().expect("UTF-8"),
        path.to_str().expect("UTF-8"),
    ]);
    let again = tool.run(&["digest", "--format", "json", clean.to_str().expect("UTF-8")]).json();
    let first = first.json();
    assert_eq!(first["tasks"], json!(spans.len()));
    for field in ["tasks", "workers", "window_ns", "nesting", "gap"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    assert_eq!(first["losses"]["work"], again["losses"]["work"]);
}

/// Twice as many spans as one block holds.
#[test]
fn no_room_to_sort_is_said_with_what_to_do() {
    let tool = Tool::new();
    let path = tool.path("trace.json");
    let spans: Vec<Span> = (0..140_000u32).rev().map(|at| (1, f64::from(at), 0.5, "x".to_owned())).collect();
    fs::write(&path, events(&spans)).expect("written");
    let ran = tool
        .command(&["digest", path.to_str().expect("UTF-8")])
        .env("TMPDIR", "/proc")
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("TMPDIR") && said.contains("out of order"), "{said}");
}
