//! Time inside tasks in which their threads did not run, and time of spans without those inside.

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Digest, OffCpu, PatternName},
    missing::Reading,
    span::{Account, Depth, Span, SpanSink},
};

/// Worker, start, end, name, CPU time.
type Task = (u32, i64, i64, &'static [u8], Option<u64>);

fn sums(tasks: &[Task]) -> Accumulator {
    let mut sums = Accumulator::new(Config::default());
    for &(worker, start_ns, end_ns, name, cpu_ns) in tasks {
        sums.span(&Span { worker, start_ns, end_ns, name, cpu_ns, ..Span::default() });
    }
    sums
}

fn digest(tasks: &[Task]) -> Digest {
    sums(tasks).finish(&Account::default())
}

/// Name, own time and all time, by own time.
fn names(digest: &Digest) -> Vec<(&str, u64, u64)> {
    digest.names.top.iter().map(|name| (name.name.as_str(), name.own_ns, name.total_ns)).collect()
}

/// The parent ran for 10 of the 30 ns outside of its children, `run` all the time, `wait` never.
const FAMILY: [Task; 4] = [
    (0, 0, 100, b"parent", Some(40)),
    (0, 10, 40, b"run", Some(30)),
    (0, 50, 90, b"wait", Some(0)),
    (1, 0, 100, b"other", Some(100)),
];

#[test]
fn a_spans_own_time_is_on_or_off_the_cpu_in_any_order() {
    let sorted = digest(&FAMILY);
    let expected = OffCpu { share: 0.3, parents: 0.1, known: 1.0 };
    assert_eq!(sorted.off_cpu, Reading::Value(expected));
    let own = [("other", 100, 100), ("wait", 40, 40), ("parent", 30, 100), ("run", 30, 30)];
    assert_eq!(names(&sorted), own);
    assert_eq!((sorted.names.top[0].share, sorted.names.other_ns), (0.5, 0));
    for order in [[1, 2, 0, 3], [3, 2, 1, 0], [2, 3, 0, 1]] {
        assert_eq!(digest(&order.map(|at: usize| FAMILY[at])), sorted, "{order:?}");
    }
}

#[test]
fn a_live_observers_names_have_own_time_as_well() {
    let mut sums = Accumulator::new(Config::observer());
    let mut known = |start_ns, end_ns, name, level, leaf| {
        let depth = Depth::Level(level);
        sums.known(&Span { start_ns, end_ns, name, depth, ..Span::default() }, level, leaf);
    };
    known(20, 30, b"leaf", 2, true);
    known(10, 40, b"middle", 1, false);
    known(50, 90, b"leaf", 1, true);
    known(0, 100, b"outer", 0, false);
    known(200, 260, b"outer", 0, true);
    let digest = sums.finish(&Account::default());
    assert_eq!(names(&digest), [("outer", 90, 160), ("leaf", 50, 50), ("middle", 20, 30)]);
}

#[test]
fn a_span_of_no_length_makes_no_parent() {
    let tasks: [Task; 3] =
        [(0, 0, 0, b"mark", None), (0, 0, 100, b"task", Some(60)), (0, 50, 50, b"mark", None)];
    let found = digest(&tasks);
    assert_eq!((found.tasks, found.nesting.nested, found.nesting.parent_self), (3, 0, Reading::Value(0.0)));
    assert_eq!(found.off_cpu.value().map(|off| (off.share, off.parents)), Some((0.4, 0.0)));
}

#[test]
fn what_is_not_told_is_not_known() {
    let mut tasks = FAMILY;
    // The parent's own part is not known without its child's.
    tasks[1].4 = None;
    assert_eq!(digest(&tasks).off_cpu, Reading::Value(OffCpu { share: 0.2, parents: 0.0, known: 0.7 }));
    // No task runs for longer than it lasts.
    tasks[3].4 = Some(1_000);
    assert_eq!(digest(&tasks).off_cpu.value().map(|off| off.share), Some(0.2));
    assert!(digest(&tasks.map(|task| (task.0, task.1, task.2, task.3, None))).off_cpu.value().is_none());
}

/// Two workers with tasks of 1 ms, for 200 ms. Each runs for `cpu` of its time.
fn two_workers(cpu: f64) -> Vec<Task> {
    let one = |at: i64, worker| {
        let ns = 1_000_000;
        (worker, at * ns, (at + 1) * ns, &b"handle"[..], Some((cpu * ns as f64) as u64))
    };
    (0..200).flat_map(|at| [one(at, 0), one(at, 1)]).collect()
}

#[test]
fn tasks_that_wait_inside_are_no_work() {
    let found = digest(&two_workers(0.6));
    assert_eq!(found.patterns[0].name, PatternName::BlockedInTasks);
    assert!((found.patterns[0].share - 0.4).abs() < 1e-9, "{found:?}");
    assert_eq!(found.patterns[0].tasks[0].name, "handle");
    // A lock and another program look alike, and no change is sure to help.
    assert_eq!(found.alternative.map(|other| other.name), Some(PatternName::Preempted));
    assert_eq!((found.patterns[0].predicted.to, &found.patterns[0].change), (1.0, &None));
    assert_eq!(digest(&two_workers(0.95)).patterns[0].name, PatternName::Healthy);
    let unknown =
        two_workers(0.6).into_iter().map(|(worker, start, end, name, _)| (worker, start, end, name, None));
    let unknown: Vec<Task> = unknown.collect();
    assert_eq!(digest(&unknown).patterns[0].name, PatternName::Healthy);
}

#[test]
fn run_delay_is_no_waiting_of_the_tasks() {
    let mut sums = sums(&two_workers(0.6));
    sums.preempted(true, 160_000_000);
    let digest = sums.finish(&Account::default());
    assert_eq!(digest.patterns[0].name, PatternName::Preempted, "{:?}", digest.patterns);
    assert!(digest.patterns.iter().all(|pattern| pattern.name != PatternName::BlockedInTasks));
}

#[test]
fn parents_wait_or_work_by_their_cpu_time() {
    let tree = |cpu| {
        let mut tasks = Vec::new();
        for at in 0..200i64 {
            let start = at * 1_000_000;
            for worker in 0..2 {
                tasks.push((worker, start, start + 1_000_000, &b"parent"[..], Some(cpu)));
                tasks.push((worker, start + 100_000, start + 300_000, b"child", Some(200_000)));
            }
        }
        tasks
    };
    let waiting = digest(&tree(250_000));
    assert_eq!(waiting.patterns[0].name, PatternName::RecursiveOverlap);
    assert_eq!(waiting.patterns[0].tasks[0].name, "parent");
    assert!((waiting.patterns[0].share - 0.75).abs() < 1e-9);
    let working = digest(&tree(1_000_000));
    assert_eq!((working.patterns[0].name, working.alternative), (PatternName::Healthy, None));
}

/// Live observers know the CPU time of tasks that contain no others, and not that of parents.
#[test]
fn parents_of_unknown_cpu_time_that_take_much_longer_may_wait() {
    let families = |alone_us: i64| {
        let mut tasks = Vec::new();
        for start in (0..200i64).map(|at| at * 10_000_000) {
            tasks.push((0, start, start + 1_000_000 + alone_us * 1_000, &b"parent"[..], None));
            tasks.push((0, start, start + 1_000_000, b"short", Some(1_000_000)));
            for part in (0..10).map(|part| start + part * 1_000_000) {
                tasks.push((1, part, part + 1_000_000, b"part", Some(1_000_000)));
            }
        }
        digest(&tasks)
    };
    let waiting = families(9_000);
    assert_eq!(waiting.patterns[0].name, PatternName::RecursiveOverlap, "{:?}", waiting.patterns);
    assert!((waiting.patterns[0].bound - 1.0 / 0.55).abs() < 0.01, "{:?}", waiting.patterns[0]);
    assert_eq!(waiting.alternative.map(|other| other.name), Some(PatternName::Healthy));
    assert!(waiting.nesting.naive_utilisation > 1.04, "{:?}", waiting.nesting);
    let working = families(2_000);
    assert!(working.patterns.iter().all(|pattern| pattern.name != PatternName::RecursiveOverlap));
}
