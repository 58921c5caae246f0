//! What the timed samples of a row tell, one value for each process.

use taskscale_stats::independent::independent;

use crate::row::Row;

/// What `of` makes of a row's values, which are CPU ns per task.
pub(crate) fn of(row: &Row<'_>, of: impl Fn(f64) -> f64) -> Vec<f64> {
    let values: Vec<f64> = row.timed.iter().map(|timed| of(timed.value)).collect();
    independent(&processes(row), &values)
}

/// Wall ns of one iteration.
pub(crate) fn walls(row: &Row<'_>) -> Vec<f64> {
    independent(&processes(row), &row.walls)
}

/// The process of each timed sample.
fn processes(row: &Row<'_>) -> Vec<u64> {
    row.timed.iter().map(|timed| timed.process).collect()
}
