//! When tasks became ready, as far as the formats tell: golden input and output.

use taskscale_model::span::{Account, Span, SpanSink};
use taskscale_trace::{Options, read};

/// Spans with their ready times, and ready times apart from spans, in lines.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<String>);

impl SpanSink for Seen {
    fn span(&mut self, span: &Span<'_>) {
        let name = String::from_utf8_lossy(span.name);
        let ready = span.ready_ns.map_or(String::new(), |ready| format!(" ready {ready}"));
        self.0.push(format!("{name} {}..{}{ready}", span.start_ns, span.end_ns));
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.0.push(format!("ready {ready_ns} start {start_ns}"));
    }
}

/// Reads by both ways of scanning, with times from the first one on.
fn seen(file: &str) -> (Vec<String>, Account) {
    let [learned, generic] = [true, false].map(|learn_shapes| {
        let mut seen = Seen::default();
        let options = Options { align: true, learn_shapes, ..Options::default() };
        let account = read(file.as_bytes(), &options, &mut seen).expect("a trace");
        let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
        assert_eq!(account.seen, account.counted + dropped, "{account:?}");
        (seen.0, account)
    });
    assert_eq!(learned, generic);
    learned
}

/// Reads Chrome events and returns the ready times alone.
fn readies(events: &str) -> Vec<String> {
    let lines = seen(&format!("[{events}]")).0;
    lines.into_iter().filter(|line| line.starts_with("ready")).collect()
}

const BOTH_TRACKS: &str = r#"
    {"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":9},
    {"ph":"X","pid":1,"tid":2,"name":"b","ts":0,"dur":1},
    {"ph":"X","pid":1,"tid":1,"name":"c","ts":10,"dur":5},"#;

#[test]
fn a_flow_ends_in_the_slice_around_its_end() {
    // Written at the slice's end, behind its flow.
    let written_at_ends = r#"
        {"ph":"s","pid":1,"tid":1,"id":7,"cat":"c","name":"f","ts":4},
        {"ph":"f","pid":1,"tid":2,"id":7,"cat":"c","name":"f","ts":12,"bp":"e"},
        {"ph":"X","pid":1,"tid":2,"name":"before","ts":2,"dur":8},
        {"ph":"X","pid":1,"tid":2,"name":"around","ts":11,"dur":5}"#;
    assert_eq!(readies(&format!("{BOTH_TRACKS}{written_at_ends}")), ["ready 4000 start 11000"]);
    // Written at the slice's beginning, before its flow.
    let written_at_starts = r#"
        {"ph":"s","pid":1,"tid":1,"id":7,"cat":"c","name":"f","ts":4},
        {"ph":"X","pid":1,"tid":2,"name":"around","ts":11,"dur":5},
        {"bp":"e","ph":"f","pid":1,"tid":2,"id":7,"cat":"c","name":"f","ts":12}"#;
    assert_eq!(readies(&format!("{BOTH_TRACKS}{written_at_starts}")), ["ready 4000 start 11000"]);
    // A pair of two events, which has not ended.
    let pairs = r#"
        {"ph":"s","pid":1,"tid":1,"id":"0x7","cat":"c","name":"f","ts":4},
        {"ph":"B","pid":1,"tid":2,"name":"around","ts":11},
        {"ph":"f","pid":1,"tid":2,"id":"0x7","cat":"c","name":"f","ts":12,"bp":"e"},
        {"ph":"E","pid":1,"tid":2,"ts":15}"#;
    assert_eq!(readies(&format!("{BOTH_TRACKS}{pairs}")), ["ready 4000 start 11000"]);
}

#[test]
fn without_bp_a_flow_ends_in_the_next_slice() {
    let events = r#"
        {"ph":"s","pid":1,"tid":1,"id":7,"cat":"c","name":"f","ts":4},
        {"ph":"X","pid":1,"tid":2,"name":"around","ts":5,"dur":5},
        {"ph":"f","pid":1,"tid":2,"id":7,"cat":"c","name":"f","ts":8},
        {"ph":"X","pid":1,"tid":1,"name":"elsewhere","ts":20,"dur":5},
        {"ph":"X","pid":1,"tid":2,"name":"next","ts":30,"dur":5}"#;
    assert_eq!(readies(&format!("{BOTH_TRACKS}{events}")), ["ready 4000 start 30000"]);
}

#[test]
fn a_step_is_an_end_and_a_beginning() {
    let events = r#"
        {"ph":"s","pid":1,"tid":1,"id":7,"cat":"c","name":"f","ts":4},
        {"ph":"X","pid":1,"tid":2,"name":"first","ts":11,"dur":5},
        {"ph":"t","pid":1,"tid":2,"id":7,"cat":"c","name":"f","ts":12},
        {"ph":"X","pid":1,"tid":1,"name":"second","ts":20,"dur":5},
        {"ph":"f","pid":1,"tid":1,"id":7,"cat":"c","name":"f","ts":20,"bp":"e"}"#;
    assert_eq!(
        readies(&format!("{BOTH_TRACKS}{events}")),
        ["ready 4000 start 11000", "ready 12000 start 20000"]
    );
}

#[test]
fn a_task_is_ready_with_the_last_of_its_flows() {
    let events = r#"
        {"ph":"s","pid":1,"tid":1,"id":1,"cat":"c","name":"f","ts":4},
        {"ph":"s","pid":1,"tid":1,"id":2,"cat":"c","name":"f","ts":6},
        {"ph":"s","pid":1,"tid":1,"id":3,"cat":"other","name":"f","ts":8},
        {"ph":"X","pid":1,"tid":2,"name":"join","ts":11,"dur":5},
        {"ph":"f","pid":1,"tid":2,"id":2,"cat":"c","name":"f","ts":12,"bp":"e"},
        {"ph":"f","pid":1,"tid":2,"id":1,"cat":"c","name":"f","ts":12,"bp":"e"},
        {"ph":"f","pid":1,"tid":2,"id":3,"cat":"c","name":"f","ts":12,"bp":"e"}"#;
    let (lines, account) = seen(&format!("[{BOTH_TRACKS}{events}]"));
    assert_eq!(lines.last().map(String::as_str), Some("ready 6000 start 11000"));
    assert!(account.notes[0].starts_with("2 of 3 flows tell when a task became ready"), "{account:?}");
    assert_eq!(account.dropped[0].reason, "not a task (flow from one to another)");
}

/// As Kineto writes them: a kernel and the end of its flow, the launch and its beginning, in either
/// order; flows from forward to backward operators; flows of which one end is missing.
#[test]
fn a_kernel_is_ready_when_it_is_launched() {
    let gpu = |id: u32, ts: u32| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k{id}","pid":0,"tid":7,"ts":{ts}.5,"dur":10}},
               {{"ph":"f","id":{id},"pid":0,"tid":7,"ts":{ts}.5,"cat":"ac2g","name":"ac2g","bp":"e"}}"#
        )
    };
    let cpu = |id: u32, ts: u32| {
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{ts},"dur":3}},
               {{"ph":"s","id":{id},"pid":9,"tid":9,"ts":{ts},"cat":"ac2g","name":"ac2g"}}"#
        )
    };
    let operator = r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":100,"dur":50}"#;
    let forward = r#"{"ph":"s","id":1,"pid":9,"tid":9,"ts":100,"cat":"fwdbwd","name":"fwdbwd"},
                     {"ph":"f","id":1,"pid":9,"tid":9,"ts":100,"cat":"fwdbwd","name":"fwdbwd","bp":"e"}"#;
    // The end of a launch that no kernel follows lies in an operator, and is not its end.
    let odd = r#"{"ph":"f","id":5,"pid":9,"tid":9,"ts":140,"cat":"ac2g","name":"ac2g","bp":"e"}"#;
    let file = format!(
        "[{operator},{forward},{},{},{},{},{},{odd}]",
        gpu(1, 200),
        cpu(1, 110),
        cpu(2, 120),
        gpu(2, 230),
        cpu(5, 130)
    );
    let (lines, account) = seen(&file);
    assert_eq!(lines, ["k1 0..10000", "k2 30000..40000", "ready -90500 start 0", "ready -80500 start 30000"]);
    assert_eq!((account.format.as_str(), account.counted), ("pytorch", 2));
    assert!(account.notes.iter().any(|note| note.starts_with("2 of 3 flows tell")), "{account:?}");
}

#[test]
fn a_dask_task_is_ready_when_its_last_transfer_has_ended() {
    let file = r#"[
      {"key":"load-1","worker":"a","thread":1,"startstops":[{"action":"compute","start":100,"stop":101}]},
      {"key":"sum-2","worker":"a","thread":2,"startstops":[
        {"action":"transfer","start":100.5,"stop":102.25},{"action":"transfer","start":100.5,"stop":101.5},
        {"action":"compute","start":103,"stop":104},{"action":"transfer","start":105,"stop":106}]}]"#;
    let (lines, account) = seen(file);
    assert_eq!(lines, ["load 0..1000000000", "sum 3000000000..4000000000 ready 2250000000"], "{account:?}");
}

/// States and members are those of Ray 2.51; others are left out.
fn ray_task(name: &str, worker: &str, times: [Option<&str>; 4]) -> String {
    let states = ["PENDING_ARGS_AVAIL", "PENDING_NODE_ASSIGNMENT", "RUNNING", "FINISHED"];
    let events: Vec<String> = states
        .iter()
        .zip(times)
        .filter_map(|(state, at)| Some(format!(r#"{{"state": "{state}", "created_ms": {}}}"#, at?)))
        .collect();
    format!(
        r#"{{"task_id": "16310a0f", "attempt_number": 0, "name": "{name}", "type": "NORMAL_TASK", "node_id": "e82a",
            "worker_id": "{worker}", "required_resources": {{"CPU": 1.0}}, "events": [{}],
            "profiling_data": {{"events": [{{"start_time": 1.5, "event_name": "task::x"}}]}}}}"#,
        events.join(", ")
    )
}

#[test]
fn a_ray_task_is_ready_when_its_arguments_are() {
    let file = format!(
        "[{},{},{},{}]",
        ray_task(
            "load",
            "w1",
            [
                Some("1795365834799.0"),
                Some("1795365834800.0"),
                Some("1795365834900.0"),
                Some("1795365835123.0")
            ]
        ),
        ray_task(
            "sum",
            "w2",
            [Some("1795365834805"), Some("1795365835123"), Some("1795365835130"), Some("1795365835150")]
        ),
        ray_task(
            "of_an_actor",
            "w3",
            [Some("1795365834805"), None, Some("1795365835130"), Some("1795365835131")]
        ),
        ray_task(
            "unfinished",
            "w1",
            [Some("1795365834805"), Some("1795365835123"), Some("1795365835130"), None]
        ),
    );
    let (lines, account) = seen(&file);
    assert_eq!(
        lines,
        [
            "load 0..223000000 ready -100000000",
            "sum 230000000..250000000 ready 223000000",
            "of_an_actor 230000000..231000000"
        ]
    );
    assert_eq!(
        (account.format.as_str(), account.seen, account.counted, account.workers),
        ("ray-tasks", 4, 3, 3)
    );
    assert_eq!(account.clock_resolution_ns, 1_000_000);
    assert_eq!(account.dropped[0].reason, "no duration");
}

#[test]
fn the_command_writes_dates_where_the_library_has_milliseconds() {
    let at = |ms: &str| format!(r#""2026-11-22 16:43:{ms}000""#);
    let [args, ready, running, ended] = ["54.799", "54.800", "54.900", "55.123"].map(at);
    let file =
        format!("[{}]", ray_task("load", "w1", [Some(&args), Some(&ready), Some(&running), Some(&ended)]));
    assert_eq!(seen(&file).0, ["load 0..223000000 ready -100000000"]);
}
