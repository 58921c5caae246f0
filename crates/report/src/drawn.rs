//! Every table that answers another question than "which is cheapest", as lines of a terminal: one
//! list, for the first screen and for the full text.

use taskscale_model::summary::Summary;

use crate::{across, latencies, rates, reaches, residents, scales, shares, splits, streams, waits};

/// Lines around the rows of a table: a blank, the heading, the axis, and what is left out.
const AROUND: usize = 4;
/// Rows of a table of workers that must fit. Each has as few as there are counts of workers.
const FEWEST_SCALES: usize = 4;

/// A table that can be drawn with as many rows as there is room for.
pub(crate) struct Drawn<'s> {
    pub suite: &'s str,
    pub rows: usize,
    /// Lines that stand around its rows.
    pub around: usize,
    /// Lines behind its rows, with what the columns mean. They are taken from those of its rows.
    pub behind: usize,
    lines: Box<dyn Fn(usize) -> Vec<String> + 's>,
}

impl Drawn<'_> {
    /// The lines, the heading first, with at most `room` rows.
    pub fn lines(&self, room: usize) -> Vec<String> {
        (self.lines)(room)
    }
}

/// All such tables, a list for each kind, in the order in which they are read.
pub(crate) fn kinds(summary: &Summary) -> [Vec<Drawn<'_>>; 10] {
    let overview = &summary.overview;
    macro_rules! of {
        ($kind:ident) => {
            overview
                .$kind
                .iter()
                .map(|table| Drawn {
                    suite: &table.suite,
                    rows: table.rows.len(),
                    around: AROUND,
                    behind: 0,
                    lines: Box::new(|room| $kind::lines(table, room)),
                })
                .collect::<Vec<_>>()
        };
    }
    let mut shares = of!(shares);
    for (drawn, table) in shares.iter_mut().zip(&overview.shares) {
        drawn.around += table.subtracted.len();
    }
    let mut scales = of!(scales);
    for (drawn, table) in scales.iter_mut().zip(&overview.scales) {
        drawn.rows = FEWEST_SCALES;
        drawn.behind = scales::laws::behind(table).unwrap_or(2);
    }
    let mut across = of!(across);
    for (drawn, table) in across.iter_mut().zip(&overview.across) {
        drawn.behind = across::said(table).len();
    }
    [
        shares,
        of!(latencies),
        of!(reaches),
        of!(residents),
        of!(waits),
        scales,
        across,
        of!(streams),
        of!(rates),
        of!(splits),
    ]
}
