//! How a digest is shown: word for word for one, and within its bounds for every one.

mod common;

use common::digests::digest;
use proptest::prelude::*;
use taskscale_model::{digest::*, missing::Reading};
use taskscale_report::{digest_html, digest_json, digest_markdown, digest_text, digest_text::MAX_BYTES};

#[test]
fn text() {
    insta::assert_snapshot!(digest_text(&digest("solve", 3, 1)));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(digest_markdown(&digest("a|b<c>", 2, 1)));
}

#[test]
fn names_of_threads_and_tasks_are_shown_safely_and_cut() {
    let mut digest = digest("solve", 2, 1);
    let evil = format!("a\u{1b}[2J\u{202e}\n{}", "x".repeat(100));
    digest.name_threads(|_| Some(&evil));
    digest.patterns[0].tasks[0].name = evil.clone();
    let text = digest_text(&digest);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = format!("a?[2J? xxx~{}", "x".repeat(21));
    assert!(text.contains(&format!("awaited: \"{shown}\" (30 %)")), "{text}");
    assert!(text.contains(&format!("worker 1 \"{shown}\"")), "{text}");
    assert!(digest_html(&digest, &[]).contains(&shown));
}

#[test]
fn no_line_but_notes_is_wider_than_80_columns_and_figures_keep_their_units() {
    for many in 1..6 {
        let text = digest_text(&digest("a_name_of_some_length", many, 1));
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
            let first = line.split_whitespace().next().unwrap_or_default();
            assert!(!["%", "%)", "%,", "ns)", "ms", "ns", "us"].contains(&first), "{text}");
        }
    }
}

#[test]
fn a_loss_that_cannot_be_removed_is_bounded_and_not_fixed() {
    let mut digest = digest("solve", 2, 1);
    assert!(digest_text(&digest).contains("(42.0 %, bound: about 1.70x faster without it)"));
    digest.patterns[0].change = Some(Change::ShareQueue);
    assert!(digest_text(&digest).contains("(42.0 %, fixing it: 1.00x to 1.70x faster)"));
}

#[test]
fn each_cause_of_a_mixed_loss_has_its_own_who_and_when() {
    let mut digest = digest("solve", 1, 1);
    let causes = digest.patterns.clone();
    let mixed = Pattern {
        name: PatternName::Mixed,
        tasks: vec![],
        threads: vec![],
        when: vec![],
        ..causes[0].clone()
    };
    digest.patterns = std::iter::once(mixed).chain(causes).collect();
    let text = digest_text(&digest);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}"));
    assert_eq!((text.matches("  who:").count(), text.matches("  when:").count()), (2, 2), "{text}");
    let (first, second) = (at("next: STRAGGLER_TASKS"), at("next: LOAD_IMBALANCE"));
    assert!(first < at("  who:") && at("  when:") < second, "{text}");
}

#[test]
fn the_runner_up_says_why() {
    let mut digest = digest("solve", 1, 1);
    digest.patterns[1].evidence = "one worker had all of it".into();
    let text = digest_text(&digest);
    let behind = text.split_once("next: LOAD_IMBALANCE").expect("the runner-up").1;
    assert!(behind.contains("\n  why:  one worker had all of it\n"), "{text}");
}

#[test]
fn time_outside_of_tasks_says_whether_a_task_waited() {
    let mut digest = digest("solve", 1, 1);
    let waited = "idle for 2.0 % of their time while a task waited, for 31.0 % while none did";
    let said = |digest: &Digest| digest_text(digest).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!said(&digest).contains(waited), "another pattern");
    digest.patterns[0].name = PatternName::OutsideRun;
    assert!(said(&digest).contains(waited), "{}", said(&digest));
    digest.queue = Reading::missing("no ready times", "");
    assert!(!said(&digest).contains("while a task waited"), "it is not known");
}

#[test]
fn json_reads_back_as_it_was() {
    let digest = digest("solve", 3, 7);
    let back: Digest = serde_json::from_str(&digest_json(&digest)).expect("a digest");
    assert_eq!(back, digest);
}

proptest! {
    #[test]
    fn text_is_bounded_and_safe_on_every_digest(
        name in any::<String>(),
        long in proptest::collection::vec(any::<char>(), 0..600),
        many in 0usize..80,
        scale in prop_oneof![1u64..5, 1_000_000u64..4_000_000_000],
    ) {
        let name = name + &String::from_iter(long);
        let digest = digest(&name, many, scale);
        let text = digest_text(&digest);
        prop_assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
        prop_assert!(text.ends_with('\n'));
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        // The diagnosis stays, whatever had to go.
        prop_assert!(text.contains("STRAGGLER_TASKS") && text.contains("LOAD_IMBALANCE"), "{text}");
        let html = digest_html(&digest, std::slice::from_ref(&name));
        prop_assert!(html.len() < 1_000_000, "{} bytes", html.len());
        for row in digest_markdown(&digest).lines() {
            prop_assert!(!row.chars().any(char::is_control));
        }
    }

    #[test]
    fn extreme_numbers_do_not_break_the_bound(share in any::<f64>(), count in any::<u64>()) {
        let mut digest = digest("x", 20, 1);
        digest.tasks = count;
        digest.workers = count;
        digest.window_ns = count;
        digest.losses.work = share;
        digest.losses.outside = share;
        digest.parallelism.mean = share;
        digest.parallelism.timeline = vec![share; 1_000];
        digest.workers_detail.busy_max_over_mean = share;
        digest.scheduling_cost_ns = Reading::Value(share);
        digest.patterns[0].share = share;
        digest.patterns[0].bound = share;
        prop_assert!(digest_text(&digest).len() <= MAX_BYTES);
        digest_html(&digest, &[]);
        digest_markdown(&digest);
    }
}
