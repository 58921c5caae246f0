//! What allocated bytes and collections say of growth. In `data/wide.jsonl` the form `spawn` costs
//! 300 n ns; the tests give `JoinSet` another cost.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    metric::Count,
    missing::Reading,
    run_file::{CountRecord, RowRecord},
    summary::{Cause, Check, FindingKind, Grade, Growth, Summary},
};

const WIDE: &str = include_str!("data/wide.jsonl");

/// WIDE in a language, with 300 n (n / 64)^(`power` - 1) ns for `JoinSet`.
fn run(language: &str, power: f64) -> Run {
    let changed = |line| {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("a record");
        if record["type"] == "runtime" {
            record["runtime"]["language"] = language.into();
        }
        if record["type"] == "sample" && record["variant"] == "JoinSet" {
            let of = |field: &str| record[field].as_f64().expect("a number");
            let each_ns = 300.0 * of("size") * (of("size") / 64.0).powf(power - 1.0);
            record["cpu_ns"] = ((of("iterations") * each_ns) as u64).into();
        }
        record.to_string() + "\n"
    };
    parse_run(WIDE.lines().map(changed).collect::<String>()).expect("a run file")
}

/// What a process of a row counts in so many iterations.
fn record(row: &RowRecord, process: u64, iterations: u64, others: &[(Count, u64)]) -> CountRecord {
    CountRecord {
        order: 0,
        row: row.row,
        process,
        workload: row.key.workload.clone(),
        runtime: row.key.runtime.clone(),
        variant: row.key.variant.clone(),
        size: row.key.size,
        iterations,
        seed: 1,
        allocations: None,
        syscalls: None,
        others: others.iter().map(|(count, each)| (*count, Reading::Value(each * iterations))).collect(),
        by_name: Default::default(),
        for_growth: false,
    }
}

/// The same, counted by two processes: 100 n^`of_bytes` bytes and so many collections in each
/// iteration.
fn counted(language: &str, power: f64, of_bytes: f64, collections: u64) -> Summary {
    summarize(&counted_run(language, power, of_bytes, collections))
}

fn counted_run(language: &str, power: f64, of_bytes: f64, collections: u64) -> Run {
    let mut run = run(language, power);
    for row in run.rows.clone() {
        let bytes = (100.0 * (row.key.size as f64).powf(of_bytes)) as u64;
        let others = [(Count::Bytes, bytes), (Count::Collections, collections)];
        for (process, iterations) in [(0, 10), (0, 20), (1, 10), (1, 20)] {
            run.counts.push(record(&row, process, iterations, &others));
        }
    }
    run
}

/// The growth of `JoinSet`, and what a finding of this kind says of it.
fn told(summary: &Summary, kind: FindingKind) -> (Growth, String) {
    let growth = summary.growth.iter().find(|growth| growth.key.variant == "JoinSet").expect("a series");
    let mut findings = summary.overview.findings.iter().filter(|finding| finding.kind == kind);
    let said = findings.find(|finding| finding.text.starts_with("tokio JoinSet"));
    (growth.clone(), said.map(|said| format!("{}; {}", said.text, said.remedy)).unwrap_or_default())
}

#[test]
fn linear_bytes_under_collections_tell_a_collector_from_a_cliff() {
    let summary = counted("csharp", 1.5, 1.0, 2);
    let (growth, said) = told(&summary, FindingKind::Growth);
    assert_eq!((growth.grade, growth.cause), (Grade::SoftGrowth, Some(Cause::Collector)));
    assert_eq!((growth.bend, growth.one_second, &growth.growth_control), (None, None, &None));
    assert_eq!(told(&summary, FindingKind::Cliff).1, "");
    let bytes = growth.bytes.expect("it was counted");
    assert_eq!(bytes.sizes, [8192, 16_384, 32_768, 65_536]);
    assert!((bytes.exponent - 1.0).abs() < 1e-9, "{bytes:?}");
    assert!(bytes.range.is_some_and(|range| (range.1 - range.0).abs() < 1e-9), "the processes agree");
    assert_eq!((bytes.collections, bytes.is_cliff), (Some(2.0), false));
    assert_eq!(
        said,
        "tokio JoinSet n^1.50: the collector, no cliff: bytes grow as n^1.00; check: the same with \
         DOTNET_GCgen0size=0x40000000"
    );
}

#[test]
fn growth_without_collections_or_beyond_a_collectors_is_a_cliff() {
    for (power, of_bytes, collections) in [(1.5, 1.0, 0), (1.9, 1.0, 2), (1.5, 1.3, 2)] {
        let (growth, said) = told(&counted("csharp", power, of_bytes, collections), FindingKind::Cliff);
        assert!(growth.is_cliff() && !growth.is_cliff_in_bytes(), "{growth:?}");
        assert_eq!((growth.cause, growth.check), (Some(Cause::Isolated), None), "{said}");
        assert!(said.starts_with("tokio JoinSet: n^1."), "{said}");
    }
}

#[test]
fn bytes_that_grow_as_a_square_are_a_cliff_however_cpu_time_grows() {
    for power in [1.0, 1.2, 1.77] {
        let (growth, said) = told(&counted("csharp", power, 1.99, 2), FindingKind::Cliff);
        assert!(growth.is_cliff_in_bytes() && growth.cause != Some(Cause::Collector), "{growth:?}");
        assert!(said.contains("; bytes grow as n^1.99"), "{said}");
    }
}

#[test]
fn what_may_be_a_collector_says_what_would_tell() {
    let check = |before: &str, behind: &str| Some(Check { before: before.into(), behind: behind.into() });
    let of = |language| told(&counted(language, 1.5, 1.0, 2), FindingKind::Growth).0.check;
    assert_eq!(of("go"), check("GOGC=off GOMEMLIMIT=4GiB", ""));
    assert_eq!(of("python"), None, "its young generation cannot be set from outside");
    let (growth, said) = told(&summarize(&run("python", 1.5)), FindingKind::Cliff);
    assert_eq!((growth.grade, growth.bytes), (Grade::Superlinear, None));
    assert_eq!(growth.check, check("", "--metrics bytes,gc"));
    assert!(said.ends_with("; to tell a collector from a cliff: --metrics bytes,gc"), "{said}");
    let uncounted = |language, power| told(&summarize(&run(language, power)), FindingKind::Cliff).0.check;
    assert_eq!(uncounted("rust", 1.5), None, "it has no collector");
    assert_eq!(uncounted("python", 1.9), None, "no collector grows so");
}

#[test]
fn bytes_at_too_few_sizes_tell_nothing() {
    let mut run = run("csharp", 1.5);
    for row in run.rows.clone().iter().filter(|row| row.key.size > 8192) {
        let others = [(Count::Bytes, 100 * row.key.size), (Count::Collections, 2)];
        for iterations in [10, 20] {
            run.counts.push(record(row, 0, iterations, &others));
        }
    }
    let (growth, _) = told(&summarize(&run), FindingKind::Cliff);
    assert_eq!((growth.grade, growth.bytes), (Grade::Superlinear, None), "8,192 is among the last octaves");
}

#[test]
fn what_is_counted_for_growth_tells_it_and_is_no_figure_of_a_row() {
    let has_figures = |summary: &Summary| {
        let mut figures = summary.rows.iter().filter_map(|row| row.figures());
        figures.any(|figures| !figures.counts.is_empty())
    };
    let mut run = counted_run("csharp", 1.5, 1.0, 2);
    assert!(has_figures(&summarize(&run)));
    run.counts.iter_mut().for_each(|record| record.for_growth = true);
    let summary = summarize(&run);
    assert_eq!(told(&summary, FindingKind::Growth).0.cause, Some(Cause::Collector));
    assert!(!has_figures(&summary));
}

#[test]
fn a_collection_that_the_longer_request_lacks_counts() {
    // Two in the shorter request and none in the longer one: less than none by their difference.
    let mut run = counted_run("csharp", 1.5, 1.0, 0);
    for record in run.counts.iter_mut().filter(|record| record.iterations == 10) {
        record.others.insert(Count::Collections, Reading::Value(4_000));
    }
    let (growth, _) = told(&summarize(&run), FindingKind::Growth);
    assert_eq!(growth.cause, Some(Cause::Collector), "{growth:?}");
    let collections = growth.bytes.and_then(|bytes| bytes.collections);
    assert_eq!(collections, Some(8_000.0 / 60.0), "of 60 iterations");
}

#[test]
fn so_few_collections_as_cannot_make_the_growth_leave_it_a_cliff() {
    // 407 ms lie beyond the line. 50 ns for each of 6.5 MB, in one of 30 iterations, are 11 ms.
    let mut run = counted_run("csharp", 1.5, 1.0, 0);
    for record in run.counts.iter_mut().filter(|record| record.iterations == 20) {
        record.others.insert(Count::Collections, Reading::Value(1));
    }
    let (growth, _) = told(&summarize(&run), FindingKind::Cliff);
    assert_eq!((growth.grade, growth.cause), (Grade::Superlinear, Some(Cause::Isolated)), "{growth:?}");
}

#[test]
fn a_pause_that_a_longer_request_has_less_of_is_nothing_and_not_less() {
    let mut run = run("csharp", 1.0);
    let row = run.rows[0].clone();
    for (iterations, pause_ns) in [(10, 2_000_000), (20, 1_000_000)] {
        let mut record = record(&row, 0, iterations, &[]);
        record.others.insert(Count::PauseNs, Reading::Value(pause_ns));
        run.counts.push(record);
    }
    let summary = summarize(&run);
    let told = summary.rows.iter().find_map(|row| row.figures().filter(|one| !one.counts.is_empty()));
    let text = serde_json::to_string(&told.expect("a row that is counted").counts).expect("text");
    assert!(text.contains("0.0") && !text.contains('-'), "{text}");
}
