//! Sampling of tiny tasks: counts are exact at any pattern, and sums are near those of timing every
//! task.
//!
//! Times are made up, ticks and lots included: the lots are drawn from the times
//! ([`taskscale_live::plan::skip`]).

use std::sync::Arc;

use proptest::prelude::*;
use taskscale_live::{Clock, Observer, Options, SetClock, Worker};
use taskscale_model::digest::Digest;
use taskscale_sys::ticks::Rate;

/// A clock of nanoseconds, so that nothing is rounded.
const NANOSECONDS: Rate = Rate::of_ns_per_4g(1 << 32);

/// A program of one worker with a clock that it sets.
struct Program {
    observer: Arc<Observer>,
    worker: Arc<Worker>,
    clock: Arc<SetClock>,
    /// Nanoseconds so far (`now`), and those in which the thread did not run (`paused`).
    now: u64,
    paused: u64,
}

impl Program {
    fn new(exact: bool) -> Self {
        Program::at_rate(exact, NANOSECONDS)
    }

    fn at_rate(exact: bool, rate: Rate) -> Self {
        Program::with(rate, Options { exact, ..Options::default() })
    }

    /// A program whose thread does nothing but its tasks.
    fn own_thread() -> Self {
        Program::with(NANOSECONDS, Options { own_threads: true, ..Options::default() })
    }

    fn with(rate: Rate, options: Options) -> Self {
        let clock = SetClock::new(rate);
        let observer =
            Observer::new(Options { workers: Some(1), clock: Clock::Set(clock.clone()), ..options });
        Program { worker: observer.worker(0), observer, clock, now: 0, paused: 0 }
    }

    /// Begins a task after `gap` nanoseconds.
    fn begin(&mut self, gap: u64) {
        let now = self.pass(gap);
        self.worker.begin_at(now);
    }

    /// Ends the task that began last after `duration` nanoseconds.
    fn end(&mut self, duration: u64, name: &str) {
        let now = self.pass(duration);
        self.worker.end_at(now, name.as_bytes());
    }

    /// Lets `ns` nanoseconds pass. Returns the ticks.
    fn pass(&mut self, ns: u64) -> u64 {
        self.now += ns;
        self.clock.set_cpu_ns(self.now - self.paused);
        self.clock.set_ns(self.now)
    }

    /// Runs tasks, each given by a gap and a duration in nanoseconds.
    fn play(&mut self, steps: &[(u64, u64)]) {
        for (gap, duration) in steps {
            self.begin(*gap);
            self.end(*duration, if self.now.is_multiple_of(3) { "load" } else { "solve" });
        }
    }

    /// Runs tasks of 40 ns, each after 30 ns.
    fn tiny(&mut self, tasks: u64) {
        (0..tasks).for_each(|_| self.play(&[(30, 40)]));
    }

    /// Clears the observer 1 ns after the last begin.
    fn clear(&mut self) {
        self.pass(1);
        self.observer.clear();
    }

    fn digest(&self) -> Digest {
        self.observer.digest()
    }
}

fn observe(steps: &[(u64, u64)], exact: bool) -> Digest {
    let mut program = Program::new(exact);
    program.play(steps);
    program.digest()
}

fn is_sampled(digest: &Digest) -> bool {
    digest.notes.iter().any(|note| note.starts_with("timed 1 of "))
}

/// The shares of work and dispatch, sampled and exact. Checks that the terms add up in both.
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
    let mut lot = fastrand::Rng::with_seed(1);
    let steps: Vec<(u64, u64)> = (0..400_000).map(|_| (30, if lot.bool() { 10 } else { 300 })).collect();
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
fn work_is_too_low_by_no_more_than_is_said_to_be_unknown() {
    for (period, ns) in
        [(100, 8_000), (1_250, 50_000), (2_000, 60_000), (5_000, 400_000), (20_000, 5_000_000)]
    {
        let mut steps = vec![(30, 40); 200_000];
        steps.iter_mut().skip(period / 2).step_by(period).for_each(|step| step.1 = ns);
        let (sampled, exact) = (observe(&steps, false), observe(&steps, true));
        let low = exact.losses.work - sampled.losses.work;
        assert!(low > 0.0 && low <= sampled.unknown + 0.02, "{ns} ns: {low} of {}", sampled.unknown);
        assert!(sampled.unknown <= low + 0.02, "{ns} ns: {low} of {}", sampled.unknown);
        assert!(exact.unknown == 0.0, "all is timed");
    }
}

#[test]
fn a_pause_may_have_been_a_task() {
    let mut program = Program::new(false);
    program.tiny(10_000);
    assert_eq!(program.digest().unknown, 0.0);
    program.pass(5_000_000);
    program.tiny(1_000);
    let digest = program.digest();
    let pause = 5_000_000.0 / digest.window_ns as f64;
    assert!((digest.unknown - pause).abs() < 0.01, "{} of {pause}", digest.unknown);
    let reasons = &digest.confidence.reasons;
    assert!(reasons.iter().any(|reason| reason.contains("may be a task's or a pause's")), "{reasons:?}");
    program.clear();
    program.tiny(1_000);
    assert_eq!(program.digest().unknown, 0.0);
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
fn a_clock_of_any_rate_neither_adds_time_nor_loses_it() {
    // Ticks last 0.3 to 1 ns, and lengths are out of step with them. If each were cut to whole
    // nanoseconds, gaps would lose 1 ns of 30.
    let mut lot = fastrand::Rng::with_seed(2);
    let steps: Vec<(u64, u64)> = (0..100_000).map(|_| (lot.u64(25..36), lot.u64(35..46))).collect();
    for ticks_per_ns in [1.0, 1.3, 2.000_1, 2.400_5, 2.999_9, 3.7] {
        for exact in [true, false] {
            let rate = Rate::of_ns_per_4g((4_294_967_296.0 / ticks_per_ns) as u64);
            let mut program = Program::at_rate(exact, rate);
            program.play(&steps);
            let losses = program.digest().losses;
            let (work, dispatch) = (40.0 / 70.0, 30.0 / 70.0);
            assert!((losses.work - work).abs() < 0.005, "{ticks_per_ns} {exact}: {losses:?}");
            assert!((losses.dispatch - dispatch).abs() < 0.005, "{ticks_per_ns} {exact}: {losses:?}");
        }
    }
}

#[test]
fn a_task_inside_one_that_is_not_timed_is_inside_it() {
    for at in 0..24 {
        let mut program = Program::new(false);
        program.tiny(1_000 + at);
        program.begin(30);
        program.begin(10);
        program.end(5, "inner");
        program.begin(5);
        program.end(5, "inner");
        program.end(15, "outer");
        let digest = program.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (1_000 + at + 3, 2));
        let outer = digest.names.top.iter().find(|name| name.name == "outer").expect("its name is known");
        // An untimed outer task begins, as far as is known, with the first task inside.
        assert!(outer.tasks == 1 && (30..=40).contains(&outer.total_ns), "{outer:?}");
    }
}

#[test]
fn a_task_that_is_not_timed_is_open_until_it_ends() {
    for at in 0..24 {
        let mut program = Program::new(false);
        program.tiny(1_000 + at);
        program.begin(30);
        assert!(program.worker.is_open());
        // The rim reports a wait in the middle of a task.
        program.worker.rests();
        assert!(program.worker.is_open());
        program.end(40, "tiny");
        assert!(!program.worker.is_open());
        program.worker.rests();
        let digest = program.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (1_001 + at, 0));
        assert_eq!(digest.dropped.dropped, [], "no end without a begin");
    }
}

#[test]
fn clearing_forgets_tasks_that_were_not_timed() {
    for at in 0..24u64 {
        let mut program = Program::new(false);
        program.tiny(1_000 + at);
        program.clear();
        assert_eq!(program.digest().tasks, 0);
        program.tiny(at);
        assert_eq!(program.digest().tasks, at);
        program.begin(30);
        assert_eq!(program.digest().tasks, at + 1, "one is open");
        program.clear();
        assert_eq!(program.digest().tasks, 0);
        program.end(40, "cut");
        program.tiny(100);
        assert_eq!(program.digest().tasks, 100);
    }
}

#[test]
fn tasks_behind_a_clearing_are_not_named_after_those_before_it() {
    for (at, duration) in (0..24u64).flat_map(|at| [(at, 40), (at, 50_000)]) {
        let mut program = Program::new(false);
        program.tiny(1_000 + at);
        program.clear();
        for _ in 0..100 {
            program.begin(30);
            program.end(duration, "next");
            let names = program.digest().names.top;
            let old = names.iter().find(|name| ["load", "solve"].contains(&name.name.as_str()));
            assert_eq!(old, None, "{at}, {duration} ns");
        }
        let names = program.digest().names;
        assert_eq!(names.top[0].name, "next");
        assert!(names.top[0].tasks >= 76, "{at}, {duration} ns: {names:?}");
    }
}

#[test]
fn a_task_that_was_open_at_the_clearing_stays_cut_where_others_begin_inside() {
    for (at, exact) in (0..24u64).flat_map(|at| [(at, true), (at, false)]) {
        let mut program = Program::new(exact);
        program.tiny(1_000 + at);
        program.begin(30);
        program.clear();
        program.tiny(2);
        program.end(40, "cut");
        let digest = program.digest();
        assert_eq!((digest.tasks, digest.window_ns), (2, 0), "{at}: no outermost task is known whole");
        let cut = digest.dropped.dropped.iter().map(|dropped| dropped.events).sum::<u64>();
        assert_eq!(cut, 1, "{at}: {:?}", digest.dropped);
        program.tiny(1);
        let digest = program.digest();
        assert_eq!((digest.tasks, digest.nesting.nested), (3, 2));
    }
}

#[test]
fn tasks_before_a_rest_count() {
    for at in 0..24u64 {
        let mut program = Program::new(false);
        program.tiny(2_000 + at);
        program.worker.rests();
        assert_eq!(program.digest().tasks, 2_000 + at);
    }
}

#[test]
fn a_rest_behind_a_timed_task_is_a_gap() {
    // One rest in sixteen has no untimed task before it.
    for at in 0..48u64 {
        let mut program = Program::with(
            NANOSECONDS,
            Options { own_threads: true, waits_are_told: true, ..Options::default() },
        );
        program.tiny(2_000 + at);
        program.worker.rests();
        program.paused += 1_000_000;
        program.pass(1_000_000);
        program.tiny(200);
        let longest = program.digest().duration.value().expect("durations").max;
        assert!(longest < 10_000, "{at}: {longest}");
    }
}

#[test]
fn what_workers_wait_for_at_a_clearing_comes_before_their_tasks() {
    // A worker may look for tasks for a while before it waits: what it burns looks like a task.
    let ways = |at| [(at, true, 0), (at, true, 150_000), (at, false, 0)];
    for (at, own_threads, burnt) in (0..24u64).flat_map(ways) {
        let mut program = Program::with(NANOSECONDS, Options { own_threads, ..Options::default() });
        program.tiny(2_000 + at);
        program.clear();
        program.paused += 5_000_000;
        program.pass(5_000_000 + burnt);
        program.tiny(1_000);
        let digest = program.digest();
        assert_eq!((digest.tasks, digest.unknown), (1_000, 0.0));
        let most = 75_000 + burnt;
        assert!(digest.window_ns < most, "{at}: {} ns for tasks of 70,000 ns", digest.window_ns);
    }
}

#[test]
fn a_gap_without_a_rest_is_dispatch_where_rests_are_told() {
    let losses = |told, rests: bool| {
        let mut program = Program::with(
            NANOSECONDS,
            Options { own_threads: true, waits_are_told: told, exact: true, ..Options::default() },
        );
        for _ in 0..60 {
            program.tiny(100);
            if rests {
                program.worker.rests();
            }
            program.pass(3_000);
        }
        let losses = program.digest().losses;
        (losses.dispatch, losses.outside)
    };
    let (pauses, wait) = (60.0 * 3_000.0 / (60.0 * 10_000.0), losses(true, true));
    assert!((wait.1 - pauses).abs() < 0.02, "{wait:?}");
    let own = losses(true, false);
    assert!(own.1 < 1e-9 && (own.0 - wait.0 - wait.1).abs() < 1e-9, "{own:?} {wait:?}");
    assert_eq!(losses(false, false), wait, "nothing is told");
}

#[test]
fn a_rest_in_a_task_is_none_between_two() {
    let mut program = Program::with(NANOSECONDS, Options { waits_are_told: true, ..Options::default() });
    program.tiny(60);
    program.begin(30);
    program.worker.rests();
    program.end(40, "rests inside");
    program.pass(3_000);
    program.tiny(60);
    assert_eq!(program.digest().losses.outside, 0.0);
}

/// The longest task in a program with 10 ms among tiny tasks, in which its thread ran or did not.
/// It is asked for at once and after further tasks.
fn longest_of_10_ms(tasks: u64, ran: bool) -> [u64; 2] {
    let mut program = Program::own_thread();
    program.tiny(5_000 + tasks);
    program.begin(30);
    program.paused = if ran { 0 } else { 10_000_000 };
    program.end(10_000_000, "long");
    let longest = |program: &Program| program.digest().duration.value().expect("durations").max;
    let last = longest(&program);
    assert_eq!(program.digest().tasks, 5_001 + tasks);
    program.tiny(50);
    assert_eq!(program.digest().tasks, 5_051 + tasks);
    [last, longest(&program)]
}

#[test]
fn a_long_task_is_told_from_a_pause_by_its_cpu_time() {
    for tasks in 0..24 {
        let of_task = longest_of_10_ms(tasks, true);
        assert!(of_task.iter().all(|ns| (9_900_000..=10_001_000).contains(ns)), "{tasks}: {of_task:?}");
        let of_pause = longest_of_10_ms(tasks, false);
        // The long task may be a timed one. Its length is then exact.
        let timed = of_pause[0] == 10_000_000;
        assert!(timed || of_pause.iter().all(|ns| *ns < 10_000), "{tasks}: {of_pause:?}");
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
        let mut program = Program::new(false);
        let mut count = 0;
        for (index, (gap, duration)) in steps.iter().enumerate() {
            program.begin(*gap);
            if nested.contains(&index) {
                program.begin(0);
                program.end(*duration, "inner");
                program.end(0, "tiny");
                count += 2;
            } else {
                program.end(*duration, "tiny");
                count += 1;
            }
            if looks.contains(&index) {
                prop_assert_eq!(program.digest().tasks, count);
            }
        }
        let digest = program.digest();
        prop_assert_eq!(digest.tasks, count);
        let all: f64 = digest.losses.terms().iter().map(|(_, share)| share).sum();
        prop_assert!((all - 1.0).abs() < 1e-9);
        prop_assert!(digest.losses.terms().iter().all(|(_, share)| (0.0..=1.0 + 1e-9).contains(share)));
        let busy: f64 = digest.workers_detail.workers.iter().map(|worker| worker.busy).sum();
        prop_assert!(busy <= 1.0 + 1e-9);
        // The end of the last untimed tasks is a guess.
        prop_assert!(digest.window_ns <= program.now + 24_000);
    }
}
