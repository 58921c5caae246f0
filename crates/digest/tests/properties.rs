//! What holds on every timeline, and how far each approximation may be from an exact O(n)
//! reference.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::Digest,
    span::{Account, Span, SpanSink},
};

/// Worker, start, end, name.
type Task = (u32, i64, i64, u8);

fn digest_of(tasks: &[Task], config: Config) -> Accumulator {
    let mut accumulator = Accumulator::new(config);
    for (worker, start_ns, end_ns, name) in tasks {
        let name = [b'n', *name];
        let span =
            Span { worker: *worker, start_ns: *start_ns, end_ns: *end_ns, name: &name, ..Span::default() };
        accumulator.span(&span);
    }
    accumulator
}

fn finish(accumulator: &Accumulator) -> Digest {
    accumulator.finish(&Account::default())
}

/// Spans of any kind: overlapping, out of order, far apart, of zero length, reversed.
fn wild() -> impl Strategy<Value = Vec<Task>> {
    let time = prop_oneof![-1_000i64..1_000, -1_000_000_000i64..1_000_000_000_000, any::<i64>()];
    proptest::collection::vec((0u32..40, time.clone(), time, 0u8..8), 0..200)
}

/// Flat timelines, worker by worker, without overlap. They consist of (gap, duration) pairs, each
/// scaled by a power of two.
fn flat() -> impl Strategy<Value = Vec<Task>> {
    let step = (0u32..22, 0u64..64, 0u32..22, 1u64..64, 0u8..8);
    let worker = proptest::collection::vec(step, 1..300);
    proptest::collection::vec(worker, 1..6).prop_map(|workers| {
        let mut tasks = Vec::new();
        for (worker, steps) in workers.into_iter().enumerate() {
            let mut at = 0i64;
            for (gap_scale, gap, scale, duration, name) in steps {
                let start = at + ((gap << gap_scale) / 16) as i64;
                at = start + ((duration << scale) / 16).max(1) as i64;
                tasks.push((worker as u32, start, at, name));
            }
        }
        tasks
    })
}

/// The exact account, by sweeping over all starts and ends: total busy time, and time at each
/// number of busy workers.
fn sweep(tasks: &[Task]) -> (u64, Vec<u64>) {
    let mut events: Vec<(i64, i64)> =
        tasks.iter().flat_map(|(_, start, end, _)| [(*start, 1), (*end, -1)]).collect();
    events.sort_unstable();
    let mut levels = vec![0u64; 64];
    let (mut running, mut before) = (0i64, events[0].0);
    for (at, step) in events {
        levels[running as usize] += (at - before) as u64;
        (running, before) = (running + step, at);
    }
    let busy = tasks.iter().map(|(_, start, end, _)| (end - start) as u64).sum();
    (busy, levels)
}

fn assert_adds_up(digest: &Digest) -> Result<(), TestCaseError> {
    let sum: f64 = digest.losses.terms().iter().map(|(_, share)| share).sum();
    prop_assert!((sum - 1.0).abs() < 1e-9, "{:?}", digest.losses);
    for (name, share) in digest.losses.terms() {
        prop_assert!((0.0..=1.0 + 1e-12).contains(&share), "{name} {share}");
    }
    prop_assert!(digest.patterns.len() >= 2);
    for pattern in &digest.patterns {
        prop_assert!(
            (0.0..=1.0).contains(&pattern.share)
                && pattern.bound >= pattern.predicted.to
                && pattern.predicted.to >= pattern.predicted.from
                && pattern.predicted.from >= 1.0
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_account_adds_up_on_every_input(tasks in wild(), workers in proptest::option::of(0u32..100)) {
        assert_adds_up(&finish(&digest_of(&tasks, Config { workers, ..Config::default() })))?;
    }

    #[test]
    fn merging_is_associative_and_commutative(a in wild(), b in wild(), c in wild()) {
        let config = Config { points: 64, ..Config::default() };
        let [a, b, c] = [a, b, c].map(|tasks| digest_of(&tasks, config));
        let merged = |parts: &[&Accumulator]| {
            let mut all = parts[0].clone();
            parts[1..].iter().for_each(|part| all.merge(part));
            all
        };
        let left = finish(&merged(&[&merged(&[&a, &b]), &c]));
        let right = finish(&merged(&[&a, &merged(&[&b, &c])]));
        let back = finish(&merged(&[&c, &b, &a]));
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left, &back);
    }

    #[test]
    fn one_accumulator_per_worker_merges_to_one_for_all(tasks in flat()) {
        let config = Config { points: 256, ..Config::default() };
        let whole = finish(&digest_of(&tasks, config));
        let mut merged = Accumulator::new(config);
        for worker in 0..6 {
            let own: Vec<Task> = tasks.iter().copied().filter(|task| task.0 == worker).collect();
            merged.merge(&digest_of(&own, config));
        }
        prop_assert_eq!(finish(&merged), whole);
    }

    #[test]
    fn order_by_end_and_by_time_over_workers_does_not_matter(tasks in flat()) {
        let whole = finish(&digest_of(&tasks, Config::default()));
        let mut other = tasks;
        other.sort_by_key(|(_, _, end, _)| *end);
        prop_assert_eq!(finish(&digest_of(&other, Config::default())), whole);
    }

    /// Whatever overlaps or nests counts each moment once: busy time is the union of intervals. All
    /// times are multiples of 10 us here, so that no overlap passes for rounding.
    #[test]
    fn busy_time_is_the_union_of_intervals(
        spans in proptest::collection::vec((0u32..3, 0i64..300, 0i64..60), 1..200),
        by_end in any::<bool>(),
    ) {
        const STEP: i64 = 10_000;
        let mut tasks: Vec<Task> =
            spans.iter().map(|(worker, start, length)| (*worker, start * STEP, (start + length) * STEP, 0)).collect();
        tasks.sort_by_key(|(worker, start, end, _)| (*worker, *start, -end));
        let mut union = 0i64;
        for worker in 0..3 {
            let mut until = i64::MIN;
            for (_, start, end, _) in tasks.iter().filter(|task| task.0 == worker) {
                union += (end - start.max(&until).min(end)).max(0);
                until = until.max(*end);
            }
        }
        if by_end {
            tasks.sort_by_key(|(worker, start, end, _)| (*worker, *end, -start));
        }
        let accumulator = digest_of(&tasks, Config::default());
        // Sorted by end, what overlaps many others comes after its turn, and says so.
        prop_assume!(accumulator.late() == 0);
        let digest = finish(&accumulator);
        let all = digest.workers as f64 * digest.window_ns as f64;
        let busy = digest.losses.work * all;
        prop_assert!((busy - union as f64).abs() <= 1.0 || all == 0.0, "{busy} {union} of {all}");
    }

    /// Spans that come up to 40 places late are placed as in order, or said to be late.
    #[test]
    fn what_is_not_late_is_placed_as_in_order(
        spans in proptest::collection::vec((0i64..400, 0i64..8), 1..120),
        long in proptest::collection::vec((0i64..400, 8i64..200), 0..30),
        lags in proptest::collection::vec((0usize..120, 0usize..40), 1..3),
    ) {
        const STEP: i64 = 10_000;
        let task = |(at, (start, length)): (usize, &(i64, i64))| {
            (0, start * STEP, (start + length) * STEP, (at % 5) as u8)
        };
        let mut tasks: Vec<Task> = spans.iter().chain(&long).enumerate().map(task).collect();
        tasks.sort_by_key(|(_, start, end, name)| (*start, -end, *name));
        let in_order = finish(&digest_of(&tasks, Config::default()));
        for (at, lag) in lags {
            let at = at % tasks.len();
            let to = (at + lag).min(tasks.len() - 1);
            tasks[at..=to].rotate_left(1);
        }
        let accumulator = digest_of(&tasks, Config::default());
        if accumulator.late() == 0 {
            prop_assert_eq!(finish(&accumulator), in_order);
        }
    }

    /// Rounded times make children end after their parents and neighbours overlap. The figures are
    /// those of the exact times, but for the rounding itself.
    #[test]
    fn rounding_changes_nothing_but_the_last_digits(tasks in flat(), step in 1i64..400, seed in any::<u64>()) {
        // Tasks of 100 us and more hold two children each, one up to their end.
        let mut exact: Vec<Task> = Vec::new();
        for (worker, start, end, name) in tasks {
            let (start, end) = (start * 100, end * 100);
            exact.push((worker, start, end, name));
            if end - start >= 100_000 {
                let middle = start + (end - start) / 2;
                exact.extend([(worker, start + 10, middle, 8), (worker, middle, end, 9)]);
            }
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut rounded = exact.clone();
        for task in &mut rounded {
            task.1 += rng.i64(0..=step);
            task.2 = (task.2 + rng.i64(0..=step)).max(task.1);
        }
        rounded.sort_by_key(|(worker, start, end, _)| (*worker, *start, -end));
        let (accumulator, exact) = (digest_of(&rounded, Config::default()), finish(&digest_of(&exact, Config::default())));
        prop_assert_eq!(accumulator.late(), 0);
        let digest = finish(&accumulator);
        prop_assert_eq!(digest.nesting.overlapping, 0);
        let most = 2.0 * step as f64 * rounded.len() as f64 / (exact.window_ns as f64 * exact.workers as f64);
        prop_assert!((digest.losses.work - exact.losses.work).abs() <= 2.0 * most, "{} {} {most}", digest.losses.work, exact.losses.work);
        prop_assert!(digest.notes.is_empty(), "{:?}", digest.notes);
    }

    /// Busy time, counts and gaps are exact. Shares of time from points are within four standard
    /// errors (plus the points' own width). Quantiles are within one bucket.
    #[test]
    fn approximations_keep_their_bounds(tasks in flat()) {
        let digest = finish(&digest_of(&tasks, Config::default()));
        let (busy, levels) = sweep(&tasks);
        let window: u64 = levels.iter().sum();
        prop_assert_eq!(digest.window_ns, window);
        prop_assert_eq!(digest.tasks, tasks.len() as u64);
        let exact = busy as f64 / (window as f64 * digest.workers as f64);
        prop_assert!((digest.losses.work - exact).abs() < 1e-9);
        if window > 100_000 {
            // At least half of 2,048 points lie in the window.
            for level in &digest.parallelism.histogram {
                let exact = levels[level.from as usize] as f64 / window as f64;
                prop_assert!((level.share - exact).abs() < 4.0 * 0.5 / 1_024f64.sqrt() + 0.001, "{level:?} {exact}");
            }
        }
        let mut durations: Vec<u64> = tasks.iter().map(|(_, start, end, _)| (end - start) as u64).collect();
        durations.sort_unstable();
        let found = digest.duration.value().expect("there are tasks");
        for (q, found) in [(0.5, found.p50), (0.9, found.p90), (0.99, found.p99)] {
            let rank = (q * durations.len() as f64).ceil() as usize - 1;
            let exact = durations[rank] as f64;
            prop_assert!((found as f64 - exact).abs() <= (0.125 * exact).max(1.0), "{q}: {found} {exact}");
        }
        prop_assert!(found.min <= found.p50 && found.p50 <= found.p90 && found.p90 <= found.p99 && found.p99 <= found.max);
        prop_assert_eq!((found.min, found.max), (durations[0], durations[durations.len() - 1]));
        let mean_running: f64 =
            digest.parallelism.timeline.iter().sum::<f64>() / digest.parallelism.timeline.len().max(1) as f64;
        prop_assert!((mean_running - digest.parallelism.mean).abs() <= 1e-6 * digest.parallelism.mean.max(1.0));
    }

    #[test]
    fn nesting_is_found_by_start_and_by_end(outer in proptest::collection::vec((1i64..50, proptest::collection::vec(1i64..20, 0..6)), 1..60)) {
        // Parents whose children follow each other, with a step of own work around each child.
        let (mut tasks, mut at, mut own, mut nested) = (Vec::new(), 0i64, 0i64, 0u64);
        for (gap, children) in &outer {
            at += gap;
            let start = at;
            for child in children {
                at += 1;
                tasks.push((0u32, at, at + child, 1u8));
                at += child;
                nested += 1;
            }
            at += 1;
            tasks.push((0, start, at, 0));
            own += if children.is_empty() { 0 } else { at - start - children.iter().sum::<i64>() };
        }
        // The tasks are made children first, so they are sorted by end.
        for by_start in [false, true] {
            if by_start {
                tasks.sort_by_key(|(_, start, end, _)| (*start, -end));
            }
            let digest = finish(&digest_of(&tasks, Config::default()));
            prop_assert_eq!(digest.nesting.nested, nested);
            let found = digest.nesting.parent_self.value().copied().expect("nothing is out of order");
            prop_assert!((found - own as f64 / digest.window_ns as f64).abs() < 1e-9, "{found} {own}");
            prop_assert_eq!(digest.gap.value().map_or(0, |gap| gap.count), outer.len() as u64 - 1);
        }
    }
}

#[test]
fn out_of_order_spans_are_said_to_hide_gaps() {
    let mut tasks: Vec<Task> = (0..1_000).map(|i| (0, i * 100, i * 100 + 90, 0)).collect();
    fastrand::Rng::with_seed(7).shuffle(&mut tasks);
    let digest = finish(&digest_of(&tasks, Config::default()));
    assert!(digest.gap.value().is_none() && digest.scheduling_cost_ns.value().is_none());
    assert!(digest.notes.iter().any(|note| note.contains("out of order")), "{:?}", digest.notes);
    assert!((digest.losses.work - 0.9).abs() < 0.01);
}

#[test]
fn a_child_that_comes_behind_its_turn_is_placed_or_said_to_be_late() {
    let parent = |at: i64| (0, at * 100_000, at * 100_000 + 90_000, 0);
    for (before, child, behind) in
        (13..41).flat_map(|n| (0..n).flat_map(move |i| [0, 1, 5].map(|m| (n, i, m))))
    {
        let mut tasks: Vec<Task> = (0..before).map(parent).collect();
        tasks.push((0, child * 100_000 + 10_000, child * 100_000 + 30_000, 1));
        tasks.extend((before..before + behind).map(parent));
        let accumulator = digest_of(&tasks, Config::default());
        let digest = finish(&accumulator);
        let own: u64 = digest.names.top.iter().map(|name| name.own_ns).sum();
        let is_right = digest.nesting.nested == 1 && own as i64 == (before + behind) * 90_000;
        assert!(is_right || accumulator.late() == 1, "{before} {child} {behind}: {own}");
    }
}

#[test]
fn workers_beyond_the_limit_fold_and_memory_stays_bounded() {
    let tasks: Vec<Task> = (0..70_000).map(|i| (i, 0, 1_000_000, 0)).collect();
    let digest = finish(&digest_of(&tasks, Config::default()));
    assert_eq!(digest.workers, 65_537);
    assert_eq!(digest.workers_detail.workers.len(), 16);
    assert!(digest.notes.iter().any(|note| note.starts_with("4464 spans ran on workers beyond")));
    let far = [(u32::MAX, 0, 1_000_000, 0)];
    assert_eq!(finish(&digest_of(&far, Config::default())).workers, 1);
}

#[test]
fn an_accumulator_does_not_grow_with_its_spans_and_an_observers_fits_in_16_kilobytes() {
    let mut observer = Accumulator::new(Config::observer());
    let mut sizes = Vec::new();
    for index in 0..300_000i64 {
        let name = format!("name {}", index % 50_000);
        let start_ns = index * 1_000;
        let end_ns = start_ns + 10 + index % 900;
        observer.span(&Span { worker: 63, start_ns, end_ns, name: name.as_bytes(), ..Span::default() });
        if index % 100_000 == 99_999 {
            sizes.push(observer.bytes());
        }
    }
    assert_eq!(sizes, [observer.bytes(); 3]);
    assert!(observer.bytes() <= 16 * 1024, "{}", observer.bytes());
}
