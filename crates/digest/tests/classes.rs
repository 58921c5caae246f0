//! What a digest counts in classes: times by powers of two, workers by how busy they were.

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Digest, TimeClass},
    span::{Account, Span, SpanSink},
};

/// Worker, start, end; ready 7 ns before the start.
fn digest(tasks: &[(u32, i64, i64)], workers: Option<u32>) -> Digest {
    let mut sums = Accumulator::new(Config { workers, ..Config::default() });
    for &(worker, start_ns, end_ns) in tasks {
        sums.span(&Span { worker, start_ns, end_ns, ready_ns: Some(start_ns - 7), ..Span::default() });
    }
    sums.finish(&Account::default())
}

fn sums(classes: &[TimeClass]) -> (u64, u64) {
    classes.iter().fold((0, 0), |sum, class| (sum.0 + class.count, sum.1 + class.total_ns))
}

#[test]
fn classes_of_times_hold_every_time_once() {
    // Two workers that work for 3 and 100 ns in turns, and pause for 13 ns.
    let tasks: Vec<_> = (0..1_000)
        .map(|task| {
            let (at, length) = (task / 2 * 200, if task % 4 < 2 { 3 } else { 100 });
            ((task % 2) as u32, at, at + length)
        })
        .collect();
    let found = digest(&tasks, None);
    let of = &found.histograms;
    assert_eq!(sums(&of.duration), (1_000, 500 * 103));
    assert_eq!(of.duration.first().map(|class| (class.from_ns, class.to_ns, class.count)), Some((2, 4, 500)));
    assert_eq!(of.duration.last().map(|class| (class.from_ns, class.count)), Some((64, 500)));
    let gap = found.gap.value().expect("gaps");
    assert_eq!(sums(&of.gap).0, gap.count);
    assert!((sums(&of.gap).1 as f64 - gap.mean * gap.count as f64).abs() < 1.0);
    assert_eq!(sums(&of.queue_delay), (1_000, 7_000));
}

#[test]
fn what_is_missing_has_no_classes() {
    let mut sums = Accumulator::new(Config::default());
    sums.span(&Span { worker: 0, start_ns: 0, end_ns: 10, ..Span::default() });
    let found = sums.finish(&Account::default());
    assert!(found.gap.value().is_none() && found.histograms.gap.is_empty());
    assert!(found.queue.value().is_none() && found.histograms.queue_delay.is_empty());
    assert_eq!(found.histograms.duration.len(), 1);
}

#[test]
fn every_worker_is_in_a_tenth_also_one_that_ran_nothing() {
    // Worker 0 all the time, 1 to 30 for 15 % of it, and 9 more that did nothing.
    let tasks: Vec<_> = [(0, 0, 1_000)].into_iter().chain((1..=30).map(|worker| (worker, 0, 150))).collect();
    let found = digest(&tasks, Some(40));
    assert_eq!(found.workers_detail.by_busy, [9, 30, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(found.workers_detail.folded, 15);
}
