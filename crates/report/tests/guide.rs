//! Verdicts of a kept run of the guide: claims 3, 9, 11, 22 and 34 in six rounds.

use taskscale_analysis::guide::{judge, read};
use taskscale_model::{
    guide::{Figure, JudgedBound, Of, Standing, Verdict, Verdicts},
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

/// Whether a bound holds; its interval with the value in the middle; what it demands.
type Ratio = (Standing, [f64; 3], Option<f64>, Option<f64>);

/// Claim 34 with these bounds, each a ratio with its interval.
fn ratios(verdict: Verdict, bounds: &[Ratio]) -> Verdicts {
    let mut verdicts = verdicts();
    verdicts.claims.retain(|judged| judged.claim == 34);
    let judged = &mut verdicts.claims[0];
    (judged.verdict, judged.why) = (verdict, None);
    let first = judged.bounds[0].clone();
    let of = |(index, (standing, [low, value, high], above, below)): (usize, &Ratio)| {
        let of = Of::Ratio { one: "a".into(), other: "b".into() };
        let (value, low, high) = (Some(*value), Some(*low), Some(*high));
        let figure = Figure { value, low, high, has_interval: true, rounds: 9 };
        let (standing, above, below, name) = (*standing, *above, *below, format!("bound {index}"));
        JudgedBound { name, of, standing, above, below, figure: Reading::Value(figure), ..first.clone() }
    };
    judged.bounds = bounds.iter().enumerate().map(of).collect();
    verdicts
}

#[test]
fn the_figure_on_the_screen_is_the_one_that_decides() {
    use Standing::{CannotTell, Fails, Holds};
    let above = Some(1.0);
    let far = (Holds, [2.5, 2.7, 2.8], above, None);
    let near = (Holds, [1.01, 1.02, 1.04], above, None);
    let short = (Fails, [0.97, 0.98, 0.99], above, None);
    let shorter = (Fails, [0.4, 0.5, 0.6], above, None);
    let open = (CannotTell, [0.9, 1.0, 1.1], above, None);
    for (verdict, bounds, shown) in [
        (Verdict::Confirmed, vec![far, near], "1.02x [1.01, 1.04] (>1x)"),
        (Verdict::Refuted, vec![shorter, short], "0.98x [0.97, 0.99] (>1x)"),
        (Verdict::Partly, vec![far, short, shorter], "0.50x [0.40, 0.60] (>1x)"),
        (Verdict::CannotTell, vec![far, open, near], "1.00x [0.90, 1.10] (>1x)"),
        (Verdict::Confirmed, vec![(Holds, [1.2, 1.3, 1.4], above, Some(2.0))], "(1-2x)"),
    ] {
        let screen = guide_overview(&ratios(verdict, &bounds), None, &Style::default(), "last");
        assert!(screen.contains(shown), "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    }
}

#[test]
fn what_lies_beyond_the_measured_gives_way_to_a_value() {
    let open = (Standing::CannotTell, [0.9, 1.0, 1.1], Some(1.0), None);
    let mut verdicts = ratios(Verdict::CannotTell, &[open, open]);
    let bounds = &mut verdicts.claims[0].bounds;
    let few = |value| Figure { value, low: None, high: None, has_interval: false, rounds: 2 };
    bounds[0].figure = Reading::Value(few(None));
    bounds[1].figure = Reading::Value(few(Some(1.25)));
    let screen = guide_overview(&verdicts, None, &Style::default(), "last");
    assert!(screen.contains("1.25x, no interval (>1x)"), "{screen}");
}

#[test]
fn where_curves_cross_has_the_unit_of_its_axis() {
    let mut verdicts =
        ratios(Verdict::Partly, &[(Standing::Fails, [833.0, 950.0, 1_700.0], Some(1e4), Some(1e5))]);
    let (ones, others) = (Vec::new(), Vec::new());
    verdicts.claims[0].bounds[0].of = Of::Crossover { ones, others, scale: 1.0, level: 0.9 };
    let screen = guide_overview(&verdicts, None, &Style::default(), "last");
    assert!(screen.contains("950 ns [833 ns, 1.70 us]"), "{screen}");
    let text = guide_text(&verdicts, &[34], None, &Style::default());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("claimed: 10.0 us to 100 us"), "{text}");
}

#[test]
fn no_number_loses_digits_where_a_line_ends() {
    for lost in 0..20 {
        let mut verdicts = verdicts();
        let judged = &mut verdicts.claims[0];
        judged.text = format!("{} 1111111111 B and more of it", "x".repeat(lost + 12));
        judged.verdict = Verdict::NotTestable;
        judged.why = Some(Missing::new(format!("{} 9999999999 B", "y".repeat(lost + 10)), ""));
        let screen = guide_overview(&verdicts, None, &Style::default(), "last");
        let line = screen.lines().find(|line| line.contains("xxx")).expect("the claim");
        for (number, digit) in [("1111111111", '1'), ("9999999999", '9')] {
            let begins = line.chars().skip(4).any(|c| c == digit);
            assert!(!begins || line.contains(number), "{line}");
        }
    }
}

#[test]
fn a_long_cell_stands_below_the_table() {
    let many = vec![(Standing::Holds, [1.01, 1.02, 1.04], Some(1.0), None); 28];
    let text = guide_markdown(&ratios(Verdict::Confirmed, &many), &[], None);
    let row = text.lines().find(|line| line.starts_with("| 34 ")).expect("a row");
    assert!(row.chars().count() < 600 && row.contains("all 28 bounds stand below the table"), "{row}");
    assert_eq!(text.lines().filter(|line| line.starts_with("- bound ")).count(), 28, "{text}");
    assert!(text.find("\nClaim 34, ").is_some_and(|at| at > text.find("| 34 ").expect("a row")), "{text}");
}

#[test]
fn a_question_shows_its_figures_without_bounds() {
    let of = |count: usize| {
        let shown = vec![(Standing::Shown, [0.6, 0.7, 0.8], None, None); count];
        let mut verdicts = ratios(Verdict::Answered, &shown);
        verdicts.claims[0].question = true;
        verdicts
    };
    let screen = guide_overview(&of(2), None, &Style::default(), "last");
    assert!(screen.contains("34 answered ") && screen.contains("0.70x [0.60, 0.80]\n"), "{screen}");
    assert!(screen.contains("the guide claims nothing: the figure is the answer"), "{screen}");
    let text = guide_text(&of(2), &[34], None, &Style::default());
    assert!(text.starts_with("Question 34: "), "{text}");
    let table = guide_markdown(&of(2), &[], None);
    let cells = "| answered | bound 0: 0.70x \\[0.60, 0.80\\]; bound 1: 0.70x \\[0.60, 0.80\\] |";
    assert!(table.contains(cells), "{table}");
    let long = guide_markdown(&of(28), &[], None);
    assert!(long.contains("all 28 figures stand below the table"), "{long}");
    assert!(long.contains("\nQuestion 34, "), "{long}");
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
