//! What ends a cell, and a run.

use super::*;

#[test]
fn precision_stops_at_a_look_and_never_before_fifteen_rounds() {
    let limits = Limits { samples: 100, precision: 0.01, ..Setting::default().limits };
    let done = measure(
        &[("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(150))],
        Setting { limits, ..Setting::default() },
    );
    // The fakes have no noise. Every interval has no width from the first, and a difference is
    // plain.
    assert_eq!(done.rounds().len(), 15);
    assert!(done.ends().iter().all(|(_, status)| *status == Status::Ok { stop: Stop::Precision }));
}

#[test]
fn where_rows_are_judged_only_their_ratios_can_end_a_cell() {
    // A disturbance of a round touches all its rows: figures never get narrow, and their ratios are
    // narrow at once.
    let stops = |judged_at: Option<f64>| {
        let limits = Limits { samples: 60, precision: 0.01, judged_at, ..Setting::default().limits };
        let done =
            measure(&[("uneven", Behaviour::Uneven)], Setting { limits, seed: 8, ..Setting::default() });
        done.rounds().len()
    };
    assert_eq!(stops(None), 60, "the baseline's own interval stays wide");
    assert_eq!(stops(Some(0.95)), 15);
    assert_eq!(stops(Some(1.0 - 0.05 / 1e6)), 30, "such confidence takes 26 rounds, and 30 is the next look");
}

#[test]
fn time_ends_a_cell_after_the_round_that_is_nearest() {
    let limits = Limits { samples: 1_000, max_time_ns: 50 * MS, ..Setting::default().limits };
    let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..Setting::default() });
    assert!(done.ends().iter().all(|(_, status)| *status == Status::Ok { stop: Stop::MaxTime }));
    let rounds = done.rounds();
    assert!((10..=30).contains(&rounds.len()), "two rows of a bit over 1 ms in 50 ms: {}", rounds.len());
    assert!(rounds.iter().all(|round| round.len() == 2), "no round is torn");
}

#[test]
fn a_budget_is_shared_out_by_size() {
    // By weight, 200,000 tasks get four fifths: a process comes up in 100 ms, a task takes 1.5 us.
    let limits = Limits {
        samples: 100_000,
        budget_ns: Some(60_000 * MS),
        timeout_ns: 600_000 * MS,
        ..Setting::default().limits
    };
    let setting = Setting { limits, sizes: "[100, 200000]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(1_000))], setting);
    let taken = |size: u64| {
        let timed = done.samples().filter(|sample| sample.kind == Kind::Timed && sample.size == size);
        timed.map(|sample| sample.wall_ns).sum::<u64>()
    };
    let share = taken(200_000) as f64 / (taken(100) + taken(200_000)) as f64;
    assert!((0.7..0.85).contains(&share), "{share}");
    assert!(done.ends().iter().all(|(_, status)| *status == Status::Ok { stop: Stop::MaxTime }));
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    // 14 samples prepare the first cell, so the 20th lies in its third round.
    let after = 20;
    let setting = Setting { interrupt_after: Some(after), sizes: "[100, 200]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100))], setting);
    assert_eq!(done.samples().count(), after, "not one sample more");
    let ends: BTreeMap<u64, Status> = done.ends().into_iter().collect();
    assert_eq!(ends[&0], Status::Ok { stop: Stop::Interrupted });
    let Status::Skipped(missing) = &ends[&2] else { panic!("{ends:?}") };
    assert!(missing.reason.contains("interrupted before"));
    let Some(Record::End(end)) = done.records.last() else { panic!("no end") };
    let mut records = Records::default();
    done.records.iter().for_each(|record| records.add(record));
    assert_eq!(end.records, Some(records), "the last line says how many stand before it");
    assert_eq!((records.sample, records.row_end), (20, records.row), "{records:?}");
}

#[test]
fn cells_are_measured_in_order_and_a_hopeless_size_is_not_tried() {
    // At a million tasks of 100 us each, one answer would take 100 s. It may take 1 s.
    let setting = Setting { sizes: "[100, 1000, 1000000]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(10)), ("b", Behaviour::Costs(100_000))], setting);
    assert_eq!(done.words, ["cell 1/3 n=100", "end", "cell 2/3 n=1000", "end", "cell 3/3 n=1000000", "end"]);
    let ends: BTreeMap<u64, Status> = done.ends().into_iter().collect();
    let Status::Skipped(missing) = &ends[&7] else { panic!("{ends:?}") };
    assert!(missing.reason.contains("a sample at size ") && missing.remedy.contains("--timeout"));
    assert_eq!(ends[&6], Status::Ok { stop: Stop::Samples }, "its neighbour is measured");
}

#[test]
fn an_interrupt_while_rows_are_prepared_leaves_skipped_rows_and_no_figures() {
    for after in [0, 1, 5, 9] {
        let setting = Setting { interrupt_after: Some(after), ..Setting::default() };
        let done = measure(&[("a", Behaviour::Costs(100))], setting);
        assert_eq!(done.samples().count(), after, "not one sample more");
        assert!(done.ends().iter().all(|(_, status)| matches!(status, Status::Skipped(_))), "{after}");
        assert_eq!(done.ends().len(), 2);
    }
}
