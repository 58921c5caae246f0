//! The parts of a plan.

use taskscale_model::{
    answer::Rule,
    missing::Missing,
    run_file::{Part, RowRecord},
};

/// One workload at one size: rows that are measured side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub table: String,
    pub size: u64,
    pub rule: Rule,
    /// Whether its table is about the parts of a cost: the share of creation is wanted early.
    pub splits: bool,
    /// The rows, including those that cannot be measured.
    pub rows: Vec<PlannedRow>,
}

/// A row, and whether it takes part in the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRow {
    pub record: RowRecord,
    pub state: RowState,
    /// The largest size that its variant bears, where there is one.
    pub max_size: Option<u64>,
}

/// Whether a row takes part in the measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum RowState {
    /// The row takes part.
    Ready,
    /// The row takes part once it is known how many steps of the kernel last as long as its work.
    Uncalibrated {
        /// CPU time of the work inside each task, in nanoseconds.
        work_ns: u64,
    },
    /// The row does not take part, for this reason.
    Skipped(Missing),
}

impl RowState {
    /// Whether the row takes part, as far as is known.
    pub fn takes_part(&self) -> bool {
        !matches!(self, RowState::Skipped(_))
    }
}

impl Cell {
    /// The rows that take part.
    pub fn measured(&self) -> impl Iterator<Item = &PlannedRow> {
        self.rows.iter().filter(|row| row.state.takes_part())
    }

    pub fn measured_mut(&mut self) -> impl Iterator<Item = &mut PlannedRow> {
        self.rows.iter_mut().filter(|row| row.state.takes_part())
    }

    /// The rule of one of its rows. The kernel alone has a rule of its own beside the tasks of a
    /// sweep.
    pub fn rule_of(&self, row: &RowRecord) -> Rule {
        match row.sweep.map(|sweep| sweep.part) {
            Some(Part::Kernel) => Rule::Spin,
            Some(Part::Tasks) | None => self.rule,
        }
    }
}
