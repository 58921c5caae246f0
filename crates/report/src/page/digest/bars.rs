//! Tables with a bar in each line: workers, names, levels, the longest tasks.

use taskscale_model::{
    digest::{Digest, PatternName},
    figure::time,
};

use super::scale::{Scale, moment, shares};
use crate::{
    digest_facts as facts,
    digest_words::{count, name as short, percent},
    page::{
        marks::{HEIGHT, grid_at, labels_at},
        markup::{Markup, number},
    },
};

/// The most lines of a table. A digest of this build has fewer; the limit keeps the page of any
/// other digest small.
const LINES: usize = 64;
/// The most characters of a name.
const NAME: usize = 80;

/// A table with a bar in each line.
pub struct Bars {
    /// Names the table in ids.
    pub id: &'static str,
    pub heading: &'static str,
    pub intro: String,
    /// What stands in the columns: name, note, figure, words behind the bar.
    pub columns: [&'static str; 4],
    pub axis: Markup,
    pub grid: Markup,
    pub lines: Vec<Line>,
    /// What is said below it; empty where nothing is.
    pub rest: String,
}

/// One line.
pub struct Line {
    pub name: String,
    pub note: String,
    pub figure: String,
    pub mark: Markup,
    pub words: String,
}

impl Bars {
    fn of_shares(id: &'static str, heading: &'static str, columns: [&'static str; 4]) -> Self {
        Bars {
            id,
            heading,
            intro: String::new(),
            columns,
            axis: Markup(labels_at(&shares())),
            grid: Markup(grid_at(&shares(), HEIGHT)),
            lines: Vec::new(),
            rest: String::new(),
        }
    }
}

/// A bar from one place to another, in percent.
fn bar(from: f64, to: f64, class: &str) -> Markup {
    let (x, width) = (number(from), number((to - from).max(0.3)));
    Markup(format!("<rect class=\"bar {class}\" x=\"{x}%\" width=\"{width}%\" y=\"4\" height=\"14\"/>"))
}

/// A bar for a share.
fn of_share(share: f64, class: &str) -> Markup {
    if share > 0.0 { bar(0.0, Scale::exact(1.0, 1).percent(share), class) } else { Markup::default() }
}

/// A name, also of what has none.
fn named(name: &str) -> String {
    if name.is_empty() { "(no name)".to_owned() } else { short(name, NAME) }
}

/// A percentage without decimals.
fn whole(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Where *workers x window* went.
pub fn losses(digest: &Digest) -> Bars {
    let columns = ["where", "workers' time", "share", "what that is"];
    let mut bars = Bars::of_shares("losses", "Each share", columns);
    let total = digest.workers as f64 * digest.window_ns as f64;
    let is_lost = |share: &f64| *share > 0.0;
    let terms = digest.losses.terms();
    bars.lines = terms
        .iter()
        .filter(|(_, share)| is_lost(share))
        .map(|&(term, share)| Line {
            name: term.to_owned(),
            note: time(share * total),
            figure: percent(share),
            mark: of_share(share, term),
            words: facts::meaning(term).to_owned(),
        })
        .collect();
    let none: Vec<&str> = terms.iter().filter(|(_, share)| !is_lost(share)).map(|(term, _)| *term).collect();
    if !none.is_empty() {
        bars.rest = format!("No time went to: {}. ", none.join(", "));
    }
    if digest.unknown > 0.0 {
        bars.rest += &format!(
            "Tiny tasks were sampled: of {} it is not known whether a task took it. It counts as idle here, so \
             work is too low by at most this.",
            percent(digest.unknown)
        );
    }
    bars
}

/// The share of the window at each level of parallelism.
pub fn levels(digest: &Digest) -> Bars {
    let columns = ["workers running", "", "of the time", ""];
    let mut bars = Bars::of_shares("levels", "How many ran, and how long", columns);
    bars.intro = format!("Share of the window by workers inside a task: {}.", facts::levels(digest));
    let shown = digest.parallelism.histogram.iter().filter(|level| level.share > 0.0).take(LINES);
    bars.lines = shown
        .map(|level| Line {
            name: match level.from == level.to {
                true => level.to.to_string(),
                false => format!("{} to {}", level.from, level.to),
            },
            note: String::new(),
            figure: percent(level.share),
            mark: of_share(level.share, "work"),
            words: time(level.share * digest.window_ns as f64),
        })
        .collect();
    bars
}

/// How busy each worker was.
pub fn workers(digest: &Digest) -> Bars {
    let columns = ["worker", "tasks", "busy", "first start to last end"];
    let mut bars = Bars::of_shares("busy", "Each worker", columns);
    let detail = &digest.workers_detail;
    bars.intro = format!("Busy, in per cent of the window: {}.", facts::balance(digest));
    let shown = detail.workers.iter().take(LINES);
    bars.lines = shown
        .map(|worker| Line {
            name: facts::worker(worker.worker, worker.thread.as_deref()),
            note: count(worker.tasks, "task"),
            figure: whole(worker.busy),
            mark: of_share(worker.busy, "work"),
            words: format!("{} to {}", time(worker.first_ns as f64), time(worker.last_ns as f64)),
        })
        .collect();
    let left_out = detail.folded + detail.workers.len().saturating_sub(LINES) as u64;
    if left_out > 0 {
        bars.rest = format!(
            "The busiest and the least busy workers are shown; {} between them have no line of their own.",
            count(left_out, "worker")
        );
    }
    let idle = digest.workers.saturating_sub(detail.active);
    if idle > 0 {
        bars.rest += &format!(" {} ran no task.", count(idle, "worker"));
    }
    bars
}

/// Groups of workers by how busy they were, where not each has a line.
pub fn groups(digest: &Digest) -> Option<Bars> {
    let detail = &digest.workers_detail;
    let all: u64 = detail.by_busy.iter().fold(0, |sum: u64, workers| sum.saturating_add(*workers));
    if detail.folded == 0 || all == 0 {
        return None;
    }
    let columns = ["busy", "", "of the workers", "workers"];
    let mut bars = Bars::of_shares("groups", "All workers, in groups", columns);
    bars.intro = "Workers by how much of the window they were busy; none is left out.".to_owned();
    let groups = detail.by_busy.len().clamp(1, LINES);
    bars.lines = detail.by_busy[..groups]
        .iter()
        .enumerate()
        .map(|(index, workers)| {
            let edge = |index: usize| whole(index as f64 / groups as f64);
            let share = *workers as f64 / all as f64;
            Line {
                name: format!("{} to {}", edge(index), edge(index + 1)),
                note: String::new(),
                figure: percent(share),
                mark: of_share(share, "work"),
                words: workers.to_string(),
            }
        })
        .collect();
    Some(bars)
}

/// The names that cost most.
pub fn names(digest: &Digest) -> Option<Bars> {
    let names = &digest.names;
    if names.top.is_empty() {
        return None;
    }
    let columns = ["name", "tasks", "share", "own time"];
    let mut bars = Bars::of_shares("names", "Names", columns);
    bars.intro = "Time inside tasks by their names, without the time of tasks inside them.".to_owned();
    bars.lines = names
        .top
        .iter()
        .take(LINES)
        .map(|name| Line {
            name: named(&name.name),
            note: count(name.tasks, "task"),
            figure: percent(name.share),
            mark: of_share(name.share, "work"),
            words: time(name.own_ns as f64),
        })
        .collect();
    if names.other_tasks > 0 {
        bars.rest =
            format!("{} of other names: {}.", count(names.other_tasks, "task"), time(names.other_ns as f64));
    }
    if names.overflowed {
        bars.rest += &format!(
            " There were more names than fit: a time above may be too low, by at most {}.",
            time(names.error_ns as f64)
        );
    }
    Some(bars)
}

/// The tasks that stand out, each where it lies in the window.
pub fn longest(digest: &Digest) -> Option<Bars> {
    if digest.outliers.is_empty() {
        return None;
    }
    let scale = Scale::exact(digest.window_ns as f64, 4);
    let columns = ["task", "worker", "duration", "how it stands out"];
    let mut bars = Bars::of_shares("longest", "The longest tasks", columns);
    bars.intro = "Tasks without others inside that stand out from the rest, each where it lies in the \
                  window."
        .to_owned();
    let ticks = scale.ticks(moment);
    (bars.axis, bars.grid) = (Markup(labels_at(&ticks)), Markup(grid_at(&ticks, HEIGHT)));
    let class = match digest.patterns.first() {
        Some(first) if first.name == PatternName::StragglerTasks => "serial",
        _ => "work",
    };
    bars.lines = digest
        .outliers
        .iter()
        .take(LINES)
        .map(|outlier| {
            let end = outlier.start_ns.saturating_add(outlier.duration_ns);
            Line {
                name: named(&outlier.name),
                note: facts::worker(outlier.worker, outlier.thread.as_deref()),
                figure: time(outlier.duration_ns as f64),
                mark: bar(scale.percent(outlier.start_ns as f64), scale.percent(end as f64), class),
                words: format!(
                    "{:.0}x the mean of the others, at {}",
                    outlier.times_typical,
                    time(outlier.start_ns as f64)
                ),
            }
        })
        .collect();
    Some(bars)
}
