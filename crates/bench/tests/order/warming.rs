//! How long a fresh process is warmed up whose code is compiled while it runs.

use super::*;

#[test]
fn code_that_is_compiled_while_it_runs_is_timed_after_its_last_tier_in_every_process() {
    let limits = Limits { restart_every: 2, ..Setting::default().limits };
    let timed = |jit| {
        let done = measure(&[("a", Behaviour::Tiers)], Setting { limits, jit, ..Setting::default() });
        let timed = done.samples().filter(|sample| sample.kind == Kind::Timed);
        let timed: Vec<(f64, u64, u64)> =
            timed.map(|sample| (cost(sample), sample.iterations, sample.process)).collect();
        assert_eq!(timed.iter().map(|(.., process)| process).max(), Some(&2));
        timed
    };
    for (cost, iterations, process) in timed(true) {
        assert_eq!(cost, 100.0, "process {process}");
        // The tasks are 100 of 100 ns. The pilot went on until its samples were those of compiled
        // code.
        assert!((100..=120).contains(&iterations), "{iterations}");
    }
    assert!(
        timed(false).iter().any(|(cost, ..)| *cost > 100.0),
        "three samples agree with the rest between two tiers"
    );
}

#[test]
fn a_level_counts_only_after_the_work_that_the_probe_asks_for() {
    let limits = Limits { restart_every: 2, ..Setting::default().limits };
    let before = |settle_ms| {
        let setting = Setting { limits, jit: true, settle_ms, ..Setting::default() };
        let done = measure(&[("a", Behaviour::Costs(1_000))], setting);
        let untimed = |process: u64| {
            let of_it = done.samples().filter(|sample| sample.process == process && sample.row == 0);
            of_it
                .filter(|one| matches!(one.kind, Kind::Pilot | Kind::Warmup))
                .map(|one| one.cpu_ns)
                .sum::<u64>()
        };
        (0..3).map(untimed).collect::<Vec<_>>()
    };
    // A row that costs the same from the start is level after 24 samples of a quarter of 1 ms.
    assert!(before(None)[1..].iter().all(|&ns| ns < 10 * MS), "{:?}", before(None));
    let asked = before(Some(50));
    assert!(asked.iter().all(|&ns| (50 * MS..60 * MS).contains(&ns)), "{asked:?}");
    let most = before(Some(1_000_000));
    assert!(most.iter().all(|&ns| (3_000 * MS..3_010 * MS).contains(&ns)), "{most:?}");
}

#[test]
fn what_has_worked_as_long_as_it_asks_for_still_has_samples_to_level_off() {
    let limits = Limits { restart_every: 2, ..Setting::default().limits };
    let setting = Setting { limits, jit: true, settle_ms: Some(300), ..Setting::default() };
    // Each answer is cheaper than the one before.
    let done = measure(&[("a", Behaviour::Falls)], setting);
    let untimed = |one: &&SampleRecord| one.row == 0 && matches!(one.kind, Kind::Pilot | Kind::Warmup);
    let mut worked_ns = 0;
    let mut late = 0;
    for sample in done.samples().filter(untimed).filter(|one| one.process == 1) {
        late += usize::from(worked_ns >= 300 * MS);
        worked_ns += sample.cpu_ns;
    }
    assert_eq!(late, 60);
}

#[test]
fn code_that_never_levels_off_leaves_time_for_the_processes_that_an_interval_needs() {
    let limits =
        Limits { restart_every: 2, samples: 1_000, max_time_ns: 20_000 * MS, ..Setting::default().limits };
    let setting = Setting { limits, jit: true, ..Setting::default() };
    let done = measure(&[("a", Behaviour::Falls), ("b", Behaviour::Falls)], setting);
    let processes = done.samples().filter(|sample| sample.kind == Kind::Timed).map(|sample| sample.process);
    assert!(processes.max() >= Some(5), "six processes");
    let warm = |process: u64| {
        done.samples()
            .filter(|sample| sample.kind == Kind::Warmup && sample.process == process)
            .map(|sample| sample.wall_ns)
            .sum::<u64>()
    };
    // The bound is 40 % of 20 s over six starts, all rows together, and one sample too many of each
    // row.
    assert!((1..6).all(|process| warm(process) < 2_000 * MS), "{:?}", (0..6).map(warm).collect::<Vec<_>>());
    assert!((1..6).all(|process| warm(process) > 500 * MS), "more than the others' tenth");
    let Some(Record::End(end)) = done.records.last() else { panic!("no end") };
    assert!(end.elapsed_s < 1.5 * 20.0, "{}", end.elapsed_s);
}
