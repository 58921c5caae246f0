//! Who is named for a loss, and when it was: on timelines of which that is known.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Digest, Pattern, PatternName},
    span::{Account, Span, SpanSink},
};

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

/// Worker, start, end, name.
type Task = (u32, i64, i64, &'static str);

fn of(tasks: &[Task], config: Config) -> Accumulator {
    let mut accumulator = Accumulator::new(config);
    for (worker, start_ns, end_ns, name) in tasks {
        let (worker, start_ns, end_ns, name) = (*worker, *start_ns, *end_ns, name.as_bytes());
        accumulator.span(&Span { worker, start_ns, end_ns, name, ..Span::default() });
    }
    accumulator
}

fn digest(tasks: &[Task]) -> Digest {
    of(tasks, Config::default()).finish(&Account::default())
}

fn pattern(digest: &Digest, name: PatternName) -> &Pattern {
    let found = digest.patterns.iter().find(|pattern| pattern.name == name);
    found.unwrap_or_else(|| panic!("{name} of {:#?}", digest.patterns))
}

/// Tasks of `length`, 2 % more or less, one after the other on each of the workers.
fn crowd(workers: u32, from: i64, to: i64, length: i64, name: &'static str) -> Vec<Task> {
    let mut tasks = Vec::new();
    for worker in 0..workers {
        let mut at = from;
        while at < to {
            let end = (at + length * (98 + (at / 1_000 + i64::from(worker)) % 5) / 100).min(to);
            tasks.push((worker, at, end, name));
            at = end + 1_000;
        }
    }
    tasks
}

/// A crowd of `map` up to 2 s, `reduce` alone on worker 2 up to 3 s, a crowd of `write` up to 6 s.
fn with_a_stage() -> Vec<Task> {
    let mut tasks = crowd(4, 0, 2 * S, 5 * MS, "map");
    tasks.extend(crowd(3, 2 * S, 3 * S, 60 * MS, "reduce").into_iter().filter(|task| task.0 == 2));
    tasks.extend(crowd(4, 3 * S, 6 * S, 5 * MS, "write"));
    tasks
}

fn is_near(range: (u64, u64), from: i64, to: i64, window: u64) {
    let near = |found: u64, truth: i64| found.abs_diff(truth as u64) <= window / 1_000;
    assert!(near(range.0, from) && near(range.1, to), "{range:?}");
}

#[test]
fn what_runs_alone_is_named_with_its_worker_and_its_time() {
    let digest = digest(&with_a_stage());
    let serial = pattern(&digest, PatternName::SerialBottleneck);
    assert_eq!(digest.patterns[0].name, PatternName::SerialBottleneck);
    let [task] = serial.tasks.as_slice() else { panic!("{serial:#?}") };
    assert!(task.name == "reduce" && task.share > 0.97, "{task:?}");
    let [thread] = serial.threads.as_slice() else { panic!("{serial:#?}") };
    assert!(thread.worker == 2 && thread.share > 0.97, "{thread:?}");
    let [range] = serial.when.as_slice() else { panic!("{serial:#?}") };
    is_near((range.from_ns, range.to_ns), 2 * S, 3 * S, digest.window_ns);
    assert!(range.share > 0.97 && !serial.all_along);
}

#[test]
fn what_is_awaited_at_the_end_is_named() {
    let mut tasks = crowd(4, 0, 4 * S, 5 * MS, "quick");
    tasks.retain(|task| task.0 != 1 || task.2 < 3 * S);
    tasks.push((1, 3 * S, 6 * S, "slow"));
    let digest = digest(&tasks);
    let straggler = pattern(&digest, PatternName::StragglerTasks);
    assert!(straggler.tasks[0].name == "slow" && straggler.tasks[0].share > 0.97, "{straggler:#?}");
    assert_eq!(straggler.threads.iter().map(|thread| thread.worker).collect::<Vec<_>>(), [1]);
    let [range] = straggler.when.as_slice() else { panic!("{straggler:#?}") };
    is_near((range.from_ns, range.to_ns), 4 * S, 6 * S, digest.window_ns);
}

#[test]
fn two_causes_of_waiting_have_each_their_own_culprits() {
    let mut tasks = with_a_stage();
    tasks.retain(|task| task.0 != 1 || task.2 < 5 * S);
    tasks.push((1, 5 * S, 8 * S, "slow"));
    let digest = digest(&tasks);
    for (name, culprit, worker, from, to) in [
        (PatternName::SerialBottleneck, "reduce", 2, 2 * S, 3 * S),
        (PatternName::StragglerTasks, "slow", 1, 6 * S, 8 * S),
    ] {
        let pattern = pattern(&digest, name);
        assert_eq!(pattern.tasks.iter().map(|task| &*task.name).collect::<Vec<_>>(), [culprit]);
        assert_eq!(pattern.threads.iter().map(|thread| thread.worker).collect::<Vec<_>>(), [worker]);
        let [range] = pattern.when.as_slice() else { panic!("{pattern:#?}") };
        is_near((range.from_ns, range.to_ns), from, to, digest.window_ns);
    }
}

#[test]
fn a_tail_of_a_worker_with_more_tasks_than_others_is_its_own() {
    let mut tasks = crowd(4, 0, 2 * S, 5 * MS, "step");
    tasks.extend(crowd(1, 2 * S + 1_000, 5 * S, 5 * MS, "step"));
    let digest = digest(&tasks);
    let first = &digest.patterns[0];
    assert_eq!(first.threads.iter().map(|thread| thread.worker).collect::<Vec<_>>(), [0], "{first:#?}");
    assert_eq!(first.tasks[0].name, "step");
    is_near((first.when[0].from_ns, first.when[0].to_ns), 2 * S, 5 * S, digest.window_ns);
}

#[test]
fn tasks_inside_others_are_named_and_not_what_holds_them() {
    let mut tasks = vec![(2, 0, 6 * S, "main")];
    tasks.extend(with_a_stage());
    let digest = digest(&tasks);
    let serial = pattern(&digest, PatternName::SerialBottleneck);
    assert!(serial.tasks[0].name == "reduce" && serial.tasks[0].share > 0.97, "{serial:#?}");
}

#[test]
fn what_ran_before_a_pause_is_named() {
    let mut tasks = crowd(2, 0, S, 5 * MS, "request");
    tasks.extend(crowd(2, 3 * S, 4 * S, 5 * MS, "answer"));
    let digest = digest(&tasks);
    let outside = pattern(&digest, PatternName::OutsideRun);
    assert_eq!(outside.tasks.iter().map(|task| &*task.name).collect::<Vec<_>>(), ["request"]);
    is_near((outside.when[0].from_ns, outside.when[0].to_ns), S, 3 * S, digest.window_ns);
}

#[test]
fn overhead_everywhere_is_all_along_and_names_the_tasks_that_are_most() {
    let mut tasks = Vec::new();
    for at in 0..40_000i64 {
        let start = at * 4_000;
        let name = if at % 4 == 0 { "rare" } else { "tick" };
        tasks.extend((0..2).map(|worker| {
            (
                worker,
                start + i64::from(worker) * 1_300,
                start + i64::from(worker) * 1_300 + 1_500 + at % 7,
                name,
            )
        }));
    }
    let digest = digest(&tasks);
    let overhead = &digest.patterns[0];
    assert_eq!(overhead.name, PatternName::SchedulingOverhead);
    assert!(overhead.all_along && overhead.when.is_empty() && overhead.threads.is_empty());
    let names: Vec<_> = overhead.tasks.iter().map(|task| (&*task.name, task.share)).collect();
    assert_eq!(names, [("tick", 0.75), ("rare", 0.25)]);
}

#[test]
fn tasks_without_names_have_none() {
    let nameless: Vec<Task> = with_a_stage().into_iter().map(|task| (task.0, task.1, task.2, "")).collect();
    let digest = digest(&nameless);
    assert!(digest.patterns.iter().all(|pattern| pattern.tasks.is_empty()));
    assert_eq!(digest.patterns[0].threads[0].worker, 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Spans come in any order of workers, by start or by end, in one accumulator or in one for
    /// each group of workers.
    #[test]
    fn culprits_depend_neither_on_order_nor_on_division(
        steps in proptest::collection::vec(
            proptest::collection::vec((0i64..3, 0u32..12, 1i64..40, 0usize..4), 1..80), 2..6),
        by_end in any::<bool>(),
        parts in 1u32..4,
        backwards in any::<bool>(),
    ) {
        const NAMES: [&str; 4] = ["map", "reduce", "", "write"];
        let mut tasks = Vec::new();
        for (worker, steps) in steps.into_iter().enumerate() {
            let mut at = 0;
            for (gap, scale, length, name) in steps {
                let start = at + gap * (length << scale) / 2;
                at = start + (length << scale) * 100;
                tasks.push((worker as u32, start, at, NAMES[name]));
            }
        }
        let config = Config { points: 256, ..Config::default() };
        let whole = of(&tasks, config).finish(&Account::default());
        if by_end {
            tasks.sort_by_key(|task| task.2);
        } else {
            tasks.sort_by_key(|task| task.1);
        }
        let mut order: Vec<u32> = (0..parts).collect();
        if backwards {
            order.reverse();
        }
        let mut merged = Accumulator::new(config);
        for part in order {
            let own: Vec<Task> = tasks.iter().copied().filter(|task| task.0 % parts == part).collect();
            merged.merge(&of(&own, config));
        }
        let merged = merged.finish(&Account::default());
        prop_assert_eq!(&merged, &whole);
        for pattern in &whole.patterns {
            let held: f64 = pattern.when.iter().map(|range| range.share).sum();
            prop_assert!(pattern.tasks.len() <= 3 && pattern.threads.len() <= 3 && pattern.when.len() <= 3);
            prop_assert!(pattern.tasks.iter().map(|task| task.share).sum::<f64>() <= 1.0 + 1e-9);
            prop_assert!(held <= 1.0 + 1e-9 && !(pattern.all_along && held > 0.0));
            prop_assert!(pattern.when.is_sorted_by(|a, b| a.from_ns < a.to_ns && a.to_ns <= b.from_ns));
            prop_assert!(pattern.when.iter().all(|range| range.to_ns <= whole.window_ns));
        }
    }
}

/// Worker 0 makes the tasks of eight others, which work for half of the time each: it holds them up
/// while some four of them are active.
#[test]
fn one_worker_that_all_others_wait_for_is_named_though_it_is_never_alone() {
    let mut tasks = Vec::new();
    for at in 0..4_000i64 {
        let made = (at + 1) * 20_000;
        tasks.push((0, made - 20_000, made - 100, "make"));
        tasks.push((1 + (at % 8) as u32, made, made + 10_000 + at * 7_919 % 140_000, "work"));
    }
    let digest = digest(&tasks);
    let serial = &digest.patterns[0];
    assert_eq!(serial.name, PatternName::SerialBottleneck, "{:#?}", digest.patterns);
    assert!(
        serial.evidence.starts_with("workers wait for 4") && serial.evidence.contains("busy"),
        "{serial:?}"
    );
    assert!(serial.remedy.contains("each task that others wait for"), "{serial:?}");
    assert!(serial.all_along && serial.when.is_empty(), "{serial:?}");
    assert_eq!((serial.tasks[0].name.as_str(), serial.tasks.len()), ("make", 1), "{serial:?}");
    assert_eq!((serial.threads[0].worker, serial.threads.len()), (0, 1), "{serial:?}");
}

/// A worker with a task after the other, and two that have a short one now and then.
#[test]
fn a_worker_that_never_waits_is_awaited_however_the_few_tasks_of_the_others_come() {
    for busy in [400_000, MS, 2 * MS] {
        let mut tasks = crowd(1, 0, 5 * S, MS, "work");
        for worker in [1, 2] {
            let starts = (0..250).map(|tick| tick * 20 * MS + (tick * 7 + i64::from(worker)) % 5 * MS);
            tasks.extend(starts.map(|start| (worker, start, start + busy, "tick")));
        }
        let digest = digest(&tasks);
        let first = &digest.patterns[0];
        let names = [PatternName::SerialBottleneck, PatternName::LoadImbalance];
        assert!(names.contains(&first.name), "{busy}: {:?}", first.name);
        assert_eq!(first.threads[0].worker, 0, "{busy}: {first:#?}");
    }
}
