//! Compares traces that the real tools wrote with the totals that the tools, or the traced programs
//! themselves, have counted (`tests/real/README.md`).

use std::collections::BTreeMap;

use serde_json::Value;
use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, read};

/// A span as a reader gave it, owned, in the reader's order.
struct Found {
    worker: u32,
    start_ns: i64,
    end_ns: i64,
    name: String,
}

fn found(file: &[u8], cat: Option<&str>) -> (Account, Vec<Found>) {
    let mut spans = Vec::new();
    let options = Options { cat: cat.map(str::to_owned), ..Options::default() };
    let account = read(file, &options, &mut |span: &Span<'_>| {
        let name = String::from_utf8(span.name.to_vec()).expect("UTF-8");
        spans.push(Found { worker: span.worker, start_ns: span.start_ns, end_ns: span.end_ns, name });
    })
    .expect("a trace");
    let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!(account.seen, account.counted + dropped, "{account:?}");
    (account, spans)
}

fn busy_ns<'a>(spans: impl IntoIterator<Item = &'a Found>) -> i64 {
    spans.into_iter().map(|span| span.end_ns - span.start_ns).sum()
}

/// Sums number and total duration by the part of the name that `key` returns.
fn by_name<'a>(spans: &'a [Found], key: impl Fn(&'a str) -> &'a str) -> BTreeMap<&'a str, (i64, i64)> {
    let mut sums = BTreeMap::new();
    for span in spans {
        let sum: &mut (i64, i64) = sums.entry(key(&span.name)).or_default();
        sum.0 += 1;
        sum.1 += span.end_ns - span.start_ns;
    }
    sums
}

fn dropped(account: &Account, reason: &str) -> i64 {
    account
        .dropped
        .iter()
        .find(|dropped| dropped.reason.contains(reason))
        .map_or(0, |dropped| dropped.events as i64)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("an integer")
}

#[test]
fn dask() {
    let totals = json(include_str!("real/dask.totals.json"));
    let (account, spans) = found(include_bytes!("real/dask.json"), None);
    assert_eq!((account.format.as_str(), account.workers), ("dask", number(&totals["threads"]) as u64));
    // Times are doubles of seconds since 1970.
    assert_eq!(account.clock_resolution_ns, 238);
    let sums = by_name(&spans, |name| name);
    let prefixes = totals["prefixes"].as_object().expect("prefixes");
    assert_eq!(sums.len(), prefixes.len());
    for (name, prefix) in prefixes {
        let (tasks, ns) = sums[name.as_str()];
        assert_eq!(tasks, number(&prefix["tasks"]), "{name}");
        // The scheduler rounds each task to a microsecond before it adds. A step of the float is
        // 0.24 us.
        assert!((ns - 1_000 * number(&prefix["us"]["compute"])).abs() <= tasks * 740, "{name}: {ns}");
    }
}

#[test]
fn viztracer() {
    let (counted, entries) =
        include_str!("real/viztracer.totals.txt").trim_end().split_once('\n').expect("two lines");
    let totals = json(counted);
    let entries: u64 = entries.trim_start_matches("Total Entries: ").parse().expect("a number");
    let (account, spans) = found(include_bytes!("real/viztracer.json"), None);
    assert_eq!((account.format.as_str(), account.seen, account.workers), ("viztracer", entries, 1));
    assert_eq!(account.notes.len(), 1, "{:?}", account.notes);
    assert!(account.notes[0].contains("a task is a call"), "{:?}", account.notes);
    // A call has the name of the function, with file and line.
    let sums = by_name(&spans, |name| name.split(' ').next().unwrap_or(name));
    for (name, calls) in totals["calls"].as_object().expect("calls") {
        assert_eq!(sums[name.as_str()].0, number(calls), "{name}");
    }
    for (name, ns) in totals["ns"].as_object().expect("times") {
        close(sums[name.as_str()].1, number(ns), 1.03);
    }
}

#[test]
fn node() {
    let totals = json(include_str!("real/node.totals.json"));
    let (account, spans) = found(include_bytes!("real/node.json"), None);
    assert_eq!((account.format.as_str(), account.workers), ("node", 1));
    let sums = by_name(&spans, |name| name.trim_end_matches("_CALLBACK"));
    let types = totals.as_object().expect("types");
    assert_eq!(sums.len(), types.len());
    for (name, total) in types {
        assert_eq!(sums[name.as_str()].0, number(&total["callbacks"]), "{name}");
        // Node's times are whole microseconds, each cut off.
        let callbacks = sums[name.as_str()].0;
        close(sums[name.as_str()].1 + callbacks * 1_000, number(&total["ns"]), 1.05);
    }
}

#[test]
fn taskflow() {
    let file = include_bytes!("real/taskflow.tfp");
    taskflow_summary("taskflow", file, include_str!("real/taskflow.txt"));
    let headless = include_bytes!("real/taskflow-headless.tfp");
    assert!(!headless.starts_with(b"TFPX"));
    taskflow_summary("taskflow-headless", headless, include_str!("real/taskflow-headless.txt"));
}

/// Compares a `.tfp` with the text that Taskflow writes of the same observers.
fn taskflow_summary(what: &str, file: &[u8], text: &str) {
    let (account, spans) = found(file, None);
    assert_eq!((account.format.as_str(), account.clock_resolution_ns), ("tfp", 1_000), "{what}");
    assert!(account.notes.is_empty(), "{:?}", account.notes);
    let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let us = |text: &str| text.parse::<i64>().expect("an integer") * 1_000;
    let mut types = BTreeMap::<&str, (i64, i64)>::new();
    let mut workers = Vec::new();
    for line in &words {
        match line[..] {
            [kind, count, total, _, _, _] if kind != "Total" && count.parse::<i64>().is_ok() => {
                let sum = types.entry(kind).or_default();
                *sum = (sum.0 + us(count) / 1_000, sum.1 + us(total));
            }
            [id, tasks, busy, _, _, _, _, _] if id.parse::<u32>().is_ok() => {
                workers.push((us(tasks) / 1_000, us(busy)));
            }
            _ => {}
        }
    }
    // Taskflow floors the duration of a task, and the file floors its two ends: they differ by less
    // than 1 us a task.
    for (kind, (count, total)) in &types {
        let (_, spans) = found(file, Some(kind));
        assert_eq!(spans.len() as i64, *count, "{what}: {kind}");
        assert!((busy_ns(&spans) - total).abs() <= count * 1_000, "{what}: {kind}: {}", busy_ns(&spans));
    }
    let tasks: i64 = types.values().map(|(count, _)| count).sum();
    assert_eq!((spans.len() as i64, account.workers), (tasks, workers.len() as u64), "{what}");
    for (worker, (count, busy)) in workers.into_iter().enumerate() {
        let mut own: Vec<_> = spans.iter().filter(|span| span.worker == worker as u32).collect();
        assert_eq!(own.len() as i64, count, "{what}: worker {worker}");
        // The busy time is the time that the tasks of all levels cover together.
        own.sort_by_key(|span| span.start_ns);
        let (mut covered, mut to) = (0, i64::MIN);
        for span in own {
            covered += (span.end_ns - span.start_ns.max(to)).max(0);
            to = to.max(span.end_ns);
        }
        assert!((covered - busy).abs() <= count * 1_000, "{what}: worker {worker}: {covered} and {busy}");
    }
}

/// tokio opens a span for each poll of a task and, since `tracing` 0.1.38, one more around the drop
/// of its future.
#[test]
fn tokio_threaded() {
    let totals = json(include_str!("real/tokio-threaded.totals.json"));
    let total = |name: &str| number(&totals[name]);
    let (account, spans) = found(include_bytes!("real/tokio-threaded.json"), None);
    assert_eq!(account.format, "tracing-chrome");
    // The workers are the threads of the runtime, and the thread that waits in `block_on`.
    assert_eq!(account.workers as i64, total("workers") + 1);
    // A worker's whole life is a span of a blocking task. It has a drop too, and is no task.
    assert_eq!(dropped(&account, "life of a worker"), 4 * total("workers"));
    assert_eq!(spans.len() as i64, total("polls") + total("main_polls") + total("drops"));
    let of_tasks = busy_ns(&spans);
    // The program's own clock is read inside each poll.
    close(of_tasks, total("busy_ns") + total("main_busy_ns"), 1.02);
}

/// The asynchronous style has one pair for the life of a task, from spawn to drop. It holds no
/// poll.
#[test]
fn tokio_async() {
    let totals = json(include_str!("real/tokio-async.totals.json"));
    let (account, spans) = found(include_bytes!("real/tokio-async.json"), None);
    assert_eq!(account.format, "tracing-chrome");
    let lives = number(&totals["tasks"]) + 1 + number(&totals["workers"]);
    assert_eq!(dropped(&account, "lifetime"), 2 * lives, "with the future of `block_on` and the workers");
    assert_eq!(spans.len(), 0);
    assert!(account.notes.iter().any(|note| note.contains("TraceStyle::Threaded")), "{:?}", account.notes);
}

/// Checks that a time taken from outside is at least the one from inside, and at most `times` that.
fn close(outside_ns: i64, inside_ns: i64, times: f64) {
    let (outside, inside) = (outside_ns as f64, inside_ns as f64);
    assert!((inside..=inside * times).contains(&outside), "{outside} is {:.4} of {inside}", outside / inside);
}
