//! Tables of servers: shares without a constant response, and latency from the intended start.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    load::{LoadRecord, OpenRecord, Pinned},
    params::ParamValue,
    run_file::Kind,
    suite::ShareOf,
    summary::{Finding, FindingKind, Summary},
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
/// A run of which one row, `late`, was timed while its code was being compiled.
const COLD: &str = include_str!("../../analysis/tests/data/jit.jsonl");
/// Taken off the other rows.
const CONSTANT: &str = "multi_thread/JoinSet";

/// A kept run whose samples were those of servers. A task of it is a request, and a response came
/// each 20 us.
fn served(open: impl Fn(&str) -> Option<OpenRecord>) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        let subtract = Some(CONSTANT.to_owned());
        block.title = "fanout order=ordered".into();
        block.share =
            Some(ShareOf { unit: "request".into(), count: 1, subtract, published: Default::default() });
    }
    for sample in run.samples.iter_mut().filter(|sample| sample.kind == Kind::Timed) {
        let requests = sample.size * sample.iterations;
        if sample.variant == CONSTANT {
            sample.cpu_ns /= 8;
        }
        sample.load = Some(LoadRecord {
            server: "a server 1.0".into(),
            connections: 100,
            wall_ns: 20_000 * requests,
            generator_cpu_ns: 5_000 * requests,
            pinned: Some(Pinned { server: 1, generator: 0 }),
            open: open(&sample.variant),
        });
    }
    run
}

fn fits(summary: &Summary) {
    let screen = overview(summary, &Style::default(), "last");
    assert!(screen.lines().count() <= 40, "{screen}");
    for line in screen.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_constant_response_is_taken_off_rows_and_base() {
    let summary = summarize(&served(|_| None));
    let table = &summary.overview.shares[0];
    let constant =
        table.subtracted.iter().find(|row| row.runtime == "tokio").expect("the row that is taken off");
    assert!(table.rows.iter().all(|row| row.variant != CONSTANT || row.runtime != "tokio"));
    let base = table.rows.iter().find(|row| row.runtime == "tokio" && row.is_base).expect("a base");
    for row in table.rows.iter().filter(|row| row.runtime == "tokio") {
        // Of the ratios that the shares are made of: (base - constant) / (row - constant).
        let [of, taken] = [row.percent, constant.percent].map(|percent| 100.0 / percent);
        let right = 100.0 * (1.0 - taken) / (of - taken);
        let got = row.percent_without;
        assert!(taken < 1.0 && got.is_some_and(|got| (got - right).abs() < 1e-9), "{got:?} {right}");
        let served = row.served.as_ref().expect("a server");
        assert!((served.per_s - 50_000.0).abs() < 1e-6 && (served.generator_share - 0.25).abs() < 1e-9);
    }
    assert!(base.percent_without.is_some_and(|percent| (percent - 100.0).abs() < 1e-9));
    fits(&summary);
    let details = text(&summary, &Style::default());
    assert!(details.contains("50,000/s, generator 25 % CPU"), "{details}");
    assert!(details.contains("used at most 25 % of its CPU") && !details.contains("shared the CPUs"));
    assert!(markdown(&summary).contains("| without constant | req/s |"));
    assert!(page(&summary).contains("<th scope=\"col\" class=\"n\">without constant</th>"));
}

#[test]
fn a_generator_that_is_the_bottleneck_and_cpus_that_are_shared_are_told() {
    let mut run = served(|_| None);
    for load in run.samples.iter_mut().filter_map(|sample| sample.load.as_mut()) {
        (load.generator_cpu_ns, load.pinned) = (load.wall_ns, None);
    }
    let notes = summarize(&run).notes.join("\n");
    assert!(notes.contains("requests a second are then its own"), "{notes}");
    assert!(notes.contains("shared the CPUs"), "{notes}");
}

#[test]
fn shares_of_processes_that_were_still_being_compiled_are_unsure() {
    let read_as_shares = |processes: u64| {
        let mut run = parse_run(COLD).expect("a run file");
        for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
            let published = Default::default();
            block.share = Some(ShareOf { unit: "task".into(), count: 1, subtract: None, published });
        }
        run.samples.retain(|sample| sample.process < processes);
        let findings = summarize(&run).overview.findings;
        let told = |one: &Finding| matches!(one.kind, FindingKind::Unsettled | FindingKind::Unsure);
        findings
            .into_iter()
            .filter(told)
            .map(|one| format!("{}; {}", one.text, one.remedy))
            .collect::<Vec<_>>()
    };
    let early = "1 of 3 were timed before fresh processes had levelled off: java late; name fewer with \
                 --runtime or --variant, or allow more with --max-time";
    assert_eq!(read_as_shares(6), [early]);
    let without = "1 of 3 have no interval: fewer than six processes; name fewer with --variant, or allow \
                   more with --max-time";
    assert_eq!(read_as_shares(5), [early, without]);
}

#[test]
fn a_table_with_a_parameter_put_over_it_is_read_as_the_table() {
    let mut run = served(|_| None);
    for row in &mut run.rows {
        row.key.series.table.push_str(", depth=5");
    }
    let tables = summarize(&run).overview.shares;
    assert!(
        !tables.is_empty() && tables.iter().all(|table| table.table.ends_with(", depth=5")),
        "{tables:?}"
    );
    for row in &mut run.rows {
        row.key.series.table = row.key.series.table.replace(", depth=5", " and more");
    }
    assert!(summarize(&run).overview.shares.is_empty(), "another table's title");
}

#[test]
fn latencies_of_all_samples_are_one_distribution() {
    // 990 at 1 ms and ten at 90 ms in each sample.
    let open = |waiting| OpenRecord {
        closed_per_s: 10_000.0,
        wanted_per_s: 5_000.0,
        achieved_per_s: 4_990.0,
        waiting,
        latency: vec![(1_000_000, 990), (90_000_000, 10)],
        late: vec![(2_000, 1_000)],
    };
    let mut run = served(|variant| Some(open(if variant == CONSTANT { 100 } else { 1 })));
    for row in &mut run.rows {
        let params = [("mode", "http-open"), ("rate", "50")]
            .map(|(name, value)| (name.to_owned(), ParamValue::parse(value)));
        row.key.series.workload = "interp".into();
        row.key.series.params.extend(params);
    }
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        block.share = None;
    }
    let summary = summarize(&run);
    assert!(summary.overview.rankings.is_empty(), "latency is not ranked");
    let table = &summary.overview.latencies[0];
    let row = table.rows.iter().find(|row| row.variant == CONSTANT).expect("a row");
    assert_eq!((row.rate, &*row.server, row.n % 1_000), (50, "a server 1.0", 0));
    assert_eq!((row.p50, row.p90, row.p99), (1e6, 1e6, Some(1e6)));
    assert_eq!((row.p999, row.max, row.late_p99), (Some(9e7), 9e7, Some(2_000.0)));
    fits(&summary);
    let line = "50 %   4,990 1.00 ms 1.00 ms 1.00 ms 90.0 ms 90.0 ms";
    assert!(
        overview(&summary, &Style::default(), "last").contains(line),
        "{}",
        overview(&summary, &Style::default(), "last")
    );
    let without = "of all requests together, without intervals";
    assert!(overview(&summary, &Style::default(), "last").contains(without), "no interval is missed");
    // A tenth of the requests of one row waited at the end.
    let details = text(&summary, &Style::default());
    let behind: Vec<&str> = details.lines().filter(|line| line.contains("waited when")).collect();
    assert!(!behind.is_empty() && behind.iter().all(|line| line.contains("JoinSet at 50 %")), "{behind:?}");
    assert!(markdown(&summary).contains("| 90.0 ms | 90.0 ms |"));
    assert!(page(&summary).contains("<td class=\"n\">90.0 ms</td><td class=\"n\">90.0 ms</td>"));
}
