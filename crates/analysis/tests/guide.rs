//! Verdicts on claims whose truth is known, and files that are hostile.

use proptest::prelude::*;
use serde_json::{Value, json};
use taskscale_analysis::guide::{judge, read, read::ReadError};
use taskscale_model::guide::{Judged, Standing, Verdict, Verdicts};

fn header(programs: Value) -> Value {
    let machine =
        serde_json::from_str::<Value>(include_str!("data/quick.jsonl").lines().next().expect("a header"));
    let machine = machine.expect("JSON")["machine"].clone();
    json!({"type": "header", "schema": "taskscale.guide/1", "tool": "0.1.0", "command": ["taskscale"],
        "started_unix_s": 0, "machine": machine, "compiler": "g++ 12", "programs": programs})
}

/// One program `28_p` whose claim has these arms and bounds.
struct Guide {
    lines: Vec<Value>,
}

impl Guide {
    fn new(arms: &[(&str, Option<f64>)], bounds: Value) -> Self {
        let arms: Vec<Value> = arms
            .iter()
            .map(|(name, x)| match x {
                Some(x) => json!({"name": name, "tasks": 10, "answer": 7, "x": x}),
                None => json!({"name": name, "tasks": 10, "answer": 7}),
            })
            .collect();
        let claim = json!({"claim": 28, "text": "One beats many", "clock": "cpu", "taskflow": "3.9.0", "compiler": "12",
            "cores": 2, "note": "", "arms": arms, "bounds": bounds});
        let mut guide = Guide { lines: vec![header(json!([{"name": "28_p", "claims": [28]}]))] };
        guide.say(0, claim);
        guide
    }

    fn say(&mut self, sitting: u64, line: Value) {
        self.lines.push(json!({"type": "said", "program": "28_p", "sitting": sitting, "line": line}));
    }

    /// CPU time of a task in each round, three processes in turn.
    fn arm(mut self, name: &str, ns: &[f64]) -> Self {
        for (round, ns) in ns.iter().enumerate() {
            let cpu_ns = (ns * 10.0).round() as u64;
            let line = json!({"claim": 28, "arm": name, "round": round, "tasks": 10, "cpu_ns": cpu_ns, "wall_ns": cpu_ns,
                "answer": 7, "tail_cpu_ns": 0, "hit": if *ns > 0.0 { 1 } else { 0 }});
            self.say(round as u64 % 3, line);
        }
        self
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn ended(mut self, failed: Value) -> Self {
        let mut line = json!({"type": "ended", "program": "28_p"});
        if !failed.is_null() {
            line["failed"] = failed;
        }
        self.lines.push(line);
        self
    }

    /// The guide claims nothing of it.
    fn question(mut self) -> Self {
        self.lines[1]["line"]["question"] = true.into();
        self
    }

    fn verdicts(&self) -> Verdicts {
        judge(&read::parse(self.text().as_bytes()).expect("a file of the guide"))
    }

    fn judged(self) -> Judged {
        self.ended(Value::Null).verdicts().claims.remove(0)
    }
}

fn bound(kind: &str, more: Value) -> Value {
    let mut bound = json!({"kind": kind, "name": kind, "metric": "cpu_ns", "per": "task"});
    for (key, value) in more.as_object().expect("an object") {
        bound[key] = value.clone();
    }
    bound
}

fn pair(kind: &str, range: Value) -> Value {
    let mut bound = bound(kind, range);
    (bound["one"], bound["other"]) = ("a".into(), "b".into());
    bound
}

const ROUNDS: usize = 12;

/// Twelve values within 2 % of one.
fn around(ns: f64) -> Vec<f64> {
    (0..ROUNDS).map(|round| ns * (0.98 + 0.04 * round as f64 / (ROUNDS - 1) as f64)).collect()
}

/// The standing of one bound over arms `a` and `b`.
fn standing(bound: Value, a: &[f64], b: &[f64]) -> Standing {
    let guide = Guide::new(&[("a", None), ("b", None)], json!([bound])).arm("a", a).arm("b", b);
    guide.judged().bounds[0].standing
}

#[test]
fn a_bound_holds_where_the_whole_interval_lies_within() {
    let value = |range: Value| {
        let mut bound = bound("value", range);
        bound["one"] = "a".into();
        bound
    };
    for (range, expected) in [
        (json!({"above": 90.0, "below": 110.0}), Standing::Holds),
        (json!({"above": 110.0}), Standing::Fails),
        (json!({"below": 90.0}), Standing::Fails),
        (json!({"above": 100.0}), Standing::CannotTell),
        (json!({"above": 100.0, "tie": "holds"}), Standing::Holds),
        (json!({}), Standing::Shown),
    ] {
        assert_eq!(standing(value(range.clone()), &around(100.0), &[1.0]), expected, "{range}");
    }
    // What is always the same: a range has its ends, one bound is to be passed.
    let same = [8.0; ROUNDS];
    assert_eq!(standing(value(json!({"above": 8.0, "below": 8.0})), &same, &same), Standing::Holds);
    assert_eq!(standing(value(json!({"above": 8.0})), &same, &same), Standing::Fails);
    assert_eq!(
        standing(value(json!({"above": 1.0})), &same[..5], &same),
        Standing::CannotTell,
        "five rounds"
    );
}

#[test]
fn pairs_are_compared_within_a_round() {
    // The machine is twice as slow in every second round; the ratio is not.
    let slow: Vec<f64> = (0..ROUNDS).map(|round| if round % 2 == 0 { 100.0 } else { 200.0 }).collect();
    let more: Vec<f64> = slow.iter().map(|ns| 1.5 * ns).collect();
    assert_eq!(standing(pair("ratio", json!({"above": 1.4, "below": 1.6})), &more, &slow), Standing::Holds);
    assert_eq!(standing(pair("ratio", json!({"above": 1.6})), &more, &slow), Standing::Fails);
    let plus: Vec<f64> = slow.iter().map(|ns| ns + 20.0).collect();
    assert_eq!(
        standing(pair("difference", json!({"above": 10.0, "below": 30.0})), &plus, &slow),
        Standing::Holds
    );
    assert_eq!(standing(pair("effect", json!({})), &more, &slow), Standing::Holds);
    assert_eq!(standing(pair("effect", json!({})), &slow, &slow), Standing::Fails, "there is none");
    // Twice as much as often as half as much.
    let either: Vec<f64> = (0..ROUNDS).map(|round| slow[round] * [2.0, 0.5][round / 2 % 2]).collect();
    assert_eq!(standing(pair("effect", json!({})), &either, &slow), Standing::CannotTell);
    assert_eq!(standing(pair("spread", json!({"below": 0.1})), &slow, &slow), Standing::Holds);
    assert_eq!(standing(pair("spread", json!({"below": 0.1})), &more, &slow), Standing::Fails);
    // No worse: 5 % more is a tie, 15 % more is worse, and what lies about the margin is neither.
    let no_worse = || pair("ratio", json!({"below": 1.0, "tie": "holds"}));
    let by = |factor: f64| slow.iter().map(|ns| ns * factor).collect::<Vec<_>>();
    assert_eq!(standing(no_worse(), &by(1.05), &slow), Standing::Holds);
    assert_eq!(standing(no_worse(), &by(1.15), &slow), Standing::Fails);
    // From 0.4 to 2.2 times as much is no tie: what is no worse may end at 10 % more.
    let between = |low: f64, high: f64| -> Vec<f64> {
        let share = |round: usize| round as f64 / (ROUNDS - 1) as f64;
        (0..ROUNDS).map(|round| slow[round] * (low + (high - low) * share(round))).collect()
    };
    assert_eq!(standing(no_worse(), &between(0.4, 2.2), &slow), Standing::CannotTell);
    assert_eq!(standing(no_worse(), &between(0.8, 1.35), &slow), Standing::CannotTell);
    assert_eq!(standing(no_worse(), &between(1.0, 1.25), &slow), Standing::CannotTell);
    assert_eq!(standing(no_worse(), &between(1.03, 1.08), &slow), Standing::Holds);
    assert_eq!(standing(no_worse(), &between(0.2, 1.09), &slow), Standing::Holds);
    let no_less = || pair("ratio", json!({"above": 1.0, "tie": "holds"}));
    assert_eq!(standing(no_less(), &between(0.3, 3.0), &slow), Standing::CannotTell);
    assert_eq!(standing(no_less(), &between(0.95, 3.0), &slow), Standing::Holds);
}

#[test]
fn slopes_and_crossings_are_found() {
    let places = [("w1", Some(1.0)), ("w2", Some(2.0)), ("w4", Some(4.0))];
    let mut bound = bound("slope", json!({"above": 9.0, "below": 11.0}));
    bound["arms"] = json!(["w1", "w2", "w4"]);
    let guide = Guide::new(&places, json!([bound]));
    let guide = guide.arm("w1", &around(110.0)).arm("w2", &around(120.0)).arm("w4", &around(140.0));
    assert_eq!(guide.judged().bounds[0].standing, Standing::Holds);
    // Of 100, 1,000 and 10,000 ns of work, 300 ns more for each task: 90 % from 2,700 ns on.
    let places =
        [("l1", Some(100.0)), ("l2", Some(1e3)), ("l3", Some(1e4)), ("t1", None), ("t2", None), ("t3", None)];
    let crossing = |range: Value| {
        let mut bound = crate::bound("crossover", range);
        for (key, value) in [
            ("ones", json!(["l1", "l2", "l3"])),
            ("others", json!(["t1", "t2", "t3"])),
            ("scale", json!(1.0)),
            ("level", json!(0.9)),
        ] {
            bound[key] = value;
        }
        let mut guide = Guide::new(&places, json!([bound]));
        for (name, ns) in
            [("l1", 100.0), ("l2", 1e3), ("l3", 1e4), ("t1", 400.0), ("t2", 1_300.0), ("t3", 10_300.0)]
        {
            guide = guide.arm(name, &around(ns));
        }
        guide.judged().bounds.remove(0)
    };
    let found = crossing(json!({"above": 1e4, "below": 1e5}));
    let figure = *found.figure.value().expect("a figure");
    assert!((2_000.0..9_000.0).contains(&figure.value.expect("a place")), "{figure:?}");
    assert_eq!(found.standing, Standing::Fails);
    assert_eq!(crossing(json!({"above": 1e3, "below": 1e4})).standing, Standing::Holds);
}

#[test]
fn shares_have_an_interval_of_their_own() {
    let mut hits = bound("value", json!({"above": 0.8, "metric": "hit", "per": "sample"}));
    hits["one"] = "a".into();
    let of = |hit: usize, all: usize| {
        let ns: Vec<f64> = (0..all).map(|round| if round < hit { 1.0 } else { 0.0 }).collect();
        standing(hits.clone(), &ns, &[1.0])
    };
    assert_eq!(of(40, 40), Standing::Holds);
    assert_eq!(of(10, 40), Standing::Fails);
    assert_eq!(of(34, 40), Standing::CannotTell);
    assert_eq!(of(12, 12), Standing::CannotTell, "twelve of twelve may be 76 %");
}

#[test]
fn a_claim_is_judged_by_all_of_its_bounds() {
    let value = |above: f64| {
        let mut bound = bound("value", json!({"above": above}));
        bound["one"] = "a".into();
        bound
    };
    let verdict = |bounds: &[f64]| {
        let bounds: Vec<Value> = bounds.iter().map(|above| value(*above)).collect();
        Guide::new(&[("a", None)], json!(bounds)).arm("a", &around(100.0)).judged().verdict
    };
    assert_eq!(verdict(&[50.0, 60.0]), Verdict::Confirmed);
    assert_eq!(verdict(&[150.0, 160.0]), Verdict::Refuted);
    assert_eq!(verdict(&[50.0, 160.0, 100.0]), Verdict::Partly);
    assert_eq!(verdict(&[50.0, 100.0]), Verdict::CannotTell);
    assert_eq!(verdict(&[160.0, 100.0]), Verdict::CannotTell);
    assert_eq!(verdict(&[]), Verdict::CannotTell);
}

#[test]
fn a_question_is_answered_by_figures_with_intervals() {
    let asked = || Guide::new(&[("a", None), ("b", None)], json!([pair("ratio", json!({}))])).question();
    let of = |rounds: usize| {
        let ns = &around(100.0)[..rounds];
        asked().arm("a", ns).arm("b", ns).judged()
    };
    let answered = of(12);
    assert_eq!((answered.verdict, answered.question), (Verdict::Answered, true));
    assert_eq!((answered.bounds[0].standing, answered.why), (Standing::Shown, None));
    let few = of(5);
    assert_eq!(few.verdict, Verdict::CannotTell);
    assert!(few.why.is_some_and(|why| why.reason.contains("fewer than six rounds")));
    let wild: Vec<f64> = (0..ROUNDS).map(|round| if round % 2 == 0 { 1.0 } else { 1000.0 }).collect();
    let wide = asked().arm("a", &wild).arm("b", &around(100.0)).judged();
    assert_eq!(wide.verdict, Verdict::CannotTell, "{:?}", wide.bounds[0].figure);
    assert!(wide.why.is_some_and(|why| why.reason.contains("spans more than 10 times")));
    assert_eq!(asked().verdicts().claims[0].verdict, Verdict::NotMeasured);
    // So is a claim whose bounds have no ends: nothing can hold or fail.
    let claim = Guide::new(&[("a", None), ("b", None)], json!([pair("ratio", json!({}))]));
    let claim = claim.arm("a", &around(100.0)).arm("b", &around(100.0)).judged();
    assert_eq!((claim.verdict, claim.question), (Verdict::Answered, false));
    // What is bounded is a claim.
    for bounded in [pair("ratio", json!({"above": 1.0})), pair("effect", json!({}))] {
        let text = Guide::new(&[("a", None), ("b", None)], json!([bounded])).question().text();
        let error = read::parse(text.as_bytes()).expect_err("a bound").to_string();
        assert!(error.contains("a question bounds nothing"), "{error}");
    }
}

#[test]
fn what_was_not_measured_says_why() {
    let holds = || {
        let mut bound = bound("value", json!({"above": 50.0}));
        bound["one"] = "a".into();
        Guide::new(&[("a", None)], json!([bound]))
    };
    let mut untestable = holds();
    untestable.say(0, json!({"claim": 28, "untestable": "one node", "remedy": "two sockets"}));
    let judged = untestable.arm("a", &around(100.0)).judged();
    assert_eq!((judged.verdict, judged.bounds[0].standing), (Verdict::NotTestable, Standing::Holds));
    assert_eq!(judged.why.expect("a reason").remedy, "two sockets");
    let why = json!({"reason": "killed by signal 9", "remedy": "more memory"});
    let failed = holds().arm("a", &around(100.0)).ended(why).verdicts().claims.remove(0);
    assert_eq!((failed.verdict, failed.arms[0].rounds), (Verdict::Failed, 12), "what was measured is kept");
    let cut = holds().verdicts().claims.remove(0);
    assert_eq!(cut.verdict, Verdict::NotMeasured);
    let nothing = Guide { lines: vec![header(json!([{"name": "17_q", "claims": [17, 18]}]))] };
    let claims = nothing.verdicts().claims;
    assert_eq!(claims.iter().map(|judged| judged.claim).collect::<Vec<_>>(), [17, 18]);
    assert!(claims.iter().all(|judged| judged.verdict == Verdict::NotMeasured && judged.why.is_some()));
    // An arm that needs a build of its own takes away only what is about it.
    let mut both = holds();
    let mut other = bound("value", json!({"above": 50.0}));
    other["one"] = "b".into();
    both.lines.truncate(1);
    let mut first = bound("value", json!({"above": 50.0}));
    first["one"] = "a".into();
    let mut guide = Guide::new(&[("a", None), ("b", None)], json!([first, other]));
    guide.say(
        0,
        json!({"claim": 28, "arm": "b", "untestable": "it is built with -DX", "remedy": "compile it"}),
    );
    let judged = guide.arm("a", &around(100.0)).judged();
    assert_eq!(judged.verdict, Verdict::Confirmed);
    assert!(judged.bounds[1].figure.why().is_some_and(|why| why.reason.contains("-DX")));
}

#[test]
fn rounds_of_further_sittings_count() {
    let mut bound = bound("value", json!({"above": 50.0}));
    bound["one"] = "a".into();
    let mut guide = Guide::new(&[("a", None)], json!([bound])).arm("a", &around(100.0)[..3]);
    let again: Vec<Value> = guide.lines[1..].to_vec();
    for mut line in again {
        line["sitting"] = (line["sitting"].as_u64().expect("a number") + 3).into();
        guide.lines.push(line);
    }
    let judged = guide.judged();
    assert_eq!((judged.verdict, judged.arms[0].rounds), (Verdict::Confirmed, 6));
}

#[test]
fn a_claim_with_bounds_that_lack_samples_is_not_confirmed() {
    let mut bounds = [bound("value", json!({"above": 50.0})), bound("value", json!({"above": 50.0}))];
    (bounds[0]["one"], bounds[1]["one"]) = ("a".into(), "b".into());
    let arms = [("a", None), ("b", None)];
    let guide = || Guide::new(&arms, json!(bounds)).arm("a", &around(100.0));
    let judged = guide().judged();
    assert_eq!(judged.verdict, Verdict::CannotTell);
    let why = judged.why.expect("a reason");
    assert_eq!(why.reason, "1 of 2 bounds lack samples: b has no sample");
    assert_eq!(guide().arm("b", &around(100.0)).judged().verdict, Verdict::Confirmed);
}

#[test]
fn rounds_of_two_processes_are_too_few() {
    let mut bound = bound("value", json!({"above": 50.0}));
    bound["one"] = "a".into();
    let mut guide = Guide::new(&[("a", None)], json!([bound])).arm("a", &around(100.0));
    guide.lines.iter_mut().filter(|line| line["sitting"] == 2).for_each(|line| line["sitting"] = 1.into());
    let judged = guide.judged();
    assert_eq!((judged.verdict, judged.arms[0].rounds), (Verdict::CannotTell, 12));
    assert!(judged.why.is_some_and(|why| why.reason.contains("three processes")));
}

#[test]
fn damage_is_told_with_its_line_and_a_cut_end_is_forgiven() {
    let good = Guide::new(&[("a", None)], json!([])).arm("a", &around(100.0));
    let error = |text: &str| read::parse(text.as_bytes()).expect_err("damaged").to_string();
    let text = good.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(read::parse(b""), Err(ReadError::Empty));
    assert_eq!(read::parse(&text.as_bytes()[..40]), Err(ReadError::Empty));
    assert!(error(&format!("{}\n", lines[1])).contains("line 1 is no header"));
    assert!(error("{}\n").contains("line 1 is no header"));
    assert!(
        error(&text.replace("\"answer\":7,\"arm\":\"a\"", "\"answer\":8,\"arm\":\"a\""))
            .contains("right is 7")
    );
    assert!(error(&text.replace("\"arm\":\"a\"", "\"arm\":\"z\"")).contains("which is no arm"));
    assert!(error(&format!("{}\nnot json\n{}\n", lines[0], lines[1])).starts_with("line 2 is damaged"));
    assert!(error(&text.replace("guide/1", "guide/2")).contains("guide/2"));
    let cut = read::parse(&text.as_bytes()[..text.len() - 30]).expect("the last line is left out");
    assert_eq!(cut.notes, ["line 14 was cut short, and is left out"]);
    let huge = format!("{}\n{{\"type\":\"said\",\"x\":\"{}\"}}\n", lines[0], "y".repeat(2 << 20));
    assert!(error(&huge).contains("longer than"));
}

#[test]
fn lines_that_are_missing_or_double_are_told_by_their_kind() {
    let text = Guide::new(&[("a", None)], json!([])).arm("a", &around(100.0)).text();
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains(r#""type":"end""#)).collect();
    let count =
        |kind: &str| lines.iter().filter(|line| line.contains(&format!(r#""type":"{kind}""#))).count();
    let (said, ended) = (count("said"), count("ended"));
    let end = json!({"type": "end", "elapsed_s": 1.0, "interrupted": false, "records": {"said": said, "ended": ended}});
    let end = end.to_string();
    lines.push(&end);
    let read = |lines: &[&str]| read::parse(lines.join("\n").as_bytes()).map(drop);
    let told = |lines: &[&str]| read(lines).expect_err("another number").to_string();
    assert!(said > 3 && read(&lines).is_ok(), "{said} {ended} {:?}", read(&lines));
    let at = lines.iter().rposition(|line| line.contains(r#""arm":"a""#)).expect("a sample");
    let without = [&lines[..at], &lines[at + 1..]].concat();
    let words = |here: usize| format!("the run says {said} lines of programs, {here} here");
    assert!(told(&without).contains(&words(said - 1)), "{}", told(&without));
    let double = [&lines[..=at], &lines[at..]].concat();
    assert!(told(&double).contains(&words(said + 1)), "{}", told(&double));
    assert!(told(&[&lines[..], &[&end]].concat()).contains("a second end"));
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(line in "\\PC{0,200}", number: u64) {
        let _ = read::parse(line.as_bytes());
        let value = json!({"claim": number, "arm": line, "round": 1, "bounds": line});
        let _ = read::parse_line(&value);
    }

    #[test]
    fn any_times_have_a_verdict(times in prop::collection::vec(prop_oneof![Just(0.0), 0.1..1e12f64], 0..30)) {
        let bounds = json!([
            pair("ratio", json!({"above": 1.0})), pair("difference", json!({"below": 0.0})),
            pair("effect", json!({})), pair("spread", json!({"below": 0.1})),
        ]);
        let guide = Guide::new(&[("a", None), ("b", None)], bounds);
        let judged = guide.arm("a", &times).arm("b", &times[..times.len() / 2]).judged();
        for bound in &judged.bounds {
            if let Some(figure) = bound.figure.value() {
                prop_assert!(figure.value.is_none_or(f64::is_finite));
                prop_assert!(figure.has_interval || bound.standing == Standing::CannotTell);
            }
        }
    }
}
