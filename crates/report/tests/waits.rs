//! Tables of what ready tasks wait while others block, from a run file to what is shown.

use serde_json::json;
use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    params::ParamValue,
    run_file::{Kind, Role, RowEnd, RowRecord, SampleRecord, Status, Stop},
    summary::Held,
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");

/// A way of a runtime: the 99th percentile of waits in microseconds, and CPU nanoseconds a task.
const ROWS: [(&str, &str, u64, u64); 9] = [
    ("asyncio", "without", 1_500, 3_000),
    ("asyncio", "inline", 11_500, 3_100),
    ("asyncio", "to_thread", 1_600, 3_700),
    ("asyncio", "sleep", 1_500, 3_050),
    ("tokio", "multi_thread/without", 100, 400),
    ("tokio", "multi_thread/inline", 5_000, 420),
    ("tokio", "multi_thread/spawn_blocking", 130, 500),
    ("threads", "thread/without", 60, 20_000),
    ("threads", "thread/inline", 90, 20_100),
];

/// A kept run with these rows alone.
fn blocking() -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    let (row, sample) = (run.rows[0].clone(), run.samples[0].clone());
    run.header.suites.truncate(1);
    (run.rows, run.samples, run.row_ends, run.rounds) = (vec![], vec![], vec![], vec![]);
    let title = "one task in 100 blocks for 1 ms".to_owned();
    run.header.suites[0].name = "blocking".into();
    run.header.suites[0].title = "A task blocks".into();
    run.header.suites[0].workloads.truncate(1);
    run.header.suites[0].workloads[0].title.clone_from(&title);
    for (runtime, variant, p99, cpu) in ROWS {
        let number = run.rows.len() as u64;
        let mut key = row.key.clone();
        key.size = 1_000;
        (key.series.suite, key.series.table) = ("blocking".into(), title.clone());
        (key.series.workload, key.series.case) = ("blocking".into(), Default::default());
        (key.series.runtime, key.series.variant) = (runtime.into(), variant.into());
        let number_of = |name: &str, value| (name.to_owned(), ParamValue::Integer(value));
        key.series.params = [number_of("block_us", 1_000), number_of("every", 100)].into();
        run.rows.push(RowRecord { row: number, key, role: Role::Row, baseline: None, ..row.clone() });
        run.row_ends.push(RowEnd { row: number, status: Status::Ok { stop: Stop::MaxTime } });
        for process in 0..3 {
            // One process is far off, which no median minds.
            let off = if process == 2 { 70_000_000 } else { 0 };
            let extra = json!({
                "wait_p50_ns": p99 * 500, "wait_p99_ns": p99 * 1_000 + off, "wait_max_ns": p99 * 2_000 + off,
                "blocked": 10,
            });
            run.samples.push(SampleRecord {
                order: run.samples.len() as u64,
                row: number,
                kind: Kind::Timed,
                round: process,
                process,
                workload: "blocking".into(),
                runtime: runtime.into(),
                variant: variant.into(),
                size: 1_000,
                iterations: 1,
                cpu_ns: cpu * 1_000,
                wall_ns: 20_000_000,
                extra: extra.as_object().cloned().expect("an object"),
                ..sample.clone()
            });
        }
    }
    run
}

#[test]
fn who_is_held_up_and_what_the_way_out_costs() {
    let summary = summarize(&blocking());
    let [table] = summary.overview.waits.as_slice() else { panic!("one table") };
    let rows: Vec<_> = table.rows.iter().map(|row| (&*row.runtime, &*row.scheduler, row.held)).collect();
    let right = [
        ("threads", "thread", Some(Held::Nobody)),
        ("tokio", "multi_thread", Some(Held::Some)),
        ("asyncio", "", Some(Held::All)),
    ];
    assert_eq!(rows, right, "who is held up least comes first");
    let asyncio = &table.rows[2];
    let ways: Vec<_> = asyncio.ways.iter().map(|way| (&*way.way, way.p99, way.cpu_of_call)).collect();
    // 700 ns more for each of a hundred tasks.
    let right = [
        ("without", 1_500_000.0, None),
        ("inline", 11_500_000.0, Some(10_000.0)),
        ("to_thread", 1_600_000.0, Some(70_000.0)),
        ("sleep", 1_500_000.0, Some(5_000.0)),
    ];
    assert_eq!(ways, right);
    assert_eq!((asyncio.ways[1].p50, asyncio.ways[1].whole), (5_750_000.0, 20_000_000.0));
    assert!(summary.overview.rankings.is_empty(), "waits are not ranked by CPU time");
}

#[test]
fn what_is_not_measured_is_no_figure() {
    let mut run = blocking();
    run.keep(|_| true, |row| !row.key.variant.ends_with("without"));
    let summary = summarize(&run);
    let rows = &summary.overview.waits[0].rows;
    assert!(
        rows.iter().all(|row| row.held.is_none() && row.ways.iter().all(|way| way.cpu_of_call.is_none()))
    );
    let screen = overview(&summary, &Style::default(), "last");
    assert!(!screen.contains("holds up"), "{screen}");
}

#[test]
fn the_screen_has_the_table() {
    let summary = summarize(&blocking());
    let screen = overview(&summary, &Style::default(), "last");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    insta::assert_snapshot!(screen);
    let whole = text(&summary, &Style::default());
    assert!(whole.contains("spawn_blocking"), "{whole}");
    let row = "| asyncio | sleep | 750 us | 1.50 ms | 3.00 ms | 20.0 ms | 3.05 us | 5.00 us |";
    assert!(markdown(&summary).contains(row), "{}", markdown(&summary));
    assert!(page(&summary).contains("<th scope=\"row\">tokio</th><td>multi_thread/inline</td>"));
    let json = serde_json::to_value(&summary).expect("JSON");
    assert_eq!(json["overview"]["waits"][0]["rows"][0]["held"], "nobody");
}
