//! What a user sees, word for word. `cargo insta review` shows what a change does to it.

use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_report::{Style, json, markdown, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const WIDE: &str = include_str!("../../analysis/tests/data/wide.jsonl");
const JIT: &str = include_str!("../../analysis/tests/data/jit.jsonl");
const THREADS: &str = include_str!("../../analysis/tests/data/threads.jsonl");

fn run(text: &str) -> Run {
    parse_run(text).expect("a run file")
}

/// The quick run as a kill leaves it: in the middle of a line, three fifths through.
fn killed() -> &'static str {
    let cut = QUICK.len() * 3 / 5;
    assert!(!QUICK[..cut].ends_with('\n'));
    &QUICK[..cut]
}

/// In as many pieces as a table has, one has the growth of its lines.
#[test]
fn growth_stands_in_a_table_of_any_width() {
    let summary = summarize(&run(QUICK));
    assert!(!summary.growth.is_empty());
    for width in [40, 50, 60, 70, 80, 120, 400] {
        let text = text(&summary, &Style { detailed: true, width, ..Style::default() });
        let heads = text.lines().filter(|line| line.starts_with(" runtime") && line.contains("growth"));
        assert!(heads.count() > 0, "{width}: {text}");
    }
}

#[test]
fn text_of_a_whole_run() {
    insta::assert_snapshot!(text(&summarize(&run(QUICK)), &Style::default()));
}

#[test]
fn text_in_detail() {
    insta::assert_snapshot!(text(&summarize(&run(QUICK)), &Style { detailed: true, ..Style::default() }));
}

#[test]
fn text_of_a_killed_run() {
    insta::assert_snapshot!(text(&summarize(&run(killed())), &Style::default()));
}

#[test]
fn text_of_many_sizes() {
    insta::assert_snapshot!(text(&summarize(&run(WIDE)), &Style::default()));
}

#[test]
fn markdown_of_a_whole_run() {
    insta::assert_snapshot!(markdown(&summarize(&run(QUICK))));
}

#[test]
fn text_of_cold_and_settled_code_in_detail() {
    insta::assert_snapshot!(text(&summarize(&run(JIT)), &Style { detailed: true, ..Style::default() }));
}

#[test]
fn markdown_of_cold_and_settled_code() {
    insta::assert_snapshot!(markdown(&summarize(&run(JIT))));
}

#[test]
fn text_of_threads_that_ran_in_detail() {
    insta::assert_snapshot!(text(&summarize(&run(THREADS)), &Style { detailed: true, ..Style::default() }));
}

#[test]
fn markdown_of_threads_that_ran() {
    insta::assert_snapshot!(markdown(&summarize(&run(THREADS))));
}

#[test]
fn json_of_many_sizes_begins() {
    let all = json(&summarize(&run(WIDE)));
    let first: Vec<&str> = all.lines().take(90).collect();
    insta::assert_snapshot!(first.join("\n"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let summary = summarize(&run(QUICK));
    let plain = text(&summary, &Style::default());
    let coloured = text(&summary, &Style { colour: true, ..Style::default() });
    assert!(coloured.contains("\x1b[31m") && coloured.contains("\x1b[2m"));
    let mut stripped = coloured;
    for escape in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
        stripped = stripped.replace(escape, "");
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&stripped), trimmed(&plain));
    assert!(!plain.contains('\x1b'));
}

#[test]
fn lines_stay_within_the_width() {
    for width in [80, 100, 120] {
        for file in [QUICK, WIDE, JIT, THREADS, killed()] {
            let text = text(&summarize(&run(file)), &Style { width, ..Style::default() });
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
