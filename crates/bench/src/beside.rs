//! Keeps the processes of rows that are divided by one another on one CPU.
//!
//! CPUs are not alike: their siblings, caches and neighbours differ, and so does their speed. On a
//! busy machine with two CPUs, process pairs of identical asyncio differed by 18 to 20 % (standard
//! deviation of 32 pairs' medians), and by 7 to 9 % (38 pairs) where both were on one CPU
//! (docs/evidence/comparisons.md).

use crate::row::Row;

/// Keeps the processes of `order` on one CPU, which follows from `place`: of each row, and of all
/// that are divided by the same baseline, whose samples one thread does. A row whose work several
/// threads do stays on all CPUs, and so do those beside it.
///
/// Nothing is known before a row was timed, so its first process runs on any CPU.
pub fn keep(rows: &mut [Row<'_>], order: &[usize], place: u64) {
    for &index in order {
        let own = rows[index].comparison();
        let mut beside = rows.iter().filter(|row| row.is_open() && row.comparison() == own);
        if beside.all(Row::works_alone) {
            rows[index].keep_on(place);
        }
    }
}
