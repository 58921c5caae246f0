//! What users of an observed runtime see if tokio calls its hooks. No figure here depends on how
//! fast anything is.
#![cfg(tokio_unstable)]

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use taskscale_model::digest::Digest;
use taskscale_tokio::observe;
use tokio::{
    runtime::{Builder, LocalOptions},
    task::{block_in_place, spawn_blocking, yield_now},
};

fn count(digest: &Digest, name: &str) -> u64 {
    digest.names.top.iter().filter(|cost| cost.name.ends_with(name)).map(|cost| cost.tasks).sum()
}

/// `polls.rs:LINE`, where LINE is `lines` below the caller's.
#[track_caller]
fn line(lines: u32) -> String {
    format!("tests/polls.rs:{}", std::panic::Location::caller().line() + lines)
}

#[test]
fn every_poll_is_a_span_named_by_the_line_that_spawned_the_task() {
    for workers in [1, 2] {
        let (rt, live) =
            observe(Builder::new_multi_thread().worker_threads(workers)).build().expect("a runtime");
        let (yields, empty) = (line(2), line(7));
        rt.block_on(async {
            let task = tokio::spawn(async {
                yield_now().await;
                yield_now().await;
            });
            task.await.expect("no panic");
            tokio::spawn(async {}).await.expect("no panic");
        });
        drop(rt);
        let digest = live.digest();
        assert_eq!((digest.tasks, digest.workers), (4, workers as u64));
        assert_eq!(count(&digest, &yields), 3, "{:?}", digest.names);
        assert_eq!(count(&digest, &empty), 1, "{:?}", digest.names);
        assert_eq!(digest.dropped.format, "live tokio");
        assert_eq!(digest.dropped.dropped, []);
    }
}

#[test]
fn a_current_thread_runtime_is_one_worker_whichever_thread_drives_it() {
    let (rt, live) = observe(&mut Builder::new_current_thread()).build().expect("a runtime");
    let spawn = || rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    spawn();
    thread::scope(|scope| scope.spawn(spawn).join().expect("no panic"));
    spawn();
    let digest = live.digest();
    assert_eq!((digest.tasks, digest.workers, digest.workers_detail.active), (3, 1, 1));
}

#[test]
fn a_local_runtime_is_observed_and_a_local_set_is_not() {
    let (rt, live) =
        observe(&mut Builder::new_current_thread()).build_local(LocalOptions::default()).expect("a runtime");
    rt.block_on(async { tokio::task::spawn_local(async {}).await.expect("no panic") });
    assert_eq!(live.digest().tasks, 1);

    let (rt, live) = observe(&mut Builder::new_current_thread()).build().expect("a runtime");
    let set = tokio::task::LocalSet::new();
    set.block_on(&rt, async { tokio::task::spawn_local(async {}).await.expect("no panic") });
    let digest = live.digest();
    assert_eq!(digest.tasks, 0);
    assert!(digest.notes.iter().any(|note| note.contains("LocalSet")), "{:?}", digest.notes);
}

#[test]
fn a_poll_that_panics_ends() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(1)).build().expect("a runtime");
    rt.block_on(async {
        // A `panic!` would print its message among those of the tests.
        let task = tokio::spawn(async { std::panic::resume_unwind(Box::new("meant")) });
        assert!(task.await.is_err_and(|error: tokio::task::JoinError| error.is_panic()));
        tokio::spawn(async {}).await.expect("no panic");
    });
    drop(rt);
    let digest = live.digest();
    assert_eq!((digest.tasks, digest.nesting.nested), (2, 0));
}

#[test]
fn hooks_of_the_user_are_called_around_ours() {
    let calls = Arc::new(AtomicU64::new(0));
    let (before, after) = (calls.clone(), calls.clone());
    let (rt, live) = observe(&mut Builder::new_current_thread())
        .on_before_task_poll(move |_| {
            before.fetch_add(1, Relaxed);
        })
        .on_after_task_poll(move |_| {
            after.fetch_add(1_000, Relaxed);
        })
        .build()
        .expect("a runtime");
    rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    assert_eq!((calls.load(Relaxed), live.digest().tasks), (1_001, 1));
}

#[test]
fn what_is_not_polled_by_a_worker_is_not_counted() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(1)).build().expect("a runtime");
    rt.block_on(async { spawn_blocking(|| ()).await.expect("no panic") });
    drop(rt);
    let digest = live.digest();
    assert_eq!(digest.tasks, 0);
    assert!(digest.notes.iter().any(|note| note.contains("spawn_blocking")), "{:?}", digest.notes);
}

#[test]
fn a_worker_that_block_in_place_gives_away_goes_on_elsewhere() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(1)).build().expect("a runtime");
    let met = Arc::new(Barrier::new(2));
    let theirs = met.clone();
    rt.block_on(async move {
        // The only worker is given away. Otherwise the second task would never be polled and the
        // two would never meet.
        let first = tokio::spawn(async move {
            tokio::spawn(async move { theirs.wait() });
            block_in_place(|| met.wait());
        });
        first.await.expect("no panic");
        for _ in 0..10 {
            tokio::spawn(async {}).await.expect("no panic");
        }
    });
    drop(rt);
    let digest = live.digest();
    assert_eq!((digest.workers, digest.workers_detail.active, digest.nesting.nested), (1, 1, 0));
    assert_eq!(count(&digest, "(until block_in_place)"), 1, "{:?}", digest.names);
    assert_eq!(digest.tasks, 12, "{digest:?}");
    assert_eq!(digest.dropped.dropped, []);
}

#[test]
fn two_runtimes_in_one_thread_are_told_apart() {
    let runtime = || observe(&mut Builder::new_current_thread()).build().expect("a runtime");
    let ((first, of_first), (second, of_second)) = (runtime(), runtime());
    for round in 0..10 {
        first.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
        if round % 2 == 0 {
            second.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
        }
    }
    assert_eq!((of_first.digest().tasks, of_second.digest().tasks), (10, 5));
}

#[test]
fn a_second_runtime_of_the_same_builder_is_not_observed_and_keeps_the_hooks_of_the_user() {
    let calls = Arc::new(AtomicU64::new(0));
    let (before, after) = (calls.clone(), calls.clone());
    let mut builder = Builder::new_current_thread();
    let (first, live) = observe(&mut builder)
        .on_before_task_poll(move |_| {
            before.fetch_add(1, Relaxed);
        })
        .on_after_task_poll(move |_| {
            after.fetch_add(1_000, Relaxed);
        })
        .build()
        .expect("a runtime");
    let second = builder.build().expect("a runtime");
    let (third, own) = observe(&mut builder).build().expect("a runtime");
    for rt in [&first, &second, &second, &third] {
        rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    }
    assert_eq!((live.digest().tasks, own.digest().tasks, calls.load(Relaxed)), (1, 1, 3_003));
}

#[test]
fn a_poll_that_is_open_counts_and_one_that_was_cut_by_clearing_does_not() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(1)).build().expect("a runtime");
    let (begun, go_on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let theirs = (begun.clone(), go_on.clone());
    let task = rt.spawn(async move { (theirs.0.wait(), theirs.1.wait()) });
    begun.wait();
    let digest = live.digest();
    assert_eq!(digest.tasks, 1);
    assert!(digest.notes.iter().any(|note| note.contains("still running")), "{:?}", digest.notes);
    live.clear();
    go_on.wait();
    rt.block_on(task).expect("no panic");
    drop(rt);
    let digest = live.digest();
    assert_eq!((digest.tasks, digest.dropped.dropped.len()), (0, 1));
    assert_eq!(digest.dropped.dropped[0].reason, "open when the observer was cleared");
}

#[test]
fn a_runtime_that_is_shut_down_in_the_middle_leaves_whole_spans() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(2)).build().expect("a runtime");
    for _ in 0..100 {
        rt.spawn(async {
            loop {
                yield_now().await;
            }
        });
    }
    while live.digest().tasks < 1_000 {
        thread::yield_now();
    }
    drop(rt);
    let digest = live.digest();
    assert!(digest.tasks >= 1_000);
    assert!(!digest.notes.iter().any(|note| note.contains("still running")), "{:?}", digest.notes);
    assert_eq!((digest.dropped.dropped.len(), digest.nesting.nested), (0, 0), "{digest:?}");
}

#[test]
fn memory_is_fixed_and_less_than_16_kb_per_worker() {
    let bytes = |workers: usize, tasks: u32| {
        let mut builder = Builder::new_multi_thread();
        let (rt, live) = observe(builder.worker_threads(workers)).build().expect("a runtime");
        rt.block_on(async {
            for _ in 0..tasks {
                tokio::spawn(async {}).await.expect("no panic");
            }
        });
        drop(rt);
        live.bytes()
    };
    assert!(bytes(2, 0) - bytes(1, 0) <= 16 << 10, "{} bytes", bytes(2, 0) - bytes(1, 0));
    assert_eq!(bytes(1, 100_000), bytes(1, 1_000));
}

/// The number of polls of `tasks` tasks that yield ten times each. The spawner waits for them one
/// by one.
fn yields(rt: &tokio::runtime::Runtime, tasks: u32) -> u64 {
    let polls = Arc::new(AtomicU64::new(0));
    let counted = polls.clone();
    rt.block_on(async {
        for _ in 0..tasks {
            let polls = counted.clone();
            let task = tokio::spawn(async move {
                for _ in 0..10 {
                    polls.fetch_add(1, Relaxed);
                    yield_now().await;
                }
                polls.fetch_add(1, Relaxed);
            });
            task.await.expect("no panic");
        }
    });
    polls.load(Relaxed)
}

#[test]
fn polls_that_are_not_timed_count() {
    for exact in [true, false] {
        let mut builder = Builder::new_current_thread();
        let observed = observe(&mut builder);
        let (rt, live) = if exact { observed.exact() } else { observed }.build().expect("a runtime");
        for round in 1..=3 {
            assert_eq!(yields(&rt, 500), 5_500);
            let digest = live.digest();
            assert_eq!(digest.tasks, round * 5_500, "{exact}: {digest:?}");
            let sampled = digest.notes.iter().any(|note| note.starts_with("timed 1 of "));
            // Whether polls are tiny depends on the machine and the build.
            assert!(!exact || !sampled);
        }
    }
}

#[test]
fn a_hook_of_ones_own_before_a_worker_waits_is_called_and_kept() {
    let parks = Arc::new(AtomicU64::new(0));
    let count = parks.clone();
    let mut builder = Builder::new_multi_thread();
    let (rt, live) = observe(builder.worker_threads(1))
        .on_thread_park(move || {
            count.fetch_add(1, Relaxed);
        })
        .build()
        .expect("a runtime");
    yields(&rt, 10);
    while parks.load(Relaxed) == 0 {
        thread::yield_now();
    }
    drop(rt);
    assert_eq!(live.digest().tasks, 110);
    let before = parks.load(Relaxed);
    let plain = builder.build().expect("a runtime");
    plain.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    while parks.load(Relaxed) == before {
        thread::yield_now();
    }
}

#[cfg(feature = "schedule-latency")]
#[test]
fn polls_wait_from_when_their_task_was_ready() {
    use std::time::Duration;
    let (rt, live) =
        observe(&mut Builder::new_current_thread()).queue_delays().exact().build().expect("a runtime");
    rt.block_on(async {
        let work = || async { thread::sleep(Duration::from_millis(1)) };
        let tasks: Vec<_> = (0..100).map(|_| tokio::spawn(work())).collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
    let digest = live.digest();
    let queue = digest.queue.value().expect("tokio was asked");
    assert_eq!((queue.delay.count, queue.known), (100, 1.0));
    // A sleep is not shorter than it says.
    assert!(queue.delay.max >= 99_000_000 && queue.delay.p50 >= 40_000_000, "{queue:?}");
    assert!(queue.shares.value().expect("all were timed").saturated > 0.5, "{queue:?}");
    live.clear();
    assert!(live.digest().queue.value().is_none());
}

#[cfg(feature = "schedule-latency")]
#[test]
fn of_tiny_polls_some_are_timed_and_stand_for_the_others() {
    let (rt, live) = observe(&mut Builder::new_current_thread()).queue_delays().build().expect("a runtime");
    rt.block_on(async {
        for _ in 0..200 {
            let tasks: Vec<_> = (0..500).map(|_| tokio::spawn(async {})).collect();
            for task in tasks {
                task.await.expect("no panic");
            }
        }
    });
    let digest = live.digest();
    let queue = digest.queue.value().expect("tokio was asked");
    assert!(queue.delay.count <= digest.tasks && queue.known > 0.5, "{queue:?}");
}

#[test]
fn queue_delays_are_missing_where_tokio_was_not_asked() {
    let (rt, live) = observe(&mut Builder::new_current_thread()).build().expect("a runtime");
    rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    let taskscale_model::missing::Reading::Missing(missing) = live.digest().queue else {
        panic!("nobody asked")
    };
    assert!(missing.remedy.contains("queue_delays"), "{missing:?}");
}
