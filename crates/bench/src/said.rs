//! What the listener and the journal learn of a cell beside its samples.

use std::io;

use taskscale_model::{
    missing::Missing,
    run_file::{Record, RowEnd, Status},
};

use crate::{
    link::Event,
    plan::{Cell, RowState},
    row::World,
};

/// Tells that a turn of a cell begins.
pub(crate) fn announce(cell: &Cell, number: u64, of: u64, world: &mut World<'_, '_>) {
    let rows: Vec<_> = cell.rows.iter().map(|row| row.record.clone()).collect();
    let (table, size) = (&cell.table, cell.size);
    world.listener.event(&Event::CellStarted { number, of, table, size, rows: &rows });
}

/// Ends the rows of a cell that will not be measured: those that the plan skips, or all of them for
/// the reason `why`.
pub(crate) fn skip_rows(cell: &Cell, why: Option<Missing>, world: &mut World<'_, '_>) -> io::Result<()> {
    for row in &cell.rows {
        let missing = match (&row.state, &why) {
            (RowState::Skipped(missing), _) | (_, Some(missing)) => missing.clone(),
            (RowState::Ready | RowState::Uncalibrated { .. }, None) => continue,
        };
        let status = Status::Skipped(missing);
        world.journal.append(&Record::RowEnd(RowEnd { row: row.record.row, status: status.clone() }))?;
        world.listener.event(&Event::RowEnded { row: &row.record, status: &status });
    }
    Ok(())
}
