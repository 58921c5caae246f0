//! All rows, in the order of the plan: with figures, or with the reason why there are none.

use taskscale_model::{
    figure::{self, count, percent, time},
    run_file::Role,
    summary::{Distribution, Row, RowStatus, Settled, Summary},
};

use super::{room::Room, strip::interval};
use crate::style::{clean, with_remedy};

/// A row of the table.
pub struct Line {
    pub table: String,
    pub runtime: String,
    pub version: String,
    pub variant: String,
    /// Size, CPU time per task, its interval, wall time per task, ratio to the baseline, samples.
    pub figures: [Cell; 6],
    /// What else is to be said: its role, or why it has no figures.
    pub remarks: String,
    /// Whether it lacks figures.
    pub is_empty: bool,
}

/// A figure as it is read, and the number that it is sorted by; both empty where there is none.
#[derive(Default)]
pub struct Cell {
    pub text: String,
    pub value: String,
}

impl Cell {
    fn new(text: String, value: f64) -> Self {
        Cell { text, value: value.to_string() }
    }
}

/// The lines of the table. O(rows).
pub fn lines(summary: &Summary, room: &Room) -> Vec<Line> {
    summary.rows.iter().take(room.rows).map(line).collect()
}

/// What is said of rows for which there is no room; nothing where all are there.
pub fn left_out(summary: &Summary, room: &Room) -> String {
    match summary.rows.len().saturating_sub(room.rows) {
        0 => String::new(),
        rows => format!(
            "{} more rows are not shown, so that the page stays small: taskscale report FILE -o r.csv has all.",
            count(rows as u64)
        ),
    }
}

fn line(row: &Row) -> Line {
    let figures = row.figures();
    let of = |of: Distribution| Cell::new(time(of.p50), of.p50);
    let cpu = figures.map(|figures| figures.cpu);
    let ratio = cpu.and_then(|cpu| cpu.ratio);
    Line {
        table: clean(&row.key.heading()),
        runtime: clean(&row.key.runtime),
        version: clean(&row.key.version),
        variant: clean(&row.key.variant_and_case()),
        figures: [
            Cell::new(count(row.key.size), row.key.size as f64),
            cpu.map(|cpu| of(cpu.of)).unwrap_or_default(),
            Cell { text: cpu.map(|cpu| interval(cpu.of.ci)).unwrap_or_default(), value: String::new() },
            figures.map(|figures| of(figures.wall.of)).unwrap_or_default(),
            ratio
                .map(|ratio| Cell::new(figure::ratio(ratio.value, ratio.ci), ratio.value))
                .unwrap_or_default(),
            cpu.map(|cpu| Cell::new(count(cpu.of.n), cpu.of.n as f64)).unwrap_or_default(),
        ],
        remarks: remarks(row),
        is_empty: figures.is_none(),
    }
}

fn remarks(row: &Row) -> String {
    if let Some(missing) = row.missing() {
        let word = match row.status() {
            RowStatus::Failed => "failed",
            _ => "skipped",
        };
        return clean(&with_remedy(&format!("{word}: {}", missing.reason), &missing.remedy));
    }
    let mut remarks = Vec::new();
    if row.role == Role::Control {
        remarks.push("A/A control".to_owned());
    }
    if row.sweep.is_some() {
        remarks.push("part of a sweep".to_owned());
    }
    if row.creates_task == Some(false) {
        remarks.push("no task".to_owned());
    }
    if let Some(figures) = row.figures() {
        if figures.settled.is_some_and(Settled::mostly_not) {
            remarks.push("not settled".to_owned());
        }
        remarks.extend(figures.create_cpu.map(|share| format!("create {}%", percent(share.p50))));
        remarks.extend(figures.cold_cpu.map(|cold| format!("cold {}", time(cold.p50))));
    }
    remarks.extend(
        row.baseline
            .as_ref()
            .filter(|_| row.figures().is_some())
            .map(|name| format!("baseline {}", clean(name))),
    );
    remarks.join(", ")
}
