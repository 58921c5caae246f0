//! What is left out of the page of a large run, so that it stays small. A row takes some 2 kB as
//! data, 0.5 kB in the table and 0.8 kB in a ranking: 500 rows with all of it have 1.5 MB.

use taskscale_model::summary::{Counts, Figures, RowState, Summary};

use crate::page::guard;

/// What a page may have, in bytes.
pub const BYTES: usize = 1_000_000;

/// How much of a run a page holds.
pub struct Room {
    data: Data,
    /// The most sizes of a ranking.
    pub sizes: usize,
    /// The most rows of a ranking at one size.
    pub lines: usize,
    /// The most rows of the table.
    pub rows: usize,
}

/// What of the summary lies in the page as data.
#[derive(PartialEq)]
enum Data {
    All,
    /// Of each row its CPU time and its wall time.
    Times,
    None,
}

const ALL: usize = usize::MAX;

/// From all to little. The first that makes a page small enough is taken, or else the last.
pub const ROOMS: [Room; 5] = [
    Room { data: Data::All, sizes: ALL, lines: ALL, rows: ALL },
    Room { data: Data::Times, sizes: ALL, lines: ALL, rows: ALL },
    Room { data: Data::Times, sizes: 3, lines: 60, rows: ALL },
    Room { data: Data::None, sizes: 3, lines: 60, rows: 1_000 },
    Room { data: Data::None, sizes: 1, lines: 30, rows: 200 },
];

impl Room {
    /// The summary as data, or what of it has room.
    pub fn data(&self, summary: &Summary) -> String {
        match self.data {
            Data::All => guard::data(summary),
            Data::Times => guard::data(&thin(summary)),
            Data::None => "null".to_owned(),
        }
    }

    pub fn has_data(&self) -> bool {
        self.data != Data::None
    }

    /// What is said of the data.
    pub fn said(&self) -> &'static str {
        match self.data {
            Data::All => "Every figure of this page is in the page itself, as taskscale.summary/1.",
            Data::Times => {
                "The times of each row are in the page itself, as taskscale.summary/1. So that the page stays \
                 small, its other figures (cold starts, creation, threads, counts) are left out: taskscale \
                 report FILE -o r.json has all."
            }
            Data::None => {
                "This run is too large to lie in its page: taskscale report FILE -o r.json has all figures."
            }
        }
    }
}

/// The same summary with times alone.
fn thin(summary: &Summary) -> Summary {
    let mut thin = summary.clone();
    for row in &mut thin.rows {
        if let RowState::Ok(figures) = &mut row.state {
            **figures = Figures {
                cold_cpu: None,
                create_cpu: None,
                create_wall: None,
                threads: None,
                busiest: None,
                counts: Counts::default(),
                calls: Vec::new(),
                ..**figures
            };
        }
    }
    for growth in &mut thin.growth {
        growth.steps.clear();
    }
    thin
}
