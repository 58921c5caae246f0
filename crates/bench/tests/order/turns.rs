//! The cells of a suite with a budget have turns.

use super::*;

/// Cells have turns of one round, each in processes of its own.
fn in_turns(budget_ms: u64, samples: u64) -> Limits {
    Limits {
        samples,
        budget_ns: Some(budget_ms * MS),
        timeout_ns: 600_000 * MS,
        restart_every: 1,
        restart_warmup: 0,
        ..Setting::default().limits
    }
}

/// The sizes of the timed samples, in the order in which they were taken, once for each turn.
fn sizes(done: &Done) -> Vec<u64> {
    let timed = done.samples().filter(|sample| sample.kind == Kind::Timed);
    let mut turns: Vec<(u64, u64)> = timed.map(|sample| (sample.size, sample.process)).collect();
    turns.dedup();
    turns.into_iter().map(|(size, _)| size).collect()
}

/// The sizes of three turns after the other, each in ascending order.
fn by_threes(sizes: &[u64]) -> Vec<Vec<u64>> {
    let sorted = |turns: &[u64]| {
        let mut turns = turns.to_vec();
        turns.sort_unstable();
        turns
    };
    sizes.chunks(3).map(sorted).collect()
}

#[test]
fn all_sizes_have_a_figure_before_any_has_two() {
    let limits = in_turns(3_600_000, 4);
    let setting = Setting { limits, sizes: "[100, 200, 300]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100))], setting);
    assert_eq!(sizes(&done)[..3], [100, 200, 300]);
    assert_eq!(by_threes(&sizes(&done)), vec![vec![100, 200, 300]; 4]);
    assert_eq!(done.ends().len(), 6, "each row and its control end once: {:?}", done.ends());
    assert!(done.ends().iter().all(|(_, status)| *status == Status::Ok { stop: Stop::Samples }));
    for row in 0..6 {
        let timed = done.samples().filter(|sample| sample.row == row && sample.kind == Kind::Timed);
        let processes: Vec<u64> = timed.map(|sample| sample.process).collect();
        assert_eq!(processes, [0, 1, 2, 3], "each turn of row {row} has a process of its own");
    }
    assert_eq!(done.launches, 24);
}

#[test]
fn a_spent_budget_leaves_one_figure_and_says_what_has_none() {
    let setting = Setting { limits: in_turns(1, 100), sizes: "[100, 200, 300]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100_000))], setting);
    assert_eq!(sizes(&done), [100]);
    for (row, status) in done.ends() {
        match status {
            Status::Ok { stop: Stop::MaxTime } => assert!(row < 2, "{row}"),
            Status::Skipped(why) => assert!(row >= 1 && why.reason.contains("no time was left"), "{why}"),
            other => panic!("{row}: {other:?}"),
        }
    }
    assert_eq!(done.ends().len(), 6);
}

#[test]
fn rows_that_are_not_ready_at_twice_the_budget_are_given_up_but_for_one() {
    // An instrumented run takes 10 ms a row.
    let measured = |budget_ms: u64| {
        let limits = in_turns(budget_ms, 100);
        let setting = Setting { limits, sizes: "[100]", ..Setting::default() };
        let done = measure(&[("a", Behaviour::Costs(100_000)), ("b", Behaviour::Costs(100_000))], setting);
        let ends = done.ends();
        for (row, status) in &ends {
            match status {
                Status::Ok { stop: Stop::MaxTime } => (),
                Status::Skipped(why) => assert!(why.reason.contains("no time was left"), "{row}: {why}"),
                other => panic!("{row}: {other:?}"),
            }
        }
        ends.iter().filter(|(_, status)| matches!(status, Status::Ok { .. })).count()
    };
    assert_eq!((measured(1), measured(200)), (1, 3));
}

#[test]
fn six_processes_of_every_size_come_before_more_of_any() {
    let setting = Setting { limits: in_turns(400, 1_000), sizes: "[100, 200, 300]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Uneven)], setting);
    let order = sizes(&done);
    assert_eq!(by_threes(&order[..18]), vec![vec![100, 200, 300]; 6]);
    assert!(order.len() > 18, "the rest of the budget is used: {order:?}");
}

#[test]
fn what_is_dear_is_checked_at_its_smallest_size_alone_and_needs_no_pilot() {
    // 1 ms is asked for. 100 tasks take 10 ms, and more take longer.
    let limits = in_turns(3_600_000, 8);
    let setting = Setting { limits, sizes: "[100, 200, 300]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100_000))], setting);
    let count = |kind: Kind, size: u64| {
        done.samples().filter(|sample| sample.kind == kind && sample.size == size).count()
    };
    for size in [100, 200, 300] {
        assert_eq!(count(Kind::Verify, size), if size == 100 { 2 } else { 0 }, "row and control, {size}");
        assert_eq!(count(Kind::Pilot, size), 0, "{size}");
        assert_eq!(count(Kind::Timed, size), 16, "{size}");
    }
    let phases = done.samples().filter(|sample| sample.kind == Kind::Phases).map(|sample| sample.round);
    assert!(phases.min() >= Some(6), "the share of creation comes after six processes");
}

#[test]
fn a_table_of_the_parts_of_a_cost_has_the_share_of_creation_early_however_dear() {
    let limits = in_turns(3_600_000, 8);
    let parts = "split = { off_runtimes = { b = \"a\" } }";
    let setting = Setting { limits, sizes: "[100]", block: parts, ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100_000)), ("b", Behaviour::Costs(100_000))], setting);
    let phases = done.samples().filter(|sample| sample.kind == Kind::Phases).map(|sample| sample.round);
    assert_eq!(phases.min(), Some(1));
}

#[test]
fn what_does_not_fit_is_left_out_and_says_so() {
    // Two rows of two sizes, some 5 ms a row: six processes of each do not fit into 200 ms.
    let setting = Setting {
        limits: in_turns(200, 100),
        sizes: "[200, 100]",
        suite: "leave_out = [\"sizes\", \"controls\"]",
        ..Setting::default()
    };
    let done = measure(&[("a", Behaviour::Costs(50_000))], setting);
    let ends: BTreeMap<u64, Status> = done.ends().into_iter().collect();
    let why = |row: u64| match &ends[&row] {
        Status::Skipped(why) => why.to_string(),
        other => format!("{other:?}"),
    };
    for row in [2, 3] {
        assert!(why(row).contains("further sizes are left out"), "{row}: {}", why(row));
    }
    assert!(sizes(&done).iter().all(|size| *size == 200));
    let timed = done.samples().filter(|sample| sample.row == 0 && sample.kind == Kind::Timed).count();
    assert!(timed >= 6, "what stays has six processes: {timed}");
}

#[test]
fn what_does_not_fit_by_what_probes_ask_for_is_never_started() {
    // Two rows of two sizes, and 60 ms of work before each is timed: 7 x 2 x 60 ms for one size.
    let second = |budget_ms: u64| {
        let setting = Setting {
            limits: in_turns(budget_ms, 100),
            sizes: "[200, 100]",
            suite: "leave_out = [\"sizes\"]",
            jit: true,
            settle_ms: Some(60),
            ..Setting::default()
        };
        let done = measure(&[("a", Behaviour::Costs(1_000))], setting);
        (done.samples().filter(|sample| sample.size == 100).count(), done.ends().len())
    };
    let (samples, ends) = second(1_500);
    assert_eq!((samples, ends), (0, 4), "the second size is left out, which its rows say");
    assert!(second(5_000).0 > 0, "it fits into 5 s");
}

#[test]
fn an_interrupt_keeps_what_every_size_has() {
    let limits = in_turns(3_600_000, 100);
    let setting = Setting { limits, sizes: "[100, 200]", interrupt_after: Some(20), ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100))], setting);
    assert!(done.ends().iter().all(|(_, status)| *status == Status::Ok { stop: Stop::Interrupted }));
    assert_eq!(done.ends().len(), 4, "every row ends once");
}

#[test]
fn a_cell_with_turns_has_six_processes_though_its_own_time_is_over() {
    // A turn takes some 10 ms, and a cell may take 1 ms.
    let limits = Limits { max_time_ns: MS, ..in_turns(3_600_000, 100) };
    let setting = Setting { limits, sizes: "[100, 200]", ..Setting::default() };
    let done = measure(&[("a", Behaviour::Costs(100_000))], setting);
    let count =
        |size: u64| done.samples().filter(|sample| sample.kind == Kind::Timed && sample.size == size).count();
    assert_eq!((count(100), count(200)), (2 * 6, 2 * 6), "a row and its control");
}

/// The rounds that each row was timed in, and how each ended.
fn rounds_and_ends(done: &Done) -> Vec<(u64, usize, Status)> {
    let timed =
        |row: u64| done.samples().filter(|sample| sample.row == row && sample.kind == Kind::Timed).count();
    let mut ends = done.ends();
    ends.sort_by_key(|(row, _)| *row);
    ends.into_iter().map(|(row, status)| (row, timed(row), status)).collect()
}

#[test]
fn a_row_that_is_measured_enough_leaves_its_seconds_to_the_others_but_for_what_they_are_divided_by() {
    let limits = Limits { precision: 0.08, ..in_turns(3_600_000, 20) };
    let steady = Behaviour::Costs(1_000);
    let rows = [("a", steady), ("b", Behaviour::Uneven), ("c", steady)];
    let done = measure(&rows, Setting { limits, ..Setting::default() });
    let ok = |stop: Stop| Status::Ok { stop };
    let expected = vec![
        (0, 20, ok(Stop::Samples)),
        (1, 20, ok(Stop::Samples)),
        (2, 12, ok(Stop::Precision)),
        (3, 12, ok(Stop::Precision)),
    ];
    assert_eq!(rounds_and_ends(&done), expected, "a is what b is divided by; c and the control end");
}

#[test]
fn the_reference_is_measured_to_the_end_however_narrow() {
    let limits = Limits { precision: 0.08, ..in_turns(3_600_000, 20) };
    let rows = [("a", Behaviour::Costs(1_000)), ("b", Behaviour::Costs(1_000)), ("c", Behaviour::Uneven)];
    let reference = "reference = [\"fake:b\"]";
    let done = measure(&rows, Setting { limits, suite: reference, ..Setting::default() });
    let timed: Vec<usize> = rounds_and_ends(&done).into_iter().map(|(_, timed, _)| timed).collect();
    assert_eq!(timed[1], 20, "{timed:?}");
}

#[test]
fn where_all_rows_are_measured_enough_the_cell_ends() {
    let limits = Limits { precision: 0.08, ..in_turns(3_600_000, 100) };
    let done = measure(&[("a", Behaviour::Costs(1_000))], Setting { limits, ..Setting::default() });
    for (row, timed, status) in rounds_and_ends(&done) {
        assert!(timed <= 15, "row {row}: {timed} rounds");
        assert_eq!(status, Status::Ok { stop: Stop::Precision }, "row {row}");
    }
}

#[test]
fn a_row_that_ended_early_is_counted_all_the_same() {
    let limits = Limits { precision: 0.08, ..in_turns(3_600_000, 20) };
    let rows = [("a", Behaviour::Costs(1_000)), ("b", Behaviour::Uneven), ("c", Behaviour::Costs(1_000))];
    let done = measure(&rows, Setting { limits, counted: true, ..Setting::default() });
    let mut counted: Vec<u64> = done
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Count(count) => Some(count.row),
            _ => None,
        })
        .collect();
    counted.sort_unstable();
    counted.dedup();
    assert_eq!(counted, [0, 1, 2]);
}

#[test]
fn a_suite_that_is_measured_for_growth_ends_where_that_of_every_series_is_certain() {
    let limits = Limits { until_graded: true, ..in_turns(3_600_000, 40) };
    let setting = |limits| Setting { limits, sizes: "[64, 128, 256, 512]", ..Setting::default() };
    let steady = [("a", Behaviour::Costs(1_000)), ("b", Behaviour::Costs(2_000))];
    for (row, timed, status) in rounds_and_ends(&measure(&steady, setting(limits))) {
        assert_eq!((timed, status), (8, Status::Ok { stop: Stop::Graded }), "row {row}");
    }
    let few = Setting { sizes: "[64, 128, 256]", ..setting(limits) };
    for (row, timed, status) in rounds_and_ends(&measure(&steady, few)) {
        assert_eq!((timed, status), (40, Status::Ok { stop: Stop::Samples }), "row {row}: no grade");
    }
    let limits = Limits { adds_sizes: true, ..limits };
    let more = measure(&steady, Setting { sizes: "[64, 128, 256]", ..setting(limits) });
    let added: std::collections::BTreeSet<u64> = more.samples().map(|sample| sample.size).collect();
    assert_eq!(added.into_iter().collect::<Vec<_>>(), [16, 32, 64, 128, 256], "four octaves below");
    let ends = rounds_and_ends(&more);
    assert_eq!(ends.len(), 3 * 3 + 2 * 2, "the further sizes have no control");
    assert!(ends.iter().all(|(_, _, status)| *status == Status::Ok { stop: Stop::Graded }), "{ends:?}");
    let rows = more.records.iter().filter_map(|record| match record {
        Record::Row(row) => Some((row.row, row.baseline)),
        _ => None,
    });
    assert_eq!(rows.skip(9).collect::<Vec<_>>(), [(9, None), (10, Some(9)), (11, None), (12, Some(11))]);
    let limits = Limits { until_graded: false, ..limits };
    for (row, timed, status) in rounds_and_ends(&measure(&steady, setting(limits))) {
        assert_eq!((timed, status), (40, Status::Ok { stop: Stop::Samples }), "row {row}");
    }
}

/// The sizes that are measured, ascending, of a suite that adds some to these.
fn with_added(of: Behaviour, sizes: &'static str, timeout_ns: u64) -> (Vec<u64>, Done) {
    let limits = Limits { until_graded: true, adds_sizes: true, timeout_ns, ..in_turns(36_000_000, 40) };
    let done =
        measure(&[("a", of)], Setting { limits, sizes, block: "controls = false", ..Setting::default() });
    let mut asked: Vec<u64> = done
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Row(row) => Some(row.key.size),
            _ => None,
        })
        .collect();
    asked.sort_unstable();
    (asked, done)
}

#[test]
fn sizes_are_added_again_as_long_as_growth_is_steep_over_few_octaves() {
    let sizes = "[64, 128, 256, 512]";
    let (added, _) = with_added(Behaviour::Grows(20), sizes, 60_000 * MS);
    // The third time a size is left out at which an answer may take a minute.
    assert_eq!(added, [64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384]);
    let (eight, _) = with_added(Behaviour::Grows(20), "[64, 256, 1024, 4096, 16384]", 60_000 * MS);
    assert_eq!(eight.len(), 5, "eight octaves are enough");
    assert_eq!(with_added(Behaviour::Grows(10), sizes, 60_000 * MS).0.len(), 4, "linear");
}

#[test]
fn where_not_even_the_smallest_size_is_answered_smaller_ones_are_asked() {
    let (asked, done) = with_added(Behaviour::Hangs, "[64, 128, 256, 512]", 1_000 * MS);
    assert_eq!(asked, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    let hung = done.ends().into_iter().filter(|(_, status)| matches!(status, Status::Failed(_))).count();
    assert_eq!(hung, 3, "64, 4 and 1 were: {:?}", done.ends());
}

/// Cells of three sizes that are measured for growth.
fn for_growth(samples: u64) -> Setting {
    let limits = Limits { until_graded: true, ..in_turns(3_600_000, samples) };
    Setting { limits, sizes: "[300, 100, 200]", ..Setting::default() }
}

#[test]
fn where_growth_is_measured_a_process_goes_through_all_sizes_and_the_next_pass_has_fresh_ones() {
    let done = measure(&[("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(100))], for_growth(12));
    assert_eq!(sizes(&done), [100, 200, 300].repeat(12), "what a smaller size leaves behind is little");
    // Two variants and the control of the first. In the last pass sizes end one by one.
    assert_eq!(done.launches, 3 * (3 + 10 + 3), "a pass has one process of each row, but for the first");
    let carried = |size| done.samples().any(|sample| sample.size == size && sample.carried);
    assert!(done.samples().all(|sample| sample.process > 0 || !sample.carried), "nothing goes on at first");
    assert!(!carried(100) && carried(200) && carried(300), "a sample tells whether its process was fresh");
    let limits = Limits { until_graded: false, ..for_growth(12).limits };
    let alone = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..for_growth(12) });
    assert_eq!(alone.launches, 2 * 3 * 12, "else each size has its own");
    let compiled = measure(&[("a", Behaviour::Costs(100))], Setting { jit: true, ..for_growth(12) });
    assert_eq!(compiled.launches, 2 * 3 * 12, "what a compiler learns at small sizes would stay");
}

#[test]
fn a_process_that_dies_at_one_size_is_replaced_for_the_others() {
    // One answer more than the first processes give is wrong: of the second, one at the third size.
    let limits = Limits { restart_warmup: 5, ..for_growth(3).limits };
    let sizes = "[100, 200, 300, 400]";
    let setting = || Setting { limits, sizes, block: "controls = false", ..for_growth(3) };
    let right = measure(&[("a", Behaviour::Costs(100))], setting());
    assert_eq!(right.launches, 4 + 1 + 4);
    let of = |size| right.samples().filter(|sample| sample.size == size && sample.process == 0).count();
    let asked = [100, 200, 300, 400].map(of).into_iter().max().expect("four sizes");
    let done = measure(&[("a", Behaviour::LiesFrom(asked + 1))], setting());
    let ends = done.ends();
    assert!(matches!(&ends[0], (2, Status::Failed(_))), "it fails at 300, in the process of 100: {ends:?}");
    let second = done.samples().find(|sample| sample.size == 400 && sample.process == 1).expect("a sample");
    assert!(!second.carried, "400 has another: {ends:?}");
}
