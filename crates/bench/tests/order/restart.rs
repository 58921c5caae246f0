//! Fresh processes, and what warms them up.

use super::*;

#[test]
fn all_rows_restart_together_and_warm_up_again() {
    let limits = Limits { samples: 9, restart_every: 4, ..Setting::default().limits };
    let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..Setting::default() });
    assert_eq!(done.launches, 6, "two rows, three processes each");
    for sample in done.samples().filter(|sample| sample.kind == Kind::Timed) {
        assert_eq!(sample.process, sample.round / 4);
    }
    let mut warmed: Vec<u64> =
        done.samples().filter(|sample| sample.kind == Kind::Warmup).map(|sample| sample.round).collect();
    warmed.dedup();
    assert_eq!(warmed, [0, 4, 8]);
}

#[test]
fn a_suite_may_ask_for_fewer_warm_up_samples_after_a_restart() {
    let limits = Limits { restart_every: 3, restart_warmup: 1, ..Setting::default().limits };
    let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..Setting::default() });
    let warmed = |process| {
        let warmed = |sample: &&SampleRecord| sample.kind == Kind::Warmup && sample.process == process;
        done.samples().filter(|sample| sample.variant == "a").filter(warmed).count()
    };
    assert_eq!((warmed(0), warmed(1)), (2 * 3, 2), "the first process settles; two rows each");
}

#[test]
fn a_suite_may_ask_for_no_warm_up_and_then_only_compiled_code_has_one() {
    let limits = Limits { restart_every: 1, restart_warmup: 0, ..Setting::default().limits };
    let warmed = |jit| {
        let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, jit, ..Setting::default() });
        done.samples().filter(|sample| sample.kind == Kind::Warmup).count()
    };
    assert_eq!(warmed(false), 0);
    assert!(warmed(true) > 0);
}

#[test]
fn processes_do_not_all_take_their_sample_at_the_same_place() {
    // A collector that comes after so many samples would meet all processes there, or none.
    let limits = Limits { restart_every: 1, samples: 12, ..Setting::default().limits };
    let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..Setting::default() });
    let warm = |process: u64| {
        let of = |sample: &&SampleRecord| {
            sample.kind == Kind::Warmup && sample.process == process && sample.row == 0
        };
        done.samples().filter(of).count()
    };
    let counts: std::collections::BTreeSet<usize> = (1..12).map(warm).collect();
    assert!(counts.len() > 1 && counts.iter().all(|n| (2..=4).contains(n)), "{counts:?}");
}
