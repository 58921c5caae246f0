//! Ranks rows against one reference.

use taskscale_model::{
    run_file::{Role, Time},
    summary::{Granularity, Interval, Metg, Quantity, Ranked, Ranking, Standing},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    quantile::{median, sorted},
};

use super::{
    super::{Options, samples::RowSamples},
    across, latencies, reaches, scales, shares, splits, streams, waits,
};
use crate::read::Run;

/// Two rows tie where the interval of their ratio contains 1 and ends within this share of it. A
/// wider one shows neither a difference nor that there is none.
pub const TIE: f64 = 0.1;

/// The efficiency at which smallest tasks are ranked.
const EFFICIENCY: f64 = 0.9;

/// A table of one series is about its sizes, if it has at least so many.
const SIZES: usize = 3;

/// The rows of one table at the size that is shown.
pub struct Table<'a> {
    pub size: u64,
    pub sizes: Vec<u64>,
    pub time: Time,
    /// The rows at `size`, the cheapest first.
    pub rows: Vec<Cost<'a>>,
    /// The rows of all sizes, series by series; empty unless they are what the table is about.
    pub by_size: Vec<Cost<'a>>,
}

/// A row and what it costs.
#[derive(Clone, Copy)]
pub struct Cost<'a> {
    pub samples: &'a RowSamples<'a>,
    pub ns: f64,
    pub ci: Option<Interval>,
}

/// All tables that have figures and ask which row is cheapest, in the order of the plan.
pub fn tables<'a>(run: &Run, samples: &'a [RowSamples<'a>]) -> Vec<Table<'a>> {
    let mut groups: Vec<Vec<&RowSamples<'a>>> = Vec::new();
    let elsewhere = |one: &RowSamples<'_>| {
        shares::block(run, one).is_some()
            || latencies::is_open(one)
            || reaches::param(run, &one.row.key).is_some()
            || scales::block(run, one).is_some()
            || across::block(run, one).is_some()
            || streams::block(run, one).is_some()
            || splits::block(run, one).is_some()
            || one.row.key.is_resident()
            || waits::is_one(one)
    };
    for one in samples.iter().filter(|one| is_ranked(one) && !elsewhere(one)) {
        let key = |one: &RowSamples<'a>| (one.row.key.suite.clone(), one.row.key.table.clone());
        match groups.iter_mut().find(|group| key(group[0]) == key(one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| table(group)).collect()
}

/// A control repeats its baseline; a row that makes no task is there to be compared with those that
/// do; a row of a sweep is raw material.
fn is_ranked(one: &RowSamples<'_>) -> bool {
    one.is_ok()
        && one.row.role != Role::Control
        && one.row.creates_task != Some(false)
        && one.row.sweep.is_none()
}

fn table<'a>(group: &[&'a RowSamples<'a>]) -> Table<'a> {
    let mut sizes: Vec<u64> = group.iter().map(|one| one.row.key.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rows_at = |size: u64| group.iter().filter(|one| one.row.key.size == size).count();
    // Of sizes with equally many rows the largest: there most tasks are alive.
    let size = sizes.iter().copied().max_by_key(|size| (rows_at(*size), *size)).unwrap_or_default();
    let all = group;
    let group: Vec<&'a RowSamples<'a>> = all.iter().filter(|one| one.row.key.size == size).copied().collect();
    // A probe without a CPU clock reports zero, and times of two kinds cannot be ranked.
    let untold = all.iter().any(|one| one.values(Time::Cpu).iter().all(|&ns| ns == 0.0));
    let time = if untold { Time::Wall } else { Time::Cpu };
    let mut rows: Vec<Cost<'a>> = group.into_iter().filter_map(|one| cost(one, time)).collect();
    rows.sort_by(|a, b| a.ns.total_cmp(&b.ns));
    let mut by_size = Vec::new();
    if rows.len() == 1 && sizes.len() >= SIZES {
        by_size.extend(all.iter().filter_map(|one| cost(one, time)));
        by_size.sort_by_key(|cost| {
            let key = &cost.samples.row.key;
            (&key.runtime, key.variant_and_case(), key.size)
        });
    }
    Table { size, sizes, time, rows, by_size }
}

/// The median cost of a row, if it has any.
pub fn cost<'a>(samples: &'a RowSamples<'a>, time: Time) -> Option<Cost<'a>> {
    let values = samples.values(time);
    Some(Cost { samples, ns: median(&sorted(&values))?, ci: samples.interval(time) })
}

/// The rankings of these tables. All refer to the row that the first of them refers to, where they
/// have it.
pub fn rankings(run: &Run, tables: &[Table<'_>], options: &Options) -> Vec<Ranking> {
    let mut named = None;
    let mut rankings = Vec::new();
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        let suite = &table.rows[0].samples.row.key.suite;
        let suite = run.header.suites.iter().find(|one| one.name == *suite);
        let named_by_suite = suite.map(|suite| suite.reference.as_slice()).unwrap_or_default();
        let first = run.runtimes.iter().find_map(|runtime| usual(table, &runtime.id));
        let reference = reference(table, options, named_by_suite, named.as_deref(), first);
        named = named.or_else(|| Some(name(reference)));
        rankings.push(ranking(table, reference));
    }
    rankings
}

fn name(cost: &Cost<'_>) -> String {
    format!("{}:{}", cost.samples.row.key.runtime, cost.samples.row.key.variant_and_case())
}

/// The usual way of a runtime in a table, which is its baseline, or its cheapest.
fn usual<'t, 'a>(table: &'t Table<'a>, runtime: &str) -> Option<&'t Cost<'a>> {
    let of_it = || table.rows.iter().filter(|cost| cost.samples.row.key.runtime == runtime);
    of_it().find(|cost| cost.samples.row.role == Role::Baseline).or_else(|| of_it().next())
}

/// The row that the others are divided by: the one that the user names; else the one of the table
/// before; else the baseline of all rows, if they have one in common; else the one that the suite
/// names; else the usual one of the runtime that is named first, so that a reader can say
/// beforehand which it is.
fn reference<'t, 'a>(
    table: &'t Table<'a>,
    options: &Options,
    of_suite: &[String],
    before: Option<&str>,
    first: Option<&'t Cost<'a>>,
) -> &'t Cost<'a> {
    let rows = &table.rows;
    let find = |wanted: &str| {
        let by = |is: &dyn Fn(&Cost<'_>) -> bool| rows.iter().find(|cost| is(cost));
        by(&|cost| name(cost) == wanted)
            .or_else(|| by(&|cost| cost.samples.row.key.full_name() == wanted))
            .or_else(|| by(&|cost| cost.samples.row.key.runtime == wanted))
    };
    let common = || {
        let number = rows.iter().find_map(|cost| cost.samples.row.baseline)?;
        let of_all =
            rows.iter().map(|cost| cost.samples.row).all(|row| row.baseline.unwrap_or(row.row) == number);
        rows.iter().find(|cost| of_all && cost.samples.row.row == number)
    };
    options
        .reference
        .as_deref()
        .and_then(find)
        .or_else(|| before.and_then(find))
        .or_else(common)
        .or_else(|| of_suite.iter().find_map(|name| find(name)))
        .or(first)
        .unwrap_or(&rows[0])
}

fn ranking(table: &Table<'_>, reference: &Cost<'_>) -> Ranking {
    let key = &reference.samples.row.key;
    let by_size = !table.by_size.is_empty();
    let rows = if by_size { &table.by_size } else { &table.rows };
    let rows = rows
        .iter()
        .map(|cost| {
            let key = &cost.samples.row.key;
            // Rows of two sizes are measured one after the other: nothing pairs.
            let is_reference = !by_size && cost.samples.row.row == reference.samples.row.row;
            let (ratio, ratio_ci) =
                if is_reference || by_size { (None, None) } else { ratio(cost, reference, table.time) };
            Ranked {
                runtime: key.runtime.clone(),
                variant: key.variant_and_case(),
                size: key.size,
                ns: cost.ns,
                ci: cost.ci,
                pooled: cost.samples.is_pooled(table.time),
                standing: if is_reference { Standing::Reference } else { standing(ratio_ci) },
                ratio,
                ratio_ci,
            }
        })
        .collect();
    Ranking {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: table.size,
        sizes: table.sizes.clone(),
        quantity: Quantity::PerTask(table.time),
        rows,
    }
}

/// The time of one row divided by that of another, paired by round, with its 95 % interval.
pub fn ratio(one: &Cost<'_>, other: &Cost<'_>, time: Time) -> (Option<f64>, Option<Interval>) {
    let rounds = one.samples.against(other.samples, time);
    let ci = rounds.paired(CONFIDENCE).map(|paired| Interval(paired.low, paired.high));
    // Rows of which no rounds pair still have medians.
    (rounds.ratio().or((other.ns > 0.0).then_some(one.ns / other.ns)), ci)
}

fn standing(ci: Option<Interval>) -> Standing {
    match ci {
        None => Standing::CannotTell,
        Some(Interval(_, high)) if high < 1.0 => Standing::Cheaper,
        Some(Interval(low, _)) if low > 1.0 => Standing::Dearer,
        Some(Interval(low, high)) if low >= 1.0 - TIE && high <= 1.0 + TIE => Standing::Tie,
        Some(_) => Standing::CannotTell,
    }
}

/// Whether smallest tasks are ranked by this one.
pub fn is_asked(metg: &Metg) -> bool {
    metg.time == Time::Cpu && metg.efficiency == EFFICIENCY
}

/// How small a task may be, for each table with sweeps. Sweeps are not paired, so there are no
/// ratios.
pub fn of_grains(granularity: &[Granularity]) -> Vec<Ranking> {
    let mut rankings: Vec<Ranking> = Vec::new();
    for one in granularity.iter().filter(|one| one.creates_task != Some(false)) {
        let Some(grains) = one.figures.value() else { continue };
        let metg = grains.metg.iter().find(|metg| is_asked(metg));
        let Some(grain) = metg.and_then(|metg| metg.grain.value()) else {
            continue;
        };
        let row = Ranked {
            runtime: one.key.runtime.clone(),
            variant: one.key.variant_and_case(),
            size: one.key.size,
            ns: grain.ns,
            ci: grain.low.zip(grain.high).map(|(low, high)| Interval(low, high)),
            pooled: false,
            standing: Standing::CannotTell,
            ratio: None,
            ratio_ci: None,
        };
        let same = |ranking: &&mut Ranking| {
            (&ranking.suite, &ranking.table, ranking.size) == (&one.key.suite, &one.key.table, one.key.size)
        };
        match rankings.iter_mut().find(same) {
            Some(ranking) => ranking.rows.push(row),
            None => rankings.push(Ranking {
                suite: one.key.suite.clone(),
                table: one.key.table.clone(),
                size: one.key.size,
                sizes: vec![one.key.size],
                quantity: Quantity::SmallestTask(EFFICIENCY),
                rows: vec![row],
            }),
        }
    }
    rankings.iter_mut().for_each(|ranking| ranking.rows.sort_by(|a, b| a.ns.total_cmp(&b.ns)));
    rankings
}
