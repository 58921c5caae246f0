//! The probe as the tool sees it: a process with three pipes. The tests compute the right answers
//! on their own.
// clippy.toml lets `#[test]` functions unwrap. This also lets the helpers around them.
#![allow(clippy::unwrap_used)]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

const SIZES: [u64; 3] = [1, 64, 1_000];

struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(runtime: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_taskscale-probe-rust"))
            .arg(runtime)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Session { child, input, output }
    }

    fn ask(&mut self, line: &[u8]) -> Value {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        let mut reply = String::new();
        self.output.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap_or_else(|error| panic!("{reply:?}: {error}"))
    }

    fn describe(&mut self) -> Value {
        self.ask(br#"{"type":"describe","protocol":1,"new":[]}"#)
    }

    /// The sample of a run. The fields of `change` replace those of a request for 64 tasks.
    fn run(&mut self, workload: &str, variant: &Value, change: Value) -> Value {
        let mut request = json!({
            "type": "run", "id": 7, "workload": workload, "variant": variant,
            "size": 64, "iterations": 1, "seed": 11, "params": {},
        });
        for (name, value) in change.as_object().unwrap() {
            request[name] = value.clone();
        }
        self.ask(request.to_string().as_bytes())
    }

    /// Ends the input. Returns what the probe still said, and its exit status.
    fn end(mut self) -> (String, Option<i32>) {
        self.input = None;
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

/// The kernel, written a second time.
fn spin(seed: u64, steps: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (0..steps).fold(z ^ (z >> 31), |x, _| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        x ^ (x << 17)
    })
}

fn sum_of_tasks(size: u64, work: u64, seed: u64) -> u64 {
    match work {
        0 => 31 * (size * (size - 1) / 2),
        _ => (0..size).fold(0, |sum: u64, i| sum.wrapping_add(spin(seed + i, work))),
    }
}

fn variants(description: &Value, workload: &str) -> Vec<Value> {
    let workloads = description["workloads"].as_array().unwrap();
    let workload = workloads.iter().find(|one| one["name"] == workload).unwrap();
    workload["variants"].as_array().unwrap().clone()
}

fn fanout_answers(runtime: &str) {
    let mut session = Session::start(runtime);
    let description = session.describe();
    for variant in variants(&description, "fanout") {
        let name = &variant["name"];
        let windows: &[u64] = if variant["only"]["window"].is_null() { &[0, 5] } else { &[0] };
        for order in variant["only"]["order"].as_array().unwrap() {
            let cases = SIZES.iter().flat_map(|size| windows.iter().map(move |window| (*size, *window)));
            for (size, window, work) in
                cases.flat_map(|(size, window)| [(size, window, 0), (size, window, 9)])
            {
                for verify in [false, true] {
                    let params = json!({ "order": order, "window": window, "work": work, "verify": verify });
                    let sample = session.run(
                        "fanout",
                        name,
                        json!({ "size": size, "iterations": 3, "params": params }),
                    );
                    let case = format!("{runtime} {name} size {size} {params}: {sample}");
                    let one = if order == "discard" && !verify { size } else { sum_of_tasks(size, work, 11) };
                    assert_eq!(sample["answer"], one.wrapping_mul(3), "{case}");
                    assert_eq!(sample["id"], 7, "{case}");
                    assert!(sample["wall_ns"].as_u64().unwrap() > 0, "{case}");
                    if verify {
                        let extra = |name: &str| sample["extra"][name].as_u64().unwrap();
                        assert_eq!(extra("executed"), size * 3, "{case}");
                        assert!(extra("workers_seen") >= 1, "{case}");
                        let most = if window == 0 { size } else { size.min(window) };
                        assert!((1..=most).contains(&extra("max_live")), "{case}");
                    }
                }
            }
        }
    }
    assert_eq!(session.end(), (String::new(), Some(0)));
}

#[test]
fn tasks_of_a_graph_wait_for_those_before_them() {
    let mut session = Session::start("tokio");
    let description = session.describe();
    for variant in variants(&description, "graph") {
        for pattern in ["trivial", "chain", "tree", "stencil"] {
            for (size, work, verify) in
                SIZES.into_iter().flat_map(|size| [(size, 9, false), (size, 0, true), (size, 9, true)])
            {
                let params = json!({ "pattern": pattern, "work": work, "verify": verify });
                let body = json!({ "size": size, "iterations": 3, "params": params });
                let sample = session.run("graph", &variant["name"], body);
                let case = format!("{} size {size} {params}: {sample}", variant["name"]);
                assert_eq!(sample["answer"], sum_of_tasks(size, work, 11).wrapping_mul(3), "{case}");
            }
        }
    }
    assert_eq!(session.end(), (String::new(), Some(0)));
}

#[test]
fn fanout_on_tokio() {
    fanout_answers("tokio");
}

#[test]
fn fanout_on_rayon() {
    fanout_answers("rayon");
}

#[test]
fn fanout_on_smol() {
    fanout_answers("smol");
}

#[test]
fn fanout_on_threads() {
    fanout_answers("threads");
}

#[test]
fn nop_counts_and_spin_spins_everywhere() {
    for runtime in taskscale_probe_rust::RUNTIMES {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "nop") {
            let name = &variant["name"];
            for (size, live, verify) in
                SIZES.into_iter().flat_map(|size| [(size, 0, false), (size, 0, true), (size, 7, true)])
            {
                let change =
                    json!({ "size": size, "iterations": 2, "params": { "live": live, "verify": verify } });
                let sample = session.run("nop", name, change);
                assert_eq!(sample["answer"], 2 * size, "{runtime} {name}");
                if live > 0 {
                    assert!(
                        sample["extra"]["max_live"].as_u64().unwrap() <= live,
                        "{runtime} {name}: {sample}"
                    );
                }
            }
        }
        for size in SIZES {
            let sample = session.run("spin", &json!("loop"), json!({ "size": size, "iterations": 5 }));
            assert_eq!(sample["answer"], spin(11, size).wrapping_mul(5), "{runtime} spin {size}");
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn phases_tell_the_share_of_creation() {
    let mut session = Session::start("tokio");
    for (workload, variant) in [("fanout", "current_thread/spawn"), ("nop", "multi_thread/spawn")] {
        let change = json!({ "iterations": 20, "params": { "phases": true } });
        let sample = session.run(workload, &json!(variant), change);
        let create = sample["extra"]["create_wall_ns"].as_u64().unwrap();
        assert!(0 < create && create < sample["wall_ns"].as_u64().unwrap(), "{sample}");
        assert!(sample["extra"]["create_cpu_ns"].as_u64().unwrap() > 0, "{sample}");
    }
    assert_eq!(session.run("fanout", &json!("current_thread/spawn"), json!({}))["extra"], json!({}));
}

#[test]
fn drain_collects_all_that_wait() {
    let mut session = Session::start("tokio");
    let description = session.describe();
    for variant in variants(&description, "drain") {
        // Beyond 128 tokio makes the futures yield.
        for (size, verify) in SIZES.into_iter().flat_map(|size| [(size, false), (size, true)]) {
            let change = json!({ "size": size, "iterations": 3, "params": { "verify": verify } });
            let sample = session.run("drain", &variant["name"], change);
            assert_eq!(sample["answer"], 3 * size, "{variant}: {sample}");
        }
        assert!(variant["note"].as_str().unwrap().starts_with("futures-util 0.3."), "{variant}");
    }
}

#[test]
fn all_that_park_wait_at_once_and_tell_the_memory_where_asked() {
    for runtime in ["tokio", "smol", "threads"] {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "parked") {
            let only = &variant["only"]["on"];
            for on in ["event", "timer", "lock"] {
                if only.as_array().is_some_and(|only| !only.contains(&json!(on))) {
                    continue;
                }
                for (resident, verify) in [(false, false), (false, true), (true, false)] {
                    let params = json!({ "on": on, "resident": resident, "verify": verify });
                    let body = json!({ "size": 200, "iterations": 3, "params": params });
                    let sample = session.run("parked", &variant["name"], body);
                    let case = format!("{runtime} {} {params}: {sample}", variant["name"]);
                    assert_eq!(sample["answer"], 600, "{case}");
                    let told = |name: &str| sample["extra"][name].as_u64();
                    assert_eq!(told("waiting"), (resident || verify).then_some(200), "{case}");
                    assert_eq!(told("resident_waiting").is_some(), resident, "{case}");
                }
            }
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn any_number_of_workers_does_every_task_once() {
    for runtime in taskscale_probe_rust::RUNTIMES {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "scale") {
            for (workers, work) in [(1, 0), (2, 30), (5, 30), (1, 30)] {
                let params = json!({ "workers": workers, "work": work, "verify": true });
                let body = json!({ "size": 200, "iterations": 1, "params": params });
                let sample = session.run("scale", &variant["name"], body);
                let case = format!("{runtime} {params}: {sample}");
                assert_eq!(sample["answer"], sum_of_tasks(200, work, 11), "{case}");
                assert_eq!(sample["extra"]["executed"], 200, "{case}");
                assert!(sample["extra"]["workers_seen"].as_u64().unwrap() <= workers, "{case}");
            }
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn every_call_of_blocking_blocks_and_waits_are_told() {
    for runtime in ["tokio", "smol", "threads"] {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "blocking") {
            let body = json!({ "size": 9, "iterations": 2, "params": { "block_us": 2_000, "every": 4 } });
            let sample = session.run("blocking", &variant["name"], body);
            let case = format!("{runtime} {}: {sample}", variant["name"]);
            assert_eq!(sample["answer"], 18, "{case}");
            let told = |name: &str| sample["extra"][name].as_u64().expect("a number");
            let blocks = !variant["name"].as_str().is_some_and(|name| name.ends_with("/without"));
            assert_eq!(told("blocked"), if blocks { 6 } else { 0 }, "{case}");
            let waits = ["wait_p50_ns", "wait_p99_ns", "wait_max_ns"].map(told);
            assert!(waits[0] > 0 && waits.is_sorted(), "{case}");
            // Each iteration lasts at least as long as one call.
            assert!(!blocks || sample["wall_ns"].as_u64() >= Some(2 * 2_000_000), "{case}");
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn all_that_wait_are_cancelled_by_every_form() {
    for runtime in ["tokio", "smol"] {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "cancel") {
            let only = &variant["only"]["first"];
            for on in ["event", "timer", "lock"] {
                for first in ["oldest", "newest"] {
                    if only.as_array().is_some_and(|only| !only.contains(&json!(first))) {
                        continue;
                    }
                    let params = json!({ "on": on, "first": first });
                    let body = json!({ "size": 200, "iterations": 3, "params": params });
                    let sample = session.run("cancel", &variant["name"], body);
                    let case = format!("{runtime} {} {params}: {sample}", variant["name"]);
                    assert_eq!(sample["answer"], 600, "{case}");
                    assert!(sample["extra"]["setup_wall_ns"].as_u64().is_some(), "{case}");
                }
            }
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn memory_grows_with_the_tasks_that_wait() {
    let mut session = Session::start("tokio");
    let body = json!({ "size": 50_000, "params": { "resident": true } });
    let sample = session.run("parked", &json!("multi_thread/spawn"), body);
    let told = |name: &str| sample["extra"][name].as_u64().unwrap();
    // A task of tokio has 128 bytes at the least.
    assert!(told("resident_waiting") - told("resident_before") > 50_000 * 128, "{sample}");
}

#[test]
fn every_token_comes_back() {
    for runtime in ["tokio", "smol", "threads"] {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "pingpong") {
            for workers in ["one", "cores"] {
                let only = &variant["only"]["workers"];
                if only.as_array().is_some_and(|only| !only.contains(&json!(workers))) {
                    continue;
                }
                // 201 trips do not divide evenly; of 300 pairs some have none.
                for pairs in [1, 4, 300] {
                    let params = json!({ "pairs": pairs, "workers": workers });
                    let body = json!({ "size": 201, "iterations": 3, "params": params });
                    let sample = session.run("pingpong", &variant["name"], body);
                    assert_eq!(sample["answer"], 603, "{runtime} {} {params}: {sample}", variant["name"]);
                }
            }
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn every_task_from_outside_runs() {
    for runtime in ["tokio", "smol", "rayon", "threads"] {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "remote") {
            // 41 tasks do not divide evenly by 4; of 64 producers some have none.
            for producers in [1, 4, 64] {
                let params = json!({ "producers": producers });
                let body = json!({ "size": 41, "iterations": 3, "params": params });
                let sample = session.run("remote", &variant["name"], body);
                assert_eq!(sample["answer"], 123, "{runtime} {} {params}: {sample}", variant["name"]);
            }
            let refused = session.run("remote", &variant["name"], json!({ "params": { "producers": 65 } }));
            assert_eq!(refused["message"], "producers is 65; give 1 to 64", "{refused}");
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn each_task_has_its_own_values() {
    let mut session = Session::start("tokio");
    let description = session.describe();
    for variant in variants(&description, "context") {
        for count in [0, 1, 8] {
            let body = json!({ "size": 201, "iterations": 3, "params": { "variables": count } });
            let sample = session.run("context", &variant["name"], body);
            assert_eq!(sample["answer"], 603, "{} {count}: {sample}", variant["name"]);
        }
        let refused = session.run("context", &variant["name"], json!({ "params": { "variables": 3 } }));
        assert_eq!(refused["message"], "variables is 3; give 0, 1 or 8", "{refused}");
    }
    assert_eq!(session.end(), (String::new(), Some(0)));
}

#[test]
fn every_task_arrives_at_its_time() {
    for runtime in taskscale_probe_rust::RUNTIMES {
        let mut session = Session::start(runtime);
        let description = session.describe();
        for variant in variants(&description, "idle") {
            for (size, rate) in [(20, 1_000), (20, 100), (100, 10)] {
                let body = json!({ "size": size, "iterations": 2, "params": { "rate": rate } });
                let sample = session.run("idle", &variant["name"], body);
                assert_eq!(sample["answer"], 2 * size, "{} {rate}: {sample}", variant["name"]);
                let wall_ns = sample["wall_ns"].as_u64().expect("a number");
                assert!(wall_ns >= 2_000_000 * size, "{} {rate}: {sample}", variant["name"]);
            }
            let refused = session.run("idle", &variant["name"], json!({ "params": { "rate": 50 } }));
            assert_eq!(refused["message"], "rate is 50; give 1, 10, 100 or 1000", "{refused}");
            let refused =
                session.run("idle", &variant["name"], json!({ "size": 15, "params": { "rate": 100 } }));
            let said = "in 15 ms no whole number of tasks arrives at 100 a second";
            assert_eq!(refused["message"], said, "{refused}");
        }
        assert_eq!(session.end(), (String::new(), Some(0)));
    }
}

#[test]
fn an_extra_spin_does_not_change_the_answer() {
    let mut session = Session::start("rayon");
    let sample = session.run("fanout", &json!("scope"), json!({ "params": { "extra_spin": 100 } }));
    assert_eq!(sample["answer"], sum_of_tasks(64, 0, 0));
}

#[test]
fn the_description_names_real_versions() {
    for runtime in taskscale_probe_rust::RUNTIMES {
        let mut session = Session::start(runtime);
        let description = session.describe();
        assert_eq!(description["protocol"], 1);
        assert_eq!(description["runtime"]["name"], runtime);
        let version = description["runtime"]["version"].as_str().unwrap();
        assert!(
            version.split('.').count() == 3 && version.starts_with(|c: char| c.is_ascii_digit()),
            "{version}"
        );
        assert!(description["runtime"]["toolchain"].as_str().unwrap().starts_with("rustc 1."));
        assert!(description["clock"]["cpu_resolution_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn what_cannot_be_done_is_an_error_and_the_probe_lives_on() {
    let mut session = Session::start("threads");
    let good = json!({
        "type": "run", "id": 1, "workload": "fanout", "variant": "scope",
        "size": 4, "iterations": 1, "seed": 1, "params": {},
    });
    let changed = |name: &str, value: Value| {
        let mut request = good.clone();
        request[name] = value;
        request.to_string().into_bytes()
    };
    let without = |name: &str| {
        let mut request = good.clone();
        request.as_object_mut().unwrap().remove(name);
        request.to_string().into_bytes()
    };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (changed("workload", json!("lunch")), "no variant \"scope\" of a workload \"lunch\" here"),
        (changed("variant", json!("twice")), "no variant \"twice\" of a workload \"fanout\" here"),
        (
            changed("type", json!("dance")),
            "unknown variant `dance`, expected one of `describe`, `run`, `exit`",
        ),
        (b"".to_vec(), "not JSON"),
        (b"{\"type\":\"run\"".to_vec(), "not JSON"),
        (b"{\"type\":\"\xff\"}".to_vec(), "not JSON"),
        (vec![0, 1, 2, 0xfe], "not JSON"),
        (vec![b'['; 100_000], "not JSON"),
        (vec![b'x'; 1 << 20], "not JSON"),
        // The tool sends none of these. Whoever types one gets a message all the same.
        (b"[]".to_vec(), "type"),
        (without("size"), "missing field `size`"),
    ];
    for (line, expected) in cases {
        let reply = session.ask(&line);
        assert_eq!(reply["type"], "error", "{reply}");
        assert!(reply["message"].as_str().unwrap().contains(expected), "{expected:?} not in {reply}");
    }
    let reply = session.ask(br#"{"type":"describe","protocol":2}"#);
    assert_eq!(reply["protocol"], 1);
    let message = reply["message"].as_str().unwrap();
    assert!(message.contains("protocol 2") && message.contains("protocol 1"), "{message}");
    assert_eq!(session.ask(good.to_string().as_bytes())["answer"], 31 * 6);
    let input = session.input.as_mut().unwrap();
    input.write_all(b"{\"type\":\"exit\"}\n").unwrap();
    assert_eq!(session.end(), (String::new(), Some(0)));
}

#[test]
fn an_unknown_runtime_is_a_usage_error() {
    let (said, status) = Session::start("fortran").end();
    assert_eq!((said.as_str(), status), ("", Some(2)));
}

/// The workspace resolves this package a second time, for the binary. Both must link the same
/// runtimes. Otherwise the version that the standalone probe is tested with is not the one that is
/// shipped.
#[test]
fn both_lock_files_name_the_same_runtimes() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(workspace) = std::fs::read_to_string(here.join("../../Cargo.lock")) else {
        return; // Taken out of the workspace: nothing to agree with.
    };
    let own = std::fs::read_to_string(here.join("Cargo.lock")).unwrap();
    for name in ["tokio", "rayon", "smol", "futures-util", "async-executor", "rayon-core"] {
        let version = |lock: &str| {
            lock.split_once(&format!("name = \"{name}\"\n"))
                .map(|(_, rest)| rest.lines().next().map(str::to_owned))
        };
        assert_eq!(version(&own), version(&workspace), "run `cargo update -p {name}` where it is older");
    }
}

/// A row of the old library and its control differ in that library alone, so what one shows and the
/// other does not is the library's doing. The lock file chooses the old version; `cargo update`
/// would mend the defect.
#[test]
fn the_old_futures_differ_in_nothing_else() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = |path: &str| std::fs::read_to_string(here.join(path)).unwrap();
    let (ours, old) = (lock("Cargo.lock"), lock("futures-0.3.17/Cargo.lock"));
    let version = |lock: &str, name: &str| -> String {
        let (_, rest) = lock.split_once(&format!("name = \"{name}\"\n")).unwrap();
        rest.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        version(&ours, "tokio"),
        version(&old, "tokio"),
        "run `cargo update -p tokio` where it is older"
    );
    for name in ["futures-util", "futures-task", "futures-core"] {
        assert_eq!(version(&old, name), "version = \"0.3.17\"", "{name}: see futures-0.3.17/Cargo.toml");
        assert_ne!(version(&ours, name), version(&old, name), "{name}");
    }
}
