//! Distributions: a box for each ranked row.

use taskscale_model::{
    figure::time,
    summary::{Distribution, Ranked, Ranking, Summary},
};

use super::{room::Room, strip};
use crate::{
    overview::{variant, what},
    page::{axis::Axis, marks, markup::Markup},
    style::clean,
};

/// The boxes of one ranking.
pub struct Boxes {
    pub heading: String,
    pub number: usize,
    pub axis: Markup,
    pub grid: Markup,
    pub lines: Vec<Line>,
}

/// One box.
pub struct Line {
    pub runtime: String,
    pub variant: String,
    pub mark: Markup,
    pub samples: u64,
    /// What each figure is, and the figure.
    pub figures: Vec<(&'static str, String)>,
}

/// The boxes of all rankings whose rows have percentiles; of a long ranking its cheapest rows.
pub fn boxes(summary: &Summary, room: &Room) -> Vec<Boxes> {
    let rankings = summary.overview.rankings.iter().enumerate();
    rankings
        .filter_map(|(number, ranking)| {
            let rows: Vec<(&Ranked, Distribution)> = ranking
                .rows
                .iter()
                .take(room.lines)
                .filter_map(|row| Some((row, strip::distribution(summary, ranking, row)?)))
                .collect();
            let axis = Axis::over(rows.iter().flat_map(|(_, of)| [of.p0, of.p100]));
            (!rows.is_empty()).then(|| Boxes {
                heading: what(ranking, usize::MAX),
                number,
                axis: Markup(marks::labels(&axis)),
                grid: Markup(marks::grid(&axis)),
                lines: rows.iter().map(|(row, of)| line(ranking, row, of, &axis)).collect(),
            })
        })
        .collect()
}

fn line(ranking: &Ranking, row: &Ranked, of: &Distribution, axis: &Axis) -> Line {
    let figures =
        [("least", of.p0), ("25 %", of.p25), ("median", of.p50), ("75 %", of.p75), ("most", of.p100)];
    Line {
        runtime: clean(&row.runtime),
        variant: variant(ranking, row),
        mark: Markup(marks::quartiles(axis, of)),
        samples: of.n,
        figures: figures.map(|(what, ns)| (what, time(ns))).into(),
    }
}
