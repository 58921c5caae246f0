//! Two sides that one run took in turns: what users see, word for word, and what pairing achieves.

use taskscale_analysis::{CompareOptions, Run, compare, compare_sides, parse_run};
use taskscale_model::{
    compare::{Comparison, Design, Verdict},
    machine::Disturbance,
    missing::Missing,
    run_file::{Kind, Role, RoundRecord, RowRecord, Status, Time},
};
use taskscale_report::{Style, compare_json, compare_markdown, compare_overview, compare_text};

const OLD: &str = include_str!("../../analysis/tests/data/compare/old.jsonl");
const NEW: &str = include_str!("../../analysis/tests/data/compare/new.jsonl");
/// The number of the new side's first row.
const NEW_ROWS: u64 = 100;

/// A run in which `go` of the new file stands against `go` of the old file, named `go@1.26.7`.
/// Runtimes on neither side are left out.
fn both_sides() -> Run {
    let (old, new) = (parse_run(OLD).expect("a run file"), parse_run(NEW).expect("a run file"));
    let of_go = |row: &&RowRecord| row.key.runtime == "go";
    let mut run = old.clone();
    run.runtimes.retain(|runtime| runtime.id == "go");
    run.runtimes[0].old_of = Some("go".into());
    run.runtimes[0].id = "go@1.26.7".into();
    run.runtimes.extend(new.runtimes.iter().filter(|runtime| runtime.id == "go").cloned());
    run.rows = old.rows.iter().filter(of_go).cloned().collect();
    for row in &mut run.rows {
        row.key.runtime = "go@1.26.7".into();
        row.baseline = row.baseline.filter(|_| row.role == Role::Control);
    }
    for row in new.rows.iter().filter(of_go).filter(|row| row.role != Role::Control) {
        let base =
            run.rows.iter().find(|old| old.key.variant == row.key.variant && old.role != Role::Control);
        let (baseline, row_number) = (base.map(|base| base.row), row.row + NEW_ROWS);
        run.rows.push(RowRecord { row: row_number, baseline, role: Role::Row, ..row.clone() });
    }
    let planned: Vec<u64> = run.rows.iter().map(|row| row.row).collect();
    run.samples.extend(new.samples.iter().cloned().map(|mut sample| {
        sample.row += NEW_ROWS;
        sample
    }));
    run.row_ends.extend(new.row_ends.iter().cloned().map(|mut end| {
        end.row += NEW_ROWS;
        end
    }));
    run.samples.retain(|sample| planned.contains(&sample.row));
    run.row_ends.retain(|end| planned.contains(&end.row));
    run
}

fn by_cpu(run: &Run) -> Comparison {
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    compare_sides(run, &options).expect("two sides")
}

fn verdicts(comparison: &Comparison) -> Vec<(&str, Verdict)> {
    comparison.rows.iter().map(|row| (row.key.variant.as_str(), row.verdict)).collect()
}

/// Multiplies the cost of every timed sample by a factor of its round, on both sides alike.
fn disturbed(run: &Run, factor: impl Fn(u64) -> f64) -> Run {
    let mut run = run.clone();
    for sample in run.samples.iter_mut().filter(|sample| sample.kind == Kind::Timed) {
        sample.cpu_ns = (sample.cpu_ns as f64 * factor(sample.round)) as u64;
    }
    run
}

#[test]
fn text_of_two_sides() {
    insta::assert_snapshot!(compare_text(&by_cpu(&both_sides()), &Style::default()));
}

#[test]
fn markdown_of_two_sides() {
    insta::assert_snapshot!(compare_markdown(&by_cpu(&both_sides())));
}

#[test]
fn each_row_gets_its_verdict_at_the_confidence_of_all() {
    let comparison = by_cpu(&both_sides());
    assert_eq!(
        verdicts(&comparison),
        [
            ("WaitGroup", Verdict::Same),
            ("errgroup", Verdict::Worse),
            ("channel", Verdict::Better),
            ("pool", Verdict::Worse),
            ("recovered", Verdict::Better),
        ]
    );
    assert_eq!((comparison.design, comparison.regression), (Design::OneRun, true));
    let read: Comparison = serde_json::from_str(&compare_json(&comparison)).expect("its own schema");
    assert_eq!(read, comparison);
}

#[test]
fn what_is_timed_before_its_code_is_compiled_may_be_worse_in_turns_and_is_never_the_same() {
    let mut early = both_sides();
    early.rows.iter_mut().for_each(|row| row.jit = true);
    let comparison = by_cpu(&early);
    assert_eq!(
        verdicts(&comparison)[..3],
        [("WaitGroup", Verdict::CannotTell), ("errgroup", Verdict::Worse), ("channel", Verdict::Better)]
    );
    for row in &comparison.rows[..3] {
        let why = row.why.as_ref().expect("it is said");
        assert_eq!(why.reason, "most of its processes had not settled in OLD", "{}", row.key.variant);
    }
    let said = compare_overview(&comparison, &Style::default(), "taskscale compare FILE");
    assert!(said.contains("note    go errgroup, size"), "no failure: {said}");
    let (old, new) = (parse_run(OLD).expect("a run file"), parse_run(NEW).expect("a run file"));
    let early = |mut run: Run| {
        run.rows.iter_mut().for_each(|row| row.jit = true);
        run
    };
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    let apart = compare(("old", &early(old)), ("new", &early(new)), &options);
    let told =
        |row: &&taskscale_model::compare::ComparedRow| row.verdict == Verdict::Worse && row.ratio.is_some();
    assert_eq!(apart.rows.iter().filter(told).count(), 0, "two runs may have settled differently");
}

#[test]
fn beside_its_control_a_row_needs_fewer_processes() {
    let mut run = both_sides();
    run.rows.retain(|row| row.key.variant == "WaitGroup");
    let rows: Vec<u64> = run.rows.iter().map(|row| row.row).collect();
    run.row_ends.retain(|end| rows.contains(&end.row));
    run.samples.retain(|sample| rows.contains(&sample.row) && sample.process < 6);
    let only = |run: &Run| by_cpu(run).rows.into_iter().next().expect("a row");
    assert!(only(&run).ratio_ci.is_some(), "{:?}", only(&run));
    run.rows.iter_mut().filter(|row| row.role == Role::Control).for_each(|row| row.baseline = None);
    let alone = only(&run);
    let why = alone.why.expect("it is said");
    assert_eq!((alone.verdict, &*why.reason), (Verdict::CannotTell, "too few processes: 6, 8 are needed"));
}

#[test]
fn a_control_that_failed_is_named() {
    let mut run = both_sides();
    let control = run.rows.iter().find(|row| row.role == Role::Control).expect("a control").row;
    for end in run.row_ends.iter_mut().filter(|end| end.row == control) {
        end.status = Status::Failed(Missing::new("it ended (exit status 3)", "mend it"));
    }
    let comparison = by_cpu(&run);
    let row = comparison.rows.iter().find(|row| row.key.variant == "errgroup").expect("a row");
    let why = row.why.as_ref().expect("it is said");
    assert_eq!(row.verdict, Verdict::CannotTell);
    assert_eq!(&*why.reason, "the A/A control, the same code as OLD, failed: it ended (exit status 3)");
    assert_eq!(&*why.remedy, "mend it");
}

#[test]
fn what_disturbs_both_sides_alike_changes_no_verdict() {
    let run = both_sides();
    // Costs rise fivefold from the beginning to the end.
    let slower = disturbed(&run, |round| 1.0 + round as f64);
    assert_eq!(verdicts(&by_cpu(&slower)), verdicts(&by_cpu(&run)));
    // Two sessions that differ so much cannot be told apart.
    let (old, new) = (parse_run(OLD).expect("a run file"), parse_run(NEW).expect("a run file"));
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    let apart = compare(
        ("old", &disturbed(&old, |round| 1.0 + round as f64)),
        ("new", &disturbed(&new, |round| 1.0 + round as f64)),
        &options,
    );
    let errgroup = apart.rows.iter().find(|row| row.key.variant == "errgroup").expect("the row");
    assert_eq!(errgroup.verdict, Verdict::CannotTell);
}

#[test]
fn a_control_that_differs_silences_its_runtime() {
    let mut run = both_sides();
    let control = run.rows.iter().find(|row| row.role == Role::Control).expect("a control").row;
    for sample in run.samples.iter_mut().filter(|sample| sample.row == control) {
        sample.cpu_ns = sample.cpu_ns * 11 / 10;
    }
    let comparison = by_cpu(&run);
    let errgroup = comparison.rows.iter().find(|row| row.key.variant == "errgroup").expect("the row");
    assert_eq!(errgroup.verdict, Verdict::CannotTell);
    assert!(
        errgroup.why.as_ref().is_some_and(|why| why.reason.contains("is the same code twice")),
        "{errgroup:?}"
    );
}

#[test]
fn without_a_control_nothing_is_claimed_but_failures() {
    let mut run = both_sides();
    run.rows.retain(|row| row.role != Role::Control);
    let comparison = by_cpu(&run);
    let by_figures: Vec<Verdict> =
        comparison.rows.iter().filter(|row| row.ratio.is_some()).map(|row| row.verdict).collect();
    assert!(!by_figures.is_empty() && by_figures.iter().all(|verdict| *verdict == Verdict::CannotTell));
    let failed = comparison.rows.iter().find(|row| row.key.variant == "pool").expect("the row");
    assert_eq!(failed.verdict, Verdict::Worse, "it fails now");
}

#[test]
fn too_few_processes_are_told_with_how_many_it_takes() {
    let mut run = both_sides();
    run.samples.retain(|sample| sample.process < 5);
    let errgroup = by_cpu(&run).rows.into_iter().find(|row| row.key.variant == "errgroup").expect("the row");
    assert_eq!(errgroup.verdict, Verdict::CannotTell);
    assert!(
        errgroup.why.as_ref().is_some_and(|why| why.reason.contains("too few processes: 5")),
        "{errgroup:?}"
    );
}

/// The run with rounds that took `seconds` each.
fn taking(mut run: Run, seconds: f64) -> Run {
    let errgroup = run.rows.iter().find(|row| row.key.variant == "errgroup").expect("a row").clone();
    let rounds: std::collections::BTreeSet<u64> = run
        .samples
        .iter()
        .filter(|sample| sample.row == errgroup.row && sample.kind == Kind::Timed)
        .map(|sample| sample.round)
        .collect();
    run.rounds = rounds
        .into_iter()
        .map(|round| RoundRecord {
            table: errgroup.key.table.clone(),
            size: errgroup.key.size,
            round,
            disturbance: Disturbance::default(),
            wall_ns: Some((seconds * 1e9) as u64),
        })
        .collect();
    run
}

fn remedy(run: &Run, variant: &str) -> (Verdict, String) {
    let comparison = by_cpu(run);
    let row = comparison.rows.iter().find(|row| row.key.variant == variant).expect("a row");
    (row.verdict, row.why.as_ref().map_or_else(String::new, |why| why.remedy.to_string()))
}

#[test]
fn what_cannot_be_told_is_told_with_the_time_that_would_do() {
    // Each round is of a process of its own. Five of 4 s were had and ten are needed among the
    // three rows with figures: 40 s, and a quarter more.
    let mut run = both_sides();
    run.samples.retain(|sample| sample.process < 5);
    let (verdict, named) = remedy(&taking(run.clone(), 4.0), "errgroup");
    assert_eq!((verdict, named.as_str()), (Verdict::CannotTell, "about --max-time 50s --samples 10"));
    // Neighbours make the rounds of the new side differ by up to a third: the interval is too wide.
    let mut run = both_sides();
    let is_new = |row: u64| row >= NEW_ROWS;
    for sample in run.samples.iter_mut().filter(|one| one.kind == Kind::Timed && is_new(one.row)) {
        sample.cpu_ns = (sample.cpu_ns as f64 * [0.75, 1.0, 1.3][sample.process as usize % 3]) as u64;
    }
    let (verdict, named) = remedy(&taking(run.clone(), 1.0), "errgroup");
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(named.starts_with("about --max-time "), "{named}");
    let (_, named) = remedy(&taking(run, 1_000.0), "errgroup");
    assert!(named.starts_with("a quieter machine (taskscale doctor), or about --max-time "), "{named}");
}

#[test]
fn the_same_program_twice_is_said_to_be_that() {
    let mut run = both_sides();
    let side = run.runtimes[1].clone();
    run.runtimes[0] = taskscale_model::run_file::RuntimeRecord {
        id: run.runtimes[0].id.clone(),
        old_of: run.runtimes[0].old_of.clone(),
        ..side
    };
    assert!(by_cpu(&run).notes[0].contains("same program"));
    // Two commands may differ in what is hidden of them.
    run.runtimes.iter_mut().for_each(|runtime| runtime.command.push("--token=***".into()));
    assert!(!by_cpu(&run).notes[0].contains("same program"));
    assert!(!by_cpu(&both_sides()).notes[0].contains("same program"));
}

#[test]
fn a_run_without_an_old_side_is_no_comparison() {
    let run = parse_run(OLD).expect("a run file");
    let options = CompareOptions { time: Time::Cpu, threshold: 0.02 };
    assert_eq!(compare_sides(&run, &options), None);
    // The run still has a failed row.
    assert!(run.row_ends.iter().any(|end| matches!(end.status, Status::Failed(_))));
}
