use std::collections::BTreeMap;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    observe::{flaws, fnv1a},
    program::PROGRAM,
    *,
};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn run(params: Json) -> Run {
    let mut all = json!({ "lookup": "by_name", "pause": 0, "depth": 0, "workers": 0, "mode": "inproc", "verify": true });
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    serde_json::from_value(json!({
        "id": 1, "workload": "interp", "variant": "v", "size": 3, "iterations": 2, "seed": 1, "params": all,
    }))
    .unwrap()
}

fn all() -> Vec<Variant> {
    workload().variants.into_iter().filter(|variant| variant.name != "constant").collect()
}

/// What six requests count, without `order`, `output` and `suspended`.
const RIGHT: [(&str, u64); 6] = [
    ("nodes", 6 * 1804),
    ("builtins", 6 * 603),
    ("applications", 600),
    ("extensions", 606),
    ("deepest", 8),
    ("consumed_twice", 0),
];

const ORDER: u64 = 2_153_812_598_003_189_471;

#[test]
fn the_program_and_its_output_are_those_of_all_languages() {
    assert_eq!(
        (PROGRAM.len(), &*sha256(PROGRAM.as_bytes())),
        (428, "2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028")
    );
    assert_eq!(
        (output().len(), &*sha256(&output())),
        (614, "812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764")
    );
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../interp/program.json");
    // Taken out of the repository there is no other program to agree with.
    if let Ok(shared) = std::fs::read_to_string(shared) {
        assert_eq!(PROGRAM, shared.trim_end());
    }
}

#[test]
fn every_variant_counts_what_is_right() {
    for variant in all() {
        for (pause, lookup) in [(0, "by_name"), (6, "by_name"), (100, "by_name"), (100, "prelinked")] {
            let timing = (variant.perform)(&run(json!({ "pause": pause, "lookup": lookup }))).unwrap();
            let case = format!("{} {pause} {lookup}: {:?}", variant.name, timing.extra);
            assert_eq!(timing.answer, 6, "{case}");
            for (name, right) in RIGHT {
                assert_eq!(timing.extra[name], right, "{name} of {case}");
            }
            assert_eq!(timing.extra["order"], ORDER, "{case}");
            assert_eq!(timing.extra["output"], fnv1a(&output()), "{case}");
            assert_eq!(timing.extra["suspended"], 6 * pause, "{case}");
        }
        assert!((variant.perform)(&run(json!({ "verify": false }))).unwrap().extra.is_empty());
        let said = (variant.perform)(&run(json!({ "pause": 7 }))).unwrap_err();
        assert_eq!(said, "pause is 7; give 0, 6 or 100");
    }
}

#[test]
fn workers_share_the_requests_and_are_counted_together() {
    for variant in all() {
        let name = &variant.name;
        let alone = (variant.perform)(&run(json!({ "pause": 6 }))).unwrap().extra;
        let mut timing = (variant.perform)(&run(json!({ "pause": 6, "workers": 2 }))).unwrap();
        assert_eq!(
            (timing.answer, timing.extra.remove("worker_requests")),
            (6, Some(json!([4, 2]))),
            "{name}"
        );
        let walls = timing.extra.remove("worker_wall_ns").unwrap();
        let walls: Vec<u64> = serde_json::from_value(walls).unwrap();
        assert!(walls.len() == 2 && walls.iter().all(|ns| *ns > 0), "{name}: {walls:?}");
        assert_eq!(timing.extra, alone, "{name}");

        let timed = (variant.perform)(&run(json!({ "verify": false, "workers": 5 }))).unwrap();
        assert_eq!(timed.extra["worker_requests"], json!([2, 2, 2, 0, 0]), "{name}");
        assert_eq!((timed.answer, timed.extra.len()), (6, 2), "{name}");
        let said = (variant.perform)(&run(json!({ "workers": 1001 }))).unwrap_err();
        assert_eq!(said, "workers is 1001; give at most 1000");
        let said = (variant.perform)(&run(json!({ "workers": 2, "pause": 7 }))).unwrap_err();
        assert_eq!(said, "pause is 7; give 0, 6 or 100");
    }
}

#[test]
fn workers_that_differ_have_no_order_and_no_output() {
    let counting = <[Counting; 3]>::default();
    for (one, bytes) in counting.iter().zip([b"1", b"1"]) {
        let _visit = one.visit();
        one.begins(1);
        one.output(bytes);
    }
    let of = |counting: &[Counting]| {
        let counts = Counting::report(counting);
        ["nodes", "order", "output"].map(|name| counts[name].as_u64().unwrap())
    };
    // The third worker had no request.
    assert_eq!(of(&counting), [2, fnv1a(b"B 1\n"), fnv1a(b"1")]);
    counting[0].begins(2);
    counting[1].output(b"2");
    assert_eq!(of(&counting), [2, 0, 0]);
}

#[test]
fn nested_lets_are_as_deep_as_asked_for() {
    for variant in all() {
        let timing = (variant.perform)(&run(json!({ "depth": 50 }))).unwrap();
        let counted = ["nodes", "builtins", "applications", "extensions", "deepest", "order"];
        let right = [6 * 101, 0, 0, 6 * 50, 51, fnv1a(b"")];
        assert_eq!(counted.map(|name| timing.extra[name].clone()), right, "{}", variant.name);
        assert_eq!(timing.answer, 6);
    }
}

/// The counts of a variant with a mistake.
fn broken<const FLAW: u8>(form: &impl Form, pause: u64) -> BTreeMap<&'static str, Json> {
    let counting = [Counting::<FLAW>::default()];
    let run = run(json!({ "pause": pause }));
    // The output is right all the same, which is why it is not enough to look at.
    assert_eq!(done(&run, form, &counting).unwrap().answer, 6);
    Counting::report(&counting)
}

#[test]
fn two_elements_at_a_time_are_seen_in_the_order() {
    let form = Async::<true>(Flavour::CurrentThread);
    let order = |counts: BTreeMap<&str, Json>| counts["order"].clone();
    assert_eq!(order(broken::<{ flaws::NONE }>(&form, 6)), ORDER);
    assert_ne!(order(broken::<{ flaws::TWO_AT_A_TIME }>(&form, 6)), ORDER);
}

#[test]
fn a_swallowed_pending_value_is_seen() {
    let hidden = Either(Flavour::CurrentThread, PhantomData::<fn() -> Value>);
    let union = Either(Flavour::CurrentThread, PhantomData::<fn() -> Union>);
    for counts in [broken::<{ flaws::SWALLOWED }>(&hidden, 6), broken::<{ flaws::SWALLOWED }>(&union, 6)] {
        assert_eq!([&counts["suspended"], &counts["consumed_twice"]], [&json!(0), &json!(36)]);
    }
}

#[test]
fn a_pending_value_that_is_used_twice_is_seen() {
    let hidden = Either(Flavour::CurrentThread, PhantomData::<fn() -> Value>);
    // The first element that suspends is awaited elsewhere.
    assert_eq!(broken::<{ flaws::USED_TWICE }>(&hidden, 6)["consumed_twice"], 6 * 5);
}

/// The output of another program, in every encoding.
fn outputs(text: &str) -> Vec<String> {
    let program: &'static Node = Box::leak(Box::new(program::parse(text, false).unwrap()));
    let machine = Arc::new(Machine { every: 1, observer: Silent });
    let said = |value: Value| serde_json::to_string(&value).unwrap_or_else(|why| why.to_string());
    let env = Env::default();
    let runtime = Flavour::CurrentThread.runtime();
    vec![
        said(machine.sync(program, &env)),
        said(runtime.block_on(machine.boxed::<false>(program, &env))),
        said(runtime.block_on(machine.boxed::<true>(program, &env))),
        said(runtime.block_on(machine.value(machine.maybe::<Union>(program, &env)))),
        said(runtime.block_on(machine.value(machine.maybe::<Value>(program, &env)))),
        said(runtime.block_on(machine.task(program, env.clone()))),
    ]
}

#[test]
fn semantics_are_the_same_in_every_encoding() {
    let map = |body: &str| {
        format!(
            r#"["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],{body}]]]"#
        )
    };
    let ones = map(r#"["int",1]"#);
    for (program, right) in [
        (r#"["bin","Int::%",["int",7],["int",0]]"#.to_owned(), "0"),
        (r#"["var","a"]"#.to_owned(), "an error: no variable a"),
        (r#"["call","Int::none",[]]"#.to_owned(), "an error: no function Int::none"),
        // The error of an argument is the call's, whether the function is there or not.
        (r#"["call","Int::none",[["var","a"]]]"#.to_owned(), "an error: no variable a"),
        (r#"["if",["int",1],["int",2],["int",3]]"#.to_owned(), "an error: a condition must be a boolean"),
        // A binding alters no environment: the inner `a` is gone behind its body.
        (
            r#"["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]"#.to_owned(),
            "1",
        ),
        // A lambda has the environment in which it was written.
        (
            format!(
                r#"["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],{}]]]"#,
                r#"["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]"#
            ),
            "[5,5]",
        ),
        (map(r#"["var","i"]"#), "[1,2,3]"),
        // The first error of a list is the map's.
        (
            map(r#"["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]"#),
            "an error: no variable c",
        ),
        (map(&map(r#"["bin","Int::%",["var","i"],["int",2]]"#)), "[[1,0,1],[1,0,1],[1,0,1]]"),
        (r#"["bin","Int::%",["var","a"],["int",1]]"#.to_owned(), "an error: no variable a"),
        (r#"["bin","Int::%",["int",1],["var","a"]]"#.to_owned(), "an error: no variable a"),
        // What suspends may stand in every place.
        (format!(r#"["let","a",{ones},["var","a"]]"#), "[1,1,1]"),
        (format!(r#"["let","a",{ones},{}]"#, map(r#"["var","a"]"#)), "[[1,1,1],[1,1,1],[1,1,1]]"),
        (format!(r#"["call","List::map",[{ones},["lambda",["i"],["int",2]]]]"#), "[2,2,2]"),
        (format!(r#"["bin","Int::%",{ones},["int",2]]"#), "an error: Int::% needs two integers"),
        (format!(r#"["bin","Int::%",["int",2],{ones}]"#), "an error: Int::% needs two integers"),
        (format!(r#"["if",{ones},["int",1],["int",2]]"#), "an error: a condition must be a boolean"),
    ] {
        assert_eq!(outputs(&program), vec![right; 6], "{program}");
    }
}

#[test]
fn a_wrong_output_is_an_error_that_says_where() {
    assert_eq!(
        difference(b"[1,2,3]", b"[1,3]"),
        "a request's output differs from byte 3 on: \"2,3]\", right is \"3]\" (7 bytes, right are 5)"
    );
    let run = run(json!({}));
    let mut work = Work::new(&run, Silent).unwrap();
    work.right = b"[]".to_vec();
    let timing = Sync.perform(&work);
    assert_eq!(timing.answer, 0);
    assert!(work.wrong.get().unwrap().starts_with("a request's output differs from byte 1 on: "));
}
