//! The page of a digest, as a browser reads it.

mod common;

use common::{digests::digest, html::*};
use taskscale_model::{digest::*, missing::Reading};
use taskscale_report::{digest_html, digest_json, digest_text};

/// The page of a digest that a command took.
fn page(digest: &Digest) -> String {
    digest_html(digest, &["taskscale", "digest", "a trace.json"].map(str::to_owned))
}

/// A digest with `name` wherever a source gives a text, in its fields without a figure too.
fn hostile(name: &str) -> Digest {
    let mut digest = digest(name, 3, 1);
    digest.dropped.format = name.to_owned();
    digest.nesting.parent_self = Reading::missing(name, name);
    digest.duration = Reading::missing(name, name);
    digest.off_cpu = Reading::missing(name, name);
    digest
}

/// A digest of as many workers as a machine may have.
fn crowded() -> Digest {
    let mut digest = digest("solve", 16, 1);
    let worker = digest.workers_detail.workers[0].clone();
    (digest.workers, digest.workers_detail.active) = (60_000, 59_000);
    digest.workers_detail.workers = vec![worker; 16];
    digest.workers_detail.folded = 58_984;
    digest.workers_detail.by_busy = vec![40_000, 0, 0, 0, 0, 0, 0, 0, 10_000, 10_000];
    digest
}

/// Every sentence and figure of the text is in the page. Where text and page arrange a list in
/// different ways, every word is.
fn page_says_the_text(digest: &Digest) {
    let (text, page) = (digest_text(digest), visible(&parsed(&digest_html(digest, &[]))));
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
        let is_list = ["names", "not counted", "longest"].contains(&label);
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
fn a_page_keeps_to_itself_and_everyone_can_use_it() {
    let order = ["answer", "loss", "time", "workers", "times", "tasks", "rests", "download"];
    let mut nameless = digest("solve", 2, 1);
    nameless.names.top[0].name.clear();
    nameless.outliers[0].name.clear();
    let names = HOSTILE.iter().copied().chain(["solve"]);
    for digest in
        names.map(hostile).chain([0, 1, 5].map(|many| digest("solve", many, 1))).chain([crowded(), nameless])
    {
        let html = parsed(&page(&digest));
        assert!(html.errors.is_empty(), "{:?}", html.errors);
        fetches_nothing(&html);
        policy_is_strict(&html);
        ids_lead_somewhere(&html);
        all_has_a_name(&html);
        is_in_order(&html, &order);
        draws_no_nonsense(&html);
    }
}

#[test]
fn hostile_names_are_text_wherever_they_stand() {
    let harmless = shape(&parsed(&page(&hostile("harmless"))));
    let long = "<b>".repeat(4_000);
    for name in HOSTILE.iter().copied().chain([&*long, "\u{0}", "\u{202e}evil\u{202c}"]) {
        let command = ["taskscale", "digest", name].map(str::to_owned);
        let page = digest_html(&hostile(name), &command);
        let html = parsed(&page);
        assert_eq!(shape(&html), harmless, "{name:?}");
        let harmful = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
        assert!(!page.contains(harmful), "{name:?}");
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
    let name = "</script><img onerror=x>";
    assert!(visible(&parsed(&page(&hostile(name)))).contains(name), "the name itself can be read");
}

#[test]
fn the_data_of_a_page_is_its_digest() {
    for digest in HOSTILE.map(hostile).into_iter().chain([crowded()]) {
        let data = data(&parsed(&page(&digest)));
        assert!(!data.contains('<') && data.is_ascii());
        assert!(serde_json::from_str::<Digest>(&data).expect("JSON") == digest);
        assert!(serde_json::from_str::<Digest>(&digest_json(&digest)).expect("JSON") == digest);
    }
}

#[test]
fn the_command_stands_on_the_page_as_a_shell_takes_it() {
    assert!(visible(&parsed(&page(&digest("a", 1, 1)))).contains("taskscale digest 'a trace.json'"));
    assert!(all(&parsed(&digest_html(&digest("a", 1, 1), &[])), "code").is_empty(), "it was taken live");
}

#[test]
fn sixty_thousand_workers_are_grouped_and_the_page_says_so() {
    let html = parsed(&page(&crowded()));
    assert!(page(&crowded()).len() < 200_000);
    assert_eq!(all(&html, "#busy tbody tr").len(), 16);
    assert_eq!(all(&html, "#groups tbody tr").len(), 10);
    let shown = visible(&html);
    for words in [
        "58984 workers between them have no line of their own",
        "1000 workers ran no task",
        "0 % to 10 % 66.7 %",
        "90 % to 100 % 16.7 %",
    ] {
        assert!(shown.contains(words), "{words}");
    }
    let mut few = crowded();
    few.workers_detail.folded = 0;
    assert!(all(&parsed(&page(&few)), "#groups").is_empty(), "each has a line");
    few.workers_detail.workers = vec![few.workers_detail.workers[0].clone(); 60_000];
    let html = parsed(&page(&few));
    assert!(page(&few).len() < 1_000_000, "{} bytes", page(&few).len());
    assert!(visible(&html).contains("59936 workers between them"));
    assert!(visible(&html).contains("too large to lie in its page"));
}

#[test]
fn each_term_of_the_loss_has_a_bar_a_share_and_words() {
    let html = parsed(&page(&digest("solve", 2, 1)));
    let rows: Vec<String> = all(&html, "#losses tbody tr").into_iter().map(text_of).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2], "serial 672 ms 42.0 % idle while exactly one worker is active");
    assert_eq!(all(&html, "svg.whole rect").len(), 4, "those that are not zero");
    assert!(visible(&html).contains("No time went to: starvation, preempted, outside."));
    assert_eq!(all(&html, "#losses tbody rect").len(), 4);
    let words = all(&html, "svg.whole")[0].value().attr("aria-label");
    assert_eq!(words, Some("work 50.0 %, dispatch 3.0 %, serial 42.0 %, tail 5.0 %"));
}

#[test]
fn the_plot_over_time_has_axes_with_units_and_shades_the_loss() {
    let mut digest = digest("solve", 2, 1);
    digest.parallelism.timeline = vec![4.0, 2.0, 1.0, 1.0];
    digest.parallelism.step_ns = 100_000_000;
    digest.patterns[0].when = vec![TimeRange { from_ns: 100_000_000, to_ns: 400_000_000, share: 0.9 }];
    let html = parsed(&page(&digest));
    assert_eq!(all(&html, "#time rect.step").len(), 4);
    let attr = |name: &str| all(&html, "#time rect.when")[0].value().attr(name).map(str::to_owned);
    assert_eq!((attr("x"), attr("width")), (Some("25%".into()), Some("75%".into())));
    let labels = text_of(all(&html, "#time figure")[0]);
    for label in ["0 1 2 3 4", "100 ms", "400 ms", "Shaded: where most of the loss of STRAGGLER_TASKS lies"] {
        assert!(labels.contains(label), "{label:?} in {labels}");
    }
    assert!(labels.ends_with("0 ns 4.00 100 ms 2.00 200 ms 1.00 300 ms 1.00"), "{labels}");
}

#[test]
fn a_histogram_shows_numbers_and_time_and_where_there_is_none_its_reason() {
    let mut digest = digest("solve", 2, 1);
    digest.gap = Reading::missing("no gaps here", "look elsewhere");
    let html = parsed(&page(&digest));
    let figures: Vec<String> = all(&html, "#times figure").into_iter().map(text_of).collect();
    assert_eq!(figures.len(), 3);
    assert!(figures[0].contains("1.00 us to 2.00 us 3 60.0 % 33.3 %"), "{}", figures[0]);
    assert!(figures[0].contains("worthwhile from 7.31 us"), "{}", figures[0]);
    assert!(figures[1].contains("Queue delay: from ready to start p50 ~800 ns"), "{}", figures[1]);
    assert!(figures[2].ends_with("not known: no gaps here (look elsewhere)"), "{}", figures[2]);
    // The pairs of bars keep their order, and the higher share is the higher bar.
    assert_eq!(all(&html, "#times figure:first-child rect.bar").len(), 6);
}

#[test]
fn the_answer_says_what_the_advice_gives_what_a_perfect_fix_does_and_what_it_rests_on() {
    let mut digest = digest("solve", 2, 1);
    (digest.patterns[0].predicted, digest.patterns[0].bound) = (Speedup { from: 1.2, to: 1.5 }, 1.7);
    let answer = |digest: &Digest| {
        let html = parsed(&page(digest));
        (text_of(all(&html, "header")[0]), text_of(all(&html, "#answer dl.answer")[0]))
    };
    let (head, said) = answer(&digest);
    assert!(said.contains("Gives at most about 1.70x faster, by a perfect fix"), "{said}");
    assert!(said.ends_with("Confidence medium: only solve; only solve"), "{said}");
    assert!(head.contains("faster by a perfect fix 1.70x") && !head.contains("by the advice"), "{head}");
    digest.patterns[0].change = Some(Change::ShareQueue);
    digest.confidence = Confidence { grade: ConfidenceGrade::High, margin: 1.0, reasons: Vec::new() };
    let (head, said) = answer(&digest);
    assert!(said.contains("Gives by the advice 1.20x to 1.50x faster; a perfect fix"), "{said}");
    assert!(said.contains("Confidence high: nothing weakens it"), "{said}");
    assert!(head.contains("faster by the advice 1.20x to 1.50x"), "{head}");
    assert!(head.contains("A few tasks are much longer than the rest"), "{head}");
}

#[test]
fn what_cannot_be_seen_is_said() {
    let mut digest = digest("solve", 1, 1);
    digest.queue = no_ready_times();
    digest.off_cpu = no_cpu_times();
    digest.unknown = 0.1;
    let shown = visible(&parsed(&page(&digest)));
    for words in [
        "the source does not tell when tasks became ready",
        "the source does not tell the CPU time of tasks",
        "they may hold 10.0 % of the workers' time",
        "a profiler tells",
    ] {
        assert!(shown.contains(words), "{words}");
    }
}

#[test]
fn figures_that_are_no_numbers_draw_no_nonsense() {
    for value in [f64::NAN, f64::INFINITY, -1.0, f64::MAX, 0.0] {
        let mut digest = digest("x", 3, 1);
        (digest.losses.work, digest.losses.tail, digest.unknown) = (value, value, value);
        (digest.parallelism.mean, digest.parallelism.peak) = (value, value);
        digest.parallelism.timeline = vec![value; 1_000];
        digest.parallelism.histogram[0].share = value;
        digest.workers_detail.workers[0].busy = value;
        digest.break_even_ns = Reading::Value(value);
        digest.names.top[0].share = value;
        (digest.patterns[0].share, digest.patterns[0].bound) = (value, value);
        (digest.window_ns, digest.workers) = (u64::MAX, u64::MAX);
        digest.outliers[0].start_ns = u64::MAX;
        for class in &mut digest.histograms.duration {
            (class.count, class.total_ns, class.to_ns) = (u64::MAX, u64::MAX, 0);
        }
        draws_no_nonsense(&parsed(&page(&digest)));
    }
}
