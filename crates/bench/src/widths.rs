//! How wide the intervals of a cell's rows are. A stop rule learns nothing else of them.

use taskscale_model::run_file::Role;
use taskscale_stats::{
    confidence::CONFIDENCE,
    quantile,
    rounds::{self, Rounds},
    sign,
};

use crate::{limits::Limits, observations, row::Row};

/// The half-width of the interval of each open row that counts: of all, or, where an old side
/// judges, of those that are divided by another.
pub(crate) fn of_open(rows: &[Row<'_>], limits: &Limits) -> Vec<Option<f64>> {
    let open = rows.iter().filter(|row| row.is_open());
    let counts = |row: &&Row<'_>| limits.judged_at.is_none() || row.record.baseline.is_some();
    open.filter(counts).map(|row| of(rows, row, limits)).collect()
}

/// The half-width of the ratio of a row that is divided by another, else that of its own figure.
pub(crate) fn of(rows: &[Row<'_>], row: &Row<'_>, limits: &Limits) -> Option<f64> {
    let base = row.record.baseline.and_then(|number| rows.iter().find(|other| other.record.row == number));
    let Some(base) = base else { return of_figure(row) };
    let mut rounds = Rounds::of(base.timed.iter().copied(), row.timed.iter().copied());
    let is_judged = limits.judged_at.is_some() && row.record.role != Role::Control;
    if let Some(control) = control(rows, base.record.row).filter(|_| is_judged) {
        rounds = rounds.beside(control.timed.iter().copied());
    }
    if limits.judged_at.is_some() && limits.restart_every > 0 {
        rounds = rounds.fresh();
    }
    let confidence = limits.judged_at.unwrap_or(CONFIDENCE);
    rounds.paired(confidence).map(|paired| paired.half_width)
}

/// The half-width of a row's own figure.
pub(crate) fn of_figure(row: &Row<'_>) -> Option<f64> {
    let values = quantile::sorted(&observations::of(row, f64::ln));
    let (low, high) = sign::sign_interval(&values, CONFIDENCE)?;
    Some((high - low) / 2.0)
}

/// The fewest pairs of processes with which every judged row has an interval.
pub(crate) fn fewest_pairs(rows: &[Row<'_>], confidence: f64) -> u64 {
    let judged = rows.iter().filter(|row| row.is_open() && row.record.role == Role::Row);
    let is_beside = judged.filter_map(|row| row.record.baseline).all(|base| control(rows, base).is_some());
    rounds::fewest(is_beside, confidence) as u64
}

/// The control that repeats a baseline, where it is measured.
fn control<'r, 'p>(rows: &'r [Row<'p>], baseline: u64) -> Option<&'r Row<'p>> {
    rows.iter().find(|row| row.is_open() && row.record.repeats(baseline))
}
