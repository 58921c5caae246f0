//! What is counted, in which order and how often. The fakes call the allocator once a task.

use taskscale_bench::link::Counts;
use taskscale_model::{
    metric::Count,
    run_file::{Allocations, CountRecord},
};

use super::*;

/// Calls of a request beside its tasks.
pub const CALLS_OF_A_REQUEST: u64 = 7;

impl Counted for FakeLink {
    fn counts(&mut self) -> Counts {
        let allocations = Allocations { malloc: self.calls, ..Allocations::default() };
        Counts { allocations: Some(Ok(allocations)), ..Counts::default() }
    }
}

fn counts(done: &Done) -> Vec<&CountRecord> {
    let counts = done.records.iter().filter_map(|record| match record {
        Record::Count(count) => Some(count),
        _ => None,
    });
    counts.collect()
}

#[test]
fn rows_are_counted_last_in_processes_of_their_own_and_controls_are_not() {
    let behaviours = [("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(200))];
    let counted = Setting { counted: true, ..Setting::default() };
    let done = measure(&behaviours, counted);
    let plain = measure(&behaviours, Setting::default());
    assert!(counts(&plain).is_empty());
    assert_eq!(done.rounds(), plain.rounds(), "what is timed does not depend on what is counted");
    let last = done.samples().map(|sample| sample.order).max().expect("samples");
    let counts = counts(&done);
    assert!(counts.iter().all(|count| count.order > last));
    // Rows 0 and 1 are counted; row 2, the control, is not. Each has three processes, and each of
    // these takes k and 2k iterations three times. k makes 20,000 tasks.
    let seen: Vec<(u64, u64, u64)> =
        counts.iter().map(|count| (count.row, count.process, count.iterations)).collect();
    let expected: Vec<(u64, u64, u64)> = (0..2)
        .flat_map(|row| {
            (0..3).flat_map(move |process| [200, 400, 200, 400, 200, 400].map(|k| (row, process, k)))
        })
        .collect();
    assert_eq!(seen, expected);
    for pair in counts.chunks(2) {
        let malloc = |count: &CountRecord| {
            count.allocations.as_ref().and_then(Reading::value).expect("counted").malloc
        };
        assert_eq!(malloc(pair[1]) - malloc(pair[0]), 20_000, "what the request itself costs cancels out");
        assert_eq!(pair[0].seed, pair[1].seed);
        assert_eq!(pair[0].syscalls, None, "it was not asked for");
    }
}

#[test]
fn an_interrupt_while_rows_are_counted_says_what_was_not() {
    let behaviours = [("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(200))];
    let whole = measure(&behaviours, Setting { counted: true, ..Setting::default() });
    let timed = whole.samples().count();
    // Into the second process of the first row: 8 requests are one process.
    for (after, left_out) in [(timed + 10, vec![1]), (timed, vec![0, 1])] {
        let setting = Setting { counted: true, interrupt_after: Some(after), ..Setting::default() };
        let done = measure(&behaviours, setting);
        let missing: Vec<u64> = counts(&done)
            .into_iter()
            .filter_map(|count| Some((count.row, count.others.get(&Count::Allocations)?.why()?.clone())))
            .inspect(|(_, why)| assert_eq!(why.reason, "the run was interrupted before it was counted"))
            .map(|(row, _)| row)
            .collect();
        assert_eq!(missing, left_out, "interrupted after {after}");
        let end = done.records.last();
        assert!(matches!(end, Some(Record::End(end)) if end.interrupted), "{end:?}");
    }
    assert!(matches!(whole.records.last(), Some(Record::End(end)) if !end.interrupted));
}

#[test]
fn a_row_that_fails_when_it_is_counted_says_so_once() {
    let behaviours = [("a", Behaviour::BearsNoCounting), ("b", Behaviour::Costs(200))];
    let limits = Limits { samples: 1, ..Setting::default().limits };
    let done = measure(&behaviours, Setting { counted: true, limits, ..Setting::default() });
    let failed: Vec<&CountRecord> = counts(&done).into_iter().filter(|count| count.row == 0).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].iterations, 0);
    let missing = failed[0].others[&Count::Allocations].why().expect("a reason");
    assert!(missing.reason.starts_with("it failed when it was counted: the answer is"), "{missing}");
    assert!(counts(&done).iter().any(|count| count.row == 1), "the others are counted all the same");
}

#[test]
fn counting_ends_with_the_cell_and_says_what_it_left_out() {
    let behaviours =
        [("a", Behaviour::Costs(1_000)), ("b", Behaviour::Costs(1_000)), ("c", Behaviour::Costs(1_000))];
    // A process is counted in 15 k tasks of 20,000: 340 ms. A second is for time, one for counts.
    let limits =
        Limits { samples: 1_000_000, max_time_ns: 2_000 * MS, is_bound: true, ..Setting::default().limits };
    let done = measure(&behaviours, Setting { counted: true, limits, ..Setting::default() });
    let Some(Record::End(end)) = done.records.last() else { panic!("the run came to its end") };
    assert!(end.elapsed_s <= 2.1, "{} s of 2, and a request of 40 ms", end.elapsed_s);
    let of = |row: u64| -> Vec<&CountRecord> {
        counts(&done).into_iter().filter(|count| count.row == row).collect()
    };
    assert!(of(0).len() >= 6 && of(0).iter().all(|count| count.iterations > 0), "{:?}", of(0));
    let last = of(2);
    assert_eq!(last.len(), 1, "{last:?}");
    let missing = last[0].others.get(&Count::Allocations).and_then(Reading::why).expect("a reason");
    assert_eq!(missing.reason, "no time was left to count it");
}

/// Cells of five sizes that are measured for growth, which is then counted.
fn for_growth(budget_ms: u64, samples: u64) -> Setting {
    let limits = Limits {
        until_graded: true,
        counts_growth: true,
        budget_ns: Some(budget_ms * MS),
        restart_every: 1,
        samples,
        ..Setting::default().limits
    };
    let sizes = "[64, 128, 256, 512, 1024]";
    Setting { limits, sizes, block: "controls = false", ..Setting::default() }
}

#[test]
fn what_grows_as_a_collector_makes_it_is_counted_at_the_sizes_that_tell_and_nothing_else_is() {
    let setting = for_growth(3_600_000, 20);
    let limits = setting.limits;
    let rows = [("a", Behaviour::Grows(14)), ("b", Behaviour::Costs(100)), ("c", Behaviour::Grows(20))];
    let done = measure(&rows, setting);
    let last = done.samples().map(|sample| sample.order).max().expect("samples");
    let counts = counts(&done);
    assert!(
        counts.iter().all(|count| count.order > last && count.variant == "a" && count.for_growth),
        "{counts:?}"
    );
    // Bytes of the last three octaves, and collections at the end: two processes, one pair each.
    let sizes: Vec<u64> = counts.iter().map(|count| count.size).collect();
    let expected = [(128, 4), (256, 4), (512, 4), (1_024, 8)];
    assert_eq!(sizes, expected.map(|(size, times)| vec![size; times]).concat());
    let is_of = |count: &&&CountRecord| count.others.contains_key(&Count::Collections);
    assert_eq!(counts.iter().filter(is_of).map(|count| count.size).collect::<Vec<_>>(), [1_024; 4]);
    let limits = Limits { counts_growth: false, ..limits };
    let none = measure(&rows, Setting { limits, ..for_growth(3_600_000, 20) });
    assert!(!none.records.iter().any(|record| matches!(record, Record::Count(_))));
}

#[test]
fn growth_is_counted_within_the_budget() {
    // Between soft and superlinear, so that it is never certain.
    let done = measure(&[("a", Behaviour::Grows(13))], for_growth(1_000, 100_000));
    let timed_ns: u64 = done.samples().map(|sample| sample.outside_wall_ns).sum();
    assert!((700 * MS..=850 * MS).contains(&timed_ns), "four fifths are for times: {timed_ns}");
    let sizes: std::collections::BTreeSet<u64> = counts(&done).iter().map(|count| count.size).collect();
    assert!(sizes.contains(&128) && !sizes.contains(&1_024), "the time is up in between: {sizes:?}");
}
