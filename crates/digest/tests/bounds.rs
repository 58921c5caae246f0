//! How far the approximations may be from an exact reference that keeps every span: the bounds that
//! `Accumulator::finish` states for outliers, dispatch, and the split of idle time.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{
        Digest, Losses,
        PatternName::{LoadImbalance, SerialBottleneck, StragglerTasks, TooLittleReady, UnderDecomposition},
    },
    span::{Account, Span, SpanSink},
};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Task {
    worker: u32,
    start: i64,
    end: i64,
}

fn accumulate(tasks: &[Task], workers: Option<u32>) -> Accumulator {
    let mut accumulator = Accumulator::new(Config { workers, ..Config::default() });
    for task in tasks {
        accumulator.span(&Span {
            worker: task.worker,
            start_ns: task.start,
            end_ns: task.end,
            name: b"",
            ..Span::default()
        });
    }
    accumulator
}

fn digest(tasks: &[Task], workers: Option<u32>) -> Digest {
    accumulate(tasks, workers).finish(&Account::default())
}

/// What lies between two tasks of a worker, as a factor of the cost.
#[derive(Debug, Clone, Copy)]
enum Gap {
    /// A hand-over: 80 to 120 % of the cost.
    HandOver(u64),
    /// A wait of 64 to 4,096 times the cost.
    Wait(u64),
}

#[derive(Debug, Clone)]
struct Timeline {
    tasks: Vec<Task>,
    hand_overs: Vec<u64>,
    /// The shortest wait, in nanoseconds.
    line: u64,
}

/// Timelines in which hand-overs and waits are far apart, so that one line between them is right.
/// Up to eight workers begin at different times. Tasks take from 1/8 of the cost to a thousand
/// times it.
fn timelines() -> impl Strategy<Value = Timeline> {
    let step = (
        prop_oneof![4 => (80u64..=120).prop_map(Gap::HandOver), 1 => (64u64..4_096).prop_map(Gap::Wait)],
        0u32..14,
        8u64..16,
    );
    let worker = (0u64..5_000, proptest::collection::vec(step, 1..120));
    (10u64..20_000, proptest::collection::vec(worker, 1..8)).prop_map(|(cost, workers)| {
        let (mut tasks, mut hand_overs) = (Vec::new(), Vec::new());
        let line = (64 * cost).max(2_048);
        for (worker, (begin, steps)) in workers.into_iter().enumerate() {
            let mut at = (begin * cost) as i64;
            for (index, (gap, scale, duration)) in steps.into_iter().enumerate() {
                if index > 0 {
                    let gap = match gap {
                        Gap::HandOver(percent) => {
                            hand_overs.push(cost * percent / 100);
                            cost * percent / 100
                        }
                        Gap::Wait(times) => (times * cost).max(line),
                    };
                    at += gap as i64;
                }
                let end = at + ((duration * cost) << scale >> 7).max(1) as i64;
                tasks.push(Task { worker: worker as u32, start: at, end });
                at = end;
            }
        }
        Timeline { tasks, hand_overs, line }
    })
}

/// The exact losses, by sweeping over every start and end in O(n log n).
fn exact(timeline: &Timeline, workers: u64) -> Losses {
    let tasks = &timeline.tasks;
    let seen = tasks.iter().map(|task| task.worker).max().map_or(0, |most| most as usize + 1);
    // A worker is active while busy or in a hand-over. It has ended after its last task.
    let (mut events, mut work, mut dispatch) = (Vec::new(), 0i64, 0i64);
    for worker in 0..seen as u32 {
        let own: Vec<Task> = tasks.iter().copied().filter(|task| task.worker == worker).collect();
        let mut begin = own[0].start;
        for (index, task) in own.iter().enumerate() {
            work += task.end - task.start;
            match own.get(index + 1).map(|next| next.start - task.end) {
                Some(gap) if (gap as u64) < timeline.line => dispatch += gap,
                next => {
                    events.push((begin, 1i64, 0i64));
                    events.push((task.end, -1, i64::from(next.is_none())));
                    begin = own.get(index + 1).map_or(0, |next| next.start);
                }
            }
        }
    }
    events.sort_unstable();
    let (first, last) = (events[0].0, events[events.len() - 1].0);
    let (mut active, mut ended, mut before) = (0i64, 0i64, first);
    let mut idle = [0f64; 4];
    for (at, step, end) in events {
        let time = (at - before) as f64;
        let waiting = workers as i64 - active;
        match active {
            0 => idle[3] += waiting as f64 * time,
            1 => idle[0] += waiting as f64 * time,
            _ => {
                idle[1] += ended as f64 * time;
                idle[2] += (waiting - ended) as f64 * time;
            }
        }
        (active, ended, before) = (active + step, ended + end, at);
    }
    let all = workers as f64 * (last - first) as f64;
    Losses {
        work: work as f64 / all,
        dispatch: dispatch as f64 / all,
        serial: idle[0] / all,
        tail: idle[1] / all,
        starvation: idle[2] / all,
        preempted: 0.0,
        outside: idle[3] / all,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Work and dispatch are exact; every idle term is within four standard errors of the sampled
    /// points.
    #[test]
    fn the_split_of_time_keeps_its_bound(timeline in timelines(), idle_workers in 0u64..3) {
        let seen = u64::from(timeline.tasks.iter().map(|task| task.worker).max().expect("at least one")) + 1;
        let workers = seen + idle_workers;
        let digest = digest(&timeline.tasks, Some(workers as u32));
        let exact = exact(&timeline, workers);
        let at_least_half_of_the_points = 1_024f64;
        for ((name, found), (_, exact)) in digest.losses.terms().into_iter().zip(exact.terms()) {
            let bound = match name {
                // Too few gaps make no crowd. Dispatch is then known within the shortest gaps only.
                _ if timeline.hand_overs.len() < 16 => continue,
                "work" | "dispatch" | "preempted" => 1e-9,
                _ => 4.0 * 0.5 / at_least_half_of_the_points.sqrt(),
            };
            prop_assert!((found - exact).abs() <= bound, "{name}: {found}, exactly {exact}");
        }
    }

    /// Waiting is divided among causes completely: their shares add up to the idle time of the
    /// losses.
    #[test]
    fn causes_of_waiting_add_up_to_it(timeline in timelines()) {
        let digest = digest(&timeline.tasks, None);
        let waits = [SerialBottleneck, StragglerTasks, UnderDecomposition, LoadImbalance, TooLittleReady];
        let claimed: f64 =
            digest.patterns.iter().filter(|pattern| waits.contains(&pattern.name)).map(|pattern| pattern.share).sum();
        let idle = digest.losses.serial + digest.losses.tail + digest.losses.starvation;
        prop_assert!(claimed <= idle + 1e-9 || digest.workers == 1, "{claimed} of {idle}");
        // Four patterns are listed. If there are fewer, none is missing.
        if digest.patterns.len() < 4 && digest.workers > 1 {
            prop_assert!((claimed - idle).abs() <= 1e-9, "{claimed} of {idle}: {:?}", digest.patterns);
        }
    }

    /// Time that the kernel took is exact, and the other shares shrink by it.
    #[test]
    fn run_delay_is_part_of_the_identity(timeline in timelines(), in_tasks in 0.0..1.0, in_gaps in 0.0..1.0) {
        let mut accumulator = accumulate(&timeline.tasks, None);
        let before = accumulator.finish(&Account::default());
        let all = before.losses.work * before.window_ns as f64 * before.workers as f64;
        let idle = before.losses.lost() - before.losses.dispatch;
        let (in_tasks, in_gaps) = (in_tasks * all, in_gaps * idle / before.losses.work * all);
        accumulator.preempted(true, in_tasks as u64);
        accumulator.preempted(false, in_gaps as u64);
        let after = accumulator.finish(&Account::default());
        let share = |ns: f64| (ns as u64) as f64 / all * before.losses.work;
        prop_assert!((after.losses.preempted - share(in_tasks) - share(in_gaps)).abs() < 1e-9);
        prop_assert!((before.losses.work - after.losses.work - share(in_tasks)).abs() < 1e-9);
        prop_assert!((after.losses.work + after.losses.lost() - 1.0).abs() < 1e-9, "{:?}", after.losses);
    }

    /// The cost is exactly the mean of the hand-overs if waits are at least 64 times longer.
    #[test]
    fn the_scheduling_cost_is_the_mean_hand_over(timeline in timelines()) {
        let hand_overs = &timeline.hand_overs;
        let digest = digest(&timeline.tasks, None);
        let mean = hand_overs.iter().sum::<u64>() as f64 / hand_overs.len().max(1) as f64;
        if hand_overs.len() >= 16 {
            let cost = *digest.scheduling_cost_ns.value().expect("enough gaps");
            prop_assert!((cost - mean).abs() <= 1e-9 * mean, "{cost}, exactly {mean}");
            prop_assert_eq!(digest.break_even_ns.value().copied(), Some(9.0 * cost));
        }
    }

    /// For any gaps, dispatch is all gaps up to a line within a factor of two of 16 times the cost.
    #[test]
    fn dispatch_ends_at_sixteen_times_the_cost(gaps in proptest::collection::vec((0u32..24, 8u64..16), 16..400)) {
        let (mut at, mut tasks, mut lengths) = (0i64, Vec::new(), Vec::new());
        for (scale, gap) in gaps {
            let gap = (gap << scale) / 8;
            lengths.push(gap);
            tasks.push(Task { worker: 0, start: at, end: at + 100 });
            at += 100 + gap as i64;
        }
        lengths.pop();
        tasks.truncate(lengths.len() + 1);
        let digest = digest(&tasks, None);
        if let Some(cost) = digest.scheduling_cost_ns.value() {
            // No line is drawn below 256 ns or above 67 ms.
            let reach = (16.0 * cost).clamp(512.0, f64::from(1 << 25));
            let below = |line: f64| lengths.iter().filter(|gap| (**gap as f64) < line).sum::<u64>() as f64;
            let found = digest.losses.dispatch * digest.window_ns as f64;
            let (least, most) = (below(reach / 2.0) - 1e-3, below(reach * 2.0) + 1e-3);
            prop_assert!(least <= found && found <= most, "{found} not in {least}..{most}, cost {cost}");
        }
    }

    /// Outliers are exactly the longest spans. Which of them stand out is known within a histogram
    /// bucket.
    #[test]
    fn outliers_are_the_longest_spans(
        durations in proptest::collection::vec(1u64..1_000, 1..400),
        long in proptest::collection::vec((any::<prop::sample::Index>(), 1u64..1_000_000), 0..12),
    ) {
        let mut durations = durations;
        for (index, duration) in &long {
            let at = index.index(durations.len());
            durations[at] = *duration;
        }
        let mut ends = [0i64; 3];
        let mut tasks: Vec<Task> = Vec::new();
        for (index, duration) in durations.iter().enumerate() {
            let end = &mut ends[index % 3];
            tasks.push(Task { worker: (index % 3) as u32, start: *end + 10, end: *end + 10 + *duration as i64 });
            *end += 10 + *duration as i64;
        }
        let digest = digest(&tasks, None);
        let length = |task: &Task| (task.end - task.start) as u64;
        // Of equally long ones the first comes first.
        tasks.sort_by_key(|task| (std::cmp::Reverse(length(task)), task.start, task.worker));
        let kept = tasks.len().min(32);
        let others = &tasks[kept..];
        if others.is_empty() {
            prop_assert!(digest.outliers.is_empty());
            return Ok(());
        }
        let typical = (others.iter().map(length).sum::<u64>() as f64 / others.len() as f64).max(1.0);
        for (outlier, task) in digest.outliers.iter().zip(&tasks) {
            let found = (outlier.worker, outlier.start_ns, outlier.duration_ns);
            prop_assert_eq!(found, (task.worker, (task.start - 10) as u64, length(task)));
            prop_assert!((outlier.times_typical * typical - length(task) as f64).abs() < 1e-6 * length(task) as f64);
        }
        let rank = if tasks.len() < 100 { 0.5 } else { 0.99 };
        let below = (rank * tasks.len() as f64).ceil() as usize;
        let quantile = length(&tasks[tasks.len() - below]) as f64;
        let count = |factor: f64| tasks.iter().take(5).filter(|task| length(task) as f64 > 2.0 * factor * quantile).count();
        let found = digest.outliers.len();
        prop_assert!(count(1.13) <= found && found <= count(0.87), "{found}, {} to {}", count(1.13), count(0.87));
    }
}

/// The last bin reaches beyond the window. A point there is not part of it.
#[test]
fn points_after_the_end_do_not_count() {
    for end in 5_000..5_200 {
        let digest = digest(&[Task { worker: 0, start: 0, end }], None);
        let levels: Vec<(u64, f64)> =
            digest.parallelism.histogram.iter().map(|level| (level.from, level.share)).collect();
        assert_eq!(levels, [(1, 1.0)], "{end}");
    }
}
