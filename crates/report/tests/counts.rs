//! Counts: when they are exact, how they are shown, and what they decide between two runs.

use taskscale_analysis::{CompareOptions, Run, compare, parse_run, summarize};
use taskscale_model::{
    compare::{ComparedCount, Comparison, Verdict},
    missing::Reading,
    run_file::{Allocations, CountRecord, Role, Time},
    summary::{
        RowStatus,
        lines::{Line, lines},
    },
};
use taskscale_report::{Style, compare_junit, compare_markdown, compare_text, markdown, overview, text};

const OLD: &str = include_str!("../../analysis/tests/data/compare/old.jsonl");
const NEW: &str = include_str!("../../analysis/tests/data/compare/new.jsonl");

/// What each request to a process asks for beside its tasks.
const PROTOCOL: u64 = 17;

/// The run with counts of the row of `variant`. `of_processes` has the calls to malloc in 1,000
/// tasks of each process. Each call asks for 16 bytes.
fn with_counts(text: &str, variant: &str, of_processes: &[u64]) -> Run {
    let mut run = parse_run(text).expect("a run file");
    let row = run
        .rows
        .iter()
        .find(|row| row.key.variant == variant && row.role != Role::Control)
        .expect("a row")
        .clone();
    for (process, per_thousand) in (0..).zip(of_processes) {
        for iterations in [10, 20] {
            let tasks = iterations * row.key.size;
            let malloc = PROTOCOL + per_thousand * tasks / 1_000;
            run.counts.push(CountRecord {
                order: 0,
                row: row.row,
                process,
                workload: row.key.workload.clone(),
                runtime: row.key.runtime.clone(),
                variant: row.key.variant.clone(),
                size: row.key.size,
                iterations,
                seed: 1,
                allocations: Some(Reading::Value(Allocations {
                    malloc,
                    bytes: 16 * malloc,
                    ..Allocations::default()
                })),
                syscalls: Some(Reading::missing("tracefs is not mounted", "mount it")),
                others: Default::default(),
                by_name: Default::default(),
                for_growth: false,
            });
        }
    }
    run
}

fn entry(run: &Run, metric: &str) -> Line {
    summarize(run).rows.iter().flat_map(lines).find(|line| line.metric == metric).expect("an entry")
}

fn by_cpu(old: &Run, new: &Run) -> Comparison {
    compare(("OLD", old), ("NEW", new), &CompareOptions { time: Time::Cpu, threshold: 0.02 })
}

/// The counts of `spawn`, whose time is the same in both files.
fn counts(comparison: &Comparison) -> &[ComparedCount] {
    let row = comparison.rows.iter().find(|row| row.key.variant == "spawn").expect("the row");
    assert_eq!(row.verdict, Verdict::Same);
    &row.counts
}

fn spawn(text: &str, of_processes: &[u64]) -> Run {
    with_counts(text, "spawn", of_processes)
}

#[test]
fn what_every_request_costs_once_is_no_part_of_a_task() {
    let counted = entry(&spawn(OLD, &[2_000, 2_000, 2_000]), "allocations_per_task");
    assert_eq!((counted.p50, counted.exact, counted.n), (Some(2.0), Some(true), 3));
    let bytes = entry(&spawn(OLD, &[2_000, 2_000]), "allocated_bytes_per_task");
    assert_eq!((bytes.p50, &*bytes.unit), (Some(32.0), "bytes"));
}

#[test]
fn a_count_is_exact_where_processes_agree() {
    for (of_processes, exact) in [
        (&[20_000, 20_000][..], true),
        (&[20_000, 20_020], true), // 0.1 %
        (&[20_000, 20_030], false),
        (&[2_000, 2_000, 2_010], false),
        (&[2, 3], true), // a call in a thousand tasks
        (&[2_000], false),
    ] {
        let counted = entry(&spawn(OLD, of_processes), "allocations_per_task");
        assert_eq!(counted.exact, Some(exact), "{of_processes:?}");
    }
}

#[test]
fn system_calls_are_exact_only_where_every_request_agrees() {
    // Each process has a second pair, with as many system calls a task as the first, or with 5 %
    // more.
    let with_syscalls = |more: u64| {
        let mut run = spawn(OLD, &[2_000, 2_000, 2_000]);
        let mut second = run.counts.clone();
        let all = |records: &mut Vec<CountRecord>, percent: u64| {
            for record in records {
                let calls = record.iterations * record.size * percent / 100;
                record.syscalls = Some(Reading::Value(calls));
            }
        };
        all(&mut run.counts, 100);
        all(&mut second, 100 + more);
        run.counts.extend(second);
        entry(&run, "syscalls_per_task")
    };
    assert_eq!((with_syscalls(0).p50, with_syscalls(0).exact), (Some(1.0), Some(true)));
    let parked = with_syscalls(5);
    assert_eq!((parked.p0, parked.p100, parked.exact), (parked.p50, parked.p50, Some(false)));
}

#[test]
fn what_is_not_counted_says_why() {
    let run = spawn(OLD, &[2_000, 2_000]);
    let missing = entry(&run, "syscalls_per_task");
    assert_eq!((missing.status, missing.p50), (RowStatus::Skipped, None));
    assert_eq!(missing.reason.as_deref(), Some("tracefs is not mounted"));
    let shown = text(&summarize(&run), &Style::default());
    assert!(shown.contains("system calls of tokio: tracefs is not mounted. Remedy: mount it"), "{shown}");
    // The reason stands there once, and not among the skipped rows too.
    assert_eq!(shown.matches("tracefs is not mounted").count(), 1, "{shown}");
}

#[test]
fn tables_show_counts_where_there_are_any() {
    let plain = summarize(&parse_run(OLD).expect("a run"));
    for shown in [text(&plain, &Style::default()), markdown(&plain)] {
        assert!(!shown.contains("Counts per task"), "{shown}");
    }
    let exact = summarize(&spawn(OLD, &[2_000, 2_000]));
    let about = summarize(&spawn(OLD, &[2_000, 2_500, 2_250]));
    for show in [|summary: &_| text(summary, &Style::default()), |summary: &_| markdown(summary)] {
        let (exact, about) = (show(&exact), show(&about));
        assert!(
            exact.contains("Counts per task") && exact.contains("2.000") && exact.contains("32.0"),
            "{exact}"
        );
        assert!(about.contains("about 2.250 (2.000 to 2.500)"), "{about}");
    }
}

#[test]
fn exact_counts_are_divided_by_those_of_the_baseline() {
    let with = |of_processes: &[u64]| {
        let mut run = spawn(OLD, &[2_000, 2_000]);
        run.counts.extend(with_counts(OLD, "JoinSet", of_processes).counts);
        let summary = summarize(&run);
        [text(&summary, &Style::default()), overview(&summary, &Style::default(), "last"), markdown(&summary)]
    };
    for shown in with(&[3_000, 3_000]) {
        assert!(shown.contains("1.50x") && shown.contains("ratio"), "{shown}");
        assert!(!shown.contains("1.00x"), "that of a baseline to itself: {shown}");
    }
    // A call in 4,096 tasks is written as 0.000, and nothing is divided by it.
    let mut run = spawn(OLD, &[2_000, 2_000]);
    run.counts.extend(with_counts(OLD, "JoinSet", &[3_000, 3_000]).counts);
    let of_spawn = run.counts.iter_mut().filter(|count| count.variant == "spawn");
    of_spawn.for_each(|count| {
        let malloc = PROTOCOL + count.iterations * count.size / 4_096;
        count.allocations = Some(Reading::Value(Allocations { malloc, ..Allocations::default() }));
    });
    let seldom = text(&summarize(&run), &Style::default());
    let counted = seldom.split_once("Counts per task").expect("the section").1;
    assert!(counted.contains("0.000") && !counted.contains("ratio"), "{counted}");
    let about = with(&[3_000, 3_500]);
    let counted = about[0].split_once("Counts per task").expect("the section").1;
    assert!(!counted.contains("1.6"), "{counted}");
    assert!(!counted.split("Calls and bytes").next().expect("its table").contains("ratio"), "{counted}");
}

#[test]
fn one_allocation_more_is_worse_whatever_time_says() {
    let comparison = by_cpu(&spawn(OLD, &[2_000, 2_000]), &spawn(NEW, &[3_000, 3_000]));
    let [allocations, bytes, syscalls] = counts(&comparison) else { panic!("three") };
    assert_eq!((allocations.verdict, bytes.verdict), (Verdict::Worse, Verdict::Worse));
    assert_eq!(allocations.change, Some(1.0));
    assert_eq!(syscalls.verdict, Verdict::CannotTell);
    assert!(syscalls.why.as_ref().is_some_and(|why| why.reason.contains("tracefs")), "{syscalls:?}");
    // Counts that neither side could take are not among the verdicts.
    assert_eq!((comparison.counted.worse, comparison.counted.cannot_tell), (2, 0));
    let sentence = "size 2,048: allocations per task 2.000 -> 3.000 (+1.000)";
    let shown = compare_text(&comparison, &Style { width: 1_000, ..Style::default() });
    assert!(shown.contains("Counts: worse") && shown.contains(sentence), "{shown}");
    assert!(compare_markdown(&comparison).contains("**worse**: "));
    let junit = compare_junit(&comparison);
    assert!(junit.contains("allocations per task 2.000 -&gt; 3.000 (+1.000)"), "{junit}");
    assert_eq!(junit.matches("<failure").count() as u64, comparison.counts.worse + 1);
}

#[test]
fn a_count_alone_decides_over_the_outcome() {
    // Both files are the same, so no time differs.
    let gate = |old: &[u64], new: &[u64]| by_cpu(&spawn(OLD, old), &spawn(OLD, new));
    let worse = gate(&[2_000, 2_000], &[3_000, 3_000]);
    assert!(worse.regression && worse.counts.worse == 0);
    assert!(
        worse.summary.starts_with("Regression by exact counts: of 2 counts, 2 worse. By time: "),
        "{}",
        worse.summary
    );
    let better = gate(&[3_000, 3_000], &[2_000, 2_000]);
    assert!(!better.regression && better.counted.better == 2);
    let same = gate(&[20_000, 20_000], &[20_020, 20_020]);
    assert!(!same.regression && same.counted.same == 2, "0.1 % is none");
    let vague = gate(&[2_000, 2_000], &[3_000, 3_500]);
    assert!(!vague.regression && vague.counted.cannot_tell == 2);
    let why = counts(&vague)[0].why.as_ref().map(|why| &*why.reason);
    assert_eq!(why, Some("not exact in NEW: its processes differ"));
    let once = gate(&[2_000], &[3_000, 3_000]);
    assert_eq!(
        counts(&once)[0].why.as_ref().map(|why| &*why.reason),
        Some("counted in one process only in OLD")
    );
}

#[test]
fn a_change_within_what_one_process_shows_is_none() {
    // Every second pair of each process has 5 % more, like a collector that runs in every second
    // request.
    let uneven = |of_processes: &[u64]| {
        let mut run = spawn(OLD, of_processes);
        let more: Vec<CountRecord> = run.counts.clone();
        for mut record in more {
            let Some(Reading::Value(allocations)) = &mut record.allocations else { panic!("counted") };
            allocations.malloc += record.iterations * record.size / 10;
            run.counts.push(record);
        }
        run
    };
    let gate = |new: &[u64]| counts(&by_cpu(&uneven(&[2_000, 2_000]), &uneven(new)))[0].clone();
    let within = gate(&[2_080, 2_080]);
    assert_eq!(
        (within.verdict, within.new.value().map(|new| new.exact)),
        (Verdict::Same, Some(true)),
        "{within:?}"
    );
    assert!(within.limit.is_some_and(|limit| (limit - 0.1).abs() < 1e-9), "{within:?}");
    assert_eq!(gate(&[2_150, 2_150]).verdict, Verdict::Worse);
}

#[test]
fn counts_of_one_side_alone_are_told_and_decide_nothing() {
    let comparison = by_cpu(&parse_run(OLD).expect("a run"), &spawn(OLD, &[3_000, 3_000]));
    assert!(counts(&comparison).is_empty() && !comparison.regression);
    assert!(comparison.notes.iter().any(|note| note.starts_with("NEW holds counts and OLD does not")));
}

#[test]
fn counts_are_judged_between_machines_that_differ_in_speed_alone() {
    let old = spawn(OLD, &[2_000, 2_000]);
    let elsewhere = |edit: fn(&mut Run)| {
        let mut new = spawn(OLD, &[3_000, 3_000]);
        new.header.machine.fingerprint = "beef".into();
        edit(&mut new);
        by_cpu(&old, &new)
    };
    let faster = elsewhere(|new| new.header.machine.cpu_model = Reading::Value("another".into()));
    assert!(faster.regression && faster.counts.other_machine > 0 && faster.counted.worse == 2);
    assert!(faster.summary.contains("By time: Another machine"), "{}", faster.summary);
    let larger = elsewhere(|new| new.header.machine.cpus_usable = Reading::Value(64));
    assert!(!larger.regression && larger.counted.other_machine == 2);
}

#[test]
fn a_count_that_falls_as_more_is_done_is_none_and_the_screen_says_why() {
    let mut run = spawn(OLD, &[2_000, 2_000]);
    for record in &mut run.counts {
        let Some(Reading::Value(allocations)) = &mut record.allocations else { panic!("counted") };
        // Fewer calls in a request for twice as many iterations.
        allocations.malloc = 1_000_000 - record.iterations * record.size;
    }
    let missing = entry(&run, "allocations_per_task");
    assert_eq!((missing.status, missing.p50), (RowStatus::Skipped, None));
    run.counts
        .iter_mut()
        .for_each(|record| record.allocations = Some(Reading::missing("it is broken", "mend it")));
    let screen = overview(&summarize(&run), &Style::default(), "run.jsonl");
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("not counted: allocations and bytes of tokio: it is broken"), "{screen}");
}
