//! Running tasks over time, and the loss as one bar. Across, everything is placed in percent, so
//! that letters keep their size on every screen.

use std::fmt::Write;

use taskscale_model::{digest::Digest, figure::time};

use super::scale::{Scale, moment, plain_number};
use crate::{
    digest_facts as facts,
    digest_words::percent,
    page::{
        marks::{grid_at, labels_at},
        markup::{Markup, number},
    },
};

/// The height of the plot, in pixels.
pub const HEIGHT: f64 = 160.0;
/// The most steps that are drawn.
const STEPS: usize = 256;

/// A plot over time.
pub struct Timeline {
    /// Its content, in a drawing of [`HEIGHT`] and a width of any size.
    pub drawn: Markup,
    pub axis: Markup,
    /// What the drawing shows, in words.
    pub described: String,
    /// What is shaded; empty where nothing is.
    pub shaded: String,
    pub lines: Vec<Line>,
}

/// One step.
pub struct Line {
    pub from: String,
    pub running: String,
}

/// Workers inside a task, step by step.
pub fn timeline(digest: &Digest) -> Timeline {
    let parallelism = &digest.parallelism;
    let steps = &parallelism.timeline[..parallelism.timeline.len().min(STEPS)];
    let across = Scale::exact(digest.window_ns as f64, 6);
    // Few of many workers would be a line at the bottom.
    let workers = digest.workers as f64;
    let most = steps.iter().copied().fold(0.0, f64::max);
    let is_small = most * 4.0 < workers;
    let up = Scale::whole(if is_small { most } else { workers.max(most) }, 4);
    let y = |value: f64| HEIGHT * (1.0 - up.percent(value) / 100.0);
    let ticks = across.ticks(moment);
    let mut drawn = grid_at(&ticks, HEIGHT);
    for (at, label) in up.ticks(plain_number) {
        let y = number(HEIGHT * (1.0 - at / 100.0));
        let _ = write!(
            drawn,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/><text class=\"tick\" x=\"-8\" \
             y=\"{y}\" dy=\"4\" text-anchor=\"end\">{label}</text>"
        );
    }
    let when = digest.patterns.first().map(|first| first.when.as_slice()).unwrap_or_default();
    for range in when.iter().take(3) {
        let (from, to) = (across.percent(range.from_ns as f64), across.percent(range.to_ns as f64));
        let _ = write!(
            drawn,
            "<rect class=\"when\" x=\"{}%\" width=\"{}%\" y=\"0\" height=\"{HEIGHT}\"/>",
            number(from),
            number((to - from).max(0.3))
        );
    }
    let width = 100.0 / steps.len().max(1) as f64;
    for (index, value) in steps.iter().enumerate() {
        let top = y(*value);
        // A little wider than its step, so that no background shines between two.
        let _ = write!(
            drawn,
            "<rect class=\"step\" x=\"{}%\" width=\"{}%\" y=\"{}\" height=\"{}\"/>",
            number(index as f64 * width),
            number(width + 0.05),
            number(top),
            number(HEIGHT - top)
        );
    }
    let step_ns = parallelism.step_ns as f64;
    let mut described = format!("Workers inside a task: {}, of {}", facts::running(digest), digest.workers);
    if is_small {
        let _ = write!(described, "; the axis ends at {}", plain_number(up.end));
    }
    Timeline {
        drawn: Markup(drawn),
        axis: Markup(labels_at(&ticks)),
        described,
        shaded: match digest.patterns.first() {
            Some(first) if !first.when.is_empty() => {
                format!("Shaded: where most of the loss of {} lies.", first.name)
            }
            Some(first) if first.all_along => format!("The loss of {} lies all along.", first.name),
            _ => String::new(),
        },
        lines: steps
            .iter()
            .enumerate()
            .map(|(index, value)| Line { from: time(index as f64 * step_ns), running: format!("{value:.2}") })
            .collect(),
    }
}

/// The height of the bar, in pixels.
pub const BAR: f64 = 30.0;
/// The smallest shares that have their words in the bar: on every screen, and on wide ones.
const WORDED: [f64; 2] = [0.4, 0.16];

/// All terms of the loss, end to end.
pub fn loss_bar(digest: &Digest) -> Markup {
    let scale = Scale::exact(1.0, 1);
    let (mut drawn, mut from) = (String::new(), 0.0);
    for (term, share) in digest.losses.terms() {
        if share.is_nan() || share <= 0.0 {
            continue;
        }
        let (left, right) = (scale.percent(from), scale.percent(from + share));
        from += share;
        let _ = write!(
            drawn,
            "<rect class=\"bar part {term}\" x=\"{}%\" width=\"{}%\" y=\"0\" height=\"{BAR}\"/>",
            number(left),
            number(right - left)
        );
        let odd = match share {
            share if share >= WORDED[0] => "",
            share if share >= WORDED[1] => " odd",
            _ => continue,
        };
        let _ = write!(
            drawn,
            "<text class=\"in{odd}\" x=\"{}%\" y=\"20\" text-anchor=\"middle\">{term} {}</text>",
            number((left + right) / 2.0),
            percent(share)
        );
    }
    Markup(drawn)
}

/// The same in words.
pub fn loss_words(digest: &Digest) -> String {
    let terms = digest.losses.terms().into_iter().filter(|(_, share)| *share > 0.0);
    terms.map(|(term, share)| format!("{term} {}", percent(share))).collect::<Vec<_>>().join(", ")
}
