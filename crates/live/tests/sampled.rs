//! Tiny tasks, of which one in several is timed: counts are exact at any pattern, and sums are near those of every task.

use proptest::prelude::*;
use taskscale_live::{Observer, Options, Worker};
use taskscale_model::digest::Digest;
use taskscale_sys::ticks::{self, Rate};

/// A program of one worker: gaps and durations in nanoseconds, in turns. Times are made up.
fn observe(steps: &[(u64, u64)], exact: bool) -> Digest {
    let observer = timeless(exact);
    play(&observer.worker(0), steps);
    observer.digest()
}

fn timeless(exact: bool) -> std::sync::Arc<Observer> {
    Observer::new(Options { workers: Some(1), without_run_delay: true, exact, ..Options::default() })
}

fn play(worker: &Worker, steps: &[(u64, u64)]) {
    let rate = Rate::of_machine();
    let (origin, mut at) = (ticks::now(), 0);
    for (gap, duration) in steps {
        at += gap;
        worker.begin_at(origin + rate.ticks(at));
        at += duration;
        worker.end_at(origin + rate.ticks(at), if at % 3 == 0 { b"load" } else { b"solve" });
    }
}

fn is_sampled(digest: &Digest) -> bool {
    digest.notes.iter().any(|note| note.starts_with("timed 1 of "))
}

/// Work and dispatch of a program as sampled, and as they are; the terms add up in either case.
fn both(steps: &[(u64, u64)]) -> ([f64; 2], [f64; 2]) {
    let shares = |digest: &Digest| {
        let all: f64 = digest.losses.terms().iter().map(|(_, share)| share).sum();
        assert!((all - 1.0).abs() < 1e-9, "{:?}", digest.losses);
        assert_eq!(digest.tasks, steps.len() as u64);
        let duration = digest.duration.value().expect("durations");
        assert_eq!(duration.count, digest.tasks);
        let mean = digest.losses.work * digest.window_ns as f64 / digest.tasks as f64;
        assert!((duration.mean - mean).abs() < 2.0, "{} and {mean}", duration.mean);
        [digest.losses.work, digest.losses.dispatch]
    };
    let (sampled, exact) = (observe(steps, false), observe(steps, true));
    assert!(is_sampled(&sampled) && !is_sampled(&exact), "{:?}", sampled.notes);
    assert!(sampled.window_ns.abs_diff(exact.window_ns) < 24_000, "the end is a guess of a few tasks");
    (shares(&sampled), shares(&exact))
}

#[track_caller]
fn near(steps: &[(u64, u64)], bound: f64) {
    let (sampled, exact) = both(steps);
    for (sampled, exact) in sampled.iter().zip(exact) {
        assert!((sampled - exact).abs() <= bound, "{sampled} for {exact}");
    }
}

#[test]
fn tasks_that_are_all_alike_are_known_as_if_all_were_timed() {
    near(&[(30, 40); 400_000], 0.01);
}

#[test]
fn of_two_kinds_of_tasks_either_has_its_share() {
    let steps: Vec<(u64, u64)> =
        (0..400_000).map(|_| (30, if fastrand::bool() { 10 } else { 300 })).collect();
    near(&steps, 0.02);
    let digest = observe(&steps, false);
    let quantiles = digest.duration.value().expect("durations");
    assert!(quantiles.p50 < 20 || quantiles.p50 > 250, "two kinds, and no third between: {quantiles:?}");
    assert!(quantiles.p90 > 250, "{quantiles:?}");
}

#[test]
fn a_period_does_not_fall_into_step_with_the_sampling() {
    for period in [2, 4, 8, 12, 16] {
        let steps: Vec<(u64, u64)> =
            (0..400_000).map(|at| (30, if at % period == 0 { 400 } else { 40 })).collect();
        near(&steps, 0.03);
    }
}

#[test]
fn a_long_pause_among_tiny_tasks_is_a_gap() {
    let mut steps = vec![(30, 40); 20_000];
    steps[10_000].0 = 5_000_000;
    let (sampled, exact) = both(&steps);
    assert!((sampled[0] - exact[0]).abs() < 0.01, "{sampled:?} {exact:?}");
    assert!(sampled[1] < exact[1] + 0.01, "the pause is not dispatch: {sampled:?} {exact:?}");
    let gap = observe(&steps, false).gap.value().expect("gaps").max;
    assert!((4_900_000..=5_001_000).contains(&gap), "{gap}");
}

#[test]
fn rare_tasks_of_some_microseconds_are_not_taken_for_gaps() {
    let mut steps = vec![(20, 10); 400_000];
    steps.iter_mut().step_by(100).for_each(|step| step.1 = 8_000);
    let shares = |exact| {
        let losses = observe(&steps, exact).losses;
        (losses.work, losses.dispatch)
    };
    let (sampled, exact) = (shares(false), shares(true));
    assert!((sampled.0 - exact.0).abs() < 0.1 && (sampled.1 - exact.1).abs() < 0.05, "{sampled:?} {exact:?}");
}

#[test]
fn tasks_that_are_not_tiny_are_all_timed_again() {
    let mut steps = vec![(30, 40); 5_000];
    steps.extend([(100, 5_000); 5_000]);
    let digest = observe(&steps, false);
    assert!(is_sampled(&digest));
    assert_eq!(digest.tasks, 10_000);
    let exact = observe(&steps, true);
    let mean = |digest: &Digest| digest.duration.value().expect("durations").mean;
    assert!((mean(&digest) / mean(&exact) - 1.0).abs() < 0.02, "{} {}", mean(&digest), mean(&exact));
    assert!(!is_sampled(&observe(&[(100, 5_000); 5_000], false)));
}

#[test]
fn a_task_inside_one_that_is_not_timed_is_inside_it() {
    for at in 0..24 {
        let observer = timeless(false);
        let (worker, rate, origin) = (observer.worker(0), Rate::of_machine(), ticks::now());
        let tick = |ns: u64| origin + rate.ticks(ns);
        for task in 0..1_000 + at {
            worker.begin_at(tick(task * 70));
            worker.end_at(tick(task * 70 + 40), b"tiny");
        }
        let begin = (1_000 + at) * 70;
        worker.begin_at(tick(begin));
        worker.begin_at(tick(begin + 10));
        worker.end_at(tick(begin + 15), b"inner");
        worker.begin_at(tick(begin + 20));
        worker.end_at(tick(begin + 25), b"inner");
        worker.end_at(tick(begin + 40), b"outer");
        let digest = observer.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (1_000 + at + 3, 2));
        let outer = digest.names.top.iter().find(|name| name.name == "outer").expect("its name is known");
        // 30 to 40; on the way to ticks and back a nanosecond may come or go.
        assert!(outer.tasks == 1 && (29..=41).contains(&outer.total_ns), "{outer:?}");
    }
}

#[test]
fn a_task_that_is_not_timed_is_open_until_it_ends() {
    for at in 0..24 {
        let observer = timeless(false);
        let worker = observer.worker(0);
        play(&worker, &vec![(30, 40); 1_000 + at]);
        worker.begin();
        assert!(worker.is_open());
        // Somebody waits in the middle of a task.
        worker.rests();
        assert!(worker.is_open());
        worker.end(b"tiny");
        assert!(!worker.is_open());
        worker.rests();
        let digest = observer.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (1_001 + at as u64, 0));
        assert_eq!(digest.dropped.dropped, [], "no end without a begin");
    }
}

#[test]
fn clearing_forgets_tasks_that_were_not_timed() {
    for at in 0..24u64 {
        let observer = timeless(false);
        let worker = observer.worker(0);
        let run = |tasks: u64| (0..tasks).for_each(|_| tiny(&worker));
        run(1_000 + at);
        observer.clear();
        assert_eq!(observer.digest().tasks, 0);
        run(at);
        assert_eq!(observer.digest().tasks, at);
        worker.begin();
        assert_eq!(observer.digest().tasks, at + 1, "one is open");
        observer.clear();
        assert_eq!(observer.digest().tasks, 0);
        worker.end(b"cut");
        run(100);
        assert_eq!(observer.digest().tasks, 100);
    }
}

#[test]
fn a_task_that_was_open_at_the_clearing_stays_cut_where_others_begin_inside() {
    for (at, exact) in (0..24u64).flat_map(|at| [(at, true), (at, false)]) {
        let observer = timeless(exact);
        let worker = observer.worker(0);
        (0..1_000 + at).for_each(|_| tiny(&worker));
        worker.begin();
        observer.clear();
        tiny(&worker);
        tiny(&worker);
        worker.end(b"cut");
        let digest = observer.digest();
        assert_eq!((digest.tasks, digest.window_ns), (2, 0), "{at}: no outermost task is known whole");
        let cut = digest.dropped.dropped.iter().map(|dropped| dropped.events).sum::<u64>();
        assert_eq!(cut, 1, "{at}: {:?}", digest.dropped);
        tiny(&worker);
        let digest = observer.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (3, 2));
    }
}

fn tiny(worker: &Worker) {
    worker.begin();
    worker.end(b"tiny");
}

/// Uses the processor.
fn compute(ms: u64) {
    let thread = taskscale_sys::clock::thread_id().expect("Linux");
    let cpu = || taskscale_sys::clock::thread_cpu_ns(thread).expect("Linux");
    let begin = cpu();
    while cpu() < begin + ms * 1_000_000 {}
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_task_is_told_from_a_pause_by_its_cpu_time() {
    let mut seen = [0; 2];
    for at in 0..24 {
        let observer = Observer::new(Options { own_threads: true, ..Options::default() });
        let worker = observer.worker(0);
        (0..5_000 + at).for_each(|_| tiny(&worker));
        worker.begin();
        compute(10);
        worker.end(b"long");
        let is_known = |digest: &Digest| {
            let longest = digest.duration.value().expect("durations").max;
            u32::from((5_000_000..100_000_000).contains(&longest))
        };
        let digest = observer.digest();
        assert_eq!(digest.tasks, 5_001 + at);
        seen[0] += is_known(&digest);
        (0..50).for_each(|_| tiny(&worker));
        let digest = observer.digest();
        assert_eq!(digest.tasks, 5_051 + at);
        seen[1] += is_known(&digest);
    }
    // While others have the processor between the last timed task and the long one, CPU time is missed.
    assert!(seen.iter().all(|seen| *seen >= 8), "the last one, and among others: {seen:?} of 24");
}

#[test]
fn tasks_before_a_rest_count() {
    for at in 0..24u64 {
        let observer = Observer::new(Options::default());
        let worker = observer.worker(0);
        (0..2_000 + at).for_each(|_| tiny(&worker));
        worker.rests();
        assert_eq!(observer.digest().tasks, 2_000 + at);
    }
}

fn step() -> impl Strategy<Value = (u64, u64)> {
    (
        prop_oneof![200 => 0u64..60, 1 => 0u64..3_000, 1 => 0u64..200_000],
        prop_oneof![200 => 0u64..90, 1 => 0u64..5_000, 1 => 0u64..300_000],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_task_counts_at_any_pattern(
        steps in proptest::collection::vec(step(), 1..4_000),
        looks in proptest::collection::vec(0usize..4_000, 0..8),
        nested in proptest::collection::vec(0usize..4_000, 0..3),
    ) {
        let observer = timeless(false);
        let (worker, rate, origin) = (observer.worker(0), Rate::of_machine(), ticks::now());
        let (mut at, mut count) = (0, 0);
        for (index, (gap, duration)) in steps.iter().enumerate() {
            worker.begin_at(origin + rate.ticks(at + gap));
            if nested.contains(&index) {
                worker.begin_at(origin + rate.ticks(at + gap));
                worker.end_at(origin + rate.ticks(at + gap + duration), b"inner");
                count += 1;
            }
            at += gap + duration;
            worker.end_at(origin + rate.ticks(at), b"tiny");
            count += 1;
            if looks.contains(&index) {
                prop_assert_eq!(observer.digest().tasks, count);
            }
        }
        let digest = observer.digest();
        prop_assert_eq!(digest.tasks, count);
        let all: f64 = digest.losses.terms().iter().map(|(_, share)| share).sum();
        prop_assert!((all - 1.0).abs() < 1e-9);
        prop_assert!(digest.losses.terms().iter().all(|(_, share)| (0.0..=1.0 + 1e-9).contains(share)));
        let busy: f64 = digest.workers_detail.workers.iter().map(|worker| worker.busy).sum();
        prop_assert!(busy <= 1.0 + 1e-9);
        // Where the last tasks end that were not timed is a guess.
        prop_assert!(digest.window_ns <= at + 24_000);
    }
}
