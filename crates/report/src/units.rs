//! What a figure is of, in words. A workload that no suite knows has a size n, and nobody says what
//! a unit of it is. A task of a table whose tasks arrive at a rate is a millisecond that is
//! watched.

use taskscale_model::{suite::is_free, summary::Summary};

use crate::across::is_of_core;

/// What a figure of a table is of.
pub(crate) fn one(summary: &Summary, suite: &str, table: &str) -> &'static str {
    let is_watched = |suite: &str, table: &str| {
        let mut of = summary.overview.across.iter().filter(|of| is_of_core(of));
        of.any(|of| (&*of.suite, &*of.table) == (suite, table))
    };
    match suite {
        free if is_free(free) => "unit of n",
        suite if is_watched(suite, table) => "watched millisecond",
        _ => "task",
    }
}

/// A legend that says `per task`, in the words of this run: one of each kind that its tables have.
pub(crate) fn of_run(legend: &str, summary: &Summary) -> String {
    let mut units: Vec<&str> = Vec::new();
    for row in &summary.rows {
        let unit = one(summary, &row.key.suite, &row.key.table);
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    match units.is_empty() {
        true => legend.to_owned(),
        false => legend.replacen("per task", &format!("per {}", units.join(" or ")), 1),
    }
}
