//! How a digest is shown: word for word for one, and within its bounds for every one.

use proptest::prelude::*;
use taskscale_model::{
    digest::*,
    missing::Reading,
    span::{Account, Dropped},
};
use taskscale_report::{digest_html, digest_json, digest_markdown, digest_text, digest_text::MAX_BYTES};

fn quantiles(scale: u64) -> Quantiles {
    Quantiles {
        count: 9,
        min: scale,
        p50: 2 * scale,
        p90: 3 * scale,
        p99: 4 * scale,
        max: 300 * scale,
        mean: 2.5,
    }
}

fn digest(name: &str, many: usize, scale: u64) -> Digest {
    let pattern = |which, gain: f64| Pattern {
        name: which,
        share: 0.42,
        evidence: format!("{name:?} takes 300 ms, 150 times the median, and others wait for it"),
        remedy: format!("split {name} into 16 pieces, or start it first"),
        change: None,
        predicted: Speedup { from: 1.0, to: gain },
        bound: gain,
    };
    Digest {
        schema: SCHEMA.into(),
        tasks: 201 * scale,
        workers: 4 * scale,
        window_ns: 400_000_000 * scale,
        clock_resolution_ns: scale,
        losses: Losses { work: 0.5, dispatch: 0.03, serial: 0.42, tail: 0.05, ..Losses::default() },
        unknown: 0.0,
        duration: Reading::Value(quantiles(1_000 * scale)),
        gap: Reading::missing(name, name),
        scheduling_cost_ns: Reading::Value(812.0 * scale as f64),
        break_even_ns: Reading::Value(7_308.0 * scale as f64),
        queue: Reading::Value(Queue {
            delay: quantiles(400 * scale),
            known: 0.95,
            shares: Reading::Value(QueueShares { starved: 0.31, dispatch: 0.02, saturated: 0.12 }),
        }),
        parallelism: Parallelism {
            mean: 2.0,
            peak: 4.0,
            step_ns: scale,
            timeline: (0..many.max(20)).map(|i| (i % 5) as f64).collect(),
            histogram: (0..many as u64).map(|n| Level { from: n, to: n * scale, share: 0.05 }).collect(),
        },
        workers_detail: WorkersDetail {
            active: 4,
            busy_max_over_mean: 1.9,
            busy_variation: 0.5,
            workers: (0..many as u32)
                .map(|worker| WorkerDetail { worker, tasks: scale, busy: 0.5, first_ns: 0, last_ns: scale })
                .collect(),
            folded: scale - 1,
        },
        outliers: (0..many)
            .map(|_| Outlier {
                name: name.into(),
                worker: 3,
                start_ns: scale,
                duration_ns: 300_000_000,
                times_typical: 150.0 * scale as f64,
            })
            .collect(),
        names: Names {
            top: (0..many)
                .map(|_| NameCost { name: name.into(), tasks: scale, total_ns: scale, share: 0.1 })
                .collect(),
            ..Names::default()
        },
        nesting: Nesting {
            nested: many as u64,
            depth: 2,
            parent_self: Reading::Value(0.1),
            naive_utilisation: 1.5,
            overlapping: 0,
        },
        dropped: Account {
            dropped: (0..many).map(|_| Dropped { reason: name.into(), events: scale }).collect(),
            ..Account::default()
        },
        patterns: (0..many.max(2))
            .map(|i| {
                pattern(if i == 0 { PatternName::StragglerTasks } else { PatternName::LoadImbalance }, 1.7)
            })
            .collect(),
        alternative: Some(Alternative {
            name: PatternName::UnderDecomposition,
            tell: "if all tasks are as long, split each of them".into(),
        }),
        confidence: Confidence {
            grade: ConfidenceGrade::Medium,
            margin: 0.5,
            reasons: (0..many).map(|_| format!("only {name}")).collect(),
        },
        notes: (0..many).map(|_| name.to_owned()).collect(),
    }
}

#[test]
fn text() {
    insta::assert_snapshot!(digest_text(&digest("solve", 3, 1)));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(digest_markdown(&digest("a|b<c>", 2, 1)));
}

#[test]
fn html() {
    insta::assert_snapshot!(digest_html(&digest("<script>&\"x", 1, 1)));
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
        let html = digest_html(&digest);
        prop_assert!(html.len() < 80_000 && !html.contains("<script"));
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
        digest_html(&digest);
        digest_markdown(&digest);
    }
}
