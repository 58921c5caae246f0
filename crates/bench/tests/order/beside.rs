//! Rows that an old side judges: on which CPU they run, and whether their time is enough.

use super::*;

/// CPUs of the fake machine.
pub const CPUS: u64 = 7;

/// The CPUs of each process, a set for each number of a process.
fn cpus(behaviours: &[(&'static str, Behaviour)], judged_at: Option<f64>) -> Vec<Vec<Option<u32>>> {
    let limits = Limits { samples: 40, restart_every: 4, judged_at, ..Setting::default().limits };
    let done = measure(behaviours, Setting { limits, ..Setting::default() });
    let mut cpus: BTreeMap<u64, Vec<Option<u32>>> = BTreeMap::new();
    for sample in done.samples() {
        let of = cpus.entry(sample.process).or_default();
        if !of.contains(&sample.cpu) {
            of.push(sample.cpu);
        }
    }
    cpus.into_values().collect()
}

#[test]
fn rows_of_one_thread_are_on_one_cpu_another_in_each_process() {
    let behaviours = [("a", Behaviour::Alone(100)), ("b", Behaviour::Alone(150))];
    let cpus = cpus(&behaviours, Some(0.95));
    assert_eq!(cpus[0], [None], "nothing is known of the first process");
    assert!(cpus[1..].iter().all(|of| matches!(of[..], [Some(_)])), "baseline, row and control: {cpus:?}");
    let different: std::collections::BTreeSet<_> = cpus[1..].iter().collect();
    assert!(different.len() >= 3, "{different:?}");
}

#[test]
fn a_row_of_several_threads_keeps_those_beside_it_on_all_cpus() {
    let on_any = |cpus: Vec<Vec<Option<u32>>>| cpus.iter().all(|of| *of == [None]);
    assert!(on_any(cpus(&[("a", Behaviour::Alone(100)), ("b", Behaviour::Costs(150))], Some(0.95))));
    assert!(on_any(cpus(&[("a", Behaviour::Costs(100)), ("b", Behaviour::Alone(150))], Some(0.95))));
    assert!(on_any(cpus(&[("a", Behaviour::Hidden)], Some(0.95))), "it is not known how many");
    assert!(on_any(cpus(&[("a", Behaviour::Alone(100))], None)), "nothing is judged");
}

#[test]
fn a_time_that_is_too_short_for_any_verdict_is_told_after_the_first_processes() {
    let said = |seconds: u64| {
        let limits = Limits {
            samples: 400,
            restart_every: 8,
            max_time_ns: seconds * 1_000 * MS,
            judged_at: Some(0.95),
            sample_ns: 100 * MS,
            ..Setting::default().limits
        };
        let done = measure(&[("a", Behaviour::Costs(100))], Setting { limits, ..Setting::default() });
        let before = done.words.iter().position(|word| word.starts_with("Short"));
        before.map(|at| (done.words[at].clone(), done.words[at + 1..].to_vec()))
    };
    // Two rows, eight rounds of 0.1 s or a little more, and some for warming up: 2 to 3 s a pair.
    assert_eq!(said(30), None);
    let (short, behind) = said(7).expect("six pairs do not fit into 7 s");
    assert!(short.contains("pairs: 6, pair_ns: 2"), "{short}");
    let turns = behind.iter().filter(|word| word.starts_with("cell")).count();
    assert!(turns >= 2 && behind.last().is_some_and(|word| word == "end"), "{behind:?}");
}

#[test]
fn judged_samples_are_longer_where_threads_or_a_compiler_make_them_uneven() {
    // How many iterations of 100 tasks a sample has, on each side.
    let iterations = |behaviour, jit| -> std::collections::BTreeSet<u64> {
        let limits = Limits { uneven_sample_ns: 8 * MS, judged_at: Some(0.95), ..Setting::default().limits };
        let done = measure(&[("a", behaviour)], Setting { limits, jit, ..Setting::default() });
        let timed = done.samples().filter(|sample| sample.kind == Kind::Timed);
        timed.map(|sample| sample.iterations).collect()
    };
    let lasts = |iterations: std::collections::BTreeSet<u64>, least: u64| {
        // A round lengthens them by up to 20 %.
        iterations.iter().all(|&count| (least..=least + least / 5).contains(&count))
    };
    assert!(lasts(iterations(Behaviour::Alone(1_000), false), 10), "1 ms");
    assert!(lasts(iterations(Behaviour::Costs(1_000), false), 80), "two threads do the work");
    assert!(lasts(iterations(Behaviour::Alone(1_000), true), 80), "it is compiled while it runs");
}

#[test]
fn judged_rows_are_not_woken_since_both_sides_pause_alike() {
    let wakes = |judged_at| {
        let limits = Limits { judged_at, ..Setting::default().limits };
        let rows = [("a", Behaviour::Costs(1_000)), ("b", Behaviour::Costs(1_000))];
        let done = measure(&rows, Setting { limits, wake_ms: Some(3), ..Setting::default() });
        done.samples().filter(|sample| sample.kind == Kind::Wake).count()
    };
    assert!(wakes(None) > 0);
    assert_eq!(wakes(Some(0.95)), 0);
}

#[test]
fn processes_of_slow_judged_code_have_two_rounds() {
    let rounds = |cost, judged_at| {
        let limits = Limits { samples: 16, restart_every: 8, judged_at, ..Setting::default().limits };
        let done = measure(&[("a", Behaviour::Costs(cost))], Setting { limits, ..Setting::default() });
        let mut of_each: BTreeMap<u64, std::collections::BTreeSet<u64>> = BTreeMap::new();
        for sample in done.samples().filter(|sample| sample.kind == Kind::Timed) {
            of_each.entry(sample.process).or_default().insert(sample.round);
        }
        of_each.values().map(std::collections::BTreeSet::len).collect::<Vec<_>>()
    };
    // 100 tasks of 100 us are 10 samples of 1 ms.
    assert_eq!(rounds(100_000, Some(0.95)), [2; 8]);
    assert_eq!(rounds(1_000, Some(0.95)), [8, 8]);
    assert_eq!(rounds(100_000, None), [8, 8]);
}
