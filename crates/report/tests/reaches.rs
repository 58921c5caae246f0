//! Tables of how far variants come, from a run file to what is shown.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    missing::Missing,
    params::ParamValue,
    run_file::{Role, Status},
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");

/// A kept run, its first rows told to be one variant at ascending depths, of which that at `fails`
/// failed.
fn of_depths(depths: &[u64], fails: u64, why: &str) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        block.title = "nested".into();
        block.reach = Some("depth".into());
    }
    assert!(depths.len() <= run.rows.len());
    run.rows.truncate(depths.len());
    // The order of the plan is not that of the values.
    for (row, depth) in run.rows.iter_mut().zip(depths.iter().rev()) {
        (row.role, row.key.series.table) = (Role::Row, "nested".into());
        (row.key.series.runtime, row.key.series.variant) = ("asyncio".into(), "sync".into());
        row.key.series.params = [("depth".to_owned(), ParamValue::Integer(*depth))].into();
        if *depth == fails {
            let failed = Status::Failed(Missing::new(why, ""));
            run.row_ends
                .iter_mut()
                .filter(|end| end.row == row.row)
                .for_each(|end| end.status = failed.clone());
        }
    }
    let known: Vec<u64> = run.rows.iter().map(|row| row.row).collect();
    run.samples.retain(|sample| known.contains(&sample.row));
    run
}

fn shown(run: &Run) -> String {
    overview(&summarize(run), &Style::default(), "last")
}

#[test]
fn the_largest_depth_below_the_first_failure_is_told() {
    let why = "refused interp sync at size 1: RecursionError: too deep";
    let run = of_depths(&[100, 1_000, 10_000, 100_000], 10_000, why);
    let summary = summarize(&run);
    let table = &summary.overview.reaches[0];
    let row = &table.rows[0];
    assert_eq!((table.rows.len(), table.values.as_slice()), (1, &[100, 1_000, 10_000, 100_000][..]));
    assert_eq!((row.passes, row.ends), (Some(1_000), Some(10_000)));
    assert!(summary.overview.rankings.is_empty(), "depths are not ranked");
    let screen = shown(&run);
    assert!(screen.contains("asyncio sync     1,000  at 10,000: RecursionError: too deep"), "{screen}");
    assert!(!screen.contains("failed"), "what the table asks about is no failure: {screen}");
    assert!(text(&summary, &Style::default()).contains(why));
    assert!(markdown(&summary).contains("| asyncio | sync | 1,000 | at 10,000: "));
    let row = "<th scope=\"row\">asyncio</th><td>sync</td><td class=\"n\">1,000</td><td>at 10,000: ";
    assert!(page(&summary).contains(row), "{}", page(&summary));
}

#[test]
fn all_and_none_have_words() {
    let all = of_depths(&[100, 1_000], 0, "");
    assert!(shown(&all).contains("asyncio sync     1,000  all that were tried"), "{}", shown(&all));
    let why = "ended (killed by signal 11 (SIGSEGV)) instead of answering interp sync at size 1";
    let none = of_depths(&[100, 1_000], 100, why);
    let line = "asyncio sync      none  at 100: SIGSEGV";
    assert!(shown(&none).contains(line), "{}", shown(&none));
}
