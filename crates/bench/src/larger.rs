//! Sizes beyond the plan, where time is left: growth that is steep at the largest size is not shown
//! to last there, growth that is steep in few steps may be memory that outgrows the caches, and
//! where iterations are long few of the planned sizes can be measured.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::key::SeriesKey;
use taskscale_stats::growth::{Grade, Growth, MIN_OCTAVES, MIN_SIZES, Reason, SUPERLINEAR_MIN, over_octaves};

use crate::{
    forecast::Forecast,
    graded::FIRST,
    plan::{Cell, PlannedRow, RowState},
};

/// Answers of one process at one size: warm-up, the timed one, and at times the share of creation.
const ANSWERS: f64 = 4.0;

/// Octaves (doublings) up to the largest size from which on steep growth needs no further size. n
/// steps through memory that outgrows the caches are steep over three to six octaves, and n^2.0
/// over three of them; behind them they have n^1.2 to n^1.4.
const STEEP_OCTAVES: f64 = 8.0;

/// How often sizes are added: each time three octaves at most, and the growth is looked at again.
/// From the fourth time on sizes lie nine octaves above those of the plan, 500 times as large.
pub(crate) const TIMES: usize = 3;

/// How many times as long as an answer is expected to take it may be waited for.
const CAREFUL: f64 = 2.0;

/// What is left for further sizes of one series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub ns: u64,
    /// What a process takes to come up.
    pub up_ns: u64,
    /// How long one sample lasts at least.
    pub sample_ns: u64,
    /// How long an answer is waited for.
    pub timeout_ns: u64,
}

/// The sizes that would show whether growth lasts ([`Growth::further`]), as many as fit into what
/// is left; where too few were measured, the four octaves below the largest, since that itself may
/// be too dear for a grade. An iteration of it, `largest`, took so many nanoseconds. Sizes that are
/// `known` are measured already.
fn sizes(growth: &Growth, largest: (u64, f64), known: &BTreeSet<u64>, left: Left) -> Vec<u64> {
    let (most, most_ns) = largest;
    let steep = growth.steps.iter().rev().take_while(|step| step.exponent > SUPERLINEAR_MIN);
    let steep_octaves: f64 = steep.map(|step| (step.to as f64 / step.from as f64).log2()).sum();
    let wanted: Vec<u64> = match growth.grade {
        Grade::CannotTell(Reason::TooFewSizes { .. } | Reason::TooNarrow { .. }) => {
            // Where sizes are enough and processes are not, more sizes are no help.
            let largest = if known.len() < MIN_SIZES { Some(&most) } else { growth.sizes.last() };
            let Some(largest) = largest else { return Vec::new() };
            (1..=MIN_OCTAVES as u32 + 1)
                .rev()
                .map(|octave| largest >> octave)
                .filter(|size| *size > 0)
                .collect()
        }
        Grade::Superlinear | Grade::QuadraticOrWorse
            if steep_octaves < STEEP_OCTAVES || growth.may_be_collector() =>
        {
            over_octaves(most / 2)
        }
        _ => growth.further(most),
    };
    let iteration_ns = |size: u64| most_ns * (size as f64 / most.max(1) as f64).powf(growth.goes_on());
    let takes_ns = |size: &u64| {
        let sample_ns = iteration_ns(*size).max(left.sample_ns as f64);
        FIRST as f64 * (left.up_ns as f64 + ANSWERS * sample_ns)
    };
    let wanted: Vec<u64> = wanted
        .into_iter()
        .filter(|size| !known.contains(size))
        .filter(|size| CAREFUL * iteration_ns(*size) <= left.timeout_ns as f64)
        .collect();
    // All of them, else as many as fit of those that are larger than what is known, else those
    // between.
    let (beyond, between): (Vec<u64>, Vec<u64>) = wanted.iter().partition(|size| **size > most);
    let fits = |sizes: &&[u64]| sizes.iter().map(takes_ns).sum::<f64>() <= left.ns as f64;
    let larger = (1..=beyond.len()).rev().map(|count| &beyond[..count]);
    let choices = [&*wanted].into_iter().chain(larger).chain([&*between]);
    choices.into_iter().find(fits).unwrap_or_default().to_vec()
}

/// Four sizes below `smallest`, at which no answer came: down to a sixteenth of it.
fn below(smallest: u64) -> Vec<u64> {
    (1..=MIN_SIZES).rev().map(|halvings| smallest >> halvings).filter(|size| *size > 0).collect()
}

/// The further sizes of each series that needs some, by what is known of its growth, beyond those
/// of `cells`. Where not even the smallest size was answered they are smaller ones.
pub(crate) fn of(
    growths: &[(&SeriesKey, Growth)],
    cells: &[&Cell],
    forecast: &Forecast,
    left: Left,
) -> BTreeMap<SeriesKey, Vec<u64>> {
    let sizes_of = |key: &SeriesKey| {
        let has = |cell: &&&Cell| cell.measured().any(|row| row.record.key.series == *key);
        cells.iter().filter(has).map(|cell| cell.size).collect()
    };
    let known = growths.iter().filter_map(|(key, growth)| {
        Some(((*key).clone(), sizes(growth, forecast.largest(key)?, &sizes_of(key), left)))
    });
    let silent = forecast.silent().map(|(key, smallest)| (key.clone(), below(smallest)));
    known.chain(silent).filter(|(_, sizes)| !sizes.is_empty()).collect()
}

/// Cells of these sizes, in the order of their tables and sizes, with the rows of the series that
/// they are for, made from `cells` of the plan. Rows are numbered from `next` on.
pub(crate) fn cells(cells: &[&Cell], of: &BTreeMap<SeriesKey, Vec<u64>>, next: &mut u64) -> Vec<Cell> {
    let mut wanted: BTreeMap<(&str, u64), Vec<&PlannedRow>> = BTreeMap::new();
    let mut rules: BTreeMap<&str, &Cell> = BTreeMap::new();
    for (series, sizes) in of {
        let rows = cells
            .iter()
            .filter_map(|cell| Some((*cell, cell.measured().find(|row| row.record.key.series == *series)?)));
        let Some((cell, row)) = rows.max_by_key(|(cell, _)| cell.size) else { continue };
        rules.insert(&cell.table, cell);
        for size in sizes.iter().filter(|size| row.max_size.is_none_or(|most| **size <= most)) {
            wanted.entry((&cell.table, *size)).or_default().push(row);
        }
    }
    let made = wanted.into_iter().filter_map(|((table, size), rows)| {
        let Cell { rule, splits, .. } = rules.get(table)?;
        let first = *next;
        *next += rows.len() as u64;
        let numbers: BTreeMap<u64, u64> = rows.iter().map(|row| row.record.row).zip(first..).collect();
        let row = |row: &&PlannedRow| {
            let mut record = row.record.clone();
            record.row = *numbers.get(&record.row)?;
            record.key.size = size;
            record.baseline = record.baseline.and_then(|number| numbers.get(&number).copied());
            Some(PlannedRow { record, state: RowState::Ready, max_size: row.max_size })
        };
        let rows = rows.iter().filter_map(row).collect();
        Some(Cell { table: table.to_owned(), size, rule: *rule, splits: *splits, rows })
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use taskscale_stats::growth::{self, Clock, SizeCost};

    use super::*;

    const MS: u64 = 1_000_000;

    /// Steep in the last step alone: not shown to last.
    fn steep() -> Growth {
        let cost = |n: u64| if n <= 16_384 { n as f64 } else { (n * n) as f64 / 16_384.0 };
        let totals: Vec<(u64, [f64; 8])> =
            [256, 1_024, 4_096, 16_384, 65_536].map(|size| (size, [cost(size); 8])).into();
        let costs: Vec<SizeCost<'_>> =
            totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
        growth::judge(&costs, Clock::Cpu, None, &mut fastrand::Rng::with_seed(1))
    }

    #[test]
    fn what_fits_of_three_octaves_is_measured_besides() {
        let growth = steep();
        let left = |ns: u64| Left { ns, up_ns: 100 * MS, sample_ns: 10 * MS, timeout_ns: 60_000 * MS };
        // An iteration takes 100 ms at 65,536: 25 ms at 32,768 and 400 ms at 131,072.
        let known: BTreeSet<u64> = growth.sizes.iter().copied().collect();
        let of = |ns| sizes(&growth, (65_536, 100e6), &known, left(ns));
        assert_eq!(of(8 * (200 + 4 * 425) * MS), [32_768, 131_072]);
        assert_eq!(of(8 * (200 + 4 * 425) * MS - MS), [131_072], "the larger tells more");
        let more = Left { timeout_ns: u64::MAX, ..left(8 * (200 + 4 * 2_000) * MS) };
        assert_eq!(sizes(&growth, (131_072, 400e6), &known, more), [262_144], "one of two larger ones fits");
        assert_eq!(of(8 * (100 + 4 * 400) * MS - MS), [32_768]);
        assert_eq!(of(8 * (100 + 4 * 25) * MS - MS), [0; 0]);
        let hasty = Left { timeout_ns: 799 * MS, ..left(u64::MAX) };
        assert_eq!(sizes(&growth, (65_536, 100e6), &known, hasty), [32_768], "an answer might take too long");
        let kinds = Growth { grade: Grade::CannotTell(Reason::TwoKinds { spread: 3.0 }), ..growth.clone() };
        assert_eq!(
            sizes(&kinds, (65_536, 100e6), &known, Left { timeout_ns: u64::MAX, ..left(u64::MAX) }),
            [131_072, 262_144, 524_288],
            "growth that lasts is larger than what processes differ by"
        );
        let few = Growth {
            grade: Grade::CannotTell(Reason::TooFewSizes { usable: 2, left_out: 5 }),
            sizes: vec![16, 64],
            ..growth.clone()
        };
        let two = [16, 64].into();
        assert_eq!(sizes(&few, (64, 100e6), &two, left(u64::MAX)), [4, 8, 32], "four octaves below");
        let none = Growth { sizes: vec![], ..few };
        assert_eq!(sizes(&none, (64, 100e6), &[4, 8, 16, 64].into(), left(u64::MAX)), [0; 0]);
        let linear = Growth { grade: Grade::Linear, ..growth };
        assert_eq!(sizes(&linear, (65_536, 100e6), &known, left(u64::MAX)), [0; 0]);
    }

    #[test]
    fn what_a_collector_could_have_is_measured_further() {
        let of = |exponent: f64| {
            let all: Vec<(u64, [f64; 8])> = (2..9)
                .map(|at| 4_u64.pow(at))
                .map(|size| (size, [(size as f64).powf(exponent); 8]))
                .collect();
            let costs: Vec<SizeCost<'_>> =
                all.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
            let growth = growth::judge(&costs, Clock::Cpu, None, &mut fastrand::Rng::with_seed(1));
            assert!(growth.grade.is_superlinear());
            let left = Left { ns: u64::MAX, up_ns: 0, sample_ns: 0, timeout_ns: u64::MAX };
            sizes(&growth, (65_536, 1e6), &growth.sizes.iter().copied().collect(), left)
        };
        assert_eq!(of(1.5), [32_768, 131_072, 262_144]);
        assert_eq!(of(1.65), [0; 0], "twelve octaves of steep growth need no further size");
    }

    #[test]
    fn cells_have_the_rows_that_need_them_with_numbers_of_their_own() {
        let row = |number: u64, variant: &str, size: u64, baseline: Option<u64>| {
            let record = serde_json::from_value(serde_json::json!({
                "row": number, "suite": "t", "table": "t", "workload": "w", "runtime": "r", "version": "1",
                "variant": variant, "size": size, "creates_task": true, "role": "row", "baseline": baseline,
            }));
            let max_size = (variant == "b").then_some(100);
            PlannedRow { record: record.expect("a row"), state: RowState::Ready, max_size }
        };
        let cell = |size, first| Cell {
            table: "t".into(),
            size,
            rule: taskscale_model::answer::Rule::Agree,
            splits: false,
            rows: vec![row(first, "a", size, None), row(first + 1, "b", size, Some(first))],
        };
        let plan = [cell(16, 0), cell(64, 2)];
        let key = |at: usize| plan[1].rows[at].record.key.series.clone();
        let of = [(key(0), vec![32, 128]), (key(1), vec![32, 128])].into();
        let made = cells(&plan.iter().collect::<Vec<_>>(), &of, &mut 4);
        let rows = |cell: &Cell| -> Vec<(u64, Option<u64>)> {
            cell.rows.iter().map(|row| (row.record.row, row.record.baseline)).collect()
        };
        assert_eq!(made.iter().map(|cell| cell.size).collect::<Vec<_>>(), [32, 128]);
        assert_eq!(rows(&made[0]), [(4, None), (5, Some(4))]);
        assert_eq!(rows(&made[1]), [(6, None)], "b bears 100 at most");
        assert_eq!(made[1].rows[0].record.key.size, 128);
    }
}
