//! What sizes that were measured say of larger ones: whether a sample ends in time, and how long an
//! iteration lasts at least.

use std::collections::BTreeMap;

use taskscale_model::{
    figure::{count, lasting},
    key::SeriesKey,
    missing::{LONG_OR_STUCK, Missing},
    parked::Resident,
    run_file::Role,
    suite::FORESEEN,
};
use taskscale_stats::growth::{MIN_SIZES, breaks_budget};

use crate::plan::{Cell, RowState};

/// How much more than what tasks hold while they wait a process needs for a while: what it frees
/// when it has made them, and what a collector copies.
const HEADROOM: f64 = 1.5;

/// The longest answer that is worth a longer `--timeout`: an hour.
const BEARABLE_NS: f64 = 3_600e9;

/// What is known of a row's series from the sizes that were measured before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    /// Wall ns of one iteration at the largest smaller size.
    pub iteration_wall_ns: Option<f64>,
    /// Whether a smaller size waited.
    pub waits: bool,
}

impl Known {
    /// Whether one iteration lasts this many samples or more, by a smaller size.
    pub fn lasts(self, samples: f64, sample_ns: u64) -> bool {
        self.iteration_wall_ns.is_some_and(|ns| ns >= samples * sample_ns as f64)
    }
}

/// Forecasts the cost of a larger size from smaller ones, so that no probe is sent into a size that
/// it cannot finish.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Size and wall ns of one iteration, by series.
    known: BTreeMap<SeriesKey, Vec<(u64, f64)>>,
    /// Size and what a process held, by series.
    held: BTreeMap<SeriesKey, Vec<(u64, Resident)>>,
    /// The largest size that waited so far, by series.
    waits: BTreeMap<SeriesKey, u64>,
    /// The smallest size at which no answer came, and how long it was waited for, by series.
    waited: BTreeMap<SeriesKey, (u64, u64)>,
}

impl Forecast {
    /// Learns what a process of each measured row of a cell held.
    pub fn learn_held(&mut self, cell: &Cell, held: &[Option<Resident>]) {
        for (row, resident) in cell.measured().zip(held) {
            if let Some(resident) = resident {
                self.held.entry(row.record.key.series.clone()).or_default().push((cell.size, *resident));
            }
        }
    }

    /// What a process may take at `size`, in bytes, by the two largest sizes that were measured,
    /// and the bytes a task in it.
    fn takes(&self, key: &SeriesKey, size: u64) -> Option<(f64, f64)> {
        let mut known: Vec<&(u64, Resident)> = self.held.get(key)?.iter().collect();
        known.sort_by_key(|(size, _)| *size);
        let (largest, held) = known.last()?;
        let before = known.iter().rev().find(|(size, _)| size < largest);
        // Of one size alone it is not known what the first task brought once.
        let a_task = match before {
            Some((smaller, less)) => {
                held.waiting.saturating_sub(less.waiting) as f64 / (largest - smaller) as f64
            }
            None => held.grown() as f64 / *largest as f64,
        };
        let more = size.saturating_sub(*largest) as f64;
        Some(((held.waiting as f64 + more * a_task) * HEADROOM, a_task))
    }

    /// Skips rows whose process would take more memory than is free.
    pub fn skip_too_large(&self, cell: &mut Cell, free: Option<u64>) {
        let (size, Some(free)) = (cell.size, free) else { return };
        for row in cell.measured_mut() {
            let Some((bytes, a_task)) = self.takes(&row.record.key.series, size) else { continue };
            if bytes <= free as f64 {
                continue;
            }
            let gib = |bytes: f64| bytes / f64::from(1u32 << 30);
            row.state = RowState::Skipped(Missing::new(
                format!(
                    "{} tasks may take {:.1} GiB while they are made, by {} bytes a task so far; {:.1} GiB are free",
                    count(size),
                    gib(bytes),
                    count(a_task.round() as u64),
                    gib(free as f64)
                ),
                "free memory, or name smaller sizes with --size",
            ));
        }
    }

    pub fn learn(&mut self, cell: &Cell, costs: &[Option<f64>]) {
        for (row, cost) in cell.measured().zip(costs) {
            // A control repeats its baseline, and two costs at one size have no exponent.
            if let Some(cost) = cost.filter(|_| row.record.role != Role::Control) {
                self.known.entry(row.record.key.series.clone()).or_default().push((cell.size, cost));
            }
        }
    }

    /// Learns which rows of a cell wait.
    pub fn learn_waits(&mut self, cell: &Cell, waits: &[bool]) {
        for (row, _) in cell.measured().zip(waits).filter(|(_, waits)| **waits) {
            self.waits.insert(row.record.key.series.clone(), cell.size);
        }
    }

    /// Learns of the rows of a cell that did not answer.
    pub fn learn_waited(&mut self, cell: &Cell, waited: &[Option<u64>]) {
        for (row, waited_ns) in cell.measured().zip(waited) {
            if let Some(waited_ns) = waited_ns {
                let smallest = self.waited.entry(row.record.key.series.clone());
                let smallest = smallest.or_insert((cell.size, *waited_ns));
                *smallest = (*smallest).min((cell.size, *waited_ns));
            }
        }
    }

    /// Whether any series was answered at fewer sizes than a grade needs.
    pub fn lacks_sizes(&self) -> bool {
        self.known.values().any(|sizes| sizes.len() < MIN_SIZES) || self.silent().next().is_some()
    }

    /// The series of which no size was answered, with the smallest that was asked for.
    pub fn silent(&self) -> impl Iterator<Item = (&SeriesKey, u64)> {
        let silent = self.waited.iter().filter(|(key, _)| !self.known.contains_key(key));
        silent.map(|(key, (smallest, _))| (key, *smallest))
    }

    /// Why there is no answer to wait for at `size`: there was none at a smaller one.
    fn in_vain(&self, key: &SeriesKey, size: u64) -> Option<Missing> {
        let (smaller, waited_ns) = self.waited.get(key).filter(|(smaller, _)| *smaller < size)?;
        let seconds = *waited_ns as f64 / 1e9;
        Some(Missing::new(
            format!("not asked: there was no answer at size {} within {seconds:.0} s", count(*smaller)),
            LONG_OR_STUCK,
        ))
    }

    /// The wall ns that one iteration at `size` may take, where that is longer than an answer may
    /// take.
    fn too_long(&self, key: &SeriesKey, size: u64, timeout_ns: u64) -> Option<f64> {
        breaks_budget(self.known.get(key)?, size, timeout_ns as f64)
    }

    /// What one answer of each row of a cell takes at least, in nanoseconds: as much a task as at
    /// the largest size that was measured. `None` where none of them will be asked.
    pub fn least_ns(&self, cell: &Cell, timeout_ns: u64) -> Option<u64> {
        let size = cell.size;
        let asked = cell.measured().map(|row| &row.record.key.series).filter(|key| {
            self.in_vain(key, size).is_none() && self.too_long(key, size, timeout_ns).is_none()
        });
        let of = |key: &SeriesKey| {
            let (largest, ns) = self.largest(key)?;
            Some((ns * size as f64 / largest.max(1) as f64) as u64)
        };
        asked.map(|key| of(key).unwrap_or(0)).reduce(u64::saturating_add)
    }

    /// The largest size of a series that was measured, with the wall ns of one iteration.
    pub fn largest(&self, key: &SeriesKey) -> Option<(u64, f64)> {
        self.known.get(key)?.iter().copied().max_by_key(|(size, _)| *size)
    }

    /// What is known of each measured row of a cell.
    pub fn known(&self, cell: &Cell) -> Vec<Known> {
        let of = |key: &SeriesKey| {
            let smaller = self.known.get(key)?.iter().filter(|(size, _)| *size < cell.size);
            smaller.max_by_key(|(size, _)| *size).map(|(_, ns)| *ns)
        };
        let waits = |key: &SeriesKey| self.waits.get(key).is_some_and(|smaller| *smaller < cell.size);
        let known = |key: &SeriesKey| Known { iteration_wall_ns: of(key), waits: waits(key) };
        cell.measured().map(|row| known(&row.record.key.series)).collect()
    }

    pub fn skip_hopeless(&self, cell: &mut Cell, timeout_ns: u64) {
        let size = cell.size;
        for row in cell.measured_mut() {
            let key = &row.record.key.series;
            if let Some(why) = self.in_vain(key, size) {
                row.state = RowState::Skipped(why);
                continue;
            }
            let Some(feared_ns) = self.too_long(key, size, timeout_ns) else { continue };
            let reason = format!(
                "a sample at size {} may take {}{FORESEEN}; an answer may take {:.0} s",
                count(size),
                lasting(feared_ns / 1e9),
                timeout_ns as f64 / 1e9
            );
            let remedy = match feared_ns <= BEARABLE_NS {
                true => format!("raise --timeout above {:.0} s", (feared_ns / 1e9).ceil()),
                false => "name smaller sizes with --size".to_owned(),
            };
            row.state = RowState::Skipped(Missing::new(reason, remedy));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlannedRow;
    use taskscale_model::{answer::Rule, key::RowKey, run_file::RowRecord};

    /// A cell of one row at this size.
    fn cell(size: u64) -> Cell {
        let record = RowRecord {
            row: 0,
            key: RowKey { size, ..RowKey::default() },
            creates_task: None,
            jit: false,
            settle_ms: None,
            units: None,
            sweep: None,
            role: Role::Row,
            baseline: None,
        };
        let rows = vec![PlannedRow { record, state: RowState::Ready, max_size: None }];
        Cell { table: String::new(), size, rule: Rule::Count, splits: false, rows }
    }

    #[test]
    fn a_size_that_memory_does_not_hold_is_not_tried() {
        let mut forecast = Forecast::default();
        let resident = |before, waiting| vec![Some(Resident { before, waiting })];
        let why = |forecast: &Forecast, size, free| {
            let mut cell = cell(size);
            forecast.skip_too_large(&mut cell, free);
            match cell.rows.remove(0).state {
                RowState::Skipped(missing) => Some(missing.reason),
                _ => None,
            }
        };
        assert_eq!(why(&forecast, 1 << 40, Some(1)), None, "nothing is known");
        forecast.learn_held(&cell(1_000), &resident(10_000_000, 16_000_000));
        // 6,000 bytes a task: 16 MB and 54 MB more, times 1.5.
        assert_eq!(why(&forecast, 10_000, Some(105_000_000)), None);
        assert!(why(&forecast, 10_000, Some(104_999_999)).is_some());
        assert_eq!(why(&forecast, 10_000, None), None, "what is free is not known");
        // What the first thousand brought once is no part of a task: 1,000 bytes each.
        forecast.learn_held(&cell(10_000), &resident(10_000_000, 25_000_000));
        let said = why(&forecast, 10_000_000, Some(1 << 30)).expect("10 GB do not fit");
        let words = "10,000,000 tasks may take 14.0 GiB while they are made, by 1,000 bytes a task so far; \
                     1.0 GiB are free";
        assert_eq!(said, words);
        assert_eq!(why(&forecast, 100_000, Some(1 << 30)), None);
    }

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
