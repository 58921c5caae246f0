//! Queue delays and the division of idle time where ready times are known: against timelines with a
//! known truth, and in any order.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Digest, PatternName, Queue, QueueShares},
    span::{Account, Span, SpanSink},
};

/// Worker, ready time, start, end.
type Task = (u32, Option<i64>, i64, i64);

fn accumulate(tasks: impl IntoIterator<Item = Task>, config: Config) -> Accumulator {
    let mut sums = Accumulator::new(config);
    for (worker, ready_ns, start_ns, end_ns) in tasks {
        sums.span(&Span { worker, start_ns, end_ns, ready_ns, ..Span::default() });
    }
    sums
}

fn digest(tasks: &[Task]) -> Digest {
    accumulate(tasks.iter().copied(), Config::default()).finish(&Account::default())
}

fn queue(tasks: &[Task]) -> Queue {
    digest(tasks).queue.value().expect("ready times are known").clone()
}

fn assert_shares(queue: &Queue, starved: f64, dispatch: f64, saturated: f64) {
    let found = queue.shares.value().expect("all are known");
    for (name, found, truth) in [
        ("starved", found.starved, starved),
        ("dispatch", found.dispatch, dispatch),
        ("saturated", found.saturated, saturated),
    ] {
        assert!((found - truth).abs() < 0.005, "{name} {found:.4}, {truth} is right");
    }
}

/// 1 ms.
const MS: i64 = 1_000_000;

/// Two workers. Worker 0 is busy all the time. In each period of 100 ms worker 1 is
/// * idle for 30 ms with no task waiting,
/// * idle for 20 ms while one waits for it,
/// * busy for 10 ms with no task waiting,
/// * busy for 40 ms while another waits.
fn periods() -> Vec<Task> {
    (0..10)
        .flat_map(|period| {
            let at = period * 100 * MS;
            [
                (0, Some(at), at, at + 100 * MS),
                (1, Some(at + 30 * MS), at + 50 * MS, at + 60 * MS),
                (1, Some(at + 60 * MS), at + 60 * MS, at + 99 * MS),
                (1, Some(at + 60 * MS), at + 99 * MS, at + 100 * MS),
            ]
        })
        .collect()
}

#[test]
fn a_timeline_of_known_shares_has_them() {
    let queue = queue(&periods());
    assert_shares(&queue, 0.15, 0.10, 0.39);
    assert_eq!((queue.delay.count, queue.delay.min, queue.delay.max), (40, 0, 39 * MS as u64));
    assert_eq!(queue.delay.mean, (20 + 39) as f64 * MS as f64 / 4.0);
    assert!((queue.delay.p90 as f64 / (39 * MS) as f64 - 1.0).abs() < 0.125);
    assert_eq!(queue.known, 1.0);
}

#[test]
fn starved_and_dispatch_are_all_time_outside_tasks() {
    let digest = digest(&periods());
    let shares = *digest.queue.value().and_then(|queue| queue.shares.value()).expect("known");
    assert!((shares.starved + shares.dispatch + digest.losses.work - 1.0).abs() < 1e-12);
}

#[test]
fn a_queue_that_is_full_from_before_the_window_on_is_seen() {
    // 100 tasks of 10 ms are submitted at once, and workers come up 2 s later.
    let tasks: Vec<Task> = (0..100)
        .map(|task| {
            let start = 2_000 * MS + task / 4 * 10 * MS;
            ((task % 4) as u32, Some(0), start, start + 10 * MS)
        })
        .collect();
    // The last four start 10 ms before the end.
    assert_shares(&queue(&tasks), 0.0, 0.0, 24.0 / 25.0);
}

#[test]
fn where_others_may_wait_unseen_idle_time_is_not_divided() {
    let mut tasks = periods();
    tasks.iter_mut().step_by(4).for_each(|task| task.1 = None);
    let queue = queue(&tasks);
    assert_eq!((queue.known, queue.delay.count), (0.75, 30));
    let why = queue.shares.why().expect("too few");
    assert!(why.reason.starts_with("ready times of 75 %"), "{why:?}");
    // A live observer has no such options.
    assert!(why.remedy.starts_with("observe only") && why.remedy.contains("in a trace"), "{why:?}");
}

#[test]
fn without_a_ready_time_there_is_no_queue() {
    let tasks = periods().into_iter().map(|(worker, _, start, end)| (worker, None, start, end));
    let digest = accumulate(tasks, Config::default()).finish(&Account::default());
    assert!(digest.queue.why().expect("nothing is known").reason.contains("does not tell"));
}

#[test]
fn a_task_that_another_one_calls_is_not_missed() {
    let tasks = periods();
    let mut sums = accumulate(tasks.iter().copied(), Config::default());
    let called = tasks.iter().map(|(worker, _, start, end)| (*worker, start + 1, end - 1));
    sums.merge(&Accumulator::new(Config::default()));
    for (worker, start_ns, end_ns) in called {
        let mut both = Accumulator::new(Config::default());
        both.span(&Span { worker, start_ns, end_ns, ..Span::default() });
        sums.merge(&both);
    }
    let queue = sums.finish(&Account::default()).queue;
    assert_eq!(queue.value().map(|queue| queue.known), Some(0.5));
}

#[test]
fn a_ready_time_that_is_wrong_leaves_all_else_as_it_is() {
    let (right, mut tasks) = (digest(&periods()), periods());
    tasks[7].1 = Some(i64::MIN);
    let wrong = digest(&tasks);
    assert_eq!((wrong.losses, &wrong.parallelism), (right.losses, &right.parallelism));
    let queue = wrong.queue.value().expect("known");
    assert!(queue.shares.why().expect("too few points").reason.contains("so long before"));
}

#[test]
fn ready_times_count_alike_with_the_span_and_apart_from_it() {
    let mut apart = Accumulator::new(Config::default());
    for (worker, ready, start_ns, end_ns) in periods() {
        apart.ready(ready.expect("known"), start_ns);
        apart.span(&Span { worker, start_ns, end_ns, ..Span::default() });
    }
    assert_eq!(apart.finish(&Account::default()), digest(&periods()));
}

/// One task after the other on each worker, ready some time before or behind its start.
fn flat() -> impl Strategy<Value = Vec<Task>> {
    let step = (0i64..5_000, 1i64..9_000, proptest::option::of(-2_000i64..40_000));
    proptest::collection::vec(proptest::collection::vec(step, 1..100), 1..5).prop_map(|workers| {
        let mut tasks = Vec::new();
        for (worker, steps) in workers.into_iter().enumerate() {
            let mut at = 0;
            for (gap, duration, delay) in steps {
                let start = at + gap;
                at = start + duration;
                tasks.push((worker as u32, delay.map(|delay| start - delay), start, at));
            }
        }
        tasks
    })
}

/// The exact shares, moment by moment from event to event.
fn exact(tasks: &[Task], workers: i64) -> QueueShares {
    let mut events: Vec<(i64, i64, i64)> = Vec::new();
    for (_, ready, start, end) in tasks {
        events.extend([(*start, 1, 0), (*end, -1, 0)]);
        events.extend(
            ready
                .filter(|ready| ready < start)
                .into_iter()
                .flat_map(|ready| [(ready, 0, 1), (*start, 0, -1)]),
        );
    }
    events.sort_unstable();
    let first = tasks.iter().map(|task| task.2).min().expect("not empty");
    let last = tasks.iter().map(|task| task.3).max().expect("not empty");
    let (mut busy, mut waiting, mut before) = (0, 0, i64::MIN / 4);
    let mut shares = QueueShares { starved: 0.0, dispatch: 0.0, saturated: 0.0 };
    for (at, of_busy, of_waiting) in events {
        let time = (at.clamp(first, last) - before.clamp(first, last)) as f64 / (last - first) as f64;
        let idle = workers - busy;
        shares.dispatch += time * idle.min(waiting) as f64 / workers as f64;
        shares.starved += time * (idle - idle.min(waiting)) as f64 / workers as f64;
        shares.saturated += time * f64::from(u8::from(idle == 0 && waiting > 0));
        (busy, waiting, before) = (busy + of_busy, waiting + of_waiting, at);
    }
    shares
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_division_among_accumulators_change_nothing(tasks in flat(), parts in 1usize..6, seed in any::<u64>()) {
        let config = Config { points: 128, ..Config::default() };
        let whole = accumulate(tasks.iter().copied(), config).finish(&Account::default()).queue;
        let mut shuffled = tasks.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let mut merged = Accumulator::new(config);
        for part in 0..parts {
            let own = shuffled.iter().copied().skip(part).step_by(parts);
            merged.merge(&accumulate(own, config));
        }
        let merged = merged.finish(&Account::default()).queue;
        match (whole.value(), merged.value()) {
            (Some(whole), Some(merged)) => {
                prop_assert_eq!((&whole.delay, whole.known), (&merged.delay, merged.known));
                // Spans of a worker that are divided may count gaps as they did not; time in tasks
                // is the same.
                prop_assert_eq!(&whole.shares, &merged.shares);
            }
            (None, None) => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn shares_are_within_four_standard_errors(tasks in flat()) {
        let tasks: Vec<Task> =
            tasks.into_iter().map(|(worker, ready, start, end)| (worker, ready.or(Some(start)), start, end)).collect();
        let workers = i64::from(tasks.iter().map(|task| task.0).max().expect("not empty")) + 1;
        let queue = queue(&tasks);
        if let Some(found) = queue.shares.value() {
            let truth = exact(&tasks, workers);
            for (found, truth) in [
                (found.starved, truth.starved),
                (found.dispatch, truth.dispatch),
                (found.saturated, truth.saturated),
            ] {
                // At least 256 points lie in the window, unless the first wait is several times as
                // long as it.
                prop_assert!((found - truth).abs() < 2.0 / 16.0, "{found} {truth}");
            }
        }
    }
}

/// Four workers with tasks of 100 us and 150 us between them, out of step. The tasks are ready
/// `before` their starts.
fn with_gaps(before: i64) -> Vec<Task> {
    let us = 1_000;
    let one = |at: i64, worker: i64| {
        let start = (at * 250 + worker * 61) * us;
        (worker as u32, Some(start - before), start, start + 100 * us)
    };
    (0..2_000).flat_map(|at| (0..4).map(move |worker| one(at, worker))).collect()
}

#[test]
fn idle_time_is_the_runtimes_if_tasks_wait_and_is_not_if_none_does() {
    use PatternName::{SchedulingOverhead, TooLittleReady};
    let late = digest(&with_gaps(150_000));
    assert_eq!(late.patterns[0].name, SchedulingOverhead, "{:?}", late.patterns);
    assert!((late.patterns[0].share - 0.6).abs() < 0.01 && late.alternative.is_none());
    let starved = digest(&with_gaps(0));
    assert_ne!(starved.patterns[0].name, SchedulingOverhead);
    assert!(starved.alternative.is_none_or(|other| other.name != SchedulingOverhead));
    // Spans alone do not tell.
    let unknown: Vec<Task> = with_gaps(0).into_iter().map(|task| (task.0, None, task.2, task.3)).collect();
    assert_eq!(digest(&unknown).patterns[0].name, TooLittleReady);
}

#[test]
fn tasks_that_wait_for_a_busy_worker_while_others_are_idle_are_unevenly_divided() {
    let mut tasks: Vec<Task> = (0..1_000).map(|at| (0, Some(0), at * MS, (at + 1) * MS)).collect();
    // Worker 1 has a tenth of the tasks, each in its turn.
    tasks.extend((0..100).map(|at| (1, Some(at * 10 * MS), at * 10 * MS, (at * 10 + 1) * MS)));
    assert_eq!(digest(&tasks).patterns[0].name, PatternName::LoadImbalance);
}

#[test]
fn a_stop_of_all_workers_while_tasks_wait_is_outside_of_them() {
    // 2 us between tasks of 1 ms, and 30 ms behind each fiftieth.
    let one = |at: i64, worker: u32| {
        let start = at * (MS + 2_000) + at / 50 * 30 * MS;
        (worker, Some(0), start, start + MS)
    };
    let tasks: Vec<Task> = (0..1_000).flat_map(|at| [one(at, 0), one(at, 1), one(at, 2)]).collect();
    assert_eq!(digest(&tasks).patterns[0].name, PatternName::OutsideRun);
}
