//! The first screen of a report, as a user sees it: it answers first and fits a terminal.

use taskscale_analysis::{Run, SummaryOptions, parse_run, summarize, summarize_with};
use taskscale_model::{
    plain::columns,
    run_file::{Role, Status},
    suite::{Claim, ClaimOf, FREE, ShareOf},
    summary::{FindingKind, Quantity, Standing, Summary},
};
use taskscale_report::{
    Style, markdown, overview,
    overview::{COLUMNS, LINES},
};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const WIDE: &str = include_str!("../../analysis/tests/data/wide.jsonl");
const JIT: &str = include_str!("../../analysis/tests/data/jit.jsonl");
const THREADS: &str = include_str!("../../analysis/tests/data/threads.jsonl");
const VERSIONS: &str = include_str!("../../analysis/tests/data/versions.jsonl");

fn run(text: &str) -> Run {
    parse_run(text).expect("a run file")
}

fn shown(summary: &Summary) -> String {
    overview(summary, &Style::default(), "last")
}

fn fits(text: &str) {
    assert!(text.lines().count() <= LINES, "{} lines: {text}", text.lines().count());
    for line in text.lines() {
        assert!(line.chars().count() <= COLUMNS, "{}: {line}", line.chars().count());
    }
}

#[test]
fn screen_of_a_whole_run() {
    insta::assert_snapshot!(shown(&summarize(&run(QUICK))));
}

#[test]
fn screen_of_many_sizes() {
    insta::assert_snapshot!(shown(&summarize(&run(WIDE))));
}

#[test]
fn screen_of_a_run_that_grades_has_the_growth_of_its_series() {
    for text in [QUICK, WIDE, JIT, VERSIONS] {
        let mut summary = summarize(&run(text));
        assert!(!shown(&summary).contains("Growth of the whole, and CPU time per task"));
        summary.command.push("--grade".into());
        let screen = shown(&summary);
        fits(&screen);
        assert_eq!(
            screen.contains("Growth of the whole, and CPU time per task"),
            !summary.growth.is_empty(),
            "{screen}"
        );
    }
    let mut summary = summarize(&run(QUICK));
    summary.command.push("--grade".into());
    insta::assert_snapshot!(shown(&summary));
}

#[test]
fn screen_of_code_that_no_suite_knows_speaks_of_n_and_of_no_tasks() {
    let free = |mut summary: Summary| {
        summary.overview.rankings.iter_mut().for_each(|ranking| ranking.suite = FREE.into());
        shown(&summary)
    };
    let mut summary = summarize(&run(QUICK));
    let one = free(summary.clone());
    summary.rows.iter_mut().for_each(|row| row.key.suite = FREE.into());
    assert!(markdown(&summary).contains("CPU ns per unit of n: "));
    summary.growth.iter_mut().for_each(|growth| growth.key.suite = FREE.into());
    summary.command.push("--grade".into());
    let graded = shown(&summary);
    assert!(graded.contains("Growth of the whole, and CPU time per unit of n: "), "{graded}");
    assert!(one.contains("CPU time per unit of n: ") && one.contains(", n = "), "{one}");
    assert!(!one.contains("at a time"), "{one}");
    fits(&one);
}

/// A run that is read as shares of each runtime's baseline, with claims about it.
fn shared(text: &str, table: &str) -> Summary {
    let mut run = run(text);
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        let published = [("tokio:multi_thread/JoinSet".to_owned(), 91.5)].into();
        block.title = table.to_owned();
        block.share = Some(ShareOf { unit: "node".into(), count: 7, subtract: None, published });
        let claim = |text: &str, variant: &str, below| Claim {
            text: text.into(),
            runtime: "tokio".into(),
            variant: variant.into(),
            than: "multi_thread/spawn".into(),
            size: None,
            than_size: None,
            of: ClaimOf::Throughput,
            above: None,
            below: Some(below),
        };
        block.claims = vec![
            claim("a set costs ten times as much", "multi_thread/JoinSet", 10.0),
            claim("x", "none", 1.0),
        ];
    }
    summarize(&run)
}

#[test]
fn screen_of_shares() {
    let summary = shared(QUICK, "fanout order=ordered");
    insta::assert_snapshot!(shown(&summary));
    insta::assert_snapshot!(
        taskscale_report::markdown(&summary).split("<details>").next().expect("the answer")
    );
    fits(&shown(&summary));
    fits(&shown(&shared(WIDE, "fanout")));
}

#[test]
fn screen_of_a_killed_run() {
    insta::assert_snapshot!(shown(&summarize(&run(&QUICK[..QUICK.len() * 3 / 5]))));
}

#[test]
fn screen_of_two_versions() {
    let screen = shown(&summarize(&run(VERSIONS)));
    fits(&screen);
    insta::assert_snapshot!(screen);
}

/// The one that is named first is what the others are divided by, whichever is the cheaper.
#[test]
fn versions_are_divided_by_the_one_that_is_named_first() {
    let mut turned = run(VERSIONS);
    turned.runtimes.reverse();
    for (run, reference, ratio) in
        [(run(VERSIONS), "asyncio@python3.8", 0.55), (turned, "asyncio@python3.13", 1.0 / 0.55)]
    {
        let summary = summarize(&run);
        let rows = &summary.overview.rankings[0].rows;
        let row = |runtime: &str| {
            rows.iter().find(|row| row.runtime == runtime && row.variant == "gather").expect("ranked")
        };
        assert_eq!(row(reference).standing, Standing::Reference);
        let other =
            rows.iter().find(|row| row.runtime != reference && row.variant == "gather").expect("ranked");
        assert!((other.ratio.expect("paired") / ratio - 1.0).abs() < 0.02, "{other:?}");
        let told: Vec<_> =
            summary.overview.findings.iter().filter(|one| one.kind == FindingKind::Version).collect();
        assert_eq!(told.len(), 1);
        assert!(
            told[0].text.starts_with(&format!(
                "{} costs {}",
                other.runtime,
                if ratio < 1.0 { "0.55" } else { "1.8" }
            )),
            "{told:?}"
        );
        assert!(!told[0].text.contains("eager"), "{told:?}");
    }
}

#[test]
fn versions_are_divided_by_the_runtime_of_the_reference() {
    let options =
        SummaryOptions { reference: Some("asyncio@python3.13".into()), ..SummaryOptions::default() };
    let summary = summarize_with(&run(VERSIONS), &options);
    let told = summary.overview.findings.iter().find(|one| one.kind == FindingKind::Version);
    let text = &told.expect("two versions").text;
    assert!(
        text.starts_with("asyncio@python3.8 costs 1.8") && text.contains("of asyncio@python3.13"),
        "{text}"
    );
}

/// What one of them asks is not what the other one is about.
#[test]
fn a_run_of_several_suites_is_headed_by_their_names() {
    let mut summary = summarize(&run(QUICK));
    summary.rows.last_mut().expect("rows").key.suite = "cancel".into();
    let screen = shown(&summary);
    assert_eq!(screen.lines().next(), Some("taskscale quick, cancel"), "{screen}");
}

/// A ratio without an interval would be read as a finding.
#[test]
fn versions_that_too_few_processes_measured_are_not_divided() {
    let mut short = run(VERSIONS);
    short.samples.retain(|sample| sample.round < 2);
    let summary = summarize(&short);
    let told = summary.overview.findings.iter().find(|one| one.kind == FindingKind::Version);
    let told = told.expect("two versions");
    assert_eq!(
        told.text,
        "cannot tell what asyncio@python3.13 costs beside asyncio@python3.8 (gather and 1 more): too few processes"
    );
    assert_eq!(told.remedy, "allow more with --max-time");
}

#[test]
fn a_long_name_of_a_runtime_is_told_by_its_version_where_that_tells_it() {
    let mut summary = summarize(&run(VERSIONS));
    let screen = shown(&summary);
    assert!(screen.contains("asyncio@3.8  gather") && screen.contains("asyncio@3.13 gather"), "{screen}");
    for row in &mut summary.overview.rankings[0].rows {
        let folder = if row.runtime.ends_with('8') { "/opt/one" } else { "/opt/two" };
        row.runtime = format!("asyncio@{folder}/python3.13");
    }
    let screen = shown(&summary);
    assert!(screen.contains("asyncio@one gather") && screen.contains("asyncio@two gather"), "{screen}");
}

#[test]
fn every_screen_fits_and_has_the_cheapest_and_a_ratio_on_its_first_ten_lines() {
    for text in [QUICK, WIDE, JIT, THREADS] {
        let summary = summarize(&run(text));
        let screen = shown(&summary);
        fits(&screen);
        let ranking = &summary.overview.rankings[0];
        let first = screen.lines().take(10).collect::<Vec<_>>().join("\n");
        assert!(first.contains(&ranking.rows[0].runtime), "{first}");
        assert!(ranking.rows.len() == 1 || first.contains("reference") || first.contains("x ["), "{first}");
    }
}

#[test]
fn a_screen_of_very_many_rows_and_findings_fits() {
    let mut summary = summarize(&run(QUICK));
    let rankings = summary.overview.rankings.clone();
    for copies in 0..6 {
        for ranking in &mut summary.overview.rankings {
            let mut more = ranking.rows.clone();
            for (number, row) in more.iter_mut().enumerate() {
                row.runtime = format!("{}-{copies}-{number}-of-a-long-name", row.runtime);
                row.variant = "a/very/long/variant with=many cases=of-all kinds=true".into();
            }
            ranking.rows.extend(more);
        }
        summary.overview.rankings.extend(rankings.clone());
        let mut more = summary.overview.findings.clone();
        more.iter_mut().for_each(|finding| finding.text = "word ".repeat(200));
        summary.overview.findings.extend(more);
        fits(&shown(&summary));
    }
}

#[test]
fn the_reference_can_be_chosen_and_every_ratio_refers_to_it() {
    let run = run(QUICK);
    for ranked in &summarize(&run).overview.rankings[0].rows {
        let name = format!("{}:{}", ranked.runtime, ranked.variant);
        let options = SummaryOptions { reference: Some(name), ..SummaryOptions::default() };
        let ranking = summarize_with(&run, &options).overview.rankings.swap_remove(0);
        let reference: Vec<_> =
            ranking.rows.iter().filter(|row| row.standing == Standing::Reference).collect();
        assert_eq!(reference.len(), 1);
        assert_eq!((&reference[0].runtime, &reference[0].variant), (&ranked.runtime, &ranked.variant));
        for row in ranking.rows.iter().filter(|row| row.standing != Standing::Reference) {
            let (ratio, of_medians) = (row.ratio.expect("paired"), row.ns / reference[0].ns);
            assert!((ratio / of_medians - 1.0).abs() < 0.25, "{ratio} beside {of_medians}");
            let contains = row.ratio_ci.is_some_and(|ci| ci.0 <= 1.0 && 1.0 <= ci.1);
            let is_told = matches!(row.standing, Standing::Cheaper | Standing::Dearer);
            assert!(!(contains && is_told), "{row:?}");
        }
        assert!(ranking.rows.is_sorted_by(|a, b| a.ns <= b.ns));
        assert!(matches!(ranking.quantity, Quantity::PerTask(_)));
    }
}

#[test]
fn what_went_wrong_stands_first_among_the_findings() {
    let mut run = run(QUICK);
    let missing = taskscale_model::missing::Missing::new("the answer is 5, right is 6", "mend it");
    let row = run.rows[0].row;
    run.row_ends.retain(|end| end.row != row);
    run.row_ends.push(taskscale_model::run_file::RowEnd { row, status: Status::Failed(missing) });
    let summary = summarize(&run);
    assert_eq!(summary.overview.findings[0].kind, FindingKind::Failed);
    let screen = shown(&summary);
    assert!(screen.contains("failed") && screen.contains("the answer is 5, right is 6; mend it"), "{screen}");
}

#[test]
fn a_word_longer_than_the_line_is_cut_in_a_finding() {
    let mut summary = summarize(&run(QUICK));
    let finding = &mut summary.overview.findings[0];
    finding.text = format!("{} has {} beside it", "a".repeat(150), "\u{666e}".repeat(75));
    finding.remedy = format!("name {}", "b".repeat(150));
    let screen = shown(&summary);
    fits(&screen);
    assert!(screen.lines().all(|line| columns(line) <= COLUMNS), "{screen}");
    assert!(screen.contains("aaa\u{2026}aaa") && screen.contains("has"), "{screen}");
}

#[test]
fn a_run_without_a_figure_says_so_with_the_first_reason_and_what_to_do() {
    let mut failed = run(QUICK);
    let words = "no row has a figure";
    assert!(!shown(&summarize(&failed)).contains(words), "this one has some");
    failed.samples.clear();
    failed.rounds.clear();
    let rows: Vec<u64> = failed.rows.iter().map(|row| row.row).collect();
    failed.row_ends = rows
        .iter()
        .map(|row| {
            let missing = taskscale_model::missing::Missing::new("the answer is 5, right is 6", "mend it");
            taskscale_model::run_file::RowEnd { row: *row, status: Status::Failed(missing) }
        })
        .collect();
    let screen = shown(&summarize(&failed));
    fits(&screen);
    let said = "no row has a figure. tokio multi_thread/spawn: the answer is 5, right is 6; mend it";
    let joined = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(said), "{screen}");
    // A run that was killed before its first measurement.
    failed.row_ends.clear();
    failed.ended = None;
    let joined = shown(&summarize(&failed)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("the run ended before this row was measured"), "{joined}");
    assert!(joined.contains(words), "{joined}");
}

#[test]
fn hostile_names_stay_on_their_line() {
    let mut summary = summarize(&run(QUICK));
    for row in &mut summary.overview.rankings[0].rows {
        row.runtime = "a\u{1b}[2J\nb\r\u{202e}".into();
        row.variant = "\t\u{7}\u{2061}x".into();
    }
    summary.overview.titles[0] = "evil\ntitle \u{1b}]0;x\u{7}".into();
    let screen = shown(&summary);
    fits(&screen);
    assert!(!screen.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']), "{screen:?}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let summary = summarize(&run(QUICK));
    let coloured = overview(&summary, &Style { colour: true, ..Style::default() }, "last");
    assert!(coloured.contains("\x1b[1m"));
    let mut stripped = coloured;
    for escape in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
        stripped = stripped.replace(escape, "");
    }
    assert_eq!(stripped, shown(&summary));
}

#[test]
fn a_control_that_disagrees_is_told_on_the_screen() {
    let words = "identical code differs in";
    assert!(!shown(&summarize(&run(QUICK))).contains(words), "no control of this run is off");
    let mut cheap = run(QUICK);
    let controls: Vec<u64> =
        cheap.rows.iter().filter(|row| row.role == Role::Control).map(|row| row.row).collect();
    for sample in cheap.samples.iter_mut().filter(|sample| sample.row == controls[0]) {
        sample.cpu_ns /= 2;
    }
    let screen = shown(&summarize(&cheap));
    let told: Vec<&str> = screen.lines().skip_while(|line| !line.contains(words)).take(3).collect();
    let told = told.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.starts_with("unsure identical code differs in 1 of") && told.contains(" costs 0.5"),
        "{screen}"
    );
    assert!(told.contains("trust no ratio nearer to 1 than that"), "{screen}");
    fits(&screen);
}

#[test]
fn where_no_row_makes_a_task_their_times_are_told() {
    let mut run = run(QUICK);
    run.rows.iter_mut().for_each(|row| row.creates_task = Some(false));
    let screen = shown(&summarize(&run));
    assert!(
        screen.contains("\n\nnot ranked, no task: tokio multi_thread/spawn 207 ns"),
        "the cheapest first: {screen}"
    );
    fits(&screen);
}
