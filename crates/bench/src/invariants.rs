//! What an instrumented run of `interp`, `parked`, `bytes` or `scale` must have counted, and any of
//! `blocking`
//! (`probes/PROTOCOL.md`).
//!
//! Of `interp` the output of a request can be right although two elements of the list were
//! evaluated at the same time, or a result was awaited twice. The counts tell such a variant apart
//! from one that does the same work in the same order. Of `parked` the answer is right whether or
//! not all tasks waited at the same time. Of `bytes` a right sum of 8 bits may be luck.

use serde_json::{Map, Value};
use taskscale_model::{
    blocking::{self, Waits},
    bytes, idle,
    load::Mode,
    params::{ParamValue, Params},
    parked::{self, Resident},
    protocol::{RunRequest, VERIFY},
};

use crate::fault::Fault;

/// The workload whose instrumented runs are held to these values.
const WORKLOAD: &str = taskscale_model::load::WORKLOAD;
/// The workload whose pairs are bounded: of threads each has two.
const PINGPONG: &str = "pingpong";
/// The workload that reads context variables, and how many of them there may be.
const CONTEXT: &str = "context";
const VARIABLES: &str = "variables";
/// The workload whose tasks come from threads outside, and how many of them there are.
const REMOTE: &str = "remote";
const PRODUCERS: &str = "producers";
/// The parameter that divides requests among workers, and what it puts into `extra`.
const WORKERS: &str = "workers";
const WORKER_REQUESTS: &str = taskscale_model::run_file::WORKER_REQUESTS;
/// The workload whose tasks a given number of workers shares, and the threads that ran them.
const SCALE: &str = "scale";
const WORKERS_SEEN: &str = "workers_seen";
/// The bytes that an instrumented run of `bytes` consumed.
const EXECUTED: &str = "executed";
/// The variant that evaluates nothing.
const CONSTANT: &str = "constant";
/// The program maps over 1 to this.
const ELEMENTS: u64 = 100;

/// The values that an integer parameter of a workload may have, where PROTOCOL.md bounds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    Of(&'static [u64]),
    Within(u64, u64),
}

impl Range {
    pub fn holds(self, value: u64) -> bool {
        match self {
            Range::Of(values) => values.contains(&value),
            Range::Within(least, most) => (least..=most).contains(&value),
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Range::Of(values) => {
                let words: Vec<String> = values.iter().map(u64::to_string).collect();
                write!(text, "one of {}", words.join(", "))
            }
            Range::Within(least, most) => write!(text, "from {least} to {most}"),
        }
    }
}

/// The range of a parameter, if it has one. A description lists words alone.
pub fn range(workload: &str, param: &str) -> Option<Range> {
    match (workload, param) {
        (WORKLOAD, "pause") => Some(Range::Of(&[0, 6, ELEMENTS])),
        // Percent of what the server answers at most: above it the queue grows until the end.
        (WORKLOAD, taskscale_model::load::RATE) => Some(Range::Within(1, 100)),
        (WORKLOAD, WORKERS) => Some(Range::Within(0, 1_000)),
        // A second blocks a whole pool for minutes.
        (blocking::WORKLOAD, blocking::BLOCK_US) => Some(Range::Within(0, 999_999)),
        (blocking::WORKLOAD, blocking::EVERY) => Some(Range::Within(1, 1_000_000_000)),
        (PINGPONG, "pairs") => Some(Range::Within(1, 1_000)),
        (CONTEXT, VARIABLES) => Some(Range::Of(&[0, 1, 8])),
        (REMOTE, PRODUCERS) => Some(Range::Within(1, 64)),
        (idle::WORKLOAD, idle::RATE) => Some(Range::Of(&idle::RATES)),
        (SCALE, WORKERS) => Some(Range::Within(1, 1_000)),
        (bytes::WORKLOAD, "chunk") => Some(Range::Within(1, 1 << 30)),
        _ => None,
    }
}

/// How a value relates to the requests that were counted.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// A sum over all requests.
    Each,
    /// A maximum, or a value of the last request.
    Last,
}

/// One line of the table of right values.
struct Invariant {
    name: &'static str,
    of: Of,
    /// The right value for one request.
    right: u64,
    /// What another value means.
    means: &'static str,
}

/// Refuses a run of `blocking`, and an instrumented one of `interp`, `parked`, `bytes` or `scale`,
/// that did not count what it should. Everything else passes.
pub fn check(request: &RunRequest, extra: &Map<String, Value>) -> Result<(), Fault> {
    let verifies = request.params.get(VERIFY) == Some(&ParamValue::Flag(true));
    if request.workload == parked::WORKLOAD {
        return check_parked(request, verifies, extra);
    }
    if request.workload == blocking::WORKLOAD {
        return check_blocking(request, extra);
    }
    if request.workload == bytes::WORKLOAD && verifies {
        return check_bytes(request, extra);
    }
    if request.workload == SCALE && verifies {
        return check_scale(request, extra);
    }
    if request.workload != WORKLOAD || !verifies || request.variant == CONSTANT {
        return Ok(());
    }
    let requests = request.size.saturating_mul(request.iterations);
    for Invariant { name, of, right, means } in table(&request.params) {
        let right = if of == Of::Each { right.wrapping_mul(requests) } else { right };
        if extra.get(name).and_then(number) != Some(right) {
            let got = extra.get(name).map_or("absent".to_owned(), Value::to_string);
            let means = match extra.get(name) {
                None => "an instrumented run of interp puts it into extra",
                Some(_) => means,
            };
            return Err(Fault::WrongCount { name, got, right, requests, means });
        }
    }
    shared(request, extra, requests)
}

/// Refuses a run whose workers did not share all requests.
fn shared(request: &RunRequest, extra: &Map<String, Value>, requests: u64) -> Result<(), Fault> {
    let in_process = Mode::of(&request.workload, &request.params).is_none();
    let workers = integer(&request.params, WORKERS);
    if workers == 0 || !in_process {
        return Ok(());
    }
    let told = extra.get(WORKER_REQUESTS);
    let each: Option<Vec<u64>> =
        told.and_then(Value::as_array).and_then(|each| each.iter().map(number).collect());
    let is_right = |each: &Vec<u64>| {
        each.len() as u64 == workers
            && each.iter().fold(0, |sum: u64, one| sum.saturating_add(*one)) == requests
    };
    if each.as_ref().is_some_and(is_right) {
        return Ok(());
    }
    Err(Fault::WrongCount {
        name: WORKER_REQUESTS,
        got: told.map_or("absent".to_owned(), Value::to_string),
        right: requests,
        requests,
        means: "it has the requests of each worker, and they add up to all",
    })
}

/// An integer parameter; 0 where it is absent.
fn integer(params: &Params, name: &str) -> u64 {
    match params.get(name) {
        Some(ParamValue::Integer(value)) => *value,
        _ => 0,
    }
}

/// Refuses a run of `bytes` that did not consume each byte once.
fn check_bytes(request: &RunRequest, extra: &Map<String, Value>) -> Result<(), Fault> {
    let right = request.size.wrapping_mul(request.iterations);
    let executed = extra.get(EXECUTED);
    if executed.and_then(number) == Some(right) {
        return Ok(());
    }
    Err(Fault::WrongCount {
        name: EXECUTED,
        got: executed.map_or("absent".to_owned(), Value::to_string),
        right,
        requests: request.iterations,
        means: match executed {
            None => "an instrumented run of bytes puts it into extra",
            Some(_) => "a byte was not consumed, or more than once",
        },
    })
}

/// Refuses a run of `scale` whose tasks ran on more threads than there were to be workers. A probe
/// that cannot tell threads apart leaves the number out.
fn check_scale(request: &RunRequest, extra: &Map<String, Value>) -> Result<(), Fault> {
    let workers = integer(&request.params, WORKERS);
    match extra.get(WORKERS_SEEN).and_then(number) {
        Some(seen) if workers > 0 && seen > workers => Err(Fault::WrongCount {
            name: WORKERS_SEEN,
            got: seen.to_string(),
            right: workers,
            requests: request.iterations,
            means: "tasks ran on more threads than there were to be workers",
        }),
        _ => Ok(()),
    }
}

/// Refuses a run of `parked` in which not all tasks waited at once, or whose memory is not told.
fn check_parked(request: &RunRequest, verifies: bool, extra: &Map<String, Value>) -> Result<(), Fault> {
    let is_resident = parked::is_resident(&request.workload, &request.params);
    let waiting = extra.get(parked::WAITING);
    if (verifies || is_resident) && waiting.and_then(number) != Some(request.size) {
        return Err(Fault::WrongCount {
            name: parked::WAITING,
            got: waiting.map_or("absent".to_owned(), Value::to_string),
            right: request.size,
            requests: request.iterations,
            means: "not all tasks waited at the same time",
        });
    }
    match Resident::of(extra) {
        Some(resident) if resident.waiting > 0 => Ok(()),
        _ if is_resident => Err(Fault::NoMemory),
        _ => Ok(()),
    }
}

/// Refuses a run of `blocking` in which not each call blocked that should have, or whose waits are
/// not told.
fn check_blocking(request: &RunRequest, extra: &Map<String, Value>) -> Result<(), Fault> {
    let calls = blocking::calls(&request.variant, request.size, &request.params);
    let right = calls.wrapping_mul(request.iterations);
    let blocked = extra.get(blocking::BLOCKED);
    if blocked.and_then(number) != Some(right) {
        return Err(Fault::WrongCount {
            name: blocking::BLOCKED,
            got: blocked.map_or("absent".to_owned(), Value::to_string),
            right,
            requests: request.iterations,
            means: "one task in `every` blocks, the first of them, and in `without` none",
        });
    }
    Waits::of(extra).map(|_| ()).ok_or(Fault::NoWaits)
}

/// The output of each request that a server is asked for.
pub fn wanted(request: &RunRequest) -> Vec<u8> {
    match request.params.get("depth") {
        Some(ParamValue::Integer(1..)) => b"1".to_vec(),
        _ => output().into_bytes(),
    }
}

/// Further parameters with which `taskscale probe check` asks for `workload`, beside the words that
/// a description lists: a description lists neither numbers
/// nor flags.
pub fn further_cases(workload: &str) -> Vec<Params> {
    let case = |(name, value): (&str, u64)| Params::from([(name.to_owned(), ParamValue::Integer(value))]);
    match workload {
        WORKLOAD => [("pause", 6), ("pause", ELEMENTS), (WORKERS, 2)].map(case).into(),
        // Each word alone comes by itself.
        bytes::WORKLOAD => {
            let word = |name: &str, value: &str| (name.to_owned(), ParamValue::Word(value.to_owned()));
            let both = [word(bytes::SOURCE, bytes::HTTP), word(bytes::MODE, bytes::FNV)];
            vec![Params::from(both), case(("chunk", 1_000))]
        }
        PINGPONG => vec![case(("pairs", 3))],
        CONTEXT => [(VARIABLES, 0), (VARIABLES, 8)].map(case).into(),
        REMOTE => [(PRODUCERS, 3), (PRODUCERS, 64)].map(case).into(),
        idle::WORKLOAD => [(idle::RATE, 10), (idle::RATE, 100)].map(case).into(),
        SCALE => [(WORKERS, 2), (WORKERS, 3)].map(case).into(),
        parked::WORKLOAD => vec![Params::from([(parked::RESIDENT.to_owned(), ParamValue::Flag(true))])],
        _ => Vec::new(),
    }
}

/// The most tasks for which `taskscale probe check` asks at once, where a task of `workload` is as
/// long as a thousand of others, or a unit of its size is a millisecond.
pub fn most_tasks(workload: &str) -> Option<u64> {
    match workload {
        WORKLOAD => Some(7),
        idle::WORKLOAD => Some(100),
        _ => None,
    }
}

/// A number, or a string of decimal digits, as of an answer.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The right values of one request, by its parameters.
fn table(params: &Params) -> [Invariant; 9] {
    let (depth, pauses) = (integer(params, "depth"), integer(params, "pause"));
    let each = |name, right, means| Invariant { name, of: Of::Each, right, means };
    let last = |name, right, means| Invariant { name, of: Of::Last, right, means };
    // `depth` nested lets: each evaluates a value and a body, and the innermost body is a variable.
    let nested = depth > 0;
    let by = |program, depth| if nested { depth } else { program };
    let (log, output) = if nested { (String::new(), "1".to_owned()) } else { (order_log(), output()) };
    [
        each("nodes", by(1804, 2 * depth + 1), "it visits other nodes than the program has it visit"),
        each("builtins", by(603, 0), "it calls other builtins than the program has it call"),
        each("applications", by(ELEMENTS, 0), "the lambda is applied more or less than once an element"),
        each(
            "extensions",
            by(1 + ELEMENTS, depth),
            "a binding extends the environment, and nothing else does",
        ),
        last("deepest", by(8, depth + 1), "its evaluator nests otherwise than the program does"),
        last(
            "order",
            fnv1a(log.as_bytes()),
            "an element of the list began before the one before it had its value, or none had its own",
        ),
        last("output", fnv1a(output.as_bytes()), "the last request gave another output"),
        each("suspended", by(pauses, 0), "a pause did not suspend, or suspended although none was asked for"),
        each("consumed_twice", 0, "a result that can be used once was used twice or never"),
    ]
}

/// What a request logs: element i begins, and has its value, before the next one begins.
fn order_log() -> String {
    (1..=ELEMENTS).map(|i| format!("B {i}\nE {i}\n")).collect()
}

/// The output of a request, by its definition.
fn output() -> String {
    let word = |i: u64| match (i.is_multiple_of(15), i.is_multiple_of(5), i.is_multiple_of(3)) {
        (true, ..) => "\"fizzbuzz\"".to_owned(),
        (_, true, _) => "\"buzz\"".to_owned(),
        (.., true) => "\"fizz\"".to_owned(),
        _ => format!("\"{i}\""),
    };
    let words: Vec<String> = (1..=ELEMENTS).map(word).collect();
    format!("[{}]", words.join(","))
}

/// FNV-1a with 64 bits (Fowler, Noll and Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sha2::{Digest, Sha256};

    use super::*;

    fn sha256(text: &str) -> String {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn request(params: &[(&str, u64)], verify: bool) -> RunRequest {
        let mut params: Params =
            params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::Integer(*value))).collect();
        params.insert(VERIFY.into(), ParamValue::Flag(verify));
        RunRequest {
            id: 1,
            workload: "interp".into(),
            variant: "sync".into(),
            size: 3,
            iterations: 2,
            params,
            seed: 1,
        }
    }

    /// What a right variant counts in six requests.
    fn right() -> Map<String, Value> {
        let counted = json!({
            "nodes": 6 * 1804, "builtins": 6 * 603, "applications": 600, "extensions": 606, "deepest": 8,
            "order": "2153812598003189471", "output": 5_476_290_587_449_551_085_u64, "suspended": 0,
            "consumed_twice": 0, "further": "words",
        });
        counted.as_object().cloned().unwrap()
    }

    #[test]
    fn output_and_order_are_those_of_the_specification() {
        let (output, log) = (output(), order_log());
        assert_eq!(
            (output.len(), &*sha256(&output)),
            (614, "812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764")
        );
        assert_eq!(
            (log.len(), &*sha256(&log)),
            (984, "531afbc2dd89223368f77f118c3b6774c7977f796e934d7bcf7a296c86dd9d55")
        );
        // The last is of the published test vectors of FNV-1a.
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_program_that_all_languages_share_is_the_one_that_was_specified() {
        let program = include_str!("../../../probes/interp/program.json");
        assert_eq!(
            (program.len(), &*sha256(program)),
            (428, "2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028")
        );
    }

    #[test]
    fn right_counts_pass_with_numbers_and_with_digits() {
        assert_eq!(check(&request(&[], true), &right()), Ok(()));
    }

    #[test]
    fn each_wrong_or_absent_count_is_named() {
        for (name, wrong, words) in [
            ("nodes", json!(6 * 1804 - 1), "counted nodes 10823, right is 10824 (requests: 6)"),
            ("builtins", json!(603), "counted builtins 603, right is 3618"),
            ("applications", json!(594), "more or less than once an element"),
            ("extensions", json!(607), "extends the environment"),
            ("deepest", json!(9), "nests otherwise"),
            ("order", json!("2153812598003189472"), "began before the one before it had its value"),
            ("output", json!(1), "another output"),
            ("suspended", json!(1), "a pause did not suspend"),
            (
                "consumed_twice",
                json!(1),
                "consumed_twice 1, right is 0 (requests: 6): a result that can be used once",
            ),
        ] {
            let mut extra = right();
            extra.insert(name.into(), wrong);
            let said = check(&request(&[], true), &extra).expect_err(name).to_string();
            assert!(said.contains(words), "{said:?} does not say {words:?}");
            extra.remove(name);
            let said = check(&request(&[], true), &extra).expect_err(name).to_string();
            assert!(said.contains(&format!("{name} absent")), "{said:?}");
        }
    }

    #[test]
    fn pauses_and_depth_have_counts_of_their_own() {
        let mut extra = right();
        assert!(check(&request(&[("pause", 6)], true), &extra).is_err());
        extra.insert("suspended".into(), json!(36));
        assert_eq!(check(&request(&[("pause", 6)], true), &extra), Ok(()));
        let nested = json!({
            "nodes": 6 * 201, "builtins": 0, "applications": 0, "extensions": 600, "deepest": 101,
            "order": "14695981039346656037", "output": "12638134423997487868", "suspended": 0, "consumed_twice": 0,
        });
        let nested = nested.as_object().cloned().unwrap();
        assert_eq!(check(&request(&[("depth", 100), ("pause", 6)], true), &nested), Ok(()));
    }

    #[test]
    fn workers_share_all_requests() {
        let asked = request(&[("workers", 2)], true);
        let mut extra = right();
        let said = check(&asked, &extra).expect_err("no shares").to_string();
        assert!(said.contains("counted worker_requests absent, right is 6 (requests: 6)"), "{said}");
        for (shares, is_right) in [
            (json!([4, 2]), true),
            (json!(["4", 2]), true),
            (json!([6]), false),
            (json!([4, 3]), false),
            (json!([2, 2, 2]), false),
            (json!([8, -2]), false),
            (json!(6), false),
        ] {
            extra.insert("worker_requests".into(), shares.clone());
            assert_eq!(check(&asked, &extra).is_ok(), is_right, "{shares}");
        }
        // A server has one loop.
        let mut served = request(&[("workers", 2)], true);
        served.params.insert("mode".into(), ParamValue::Word("http-closed".into()));
        assert_eq!(check(&served, &right()), Ok(()));
    }

    #[test]
    fn all_tasks_of_parked_wait_at_once_and_their_memory_is_told_where_asked() {
        let asked = |verify, resident| {
            let mut request = RunRequest { workload: "parked".into(), ..request(&[], verify) };
            request.params.insert("resident".into(), ParamValue::Flag(resident));
            request
        };
        let told = |value: Value| value.as_object().cloned().unwrap();
        let all = told(json!({"waiting": 3, "resident_before": 10, "resident_waiting": 20}));
        for (verify, resident) in [(true, true), (true, false), (false, true)] {
            assert_eq!(check(&asked(verify, resident), &all), Ok(()));
            let fewer = told(json!({"waiting": 2, "resident_before": 10, "resident_waiting": 20}));
            let said = check(&asked(verify, resident), &fewer).expect_err("one had gone on").to_string();
            assert!(
                said.contains("counted waiting 2, right is 3") && said.contains("at the same time"),
                "{said}"
            );
        }
        let said =
            check(&asked(false, true), &told(json!({"waiting": 3}))).expect_err("no bytes").to_string();
        assert!(said.contains("told no resident_before"), "{said}");
        assert_eq!(
            check(&asked(true, false), &told(json!({"waiting": 3}))),
            Ok(()),
            "nobody asked for bytes"
        );
        assert_eq!(check(&asked(false, false), &Map::new()), Ok(()), "a timed run tells nothing");
    }

    #[test]
    fn each_call_blocks_and_waits_are_told() {
        let asked = |variant: &str| RunRequest {
            workload: "blocking".into(),
            variant: variant.into(),
            ..request(&[("every", 2)], false)
        };
        let told = |blocked: u64, p99: u64| {
            let value = json!({"wait_p50_ns": 1, "wait_p99_ns": p99, "wait_max_ns": 3, "blocked": blocked});
            value.as_object().cloned().unwrap()
        };
        // Of three tasks the first and the third, twice.
        assert_eq!(check(&asked("virtual/inline"), &told(4, 2)), Ok(()));
        assert_eq!(check(&asked("virtual/without"), &told(0, 2)), Ok(()));
        let said = check(&asked("inline"), &told(3, 2)).expect_err("one did not block").to_string();
        assert!(said.contains("counted blocked 3, right is 4"), "{said}");
        assert!(check(&asked("without"), &told(4, 2)).is_err());
        assert_eq!(check(&asked("inline"), &told(4, 9)), Err(Fault::NoWaits));
    }

    #[test]
    fn tasks_of_scale_run_on_no_more_threads_than_there_are_workers() {
        let asked = RunRequest { workload: "scale".into(), ..request(&[("workers", 2)], true) };
        let seen = |threads: u64| json!({ "workers_seen": threads }).as_object().cloned().unwrap();
        assert_eq!(check(&asked, &seen(1)), Ok(()));
        assert_eq!(check(&asked, &seen(2)), Ok(()));
        assert_eq!(check(&asked, &Map::new()), Ok(()), "threads cannot be told apart everywhere");
        let said = check(&asked, &seen(3)).expect_err("one too many").to_string();
        assert!(said.contains("counted workers_seen 3") && said.contains("more threads"), "{said}");
    }

    #[test]
    fn a_timed_run_and_another_workload_need_count_nothing() {
        assert_eq!(check(&request(&[], false), &Map::new()), Ok(()));
        let other = RunRequest { workload: "fanout".into(), ..request(&[], true) };
        assert_eq!(check(&other, &Map::new()), Ok(()));
    }
}
