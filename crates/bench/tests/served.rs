//! One sample of a server: what an honest one gives, and what hostile ones are told. The probe is
//! `served/server.py`.

use std::time::{Duration, Instant};

use taskscale_bench::{
    fault::Fault,
    judge::Judge,
    launcher::ProbeLauncher,
    link::{Launcher, Link, Observed},
    served,
};
use taskscale_model::{
    answer::Rule,
    params::ParamValue,
    protocol::{Clock, RunRequest},
};
use taskscale_sys::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/served/server.py");
/// Long enough for a busy machine.
const LONG_NS: u64 = 60_000_000_000;

fn request(mode: &str, size: u64, iterations: u64) -> RunRequest {
    let params = [("mode".to_owned(), ParamValue::parse(mode)), ("rate".to_owned(), ParamValue::Integer(50))];
    RunRequest {
        id: 7,
        workload: "interp".into(),
        variant: "sync".into(),
        size,
        iterations,
        params: params.into(),
        seed: 1,
    }
}

fn start(script_mode: &str) -> Box<dyn Link> {
    let command = Command::new("python3", [SCRIPT, script_mode]);
    let mut launcher = ProbeLauncher::new([("served".to_owned(), command)]);
    let mut link = launcher.launch_server("served", 1).expect("python3 starts");
    link.shake_hands(LONG_NS).expect("a description");
    link
}

fn judged(request: &RunRequest, observed: &Observed) -> Result<(), Fault> {
    let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
    Judge::new(clock, 64).judge(Rule::Count, request, observed)
}

#[test]
fn a_closed_loop_sends_so_many_requests_and_its_sample_is_believed() {
    let mut link = start("honest");
    // One request, fewer than connections, and more of them; in one process.
    for (size, iterations, connections) in [(1, 1, 1), (30, 2, 60), (150, 2, 100)] {
        let request = request("http-closed", size, iterations);
        let observed = link.run(&request, LONG_NS).expect("a sample");
        judged(&request, &observed).expect("an honest sample");
        let load = observed.load.expect("a load");
        assert_eq!((&*load.server, load.connections), ("threads 1", connections));
        assert!(load.wall_ns > 0 && load.generator_cpu_ns > 0 && load.open.is_none(), "{load:?}");
        // Where there are two CPUs each has its own.
        assert_eq!(load.pinned, served::cpus());
    }
    link.end();
}

#[test]
fn an_open_loop_tells_latency_and_rates() {
    let mut link = start("honest");
    let request = request("http-open", 50, 2);
    let observed = link.run(&request, LONG_NS).expect("a sample");
    judged(&request, &observed).expect("an honest sample");
    let open = observed.load.and_then(|load| load.open).expect("an open loop");
    assert_eq!(open.latency.iter().map(|(_, count)| count).sum::<u64>(), 100);
    assert!((open.wanted_per_s / open.closed_per_s - 0.5).abs() < 1e-9, "{open:?}");
    // The last of 100 requests starts after 99 hundredths of the time.
    assert!(open.achieved_per_s <= open.wanted_per_s * 100.0 / 99.0 + 1e-6 && open.waiting <= 100);
    link.end();
}

#[test]
fn a_process_that_serves_nothing_else_is_as_before() {
    let mut link = start("no-server");
    let observed = link.run(&request("inproc", 2, 2), LONG_NS).expect("a sample");
    assert_eq!((observed.sample.answer.0, observed.load), (4, None));
    link.end();
}

/// What a server that is wrong in one thing is told.
fn is_told(mode: &str, words: &str, remedy: &str) {
    let mut link = start(mode);
    let timeout = if ["hangs", "never-begins"].contains(&mode) { 2_000_000_000 } else { LONG_NS };
    let began = Instant::now();
    let request = request("http-closed", 100, 4);
    let fault = link.run(&request, timeout).and_then(|observed| judged(&request, &observed));
    let fault = fault.expect_err(mode);
    let missing = fault.to_missing();
    assert!(missing.reason.contains(words), "{mode}: {:?} does not say {words:?}", missing.reason);
    assert!(missing.remedy.contains(remedy), "{mode}: {:?}", missing.remedy);
    assert!(mode == "refuses" || !fault.leaves_probe_alive(), "{mode}");
    assert!(began.elapsed() < Duration::from_secs(120), "{mode}: {:?}", began.elapsed());
    link.end();
}

macro_rules! told {
    ($($name:ident: $mode:literal => $words:literal, $remedy:literal;)*) => {
        $(#[test] fn $name() { is_told($mode, $words, $remedy); })*
    };
}
told! {
    never_listens: "deaf" => "the server of interp sync at size 100: no connection to port", "once it listens";
    closes: "closes" => "closed a connection, with ", "keep connections open";
    answers_wrongly: "wrong" => "614 bytes that differ from byte", "does not do the work";
    answers_less: "short" => "613 bytes that differ from byte 613", "does not do the work";
    answers_an_error: "status" => "status 500: \"out of memory\"", "does not do the work";
    says_no_length: "no-length" => "no response of HTTP/1.1 with a Content-Length", "Content-Length";
    hangs: "hangs" => "had answered 0 of 100 requests when the time was over", "--timeout";
    floods: "floods" => "answered with more than 16384 bytes", "Content-Length";
    dies: "dies" => "ended (exit status 3) instead of answering interp sync at size 100; it said: ValueError",
        "by hand";
    speaks_out_of_turn: "speaks" => "spoke out of turn", "print nothing but replies";
    is_no_server: "no-server" => "a server was expected", "print nothing but replies";
    refuses: "refuses" => "refused interp sync at size 100: no port is free", "README";
    is_of_another_request: "other-id" => "answered request 8 when 7 was asked", "does not do the work";
    never_begins: "never-begins" => "no answer to interp sync at size 100 within 2 s", "--timeout";
    miscounts: "miscounts" => "the answer is 399, right is 400", "does not do the work";
}
