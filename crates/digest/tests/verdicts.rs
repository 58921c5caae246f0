//! Small timelines by hand whose verdict is beyond doubt, one for each rule.

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{Change, Digest, PatternName},
    span::{Account, Span, SpanSink},
};

const US: i64 = 1_000;
const MS: i64 = 1_000_000;

/// An accumulator with these `(worker, start, end)` spans.
fn of(workers: u32, spans: &[(u32, i64, i64)]) -> Accumulator {
    let mut accumulator = Accumulator::new(Config { workers: Some(workers), ..Config::default() });
    for (worker, start_ns, end_ns) in spans {
        let (worker, start_ns, end_ns) = (*worker, *start_ns, *end_ns);
        accumulator.span(&Span { worker, start_ns, end_ns, name: b"task", ..Span::default() });
    }
    accumulator
}

fn finish(accumulator: &Accumulator) -> Digest {
    accumulator.finish(&Account { clock_resolution_ns: 1, ..Account::default() })
}

fn first(digest: &Digest) -> PatternName {
    digest.patterns[0].name
}

/// `count` tasks of `length` nanoseconds, one after the other, `gap` apart.
fn row(worker: u32, from: i64, count: i64, length: i64, gap: i64) -> Vec<(u32, i64, i64)> {
    (0..count).map(|i| (worker, from + i * (length + gap), from + i * (length + gap) + length)).collect()
}

#[test]
fn a_chain_on_one_of_four_workers_is_serial() {
    let digest = finish(&of(4, &row(0, 0, 100, MS, US)));
    assert_eq!(first(&digest), PatternName::SerialBottleneck);
    assert!((digest.patterns[0].share - 0.75).abs() < 0.01, "{:?}", digest.patterns[0]);
    assert!((digest.patterns[0].bound - 4.0).abs() < 0.1);
    // A semaphore of one looks the same, and pieces of its tasks would wait at it too.
    assert!(digest.patterns[0].remedy.starts_with("if no lock or semaphore"), "{:?}", digest.patterns[0]);
    assert_eq!(digest.patterns[0].predicted.to, 1.0);
}

#[test]
fn what_more_at_once_gains_is_bounded_by_the_cpus_that_are_free() {
    // Four workers on one CPU, which is never idle: no order of tasks makes it faster.
    let mut chain = of(4, &row(0, 0, 100, MS, US));
    chain.cpus_used(0.98, 1);
    let digest = finish(&chain);
    assert_eq!(first(&digest), PatternName::Healthy, "{:?}", digest.patterns);
    assert!(digest.confidence.reasons[0].contains("keeps its CPUs busy"), "{:?}", digest.confidence);
    // On two CPUs there is room for one more.
    chain.cpus_used(0.5, 2);
    let digest = finish(&chain);
    assert_eq!(first(&digest), PatternName::SerialBottleneck);
    assert!((digest.patterns[0].bound - 2.0).abs() < 0.01, "{:?}", digest.patterns[0]);
    // Where each worker has a CPU, those that idle may be what uses them: some runtimes spin.
    chain.cpus_used(0.98, 4);
    assert_eq!(first(&finish(&chain)), PatternName::SerialBottleneck);
}

#[test]
fn the_change_of_an_imbalance_says_all_that_its_remedy_does() {
    // One of four workers is given 40 tasks, and each of the others 12.
    let rows = (0..4).flat_map(|worker| row(worker, 0, if worker == 0 { 40 } else { 12 }, MS, US));
    let digest = finish(&of(4, &rows.collect::<Vec<_>>()));
    let pattern = &digest.patterns[0];
    assert_eq!(pattern.name, PatternName::LoadImbalance);
    assert!(pattern.remedy.starts_with("hand tasks out from one queue, and split each task into 2"));
    let change = Change::SplitTasks { by: 2, name: None, share_queue: true };
    assert_eq!(pattern.change, Some(change), "{pattern:?}");
}

#[test]
fn one_task_that_ran_alone_at_the_end_may_have_begun_too_late() {
    // All others end when it begins: the last of a queue, or a stage that has to wait for them.
    let mut spans = row(0, 0, 200, MS, US);
    spans.extend(row(1, 0, 200, MS, US));
    spans.push((0, 201 * MS, 401 * MS));
    let digest = finish(&of(2, &spans));
    assert_eq!(first(&digest), PatternName::SerialBottleneck, "{:?}", digest.patterns);
    assert_eq!(digest.alternative.map(|other| other.name), Some(PatternName::StragglerTasks));
    // By chance each worker has as many tasks as the other: no more of a division beforehand.
    let mut spans = row(0, 0, 200, MS, US);
    spans.extend(row(1, 0, 201, MS, US));
    spans.push((0, 202 * MS, 402 * MS));
    let digest = finish(&of(2, &spans));
    assert_eq!(first(&digest), PatternName::SerialBottleneck, "{:?}", digest.patterns);
    assert_eq!(digest.alternative.map(|other| other.name), Some(PatternName::StragglerTasks));
    // One that comes first has nothing to wait for, and cannot be started earlier.
    let spans: Vec<_> = std::iter::once((0, 0, 200 * MS))
        .chain(row(0, 201 * MS, 200, MS, US))
        .chain(row(1, 201 * MS, 190, MS, US))
        .collect();
    let digest = finish(&of(2, &spans));
    assert_eq!(first(&digest), PatternName::SerialBottleneck, "{:?}", digest.patterns);
    assert_ne!(digest.alternative.map(|other| other.name), Some(PatternName::StragglerTasks));
}

/// 20 rounds of a serial task of twice the length of eight others, on four workers.
fn rounds(serial: &'static [u8], other: &'static [u8]) -> Digest {
    let mut accumulator = Accumulator::new(Config { workers: Some(4), ..Config::default() });
    let mut span = |worker: i64, start: i64, length: i64, name: &'static [u8]| {
        let (start_ns, end_ns) = (start * US, (start + length) * US);
        accumulator.span(&Span { worker: worker as u32, start_ns, end_ns, name, ..Span::default() });
    };
    for round in 0..20 {
        let from = round * 10_010;
        span(round % 4, from, 5_000, serial);
        for task in 0..8 {
            span(task % 4, from + 5_001 + task / 4 * 2_501, 2_500, other);
        }
    }
    finish(&accumulator)
}

#[test]
fn a_name_that_never_runs_beside_others_is_a_stage_of_its_own() {
    let named = rounds(b"reduce", b"map");
    assert_eq!(first(&named), PatternName::SerialBottleneck, "{:?}", named.patterns);
    assert_eq!(named.patterns[0].tasks[0].name, "reduce");
    // Without names tasks of one kind are too few, and the other is named as well.
    let unnamed = rounds(b"", b"");
    assert_eq!(first(&unnamed), PatternName::UnderDecomposition, "{:?}", unnamed.patterns);
    assert_eq!(unnamed.alternative.map(|other| other.name), Some(PatternName::SerialBottleneck));
}

/// In each of 60 phases there are as many equal tasks at once.
#[test]
fn equal_tasks_are_split_into_pieces_that_fit() {
    for (workers, tasks) in
        [(4u32, 3u32), (8, 5), (8, 6), (8, 13), (16, 9), (16, 12), (16, 25), (32, 20), (32, 53)]
    {
        let phase = |phase: i64| {
            (0..tasks).map(move |task| {
                let start =
                    (phase * i64::from(tasks.div_ceil(workers)) + i64::from(task / workers)) * 1_001 * US;
                (task % workers, start, start + MS)
            })
        };
        let digest = finish(&of(workers, &(0..60).flat_map(phase).collect::<Vec<_>>()));
        let pattern = &digest.patterns[0];
        let Some(Change::SplitTasks { by, .. }) = &pattern.change else {
            assert!(pattern.predicted.to <= 1.0, "{workers} {tasks}: {pattern:?}");
            continue;
        };
        let rounds = f64::from(tasks.div_ceil(workers));
        let taken = rounds / ((u64::from(tasks) * by).div_ceil(u64::from(workers)) as f64 / *by as f64);
        let range = pattern.predicted.from * 0.99..=pattern.predicted.to * 1.01;
        assert!(range.contains(&taken), "{workers} {tasks}: {taken} of {pattern:?}");
    }
}

#[test]
fn tasks_below_the_clock_s_step_are_told_while_their_gaps_are_above_it() {
    // Every second task takes a nanosecond and the others none. Begins are 20 ns apart.
    let spans: Vec<(u32, i64, i64)> = (0..1_000_000).map(|at| (0, at * 20, at * 20 + at % 2)).collect();
    let accumulator = of(1, &spans);
    assert_eq!(first(&finish(&accumulator)), PatternName::SchedulingOverhead);
    let coarse = accumulator.finish(&Account { clock_resolution_ns: 25, ..Account::default() });
    assert_eq!(first(&coarse), PatternName::Inconclusive);
}

#[test]
fn tiny_tasks_come_before_idle_workers() {
    // Seven of eight workers are idle, and still there is no task worth giving to them.
    let digest = finish(&of(8, &row(0, 0, 50_000, 20, 100)));
    assert_eq!(first(&digest), PatternName::SchedulingOverhead);
}

#[test]
fn a_batch_makes_scheduling_a_tenth() {
    let spans: Vec<_> = (0..4).flat_map(|worker| row(worker, 0, 2_000, US, US)).collect();
    let digest = finish(&of(4, &spans));
    assert_eq!(first(&digest), PatternName::SchedulingOverhead);
    assert!(digest.patterns[0].remedy.starts_with("batch 9 tasks"), "{}", digest.patterns[0].remedy);
    assert!((digest.patterns[0].bound - 2.0).abs() < 0.01);
}

#[test]
fn a_blocked_event_loop_is_that_however_long_it_waits_for_events() {
    // Bursts of ten steps, 200 ms apart.
    let mut spans: Vec<_> =
        (0..20).flat_map(|burst| row(0, burst * 200 * MS, 10, MS / 10, 10 * US)).collect();
    spans.push((0, 5_000 * MS, 6_500 * MS));
    let digest = finish(&of(1, &spans));
    assert!(digest.losses.outside > 0.7);
    assert_eq!(first(&digest), PatternName::EventLoopBlocked);
    let share = 1_500.0 / 6_500.0;
    assert!((digest.patterns[0].share - share).abs() < 1e-6, "{:?}", digest.patterns[0]);
    // The same steps without the long one make a worker with little to do.
    assert_eq!(first(&finish(&of(1, &spans[..200]))), PatternName::OutsideRun);
}

#[test]
fn three_causes_alike_are_mixed() {
    // 60 ms of work and as much dispatch, a serial part of 80 ms, a pause of 50 ms.
    // Workers do not keep step, or their gaps would be waits for each other.
    let step = |worker: u32| i64::from(worker) * 37 * US;
    let mut spans: Vec<_> =
        (0..4).flat_map(|worker| row(worker, step(worker), 600, MS / 10, MS / 10)).collect();
    spans.extend(row(0, 121 * MS, 80, MS, MS / 10));
    spans.extend((0..4).flat_map(|worker| row(worker, 260 * MS + step(worker), 100, MS / 10, MS / 10)));
    let digest = finish(&of(4, &spans));
    assert_eq!(first(&digest), PatternName::Mixed, "{:?}", digest.patterns);
    assert_eq!(digest.patterns[0].remedy.matches(" and ").count(), 1);
}

#[test]
fn a_parent_is_no_straggler() {
    // A parent of 100 ms whose children are as short as all other tasks; the others end after 10
    // ms.
    let mut spans: Vec<_> = (1..4).flat_map(|worker| row(worker, 0, 10, MS, US)).collect();
    spans.push((0, 0, 100 * MS));
    spans.extend(row(0, MS / 2, 90, MS, US));
    let digest = finish(&of(4, &spans));
    assert_ne!(first(&digest), PatternName::StragglerTasks, "{:?}", digest.patterns);
    assert!(digest.outliers.is_empty());
}

/// Parents on two workers, each with four children of 200 ns and `own` nanoseconds before each.
fn families(own: i64) -> Digest {
    let of_worker = |worker: u32| {
        (0..1_000).flat_map(move |i| {
            let begin = i * (4 * (own + 200) + 100);
            let child = move |k: i64| begin + own + k * (own + 200);
            std::iter::once((worker, begin, child(4) - own))
                .chain((0..4).map(move |k| (worker, child(k), child(k) + 200)))
        })
    };
    let mut spans: Vec<_> = (0..2).flat_map(of_worker).collect();
    spans.sort_by_key(|(_, start, end)| (*start, -*end));
    finish(&of(2, &spans))
}

#[test]
fn parents_that_take_a_microsecond_a_child_do_not_wait_for_it() {
    let digest = families(US);
    assert_eq!(first(&digest), PatternName::Healthy, "{:?}", digest.patterns);
    let other = digest.alternative.expect("a doubt");
    assert_eq!(other.name, PatternName::SchedulingOverhead);
    assert!(other.tell.contains("cut off the recursion"), "{}", other.tell);
    assert!(digest.confidence.reasons.iter().any(|reason| reason.contains("making these")));
    assert_eq!(first(&families(50 * US)), PatternName::RecursiveOverlap);
}

#[test]
fn what_parents_take_is_unknown_where_tasks_lie_too_deep() {
    let mut spans: Vec<_> = vec![(0, 0, 100 * MS)];
    spans.extend(row(0, 0, 20, MS, 4 * MS));
    spans.extend(row(1, 0, 100, MS, US));
    let mut seen = of(2, &spans);
    assert_eq!(first(&finish(&seen)), PatternName::RecursiveOverlap);
    seen.too_deep();
    let digest = finish(&seen);
    assert_ne!(first(&digest), PatternName::RecursiveOverlap, "{:?}", digest.patterns);
    assert!(digest.nesting.parent_self.value().is_none());
}

#[test]
fn a_straggler_is_told_to_start_first_unless_it_does() {
    let advice = |from: i64| {
        let mut spans: Vec<(u32, i64, i64)> = (1..4).flat_map(|worker| row(worker, 0, 100, MS, US)).collect();
        spans.extend(row(0, 0, from / MS, MS, 0));
        spans.push((0, from, from + 300 * MS));
        let digest = finish(&of(4, &spans));
        let found = digest.patterns.iter().find(|pattern| pattern.name == PatternName::StragglerTasks);
        found.unwrap_or_else(|| panic!("no straggler: {:?}", digest.patterns)).remedy.clone()
    };
    assert!(
        advice(100 * MS).contains(" pieces, or start it first where it cannot be split"),
        "{}",
        advice(100 * MS)
    );
    assert!(advice(0).ends_with(" pieces"), "{}", advice(0));
}

#[test]
fn run_delay_decides_between_a_long_task_and_a_late_one() {
    // 1,600 tasks of 0.5 to 1.5 ms on four workers, and one of 300 ms at the end.
    let mut at = [0i64; 4];
    let mut spans = Vec::new();
    for index in 0..1_600i64 {
        let worker = (index % 4) as usize;
        let end = at[worker] + MS / 2 + (index * 7919 % 1_000) * US;
        spans.push((worker as u32, at[worker] + US, end));
        at[worker] = end;
    }
    spans.push((0, at[0] + US, at[0] + 300 * MS));
    let verdict = |run_delay: i64| {
        let mut sums = of(4, &spans);
        sums.preempted(true, run_delay as u64);
        finish(&sums)
    };
    assert_eq!(first(&verdict(0)), PatternName::StragglerTasks);
    assert_eq!(first(&verdict(5 * MS)), PatternName::StragglerTasks);
    // The short tasks have room for 200 ms, so either they or the long one may have lost it.
    let unsure = verdict(200 * MS);
    assert_eq!(first(&unsure), PatternName::Inconclusive);
    assert!(unsure.confidence.reasons.iter().any(|reason| reason.contains("only in sum")), "{unsure:?}");
    // The short tasks have no room for 500 ms.
    assert_eq!(first(&verdict(500 * MS)), PatternName::Preempted);
}
