//! Verdicts of a kept run of the guide: claims 3, 9, 11, 22 and 34 in six rounds.

use taskscale_analysis::guide::{judge, read};
use taskscale_model::{
    guide::{Verdict, Verdicts},
    missing::{Missing, Reading},
};
use taskscale_report::{Style, guide_json, guide_markdown, guide_overview, guide_text};

const KEPT: &[u8] = include_bytes!("../../analysis/tests/data/guide.jsonl");

fn verdicts() -> Verdicts {
    judge(&read::parse(KEPT).expect("a file of the guide"))
}

#[test]
fn the_screen_has_a_line_for_each_claim() {
    let screen = guide_overview(&verdicts(), None, &Style::default(), "last");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn one_claim_is_shown_with_all_that_was_measured() {
    let text = guide_text(&verdicts(), &[3, 22], None, &Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn what_failed_says_why_once() {
    let mut verdicts = verdicts();
    let why = Missing::new("the process ended: exit status 1: no memory", "run it by hand");
    for judged in &mut verdicts.claims {
        judged.why = Some(why.clone());
        judged.bounds.iter_mut().for_each(|bound| bound.figure = Reading::Missing(why.clone()));
        judged.arms.iter_mut().for_each(|arm| (arm.rounds, arm.why) = (0, Some(why.clone())));
    }
    let text = guide_text(&verdicts, &[3], None, &Style::default());
    assert_eq!(text.matches("no memory").count(), 1, "{text}");
}

#[test]
fn the_table_has_the_verdicts() {
    insta::assert_snapshot!(guide_markdown(&verdicts(), &[3, 9, 22], None));
}

#[test]
fn json_is_read_back() {
    let all: Verdicts = serde_json::from_str(&guide_json(&verdicts(), &[], None)).expect("verdicts");
    assert_eq!(all, verdicts());
    let one: Verdicts = serde_json::from_str(&guide_json(&verdicts(), &[22], None)).expect("verdicts");
    assert_eq!(one.claims.iter().map(|judged| judged.verdict).collect::<Vec<_>>(), [Verdict::NotTestable]);
}

#[test]
fn hostile_words_do_no_harm() {
    let mut verdicts = verdicts();
    let hostile = "\u{1b}[31m\u{202e}<script>|x|\n\n# y".to_owned();
    for judged in &mut verdicts.claims {
        (judged.text, judged.note, judged.program) = (hostile.clone(), hostile.clone(), hostile.clone());
        judged.bounds.iter_mut().for_each(|bound| bound.name.clone_from(&hostile));
        judged.arms.iter_mut().for_each(|arm| arm.name.clone_from(&hostile));
    }
    let style = Style::default();
    let all = [
        guide_overview(&verdicts, None, &style, "last"),
        guide_text(&verdicts, &[], None, &style),
        guide_markdown(&verdicts, &[], None),
    ];
    for text in all {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("\n# y"), "{text}");
    }
    assert!(!guide_markdown(&verdicts, &[], None).contains("<script>"));
}
