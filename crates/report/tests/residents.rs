//! Tables of what waiting tasks hold, from a run file to what is shown.

use serde_json::json;
use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    missing::Missing,
    params::ParamValue,
    run_file::{Kind, Role, RowEnd, RowRecord, SampleRecord, Status, Stop},
    summary::{FindingKind, Interval, ResidentRow},
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const SIZES: [u64; 3] = [1_000, 10_000, 1_000_000];

/// A runtime whose tasks hold so many bytes, and what its process has besides.
#[derive(Clone, Copy)]
struct Holds {
    runtime: &'static str,
    variant: &'static str,
    bytes: u64,
    before: u64,
    /// What the first task brings once.
    once: u64,
    /// The largest size that it bears.
    most: u64,
    wake_ns: u64,
}

const ALL: [Holds; 4] = [
    Holds {
        runtime: "go",
        variant: "WaitGroup",
        bytes: 2_700,
        before: 9 << 20,
        once: 1 << 20,
        most: u64::MAX,
        wake_ns: 450,
    },
    Holds {
        runtime: "java",
        variant: "virtual/start",
        bytes: 920,
        before: 60 << 20,
        once: 70 << 20,
        most: u64::MAX,
        wake_ns: 1_234,
    },
    Holds {
        runtime: "threads",
        variant: "spawn",
        bytes: 9_000,
        before: 3 << 20,
        once: 0,
        most: 10_000,
        wake_ns: 7_000,
    },
    Holds {
        runtime: "smol",
        variant: "executor/spawn",
        bytes: 120,
        before: 3 << 20,
        once: 100,
        most: u64::MAX,
        wake_ns: 98,
    },
];

/// A kept run with these rows alone. Processes differ by some KiB, and one of each is far off.
fn parked(all: &[Holds], processes: u64) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    let (row, sample) = (run.rows[0].clone(), run.samples[0].clone());
    run.header.suites.truncate(1);
    (run.rows, run.samples, run.row_ends, run.rounds) = (vec![], vec![], vec![], vec![]);
    let title = "parked, on an event".to_owned();
    run.header.suites[0].name = "parked".into();
    run.header.suites[0].title = "Tasks that all wait".into();
    run.header.suites[0].workloads.truncate(1);
    run.header.suites[0].workloads[0].title.clone_from(&title);
    for one in all {
        for size in SIZES {
            let number = run.rows.len() as u64;
            let mut key = row.key.clone();
            key.size = size;
            (key.series.suite, key.series.table) = ("parked".into(), title.clone());
            (key.series.workload, key.series.case) = ("parked".into(), Default::default());
            (key.series.runtime, key.series.variant) = (one.runtime.into(), one.variant.into());
            key.series.params = [("resident".to_owned(), ParamValue::Flag(true))].into();
            run.rows.push(RowRecord { row: number, key, role: Role::Row, baseline: None, ..row.clone() });
            let status = match size > one.most {
                true => {
                    Status::Skipped(Missing::new("can bear at most 10000 tasks: one OS thread each", "less"))
                }
                false => Status::Ok { stop: Stop::MaxTime },
            };
            let ok = matches!(status, Status::Ok { .. });
            run.row_ends.push(RowEnd { row: number, status });
            for process in (0..processes).filter(|_| ok) {
                let order = run.samples.len() as u64;
                run.samples.push(answer(&sample, one, number, size, process, order));
                // A second answer of a process says nothing of memory: it has held tasks.
                let mut again = answer(&sample, one, number, size, process, order + 1);
                again.extra = told(1, 1 << 40);
                run.samples.push(again);
            }
        }
    }
    run
}

fn told(before: u64, waiting: u64) -> serde_json::Map<String, serde_json::Value> {
    json!({"resident_before": before, "resident_waiting": waiting}).as_object().cloned().expect("an object")
}

fn answer(like: &SampleRecord, one: &Holds, row: u64, size: u64, process: u64, order: u64) -> SampleRecord {
    // The collector of one process came late.
    let off = if process == 2 { 40 << 20 } else { process * 4_096 };
    SampleRecord {
        order,
        row,
        kind: Kind::Timed,
        round: process,
        process,
        workload: "parked".into(),
        runtime: one.runtime.into(),
        variant: one.variant.into(),
        size,
        iterations: 1,
        cpu_ns: one.wake_ns * size,
        wall_ns: one.wake_ns * size,
        extra: told(one.before, one.before + one.once + off + one.bytes * size),
        ..like.clone()
    }
}

fn near(row: &ResidentRow, bytes: u64) {
    let held = row.held.as_ref().expect("a figure");
    let off = (held.bytes - bytes as f64).abs();
    assert!(off <= bytes as f64 * 0.005, "{}: {} is not {bytes}", row.runtime, held.bytes);
}

#[test]
fn the_slope_is_what_a_task_holds_whatever_the_process_has() {
    let summary = summarize(&parked(&ALL, 5));
    let [table] = summary.overview.residents.as_slice() else { panic!("one table") };
    let names: Vec<&str> = table.rows.iter().map(|row| row.runtime.as_str()).collect();
    assert_eq!(names, ["smol", "java", "go", "threads"], "what holds least comes first");
    assert_eq!(table.sizes, SIZES);
    for (row, bytes) in table.rows.iter().zip([120, 920, 2_700, 9_000]) {
        near(row, bytes);
    }
    let java = table.rows[1].held.as_ref().expect("a figure");
    assert_eq!((java.size, java.from, java.processes, java.wake_ns), (1_000_000, Some(1_000), 5, 1_234.0));
    assert_eq!(java.before, f64::from(60 << 20));
    // What one late collector leaves is in the range, and in no figure.
    let Interval(least, most) = java.range;
    assert!((919.0..920.5).contains(&least) && (955.0..970.0).contains(&most), "{least} to {most}");
    assert!(summary.overview.rankings.is_empty(), "bytes are not ranked by time");
}

#[test]
fn a_row_ends_where_the_system_does_and_says_why() {
    let summary = summarize(&parked(&ALL, 3));
    let threads = &summary.overview.residents[0].rows[3];
    let held = threads.held.as_ref().expect("a figure");
    assert_eq!((held.size, held.from, threads.ends), (10_000, Some(1_000), Some(1_000_000)));
    assert!(threads.reason.as_ref().is_some_and(|why| why.reason.contains("at most 10000")));
    assert!(summary.overview.residents[0].rows[..3].iter().all(|row| row.ends.is_none()));
    let skipped = summary.overview.findings.iter().filter(|finding| finding.kind == FindingKind::Skipped);
    assert_eq!(skipped.filter(|finding| finding.text.contains("threads")).count(), 0, "the table says it");
}

#[test]
fn one_size_has_no_slope_and_no_size_has_no_figure() {
    let mut run = parked(&ALL[1..2], 2);
    run.keep(|_| true, |row| row.key.size == 1_000_000);
    let held = summarize(&run).overview.residents[0].rows[0].held.clone().expect("a figure");
    assert_eq!((held.from, held.at.len()), (None, 1));
    let screen = overview(&summarize(&run), &Style::default(), "last");
    let mark = "*: from one size alone, so it holds what the first task brings once";
    assert!(screen.contains("993*") && screen.contains(mark), "{screen}");
    let sloped = overview(&summarize(&parked(&ALL[1..2], 2)), &Style::default(), "last");
    assert!(sloped.contains(" 920 ") && !sloped.contains('*'), "{sloped}");
    let once = (920_000_000 + (70 << 20)) as f64 / 1e6;
    assert!((held.bytes - once).abs() < 0.01, "{} holds what the first task brings: {once}", held.bytes);
    let mut run = parked(&ALL[..1], 2);
    run.samples.iter_mut().for_each(|sample| sample.extra.clear());
    let row = summarize(&run).overview.residents[0].rows[0].clone();
    assert_eq!((row.held, row.ends), (None, Some(1_000)));
}

#[test]
fn the_screen_has_the_table() {
    let summary = summarize(&parked(&ALL, 3));
    let screen = overview(&summary, &Style::default(), "last");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    insta::assert_snapshot!(screen);
    let whole = text(&summary, &Style::default());
    let two = [Holds { runtime: "cpp", ..ALL[2] }, ALL[2]];
    let screen = overview(&summarize(&parked(&two, 1)), &Style::default(), "last");
    assert!(screen.contains("\n2 rows end at 1,000,000: can bear at most 10000 tasks"), "{screen}");
    assert!(screen.contains("9,000      one process"), "{screen}");
    let reason = "threads spawn ends at 1,000,000: can bear at most 10000 tasks: one OS thread each";
    assert!(whole.contains(reason), "{whole}");
    let row = "| smol | executor/spawn | 120 | 120 to 162 | 3 | 117 | 1,000,000 | 3 | 98 ns |";
    assert!(markdown(&summary).contains(row), "{}", markdown(&summary));
    let row = "<th scope=\"row\">smol</th><td>executor/spawn</td><td class=\"n\">120</td>";
    assert!(page(&summary).contains(row));
    let json = serde_json::to_value(&summary).expect("JSON");
    assert_eq!(json["overview"]["residents"][0]["rows"][3]["ends"], 1_000_000);
}
