//! What identical code shows. No smaller difference can be claimed.

use taskscale_model::{
    missing::Missing,
    run_file::{Role, RowRecord, Time},
};
use taskscale_stats::{confidence::CONFIDENCE, paired::PairedRatio, rounds::Rounds};

use crate::summarize::samples::{RowSamples, State, by_number};

/// The A/A controls of one run that have an interval.
pub struct Controls<'a> {
    controls: Vec<Control<'a>>,
    /// Those that failed.
    failed: Vec<(&'a RowRecord, Missing)>,
}

struct Control<'a> {
    row: &'a RowRecord,
    rounds: Rounds,
    paired: PairedRatio,
}

impl Control<'_> {
    /// The end of its interval that is farther from 1, as |ln ratio|.
    fn limit(&self) -> f64 {
        self.paired.low.ln().abs().max(self.paired.high.ln().abs())
    }
}

impl<'a> Controls<'a> {
    /// The controls of a run by one of its times.
    pub fn of(series: &[RowSamples<'a>], time: Time) -> Self {
        let by_number = by_number(series);
        let controls = series.iter().filter(|one| one.row.role == Role::Control && one.is_ok());
        let judged = controls.filter_map(|one| {
            let number = one.row.baseline?;
            let baseline = by_number.get(&number).copied().filter(|other| other.is_ok())?;
            let rounds = one.against(baseline, time);
            Some(Control { row: one.row, paired: rounds.paired(CONFIDENCE)?, rounds })
        });
        let failed = series.iter().filter(|one| one.row.role == Role::Control).filter_map(|one| {
            let State::Failed(why) = &one.state else { return None };
            Some((one.row, why.clone()))
        });
        Controls { controls: judged.collect(), failed: failed.collect() }
    }

    /// Why the control of a row's runtime in its cell failed, where it did.
    pub fn failed(&self, row: &RowRecord) -> Option<&Missing> {
        let is_nearest = |other: &RowRecord| in_cell(other, row) && other.key.runtime == row.key.runtime;
        self.failed.iter().find(|(other, _)| is_nearest(other)).map(|(_, why)| why)
    }

    pub fn len(&self) -> usize {
        self.controls.len()
    }

    /// The largest limit, as |ln ratio|.
    pub fn largest(&self) -> Option<f64> {
        self.controls.iter().map(Control::limit).reduce(f64::max)
    }

    /// What the controls nearest to a row leave open, as |ln ratio|; `None` where the run has none.
    pub fn limit(&self, row: &RowRecord) -> Option<f64> {
        self.nearest(row).into_iter().map(Control::limit).reduce(f64::max)
    }

    /// Whether one of the controls nearest to a row would itself be called worse or better: its
    /// interval at `confidence` lies beyond `limit`, as |ln ratio|. It is `None` where the run has
    /// no control.
    pub fn would_be_called(&self, row: &RowRecord, confidence: f64, limit: f64) -> Option<bool> {
        let nearest = self.nearest(row);
        let called = |control: &&Control<'_>| {
            let paired = control.rounds.paired(confidence);
            paired.is_some_and(|paired| paired.low.ln() > limit || paired.high.ln() < -limit)
        };
        (!nearest.is_empty()).then(|| nearest.iter().any(called))
    }

    /// The controls of its runtime in its cell, or else all of its cell, or else all of the run.
    fn nearest(&self, row: &RowRecord) -> Vec<&Control<'a>> {
        let in_cell = |other: &RowRecord| in_cell(other, row);
        let all = |wanted: &dyn Fn(&RowRecord) -> bool| -> Vec<&Control<'a>> {
            self.controls.iter().filter(|control| wanted(control.row)).collect()
        };
        let of_runtime = all(&|other| in_cell(other) && other.key.runtime == row.key.runtime);
        let of_cell = all(&in_cell);
        [of_runtime, of_cell].into_iter().find(|found| !found.is_empty()).unwrap_or_else(|| all(&|_| true))
    }
}

fn in_cell(one: &RowRecord, other: &RowRecord) -> bool {
    (&one.key.suite, &one.key.table, one.key.size) == (&other.key.suite, &other.key.table, other.key.size)
}
