//! CPU times of tasks, as far as the formats tell: golden input and output.

use taskscale_model::span::{Span, WAITS, WAITS_FOR_OTHERS};
use taskscale_trace::{Options, read};

/// Reads by both ways of scanning: name, duration and CPU time of each span.
fn seen(file: &str) -> Vec<(String, i64, Option<u64>)> {
    let [learned, generic] = [true, false].map(|learn_shapes| {
        let mut seen = Vec::new();
        let mut sink = |span: &Span<'_>| {
            let name = String::from_utf8_lossy(span.name).into_owned();
            seen.push((name, span.end_ns - span.start_ns, span.cpu_ns));
        };
        read(file.as_bytes(), &Options { learn_shapes, ..Options::default() }, &mut sink).expect("a trace");
        seen
    });
    assert_eq!(learned, generic);
    learned
}

#[test]
fn the_duration_by_the_threads_clock_is_cpu_time() {
    // Many, so that their shape is learned.
    let events: Vec<String> = (0..40)
        .map(|at| {
            let cpu = ["", r#","tdur":2.5"#, r#","tdur":0"#, r#","tdur":"x""#][at % 4];
            format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":5,"name":"n{at}"{cpu}}}"#, at * 10)
        })
        .collect();
    let found = seen(&format!("[{}]", events.join(",")));
    assert_eq!(found.len(), 40);
    for (at, span) in found.iter().enumerate() {
        // A duration of 0 by the thread's clock stands where nothing was measured, too.
        let cpu = (at % 4 == 1).then_some(2_500);
        assert_eq!(*span, (format!("n{at}"), 5_000, cpu));
    }
}

#[test]
fn equal_cpu_times_are_not_taken_for_a_part_of_the_shape() {
    let event = |at: u32, cpu: u32| {
        format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":5,"tdur":{cpu},"name":"n"}}"#, at * 10)
    };
    let events: Vec<String> = (0..30).map(|at| event(at, if at < 20 { 3 } else { 4 })).collect();
    let cpu: Vec<_> = seen(&format!("[{}]", events.join(","))).into_iter().map(|span| span.2).collect();
    assert_eq!((&cpu[..20], &cpu[20..]), (&[Some(3_000); 20][..], &[Some(4_000); 10][..]));
}

#[test]
fn calls_of_viztracer_that_only_wait_do_not_run() {
    let call = |name: &str, at: u32| {
        format!(r#"{{"pid":1,"tid":1,"ts":{at},"ph":"X","dur":8,"name":"{name}","cat":"fee"}}"#)
    };
    let names = ["_thread.lock.acquire", "time.sleep", "handle (/a.py:1)", "posix.read"];
    let calls: Vec<String> = (0..40).map(|at| call(names[at % 4], 10 * at as u32)).collect();
    let found = seen(&format!(r#"{{"traceEvents":[{}],"viztracer_metadata":{{}}}}"#, calls.join(",")));
    assert_eq!(found.len(), 40);
    for (at, (name, _, cpu)) in found.iter().enumerate() {
        // The main thread waits for others at a lock.
        let waits = [Some(WAITS_FOR_OTHERS), Some(WAITS), None, None][at % 4];
        assert_eq!((name.as_str(), *cpu), (names[at % 4], waits));
    }
}
