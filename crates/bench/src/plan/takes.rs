//! How long a plan takes, as a run says before it begins.

use super::{Cell, Plan, PlannedRow, PlannedSuite};
use crate::sitting::weight;

/// How long a plan takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takes {
    pub ns: u64,
    /// Whether it takes that at most. Else it takes about that: starting and checking the rows is
    /// foreseen, and not bounded.
    pub is_bound: bool,
}

/// The processes, with a sample each, that getting a row ready is taken for: it is checked, piloted
/// and warmed up.
const READY: f64 = 4.0;

impl Plan {
    /// How long the plan takes: each cell its time, each suite its budget. Cells end earlier where
    /// their intervals are narrow enough, and later by the sample under way. The time that bounds a
    /// cell begins when its rows are ready, unless the user has set it.
    pub fn takes(&self) -> Takes {
        let of = |suite: &PlannedSuite| {
            let (cells, limits) = (suite.cells.iter().map(Cell::measured), &suite.limits);
            let cells: Vec<Vec<&PlannedRow>> = cells.map(Iterator::collect).collect();
            let timed = cells.iter().filter(|rows| !rows.is_empty()).count() as u64;
            let timed_ns = limits.max_time_ns.saturating_mul(timed);
            let ready_ns: f64 = cells.iter().flatten().map(|row| READY * weight(&row.record, limits)).sum();
            let all = match limits.is_bound {
                true => Takes { ns: timed_ns, is_bound: true },
                false => Takes { ns: timed_ns.saturating_add(ready_ns as u64), is_bound: false },
            };
            let budget = limits.budget_ns.map(|ns| Takes { ns, is_bound: true });
            budget.into_iter().chain([all]).min_by_key(|takes| takes.ns).unwrap_or(all)
        };
        let parts = self.suites.iter().map(of);
        parts.fold(Takes { ns: 0, is_bound: true }, |all, part| Takes {
            ns: all.ns.saturating_add(part.ns),
            is_bound: all.is_bound && part.is_bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{suite, tokio};
    use super::super::*;

    #[test]
    fn a_budget_bounds_a_suite_and_the_time_of_a_cell_does_not() {
        let quick = suite("");
        let takes = |change: &dyn Fn(Limits) -> Limits| {
            let limits =
                |_: &Suite, _: usize| change(Limits { max_time_ns: 3_000_000_000, ..Limits::default() });
            Plan::new(std::slice::from_ref(&quick), &[tokio()], &Selection::default(), &limits)
                .expect("a plan")
                .takes()
        };
        // Two cells of three seconds, and what getting their rows ready takes.
        let free = takes(&|limits| limits);
        assert!(!free.is_bound && free.ns > 6_000_000_000, "{free:?}");
        let bound = takes(&|limits| Limits { is_bound: true, ..limits });
        assert_eq!(bound, Takes { ns: 6_000_000_000, is_bound: true });
        let budget = takes(&|limits| Limits { budget_ns: Some(6_500_000_000), ..limits });
        assert_eq!(budget, Takes { ns: 6_500_000_000, is_bound: true });
        let ample = takes(&|limits| Limits { budget_ns: Some(600_000_000_000), ..limits });
        assert_eq!(ample, free);
    }
}
