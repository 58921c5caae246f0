//! The page of a run, as a browser reads it: parsed by the rules of HTML, and held to what it
//! promises.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};
use sha2::{Digest, Sha256};
use taskscale_analysis::{parse_run, summarize};
use taskscale_model::{
    missing::Missing,
    summary::{RowState, Standing, Summary},
};
use taskscale_report::{Style, overview, page, strip_svg};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const WIDE: &str = include_str!("../../analysis/tests/data/wide.jsonl");
const JIT: &str = include_str!("../../analysis/tests/data/jit.jsonl");
const THREADS: &str = include_str!("../../analysis/tests/data/threads.jsonl");
const GRANULARITY: &str = include_str!("../../analysis/tests/data/granularity.jsonl");
const ALL: [&str; 5] = [QUICK, WIDE, JIT, THREADS, GRANULARITY];

/// Names that would be markup, end an element or an attribute, or turn text around.
const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "\"' onload='alert(2)' x=\"",
    "</script><!--<img src=x onerror=alert(3)>",
    "a\u{1b}[2J\u{202e}\u{2066}\u{0}\u{85}\nb",
    "{{ 7 }}&lt;b&gt;]]>\u{fffe}",
];

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

fn parsed(page: &str) -> Html {
    Html::parse_document(page)
}

fn all<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    html.select(&selector).collect()
}

/// The text of an element, with single blanks.
fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a reader sees: the text of the body without the data and the script.
fn visible(html: &Html) -> String {
    ["header", "main"].map(|name| text_of(all(html, name)[0])).join(" ")
}

fn script(html: &Html) -> String {
    let scripts = all(html, "script:not([type])");
    assert_eq!(scripts.len(), 1, "one script and no other");
    scripts[0].text().collect()
}

fn data(html: &Html) -> String {
    all(html, "script#data")[0].text().collect()
}

#[test]
fn pages_are_small() {
    for run in ALL {
        let page = page(&summary(run));
        assert!(page.len() < 400_000, "{} bytes", page.len());
    }
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
fn nothing_is_fetched_from_anywhere() {
    for run in ALL {
        let page = page(&summary(run));
        let html = parsed(&page);
        for word in ["http:", "https:", "//", "url(", "@import"] {
            let style: String = all(&html, "style")[0].text().collect();
            assert!(!style.contains(word), "{word} in the style");
        }
        for element in all(&html, "*") {
            for (name, value) in element.value().attrs() {
                assert!(!["src", "srcset", "style", "action", "data", "poster"].contains(&name), "{name}");
                assert!(!name.starts_with("on"), "{name}");
                assert!(name != "href" || value.starts_with('#'), "{value}");
                assert!(!value.contains("http:") && !value.contains("https:"), "{name}={value}");
            }
            assert!(
                !["link", "img", "iframe", "object", "embed", "base", "form"]
                    .contains(&element.value().name())
            );
        }
        let script = script(&html);
        for word in ["http", "fetch", "import", "XMLHttpRequest", "innerHTML", "eval", ".src"] {
            assert!(!script.contains(word), "{word} in the script");
        }
    }
}

#[test]
fn the_policy_allows_the_script_and_the_style_of_the_page_and_nothing_else() {
    let html = parsed(&page(&summary(QUICK)));
    let policy = all(&html, "meta[http-equiv=Content-Security-Policy]")[0].value().attr("content").unwrap();
    let style: String = all(&html, "style")[0].text().collect();
    let allowed = |name: &str| -> Vec<String> {
        let of = policy.split("; ").find_map(|part| part.strip_prefix(&format!("{name} ")));
        of.unwrap_or_default().split(' ').map(str::to_owned).collect()
    };
    assert_eq!(allowed("default-src"), ["'none'"]);
    for (name, text) in [("script-src", script(&html)), ("style-src", style)] {
        let [source] = &allowed(name)[..] else { panic!("{policy}") };
        let hash = source.strip_prefix("'sha256-").and_then(|rest| rest.strip_suffix('\'')).expect(policy);
        assert_eq!(from_base64(hash), Sha256::digest(text.as_bytes()).to_vec(), "{name}");
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<usize> = text.trim_end_matches('=').chars().filter_map(|c| letters.find(c)).collect();
    let bits: String = bits.iter().map(|six| format!("{six:06b}")).collect();
    let whole = bits.len() / 8 * 8;
    (0..whole).step_by(8).map(|at| u8::from_str_radix(&bits[at..at + 8], 2).expect("bits")).collect()
}

#[test]
fn hostile_names_are_text_wherever_they_stand() {
    let harmless = parsed(&page(&hostile("harmless")));
    let shape = |html: &Html| -> Vec<String> {
        all(html, "*").iter().map(|element| element.value().name().to_owned()).collect()
    };
    for name in HOSTILE {
        let page = page(&hostile(name));
        let html = parsed(&page);
        // The elements are the same as with harmless names, and so is the number of attributes.
        assert_eq!(shape(&html), shape(&harmless), "{name:?}");
        let attributes = |html: &Html| -> usize {
            all(html, "*").iter().map(|element| element.value().attrs().count()).sum()
        };
        assert_eq!(attributes(&html), attributes(&harmless), "{name:?}");
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
fn ids_are_unique_and_references_lead_to_them() {
    for run in ALL {
        let html = parsed(&page(&summary(run)));
        let mut ids = BTreeSet::new();
        for element in all(&html, "[id]") {
            let id = element.value().attr("id").expect("an id");
            assert!(ids.insert(id.to_owned()), "{id} twice");
        }
        for name in ["for", "aria-labelledby", "aria-controls", "href"] {
            for element in all(&html, &format!("[{name}]")) {
                let value = element.value().attr(name).expect("a value").trim_start_matches('#');
                for id in value.split(' ') {
                    assert!(ids.contains(id), "{name}={id} leads nowhere");
                }
            }
        }
    }
}

#[test]
fn every_control_has_a_name_and_every_drawing_a_description() {
    for run in ALL {
        let html = parsed(&page(&summary(run)));
        for input in all(&html, "input") {
            let id = input.value().attr("id").expect("an id");
            let labels = all(&html, &format!("label[for={id}]"));
            assert!(labels.len() == 1 && !text_of(labels[0]).is_empty(), "{id}");
        }
        for button in all(&html, "button, summary, a") {
            assert!(!text_of(button).is_empty());
        }
        for button in all(&html, "th button") {
            assert_eq!(button.value().attr("type"), Some("button"));
        }
        for drawing in all(&html, "svg[role], figure > svg, td > svg, th > svg") {
            assert_eq!(drawing.value().attr("role"), Some("img"));
            let named = ["aria-label", "aria-labelledby"]
                .iter()
                .any(|name| drawing.value().attr(name).is_some_and(|value| !value.is_empty()));
            assert!(named);
        }
        for region in all(&html, "[tabindex]") {
            let named =
                ["aria-label", "aria-labelledby"].iter().any(|name| region.value().attr(name).is_some());
            assert!(named, "what can be reached by keyboard has a name");
        }
    }
}

#[test]
fn landmarks_are_there_and_headings_in_order() {
    for run in ALL {
        let html = parsed(&page(&summary(run)));
        for name in ["header", "nav", "main", "footer", "h1", "head title"] {
            assert_eq!(all(&html, name).len(), 1, "{name}");
        }
        let mut level = 0;
        for heading in all(&html, "h1, h2, h3, h4") {
            let next: u32 = heading.value().name()[1..].parse().expect("a level");
            assert!(next <= level + 1, "h{next} behind h{level}");
            level = next;
        }
        let sections: Vec<_> =
            all(&html, "main > section").iter().filter_map(|one| one.value().attr("id")).collect();
        let order = ["rankings", "findings", "growth", "distributions", "rows", "trust", "download"];
        let expected: Vec<_> = order.into_iter().filter(|id| sections.contains(id)).collect();
        assert_eq!(sections, expected);
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
    for element in all(&html, "svg *") {
        for (name, value) in element.value().attrs() {
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
    }
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
