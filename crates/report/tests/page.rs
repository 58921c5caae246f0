//! The page of a run, as a browser reads it: parsed by the rules of HTML, and held to what it
//! promises.

mod common;

use common::html::*;
use scraper::{Html, Selector};
use taskscale_analysis::{parse_run, summarize};
use taskscale_model::{
    missing::Missing,
    summary::{Ranked, RowState, Standing, Summary},
};
use taskscale_report::{Style, overview, page, strip_svg};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const WIDE: &str = include_str!("../../analysis/tests/data/wide.jsonl");
const JIT: &str = include_str!("../../analysis/tests/data/jit.jsonl");
const THREADS: &str = include_str!("../../analysis/tests/data/threads.jsonl");
const GRANULARITY: &str = include_str!("../../analysis/tests/data/granularity.jsonl");
const ALL: [&str; 5] = [QUICK, WIDE, JIT, THREADS, GRANULARITY];

fn summary(text: &str) -> Summary {
    summarize(&parse_run(text).expect("a run file"))
}

/// A summary in which every text that a run file decides is hostile.
fn hostile(name: &str) -> Summary {
    let mut summary = summary(QUICK);
    let name = || name.to_owned();
    summary.tool = name();
    summary.command.push(name());
    summary.notes.push(name());
    summary.control.verdict = name();
    summary.machine.fingerprint = name();
    summary.machine.kernel = taskscale_model::missing::Reading::Value(name());
    summary.overview.titles = vec![name()];
    for finding in &mut summary.overview.findings {
        (finding.text, finding.remedy) = (name(), name());
    }
    for runtime in &mut summary.runtimes {
        runtime.id = name();
    }
    for row in &mut summary.rows {
        row.key.runtime = name();
        row.key.variant = name();
        row.baseline = Some(name());
        if row.figures().is_none() {
            row.state = RowState::Failed(Missing::new(name(), name()));
        }
    }
    for growth in &mut summary.growth {
        growth.key.runtime = name();
        growth.key.variant = name();
    }
    for ranking in &mut summary.overview.rankings {
        for row in &mut ranking.rows {
            (row.runtime, row.variant) = (name(), name());
        }
    }
    summary
}

/// A run of `series` series at 20 sizes, all of them ranked.
fn large(series: u64) -> Summary {
    let mut summary = summary(WIDE);
    let row = summary.rows.iter().find(|row| row.figures().is_some()).expect("a row").clone();
    let ranked = summary.overview.rankings[0].rows[0].clone();
    summary.overview.rankings.truncate(1);
    let ranking = &mut summary.overview.rankings[0];
    ranking.sizes = (0..20).map(|octave| 1 << octave).collect();
    ranking.size = 1 << 10;
    ranking.rows.clear();
    summary.rows.clear();
    for series in 0..series {
        let variant = format!("a_variant_with_a_long_name/{series}");
        ranking.rows.push(Ranked { variant: variant.clone(), size: ranking.size, ..ranked.clone() });
        for size in &ranking.sizes {
            let mut row = row.clone();
            (row.key.series.variant, row.key.size) = (variant.clone(), *size);
            if let RowState::Ok(figures) = &mut row.state {
                figures.cold_cpu = Some(figures.cpu.of);
                figures.threads = Some(figures.cpu.of);
                figures.busiest = Some(figures.cpu.of);
            }
            summary.rows.push(row);
        }
    }
    summary
}

#[test]
fn pages_are_small() {
    for run in ALL {
        let page = page(&summary(run));
        assert!(page.len() < 400_000, "{} bytes", page.len());
    }
    for series in [1, 8, 15, 30, 60, 200] {
        let page = page(&large(series));
        assert!(page.len() <= 1_000_000, "{} rows: {} bytes", 20 * series, page.len());
    }
}

#[test]
fn what_a_page_of_a_large_run_leaves_out_is_said() {
    let rows = |html: &Html| all(html, "#all tbody tr").len();
    let of = |series: u64| {
        let summary = large(series);
        let html = parsed(&page(&summary));
        assert!(html.errors.is_empty(), "{:?}", html.errors);
        ids_lead_somewhere(&html);
        (visible(&html), html)
    };
    let (shown, html) = of(8);
    assert_eq!((rows(&html), all(&html, "#strip-0 tbody").len()), (160, 20));
    assert!(shown.contains("Every figure of this page is in the page itself"));
    // More than 150 rows: the times of all of them stay.
    let (shown, html) = of(15);
    assert_eq!((rows(&html), all(&html, "#strip-0 tbody").len()), (300, 20));
    assert!(shown.contains("its other figures (cold starts, creation, threads, counts) are left out"));
    assert!(shown.contains("taskscale report FILE -o r.json has all"));
    let read: Summary = serde_json::from_str(&data(&html)).expect("a summary");
    let whole = large(15);
    for (thin, row) in read.rows.iter().zip(&whole.rows) {
        let (thin, figures) = (thin.figures().expect("figures"), row.figures().expect("figures"));
        assert_eq!((thin.cpu, thin.wall), (figures.cpu, figures.wall));
        assert_eq!((thin.cold_cpu, thin.threads), (None, None));
    }
    let (shown, html) = of(200);
    assert_eq!(data(&html), "null");
    assert!(all(&html, "input[type=file]").is_empty(), "nothing to set another run beside");
    assert_eq!((rows(&html), all(&html, "#strip-0 tbody tr").len()), (1_000, 180));
    assert!(shown.contains("3,000 more rows are not shown"));
    assert!(shown.contains("17 of 20 sizes are not shown here"));
    assert!(shown.contains("140 dearest rows of a size are not shown"));
}

#[test]
fn pages_are_html_without_a_parse_error() {
    for page in ALL.map(|run| page(&summary(run))).into_iter().chain(HOSTILE.map(|name| page(&hostile(name))))
    {
        let html = parsed(&page);
        assert!(html.errors.is_empty(), "{:?}", html.errors);
    }
}

#[test]
fn the_words_of_the_first_screen_are_on_the_page() {
    for run in ALL {
        let summary = summary(run);
        let html = parsed(&page(&summary));
        let shown = visible(&html);
        let screen = overview(&summary, &Style::default(), "last");
        let drawing = |c: char| "\u{b7}\u{2500}\u{251c}\u{2524}\u{25cf}\u{25cb}".contains(c);
        // What follows is advice for a terminal.
        let lines = screen.lines().take_while(|line| !line.starts_with("next "));
        for word in lines.flat_map(|line| line.split([' ', ','])) {
            let word = word.trim_matches(drawing);
            assert!(word.contains(drawing) || shown.contains(word), "{word:?} of {screen}");
        }
        for finding in &summary.overview.findings {
            assert!(shown.contains(&format!("{} {}", finding.kind.word(), finding.text)), "{finding:?}");
            assert!(shown.contains(&finding.remedy), "{finding:?}");
        }
    }
}

#[test]
fn a_ranking_is_shown_first_at_its_own_size_in_its_own_order() {
    for run in ALL {
        let summary = summary(run);
        let html = parsed(&page(&summary));
        let tables = all(&html, "#rankings table");
        assert_eq!(tables.len(), summary.overview.rankings.len());
        for (table, ranking) in tables.iter().zip(&summary.overview.rankings) {
            let rows = Selector::parse("tbody:not([hidden]) tr").unwrap();
            let rows: Vec<String> = table.select(&rows).map(text_of).collect();
            assert_eq!(rows.len(), ranking.rows.len());
            for (shown, row) in rows.iter().zip(&ranking.rows) {
                assert!(shown.starts_with(&format!("{} {}", row.runtime, row.variant)), "{shown}");
                assert_eq!(shown.ends_with("reference"), row.standing == Standing::Reference, "{shown}");
            }
        }
    }
}

#[test]
fn each_size_of_a_table_has_its_figures() {
    let summary = summary(WIDE);
    let html = parsed(&page(&summary));
    let ranking = &summary.overview.rankings[0];
    let panels = all(&html, "#strip-0 tbody");
    assert_eq!(panels.len(), ranking.sizes.len());
    let slider = all(&html, "input[type=range]")[0];
    assert_eq!(slider.value().attr("max"), Some(&*(panels.len() - 1).to_string()));
    for (panel, size) in panels.iter().zip(&ranking.sizes) {
        let rows = summary
            .rows
            .iter()
            .filter(|row| row.key.size == *size && row.role != taskscale_model::run_file::Role::Control);
        for row in rows.filter(|row| row.creates_task != Some(false)) {
            let Some(figures) = row.figures() else { continue };
            let median = taskscale_model::figure::time(figures.cpu.of.p50);
            assert!(text_of(*panel).contains(&median), "{median} at {size}");
        }
    }
}

#[test]
fn a_page_keeps_to_itself_and_everyone_can_use_it() {
    let order = ["beside", "rankings", "findings", "growth", "distributions", "rows", "trust", "download"];
    for run in ALL {
        let html = parsed(&page(&summary(run)));
        fetches_nothing(&html);
        policy_is_strict(&html);
        ids_lead_somewhere(&html);
        all_has_a_name(&html);
        is_in_order(&html, &order);
    }
}

#[test]
fn hostile_names_are_text_wherever_they_stand() {
    let harmless = parsed(&page(&hostile("harmless")));
    for name in HOSTILE {
        let page = page(&hostile(name));
        let html = parsed(&page);
        // The elements are the same as with harmless names, and so is the number of attributes.
        assert_eq!(shape(&html), shape(&harmless), "{name:?}");
        let harmful = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
        assert!(!page.contains(harmful), "{name:?}");
        assert_eq!(script(&html), script(&harmless));
    }
    let shown = visible(&parsed(&page(&hostile(HOSTILE[0]))));
    assert!(shown.contains(HOSTILE[0]), "the name itself can be read");
}

#[test]
fn the_data_of_a_page_is_its_summary() {
    let summaries = ALL.map(summary).into_iter().chain(HOSTILE.map(hostile));
    for summary in summaries {
        let html = parsed(&page(&summary));
        let data = data(&html);
        assert!(!data.contains('<') && data.is_ascii());
        let read: Summary = serde_json::from_str(&data).expect("JSON");
        assert!(read == summary, "the summary differs");
    }
}

#[test]
fn every_row_is_in_the_table_with_its_figures_or_its_reason() {
    for run in ALL {
        let summary = summary(run);
        let html = parsed(&page(&summary));
        let rows = all(&html, "#all tbody tr");
        assert_eq!(rows.len(), summary.rows.len());
        for (shown, row) in rows.iter().map(|row| text_of(*row)).zip(&summary.rows) {
            assert!(shown.contains(&row.key.runtime) && shown.contains(&row.key.variant), "{shown}");
            if let Some(missing) = row.missing() {
                assert!(shown.contains(&missing.reason) && shown.contains(&missing.remedy), "{shown}");
            }
        }
    }
}

#[test]
fn a_cliff_has_its_bend_and_plots_have_a_limit() {
    let wide = summary(WIDE);
    let html = parsed(&page(&wide));
    let bends = wide.growth.iter().filter(|growth| growth.bend.is_some()).count();
    assert!(bends > 0);
    assert_eq!(all(&html, "line.bend").len(), bends);
    let mut many = wide.clone();
    let growth = many.growth[0].clone();
    many.growth.extend(vec![growth; 40]);
    let html = parsed(&page(&many));
    assert_eq!(all(&html, "figure").len(), 24);
    let left_out = many.growth.len() - 24;
    assert!(visible(&html).contains(&format!("{left_out} more series are not drawn")));
    assert!(html.errors.is_empty(), "{:?}", html.errors);
}

#[test]
fn a_summary_with_next_to_nothing_has_a_page() {
    let mut summary = summary(QUICK);
    summary.rows.clear();
    summary.growth.clear();
    summary.overview = Default::default();
    summary.control = Default::default();
    summary.command.clear();
    let page = page(&summary);
    let html = parsed(&page);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    assert!(!page.contains("NaN") && !strip_svg(&summary).contains("NaN"));
}

#[test]
fn figures_that_are_no_numbers_draw_no_nonsense() {
    let mut summary = summary(WIDE);
    let values = [f64::NAN, f64::INFINITY, 0.0, -1.0];
    for (row, value) in summary.rows.iter_mut().zip(values.into_iter().cycle()) {
        if let RowState::Ok(figures) = &mut row.state {
            (figures.cpu.of.p50, figures.cpu.of.p0, figures.cpu.of.p100) = (value, value, value);
        }
    }
    for (row, value) in summary.overview.rankings[0].rows.iter_mut().zip(values) {
        row.ns = value;
    }
    let html = parsed(&page(&summary));
    draws_no_nonsense(&html);
}

#[test]
fn the_picture_of_a_run() {
    insta::assert_snapshot!(strip_svg(&summary(WIDE)));
}

#[test]
fn hostile_names_are_text_in_the_picture() {
    for name in HOSTILE {
        let svg = strip_svg(&hostile(name));
        let harmless = strip_svg(&hostile("harmless"));
        assert_eq!(svg.matches('<').count(), harmless.matches('<').count(), "{svg}");
        assert!(!svg.contains(['\u{1b}', '\u{202e}', '\u{0}', '\u{fffe}']), "{svg}");
        assert!(parsed(&format!("<!doctype html><title>x</title>{svg}")).errors.is_empty(), "{svg}");
    }
}
