//! What users of an observer see: exact counts, at any moment, from any thread.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use taskscale_live::{Clock, Observer, Options, SetClock, shared::ENTRIES};
use taskscale_model::digest::Digest;
use taskscale_sys::ticks::Rate;

fn dropped(digest: &Digest) -> Vec<(&str, u64)> {
    digest.dropped.dropped.iter().map(|dropped| (dropped.reason.as_str(), dropped.events)).collect()
}

/// Options with a clock of nanoseconds that a test sets.
fn timeless(workers: u32, source: &str) -> Options {
    let clock = Clock::Set(SetClock::new(Rate::of_ns_per_4g(1 << 32)));
    Options { workers: Some(workers), source: source.into(), clock, ..Options::default() }
}

#[test]
fn every_task_counts_whether_it_is_still_in_the_buffer_or_not() {
    for tasks in [1, ENTRIES as u64 - 1, ENTRIES as u64, ENTRIES as u64 + 1, 1_000] {
        let observer = Observer::new(Options::default());
        let worker = observer.worker(0);
        for _ in 0..tasks {
            worker.begin();
            worker.end(b"");
        }
        assert_eq!(observer.digest().tasks, tasks);
        assert_eq!(observer.digest().tasks, tasks, "looking changes nothing");
    }
}

#[test]
fn times_are_those_of_the_clock() {
    let observer = Observer::new(timeless(2, "test"));
    let worker = observer.worker(0);
    for task in 0..100 {
        worker.begin_at(task * 2_000);
        worker.end_at(task * 2_000 + 1_500, if task % 4 == 0 { b"load" } else { b"solve" });
    }
    let digest = observer.digest();
    assert_eq!((digest.tasks, digest.workers, digest.dropped.format.as_str()), (100, 2, "live test"));
    assert_eq!(digest.window_ns, 199_500);
    let duration = digest.duration.value().expect("durations");
    assert!((duration.mean - 1_500.0).abs() < 1e-9, "{duration:?}");
    assert_eq!(digest.names.top[0].name, "solve");
    assert_eq!(digest.names.top[0].tasks, 75);
}

#[test]
fn tasks_inside_others_are_not_busy_time_twice() {
    let observer = Observer::new(timeless(1, ""));
    let worker = observer.worker(0);
    let at = |us: u64| us * 1_000;
    worker.begin_at(at(0));
    for child in 0..5 {
        worker.begin_at(at(10 * child));
        worker.end_at(at(10 * child + 8), b"child");
    }
    worker.end_at(at(100), b"parent");
    worker.begin_at(at(100));
    worker.end_at(at(200), b"next");
    let digest = observer.digest();
    assert_eq!((digest.tasks, digest.nesting.nested), (7, 5));
    assert!(digest.losses.work > 0.999 && digest.losses.work < 1.001, "{:?}", digest.losses);
}

#[test]
fn a_parent_of_any_number_of_children_has_its_own_time() {
    let observer = Observer::new(timeless(1, ""));
    let worker = observer.worker(0);
    let at = |us: u64| us * 1_000;
    worker.begin_at(at(0));
    for child in 0..300 {
        worker.begin_at(at(10 * child));
        worker.begin_at(at(10 * child + 1));
        worker.end_at(at(10 * child + 3), b"grandchild");
        worker.end_at(at(10 * child + 8), b"child");
    }
    worker.end_at(at(3_000), b"parent");
    let digest = observer.digest();
    assert_eq!((digest.tasks, digest.nesting.nested, digest.nesting.depth), (601, 600, 2));
    // 3,000 us less 300 grandchildren of 2 us each.
    let own = *digest.nesting.parent_self.value().expect("all are placed");
    assert!((own - 0.8).abs() < 0.001, "{own}");
}

#[test]
fn unbalanced_calls_are_counted_and_harm_nothing() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    worker.end(b"stray");
    for _ in 0..20 {
        worker.begin();
    }
    for _ in 0..20 {
        worker.end(b"deep");
    }
    let digest = observer.digest();
    assert_eq!(digest.tasks, 16);
    assert_eq!(dropped(&digest), [("inside 16 others", 4), ("end without a begin", 1)]);
}

#[test]
fn what_is_open_counts_up_to_now_and_is_named() {
    let observer = Observer::new(Options::default());
    observer.worker(3).begin();
    let digest = observer.digest();
    assert_eq!(digest.tasks, 1);
    assert!(
        digest.dropped.notes.iter().any(|note| note.contains("1 tasks were still running")),
        "{digest:?}"
    );
    observer.worker(3).end(b"");
    let notes = observer.digest().dropped.notes;
    assert!(!notes.iter().any(|note| note.contains("running")), "{notes:?}");
}

#[test]
fn clearing_forgets_and_cuts_what_is_open() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    for _ in 0..100 {
        worker.begin();
        worker.end(b"before");
    }
    worker.begin();
    observer.clear();
    assert_eq!(observer.digest().tasks, 0);
    worker.end(b"cut");
    worker.begin();
    worker.end(b"after");
    let digest = observer.digest();
    assert_eq!(digest.tasks, 1);
    assert_eq!(digest.names.top[0].name, "after");
    assert_eq!(dropped(&digest), [("open when the observer was cleared", 1)]);
}

#[test]
fn more_names_than_a_buffer_can_number_are_told_apart_all_the_same() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    for round in 0..3 {
        for name in 0..14 {
            worker.begin();
            worker.end(format!("n{name}").as_bytes());
        }
        for _ in 0..20 {
            worker.begin();
            worker
                .end(format!("r{round}-a-name-that-is-longer-than-forty-eight-bytes-and-is-cut").as_bytes());
        }
    }
    let digest = observer.digest();
    assert_eq!(digest.tasks, 3 * 34);
    let counted: u64 = digest.names.top.iter().map(|name| name.tasks).sum();
    assert!((20..=102).contains(&counted), "{:?}", digest.names);
}

#[test]
fn memory_of_a_worker_is_fixed_and_small() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    let run = |tasks: u32| {
        for task in 0..tasks {
            worker.begin();
            worker.end(if task % 3 == 0 { b"named" } else { b"" });
        }
        observer.bytes()
    };
    let few = run(1_000);
    assert_eq!(run(1_000_000), few);
    assert!(few <= 16 << 10, "{few} bytes");
}

#[test]
fn a_digest_may_be_taken_while_workers_run() {
    let observer = Observer::new(Options::default());
    let stop = AtomicBool::new(false);
    let mut seen = Vec::new();
    let done: u64 = thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|index| {
                let (worker, stop) = (observer.worker(index), &stop);
                scope.spawn(move || {
                    let mut tasks = 0;
                    while !stop.load(Relaxed) || tasks < 1_000 {
                        worker.begin();
                        worker.end(b"");
                        tasks += 1;
                    }
                    tasks
                })
            })
            .collect();
        for _ in 0..50 {
            seen.push(observer.digest().tasks);
        }
        stop.store(true, Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });
    assert_eq!(observer.digest().tasks, done, "none is lost, none counts twice");
    // An open task counts, so a task may be seen that is gone a moment later.
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1] + 2), "{seen:?}");
}
