//! Compares the reader of Chrome trace events with a plain reading of the whole file by
//! `serde_json`, and tests what that reference cannot read.

use proptest::prelude::*;
use serde_json::Value;
use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, TraceError, read};

/// Process, thread, start, end, name.
type Plain = (u32, i64, i64, Vec<u8>);

/// What is read, or why nothing is.
type Outcome = Result<(Vec<Plain>, Account), String>;

fn outcome(file: &[u8], options: &Options) -> Outcome {
    let mut spans = Vec::new();
    let account = read(file, options, &mut |span: &Span<'_>| {
        spans.push((span.worker, span.start_ns, span.end_ns, span.name.to_vec()));
    })
    .map_err(|error| error.to_string())?;
    assert_eq!(account.bytes, file.len() as u64);
    let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!(account.seen, account.counted + dropped, "{account:?}");
    Ok((spans, account))
}

fn ours(file: &[u8], options: &Options) -> (Vec<Plain>, Account) {
    outcome(file, options).expect("a trace")
}

/// Reads by both ways of scanning, which must agree in everything.
fn both_outcomes(file: &[u8]) -> Outcome {
    // Times from the first one on are easier to read.
    let aligned = Options { align: true, ..Options::default() };
    let learned = outcome(file, &aligned);
    let generic = outcome(file, &Options { learn_shapes: false, ..aligned });
    assert_eq!(learned, generic);
    learned
}

fn both(file: &[u8]) -> (Vec<Plain>, Account) {
    both_outcomes(file).expect("a trace")
}

/// Reads `X` events with their times in nanoseconds, and `B`/`E` and `b`/`e` pairs, by the simplest
/// means.
fn reference(file: &[u8]) -> Vec<Plain> {
    let whole: Value = serde_json::from_slice(file).expect("JSON");
    let events = if whole.is_array() { &whole } else { &whole["traceEvents"] };
    let ns = |value: &Value| value.as_f64().map(|us| (us * 1_000.0).round() as i64);
    let (mut workers, mut stacks, mut open) = (Vec::new(), Vec::<(Value, i64, String)>::new(), Vec::new());
    let (mut spans, mut origin) = (Vec::new(), None);
    let mut since = move |ns: i64| ns - *origin.get_or_insert(ns);
    for event in events.as_array().expect("a list") {
        let who = Value::from(vec![event["pid"].clone(), event["tid"].clone()]);
        let mut index = |who: &Value| {
            workers.iter().position(|worker| worker == who).unwrap_or_else(|| {
                workers.push(who.clone());
                workers.len() - 1
            }) as u32
        };
        let name = event["name"].as_str().unwrap_or_default().to_owned();
        let key = ["pid", "cat", "id", "name"].map(|key| event[key].clone());
        match (event["ph"].as_str(), ns(&event["ts"])) {
            (Some("X"), Some(ts)) => {
                if let Some(dur) = ns(&event["dur"]) {
                    let start = since(ts);
                    if dur >= 0 {
                        spans.push((index(&who), start, start + dur, name.into_bytes()));
                    }
                }
            }
            (Some("B"), Some(ts)) => {
                let start = since(ts);
                stacks.push((who, start, name));
            }
            (Some("E"), Some(ts)) => {
                if let Some(place) = stacks.iter().rposition(|frame| frame.0 == who) {
                    let (_, start, name) = stacks.remove(place);
                    let end = since(ts);
                    if end >= start {
                        spans.push((index(&who), start, end, name.into_bytes()));
                    }
                }
            }
            (Some("b"), Some(ts)) => {
                let start = since(ts);
                open.push((key, start, index(&who)));
            }
            (Some("e"), Some(ts)) => {
                if let Some(place) = open.iter().rposition(|begin| begin.0 == key) {
                    let (_, start, worker) = open.remove(place);
                    let end = since(ts);
                    if end >= start {
                        spans.push((worker, start, end, name.into_bytes()));
                    }
                }
            }
            _ => {}
        }
    }
    spans
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![(0u32..4).prop_map(|id| id.to_string()), (0u32..4).prop_map(|id| format!("\"worker:{id}\""))]
}

fn time() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0u64..1_000_000).prop_map(|us| us.to_string()),
        2 => (0u64..1_000_000, 0u32..1_000).prop_map(|(us, ns)| format!("{us}.{ns:03}")),
        1 => (0u64..1_000, 1u32..10).prop_map(|(us, tenth)| format!("{us}.{tenth}")),
        1 => (1u64..1_000).prop_map(|us| format!("{us}e2")),
        1 => (1u64..1_000).prop_map(|us| format!("-{us}")),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_0-9]{0,40}".prop_map(|name| format!("\"{name}\"")),
        any::<String>().prop_map(|name| serde_json::to_string(&name).expect("a string")),
    ]
}

fn args() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("null".to_owned()), Just("-1.5e9".to_owned()), name()];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::vec((name(), inner), 0..4).prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(key, value)| format!("{key} :{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Makes an event whose members stand in one of a few orders, so that shapes can be learned.
fn event() -> impl Strategy<Value = String> {
    let phase = prop_oneof![8 => Just('X'), 1 => Just('B'), 1 => Just('E'), 1 => Just('b'), 1 => Just('e'), 1 => Just('M')];
    let cat = prop_oneof![4 => Just("t"), 1 => Just("u,v")];
    let values = (phase, cat, name(), id(), id(), time(), time(), proptest::option::weighted(0.3, args()));
    (values, 0usize..4, prop_oneof![9 => Just(false), 1 => Just(true)]).prop_map(
        |((phase, cat, name, process, thread, ts, dur, args), order, spaced)| {
            let mut members = vec![
                ("cat", format!("\"{cat}\"")),
                ("name", name),
                ("ph", format!("\"{phase}\"")),
                ("pid", process),
                ("tid", thread.clone()),
                ("ts", ts),
                ("dur", dur),
            ];
            if matches!(phase, 'b' | 'e') {
                members.push(("id", thread));
            }
            members.extend(args.map(|args| ("args", args)));
            match order {
                1 => members.reverse(),
                2 => members.rotate_left(3),
                3 => members.push(("tts", "17".to_owned())),
                _ => {}
            }
            let (colon, comma) = if spaced { (" : ", " ,\n ") } else { (":", ",") };
            let members: Vec<_> =
                members.iter().map(|(key, value)| format!("\"{key}\"{colon}{value}")).collect();
            format!("{{{}}}", members.join(comma))
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    let events = proptest::collection::vec(event(), 0..60);
    (events, any::<bool>(), args(), prop_oneof![Just(","), Just(",\n"), Just(" , ")]).prop_map(
        |(events, wrapped, args, comma)| {
            let list = events.join(comma);
            if wrapped {
                format!("{{\"before\":{args},\"traceEvents\": [{list}] ,\"after\":{args}}}")
            } else {
                format!("[{list}\n]\n")
            }
        },
    )
}

/// Makes events with the same members in the same order, whose values are mostly like those of the
/// event before.
fn streak() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        8 => "[0-9]{1,2}_[0-9]{1,9}",
        4 => "[a-z]{1,20}",
        1 => prop_oneof![
            Just("a\\\\".to_owned()), Just("\\\"".to_owned()), Just("\\\",\\\"ph".to_owned()), Just("\u{e4}".to_owned()),
            Just(String::new()), Just("x".repeat(600)), Just("1_2_3".to_owned()), Just("\\u0041_1".to_owned())
        ],
    ];
    // The same number on two clocks, since one file has one clock.
    let ts = prop_oneof![
        20 => (0u64..3_000_000_000).prop_map(|n| [n.to_string(), (1_790_000_000_000_000 + n).to_string()]),
        1 => (0u64..10_000_000).prop_map(|n| {
            [0, 1_790_000_000_000_000].map(|base| format!("{}.{:03}", base + n / 1_000, n % 1_000))
        }),
        1 => (0u64..1_000).prop_map(|n| [format!("-{n}"), format!("17900000{n:03}e5")]),
        1 => (0u64..1_000).prop_map(|n| [format!("{n}e1"), format!("17900000{n:03}e5")]),
    ];
    let dur = prop_oneof![20 => (0u64..2_000).prop_map(|n| n.to_string()), 1 => Just("12.5".to_owned())];
    let thread = prop_oneof![
        20 => (0u32..3).prop_map(|n| n.to_string()),
        1 => (1_000_000u64..u64::from(u32::MAX)).prop_map(|n| n.to_string()),
        1 => Just("-4".to_owned()),
    ];
    let order = Just(["name", "tid", "ts", "dur", "cat"]).prop_shuffle();
    let gap = prop_oneof![Just(","), Just(",\n"), Just(", "), Just(",\n\n    ")];
    let colon = prop_oneof![Just(":"), Just(": ")];
    let events = proptest::collection::vec((name, thread, ts, dur), 1..80);
    let mark = prop_oneof![Just("ChromeObserver"), Just("c")];
    (events, order, gap, colon, mark, 0usize..2).prop_map(|(events, order, gap, colon, mark, clock)| {
        let event = |(name, thread, ts, dur): &(String, String, [String; 2], String)| {
            let ts = &ts[clock];
            let members = order.iter().map(|&key| match key {
                "name" => format!("\"name\"{colon}\"{name}\""),
                "tid" => format!("\"tid\"{colon}{thread}"),
                "ts" => format!("\"ts\"{colon}{ts}"),
                "dur" => format!("\"dur\"{colon}{dur}"),
                _ => format!("\"cat\"{colon}\"{mark}\",\"ph\"{colon}\"X\",\"pid\"{colon}1"),
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(gap))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn spans_are_those_of_a_plain_reading(file in file()) {
        // An empty category is one that all events have.
        let all = Options { cat: Some(String::new()), align: true, ..Options::default() };
        let whole = outcome(file.as_bytes(), &all);
        prop_assert_eq!(&whole, &outcome(file.as_bytes(), &Options { learn_shapes: false, ..all }));
        let (spans, account) = match whole {
            Ok(whole) => whole,
            Err(error) => {
                prop_assert!(error.contains("events are malformed; ") && error.contains("negative"));
                return Ok(());
            }
        };
        prop_assert_eq!(&spans, &reference(file.as_bytes()));
        prop_assert!(account.notes.iter().all(|note| note.contains("names")), "{:?}", account.notes);

        // Without it, spans of threads that are no summaries count, worker by worker in the same
        // order.
        let (chosen, account) = both(file.as_bytes());
        let by_worker = |spans: Vec<Plain>| {
            let mut workers = std::collections::BTreeMap::<u32, Vec<_>>::new();
            spans.into_iter().for_each(|(worker, start, end, name)| workers.entry(worker).or_default().push((start, end, name)));
            // Zero is the first time that counts.
            let zero = workers.values().flatten().map(|span| span.0).min().unwrap_or(0);
            let shifted = |(start, end, name)| (start - zero, end - zero, name);
            let mut workers: Vec<Vec<_>> =
                workers.into_values().map(|spans| spans.into_iter().map(shifted).collect()).collect();
            workers.sort();
            workers
        };
        let left_out = counts(&account).iter().any(|(reason, _)| reason.contains("asynchronous") || reason.contains("summary"));
        prop_assert!(chosen.len() <= spans.len());
        if !left_out {
            prop_assert_eq!(by_worker(chosen), by_worker(spans));
        }
    }

    #[test]
    fn streaks_of_one_shape_are_read_as_single_events_are(streak in streak()) {
        let (spans, account) = both(streak.as_bytes());
        let summaries = counts(&account).iter().map(|dropped| dropped.1).sum::<u64>();
        prop_assert_eq!(spans.len() as u64 + summaries, account.seen);
        prop_assert!(counts(&account).iter().all(|dropped| dropped.0.contains("summary")));
    }

    #[test]
    fn both_ways_agree_on_what_is_cut_and_frayed(
        file in file(), cut in 0usize..4_000, edits in proptest::collection::vec((0usize..4_000, any::<u8>()), 0..6)
    ) {
        let mut file = file.into_bytes();
        file.truncate(cut.max(1));
        let length = file.len();
        edits.iter().for_each(|(at, byte)| file[at % length] = *byte);
        file[0] = b'[';
        let _ = both_outcomes(&file);
    }
}

#[test]
fn a_value_that_is_missing_is_malformed_by_both_ways_of_scanning() {
    // The fuzzer found this: a learned shape took nothing for a worker's id.
    for (file, seen) in [(&br#"[{"tid":1}{"tid":}d"#[..], 2), (br#"[{"tid":1}{"tid":,"a":1},{"tid":2}]"#, 3)]
    {
        let error = both_outcomes(file).expect_err("no event has a phase");
        assert!(error.contains(&format!("{seen} of {seen} events are malformed")), "{error}");
    }
}

fn counts(account: &Account) -> Vec<(&str, u64)> {
    account.dropped.iter().map(|dropped| (dropped.reason.as_str(), dropped.events)).collect()
}

#[test]
fn defects_are_tolerated_and_counted() {
    let x = r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":5,"dur":2}"#;
    for (file, spans, reasons, note) in [
        (format!("[{x},\n{x}"), 2, vec![], "bracket is missing"),
        (format!("[{x},\n{x},"), 2, vec![], "bracket is missing"),
        (format!("[{x},{}", &x[..30]), 1, vec![("cut off by the end of the file", 1)], "bracket is missing"),
        (format!("[{x},{x},]"), 2, vec![], ""),
        (format!("\u{FEFF}[\r\n{x},\r\n{x}\r\n]"), 2, vec![], ""),
        (format!("[{x},null,17,\"s\",[{x}],{x},{x},{x}]"), 4, vec![("malformed", 4)], ""),
        (format!("[{x},{{\"name\":\"a\" oops \"ph\":\"X\"}},{x}]"), 2, vec![("malformed", 1)], ""),
        (x.replace("\"a\"", "\"a \"quoted\" b\"").to_string(), 1, vec![], "bracket is missing"),
        (format!("[{}]", x.replace("\"a\"", "\"a\u{1}\"")), 1, vec![], "1 names hold control characters"),
        (format!("[{x},{}]", x.replace("\"dur\":2", "\"dur\":-2")), 1, vec![("negative duration", 1)], ""),
        (
            format!("[{x},{}]", x.replace("\"dur\":2", "\"dur\":NaN")),
            1,
            vec![("time is not a number", 1)],
            "",
        ),
        (format!("[{}]", x.replace(",\"dur\":2", "")), 0, vec![("no duration", 1)], ""),
        (format!("[{}]", x.replace("\"ts\":5,", "")), 0, vec![("no start time", 1)], ""),
        (format!("[{x},{}]", x.replace(":5,", ":1e300,")), 1, vec![("time out of range (146 years)", 1)], ""),
        (format!("[{}]", x.replace(":2}", ":4611686018427387}")), 1, vec![], ""),
        (
            format!("[{x},{}]", x.replace(":2}", ":4611686018427388}")),
            1,
            vec![("time out of range (146 years)", 1)],
            "",
        ),
        (
            format!("[{x},{}]", x.replace(":5,", ":-9223372036854775,")),
            1,
            vec![("time out of range (146 years)", 1)],
            "",
        ),
        (format!("[{}]", x.replace('X', "E")), 0, vec![("end without a begin", 1)], ""),
        (format!("[{}]", x.replace('X', "B")), 0, vec![("begin without an end", 1)], ""),
        (format!("[{}]", x.replace("\"ts\"", "\"\\u0074s\"")), 1, vec![], ""),
    ] {
        let file = if file.starts_with(['[', '\u{FEFF}']) { file } else { format!("[{file}") };
        let (found, account) = both(file.as_bytes());
        assert_eq!((found.len(), counts(&account)), (spans, reasons), "{file}");
        assert_eq!(account.notes.is_empty(), note.is_empty(), "{file}: {:?}", account.notes);
        assert!(note.is_empty() || account.notes[0].contains(note), "{file}: {:?}", account.notes);
    }
    let (found, account) =
        both(b"[{\"name\":\"\xFF\xFE\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":5,\"dur\":2}]");
    assert_eq!(found[0].3, b"\xFF\xFE");
    assert!(account.notes[0].contains("1 names are not UTF-8"));
}

#[test]
fn thread_zero_and_the_thread_of_the_process_are_two_workers() {
    // Perfetto merges these threads, and then drops slices that overlap.
    let event = |thread, start| {
        format!(
            r#"{{"cat":"ChromeObserver","name":"{thread}_7","ph":"X","pid":1,"tid":{thread},"ts":{start},"dur":10}}"#
        )
    };
    let file = format!("[{},{},{}]", event(0, 0), event(1, 5), event(1, 20));
    let (spans, account) = both(file.as_bytes());
    let unnamed = Vec::new();
    let expected = [(0, 0, 10_000), (1, 5_000, 15_000), (1, 20_000, 30_000)];
    assert_eq!(spans, expected.map(|(w, s, e)| (w, s, e, unnamed.clone())));
    assert_eq!(
        (account.format.as_str(), account.workers, account.clock_resolution_ns),
        ("taskflow", 2, 1_000)
    );
}

#[test]
fn ray_tasks_are_counted_once() {
    let event = |cat: &str, start, dur| {
        format!(
            r#"{{"cat": "{cat}", "name": "f", "pid": "10.0.0.1", "tid": "worker:ab", "ts": {start}, "dur": {dur}, "ph": "X", "cname": "generic_work", "args": {{"task_id": "c8"}}}}"#
        )
    };
    let all = [
        event("task::f", "1790000000000000.25", "1000.5"),
        event("task:deserialize_arguments", "1790000000000001.0", "10.0"),
        event("task:execute", "1790000000000020.0", "900.0"),
        event("submit_task", "1789999999999999.0", "3.0"),
    ];
    let file = format!("[{}]", all.join(", "));
    let (spans, account) = both(file.as_bytes());
    assert_eq!(spans, [(0, 0, 1_000_500, b"f".to_vec())]);
    assert_eq!(account.format, "ray");
    assert_eq!(counts(&account), [("not a task (phase of a task)", 2), ("not a task (driver)", 1)]);
    let phases = Options { cat: Some("task:execute".into()), align: true, ..Options::default() };
    assert_eq!(ours(file.as_bytes(), &phases).0, [(0, 0, 900_000, b"f".to_vec())]);
}

#[test]
fn node_callbacks_are_tasks_and_lifetimes_are_not() {
    let event = |phase, name: &str, ts| {
        format!(
            r#"{{"pid":9,"tid":9,"ts":{ts},"tts":5,"ph":"{phase}","cat":"node,node.async_hooks","name":"{name}","dur":0,"tdur":0,"id":"0x2","args":{{}}}}"#
        )
    };
    let all = [
        event('b', "Timeout", 10),
        event('b', "Timeout_CALLBACK", 20),
        event('e', "Timeout_CALLBACK", 25),
        event('e', "Timeout", 30),
        event('I', "x", 31),
        r#"{"pid":9,"tid":9,"ts":19,"tts":5,"ph":"X","cat":"node,node.environment","name":"RunTimers","dur":8,"tdur":0,"args":{}}"#.to_owned(),
    ];
    let (spans, account) = both(format!("{{\"traceEvents\":[{}]}}", all.join(",")).as_bytes());
    assert_eq!(spans, [(0, 0, 5_000, b"Timeout_CALLBACK".to_vec())]);
    assert_eq!((account.format.as_str(), account.seen, account.counted), ("node", 6, 2));
    assert!(counts(&account).contains(&("not a task (lifetime of an asynchronous resource)", 2)));
    assert!(counts(&account).contains(&("not a task (phase of the event loop)", 1)));
}

#[test]
fn work_in_nodes_thread_pool_is_a_task_and_its_submission_is_not() {
    let event = |phase, cat: &str, thread, ts| {
        format!(
            r#"{{"pid":9,"tid":{thread},"ts":{ts},"tts":5,"ph":"{phase}","cat":"node,node.threadpoolwork,node.threadpoolwork.{cat}","name":"zlib","dur":0,"tdur":0,"id":"0x2","args":{{}}}}"#
        )
    };
    let all = [
        event('b', "async", 9, 10),
        event('B', "sync", 12, 15),
        event('E', "sync", 12, 22),
        event('e', "async", 9, 30),
    ];
    let (spans, account) = both(format!("{{\"traceEvents\":[{}]}}", all.join(",")).as_bytes());
    assert_eq!(spans, [(0, 0, 7_000, b"zlib".to_vec())]);
    assert_eq!((account.format.as_str(), account.seen, account.counted), ("node", 4, 2));
}

#[test]
fn tracing_chrome_counts_spawned_futures() {
    let event = |phase, name, thread, ts| {
        format!(
            r#"{{"ph":"{phase}","pid":1,"name":"{name}","cat":"tokio::task","tid":{thread},"ts":{ts},".file":"/x/y.rs",".line":1,"args":{{"kind":"task","task.id":7}}}}"#
        )
    };
    let all = [
        event('B', "main", 0, "0.5"),
        event('B', "runtime.spawn", 1, "1.25"),
        event('B', "inner", 1, "1.5"),
        event('E', "inner", 1, "1.75"),
        event('E', "runtime.spawn", 1, "2.5"),
    ];
    let (spans, account) = both(format!("[\n{}\n", all.join(",\n")).as_bytes());
    assert_eq!(spans, [(0, 0, 1_250, b"runtime.spawn".to_vec())]);
    assert_eq!((account.format.as_str(), account.workers), ("tracing-chrome", 1));
    assert_eq!(counts(&account), [("not a task (span inside a task)", 2), ("begin without an end", 1)]);
    assert_eq!(account.notes.len(), 2);
}

#[test]
fn threads_of_viztracer_that_are_tasks_are_named() {
    let file = r#"{"traceEvents": [{"pid": 1, "tid": 9, "ts": 5.5, "ph": "X", "cat": "fee", "dur": 2.5, "name": "f"},
        {"ph": "M", "pid": 1, "tid": 9, "name": "thread_name", "args": {"name": "Task-1"}}],
        "viztracer_metadata": {"version": "1.1.1", "overflow": true}}"#;
    let (_, account) = both(file.as_bytes());
    assert_eq!((account.format.as_str(), account.counted), ("viztracer", 1));
    assert!(account.notes.iter().any(|note| note.contains("1 of the threads are asyncio tasks")));
    assert!(account.notes.iter().any(|note| note.contains("buffer overflowed")), "{:?}", account.notes);
}

#[test]
fn filters_are_counted() {
    let event =
        |name, cat| format!(r#"{{"name":"{name}","cat":"{cat}","ph":"X","pid":1,"tid":0,"ts":5,"dur":2}}"#);
    let file = format!("[{},{},{}]", event("load", "io"), event("solve", "cpu"), event("solve", "io"));
    let options = Options { cat: Some("io".into()), name: Some("sol".into()), ..Options::default() };
    let (spans, account) = ours(file.as_bytes(), &options);
    assert_eq!(spans.len(), 1);
    assert_eq!(counts(&account), [("filtered out by category", 1), ("filtered out by name", 1)]);
}

#[test]
fn what_is_no_trace_is_named() {
    let error = |file: &[u8]| {
        read(file, &Options::default(), &mut |_: &Span<'_>| ()).expect_err("no trace").to_string()
    };
    assert!(matches!(read(&b" \n"[..], &Options::default(), &mut |_: &Span<'_>| ()), Err(TraceError::Empty)));
    for (file, part) in [
        (&b"\xFD7zXZ\0"[..], "xz -dc FILE"),
        (b"{\"a\": 1}", "without \"traceEvents\""),
        (b"hello\nworld", "begins with \"hello\\nworld\""),
        (b"go 1.26 trace\0\0\0", "Go execution trace"),
    ] {
        let error = error(file);
        assert!(error.contains(part) && error.contains("Known formats: Chrome"), "{error}");
    }
}

#[test]
fn what_is_mostly_malformed_is_no_digest_and_the_first_place_is_named() {
    let x = r#"{"ph":"X","ts":5,"dur":2}"#;
    for (file, words) in [
        (
            r#"[{"id":1,"who":"me"},{"id":2,"who":"you"}]"#.to_owned(),
            "2 of 2 events are malformed; the first stands at byte 1: ",
        ),
        (format!("[{x},17,18,{x},19]"), "3 of 5 events are malformed; the first stands at byte 27: \"17,18,"),
        (
            format!("[{x},{{\"ts\":5 oops}},{{\"ts\"}},{{4}}]"),
            "3 of 4 events are malformed; the first stands at byte 35: \"oops}",
        ),
        ("[1, 2, 3]".to_owned(), "3 of 3 events are malformed; the first stands at byte 1: \"1, 2, 3]\""),
        (
            format!("[{}[[[", " ".repeat(300_000)),
            "1 of 1 events are malformed; the first stands at byte 300001",
        ),
        (
            format!("[{x},{},{}]", x.replace(":2", ":-2"), x.replace(":5", ":NaN")),
            "2 of 3 events are malformed; 1 time is not a number, 1 negative duration",
        ),
    ] {
        let error = both_outcomes(file.as_bytes()).expect_err("malformed");
        assert!(error.contains(words), "{words} not in {error}");
    }
}

#[test]
fn events_of_another_clock_do_not_count_and_the_note_says_so() {
    let events = |base: u64, n: u64| -> Vec<String> {
        let event = |i| format!(r#"{{"name":"a","ph":"X","pid":1,"tid":0,"ts":{},"dur":2}}"#, base + 10 * i);
        (0..n).map(event).collect()
    };
    let wall = 1_790_000_000_000_000;
    for (first, second) in [(5, wall), (wall, 5)] {
        let file = [events(first, 40), events(second, 3), events(first, 20), events(second, 4)].concat();
        let (spans, account) = both(format!("[{}]", file.join(",")).as_bytes());
        assert_eq!((spans.len(), counts(&account)), (60, vec![("on another clock", 7)]));
        assert!(
            account.notes[0].contains("7 events are on another clock, 56.7 years off"),
            "{:?}",
            account.notes
        );
        let file = [events(first, 3), events(second, 40)].concat();
        let error = both_outcomes(format!("[{}]", file.join(",")).as_bytes()).expect_err("two clocks");
        assert!(error.contains("two clocks in one file: 3 events lie 56.7 years from 40 others"), "{error}");
    }
    // A pair whose end is of another clock is no span of decades.
    let pair = format!(
        r#"[{},{{"ph":"B","ts":7,"pid":1,"tid":1}},{{"ph":"E","ts":{wall},"pid":1,"tid":1}}]"#,
        events(5, 9).join(",")
    );
    let (spans, account) = both(pair.as_bytes());
    assert_eq!((spans.len(), counts(&account)), (9, vec![("on another clock", 2)]));
}

#[test]
fn times_are_the_files_own_unless_aligned() {
    let file = |ts| format!(r#"[{{"name":"a","ph":"X","pid":1,"tid":0,"ts":{ts},"dur":2}}]"#);
    for (align, first, second) in [(false, 5_000, 100_000), (true, 0, 0)] {
        let mut reader = taskscale_trace::Reader::new(Options { align, ..Options::default() });
        let mut spans = Vec::new();
        for ts in [5, 100] {
            reader
                .read(file(ts).as_bytes(), &mut |span: &Span<'_>| spans.push((span.worker, span.start_ns)))
                .expect("a trace");
        }
        assert_eq!(spans, [(0, first), (1, second)]);
        assert_eq!(reader.workers().len(), 2);
    }
}
