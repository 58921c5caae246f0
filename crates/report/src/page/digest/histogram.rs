//! How long tasks took, waited and left between them: by powers of two, how many there were and
//! how much time they took together.

use std::fmt::Write;

use taskscale_model::{
    digest::{Digest, Quantiles, TimeClass},
    figure::time,
    missing::Reading,
};

use super::scale::Scale;
use crate::{
    digest_facts as facts,
    digest_words::{percent, plain, queue_delay, reading, tied},
    page::{
        axis::Axis,
        marks::{grid_at, labels_at, ticks},
        markup::{Markup, number},
    },
};

/// The height of the plot, in pixels.
pub const HEIGHT: f64 = 130.0;

/// The most labels of its axis: it may be as narrow as 300 pixels.
const LABELS: usize = 4;

/// One histogram.
pub struct Histogram {
    pub heading: &'static str,
    pub what: &'static str,
    /// The quantiles, or why there are none.
    pub quantiles: String,
    pub is_missing: bool,
    /// Empty where the digest has quantiles alone.
    pub drawn: Markup,
    pub axis: Markup,
    pub lines: Vec<Line>,
}

/// One class of times.
pub struct Line {
    pub range: String,
    pub count: u64,
    pub share: String,
    pub of_time: String,
}

/// Durations, queue delays where they are known, and waits of workers between tasks.
pub fn histograms(digest: &Digest) -> [Histogram; 3] {
    // A figure stays with its unit.
    let whole = |text: &str| tied(text, "\u{a0}");
    let [duration, gap, _] = facts::times(digest).map(|(_, text)| whole(&text));
    let delay = whole(&plain(&reading(&digest.queue, queue_delay), 400));
    let even = digest.break_even_ns.value().copied();
    let of = &digest.histograms;
    let known = |reading: &Reading<Quantiles>| reading.value().is_some();
    [
        Histogram {
            is_missing: !known(&digest.duration),
            quantiles: duration,
            ..draw("Task durations", "tasks", &of.duration, even)
        },
        Histogram {
            is_missing: digest.queue.value().is_none(),
            quantiles: delay,
            ..draw("Queue delay: from ready to start", "tasks", &of.queue_delay, None)
        },
        Histogram {
            is_missing: !known(&digest.gap),
            quantiles: gap,
            ..draw("Waits: between a worker's tasks", "waits", &of.gap, None)
        },
    ]
}

fn draw(heading: &'static str, what: &'static str, classes: &[TimeClass], even: Option<f64>) -> Histogram {
    // A digest of this build has no more.
    let classes = &classes[..classes.len().min(64)];
    let count = classes.iter().map(|class| class.count as f64).sum::<f64>();
    let total = classes.iter().map(|class| class.total_ns as f64).sum::<f64>();
    let shares =
        |class: &TimeClass| [class.count as f64 / count.max(1.0), class.total_ns as f64 / total.max(1.0)];
    let lines = classes.iter().filter(|class| class.count > 0).map(|class| {
        let [share, of_time] = shares(class).map(percent);
        let range = format!("{} to {}", time(class.from_ns as f64), time(class.to_ns as f64));
        Line { range, count: class.count, share, of_time }
    });
    let mut histogram = Histogram {
        heading,
        what,
        quantiles: String::new(),
        is_missing: false,
        drawn: Markup::default(),
        axis: Markup::default(),
        lines: lines.collect(),
    };
    if count == 0.0 {
        return histogram;
    }
    // A logarithm of 0 has no place: what took nothing stands with what took 1 ns.
    let edges = |class: &TimeClass| [class.from_ns.max(1) as f64, class.to_ns as f64];
    let even = even.filter(|even| even.is_finite() && *even >= 1.0);
    let axis = Axis::over(classes.iter().flat_map(edges).chain(even));
    let most = classes.iter().flat_map(shares).fold(0.0, f64::max);
    let up = Scale::round(most, 4);
    let places = ticks(&axis, LABELS);
    let mut drawn = grid_at(&places, HEIGHT);
    for (at, label) in up.ticks(|share| format!("{:.0} %", share * 100.0)) {
        let y = number(HEIGHT * (1.0 - at / 100.0));
        let _ = write!(
            drawn,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/><text class=\"tick\" x=\"-8\" \
             y=\"{y}\" dy=\"4\" text-anchor=\"end\">{label}</text>"
        );
    }
    for class in classes {
        let [from, to] = edges(class).map(|edge| axis.percent(edge));
        let half = (to - from) / 2.0;
        for (index, (share, name)) in shares(class).into_iter().zip(["count", "time"]).enumerate() {
            let height = HEIGHT * up.percent(share) / 100.0;
            if height > 0.0 {
                let _ = write!(
                    drawn,
                    "<rect class=\"bar {name}\" x=\"{}%\" width=\"{}%\" y=\"{}\" height=\"{}\"/>",
                    number(from + index as f64 * half + 0.1 * half),
                    number(0.85 * half),
                    number(HEIGHT - height.max(1.0)),
                    number(height.max(1.0))
                );
            }
        }
    }
    if let Some(even) = even {
        let at = axis.percent(even);
        let (anchor, away) = if at > 60.0 { ("end", -4.0) } else { ("start", 4.0) };
        let _ = write!(
            drawn,
            "<line class=\"bend\" x1=\"{0}%\" x2=\"{0}%\" y1=\"0\" y2=\"{HEIGHT}\"/><text class=\"tick\" \
             x=\"{0}%\" dx=\"{away}\" y=\"10\" text-anchor=\"{anchor}\">worthwhile from {1}</text>",
            number(at),
            time(even)
        );
    }
    histogram.drawn = Markup(drawn);
    histogram.axis = Markup(labels_at(&places));
    histogram
}
