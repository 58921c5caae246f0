//! What one thing costs under several settings.

use taskscale_model::{
    run_file::{Role, Time},
    suite::AcrossOf,
    summary::{Across, AcrossCell, AcrossRow, Interval},
};
use taskscale_stats::quantile::{median, sorted};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost, ratio},
};
use crate::{grouped, read::Run};

/// How a row's table is read, if it is about several settings and the row has one of them. With a
/// value of the user's own it has none, and is ranked as other rows are.
pub fn block<'r>(run: &'r Run, one: &RowSamples<'_>) -> Option<&'r AcrossOf> {
    let across = run.block(&one.row.key)?.across.as_ref()?;
    across.column(&one.row.key.params).map(|_| across)
}

/// A row with how its table is read, its column, and the variant that it has without what the
/// columns set.
struct Placed<'a> {
    across: &'a AcrossOf,
    cost: Cost<'a>,
    variant: String,
    column: usize,
}

/// All tables that ask this, at each of their sizes. O(rows log rows + rows x columns).
pub fn of(run: &Run, samples: &[RowSamples<'_>]) -> Vec<Across> {
    let rows = samples.iter().filter(|one| one.is_ok() && one.row.role != Role::Control);
    let rows = rows.filter_map(|one| placed(block(run, one)?, one));
    let place = |one: &Placed<'_>| {
        let key = &one.cost.samples.row.key;
        (key.suite.clone(), key.table.clone(), key.size)
    };
    grouped(rows, place).iter().map(|rows| table(rows)).collect()
}

fn placed<'a>(across: &'a AcrossOf, one: &'a RowSamples<'a>) -> Option<Placed<'a>> {
    let key = &one.row.key;
    let column = across.column(&key.params)?;
    let mut series = key.series.clone();
    series.case.retain(|name, _| !across.columns[column].params.contains_key(name));
    let cost = cost(one, Time::Cpu).filter(|cost| cost.ns > 0.0)?;
    Some(Placed { across, cost, variant: series.variant_and_case(), column })
}

fn table(placed: &[Placed<'_>]) -> Across {
    let across = placed[0].across;
    let name = |one: &&Placed<'_>| (one.cost.samples.row.key.runtime.clone(), one.variant.clone());
    let series = grouped(placed, name);
    let has_rows = |column: &usize| placed.iter().any(|one| one.column == *column);
    let columns: Vec<usize> = (0..across.columns.len()).filter(has_rows).collect();
    let mut rows: Vec<AcrossRow> = series.iter().map(|series| row(across, &columns, series)).collect();
    let first = |row: &AcrossRow| {
        let at = row.cells.iter().position(Option::is_some).unwrap_or(usize::MAX);
        (at, row.cells.iter().flatten().next().map_or(f64::INFINITY, |cell| cell.cpu_ns))
    };
    rows.sort_by(|a, b| {
        let ((a, its), (b, others)) = (first(a), first(b));
        a.cmp(&b).then(its.total_cmp(&others))
    });
    let key = &placed[0].cost.samples.row.key;
    let rates = across.rates();
    Across {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: key.size,
        unit: across.unit.clone(),
        columns: columns.iter().map(|column| across.columns[*column].name.clone()).collect(),
        rates: columns.iter().filter_map(|column| rates.get(*column).copied()).collect(),
        rows,
    }
}

/// A variant's cells beside its first.
fn row(across: &AcrossOf, columns: &[usize], series: &[&Placed<'_>]) -> AcrossRow {
    let of = |column: &usize| series.iter().find(|one| one.column == *column).copied();
    let base = columns.iter().find_map(of);
    let key = &series[0].cost.samples.row.key;
    AcrossRow {
        runtime: key.runtime.clone(),
        variant: series[0].variant.clone(),
        cells: columns.iter().map(|column| cell(across, of(column)?, base?)).collect(),
    }
}

fn cell(across: &AcrossOf, one: &Placed<'_>, base: &Placed<'_>) -> Option<AcrossCell> {
    let each = |ns: f64| ns / across.count as f64;
    let is_base = one.column == base.column;
    let (times, times_ci) = if is_base { (None, None) } else { ratio(&one.cost, &base.cost, Time::Cpu) };
    Some(AcrossCell {
        cpu_ns: each(one.cost.ns),
        cpu_ci: one.cost.ci.map(|Interval(low, high)| Interval(each(low), each(high))),
        wall_ns: each(median(&sorted(&one.cost.samples.values(Time::Wall)))?),
        times,
        times_ci,
    })
}
