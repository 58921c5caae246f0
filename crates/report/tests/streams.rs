//! Tables of how many bytes a second are read, from a run file to what is shown.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    answer::Rule,
    metric::Count,
    missing::Reading,
    params::{ParamValue, Params},
    run_file::{CountRecord, Kind, Role, RowEnd, RowRecord, SampleRecord, Status, Stop},
    suite::{Claim, ClaimOf, Contrast, PublishedPass, StreamOf},
    summary::{ClaimVerdict, Streams},
};
use taskscale_report::{Style, json, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const MIB: u64 = 1 << 20;

/// Runtime, variant, bytes of the buffer of a floor, CPU and wall time of a pass in microseconds.
type Way = (&'static str, &'static str, Option<u64>, u64, u64);

const ALL: [Way; 7] = [
    ("threads", "memcpy/none", Some(65_536), 40, 40),
    ("threads", "read/none", Some(65_536), 80, 80),
    ("threads", "read/none", Some(16_384), 90, 90),
    ("threads", "read/for", None, 100, 110),
    ("threads", "fs::read/for", None, 250, 250),
    ("swift", "Data/for", None, 5_000, 3_000),
    ("swift", "Data/unsafe", None, 500, 600),
];

fn claim(text: &str, variant: &str, than: &str, of: ClaimOf, above: f64) -> Claim {
    let (text, variant, than) = (text.to_owned(), variant.to_owned(), than.to_owned());
    let (size, than_size) = (None, None);
    Claim {
        text,
        runtime: "swift".into(),
        variant,
        than,
        size,
        than_size,
        of,
        above: Some(above),
        below: None,
    }
}

/// A run with these ways, each with eight processes of two samples. The second of a process takes
/// 1 % longer.
fn run_of(ways: &[Way], server_us: Option<u64>) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    let (row, sample) = (run.rows[0].clone(), run.samples[0].clone());
    (run.rows, run.samples, run.row_ends, run.rounds) = (vec![], vec![], vec![], vec![]);
    run.header.suites.truncate(1);
    let suite = &mut run.header.suites[0];
    (suite.name, suite.title) = ("bytes".into(), "A stream of bytes".into());
    suite.workloads.truncate(1);
    let block = &mut suite.workloads[0];
    (block.title, block.answer.rule) = ("bytes of a file".into(), Rule::Bytes);
    let contrast = |name: &str, runtime: &str, one: &str, other: &str| Contrast {
        name: name.into(),
        runtime: runtime.into(),
        one: one.into(),
        other: other.into(),
    };
    let pass = PublishedPass { bytes: 128 * MIB, wall_ms: 605.0, cpu_ms: 640.0 };
    block.stream = Some(StreamOf {
        floors: ["memcpy/none", "read/none", "read/for"].map(|name| format!("threads:{name}")).into(),
        contrasts: vec![
            contrast("bounds checks", "swift", "Data/unsafe", "Data/for"),
            contrast("whole stream in memory", "threads", "read/for", "fs::read/for"),
            contrast("of nothing", "swift", "Data/unsafe", "nowhere"),
        ],
        published_on: "M2 MacBook Air".into(),
        published: [("swift:Data/for".to_owned(), pass)].into(),
    });
    block.claims = vec![
        claim("unsafe is 7 times as fast", "Data/unsafe", "Data/for", ClaimOf::Throughput, 700.0),
        claim("more than one core is used", "Data/for", "", ClaimOf::Cores, 101.0),
        claim("more than one core is used (unsafe)", "Data/unsafe", "", ClaimOf::Cores, 101.0),
    ];
    for (number, (runtime, variant, chunk, cpu_us, wall_us)) in (0..).zip(ways) {
        let mut key = row.key.clone();
        key.size = MIB;
        (key.series.suite, key.series.table) = ("bytes".into(), "bytes of a file".into());
        (key.series.workload, key.series.runtime) = ("bytes".into(), (*runtime).into());
        (key.series.variant, key.series.case) = ((*variant).into(), Params::new());
        key.series.params = [("mode".to_owned(), ParamValue::Word("sum8".into()))].into();
        if let Some(chunk) = chunk {
            key.series.case.insert("mode".into(), ParamValue::Word("none".into()));
            key.series.case.insert("chunk".into(), ParamValue::Integer(*chunk));
            let case = key.series.case.clone();
            key.series.params.extend(case);
        }
        let creates_task = Some(false);
        let plain =
            RowRecord { row: number, key, creates_task, role: Role::Row, baseline: None, ..row.clone() };
        run.rows.push(plain);
        run.row_ends.push(RowEnd { row: number, status: Status::Ok { stop: Stop::MaxTime } });
        for round in 0..16 {
            let longer = |us: u64| us * 10 * (100 + round % 2);
            run.samples.push(SampleRecord {
                order: run.samples.len() as u64,
                row: number,
                kind: Kind::Timed,
                round,
                process: round / 2,
                size: MIB,
                iterations: 2,
                cpu_ns: 2 * longer(*cpu_us),
                wall_ns: 2 * longer(*wall_us),
                server_cpu_ns: server_us.map(|us| us * 2_000),
                ..sample.clone()
            });
        }
    }
    run
}

fn streams(ways: &[Way]) -> Streams {
    let mut summary = summarize(&run_of(ways, Some(70)));
    assert!(summary.overview.rankings.is_empty(), "a stream is not ranked by the time of a byte");
    summary.overview.streams.swap_remove(0)
}

fn near(found: Option<f64>, right: f64) {
    let found = found.expect("a figure");
    assert!((found / right - 1.0).abs() < 0.011, "{found} and not {right}");
}

#[test]
fn throughput_is_computed_and_divided_by_the_cheapest_row_that_sums_up() {
    let table = streams(&ALL);
    let find = |name: &str| table.rows.iter().find(|row| row.variant == name).expect(name);
    // 1 MiB in 100 us.
    near(find("read/for").cpu_mib_s, 10_000.0);
    near(find("read/for").wall_mib_s, 9_090.9);
    assert_eq!(table.floor.as_deref(), Some("threads:read/for"));
    near(find("Data/for").times_floor, 50.0);
    let ci = find("Data/for").times_floor_ci.expect("eight processes");
    assert!(ci.0 <= 50.0 && ci.1 >= 49.9, "{ci:?}");
    assert_eq!(find("memcpy/none chunk=65536").times_floor, None, "it sums nothing up");
    near(find("Data/for").published_cpu_mib_s, 200.0);
    near(find("Data/for").published_wall_mib_s, 211.6);
    // CPU time of the server for a MiB.
    near(table.server_mib_ns, 70_000.0);
    let order: Vec<&str> = table.rows.iter().map(|row| &*row.variant).collect();
    let right = [
        "memcpy/none chunk=65536",
        "read/none chunk=65536",
        "read/none chunk=16384",
        "read/for",
        "fs::read/for",
        "Data/unsafe",
        "Data/for",
    ];
    assert_eq!(order, right, "floors first, then the cheapest");
}

#[test]
fn pairs_and_claims_are_held_to_what_was_measured() {
    let table = streams(&ALL);
    let pairs: Vec<(&str, f64)> = table.contrasts.iter().map(|pair| (&*pair.name, pair.times)).collect();
    assert_eq!(
        pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(),
        ["bounds checks", "whole stream in memory"]
    );
    near(Some(pairs[0].1), 10.0);
    near(Some(pairs[1].1), 2.5);
    let verdicts: Vec<ClaimVerdict> = table.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [ClaimVerdict::Confirmed, ClaimVerdict::Confirmed, ClaimVerdict::Refuted]);
    near(table.claims[1].percent, 5_000.0 / 30.0);
    let unmeasured = streams(&ALL[..5]);
    assert!(unmeasured.claims.is_empty(), "nothing of Swift was measured");
    let part = streams(&ALL[..6]);
    assert_eq!(part.claims[0].verdict, ClaimVerdict::NotMeasured, "one of the two was not");
    assert_eq!(unmeasured.contrasts.len(), 1);
}

#[test]
fn peaks_of_memory_are_claimed_where_they_were_counted() {
    let peak = claim("unsafe raises peak memory", "Data/unsafe", "Data/for", ClaimOf::Peak, 105.0);
    let uncounted = || {
        let mut run = run_of(&ALL, None);
        run.header.suites[0].workloads[0].claims = vec![peak.clone()];
        run
    };
    let judge = |run: &Run| summarize(run).overview.streams.swap_remove(0).claims.swap_remove(0);
    assert_eq!(judge(&uncounted()).verdict, ClaimVerdict::NotMeasured);
    let judged = |peaks: [[u64; 3]; 2]| {
        let mut run = uncounted();
        for (variant, of_processes) in ["Data/for", "Data/unsafe"].into_iter().zip(peaks) {
            let row = run.rows.iter().find(|row| row.key.variant == variant).expect("a row").clone();
            for (process, peak) in (0..).zip(of_processes) {
                run.counts.push(CountRecord {
                    order: 0,
                    row: row.row,
                    process,
                    workload: row.key.workload.clone(),
                    runtime: row.key.runtime.clone(),
                    variant: variant.to_owned(),
                    size: row.key.size,
                    iterations: 1,
                    seed: 1,
                    allocations: None,
                    syscalls: None,
                    others: [(Count::PeakResident, Reading::Value(peak * MIB))].into(),
                    by_name: Default::default(),
                    for_growth: false,
                });
            }
        }
        let judged = judge(&run);
        (judged.percent.expect("a share"), judged.verdict)
    };
    let (percent, verdict) = judged([[100, 101, 100], [130, 131, 129]]);
    near(Some(percent), 130.0);
    assert_eq!(verdict, ClaimVerdict::Confirmed);
    assert_eq!(judged([[100, 101, 100], [100, 101, 101]]).1, ClaimVerdict::Refuted);
    assert_eq!(judged([[100, 101, 140], [130, 131, 129]]).1, ClaimVerdict::CannotTell, "ranges overlap");
}

#[test]
fn what_is_counted_stands_for_a_pass_and_not_for_a_byte() {
    let mut run = run_of(&ALL, None);
    let row = run.rows.iter().find(|row| row.key.variant == "Data/for").expect("a row").clone();
    for process in 0..3 {
        for iterations in [1, 2] {
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
                allocations: None,
                syscalls: Some(Reading::Value(17 + 16 * iterations)),
                others: [
                    (Count::Retains, Reading::Value(5 + 32_768 * iterations)),
                    (Count::Releases, Reading::Value((32_768 + 100 * process) * iterations)),
                ]
                .into(),
                by_name: [("read".to_owned(), 16 * iterations)].into(),
                for_growth: false,
            });
        }
    }
    let summary = summarize(&run);
    let screen = overview(&summary, &Style::default(), "last");
    for words in
        ["System calls, per pass: ", "16.000", "Retains and releases, per pass", "  32,768 ", "~32,868"]
    {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    let of_calls = "swift Data/for at 1,048,576, per pass: read 16.000";
    assert!(screen.contains(of_calls) && !screen.contains("per task: "), "{screen}");
    let whole = text(&summary, &Style::default());
    assert!(whole.contains("Counts per pass") && !whole.contains("Counts per task"), "{whole}");
}

#[test]
fn without_a_floor_there_is_no_multiple() {
    let table = streams(&ALL[5..]);
    assert!(table.floor.is_none() && table.rows.iter().all(|row| row.times_floor.is_none()), "{table:?}");
    assert!(text(&summarize(&run_of(&ALL[5..], None)), &Style::default()).contains("MiB/s CPU"));
}

#[test]
fn ways_without_an_interval_are_told() {
    let unsure = |run: &Run| {
        let screen = overview(&summarize(run), &Style::default(), "last");
        screen.lines().find(|line| line.starts_with("unsure")).map(str::to_owned)
    };
    let mut run = run_of(&ALL, None);
    assert_eq!(unsure(&run), None);
    let seldom = run.rows.iter().find(|row| row.key.variant == "Data/for").expect("a row").row;
    run.samples.retain(|sample| sample.row != seldom || sample.process < 5);
    let said = unsure(&run).expect("a finding");
    assert!(said.contains("1 of 3 have no interval: fewer than six processes"), "{said}");
}

#[test]
fn the_screen_has_the_table() {
    let summary = summarize(&run_of(&ALL, Some(70)));
    let screen = overview(&summary, &Style::default(), "last");
    assert!(
        screen.lines().count() <= 40 && screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    insta::assert_snapshot!(screen);
}

#[test]
fn every_format_has_the_percentiles_with_their_count() {
    let summary = summarize(&run_of(&ALL, Some(70)));
    let detailed = text(&summary, &Style { detailed: true, ..Style::default() });
    for line in detailed.lines().filter(|line| line.starts_with(" swift") || line.starts_with(" threads")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for (format, said) in [
        ("text", detailed),
        ("Markdown", markdown(&summary)),
        ("page", page(&summary)),
        ("JSON", json(&summary)),
    ] {
        if format != "JSON" {
            assert!(said.contains("max of 16"), "{format}: p99 of 16 samples is the largest\n{said}");
            assert!(said.contains("read/none chunk=16384"), "{format}: every floor");
            assert!(said.contains("its server: 70.0 us of CPU a MiB"), "{format}: {said}");
        }
        assert!(said.contains("bounds checks"), "{format}");
    }
    let value: serde_json::Value = serde_json::from_str(&json(&summary)).expect("JSON");
    let row = &value["overview"]["streams"][0]["rows"][3];
    assert_eq!((&row["cpu"]["n"], &row["cpu"]["p0"]), (&16.into(), &100_000.0.into()));
    // With a hundred samples the percentile is one.
    let mut many = run_of(&ALL, None);
    let samples = many.samples.clone();
    many.samples = (0..7).flat_map(|_| samples.clone()).collect();
    assert!(!text(&summarize(&many), &Style { detailed: true, ..Style::default() }).contains("max of"));
}
