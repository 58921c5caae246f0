//! A run as one HTML page that needs nothing else, and its first ranking as one picture.
//!
//! | module | does |
//! |---|---|
//! | `strip` | rankings, at each of their sizes |
//! | `growth` | small multiples of cost over size |
//! | `boxes` | distributions |
//! | `table` | all rows |
//! | `facts` | command, findings, machine, runtimes, controls |
//! | `picture` | the first ranking as a drawing of its own |
//! | `axis`, `marks` | what all drawings are made of |
//! | `markup`, `guard` | what keeps names from becoming markup, and the page to itself |

mod axis;
mod boxes;
mod facts;
mod growth;
mod guard;
mod marks;
mod markup;
mod picture;
mod strip;
mod table;

use askama::Template;
use taskscale_analysis::machine_words;
use taskscale_model::summary::Summary;

use crate::{overview, style::clean};
use markup::Markup;
pub use picture::strip_svg;

const SCRIPT: &str = include_str!("../../templates/page.js");
const STYLE: &str = include_str!("../../templates/page.css");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    policy: String,
    style: Markup,
    script: Markup,
    data: Markup,
    title: String,
    facts: Vec<String>,
    machine_words: String,
    command: String,
    tool: String,
    started: String,
    is_complete: bool,
    strips: Vec<strip::Strip>,
    findings: Vec<facts::Words>,
    growth: growth::Plots,
    boxes: Vec<boxes::Boxes>,
    rows: Vec<table::Line>,
    verdict: String,
    controls: Vec<facts::Control>,
    notes: Vec<String>,
    machine: Vec<facts::Fact>,
    runtimes: Vec<facts::Runtime>,
    height: f64,
}

/// Writes the page. O(rows^2) within a table.
pub fn page(summary: &Summary) -> String {
    let page = Page {
        policy: guard::policy(SCRIPT, STYLE),
        style: Markup(STYLE.to_owned()),
        script: Markup(SCRIPT.to_owned()),
        data: Markup(guard::data(summary)),
        title: overview::title(summary),
        facts: overview::facts(summary),
        machine_words: machine_words(&summary.machine),
        command: facts::command(summary),
        tool: clean(&summary.tool),
        started: facts::moment(summary.started_unix_s),
        is_complete: summary.complete,
        strips: strip::strips(summary),
        findings: facts::findings(summary),
        growth: growth::plots(summary),
        boxes: boxes::boxes(summary),
        rows: table::lines(summary),
        verdict: clean(&summary.control.verdict),
        controls: facts::controls(summary),
        notes: summary.notes.iter().map(|note| clean(note)).collect(),
        machine: facts::machine(&summary.machine),
        runtimes: facts::runtimes(summary),
        height: marks::HEIGHT,
    };
    // Writing to a string cannot fail, and no filter of the template does.
    page.render().unwrap_or_default()
}
