//! What the CPU time of a task goes to: creation, running and joining, the collector.
//!
//! No clock tells a collector's time apart from that of the code that it interrupts. A row without
//! the collector does, where it does the same work: its ratio to the row with it, paired by round,
//! is what is left.

use taskscale_model::{
    missing::Reading,
    params::label,
    run_file::{Role, Time},
    suite::{Block, SplitOf},
    summary::{CostParts, Interval, Row, Split, Splits},
};
use taskscale_stats::quantile::{median, sorted};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost, ratio},
};
use crate::read::Run;

/// What a probe tells of the collections of an iteration, by generation.
const COLLECTIONS: &str = "gc_collections";

/// The block of a suite that a row's table comes from, if that is read as parts of a cost.
pub fn block<'r>(run: &'r Run, one: &RowSamples<'_>) -> Option<(&'r Block, &'r SplitOf)> {
    let block = run.block(&one.row.key)?;
    block.split.as_ref().map(|split| (block, split))
}

/// All tables that are read as parts of a cost, at each of their sizes: tables in the order of the
/// plan, the largest size of each first. `rows` are those of `samples`. O(rows^2) within a table.
pub fn of(run: &Run, samples: &[RowSamples<'_>], rows: &[Row]) -> Vec<Splits> {
    let mut groups: Vec<(&SplitOf, Vec<Measured<'_>>)> = Vec::new();
    for (one, row) in samples.iter().zip(rows).filter(|(one, _)| one.row.role != Role::Control) {
        let Some((_, split)) = block(run, one) else { continue };
        let measured = Measured { samples: one, row };
        match groups.iter_mut().find(|(_, group)| group[0].place() == measured.place()) {
            Some((_, group)) => group.push(measured),
            None => groups.push((split, vec![measured])),
        }
    }
    let mut tables: Vec<Splits> = groups
        .iter()
        .map(|(split, group)| table(split, group))
        .filter(|table| !table.rows.is_empty())
        .collect();
    for at in 0..tables.len() {
        let same = tables[at..].iter().take_while(|other| other.table == tables[at].table).count();
        tables[at..at + same].sort_by_key(|table| std::cmp::Reverse(table.size));
    }
    tables
}

/// A row of the table, whether it has figures or not.
struct Measured<'a> {
    samples: &'a RowSamples<'a>,
    row: &'a Row,
}

impl Measured<'_> {
    fn place(&self) -> (&str, &str, u64) {
        let key = &self.row.key;
        (&key.suite, &key.table, key.size)
    }

    fn cost(&self) -> Option<Cost<'_>> {
        self.samples.is_ok().then(|| cost(self.samples, Time::Cpu)).flatten().filter(|cost| cost.ns > 0.0)
    }
}

fn table(split: &SplitOf, group: &[Measured<'_>]) -> Splits {
    let key = &group[0].row.key;
    let is_on = |one: &&Measured<'_>| !split.is_off(&one.row.key.runtime, &one.row.key.case);
    let mut rows: Vec<Split> =
        group.iter().filter(is_on).filter_map(|one| row(one, counterpart(split, one, group))).collect();
    // By the plain row of each variant, whose cases stand behind it.
    let plain: Vec<(String, String, f64)> = rows
        .iter()
        .filter(|row| row.case.is_empty())
        .map(|row| (row.runtime.clone(), row.variant.clone(), row.ns))
        .collect();
    let of_plain = |row: &Split| {
        let found =
            plain.iter().find(|(runtime, variant, _)| (runtime, variant) == (&row.runtime, &row.variant));
        found.map_or(f64::INFINITY, |(.., ns)| *ns)
    };
    rows.sort_by(|a, b| {
        let names = |row: &Split| (row.runtime.clone(), row.variant.clone(), row.case.clone());
        of_plain(a).total_cmp(&of_plain(b)).then_with(|| names(a).cmp(&names(b)))
    });
    Splits { suite: key.suite.clone(), table: key.table.clone(), size: key.size, rows }
}

/// The same row without the collector.
fn counterpart<'g, 'a>(
    split: &SplitOf,
    of: &Measured<'_>,
    group: &'g [Measured<'a>],
) -> Option<&'g Measured<'a>> {
    let named = |one: &'g Measured<'_>| (one.row.key.runtime.as_str(), &one.row.key.case);
    group.iter().find(|one| {
        one.row.key.variant == of.row.key.variant
            && split.is_counterpart(named(one), (&of.row.key.runtime, &of.row.key.case))
    })
}

fn row(one: &Measured<'_>, off: Option<&Measured<'_>>) -> Option<Split> {
    let cost = one.cost()?;
    let key = &one.row.key;
    Some(Split {
        runtime: key.runtime.clone(),
        variant: key.variant.clone(),
        case: if key.case.is_empty() { String::new() } else { label(&key.case) },
        ns: cost.ns,
        collections: collections(one.samples),
        parts: parts(&cost, off),
    })
}

fn parts(cost: &Cost<'_>, off: Option<&Measured<'_>>) -> Reading<CostParts> {
    let Some(off) = off else {
        return Reading::missing("its row without the collector is not part of the run", "measure both");
    };
    let Some(without) = off.cost() else {
        let why = off.row.missing().map_or_else(|| "it has no figures".to_owned(), |why| why.reason.clone());
        return Reading::missing(format!("its row without the collector: {why}"), "");
    };
    let (Some(left), ci) = ratio(&without, cost, Time::Cpu) else {
        return Reading::missing("its row without the collector took no time that the clock saw", "");
    };
    let create =
        off.row.figures().and_then(|figures| figures.create_cpu).map(|create| 100.0 * create.p50 * left);
    Reading::Value(CostParts {
        collector: 100.0 * (1.0 - left),
        collector_ci: ci.map(|Interval(low, high)| Interval(100.0 * (1.0 - high), 100.0 * (1.0 - low))),
        create,
        rest: 100.0 * left - create.unwrap_or(0.0),
    })
}

/// Collections of an iteration by generation: medians over the samples that tell them.
fn collections(samples: &RowSamples<'_>) -> Vec<f64> {
    let told = samples.phases.iter().filter_map(|sample| {
        let counts = sample.extra.get(COLLECTIONS)?.as_array()?;
        let counts: Option<Vec<f64>> = counts.iter().map(serde_json::Value::as_f64).collect();
        Some(counts?.into_iter().map(|count| count / sample.iterations as f64).collect())
    });
    let told: Vec<Vec<f64>> = told.collect();
    let generations = told.iter().map(Vec::len).max().unwrap_or(0);
    (0..generations)
        .filter_map(|at| {
            let of_it: Vec<f64> = told.iter().filter_map(|counts| counts.get(at).copied()).collect();
            median(&sorted(&of_it))
        })
        .collect()
}
