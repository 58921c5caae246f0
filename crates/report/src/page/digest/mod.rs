//! A digest as one page.
//!
//! | module | does |
//! |---|---|
//! | `answer` | the patterns: why, what to do, what that gives |
//! | `bars` | tables with a bar in each line: losses, levels, workers, names, the longest |
//! | `timeline` | running tasks over time, and the loss as one bar |
//! | `histogram` | durations, queue delays, waits |
//! | `rests` | what it rests on, and what it cannot see |
//! | `scale` | axes with even steps |

mod answer;
mod bars;
mod histogram;
mod rests;
mod scale;
mod timeline;

use askama::Template;
use taskscale_model::digest::Digest;

use super::{
    frame::{Frame, Own, shell},
    guard, marks,
    markup::Markup,
};
use crate::digest_facts as facts;

const STYLE: &str = include_str!("../../../templates/digest.css");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "digest.html")]
struct Page {
    frame: Frame,
    head: String,
    tiles: Vec<answer::Tile>,
    answer: Option<answer::Words>,
    others: Vec<answer::Words>,
    /// Whether one of them is worth reading at once.
    has_large: bool,
    loss_bar: Markup,
    loss_words: String,
    losses: bars::Bars,
    timeline: timeline::Timeline,
    levels: bars::Bars,
    workers: bars::Bars,
    groups: Option<bars::Bars>,
    histograms: [histogram::Histogram; 3],
    longest: Option<bars::Bars>,
    names: Option<bars::Bars>,
    facts: Vec<rests::Fact>,
    unseen: Vec<rests::Fact>,
    notes: Vec<String>,
    dropped: Vec<String>,
    /// Heights in pixels: of a line, the timeline, the bar of losses, a histogram.
    height: f64,
    high: f64,
    thick: f64,
    tall: f64,
}

/// The most data that a page holds, in bytes. A digest of this build has 30 kB at most.
const DATA: usize = 400_000;

/// Writes the page of a digest. `command` repeats it; it is empty where the digest was taken live.
pub fn digest_html(digest: &Digest, command: &[String]) -> String {
    let mut patterns = answer::patterns(digest).into_iter();
    let first = patterns.next();
    let title = match &first {
        Some(first) => format!("taskscale digest: {}", first.name),
        None => "taskscale digest".to_owned(),
    };
    let own =
        Own { title, command: shell(command), tool: env!("CARGO_PKG_VERSION"), style: STYLE, script: "" };
    let data = guard::data(digest);
    let frame = match data.len() <= DATA {
        true => {
            Frame::new(own, data, "Every figure of this page is in the page itself, as taskscale.digest/1.")
        }
        false => {
            let said = "This digest is too large to lie in its page: --format json has it.";
            Frame::new(own, "null".to_owned(), said)
        }
    };
    let page = Page {
        frame,
        head: facts::head(digest),
        tiles: answer::tiles(digest),
        answer: first,
        has_large: patterns.as_slice().iter().any(|other| other.is_large),
        others: patterns.collect(),
        loss_bar: timeline::loss_bar(digest),
        loss_words: timeline::loss_words(digest),
        losses: bars::losses(digest),
        timeline: timeline::timeline(digest),
        levels: bars::levels(digest),
        workers: bars::workers(digest),
        groups: bars::groups(digest),
        histograms: histogram::histograms(digest),
        longest: bars::longest(digest),
        names: bars::names(digest),
        facts: rests::facts(digest),
        unseen: rests::unseen(digest),
        notes: rests::notes(digest),
        dropped: rests::dropped(digest),
        height: marks::HEIGHT,
        high: timeline::HEIGHT,
        thick: timeline::BAR,
        tall: histogram::HEIGHT,
    };
    // Writing to a string cannot fail, and no filter of the template does.
    page.render().unwrap_or_default()
}
