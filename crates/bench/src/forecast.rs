//! What sizes that were measured say of larger ones: whether a sample ends in time, and how long an
//! iteration lasts at least.

use std::collections::BTreeMap;

use taskscale_model::{key::SeriesKey, missing::Missing, run_file::Role};
use taskscale_stats::growth::breaks_budget;

use crate::{
    cell::Known,
    plan::{Cell, RowState},
};

/// Forecasts the cost of a larger size from smaller ones, so that no probe is sent into a size that
/// it cannot finish.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Size and wall ns of one iteration, by series.
    known: BTreeMap<SeriesKey, Vec<(u64, f64)>>,
}

impl Forecast {
    pub fn learn(&mut self, cell: &Cell, costs: &[Option<f64>]) {
        for (row, cost) in cell.measured().zip(costs) {
            // A control repeats its baseline, and two costs at one size have no exponent.
            if let Some(cost) = cost.filter(|_| row.record.role != Role::Control) {
                self.known.entry(row.record.key.series.clone()).or_default().push((cell.size, cost));
            }
        }
    }

    /// The wall ns that one iteration at `size` may take, where that is longer than an answer may
    /// take.
    fn too_long(&self, key: &SeriesKey, size: u64, timeout_ns: u64) -> Option<f64> {
        breaks_budget(self.known.get(key)?, size, timeout_ns as f64)
    }

    /// What is known of each measured row of a cell.
    pub fn known(&self, cell: &Cell) -> Vec<Known> {
        let of = |key: &SeriesKey| {
            let smaller = self.known.get(key)?.iter().filter(|(size, _)| *size < cell.size);
            smaller.max_by_key(|(size, _)| *size).map(|(_, ns)| *ns)
        };
        let rows = cell.measured();
        rows.map(|row| Known { iteration_wall_ns: of(&row.record.key.series) }).collect()
    }

    pub fn skip_hopeless(&self, cell: &mut Cell, timeout_ns: u64) {
        let size = cell.size;
        for row in cell.measured_mut() {
            let key = &row.record.key.series;
            let Some(feared_ns) = self.too_long(key, size, timeout_ns) else { continue };
            row.state = RowState::Skipped(Missing::new(
                format!(
                    "one sample may take {:.0} s by the growth seen so far; an answer may take {:.0} s",
                    feared_ns / 1e9,
                    timeout_ns as f64 / 1e9
                ),
                format!("raise --timeout above {:.0} s", (feared_ns / 1e9).ceil()),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubling_is_feared_to_be_quadratic_and_after_a_steep_step_cubic() {
        let key = |variant: &str| SeriesKey { variant: variant.to_owned(), ..SeriesKey::default() };
        let mut forecast = Forecast::default();
        assert_eq!(forecast.too_long(&key("v"), 100, 0), None, "nothing is known");
        forecast.known.insert(key("v"), vec![(100, 1e9)]);
        assert_eq!(forecast.too_long(&key("v"), 200, 4_000_000_000), None, "just within");
        assert_eq!(forecast.too_long(&key("v"), 200, 3_900_000_000), Some(4e9));
        assert_eq!(forecast.too_long(&key("other"), 400, 0), None, "another series");
        forecast.known.insert(key("v"), vec![(100, 1e9), (200, 8e9)]);
        assert_eq!(forecast.too_long(&key("v"), 400, 60_000_000_000), Some(64e9));
    }
}
