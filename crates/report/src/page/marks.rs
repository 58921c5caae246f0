//! What stands on an axis: its labels, a point with its interval, a box. Across, everything is
//! placed in percent of the drawing around it, so that one drawing suits every width and its marks
//! and letters keep their size.

use std::fmt::Write;

use taskscale_model::{
    figure::time,
    summary::{Distribution, Interval, Standing},
};

use super::{axis::Axis, markup::number};

/// The height of a line, in pixels.
pub const HEIGHT: f64 = 22.0;
/// The most labels of an axis.
const LABELS: usize = 6;

/// What a mark is coloured by, as the name of a class. Its shape and the words beside it say the
/// same.
pub fn class(standing: Option<Standing>) -> &'static str {
    match standing {
        Some(Standing::Reference) => "ref",
        Some(Standing::Cheaper) => "less",
        Some(Standing::Dearer) => "more",
        Some(Standing::Tie | Standing::CannotTell) | None => "even",
    }
}

/// A place on an axis, in percent, and what stands there.
pub type Tick = (f64, String);

/// The labels of an axis of times, from the left end to the right one.
pub fn labels(axis: &Axis) -> String {
    labels_at(&ticks(axis, LABELS))
}

/// A line at each label of an axis of times, as high as a row.
pub fn grid(axis: &Axis) -> String {
    grid_at(&ticks(axis, LABELS), HEIGHT)
}

/// At most `most` labels of an axis of times with their places.
pub fn ticks(axis: &Axis, most: usize) -> Vec<Tick> {
    axis.marks(most).into_iter().map(|mark| (axis.percent(mark), short(mark))).collect()
}

/// A time without the zeros behind its point.
pub fn short(ns: f64) -> String {
    time(ns).replace(".00 ", " ").replace(".0 ", " ")
}

/// Draws labels. Every second one is marked, so that a narrow page can leave it out.
pub fn labels_at(ticks: &[Tick]) -> String {
    let mut drawn = String::new();
    for (index, (at, label)) in ticks.iter().enumerate() {
        let odd = if index % 2 == 1 { " odd" } else { "" };
        let anchor = match *at {
            at if at < 5.0 => "start",
            at if at > 95.0 => "end",
            _ => "middle",
        };
        // Writing to a string cannot fail.
        let _ = write!(
            drawn,
            "<text class=\"tick{odd}\" x=\"{}%\" y=\"15\" text-anchor=\"{anchor}\">{label}</text>",
            number(*at)
        );
    }
    drawn
}

/// Draws a line at each label.
pub fn grid_at(ticks: &[Tick], height: f64) -> String {
    let mut drawn = String::new();
    for (at, _) in ticks {
        let at = number(*at);
        let _ = write!(drawn, "<line class=\"grid\" x1=\"{at}%\" x2=\"{at}%\" y1=\"0\" y2=\"{height}\"/>");
    }
    drawn
}

/// A figure with its interval: a diamond for the reference, a disc for others, and a ring where
/// there is no interval.
pub fn point(axis: &Axis, ns: f64, ci: Option<Interval>, standing: Option<Standing>) -> String {
    let middle = HEIGHT / 2.0;
    let class = class(standing);
    let mut drawn = String::new();
    if let Some(Interval(low, high)) = ci {
        let (low, high) = (number(axis.percent(low)), number(axis.percent(high)));
        for (x1, x2, y1, y2) in [
            (&low, &high, middle, middle),
            (&low, &low, middle - 5.0, middle + 5.0),
            (&high, &high, middle - 5.0, middle + 5.0),
        ] {
            let _ = write!(
                drawn,
                "<line class=\"ci {class}\" x1=\"{x1}%\" x2=\"{x2}%\" y1=\"{y1}\" y2=\"{y2}\"/>"
            );
        }
    }
    let at = number(axis.percent(ns));
    let _ = match standing {
        // A drawing inside a drawing: a path knows no percent.
        Some(Standing::Reference) => write!(
            drawn,
            "<svg x=\"{at}%\" y=\"{middle}\" overflow=\"visible\"><path class=\"dot ref\" \
             d=\"M0-6 6 0 0 6-6 0Z\"/></svg>"
        ),
        _ => {
            let ring = if ci.is_none() { " ring" } else { "" };
            write!(drawn, "<circle class=\"dot {class}{ring}\" cx=\"{at}%\" cy=\"{middle}\" r=\"4\"/>")
        }
    };
    drawn
}

/// A box from the 25th to the 75th percentile with the median in it, and a line from the smallest
/// value to the largest.
pub fn quartiles(axis: &Axis, of: &Distribution) -> String {
    let [p0, p25, p50, p75, p100] = [of.p0, of.p25, of.p50, of.p75, of.p100].map(|ns| axis.percent(ns));
    let middle = HEIGHT / 2.0;
    let mut drawn = String::new();
    for (x1, x2, reach) in [(p0, p25, 0.0), (p75, p100, 0.0), (p0, p0, 4.0), (p100, p100, 4.0)] {
        let (x1, x2, y1, y2) = (number(x1), number(x2), middle - reach, middle + reach);
        let _ = write!(drawn, "<line class=\"ci\" x1=\"{x1}%\" x2=\"{x2}%\" y1=\"{y1}\" y2=\"{y2}\"/>");
    }
    let (left, width, p50) = (number(p25), number((p75 - p25).max(0.3)), number(p50));
    let _ = write!(
        drawn,
        "<rect class=\"box\" x=\"{left}%\" width=\"{width}%\" y=\"5\" height=\"12\"/>\
         <line class=\"median\" x1=\"{p50}%\" x2=\"{p50}%\" y1=\"3\" y2=\"19\"/>"
    );
    drawn
}
