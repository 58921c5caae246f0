//! Which tracks of a trace are workers, and what their names are.

use std::collections::BTreeMap;

use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, Reader};

/// What was read: spans by the name of their worker, and the account.
struct Found {
    workers: BTreeMap<String, Vec<String>>,
    account: Account,
}

impl Found {
    fn with(events: &str, options: Options) -> Self {
        let file = if events.starts_with('{') && events.contains("traceEvents") {
            events.to_owned()
        } else {
            format!("[{events}]")
        };
        let mut runs = [true, false].map(|learn_shapes| {
            let mut reader = Reader::new(Options { learn_shapes, ..options.clone() });
            let mut spans = Vec::new();
            let mut sink =
                |span: &Span<'_>| spans.push((span.worker, String::from_utf8_lossy(span.name).into_owned()));
            let account = reader.read(file.as_bytes(), &mut sink).expect("a trace");
            let mut workers = BTreeMap::<String, Vec<String>>::new();
            for (worker, name) in spans {
                let track = reader.workers().name(worker).map_or(format!("worker {worker}"), str::to_owned);
                workers.entry(track).or_default().push(name);
            }
            (workers, account)
        });
        assert_eq!(runs[0], runs[1], "both ways of scanning");
        let (workers, account) = std::mem::take(&mut runs[0]);
        let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
        assert_eq!(account.seen, account.counted + dropped, "{account:?}");
        assert_eq!(account.workers, workers.len() as u64);
        Found { workers, account }
    }

    fn of(events: &str) -> Self {
        Self::with(events, Options::default())
    }

    fn tracks(&self) -> Vec<&str> {
        self.workers.keys().map(String::as_str).collect()
    }

    fn dropped(&self, reason: &str) -> u64 {
        let found = self.account.dropped.iter().find(|dropped| dropped.reason.contains(reason));
        found.map_or(0, |dropped| dropped.events)
    }

    fn notes(&self) -> String {
        self.account.notes.join("\n")
    }
}

fn named(thread: u32, name: &str) -> String {
    format!(r#"{{"name":"thread_name","ph":"M","pid":1,"tid":{thread},"args":{{"name":"{name}"}}}}"#)
}

fn x(thread: u32, ts: u32, dur: u32, name: &str) -> String {
    format!(r#"{{"name":"{name}","ph":"X","pid":1,"tid":{thread},"ts":{ts},"dur":{dur}}}"#)
}

/// Ten tasks of 90 us on a thread.
fn ten(thread: u32) -> Vec<String> {
    (0..10).map(|i| x(thread, 100 * i, 90, "task")).collect()
}

#[test]
fn a_track_with_one_span_around_all_others_is_no_worker() {
    for place in [0, 11, 20] {
        let mut events = [ten(1), ten(2)].concat();
        events.insert(place, x(9, 0, 1_000, "the whole run"));
        events.insert(0, named(9, "Run"));
        events.push(named(1, "A"));
        events.push(named(2, "B"));
        let found = Found::of(&events.join(","));
        assert_eq!(found.tracks(), ["A", "B"]);
        assert_eq!((found.account.counted, found.dropped("summary of others")), (20, 1));
        assert!(
            found.notes().contains("\"Run\" (\"the whole run\"): one span as long as the run"),
            "{}",
            found.notes()
        );
        // A user who asks for names gets what they ask for.
        let options = Options { name: Some(String::new()), ..Options::default() };
        assert_eq!(Found::with(&events.join(","), options).tracks(), ["A", "B", "Run"]);
    }
}

#[test]
fn single_long_tasks_of_workers_count() {
    // One worker has one task that outlasts all others.
    let events = [ten(1), ten(2), vec![x(3, 0, 2_000, "straggler")]].concat();
    assert_eq!(Found::of(&events.join(",")).account.workers, 3);
    // Each worker has one task.
    let events: Vec<String> = (1..5).map(|thread| x(thread, 0, 1_000, "share")).collect();
    let found = Found::of(&events.join(","));
    assert_eq!((found.account.workers, found.account.counted, found.notes()), (4, 4, String::new()));
    assert_eq!(Found::of(&x(1, 5, 10, "alone")).account.counted, 1);
}

#[test]
fn pairs_have_tracks_too() {
    let pair = |thread: u32, begin: u32, end: u32| {
        let event = |phase: &str, ts: u32| {
            format!(r#"{{"name":"p","ph":"{phase}","pid":1,"tid":{thread},"ts":{ts}}}"#)
        };
        [event("B", begin), event("E", end)].join(",")
    };
    let tasks: Vec<String> = (0..20).map(|i| pair(1, 100 * i, 100 * i + 90)).collect();
    let found = Found::of(&[tasks, vec![pair(2, 0, 2_000), pair(3, 5, 9)]].concat().join(","));
    assert_eq!((found.account.counted, found.dropped("summary of others")), (42, 2));
    assert_eq!(found.account.workers, 2);
}

#[test]
fn asynchronous_events_lie_on_no_thread() {
    let event = |phase: &str, ts: u32, id: u32| {
        format!(r#"{{"name":"request","cat":"net","ph":"{phase}","id":{id},"pid":1,"tid":1,"ts":{ts}}}"#)
    };
    let asynchronous =
        [event("b", 0, 1), event("b", 10, 2), event("n", 12, 2), event("e", 500, 1), event("e", 900, 2)];
    let old = [event("S", 0, 7), event("T", 10, 7), event("F", 900, 7)];
    let events = [ten(1), asynchronous.to_vec(), old.to_vec()].concat().join(",");
    let found = Found::of(&events);
    assert_eq!((found.account.counted, found.dropped("asynchronous")), (10, 7));
    assert!(
        found.notes().contains("7 asynchronous events such as \"request\" lie on no thread"),
        "{}",
        found.notes()
    );
    let found = Found::with(&events, Options { cat: Some("net".to_owned()), ..Options::default() });
    assert_eq!(found.account.counted, 4, "two pairs");
}

#[test]
fn a_summary_on_another_clock_sets_none() {
    // A stray event at time zero, before all others.
    let events: Vec<String> = (0..20)
        .map(|i| {
            format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":5}}"#, 1_790_000_000_000_000u64 + 10 * i)
        })
        .collect();
    let found = Found::of(&[vec![x(9, 0, 1, "stray")], events].concat().join(","));
    assert_eq!((found.account.counted, found.dropped("on another clock")), (20, 1));
}

const PYTORCH: &str = r#"{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 50, "tid": 51, "ts": 10.5, "dur": 20, "args": {"External id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm_out", "pid": 50, "tid": 51, "ts": 11, "dur": 10},
  {"ph": "X", "cat": "python_function", "name": "train.py(3): step", "pid": 50, "tid": 51, "ts": 1, "dur": 90},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 50, "tid": 51, "ts": 12, "dur": 3},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 15},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 1, "tid": 7, "ts": 40, "dur": 5},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#1", "pid": 0, "tid": 7, "ts": 5, "dur": 90},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 50, "tid": 52, "ts": 5, "dur": 90},
  {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 99},
  {"name": "process_labels", "ph": "M", "ts": 0, "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
  {"name": "process_labels", "ph": "M", "ts": 0, "pid": 1, "tid": 0, "args": {"labels": "GPU 1"}},
  {"name": "thread_name", "ph": "M", "ts": 0, "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
  {"name": "thread_name", "ph": "M", "ts": 0, "pid": 1, "tid": 7, "args": {"name": "stream 7 "}},
  {"name": "thread_name", "ph": "M", "ts": 0, "pid": 50, "tid": 51, "args": {"name": "thread 51 (python3)"}}
]}"#;

#[test]
fn pytorchs_workers_are_streams_with_kernels_or_else_threads_with_operators() {
    let found = Found::of(PYTORCH);
    assert_eq!(found.account.format, "pytorch");
    assert_eq!(found.tracks(), ["GPU 0: stream 7", "GPU 1: stream 7"]);
    assert_eq!((found.account.counted, found.dropped("operator on a CPU thread")), (2, 2));
    assert_eq!(
        (found.dropped("annotation"), found.dropped("profiler's own"), found.dropped("Python")),
        (2, 1, 1)
    );
    let notes = found.notes();
    assert!(notes.contains("2 operators on CPU threads are left out (--cat cpu_op"), "{notes}");
    let on_threads: Vec<&str> =
        PYTORCH.lines().filter(|line| !line.contains("kernel") && !line.contains("gpu_mem")).collect();
    let found = Found::of(&on_threads.join("\n"));
    assert_eq!((found.tracks(), found.account.counted), (vec!["thread 51 (python3)"], 2));
    let found = Found::with(PYTORCH, Options { cat: Some("cpu_op".to_owned()), ..Options::default() });
    assert_eq!((found.tracks(), found.account.counted), (vec!["thread 51 (python3)"], 2));
    let found = Found::with(PYTORCH, Options { cat: Some("kernel".to_owned()), ..Options::default() });
    assert_eq!(found.account.counted, 1);
}

#[test]
fn collectives_of_pytorch_that_are_left_out_are_told() {
    let found = Found::of(PYTORCH);
    assert!(!found.notes().contains("collectives"), "{}", found.notes());
    let two = r#""traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 50, "tid": 53, "ts": 20, "dur": 900},
  {"ph": "X", "cat": "user_annotation", "name": "gloo:broadcast", "pid": 50, "tid": 53, "ts": 930, "dur": 5},"#;
    let file = PYTORCH.replace(r#""traceEvents": ["#, two);
    let found = Found::of(&file);
    assert_eq!((found.account.counted, found.dropped("annotation")), (2, 4));
    let told = "2 collectives such as \"gloo:all_reduce\" are annotations, not counted";
    assert!(found.notes().contains(told), "{}", found.notes());
    let asked = Options { cat: Some("user_annotation".to_owned()), ..Options::default() };
    assert!(!Found::with(&file, asked).notes().contains("collectives"));
}

#[test]
fn bazels_tasks_are_actions_on_the_threads_that_carry_them_out() {
    let event = |cat: &str, name: &str, tid: u32, ts: u32, dur: u32| {
        format!(r#"{{"cat":"{cat}","name":"{name}","ph":"X","ts":{ts},"dur":{dur},"pid":1,"tid":{tid}}}"#)
    };
    let events = [
        named(0, "Critical Path"),
        named(30, "skyframe-evaluator 0"),
        event("build phase marker", "Launch Blaze", 5, 0, 30),
        event("general information", "buildTargets", 5, 0, 900),
        event("action processing", "Compiling a.cc", 30, 100, 300),
        event("general information", "subprocess.run", 30, 110, 250),
        event("complete action execution", "actuallyCompleteAction", 30, 380, 10),
        event("action processing", "Compiling b.cc", 30, 420, 300),
        event("critical path component", "action 'Compiling a.cc'", 0, 100, 300),
        r#"{"name":"action count","ph":"C","pid":1,"tid":5,"ts":0,"args":{"action":1}}"#.to_owned(),
    ];
    let found = Found::of(&events.join(","));
    assert_eq!(found.account.format, "bazel");
    assert_eq!(found.tracks(), ["skyframe-evaluator 0"]);
    assert_eq!(
        (found.account.counted, found.dropped("step of a build"), found.dropped("summary")),
        (2, 4, 1)
    );
}

#[test]
fn sums_of_a_time_trace_are_no_workers() {
    let sum = |tid: u32, dur: u32, name: &str| {
        format!(
            r#"{{"pid":1,"tid":{tid},"ph":"X","ts":0,"dur":{dur},"name":"Total {name}","args":{{"count":3,"avg ms":1}}}}"#
        )
    };
    let mut events = ten(3);
    events.push(x(3, 0, 1_000, "ExecuteCompiler"));
    events.extend([sum(4, 1_000, "ExecuteCompiler"), sum(5, 900, "Frontend"), sum(6, 10, "Backend")]);
    // A task of that name is no sum.
    events.push(x(3, 2_000, 5, "Total cost"));
    let found = Found::of(&events.join(","));
    assert_eq!((found.account.format.as_str(), found.account.workers), ("clang", 1));
    assert_eq!((found.account.counted, found.dropped("summary of others")), (12, 3));
}

#[test]
fn names_may_come_before_or_behind_the_spans_and_stay_with_their_file() {
    let mut reader = Reader::new(Options::default());
    let mut sink = |_: &Span<'_>| ();
    for events in [
        [vec![named(1, "first")], ten(1), ten(2)].concat(),
        [ten(1), ten(2), vec![named(2, "sec\\u006fnd\\n")]].concat(),
    ] {
        reader.read(format!("[{}]", events.join(",")).as_bytes(), &mut sink).expect("a trace");
    }
    let names: Vec<_> = (0..5).map(|index| reader.workers().name(index)).collect();
    assert_eq!(names, [Some("first"), None, None, Some("second"), None]);
}

/// As VizTracer writes them with `log_async`: the loop's calls on the thread, those of tasks on
/// tracks of the tasks, by their ends; names of threads first and of tasks last.
#[test]
fn calls_of_asyncio_tasks_belong_to_the_thread_that_ran_them() {
    let call = |thread, ts, dur, name| {
        format!(r#"{{"pid":7,"tid":{thread},"ts":{ts},"ph":"X","cat":"fee","dur":{dur},"name":"{name}"}},"#)
    };
    let name = |thread, name| {
        format!(r#"{{"ph":"M","pid":7,"tid":{thread},"name":"thread_name","args":{{"name":"{name}"}}}},"#)
    };
    let process = r#"{"ph":"M","pid":7,"tid":7,"name":"process_name","args":{"name":"MainProcess"}},"#;
    let threads = [process, &name(7, "MainThread"), &name(8, "Thread-1 (run)")].concat();
    let calls = [
        call(9847616, 11, 5, "f"),
        call(7, 10, 8, "_run_once"),
        call(9849344, 21, 5, "g"),
        call(9849344, 20, 7, "f"),
        call(8, 12, 8, "in_thread"),
        call(7, 19, 10, "_run_once"),
        call(7, 5, 30, "run"),
    ]
    .concat();
    let tasks = [name(9847616, "Task-1"), name(9849344, "a name of its own")].concat();
    let found = Found::of(&format!("{threads}{calls}{tasks}{{}}"));
    assert_eq!(
        found.workers.iter().map(|(name, calls)| (name.as_str(), calls.join(" "))).collect::<Vec<_>>(),
        [
            ("MainThread", "f _run_once g f _run_once run".to_owned()),
            ("Thread-1 (run)", "in_thread".to_owned())
        ]
    );
    let notes = &found.account.notes;
    assert!(notes.iter().any(|note| note.contains("log_async: 2 tracks are asyncio tasks")), "{notes:?}");
}

/// The first block shows no device, or one that runs nothing.
#[test]
fn a_second_reading_has_the_right_pool() {
    let event =
        |cat, ts| format!(r#"{{"ph":"X","cat":"{cat}","name":"n","pid":1,"tid":"{cat}","ts":{ts},"dur":1}}"#);
    let operators: Vec<String> = (0..5_000).map(|ts| event("cpu_op", ts)).collect();
    let operators = operators.join(",");
    let head = |devices| format!(r#"{{"deviceProperties": [ {devices}],"traceEvents":["#);
    for (file, first, second) in [
        (format!("{}{operators},{}]}}", head(""), event("kernel", 9_000)), 5_000, 1),
        (format!(r#"{}{operators}]}}"#, head(r#"{"id":0}"#)), 0, 5_000),
    ] {
        let mut reader = Reader::new(Options::default());
        let mut nothing = |_: &Span<'_>| ();
        let account = reader.read(file.as_bytes(), &mut nothing).expect("a trace");
        assert_eq!((account.counted, reader.pool_is_right()), (first, false), "{account:?}");
        let account = reader.read_again(file.as_bytes(), &mut nothing).expect("a trace");
        assert_eq!((account.counted, reader.pool_is_right(), account.workers), (second, true, 1));
    }
}
