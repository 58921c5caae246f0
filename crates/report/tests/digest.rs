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
        tasks: (0..many.min(3)).map(|_| TaskShare { name: name.into(), share: 0.3 }).collect(),
        threads: (0..many.min(3) as u32)
            .map(|worker| ThreadShare { worker, thread: Some(name.into()), share: 0.3 })
            .collect(),
        when: (0..many.min(3) as u64)
            .map(|at| TimeRange {
                from_ns: at * scale * 1_000_000,
                to_ns: (at * scale + 1) * 1_000_000,
                share: 0.3,
            })
            .collect(),
        all_along: false,
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
        off_cpu: Reading::Value(OffCpu { share: 0.21, parents: 0.11, known: 0.9 }),
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
                .map(|worker| WorkerDetail {
                    worker,
                    thread: Some(name.into()),
                    tasks: scale,
                    busy: 0.5,
                    first_ns: 0,
                    last_ns: scale,
                })
                .collect(),
            folded: scale - 1,
        },
        outliers: (0..many)
            .map(|_| Outlier {
                name: name.into(),
                worker: 3,
                thread: Some(name.into()),
                start_ns: scale,
                duration_ns: 300_000_000,
                times_typical: 150.0 * scale as f64,
            })
            .collect(),
        names: Names {
            top: (0..many)
                .map(|_| NameCost {
                    name: name.into(),
                    tasks: scale,
                    total_ns: scale,
                    own_ns: scale,
                    share: 0.1,
                })
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

/// The text of a page, with one blank between words.
fn words_of(page: &str) -> String {
    let mut text = String::new();
    for (at, part) in page.split('<').enumerate() {
        text += if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) };
        text.push(' ');
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every sentence and figure of the text is in the page. Where text and page arrange a list in
/// different ways, every word is.
fn page_says_the_text(digest: &Digest) {
    let (text, page) = (digest_text(digest), words_of(&digest_html(digest)));
    let mut lines: Vec<String> = Vec::new();
    let begins = |line: &str| {
        ["why:", "do:", "who:", "when:"].iter().any(|label| line.trim_start().starts_with(label))
            || !line.starts_with("    ")
    };
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('|')) {
        match lines.last_mut().filter(|_| !begins(line)) {
            Some(last) => *last = format!("{last} {}", line.trim()),
            None => lines.push(line.trim().to_owned()),
        }
    }
    assert!(lines.len() > 12, "{text}");
    for line in lines.iter().filter(|line| !line.ends_with("not shown here: --format md has all)")) {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        let is_list = label == "names" || label == "not counted";
        let pieces: Vec<&str> = if is_list {
            rest.split([' ', ',', '(', ')']).collect()
        } else if label.is_empty() {
            rest.split("  ").map(str::trim).collect()
        } else if label.contains('(') {
            vec![line]
        } else {
            rest.trim().split("; ").collect()
        };
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            let piece = piece.trim_start_matches("medium: ").trim_end_matches(':');
            assert!(page.contains(piece), "{piece:?} of {line:?} is not in {page}");
        }
    }
}

#[test]
fn the_page_says_at_least_what_the_text_says() {
    for (name, many) in [("solve", 1), ("a b", 2), ("<script>&\"x", 3), ("ä", 2), ("\u{1b}[31m\u{202e}", 2)]
    {
        let mut digest = digest(name, many, 1);
        page_says_the_text(&digest);
        digest.patterns[0].change = Some(Change::ShareQueue);
        digest.patterns[0].name = PatternName::SerialBottleneck;
        digest.patterns[1].all_along = true;
        digest.workers_detail.workers[0].busy = 0.25;
        digest.workers_detail.folded = 5;
        digest.losses.starvation = 0.001;
        page_says_the_text(&digest);
        digest.patterns[0].tasks.clear();
        digest.patterns[1].name = PatternName::OutsideRun;
        digest.outliers.clear();
        digest.nesting.nested = 0;
        digest.workers_detail.workers.iter_mut().for_each(|worker| worker.thread = None);
        page_says_the_text(&digest);
    }
}

#[test]
fn names_of_threads_and_tasks_are_shown_safely_and_cut() {
    let mut digest = digest("solve", 2, 1);
    let evil = format!("a\u{1b}[2J\u{202e}\n{}", "x".repeat(100));
    digest.name_threads(|_| Some(&evil));
    digest.patterns[0].tasks[0].name = evil.clone();
    let text = digest_text(&digest);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = format!("a\\u{{1b}}[2J~{}", "x".repeat(21));
    assert!(text.contains(&format!("awaited: \"{shown}\" (30 %)")), "{text}");
    assert!(text.contains(&format!("worker 1 \"{shown}\"")), "{text}");
    assert!(words_of(&digest_html(&digest)).contains(&shown));
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
    assert!(digest_text(&digest).contains("(42.0 %, bound: at most 1.70x faster if it could be removed)"));
    digest.patterns[0].change = Some(Change::ShareQueue);
    assert!(digest_text(&digest).contains("(42.0 %, fixing it: 1.00x to 1.70x faster)"));
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
