//! What identical code shows in the two files: no difference below that can be claimed.

use taskscale_model::run_file::{Role, RowRecord};

use crate::summarize::series::{Metric, Series};

/// The A/A controls of one run.
pub struct Controls<'a> {
    controls: Vec<(&'a RowRecord, f64)>,
}

impl<'a> Controls<'a> {
    /// Those that have an interval: of each the end that is farther from no difference, as |ln ratio|.
    pub fn of(series: &[Series<'a>], metric: Metric) -> Self {
        let controls = series.iter().filter(|one| one.row.role == Role::Control && one.is_ok());
        let judged = controls.filter_map(|one| {
            let number = one.row.baseline?;
            let baseline = series.iter().find(|other| other.row.row == number && other.is_ok())?;
            let paired = one.against(baseline, metric).paired()?;
            Some((one.row, paired.low.ln().abs().max(paired.high.ln().abs())))
        });
        Controls { controls: judged.collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.controls.len()
    }

    /// The largest, as |ln ratio|.
    pub fn largest(&self) -> Option<f64> {
        self.max(|_| true)
    }

    /// What the control nearest to a row leaves open, as |ln ratio|: that of its runtime in its cell, else the largest of its cell, else
    /// the largest of the run; `None` where the run has none.
    pub fn limit(&self, row: &RowRecord) -> Option<f64> {
        let in_cell = |other: &RowRecord| {
            (&other.suite, &other.table, other.size) == (&row.suite, &row.table, row.size)
        };
        self.max(|other| in_cell(other) && other.runtime == row.runtime)
            .or_else(|| self.max(in_cell))
            .or_else(|| self.largest())
    }

    fn max(&self, wanted: impl Fn(&RowRecord) -> bool) -> Option<f64> {
        let limits = self.controls.iter().filter(|(row, _)| wanted(row)).map(|(_, limit)| *limit);
        limits.reduce(f64::max)
    }
}
