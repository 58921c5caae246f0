//! What a plan is made of.

use taskscale_model::{
    answer::Rule,
    missing::Missing,
    run_file::{Part, RowRecord},
};

/// One workload at one size: rows that are measured side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The table.
    pub table: String,
    /// The size.
    pub size: u64,
    /// Which answer is right.
    pub rule: Rule,
    /// The rows, those that cannot be measured included.
    pub rows: Vec<PlannedRow>,
}

/// A row, and whether it takes part.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRow {
    /// The row.
    pub record: RowRecord,
    /// Whether it takes part.
    pub state: RowState,
}

/// Whether a row takes part in the measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum RowState {
    /// It does.
    Ready,
    /// It does, once it is known how many steps of the kernel last so long.
    Uncalibrated {
        /// CPU time of the work inside each task, in nanoseconds.
        work_ns: u64,
    },
    /// It does not, and why.
    Skipped(Missing),
}

impl RowState {
    /// Whether it takes part, as far as is known.
    pub fn takes_part(&self) -> bool {
        !matches!(self, RowState::Skipped(_))
    }
}

impl Cell {
    /// The rows that take part.
    pub fn measured(&self) -> impl Iterator<Item = &PlannedRow> {
        self.rows.iter().filter(|row| row.state.takes_part())
    }

    /// The rows that take part, to be changed.
    pub fn measured_mut(&mut self) -> impl Iterator<Item = &mut PlannedRow> {
        self.rows.iter_mut().filter(|row| row.state.takes_part())
    }

    /// The rule of one of its rows: beside the tasks of a sweep stands the kernel alone.
    pub fn rule_of(&self, row: &RowRecord) -> Rule {
        match row.sweep.map(|sweep| sweep.part) {
            Some(Part::Kernel) => Rule::Spin,
            Some(Part::Tasks) | None => self.rule,
        }
    }
}
