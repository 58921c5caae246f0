//! Two sides of a comparison in one plan (`taskscale run --against`). Each row of the new side is
//! divided by the same row of the old side, and by nothing else.

use taskscale_model::{missing::Missing, run_file::Role};

use super::{cell::RowState, draft::Draft, found::Found};

/// Makes the same row of the old side the baseline of each row of a new side. A row that only the
/// old side has is not measured, since nothing would be judged by it.
pub fn pair(rows: &mut [Draft], runtimes: &[Found]) {
    for old in runtimes {
        let Some(new) = old.old_of.as_deref() else { continue };
        let of = |runtime: &str| -> Vec<usize> {
            (0..rows.len()).filter(|&index| rows[index].key.runtime == runtime).collect()
        };
        let (new_rows, old_rows) = (of(new), of(&old.id));
        let same = |a: &Draft, b: &Draft| (&a.key.variant, &a.key.case) == (&b.key.variant, &b.key.case);
        for &index in &new_rows {
            let counterpart = old_rows
                .iter()
                .copied()
                .find(|&other| rows[other].state.takes_part() && same(&rows[index], &rows[other]));
            rows[index].role = Role::Row;
            rows[index].baseline = counterpart.filter(|_| rows[index].state.takes_part());
        }
        for &index in &old_rows {
            rows[index].role = Role::Baseline;
            rows[index].baseline = None;
            let is_used = new_rows.iter().any(|&row| rows[row].baseline == Some(index));
            if !is_used && rows[index].state.takes_part() {
                rows[index].state = RowState::Skipped(Missing::new(
                    format!("{new} has no row to be judged by it"),
                    "choose a --variant, --size and --param that both sides have",
                ));
            }
        }
    }
}

/// The runtime that the rows of `runtime` stand beside: the one that they judge where they are an
/// old side's, else their own.
pub fn judged(runtimes: &[Found], runtime: &str) -> String {
    let found = runtimes.iter().find(|found| found.id == runtime);
    found.and_then(|found| found.old_of.clone()).unwrap_or_else(|| runtime.to_owned())
}

/// The indices of old sides' baselines that get no control. One control for each old side in a cell
/// says what identical code of that runtime shows there. A control for every row would make a run
/// half as long again.
pub fn spared(rows: &[Draft], runtimes: &[Found]) -> Vec<usize> {
    let mut spared = Vec::new();
    for old in runtimes.iter().filter(|found| found.old_of.is_some()) {
        let used = (0..rows.len())
            .filter(|&index| rows[index].key.runtime == old.id && rows[index].state.takes_part());
        spared.extend(used.skip(1));
    }
    spared
}
