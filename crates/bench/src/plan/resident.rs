//! Plans rows whose memory is read. Each has a cell of its own: the processes of a cell are all
//! alive, and those of a million tasks of every runtime hold 20 GB together. Nothing is divided by
//! anything, so nothing need be measured side by side but the two sides of a comparison.

use super::{draft::Draft, found::Found, sides};

/// The groups of one table at one size. Rows that cannot be measured stand in a group of their own.
pub fn groups(rows: Vec<Draft>, runtimes: &[Found]) -> Vec<Vec<Draft>> {
    let (measured, skipped): (Vec<Draft>, Vec<Draft>) =
        rows.into_iter().partition(|row| row.state.takes_part());
    let mut groups: Vec<Vec<Draft>> = Vec::new();
    for row in measured {
        let name = |row: &Draft| {
            let key = &row.key;
            (sides::judged(runtimes, &key.runtime), key.variant_and_case())
        };
        match groups.iter_mut().find(|rows| name(&rows[0]) == name(&row)) {
            Some(rows) => rows.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.push(skipped);
    groups
}
