//! Tables of what one thing costs under several settings, from a run file to what is shown.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    params::ParamValue,
    run_file::{Kind, Role},
    suite::{AcrossOf, Setting},
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const TITLE: &str = "a token between two tasks";

fn number(n: u64) -> taskscale_model::params::Params {
    [("n".to_owned(), ParamValue::Integer(n))].into()
}

/// A kept run whose rows are these variants with these settings, with a process for each round. A
/// unit takes so many nanoseconds of CPU time as `cpu_ns` says of a variant, a setting and a
/// process, and twice as many of wall time. A unit has two of what the table is about.
fn of_settings(rows: &[(&str, u64)], settings: &[u64], cpu_ns: impl Fn(&str, u64, u64) -> u64) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    let columns = settings.iter().map(|n| Setting { name: format!("{n} of them"), params: number(*n) });
    let across = AcrossOf { unit: "wake-up".into(), count: 2, rate: None, columns: columns.collect() };
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        (block.title, block.across) = (TITLE.into(), Some(across.clone()));
    }
    assert!(run.rows.len() >= rows.len(), "{} rows are kept", run.rows.len());
    run.rows.truncate(rows.len());
    for (row, (variant, n)) in run.rows.iter_mut().zip(rows) {
        (row.role, row.key.series.table) = (Role::Row, TITLE.into());
        (row.key.series.runtime, row.key.series.variant) = ("node".into(), (*variant).into());
        (row.key.series.params, row.key.size) = (number(*n), 64);
        row.key.series.case =
            if *n == settings[0] { number(0).into_iter().take(0).collect() } else { number(*n) };
    }
    run.samples.retain(|sample| run.rows.iter().any(|row| row.row == sample.row));
    for sample in run.samples.iter_mut().filter(|sample| sample.kind == Kind::Timed) {
        let row = run.rows.iter().find(|row| row.row == sample.row).expect("its row");
        let Some(ParamValue::Integer(n)) = row.key.params.get("n") else { panic!("no n") };
        sample.process = sample.round;
        sample.size = 64;
        sample.cpu_ns = 64 * sample.iterations * cpu_ns(&row.key.variant, *n, sample.process);
        sample.wall_ns = 2 * sample.cpu_ns;
    }
    run
}

fn shown(run: &Run) -> String {
    let screen = overview(&summarize(run), &Style::default(), "last");
    assert!(screen.lines().count() <= 40, "{screen}");
    for line in screen.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    screen
}

#[test]
fn a_setting_of_the_users_own_is_ranked() {
    let run = of_settings(&[("a", 5), ("b", 5)], &[1, 8], |_, _, _| 100);
    let overview = summarize(&run).overview;
    assert_eq!((overview.across.len(), overview.rankings.len()), (0, 1));
    assert!(shown(&run).contains("node b"), "{}", shown(&run));
}

#[test]
fn a_toolchain_is_told_where_few_settings_leave_room() {
    let rows = [("a", 1), ("a", 8), ("b", 1), ("b", 8)];
    let mut run = of_settings(&rows, &[1, 8], |_, _, _| 100);
    let toolchain = |variant: &str| format!("asyncio@python3.{}", if variant == "a" { 8 } else { 13 });
    for row in &mut run.rows {
        row.key.series.runtime = toolchain(&row.key.variant);
    }
    for sample in &mut run.samples {
        sample.runtime = toolchain(&sample.variant);
    }
    let screen = shown(&run);
    assert!(
        screen.contains("\nasyncio@python3.8  a ") && screen.contains("\nasyncio@python3.13 b "),
        "{screen}"
    );
}

#[test]
fn settings_stand_side_by_side_and_their_multiples_are_paired() {
    // Processes differ by far more than the settings do.
    let costs = |variant: &str, n, process| (10 + process) * if variant == "a" { n * 100 } else { 400 };
    let run = of_settings(&[("b", 1), ("b", 8), ("a", 8), ("a", 1), ("c", 8)], &[1, 8], costs);
    let summary = summarize(&run);
    let table = &summary.overview.across[0];
    assert_eq!((&*table.table, &*table.unit, table.size), (TITLE, "wake-up", 64));
    assert_eq!(table.columns, ["1 of them", "8 of them"]);
    assert!(summary.overview.rankings.is_empty(), "settings are not ranked");
    // The cheapest under the first setting comes first; what does not have that setting last.
    let names: Vec<&str> = table.rows.iter().map(|row| &*row.variant).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let times = |row: usize, at: usize| table.rows[row].cells[at].and_then(|cell| cell.times);
    assert_eq!(times(0, 0), None);
    let [dearer, same] = [times(0, 1), times(1, 1)].map(Option::unwrap_or_default);
    assert!((dearer - 8.0).abs() < 1e-9 && (same - 1.0).abs() < 1e-9, "{dearer} {same}");
    assert_eq!((table.rows[2].cells[0], times(2, 1)), (None, None));
    let eight = table.rows[0].cells[1].expect("figures");
    let ci = eight.times_ci.expect("an interval");
    assert!(ci.1 - ci.0 < 0.01, "{ci:?}");
    assert_eq!(eight.wall_ns, 2.0 * eight.cpu_ns);

    let screen = shown(&run);
    for line in [
        "us a wake-up: a token between two tasks\n",
        "8 of them beside 1 of them: 1.00x the CPU (node b) to 8.00x (node a); for\n  certain dearer: 1 of 2\n",
    ] {
        assert!(screen.contains(line), "{line:?} is not in\n{screen}");
    }
    let last = screen.lines().find(|line| line.starts_with("node c")).expect("its row");
    assert!(last.starts_with("node c      -     -  "), "{screen}");
    assert!(text(&summary, &Style::default()).contains(last));
    assert!(markdown(&summary).contains(r"8.00x \[8.00, 8.00\] |"), "{}", markdown(&summary));
    assert!(page(&summary).contains("8.00x [8.00, 8.00]"));
}

#[test]
fn a_figure_is_of_one_of_what_a_unit_consists_of() {
    let run = of_settings(&[("a", 1), ("a", 8)], &[1, 8], |_, n, _| n * 1_000);
    let cells = summarize(&run).overview.across[0].rows[0].cells.clone();
    let costs: Vec<f64> = cells.into_iter().flatten().map(|cell| cell.cpu_ns).collect();
    assert_eq!(costs, [500.0, 4_000.0]);
    let screen = shown(&run);
    assert!(screen.contains("1 of them: 500 ns of CPU (node a)\n"), "{screen}");
    assert!(screen.contains("node a   0.50  1.00   4.00  8.00\n"), "{screen}");
}

#[test]
fn what_is_watched_is_told_as_a_share_of_a_core() {
    // A millisecond with so many arrivals a second takes 1 us and 4 us for each of them.
    let costs = |variant: &str, n: u64, _| (1_000 + 4 * n) * if variant == "a" { 2 } else { 20 };
    let mut run = of_settings(&[("a", 10), ("a", 1_000), ("b", 10)], &[10, 1_000], costs);
    for across in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        let across = across.across.as_mut().expect("set above");
        (across.unit, across.count, across.rate) = ("arrival".into(), 1, Some("n".into()));
    }
    let summary = summarize(&run);
    assert_eq!(summary.overview.across[0].rates, [10, 1_000]);
    let screen = shown(&run);
    for line in [
        "% of a core, us an arrival: a token between two tasks\n",
        "node a   0.21   208   1.00  10.0\n",
        "node b   2.08  2080      -     -\n",
        "10 of them: 0.21 % (208 us, node a) to 2.08 % (2.08 ms, node b) of a core\n",
        "1000 of them: 1.00 % of a core, 10.0 us an arrival (node a)\n",
    ] {
        assert!(screen.contains(line), "{line:?} is not in\n{screen}");
    }
    assert!(!screen.contains("wall"), "{screen}");
    let details = text(&summary, &Style::default());
    assert!(details.contains("CPU ns per watched millisecond, median"), "{details}");
    let page = page(&summary);
    assert!(page.contains("10 of them: of a core [95 %]") && page.contains("0.21 % [0.21, 0.21]"), "{page}");
}

#[test]
fn of_more_settings_than_a_screen_has_the_ends_are_shown() {
    let settings = [1, 2, 4, 8, 16, 32];
    let rows: Vec<(&str, u64)> = settings.iter().map(|n| ("a", *n)).collect();
    let run = of_settings(&rows, &settings, |_, n, _| n * 1_000);
    let screen = shown(&run);
    let head = screen.lines().find(|line| line.contains("1 of them  ")).expect("a head");
    let words: Vec<&str> = head.split_whitespace().filter(|word| word.parse::<u64>().is_ok()).collect();
    assert_eq!(words, ["1", "2", "8", "32"], "{screen}");
    let whole = text(&summarize(&run), &Style::default());
    for n in settings {
        assert!(whole.contains(&format!("{n} of them")), "{whole}");
    }
}
