//! A run as one page.
//!
//! | module | does |
//! |---|---|
//! | `strip` | rankings, at each of their sizes |
//! | `growth` | small multiples of cost over size |
//! | `boxes` | distributions |
//! | `table` | all rows |
//! | `room` | what is left out of the page of a large run |
//! | `facts` | command, findings, machine, runtimes, controls |
//! | `picture` | the first ranking as a drawing of its own |

mod boxes;
mod facts;
mod growth;
mod picture;
mod room;
mod strip;
mod table;

use askama::Template;
use taskscale_analysis::machine_words;
use taskscale_model::summary::Summary;

use super::{
    frame::{Frame, Own},
    marks,
};
use crate::{
    asked::{self, Asked},
    overview,
    style::clean,
};
pub use picture::strip_svg;
use room::Room;

const SCRIPT: &str =
    concat!(include_str!("../../../templates/run.js"), include_str!("../../../templates/beside.js"));
const STYLE: &str = include_str!("../../../templates/run.css");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "run.html")]
struct Page {
    frame: Frame,
    /// Whether the page holds figures by which another run can be set beside.
    has_data: bool,
    facts: Vec<String>,
    machine_words: String,
    started: String,
    is_complete: bool,
    strips: Vec<strip::Strip>,
    asked: Vec<Asked>,
    claims: Vec<String>,
    findings: Vec<facts::Words>,
    growth: growth::Plots,
    boxes: Vec<boxes::Boxes>,
    rows: Vec<table::Line>,
    rows_left_out: String,
    verdict: String,
    controls: Vec<facts::Control>,
    notes: Vec<String>,
    machine: Vec<facts::Fact>,
    runtimes: Vec<facts::Runtime>,
    height: f64,
}

/// Writes the page, with as much of the run as has room. O(rows^2) within a table.
pub fn page(summary: &Summary) -> String {
    let mut page = String::new();
    for room in &room::ROOMS {
        page = with(summary, room);
        if page.len() <= room::BYTES {
            break;
        }
    }
    page
}

fn with(summary: &Summary, room: &Room) -> String {
    let own = Own {
        title: overview::title(summary),
        command: facts::command(summary),
        tool: &summary.tool,
        style: STYLE,
        script: SCRIPT,
    };
    let page = Page {
        frame: Frame::new(own, room.data(summary), room.said()),
        has_data: room.has_data(),
        facts: overview::facts(summary),
        machine_words: machine_words(&summary.machine),
        started: facts::moment(summary.started_unix_s),
        is_complete: summary.complete,
        strips: strip::strips(summary, room),
        asked: asked::tables(summary),
        claims: asked::claims(summary),
        findings: facts::findings(summary),
        growth: growth::plots(summary),
        boxes: boxes::boxes(summary, room),
        rows: table::lines(summary, room),
        rows_left_out: table::left_out(summary, room),
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
