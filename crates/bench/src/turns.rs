//! Which cell of a suite has the next turn. A turn measures one process of each row of a cell.
//!
//! A suite with a budget gives its cells turns: all sizes have a first figure early, all have an
//! interval at about the same time, and what is left of the budget goes where it narrows intervals
//! most. A suite without one measures its cells one after another.

use taskscale_stats::sign;

/// The processes of each row that an interval needs.
pub(crate) const FEWEST: u64 = sign::FEWEST as u64;

/// What the choice of the next turn knows of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    /// Whether it has ended.
    pub done: bool,
    /// Turns that it has had.
    pub turns: u64,
    /// What its last turn took, in nanoseconds.
    pub turn_ns: u64,
    /// Mean half-width of its rows' intervals.
    pub half_width: f64,
}

impl Standing {
    /// Whether its next turn is worth beginning where `left_ns` are left: half a turn more than the
    /// time allows is nearer to it than half a turn less.
    pub fn fits(&self, left_ns: u64) -> bool {
        !self.done && self.turn_ns / 2 < left_ns
    }
}

/// The number of the cell that has the next turn; `None` where no turn fits into `left_ns`.
///
/// Cells without a figure come first, in their order, then those with the fewest processes until
/// each has had `in_turn` of them, [`FEWEST`] for an interval; the cheapest first, so that when the
/// time is up as many as possible have them. Then the cell whose intervals narrow most in a second:
/// they narrow with the square root of the turns, so one turn more of `n` narrows them by the share
/// `1 / 2n`.
pub(crate) fn next(cells: &[Standing], left_ns: u64, in_turn: u64) -> Option<usize> {
    let open = || cells.iter().enumerate().filter(|(_, cell)| !cell.done);
    let nothing_yet = cells.iter().all(|cell| cell.turns == 0);
    if left_ns > 0 || nothing_yet {
        let waiting = open().find(|(_, cell)| cell.turns == 0);
        if let Some((index, _)) = waiting {
            return Some(index);
        }
    }
    let fits = || open().filter(|(_, cell)| cell.turns > 0 && cell.fits(left_ns));
    if let Some((index, _)) =
        fits().filter(|(_, cell)| cell.turns < in_turn).min_by_key(|(_, cell)| (cell.turns, cell.turn_ns))
    {
        return Some(index);
    }
    let gain = |cell: &Standing| cell.half_width / (cell.turns.max(1) * cell.turn_ns.max(1)) as f64;
    fits().max_by(|(_, a), (_, b)| gain(a).total_cmp(&gain(b))).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(turns: u64, turn_ns: u64, half_width: f64) -> Standing {
        Standing { done: false, turns, turn_ns, half_width }
    }

    #[test]
    fn each_cell_has_a_figure_before_any_has_two_and_six_before_any_has_seven() {
        let mut cells = vec![cell(0, 10, 1.0); 3];
        let mut order = Vec::new();
        for _ in 0..18 {
            let index = next(&cells, 1_000_000, FEWEST).expect("time is left");
            cells[index].turns += 1;
            order.push(index);
        }
        assert_eq!(order, [0, 1, 2].repeat(6));
    }

    #[test]
    fn of_cells_with_as_few_processes_the_cheapest_comes_first() {
        assert_eq!(next(&[cell(5, 100, 1.0), cell(5, 10, 1.0), cell(6, 1, 1.0)], 1_000, FEWEST), Some(1));
        assert_eq!(next(&[cell(4, 100, 1.0), cell(5, 10, 1.0)], 1_000, FEWEST), Some(0), "it has fewer");
    }

    #[test]
    fn seconds_go_where_intervals_narrow_most() {
        assert_eq!(next(&[cell(6, 10, 0.1), cell(6, 10, 0.3)], 100, FEWEST), Some(1), "the wider");
        assert_eq!(next(&[cell(6, 10, 0.1), cell(6, 100, 0.3)], 1000, FEWEST), Some(0), "the cheaper");
        assert_eq!(
            next(&[cell(6, 10, 0.1), cell(60, 10, 0.3)], 100, FEWEST),
            Some(0),
            "the one with few turns"
        );
    }

    #[test]
    fn a_turn_must_fit_but_the_first_figure_of_all_comes_however_late() {
        assert_eq!(next(&[cell(2, 100, 1.0), cell(3, 10, 1.0)], 50, FEWEST), Some(1), "half of 100 is 50");
        assert_eq!(next(&[cell(2, 100, 1.0), cell(3, 100, 1.0)], 50, FEWEST), None);
        assert_eq!(next(&[cell(2, 100, 1.0), cell(0, 0, 1.0)], 1, FEWEST), Some(1), "its cost is not known");
        assert_eq!(next(&[cell(2, 100, 1.0), cell(0, 0, 1.0)], 0, FEWEST), None);
        assert_eq!(next(&[cell(0, 0, 1.0), cell(0, 0, 1.0)], 0, FEWEST), Some(0), "a figure at last");
        let done = Standing { done: true, ..cell(1, 0, 1.0) };
        assert_eq!(next(&[done], 1_000, FEWEST), None);
    }
}
