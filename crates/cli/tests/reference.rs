//! The pages `suites.md`, `runtimes.md`, `metrics.md` and `patterns.md` of `docs/reference` are
//! what the code gives.
#![allow(clippy::print_stdout, reason = "a runtime that is not here is named in the test output")]

mod common;
mod reference {
    pub mod examples;
    pub mod runtimes;
    pub mod suites;
}

use std::fmt::Write;

use reference::{examples, runtimes, suites};
use taskscale_model::{metric, schema};
use taskscale_testkit::generated::holds_generated;

/// How each page says that it is generated.
fn head(title: &str, from: &str) -> String {
    format!(
        "# {title}\n\nThis page is generated from {from};\n\
         `GENERATED=overwrite cargo test -p taskscale-cli --test reference` writes it anew.\n\n"
    )
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn suites_are_those_of_their_files() {
    holds_generated("docs/reference/suites.md", &(head("Suites", "`suites/*.toml`") + &suites::page()));
}

#[test]
fn runtimes_are_those_that_answer() {
    let text = head("Runtimes", "what the probes say of themselves") + &runtimes::page();
    holds_generated("docs/reference/runtimes.md", &text);
}

#[test]
fn metrics_are_those_that_can_be_asked_for() {
    let mut text = head("Metrics", "`crates/model/src/metric.rs`");
    text.push_str(
        "`taskscale run SUITE --metrics allocs,gc` measures these beside time, in further processes of\n\
         each row that are not timed. A metric that a runtime does not have is a reason under the tables.\n\
         How they are taken: [METHODOLOGY.md](../../METHODOLOGY.md#counts).\n\n\
         | metric | tells | unit | exact | costs | taken by | in a summary |\n|---|---|---|---|---|---|---|\n",
    );
    for about in metric::ALL {
        let names = about.metric.counts().iter().map(|count| format!("`{}`", count.in_summary().0));
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            about.word,
            about.title,
            about.unit,
            about.exact,
            about.cost,
            about.by,
            names.collect::<Vec<_>>().join(", ")
        )
        .expect("text");
    }
    holds_generated("docs/reference/metrics.md", &text);
}

/// The name of each pattern, and the sentence of the type that has them.
fn meanings() -> Vec<(String, String)> {
    let digest =
        schema::all().into_iter().find(|contract| contract.file.starts_with("digest")).expect("there");
    let names = &digest.schema["$defs"]["PatternName"]["oneOf"];
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let names = names.as_array().expect("named one by one").iter();
    names.map(|name| (text(&name["const"]), text(&name["description"]))).collect()
}

#[test]
fn patterns_are_those_of_the_digest() {
    let mut text = head("Patterns", "the diagnosis itself, by programs with a known cause of loss");
    text.push_str(
        "`taskscale digest` names one of these. What it says and advises depends on the program: the\n\
         examples are of one each. *Gives* is what the change promises, in times as fast; where\n\
         nothing is promised, that is said. The [reference](digest.md) has the fields.\n",
    );
    let examples = examples::all();
    for (name, meaning) in meanings() {
        let pattern = examples.get(&name).unwrap_or_else(|| panic!("no example of {name}"));
        let promise = pattern.predicted;
        let gives = if promise.to > examples::PROMISED {
            format!("{:.2} to {:.2} times as fast", promise.from, promise.to)
        } else {
            "nothing is promised".to_owned()
        };
        let advises = if pattern.remedy.is_empty() { "nothing" } else { &pattern.remedy };
        let (says, advises) = (cell(&pattern.evidence), cell(advises));
        write!(
            text,
            "\n## {name}\n\n{meaning}\n\n| | for example |\n|---|---|\n| says | {says} |\n\
             | advises | {advises} |\n| gives | {gives} |\n"
        )
        .expect("text");
    }
    holds_generated("docs/reference/patterns.md", &text);
}

#[test]
fn the_first_pages_have_the_time_of_the_help() {
    let help = common::Tool::new().run(&["run", "--help"]).out;
    let first =
        help.lines().find_map(|line| line.trim().strip_prefix("taskscale run  ")).expect("an example");
    let time = first.split(':').next().expect("a time").trim();
    for page in ["README.md", "docs/start.md"] {
        let text = std::fs::read_to_string(common::repository().join(page)).expect(page);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(&format!("measures for {time} at most")),
            "{page} has another time than {time:?}"
        );
    }
}

#[test]
fn the_first_pages_have_the_figures_of_the_picture() {
    let read = |name: &str| std::fs::read_to_string(common::repository().join(name)).expect(name);
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let between = |before: &str, after: &str| {
        let (_, behind) = readme.split_once(before).unwrap_or_else(|| panic!("README.md says {before:?}"));
        behind.split_once(after).unwrap_or_else(|| panic!("README.md says {after:?}")).0.to_owned()
    };
    let figures = [
        between("created and awaited costs ", " of CPU here"),
        format!("{}x", between(" of CPU here, ", " times what a task")),
    ];
    for page in ["docs/pictures/quick.svg", "docs/start.md"] {
        let text = read(page);
        for figure in &figures {
            assert!(text.contains(figure), "{page} has another figure than README.md: {figure}");
        }
    }
}
