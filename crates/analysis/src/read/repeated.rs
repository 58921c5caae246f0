//! Rows that were planned twice: a size that is left out for want of time may be added when time is
//! left, as a row of its own.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    key::RowKey,
    run_file::{Role, RowEnd, Status},
};

use super::Run;

/// Takes out rows that were skipped and measured later under another number. What they were the
/// baseline of refers to that row then. O(rows log rows).
pub fn take_out(run: &mut Run) {
    let is_skipped = |end: &&RowEnd| matches!(end.status, Status::Skipped(_));
    let skipped: BTreeSet<u64> = run.row_ends.iter().filter(is_skipped).map(|end| end.row).collect();
    if skipped.is_empty() {
        return;
    }
    let plain = || run.rows.iter().filter(|row| row.role != Role::Control && row.sweep.is_none());
    let measured: BTreeMap<&RowKey, u64> =
        plain().filter(|row| !skipped.contains(&row.row)).map(|row| (&row.key, row.row)).collect();
    let repeated: BTreeMap<u64, u64> = plain()
        .filter(|row| skipped.contains(&row.row))
        .filter_map(|row| Some((row.row, *measured.get(&row.key)?)))
        .collect();
    run.rows.retain(|row| !repeated.contains_key(&row.row));
    run.row_ends.retain(|end| !repeated.contains_key(&end.row));
    for baseline in run.rows.iter_mut().filter_map(|row| row.baseline.as_mut()) {
        *baseline = *repeated.get(baseline).unwrap_or(baseline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_run;

    #[test]
    fn a_size_that_was_left_out_and_measured_later_has_one_row() {
        let text = include_str!("../../tests/data/compare/old.jsonl");
        let run = parse_run(text).expect("a run file");
        let mut again = run.clone();
        let mut row = again.rows[0].clone();
        row.row = 900;
        again.rows.push(row.clone());
        again.rows.iter_mut().filter(|row| row.row == 1).for_each(|row| row.baseline = Some(900));
        let why = taskscale_model::missing::Missing::new("no time", "more");
        let end = |row: u64| RowEnd { row, status: Status::Skipped(why.clone()) };
        again.row_ends.push(end(900));
        // A row that was only skipped stays.
        row.row = 901;
        row.key.size = 77;
        again.rows.push(row);
        again.row_ends.push(end(901));
        take_out(&mut again);
        let numbers: Vec<u64> = again.rows.iter().map(|row| row.row).collect();
        assert!(!numbers.contains(&900) && numbers.contains(&901), "{numbers:?}");
        assert!(again.row_ends.iter().all(|end| end.row != 900));
        let of_one = again.rows.iter().find(|row| row.row == 1).expect("a row");
        assert_eq!(of_one.baseline, Some(again.rows[0].row));
    }
}
