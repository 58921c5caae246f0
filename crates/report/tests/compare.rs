//! Two runs side by side: what users see, word for word, and what must hold for any two runs.

use proptest::prelude::*;
use taskscale_analysis::{CompareOptions, Run, compare, parse_run};
use taskscale_model::{
    compare::{ComparedRow, Comparison, Verdict},
    missing::Missing,
    run_file::{Kind, RowEnd, Time},
    summary::Interval,
};
use taskscale_report::{
    Style, compare_json, compare_junit, compare_markdown, compare_overview, compare_text,
};

const OLD: &str = include_str!("../../analysis/tests/data/compare/old.jsonl");
const NEW: &str = include_str!("../../analysis/tests/data/compare/new.jsonl");

fn run(text: &str) -> Run {
    parse_run(text).expect("a run file")
}

fn by_cpu(old: &Run, new: &Run) -> Comparison {
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    compare(("old.jsonl", old), ("new.jsonl", new), &options)
}

fn row<'a>(comparison: &'a Comparison, variant: &str) -> &'a ComparedRow {
    comparison.rows.iter().find(|row| row.key.variant == variant).unwrap_or_else(|| panic!("{variant}"))
}

fn verdict(comparison: &Comparison, variant: &str) -> Verdict {
    row(comparison, variant).verdict
}

fn reason<'a>(comparison: &'a Comparison, variant: &str) -> &'a str {
    row(comparison, variant).why.as_ref().map(|why| &*why.reason).unwrap_or_default()
}

/// Multiplies the cost of every timed sample of these variants by `factor`, the control's too.
fn scaled(run: &Run, variants: &[&str], factor: f64) -> Run {
    let mut run = run.clone();
    for sample in run.samples.iter_mut().filter(|sample| sample.kind == Kind::Timed) {
        if variants.contains(&sample.variant.as_str()) {
            sample.cpu_ns = (sample.cpu_ns as f64 * factor) as u64;
        }
    }
    run
}

fn elsewhere() -> Run {
    run(&NEW.replace("\"f00d\"", "\"beef\"").replace("Linux 6.18.0", "Linux 6.1.0"))
}

#[test]
fn text_of_a_comparison() {
    insta::assert_snapshot!(compare_text(&by_cpu(&run(OLD), &run(NEW)), &Style::default()));
}

#[test]
fn screen_of_a_comparison() {
    let comparison = by_cpu(&run(OLD), &run(NEW));
    insta::assert_snapshot!(compare_overview(&comparison, &Style::default(), "taskscale compare a b"));
}

#[test]
fn what_differs_by_much_stands_at_the_end_of_its_axis() {
    let mut comparison = by_cpu(&run(OLD), &run(NEW));
    let worse = comparison.rows.iter_mut().find(|row| row.verdict == Verdict::Worse).expect("a row");
    (worse.ratio, worse.ratio_ci) = (Some(1e300), Some(Interval(1e301, 1e299)));
    let screen = compare_overview(&comparison, &Style::default(), "taskscale compare a b");
    assert!(screen.contains(" 0.01x 1 100.00x "), "{screen}");
    assert!(screen.contains("\u{b7}      \u{25cf} "), "{screen}");
}

#[test]
fn rows_that_changed_stand_by_size() {
    let mut comparison = by_cpu(&run(OLD), &run(NEW));
    let worse = comparison.rows.iter().find(|row| row.verdict == Verdict::Worse && row.ratio.is_some());
    let worse = worse.expect("a row").clone();
    let row = |(size, ratio)| {
        let mut row = worse.clone();
        (row.key.size, row.ratio) = (size, Some(ratio));
        row
    };
    comparison.rows = [(2_048, 1.1), (64, 1.3), (512, 1.2), (64, 1.4)].map(row).to_vec();
    let screen = compare_overview(&comparison, &Style::default(), "taskscale compare a b");
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("no {words} in {screen}"));
    let places = ["1.40x", "1.30x", "1.20x", "1.10x"].map(place);
    assert!(places.is_sorted(), "{screen}");
    assert!(place("errgroup 64 ") < place("errgroup 512 "), "{screen}");
}

#[test]
fn a_single_reason_that_is_left_is_said() {
    let mut comparison = by_cpu(&run(OLD), &run(NEW));
    let unsure = comparison.rows.iter().find(|row| row.verdict == Verdict::CannotTell);
    let unsure = unsure.expect("a row").clone();
    let screen = |comparison: &mut Comparison, reasons: &[&str]| {
        let row = |reason: &&str| ComparedRow { why: Some(Missing::new(*reason, "")), ..unsure.clone() };
        comparison.rows = reasons.iter().map(row).collect();
        compare_overview(comparison, &Style::default(), "taskscale compare a b")
    };
    let three = screen(&mut comparison, &["one", "one", "two", "three", "three"]);
    for words in ["2 rows of 5: one", "2 rows: three", "1 row: two"] {
        assert!(three.contains(words), "{three}");
    }
    assert!(!three.contains("other reasons"), "{three}");
    let four = screen(&mut comparison, &["one", "two", "three", "four"]);
    assert!(four.contains("2 rows, for 2 other reasons: --details"), "{four}");
}

#[test]
fn any_comparison_fits_one_screen() {
    let mut comparison = by_cpu(&run(OLD), &run(NEW));
    comparison.old.name = "a/long/path/".repeat(20);
    for row in &mut comparison.rows {
        row.key.series.variant = "a-variant-with-a-long-name".repeat(9);
    }
    let rows = comparison.rows.clone();
    for times in [0, 1, 10, 100] {
        comparison.rows = rows.iter().cycle().take(rows.len() * times).cloned().collect();
        comparison.notes = vec!["a note that goes on ".repeat(40); times];
        let screen = compare_overview(&comparison, &Style::default(), &"taskscale compare ".repeat(9));
        assert!(screen.lines().count() <= 40, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        assert_eq!(times > 0, screen.contains("\nworse "), "{screen}");
    }
}

#[test]
fn markdown_of_a_comparison() {
    insta::assert_snapshot!(compare_markdown(&by_cpu(&run(OLD), &run(NEW))));
}

#[test]
fn junit_of_a_comparison() {
    insta::assert_snapshot!(compare_junit(&by_cpu(&run(OLD), &run(NEW))));
}

#[test]
fn json_of_a_comparison_begins() {
    let all = compare_json(&by_cpu(&run(OLD), &run(NEW)));
    insta::assert_snapshot!(all.lines().take(130).collect::<Vec<_>>().join("\n"));
    let read: Comparison = serde_json::from_str(&all).expect("its own schema");
    assert_eq!(read, by_cpu(&run(OLD), &run(NEW)));
}

#[test]
fn the_reference_names_every_field() {
    let reference = include_str!("../../../docs/reference/compare.md");
    let comparison = by_cpu(&run(OLD), &run(NEW));
    let whole = serde_json::to_value(&comparison).expect("JSON");
    let parts = ["", "/old", "/runtimes/0", "/unchanged", "/rows/0", "/rows/0/old"];
    for part in parts.map(|part| whole.pointer(part).and_then(|part| part.as_object()).expect("an object")) {
        for field in part.keys() {
            assert!(reference.contains(field.as_str()), "{field}");
        }
    }
    for word in ["worse", "better", "same", "cannot_tell", "other_machine"] {
        assert!(reference.contains(&format!("| `{word}` |")), "{word}");
    }
}

#[test]
fn text_and_markdown_of_two_machines() {
    let comparison = by_cpu(&run(OLD), &elsewhere());
    insta::assert_snapshot!(compare_text(&comparison, &Style::default()));
    insta::assert_snapshot!(compare_markdown(&comparison));
}

#[test]
fn each_row_gets_its_verdict() {
    let comparison = by_cpu(&run(OLD), &run(NEW));
    for (variant, expected) in [
        ("errgroup", Verdict::Worse),
        ("channel", Verdict::Better),
        ("pool", Verdict::Worse),
        ("recovered", Verdict::Better),
        ("spawn", Verdict::Same),
        ("JoinSet", Verdict::Same),
        ("map", Verdict::CannotTell),
        ("few", Verdict::CannotTell),
        ("gone", Verdict::CannotTell),
        ("came", Verdict::CannotTell),
        ("wait", Verdict::CannotTell),
    ] {
        assert_eq!(verdict(&comparison, variant), expected, "{variant}: {:?}", row(&comparison, variant));
    }
    assert!(comparison.regression);
    for (variant, words) in [
        ("pool", "failed in NEW: answer was 3"),
        ("recovered", "failed in OLD: answer was 3"),
        ("map", "interval too wide"),
        ("few", "too few processes: 4 in OLD and 4 in NEW, 6 in each"),
        ("gone", "not in NEW"),
        ("came", "not in OLD"),
        ("wait", "skipped in both: uvloop is not installed"),
    ] {
        assert!(reason(&comparison, variant).contains(words), "{variant}: {}", reason(&comparison, variant));
    }
}

/// A run in which these runtimes were asked for and are not here: a row of each for each table.
fn without(run: &Run, runtimes: &[&str]) -> Run {
    let mut run = run.clone();
    let skipped = run.rows.iter().find(|row| row.key.variant == "wait").expect("a skipped row").clone();
    let end = run.row_ends.iter().find(|end| end.row == skipped.row).expect("its end").clone();
    for (runtime, size) in runtimes.iter().flat_map(|runtime| [64, 256, 2048].map(|size| (runtime, size))) {
        let mut row = skipped.clone();
        row.row = run.rows.iter().map(|row| row.row).max().unwrap_or_default() + 1;
        (row.key.runtime, row.key.series.variant) = ((*runtime).into(), "*".into());
        row.key.size = size;
        run.row_ends.push(RowEnd { row: row.row, ..end.clone() });
        run.rows.push(row);
    }
    run
}

#[test]
fn a_runtime_that_neither_file_has_is_named_once() {
    let both = by_cpu(&without(&run(OLD), &["trio"]), &without(&run(NEW), &["trio"]));
    let plain = by_cpu(&run(OLD), &run(NEW));
    assert_eq!((both.rows.len(), both.counts), (plain.rows.len(), plain.counts));
    for text in [
        compare_text(&both, &Style::default()),
        compare_markdown(&both),
        compare_overview(&both, &Style::default(), "taskscale compare a b"),
        compare_json(&both),
    ] {
        assert_eq!(text.matches("trio").count(), 1, "{text}");
    }
    assert!(!compare_junit(&both).contains("name=\"trio"), "nothing was tested");
    // What one side has lost is told, once.
    let lost = by_cpu(&run(OLD), &without(&run(NEW), &["trio"]));
    let rows: Vec<_> = lost.rows.iter().filter(|row| row.key.runtime == "trio").collect();
    assert_eq!((rows.len(), rows[0].verdict), (1, Verdict::CannotTell));
}

#[test]
fn figures_of_two_machines_are_never_divided() {
    let comparison = by_cpu(&run(OLD), &elsewhere());
    assert!(!comparison.regression && !comparison.same_machine);
    for row in &comparison.rows {
        assert_eq!((row.verdict, row.ratio, row.ratio_ci), (Verdict::OtherMachine, None, None));
    }
    assert!(row(&comparison, "errgroup").old.as_ref().is_some_and(|old| old.estimate.value().is_some()));
    assert_eq!(comparison.machine_differences, ["kernel: Linux 6.18.0 | Linux 6.1.0"]);
    assert_eq!(comparison.unchanged.largest_shift, None);
    // The machines are alike in all that is shown and still differ.
    let comparison = by_cpu(&run(OLD), &run(&NEW.replace("\"f00d\"", "\"beef\"")));
    let note = "machines differ in their fingerprints: f00d | beef (OLD | NEW)".to_owned();
    assert!(comparison.notes.contains(&note), "{:?}", comparison.notes);
}

#[test]
fn what_unchanged_code_does_too_is_no_regression() {
    // tokio's code is the same in both files. Where it costs 8 % more, Go's 10 % more say nothing.
    let comparison = by_cpu(&run(OLD), &scaled(&run(NEW), &["spawn", "JoinSet", "join_all"], 1.08));
    assert_eq!(verdict(&comparison, "errgroup"), Verdict::CannotTell);
    assert!(reason(&comparison, "errgroup").contains("a row of unchanged code moved by"));
    assert!(comparison.unchanged.median_shift.is_some_and(|shift| (0.07..0.1).contains(&shift)));
    // The 8 % of tokio's rows say nothing either: each row sees what the others did.
    assert_eq!(verdict(&comparison, "JoinSet"), Verdict::CannotTell);
    // A move by 6 % says nothing either: where one row moves, another may move by twice as much.
    let comparison = by_cpu(&run(OLD), &scaled(&run(NEW), &["spawn", "JoinSet", "join_all"], 1.06));
    assert_eq!(verdict(&comparison, "errgroup"), Verdict::CannotTell);
    let limit = row(&comparison, "errgroup").limit.expect("a limit");
    assert!((0.11..0.16).contains(&limit), "{limit}");
    // A row that moves alone is worse.
    let comparison = by_cpu(&run(OLD), &scaled(&run(NEW), &["JoinSet"], 1.2));
    assert_eq!(verdict(&comparison, "JoinSet"), Verdict::Worse);
}

/// Another version of the tool may have other probes: no row counts as unchanged.
#[test]
fn where_no_code_is_known_to_be_unchanged_small_changes_may_be_the_sessions() {
    let mut old = run(OLD);
    old.header.tool = "0.0.1".into();
    let of = |factor: f64| by_cpu(&old, &scaled(&run(NEW), &["JoinSet"], factor));
    assert_eq!(of(1.2).unchanged.rows, 0);
    assert_eq!(verdict(&of(1.2), "JoinSet"), Verdict::CannotTell);
    assert!(reason(&of(1.2), "JoinSet").contains("no row of unchanged code"));
    assert_eq!(verdict(&of(1.5), "JoinSet"), Verdict::Worse);
}

#[test]
fn a_control_that_shows_a_difference_silences_smaller_ones() {
    let mut new = run(NEW);
    let control = new
        .rows
        .iter()
        .find(|row| row.key.runtime == "go" && row.role == taskscale_model::run_file::Role::Control);
    let number = control.expect("a control").row;
    for sample in new.samples.iter_mut().filter(|sample| sample.row == number) {
        sample.cpu_ns = sample.cpu_ns * 112 / 100;
    }
    let comparison = by_cpu(&run(OLD), &new);
    assert_eq!(verdict(&comparison, "errgroup"), Verdict::CannotTell);
    assert!(reason(&comparison, "errgroup").contains("the A/A control of NEW leaves differences of up to 1"));
    assert_eq!(verdict(&comparison, "channel"), Verdict::Better, "15 % are more than 12");
}

#[test]
fn a_cell_without_a_control_goes_by_those_of_other_cells() {
    let moved = |text: &str| {
        let mut run = run(text);
        let controls = run.rows.iter_mut().filter(|row| row.role == taskscale_model::run_file::Role::Control);
        controls.for_each(|row| row.key.size = 64);
        run
    };
    assert_eq!(verdict(&by_cpu(&moved(OLD), &moved(NEW)), "errgroup"), Verdict::Worse);
}

#[test]
fn what_had_not_settled_cannot_be_told() {
    let jit = run(include_str!("../../analysis/tests/data/jit.jsonl"));
    let comparison = by_cpu(&jit, &scaled(&jit, &["late"], 2.0));
    assert_eq!(verdict(&comparison, "late"), Verdict::CannotTell);
    assert!(
        reason(&comparison, "late").contains("had not settled in OLD"),
        "{}",
        reason(&comparison, "late")
    );
    // Twice the cost is worse in code that had settled.
    let comparison = by_cpu(&jit, &scaled(&jit, &["virtual/start"], 2.0));
    assert_eq!(verdict(&comparison, "virtual/start"), Verdict::Worse);
}

#[test]
fn without_a_control_nothing_is_claimed() {
    let mut new = run(NEW);
    new.rows.retain(|row| row.role != taskscale_model::run_file::Role::Control);
    let comparison = by_cpu(&run(OLD), &new);
    assert_eq!(verdict(&comparison, "errgroup"), Verdict::CannotTell);
    assert!(reason(&comparison, "errgroup").contains("no A/A control with an interval in NEW"));
    // A row that failed is worse even without a control.
    assert_eq!(verdict(&comparison, "pool"), Verdict::Worse);
}

#[test]
fn rounds_of_one_process_are_one_observation() {
    let mut old = run(OLD);
    old.samples.iter_mut().for_each(|sample| sample.process = 0);
    let comparison = by_cpu(&old, &run(NEW));
    let reason = reason(&comparison, "errgroup");
    assert!(reason.contains("too few processes: 1 in OLD") && reason.contains(" rows"), "{reason}");
}

#[test]
fn one_row_shares_with_no_other() {
    let (mut old, mut new) = (run(OLD), run(NEW));
    for run in [&mut old, &mut new] {
        run.samples.retain(|sample| sample.variant == "errgroup" && sample.process < 2);
    }
    let comparison = by_cpu(&old, &new);
    let reason = reason(&comparison, "errgroup");
    assert!(reason.ends_with("are needed"), "{reason}");
}

#[test]
fn rows_with_other_parameters_are_other_rows() {
    let comparison = by_cpu(&run(OLD), &run(&NEW.replace("\"ordered\"", "\"completion\"")));
    assert_eq!(verdict(&comparison, "errgroup"), Verdict::CannotTell);
    assert!(reason(&comparison, "errgroup").contains("not in OLD, which has it with other parameters"));
    assert!(!comparison.regression);
}

#[test]
fn a_run_that_was_cut_short_is_compared_as_far_as_it_goes() {
    let cut = &NEW[..NEW.len() / 8];
    let comparison = by_cpu(&run(OLD), &run(cut));
    assert!(!comparison.regression && !comparison.new.complete);
    assert!(comparison.notes.iter().any(|note| note.contains("NEW was cut short")));
}

#[test]
fn the_threshold_decides() {
    let with = |threshold| {
        let options = CompareOptions { time: Time::Cpu, threshold };
        compare(("o", &run(OLD)), ("n", &run(NEW)), &options)
    };
    assert_eq!(verdict(&with(0.2), "errgroup"), Verdict::Same);
    assert_eq!(verdict(&with(0.0), "errgroup"), Verdict::Worse);
    assert_eq!(verdict(&with(0.0), "spawn"), Verdict::CannotTell);
}

#[test]
fn names_from_a_file_drive_neither_terminal_nor_markup() {
    let nasty = "<script>\\u001b[31m|&\\\"";
    let comparison = by_cpu(&run(&OLD.replace("errgroup", nasty)), &run(&NEW.replace("errgroup", nasty)));
    let text = compare_text(&comparison, &Style::default());
    assert!(!text.contains('\x1b') && text.contains("<script>?[31m|&"));
    assert!(!compare_markdown(&comparison).contains("<script>"));
    let xml = compare_junit(&comparison);
    assert!(xml.contains("&lt;script&gt;?[31m|&amp;&quot;") && !xml.contains('\x1b'));
}

/// Runs with arbitrary costs: some rows, some processes, some costs of zero.
fn any_run() -> impl Strategy<Value = Run> {
    let cost = prop_oneof![8 => 900_000..1_100_000_u64, 2 => 1..10_000_000_u64, 1 => Just(0)];
    (prop::collection::vec(cost, 200), 0..3_usize).prop_map(|(costs, failed)| {
        let mut run = run(OLD);
        for (sample, cost) in run.samples.iter_mut().zip(costs.iter().cycle()) {
            sample.cpu_ns = *cost;
        }
        let steady =
            run.rows.iter().filter(|row| row.key.runtime == "go").map(|row| row.row).collect::<Vec<_>>();
        for sample in run.samples.iter_mut().filter(|sample| steady.contains(&sample.row)) {
            // These rows vary by 1 % around a cost of their own, so that there are verdicts at all.
            sample.cpu_ns = 1_000_000 + sample.cpu_ns % 10_000 + costs[sample.row as usize % 200] / 10;
        }
        let _ = run.row_ends.drain(..failed);
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_run_against_itself_is_no_regression(run in any_run()) {
        let comparison = by_cpu(&run, &run);
        prop_assert!(!comparison.regression);
        prop_assert_eq!(comparison.counts.better, 0);
    }

    #[test]
    fn turned_round_better_and_worse_change_places(old in any_run(), new in any_run()) {
        let (there, back) = (by_cpu(&old, &new), by_cpu(&new, &old));
        prop_assert_eq!((there.counts.worse, there.counts.better), (back.counts.better, back.counts.worse));
        for row in &there.rows {
            let other = back.rows.iter().find(|other| (&other.key.runtime, &other.key.variant) == (&row.key.runtime, &row.key.variant));
            let other = other.expect("the same rows");
            let mirrored = match row.verdict {
                Verdict::Worse => Verdict::Better,
                Verdict::Better => Verdict::Worse,
                same => same,
            };
            prop_assert_eq!(other.verdict, mirrored);
        }
    }

    #[test]
    fn what_is_shown_adds_up(old in any_run(), new in any_run()) {
        let comparison = by_cpu(&old, &new);
        let counts = comparison.counts;
        let sum = counts.worse + counts.better + counts.same + counts.cannot_tell + counts.other_machine;
        prop_assert_eq!(sum as usize, comparison.rows.len());
        prop_assert_eq!(comparison.regression, counts.worse > 0);
        let xml = compare_junit(&comparison);
        prop_assert_eq!(xml.matches("<failure ").count() as u64, counts.worse);
        prop_assert_eq!(xml.matches("<skipped ").count() as u64, counts.cannot_tell);
        prop_assert_eq!(xml.matches("<testcase ").count(), comparison.rows.len());
        for line in compare_text(&comparison, &Style::default()).lines() {
            prop_assert!(line.chars().count() <= 110, "{}", line);
        }
    }
}
