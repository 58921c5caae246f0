//! Properties of reading and summarising, over runs that proptest makes up.

use proptest::prelude::*;
use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    key::{RowKey, SeriesKey},
    missing::Reading,
    protocol::Answer,
    run_file::{Kind, Role, RowEnd, RowRecord, SampleRecord, Status, Stop, ThreadsRan},
    summary::{Summary, lines::lines},
};
use taskscale_report::{Style, json, markdown, text};

const HAND: &str = include_str!("../../analysis/tests/data/hand.jsonl");

fn sample() -> impl Strategy<Value = SampleRecord> {
    let time = || prop_oneof![Just(0), Just(u64::MAX), 1..1_000_000_000_u64];
    (0..6_u64, 0..30_u64, time(), time(), 0..4_u64, any::<bool>()).prop_map(
        |(row, round, cpu_ns, wall_ns, iterations, timed)| SampleRecord {
            order: 0,
            row,
            kind: if timed { Kind::Timed } else { Kind::Phases },
            round,
            process: 0,
            workload: "w".into(),
            runtime: "r".into(),
            variant: "v".into(),
            size: 64 << row,
            iterations,
            seed: 0,
            wall_ns,
            cpu_ns,
            outside_wall_ns: wall_ns,
            stopped: None,
            outside_cpu_ns: None,
            run_delay_ns: timed.then_some(round % 3 * 1_000),
            threads: timed.then_some(Reading::Value(ThreadsRan { ran: round % 3, busiest_share: 0.4 })),
            load: None,
            cpu: None,
            carried: false,
            server_cpu_ns: None,
            answer: Answer(0),
            extra: [("create_cpu_ns".to_owned(), (cpu_ns / 2).into())].into_iter().collect(),
        },
    )
}

/// Five rows (of the six that samples name), with arbitrary samples.
fn run() -> impl Strategy<Value = Run> {
    (prop::collection::vec(sample(), 0..150), "\\PC{0,12}", any::<[bool; 5]>()).prop_map(
        |(samples, name, ended)| {
            let mut run = parse_run(HAND).expect("a run file");
            run.rows = (0..5)
                .map(|row| RowRecord {
                    row,
                    key: RowKey {
                        series: SeriesKey {
                            suite: "s".into(),
                            table: "t".into(),
                            workload: "w".into(),
                            runtime: name.clone(),
                            version: "1".into(),
                            variant: if row == 1 { "a".into() } else { name.clone() },
                            ..SeriesKey::default()
                        },
                        size: 64 << row,
                    },
                    creates_task: None,
                    jit: row == 2,
                    settle_ms: None,
                    units: None,
                    sweep: None,
                    role: [Role::Baseline, Role::Row, Role::Control, Role::Row, Role::Row][row as usize],
                    // Row 4 names a baseline that does not exist.
                    baseline: [None, Some(0), Some(0), Some(1), Some(9)][row as usize],
                })
                .collect();
            run.row_ends = (0..5)
                .filter(|&row| ended[row as usize])
                .map(|row| RowEnd { row, status: Status::Ok { stop: Stop::MaxTime } })
                .collect();
            run.samples = samples;
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_run(&bytes);
    }

    #[test]
    fn reading_survives_one_flipped_byte(place in 0..HAND.len(), byte: u8) {
        let mut bytes = HAND.as_bytes().to_vec();
        bytes[place] = byte;
        if let Ok(run) = parse_run(&bytes) {
            text(&summarize(&run), &Style::default());
        }
    }

    #[test]
    fn percentiles_lie_between_the_smallest_and_the_largest(run in run()) {
        for row in summarize(&run).rows.iter().flat_map(lines) {
            let (Some(p0), Some(p100)) = (row.p0, row.p100) else {
                prop_assert!(row.reason.is_some(), "no figures and no reason");
                continue;
            };
            let all = [row.p0, row.p25, row.p50, row.p75, row.p90, row.p99, row.p100];
            prop_assert!(all.iter().flatten().is_sorted() && all.iter().all(Option::is_some));
            prop_assert!(row.ci.is_none_or(|ci| p0 <= ci.0 && ci.0 <= ci.1 && ci.1 <= p100));
            prop_assert!(row.ratio_ci.is_none_or(|ci| ci.0 <= row.ratio.unwrap_or(0.0) && row.ratio.unwrap_or(0.0) <= ci.1));
        }
    }

    #[test]
    fn json_round_trips(run in run()) {
        let summary = summarize(&run);
        let back: Summary = serde_json::from_str(&json(&summary)).expect("our own JSON");
        prop_assert_eq!(summary, back);
    }

    #[test]
    fn every_row_is_seen_and_no_escape_passes(run in run()) {
        let summary = summarize(&run);
        let text = text(&summary, &Style { detailed: true, ..Style::default() });
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        markdown(&summary);
        for row in 0..5_u64 {
            prop_assert!(text.contains(&taskscale_size(64 << row)), "size of row {row} in\n{text}");
        }
    }
}

/// Writes a size as the report does.
fn taskscale_size(size: u64) -> String {
    if size < 1000 { size.to_string() } else { format!("{},{:03}", size / 1000, size % 1000) }
}
