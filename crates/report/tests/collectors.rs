//! Growth that is the collector's, and bytes that are a cliff, as reports say it.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::run_file::Time;
use taskscale_model::summary::{BytesGrowth, Cause, Check, Grade, Interval, Summary};
use taskscale_report::{Style, markdown, text};

const WIDE: &str = include_str!("../../analysis/tests/data/wide.jsonl");

/// The summary of WIDE, whose second series is a cliff, with bytes of that series.
fn with_bytes(exponent: f64, is_cliff: bool) -> Summary {
    let run: Run = parse_run(WIDE).expect("a run file");
    let mut summary = summarize(&run);
    summary.growth[1].bytes = Some(BytesGrowth {
        sizes: summary.growth[1].sizes.clone(),
        exponent,
        range: Some(Interval(exponent, exponent + 0.01)),
        collections: Some(3.0),
        is_cliff,
    });
    summary
}

fn detailed(summary: &Summary) -> String {
    let shown = text(summary, &Style { detailed: true, width: 100, ..Style::default() });
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_collector_is_named_with_the_command_that_checks_it() {
    let mut summary = with_bytes(1.0, false);
    let growth = &mut summary.growth[1];
    (growth.grade, growth.cause, growth.exponent) = (Grade::SoftGrowth, Some(Cause::Collector), Some(1.5));
    (growth.bend, growth.bend_ci, growth.one_second) = (None, None, None);
    let before = "DOTNET_GCgen0size=0x40000000".to_owned();
    growth.check = Some(Check { before, behind: String::new() });
    let said = "tokio JoinSet: soft growth, n^1.50";
    let why = "the collector, no cliff: bytes grow as n^1.00 (1.00 to 1.01 by its processes); a larger young \
               generation makes it linear if that is so: DOTNET_GCgen0size=0x40000000 taskscale run fanout";
    for shown in [detailed(&summary), markdown(&summary)] {
        assert!(shown.contains(said), "{shown}");
        assert!(!shown.contains("SUPERLINEAR") && !shown.contains("no bend"), "{shown}");
    }
    assert!(detailed(&summary).contains(why), "{}", detailed(&summary));
    assert!(markdown(&summary).contains("<br>bytes n^1.00 |"), "{}", markdown(&summary));
}

#[test]
fn what_grows_in_wall_time_says_so() {
    let mut summary = summarize(&parse_run(WIDE).expect("a run file"));
    summary.growth[1].time = Time::Wall;
    let detailed = detailed(&summary);
    assert!(detailed.contains(" wall from 8,192 to 65,536; it waits for most of its time"), "{detailed}");
    assert!(markdown(&summary).contains(" wall"), "{}", markdown(&summary));
}

#[test]
fn bytes_are_a_cliff_where_cpu_time_is_soft() {
    let mut summary = with_bytes(1.99, true);
    summary.growth[1].grade = Grade::SoftGrowth;
    let why = "a cliff in bytes: bytes grow as n^1.99 (1.99 to 2.00 by its processes)";
    assert!(detailed(&summary).contains(why), "{}", detailed(&summary));
}

#[test]
fn counting_is_named_where_it_would_tell() {
    let mut summary = summarize(&parse_run(WIDE).expect("a run file"));
    let behind = "--metrics bytes,gc".to_owned();
    summary.growth[1].check = Some(Check { before: String::new(), behind });
    let output = ["-o", "run.jsonl", "--output=run.jsonl", "--output", "run.jsonl"];
    summary.command.extend(output.map(str::to_owned));
    let why = "to tell a collector from a cliff: taskscale run fanout --metrics bytes,gc";
    assert!(detailed(&summary).contains(why), "{}", detailed(&summary));
}
