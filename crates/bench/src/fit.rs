//! What is left out of a suite where the machine is too slow for its budget.
//!
//! Where the turns so far show that the budget does not last for [`WANTED`] processes of every row,
//! the suite says what goes first. A row that goes before it has a figure says why.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    missing::Missing,
    run_file::{Role, RowRecord},
    suite::{LEFT_OUT, LeaveOut},
};
use taskscale_stats::sign;

use crate::plan::Cell;

/// Processes of each row for which controls and further sizes go. An interval of six is their whole
/// range; nine are the fewest whose interval leaves out the extremes: from the second to the
/// eighth, 96 % (a sign interval, `taskscale_stats::sign`).
const WANTED: u64 = 9;

/// Processes of each row for which a step goes. What somebody asked about goes only where there
/// would be no interval.
fn wanted(step: LeaveOut) -> u64 {
    match step {
        LeaveOut::Controls | LeaveOut::Sizes => WANTED,
        LeaveOut::Variants | LeaveOut::Tables => sign::FEWEST as u64,
    }
}

/// The part of the time that is kept for turns that take longer than the last one.
const SPARE: f64 = 0.1;

/// A cell that may yet be measured.
pub(crate) struct Need<'a> {
    pub cell: &'a Cell,
    /// The rows that are still measured.
    pub open: Vec<u64>,
    /// What one turn of one row costs, in nanoseconds.
    pub row_ns: f64,
    /// Turns that it has had. A first turn costs about two, since answers are checked and
    /// iterations chosen, so that a cell without one has had less than none.
    had: i64,
}

impl<'a> Need<'a> {
    /// A cell that has had no turn.
    pub fn untouched(cell: &'a Cell, row_ns: f64) -> Self {
        let open = cell.measured().map(|row| row.record.row).collect();
        Need { cell, open, row_ns, had: -1 }
    }

    /// A cell that has had `turns` turns.
    pub fn after(turns: u64, cell: &'a Cell, open: Vec<u64>, row_ns: f64) -> Self {
        Need { cell, open, row_ns, had: turns as i64 }
    }
}

/// What is asked of [`left_out`].
pub(crate) struct Budget<'a> {
    /// What goes first.
    pub order: &'a [LeaveOut],
    /// Rows that stay, as `runtime:variant`.
    pub reference: &'a [String],
    /// What is left, in nanoseconds.
    pub left_ns: u64,
    /// The whole budget, in nanoseconds.
    pub budget_ns: u64,
}

/// The numbers of the rows that go, each with the reason.
pub(crate) fn left_out(needs: &[Need<'_>], budget: &Budget<'_>) -> BTreeMap<u64, Missing> {
    let cells: Vec<&Cell> = needs.iter().map(|need| need.cell).collect();
    let mut gone = BTreeSet::new();
    let mut whys = BTreeMap::new();
    for &step in budget.order {
        if cost_ns(needs, wanted(step), &gone) <= budget.left_ns as f64 * (1.0 - SPARE) {
            break;
        }
        for row in goes(step, &cells, budget.reference).filter(|row| gone.insert(*row)) {
            let what = match step {
                LeaveOut::Controls => "A/A controls",
                LeaveOut::Sizes => "further sizes",
                LeaveOut::Variants => "further variants",
                LeaveOut::Tables => "further tables",
            };
            let reason = format!(
                "{what}{LEFT_OUT}{} processes of every row do not fit into {:.0} s here",
                wanted(step),
                budget.budget_ns as f64 / 1e9
            );
            let remedy = match step {
                LeaveOut::Sizes => "name fewer with --runtime, or one size with --size",
                _ => "name fewer with --runtime",
            };
            whys.insert(row, Missing::new(reason, remedy));
        }
    }
    whys
}

/// What `processes` of every row that stays cost yet.
fn cost_ns(needs: &[Need<'_>], processes: u64, gone: &BTreeSet<u64>) -> f64 {
    let of = |need: &Need<'_>| {
        let rows = need.open.iter().filter(|row| !gone.contains(row)).count();
        rows as f64 * need.row_ns * (processes as i64 - need.had).max(0) as f64
    };
    needs.iter().map(of).sum()
}

/// The rows that go in one step.
fn goes<'a>(
    step: LeaveOut,
    cells: &'a [&'a Cell],
    reference: &'a [String],
) -> impl Iterator<Item = u64> + 'a {
    let rows = cells
        .iter()
        .enumerate()
        .flat_map(|(place, cell)| cell.measured().map(move |row| (place, &row.record)));
    let earlier = move |place: usize, table: bool| {
        let own = cells[place];
        cells[..place].iter().any(|cell| (cell.table == own.table) == table)
    };
    let goes = move |place: usize, row: &RowRecord| match step {
        LeaveOut::Controls => row.role == Role::Control,
        LeaveOut::Sizes => earlier(place, true),
        LeaveOut::Tables => earlier(place, false),
        LeaveOut::Variants => {
            let stays = reference.contains(&row.key.full_name());
            let series = &row.key.series;
            let another = cells[place].measured().any(|other| {
                other.record.role == Role::Baseline && other.record.key.runtime == series.runtime
            });
            row.role == Role::Row && another && !stays
        }
    };
    rows.filter(move |(place, row)| goes(*place, row)).map(|(_, row)| row.row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlannedRow, RowState};
    use taskscale_model::{answer::Rule, key::RowKey};

    /// A cell of five rows: tokio's baseline, its reference, another variant, and two controls.
    fn cell(table: &str, size: u64, first: u64) -> Cell {
        let row = |(number, (variant, role)): (u64, (&str, Role))| {
            let mut key = RowKey { size, ..RowKey::default() };
            key.series.runtime = "tokio".into();
            key.series.variant = variant.into();
            let record = RowRecord {
                row: number,
                key,
                creates_task: None,
                jit: false,
                settle_ms: None,
                units: None,
                sweep: None,
                role,
                baseline: None,
            };
            PlannedRow { record, state: RowState::Ready, max_size: None }
        };
        let roles = [
            ("base", Role::Baseline),
            ("reference", Role::Row),
            ("other", Role::Row),
            ("base", Role::Control),
            ("base", Role::Control),
        ];
        let rows = (first..).zip(roles).map(row).collect();
        Cell { table: table.into(), size, rule: Rule::Count, splits: false, rows }
    }

    /// What goes where `left_s` are left, a process of a row taking a second.
    fn gone(left_s: u64) -> Vec<u64> {
        let cells = [cell("a", 2, 0), cell("a", 1, 10), cell("b", 2, 20)];
        let budget = Budget {
            order: &[LeaveOut::Controls, LeaveOut::Sizes, LeaveOut::Variants, LeaveOut::Tables],
            reference: &["tokio:reference".to_owned()],
            left_ns: (left_s as f64 * 1e9 / (1.0 - SPARE)).ceil() as u64,
            budget_ns: 72_000_000_000,
        };
        let needs: Vec<Need<'_>> = cells.iter().map(|cell| Need::untouched(cell, 1e9)).collect();
        left_out(&needs, &budget).into_keys().collect()
    }

    #[test]
    fn what_matters_least_goes_first_and_no_more_than_need_be() {
        assert!(gone(15 * 10).is_empty(), "nine processes of 15 rows fit");
        assert_eq!(gone(15 * 10 - 1), [3, 4, 13, 14, 23, 24], "controls");
        assert_eq!(gone(9 * 10 - 1), [3, 4, 10, 11, 12, 13, 14, 23, 24], "the second size of table a");
        assert_eq!(gone(6 * 7 - 1), [2, 3, 4, 10, 11, 12, 13, 14, 22, 23, 24], "variants");
        assert_eq!(gone(6 * 7), gone(9 * 10 - 1), "six processes of what is asked do");
        let last = gone(4 * 7 - 1);
        assert!(!last.contains(&0) && !last.contains(&1), "the first table's own rows stay: {last:?}");
        assert!([20, 21, 22].iter().all(|row| last.contains(row)), "{last:?}");
        assert_eq!(gone(0), last, "there is no more to leave out");
    }
}
