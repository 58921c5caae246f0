//! What a task's cost consists of, and rates beside published ones, from a run file to what is
//! shown.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    missing::Missing,
    params::{ParamValue, Params},
    run_file::{Kind, Role, RowEnd, RowRecord, SampleRecord, Status, Stop},
    suite::{Claim, ClaimOf, RatesOf, SplitOf},
    summary::{ClaimVerdict, Summary},
};
use taskscale_report::{Style, json, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");

/// Runtime, variant, state of the collector, size, CPU time of a task in nanoseconds.
type Way = (&'static str, &'static str, &'static str, u64, u64);

const ALL: [Way; 7] = [
    ("asyncio", "wait", "", 1_000, 5_000),
    ("asyncio", "wait", "", 10_000, 8_000),
    ("asyncio", "wait", "off", 1_000, 3_000),
    ("asyncio", "wait", "off", 10_000, 2_000),
    ("asyncio", "wait", "freeze", 10_000, 7_000),
    ("go", "WaitGroup", "", 10_000, 400),
    ("go", "WaitGroup", "off", 10_000, 500),
];

fn gc(state: &str) -> Params {
    let word = |state: &str| ("gc".to_owned(), ParamValue::Word(state.into()));
    Some(state).filter(|state| !state.is_empty()).map(word).into_iter().collect()
}

fn claim(text: &str, size: u64, than: Option<u64>, above: Option<f64>, below: Option<f64>) -> Claim {
    Claim {
        text: text.into(),
        runtime: "asyncio".into(),
        variant: "wait".into(),
        than: than.map(|_| "wait".to_owned()).unwrap_or_default(),
        size: Some(size),
        than_size: than,
        of: if than.is_some() { ClaimOf::Throughput } else { ClaimOf::Published },
        above,
        below,
    }
}

/// A run with these ways, each with eight processes of one sample; the time of a process differs
/// by at most 2 %. Creation is 40 % of what a sample takes.
fn run_of(ways: &[Way]) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    let (row, sample) = (run.rows[0].clone(), run.samples[0].clone());
    (run.rows, run.samples, run.row_ends, run.rounds) = (vec![], vec![], vec![], vec![]);
    run.header.suites.truncate(1);
    let suite = &mut run.header.suites[0];
    (suite.name, suite.title) = ("nop".into(), "Tasks that do nothing".into());
    suite.workloads.truncate(1);
    let block = &mut suite.workloads[0];
    block.title = "the collector".into();
    for (number, (runtime, variant, state, size, ns)) in (0..).zip(ways) {
        let mut key = row.key.clone();
        key.size = *size;
        (key.series.suite, key.series.table) = ("nop".into(), "the collector".into());
        (key.series.workload, key.series.runtime) = ("nop".into(), (*runtime).into());
        (key.series.variant, key.series.case) = ((*variant).into(), gc(state));
        key.series.params = gc(state);
        run.rows.push(RowRecord { row: number, key, role: Role::Row, baseline: None, ..row.clone() });
        run.row_ends.push(RowEnd { row: number, status: Status::Ok { stop: Stop::MaxTime } });
        for round in 0..16 {
            let took = size * ns * (1_000 + round / 2) / 1_000;
            let phases = round % 2 == 1;
            let extra = serde_json::json!({
                "gc_collections": [size / 100, 2, 1], "create_cpu_ns": took * 4 / 10
            });
            run.samples.push(SampleRecord {
                order: run.samples.len() as u64,
                row: number,
                kind: if phases { Kind::Phases } else { Kind::Timed },
                round: round / 2,
                process: round / 2,
                size: *size,
                iterations: 1,
                cpu_ns: took,
                wall_ns: 2 * took,
                extra: if phases {
                    extra.as_object().expect("an object").clone()
                } else {
                    Default::default()
                },
                ..sample.clone()
            });
        }
    }
    run
}

fn split(mut run: Run) -> Run {
    run.header.suites[0].workloads[0].split = Some(SplitOf { off: gc("off"), ..SplitOf::default() });
    run
}

fn rated(mut run: Run) -> Run {
    let block = &mut run.header.suites[0].workloads[0];
    let published = [("1000".to_owned(), 250_000.0), ("10000".to_owned(), 240_000.0)];
    block.rates = Some(RatesOf {
        published_on: "an old machine".into(),
        published: [("asyncio:wait".to_owned(), published.into())].into(),
    });
    block.claims = vec![
        claim("half of the published rate", 10_000, None, Some(50.0), Some(55.0)),
        claim("the rate does not fall", 10_000, Some(1_000), Some(90.0), None),
        claim("it falls to less than a tenth", 10_000, Some(1_000), None, Some(10.0)),
        claim("at a size that is not there", 7, Some(1_000), Some(90.0), None),
        claim("the rate falls to 62.3 to 70 %", 10_000, Some(1_000), Some(62.3), Some(70.0)),
    ];
    run
}

fn screen(summary: &Summary) -> String {
    overview(summary, &Style::default(), "last")
}

#[test]
fn the_collector_is_what_a_row_takes_beyond_its_counterpart() {
    let summary = summarize(&split(run_of(&ALL)));
    assert!(summary.overview.rankings.is_empty(), "a table of parts is not ranked");
    let [large, small] = summary.overview.splits.as_slice() else { panic!("a table for each size") };
    assert_eq!((large.size, small.size), (10_000, 1_000), "the largest first");
    let names: Vec<_> = large.rows.iter().map(|row| (&*row.runtime, &*row.case)).collect();
    assert_eq!(names, [("go", ""), ("asyncio", ""), ("asyncio", "gc=freeze")], "none is without it");
    let parts = |row: usize| *large.rows[row].parts.value().expect("parts");
    let near = |found: f64, right: f64| assert!((found - right).abs() < 0.2, "{found} and not {right}");
    near(parts(1).collector, 75.0);
    near(parts(1).create.expect("creation"), 10.0);
    near(parts(1).rest, 15.0);
    near(parts(2).collector, 100.0 * 5.0 / 7.0);
    near(parts(0).collector, -25.0);
    let ci = parts(1).collector_ci.expect("eight processes");
    assert!(ci.0 <= 75.0 && ci.1 >= 74.9 && ci.0 < ci.1 + 1e-9, "{ci:?}");
    near(small.rows[0].parts.value().expect("parts").collector, 40.0);
    assert_eq!(large.rows[1].collections, [100.0, 2.0, 1.0]);
}

#[test]
fn a_row_whose_counterpart_is_not_there_says_so() {
    let without = |state: Status| {
        let mut run = split(run_of(&ALL[1..5]));
        run.row_ends.iter_mut().find(|end| end.row == 2).expect("a row").status = state;
        summarize(&run)
    };
    let failed = without(Status::Failed(Missing::new("it ran out of memory", "take fewer tasks")));
    let row = &failed.overview.splits[0].rows[0];
    let why = row.parts.why().expect("a reason").to_string();
    assert_eq!(why, "its row without the collector: it ran out of memory");
    assert!(screen(&failed).contains(&why), "{}", screen(&failed));
    let alone = summarize(&split(run_of(&ALL[1..2])));
    let why = alone.overview.splits[0].rows[0].parts.why().expect("a reason");
    assert!(why.reason.contains("not part of the run"), "{why}");
}

#[test]
fn a_bar_is_as_long_as_the_parts_are_large() {
    let summary = summarize(&split(run_of(&ALL)));
    let screen = screen(&summary);
    let line = |of: &str| screen.lines().find(|line| line.contains(of)).expect(of);
    let cells = |of: &str, cell: char| line(of).chars().filter(|&letter| letter == cell).count();
    let drawn = |of: &str| ['\u{2588}', '\u{2592}', '\u{2591}'].map(|cell| cells(of, cell));
    assert_eq!(drawn("8.03 us"), [2, 4, 18], "10, 15 and 75 % of 24 cells");
    assert_eq!(drawn("401 ns"), [10, 14, 0], "a collector that takes less than nothing has no cell");
    assert!(line("401 ns").contains("-25 % ["), "{}", line("401 ns"));
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn a_counterpart_that_takes_as_long_shows_no_collector() {
    let shown = |processes: u64| {
        let mut run =
            split(run_of(&[("go", "WaitGroup", "", 10_000, 400), ("go", "WaitGroup", "off", 10_000, 404)]));
        run.samples.retain(|sample| sample.process < processes);
        screen(&summarize(&run))
    };
    assert!(shown(3).contains("none seen"), "{}", shown(3));
    // Whole intervals below nothing are told: something else differs.
    assert!(shown(8).contains("-1 % [-1, -1]"), "{}", shown(8));
}

#[test]
fn rates_stand_beside_the_published_ones_and_claims_are_held_to_them() {
    let summary = summarize(&rated(run_of(&ALL[..2])));
    let [table] = summary.overview.rates.as_slice() else { panic!("a table") };
    let found: Vec<_> = table.rows.iter().map(|row| (row.size, row.published)).collect();
    assert_eq!(found, [(1_000, Some(250_000.0)), (10_000, Some(240_000.0))]);
    assert!((table.rows[1].per_s / 125_000.0 - 1.0).abs() < 0.01, "{}", table.rows[1].per_s);
    assert!((table.rows[1].wall_per_s.expect("a wall clock") / 62_500.0 - 1.0).abs() < 0.01);
    let ci = table.rows[1].ci.expect("eight processes");
    assert!(ci.0 <= table.rows[1].per_s && table.rows[1].per_s <= ci.1, "{ci:?}");
    let verdicts: Vec<ClaimVerdict> = table.claims.iter().map(|claim| claim.verdict).collect();
    let right = [
        ClaimVerdict::Confirmed,
        ClaimVerdict::Refuted,
        ClaimVerdict::Refuted,
        ClaimVerdict::NotMeasured,
        ClaimVerdict::CannotTell,
    ];
    assert_eq!(verdicts, right);
    let percent = table.claims[1].percent.expect("a share");
    assert!((percent - 62.5).abs() < 0.5, "{percent}");
    insta::assert_snapshot!(screen(&summary));
}

#[test]
fn every_format_has_the_parts_and_the_rates() {
    let style = Style { detailed: true, ..Style::default() };
    let summary = summarize(&split(run_of(&ALL)));
    assert!(text(&summary, &style).contains("75 % ["), "{}", text(&summary, &style));
    for shown in [markdown(&summary), page(&summary)] {
        assert!(shown.contains("100 / 2 / 1") && shown.contains("75 %"), "{shown}");
    }
    assert!(json(&summary).contains("\"collector_ci\""));
    let rates = summarize(&rated(run_of(&ALL[..2])));
    for shown in [text(&rates, &style), markdown(&rates), page(&rates)] {
        assert!(shown.contains("an old machine") && shown.contains("250,000"), "{shown}");
        assert!(shown.contains("refuted"), "{shown}");
    }
    assert!(json(&rates).contains("\"wall_per_s\""));
}
