//! A run as one page.
//!
//! | module | does |
//! |---|---|
//! | `strip` | rankings, at each of their sizes |
//! | `growth` | small multiples of cost over size |
//! | `boxes` | distributions |
//! | `table` | all rows |
//! | `facts` | command, findings, machine, runtimes, controls |
//! | `picture` | the first ranking as a drawing of its own |

mod boxes;
mod facts;
mod growth;
mod picture;
mod strip;
mod table;

use askama::Template;
use taskscale_analysis::machine_words;
use taskscale_model::summary::Summary;

use super::{
    frame::{Frame, Own},
    guard, marks,
};
use crate::{overview, style::clean};
pub use picture::strip_svg;

const SCRIPT: &str = include_str!("../../../templates/run.js");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "run.html")]
struct Page {
    frame: Frame,
    facts: Vec<String>,
    machine_words: String,
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
    let own = Own {
        title: overview::title(summary),
        command: facts::command(summary),
        tool: &summary.tool,
        style: "",
        script: SCRIPT,
    };
    let said = "Every figure of this page is in the page itself, as taskscale.summary/1.";
    let page = Page {
        frame: Frame::new(own, guard::data(summary), said),
        facts: overview::facts(summary),
        machine_words: machine_words(&summary.machine),
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
