//! What rows that never answer cost a run.

use super::*;

/// A cell that may take a second by the user's own word, where an answer may take ten.
fn hurried() -> Limits {
    Limits {
        max_time_ns: 1_000 * MS,
        hurry_ns: Some(1_000 * MS),
        is_bound: true,
        timeout_ns: 10_000 * MS,
        ..Setting::default().limits
    }
}

fn elapsed_s(done: &Done) -> f64 {
    let mut ends = done.records.iter().filter_map(|record| match record {
        Record::End(end) => Some(end.elapsed_s),
        _ => None,
    });
    ends.next_back().expect("the run came to its end")
}

fn why(done: &Done, row: u64) -> String {
    let end = done.ends().into_iter().find(|(number, _)| *number == row).expect("every row ends").1;
    match end {
        Status::Failed(missing) | Status::Skipped(missing) => format!("{missing}"),
        Status::Ok { .. } => "ok".to_owned(),
    }
}

#[test]
fn rows_that_never_answer_take_no_more_than_their_cell_may() {
    let variants = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, Behaviour::Hangs));
    let done = measure(&variants, Setting { limits: hurried(), ..Setting::default() });
    assert!(elapsed_s(&done) <= 2.1, "{} s of 1", elapsed_s(&done));
    assert!(why(&done, 0).contains("no answer to a within 2 s"), "{}", why(&done, 0));
    for row in 1..8 {
        let words = "not asked: rows that failed had taken 2 s by then (name others";
        assert!(why(&done, row).starts_with(words), "{}", why(&done, row));
    }
    assert_eq!(done.ends().len(), 9, "every row ends once, the control too");
}

#[test]
fn the_time_of_an_answer_is_enough_for_a_few_rows_that_hang_and_all_that_do_not() {
    let limits = Limits { timeout_ns: 2_500 * MS, max_time_ns: 5_000 * MS, ..hurried() };
    let slow = Behaviour::Costs(1_000);
    let variants = [("a", slow), ("b", Behaviour::Hangs), ("c", slow), ("d", Behaviour::Hangs), ("e", slow)];
    let done = measure(&variants, Setting { limits, ..Setting::default() });
    assert_eq!([0, 2].map(|row| why(&done, row)), ["ok", "ok"]);
    assert!([1, 3].iter().all(|row| why(&done, *row).contains("no answer")), "{:?}", done.ends());
    // Two that hang take 4 s of 5, so the third that does not is asked too.
    assert_eq!(why(&done, 4), "ok");
}

#[test]
fn a_control_of_a_row_that_failed_is_not_asked() {
    let done = measure(&[("a", Behaviour::Hangs)], Setting::default());
    assert!(why(&done, 0).contains("no answer"), "{}", why(&done, 0));
    assert!(why(&done, 1).contains("the row that it repeats failed"), "{}", why(&done, 1));
    assert!((0.9..1.5).contains(&elapsed_s(&done)), "{} s for one answer of 1 s", elapsed_s(&done));
}

#[test]
fn a_series_that_did_not_answer_is_not_asked_at_a_larger_size() {
    let variants = [("a", Behaviour::Costs(100)), ("b", Behaviour::Hangs)];
    let done = measure(&variants, Setting { sizes: "[100, 200, 400]", ..Setting::default() });
    // Each cell has the rows a, b and the control of a.
    assert!(why(&done, 1).contains("no answer to b within 1 s"), "{}", why(&done, 1));
    for row in [4, 7] {
        let words = "not asked: there was no answer at size 100 within 1 s";
        assert!(why(&done, row).starts_with(words), "{}", why(&done, row));
    }
    assert_eq!([0, 3, 6].map(|row| why(&done, row)), ["ok", "ok", "ok"]);
}

#[test]
fn a_cell_ends_with_its_time_and_those_that_were_ready_have_figures() {
    // Twelve rows and a control, each with an iteration of 80 ms: checking all takes a second.
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let variants = names.map(|name| (name, Behaviour::Costs(800_000)));
    let done = measure(&variants, Setting { limits: hurried(), ..Setting::default() });
    assert!(elapsed_s(&done) <= 1.1, "{} s of 1, and a request of 80 ms", elapsed_s(&done));
    let ends: Vec<String> = (0..13).map(|row| why(&done, row)).collect();
    assert!((2..=6).contains(&ends.iter().filter(|end| *end == "ok").count()), "{ends:#?}");
    let words = "no time was left for its first round (raise --max-time, or run fewer rows)";
    assert!(ends.iter().all(|end| end == "ok" || end == words), "{ends:#?}");
}

#[test]
fn what_one_cell_takes_beyond_its_time_is_taken_from_the_next() {
    // Two iterations of 0.7 s go beyond the second that each of six cells has.
    let sizes = "[100, 101, 102, 103, 104, 105]";
    let done = measure(
        &[("a", Behaviour::Costs(7_000_000))],
        Setting { limits: hurried(), sizes, ..Setting::default() },
    );
    assert!(elapsed_s(&done) <= 6.8, "{} s of 6, and a request of 0.7 s", elapsed_s(&done));
}

#[test]
fn a_cell_with_less_time_than_a_request_takes_ends_after_that_request() {
    let done = measure(
        &[("a", Behaviour::Costs(15_000_000)), ("b", Behaviour::Costs(15_000_000))],
        Setting { limits: hurried(), ..Setting::default() },
    );
    assert!(elapsed_s(&done) <= 1.6, "{} s of 1, and a request of 1.5 s", elapsed_s(&done));
    assert!((0..3).all(|row| why(&done, row).starts_with("no time was left")), "{:?}", done.ends());
}
