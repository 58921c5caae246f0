//! How throughput grows with a number of workers.

mod laws;

use taskscale_model::{
    run_file::{Role, Time},
    suite::ScaleOf,
    summary::{EachWorker, Interval, Scale, Scales},
};
use taskscale_stats::quantile::{median, sorted};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost, ratio},
};
use crate::read::Run;

/// How a row's table is read, if it is about a number of workers.
pub fn block<'r>(run: &'r Run, one: &RowSamples<'_>) -> Option<&'r ScaleOf> {
    run.block(&one.row.key)?.scale.as_ref()
}

/// A row with its number of workers, and the variant that its series has without that.
struct Counted<'a> {
    cost: Cost<'a>,
    variant: String,
    workers: u64,
}

/// All tables that ask this, at each of their sizes. O(rows^2) within a table.
pub fn of(run: &Run, samples: &[RowSamples<'_>]) -> Vec<Scales> {
    let mut groups: Vec<(&ScaleOf, Vec<Counted<'_>>)> = Vec::new();
    for one in samples.iter().filter(|one| one.is_ok() && one.row.role != Role::Control) {
        let Some(scale) = block(run, one) else { continue };
        let Some(counted) = counted(scale, one) else { continue };
        let place = |one: &Counted<'_>| {
            let key = &one.cost.samples.row.key;
            (key.suite.clone(), key.table.clone(), key.size)
        };
        match groups.iter_mut().find(|(_, rows)| place(&rows[0]) == place(&counted)) {
            Some((_, rows)) => rows.push(counted),
            None => groups.push((scale, vec![counted])),
        }
    }
    groups.iter().map(|(scale, rows)| table(run, scale, rows)).collect()
}

fn counted<'a>(scale: &ScaleOf, one: &'a RowSamples<'a>) -> Option<Counted<'a>> {
    let key = &one.row.key;
    let mut series = key.series.clone();
    series.case.remove(&scale.param);
    let cost = cost(one, Time::Wall).filter(|cost| cost.ns > 0.0)?;
    Some(Counted { cost, variant: series.variant_and_case(), workers: scale.workers(&key.params)? })
}

fn table(run: &Run, scale: &ScaleOf, rows: &[Counted<'_>]) -> Scales {
    let name = |one: &Counted<'_>| (one.cost.samples.row.key.runtime.clone(), one.variant.clone());
    let mut series: Vec<Vec<&Counted<'_>>> = Vec::new();
    for row in rows {
        match series.iter_mut().find(|known| name(known[0]) == name(row)) {
            Some(known) => known.push(row),
            None => series.push(vec![row]),
        }
    }
    let key = &rows[0].cost.samples.row.key;
    Scales {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: key.size,
        param: scale.param.clone(),
        unit: scale.unit.clone(),
        cpus: run.header.machine.cpus_usable.value().copied().filter(|_| scale.to_cpus),
        laws: laws::of(run, scale, &series),
        rows: series.into_iter().flat_map(of_series).collect(),
    }
}

/// The rows of a series beside the one with the fewest workers.
fn of_series(mut rows: Vec<&Counted<'_>>) -> Vec<Scale> {
    rows.sort_by_key(|row| row.workers);
    let base = rows[0];
    rows.into_iter().filter_map(|row| row_of(row, base)).collect()
}

fn row_of(row: &Counted<'_>, base: &Counted<'_>) -> Option<Scale> {
    let (times, ci) = match row.workers == base.workers {
        true => (1.0, None),
        false => {
            // Half the time is twice the tasks a second.
            let (ratio, ci) = ratio(&row.cost, &base.cost, Time::Wall);
            (1.0 / ratio?, ci.map(|Interval(low, high)| Interval(1.0 / high, 1.0 / low)))
        }
    };
    Some(Scale {
        runtime: row.cost.samples.row.key.runtime.clone(),
        variant: row.variant.clone(),
        workers: row.workers,
        base: base.workers,
        per_s: 1e9 / row.cost.ns,
        times,
        ci,
        efficiency: times * base.workers as f64 / row.workers as f64,
        cpu_ns: median(&sorted(&row.cost.samples.values(Time::Cpu)))?,
        each: each(row.cost.samples),
    })
}

/// What each worker did, where the probe tells it of all samples.
fn each(samples: &RowSamples<'_>) -> Option<EachWorker> {
    let of = |workers: &Vec<(u64, u64)>| {
        let all: u64 = workers.iter().map(|(tasks, _)| tasks).fold(0, |sum, one| sum.saturating_add(*one));
        // Where tasks are few some workers have none, and no speed.
        let speeds = || workers.iter().filter(|(tasks, wall_ns)| *tasks > 0 && *wall_ns > 0);
        let speeds = || speeds().map(|(tasks, wall_ns)| *tasks as f64 * 1e9 / *wall_ns as f64);
        let shares = || workers.iter().map(|(tasks, _)| *tasks as f64 / all.max(1) as f64);
        Some(EachWorker {
            slowest_per_s: speeds().reduce(f64::min)?,
            fastest_per_s: speeds().reduce(f64::max)?,
            least_share: shares().reduce(f64::min)?,
            most_share: shares().reduce(f64::max)?,
        })
    };
    let told: Option<Vec<EachWorker>> = samples.timed.iter().map(|sample| of(&sample.workers()?)).collect();
    let told = told?;
    let middle = |of: fn(&EachWorker) -> f64| median(&sorted(&told.iter().map(of).collect::<Vec<_>>()));
    Some(EachWorker {
        slowest_per_s: middle(|one| one.slowest_per_s)?,
        fastest_per_s: middle(|one| one.fastest_per_s)?,
        least_share: middle(|one| one.least_share)?,
        most_share: middle(|one| one.most_share)?,
    })
}
