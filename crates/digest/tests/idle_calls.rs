//! Calls that do nothing but wait: inside tasks they are time off the CPU, and otherwise idle time.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Digest, PatternName},
    span::{Account, Span, SpanSink, WAITS, WAITS_FOR_OTHERS, WAITS_FOR_WORK},
};

const MS: i64 = 1_000_000;

/// Worker, start, end, name, what stands for its CPU time.
type Call = (u32, i64, i64, &'static str, Option<u64>);

fn digest(calls: &[Call]) -> Digest {
    let mut sums = Accumulator::new(Config::default());
    for (worker, start_ns, end_ns, name, cpu_ns) in calls {
        let (worker, start_ns, end_ns, cpu_ns) = (*worker, *start_ns, *end_ns, *cpu_ns);
        sums.span(&Span { worker, start_ns, end_ns, name: name.as_bytes(), cpu_ns, ..Span::default() });
    }
    assert_eq!(sums.late(), 0);
    sums.finish(&Account::default())
}

/// Threads of a pool: one loop around 200 rounds of a wait for work and a task of 2 ms, in which
/// one call waits for `inside`.
fn pool(threads: u32, idle: i64, inside: i64) -> Vec<Call> {
    let round = idle + 2 * MS;
    (0..threads)
        .flat_map(|worker| {
            let rounds = (0..200).flat_map(move |at| {
                let start = at * round + 1_000;
                let task = start + idle;
                let wait = (worker, task + 1_000, task + 1_000 + inside, "acquire", Some(WAITS));
                let calls = [
                    (worker, start, task, "get", Some(WAITS_FOR_WORK)),
                    (worker, task, task + 2 * MS - 1_000, "work", None),
                ];
                calls.into_iter().chain((inside > 0).then_some(wait))
            });
            std::iter::once((worker, 0, 200 * round + 1_000, "loop", None)).chain(rounds)
        })
        .collect()
}

#[test]
fn an_idle_pool_is_idle() {
    let digest = digest(&pool(4, 8 * MS, 0));
    assert!((digest.losses.work - 0.2).abs() < 0.01, "{:?}", digest.losses);
    // The loops and their tasks.
    assert_eq!(digest.tasks, 4 + 4 * 200);
    assert!(digest.off_cpu.value().is_none_or(|off| off.share < 0.01), "{:?}", digest.off_cpu);
    assert!(digest.names.top.iter().all(|name| name.name != "get"), "{:?}", digest.names.top);
}

#[test]
fn a_lock_in_a_task_holds_the_worker() {
    let digest = digest(&pool(4, MS / 10, 3 * MS / 2));
    assert_eq!(digest.patterns[0].name, PatternName::BlockedInTasks);
    assert!((digest.patterns[0].share - 0.71).abs() < 0.03, "{:?}", digest.patterns[0]);
    assert_eq!(digest.patterns[0].tasks[0].name, "acquire");
}

#[test]
fn who_waits_for_the_others_is_no_worker() {
    let mut calls = vec![(4, 0, 420 * MS, "main", None), (4, MS, 419 * MS, "join", Some(WAITS_FOR_OTHERS))];
    calls.extend(pool(4, MS / 10, 0));
    let digest = digest(&calls);
    assert_eq!(digest.workers, 4);
    assert_eq!(digest.patterns[0].name, PatternName::Healthy);
    assert!(digest.notes.iter().any(|note| note.contains("wait for others")), "{:?}", digest.notes);
}

#[test]
fn what_lies_in_a_wait_and_a_wait_in_no_task_are_idle() {
    let calls = [
        (0, 0, 10 * MS, "a", None),
        (0, 20 * MS, 60 * MS, "sleep", Some(WAITS)),
        (0, 60 * MS, 100 * MS, "b", None),
        (0, 70 * MS, 90 * MS, "get", Some(WAITS_FOR_WORK)),
        (0, 71 * MS, 89 * MS, "inner", None),
    ];
    let digest = digest(&calls);
    assert!((digest.losses.work - 0.3).abs() < 1e-9, "{:?}", digest.losses);
}

proptest! {
    #[test]
    fn the_order_of_calls_changes_nothing(seed in any::<u64>()) {
        let mut calls = pool(2, MS, MS / 2);
        calls.truncate(14);
        let whole = digest(&calls);
        fastrand::Rng::with_seed(seed).shuffle(&mut calls);
        let shuffled = digest(&calls);
        prop_assert_eq!(whole.losses, shuffled.losses);
        prop_assert_eq!(whole.off_cpu, shuffled.off_cpu);
        prop_assert_eq!(whole.tasks, shuffled.tasks);
    }
}
