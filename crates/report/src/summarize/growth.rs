//! Growth of each series over its sizes, in CPU time of one whole iteration.

use fastrand::Rng;
use taskscale_model::{
    run_file::{Role, RowRecord},
    summary::{Grade, Growth, Interval},
};
use taskscale_stats::{
    growth::{self, MAX_WIDTH, MIN_OCTAVES, MIN_ROUNDS, MIN_SIZES, Reason, SizeCost},
    independent::independent,
};

use super::series::{Metric, Series};
use crate::read::Run;

/// One entry per series that was planned at two sizes or more and measured at one or more, in the order of the plan. A
/// control is no series of its own: it repeats its baseline.
pub fn all(run: &Run, series: &[Series<'_>]) -> Vec<Growth> {
    let mut groups: Vec<Vec<&Series<'_>>> = Vec::new();
    for one in series.iter().filter(|one| one.row.role != Role::Control) {
        match groups.iter_mut().find(|group| same(group[0].row, one.row)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.retain(|group| {
        group.iter().any(|one| one.row.size != group[0].row.size) && group.iter().any(|one| one.is_ok())
    });
    // A fresh generator for each series: its interval does not depend on which others the run held.
    let mut all: Vec<Growth> =
        groups.iter().map(|group| entry(group, &mut Rng::with_seed(run.header.seed))).collect();
    isolate(&mut all);
    all
}

fn same(a: &RowRecord, b: &RowRecord) -> bool {
    (&a.suite, &a.table, &a.runtime, &a.variant, &a.case)
        == (&b.suite, &b.table, &b.runtime, &b.variant, &b.case)
}

fn entry(group: &[&Series<'_>], rng: &mut Rng) -> Growth {
    let totals: Vec<(u64, Vec<f64>)> = group
        .iter()
        .filter(|one| one.is_ok())
        .map(|one| {
            let totals: Vec<f64> = one.timed.iter().map(|sample| Metric::Cpu.per_iteration(sample)).collect();
            (one.row.size, independent(&one.processes(), &totals))
        })
        .collect();
    let costs: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    let found = growth::judge(&costs, rng);
    let judged = found.judged();
    let row = group[0].row;
    Growth {
        suite: row.suite.clone(),
        table: row.table.clone(),
        runtime: row.runtime.clone(),
        variant: row.variant.clone(),
        case: row.case.clone(),
        sizes: judged.map(|judged| judged.sizes.clone()).unwrap_or_default(),
        exponent: judged.map(|judged| judged.exponent),
        exponent_ci: judged.map(|judged| Interval(judged.interval.0, judged.interval.1)),
        grade: grade(found.grade),
        reason: reason(found.grade, costs.len()),
    }
}

fn grade(grade: growth::Grade) -> Grade {
    match grade {
        growth::Grade::Linear => Grade::Linear,
        growth::Grade::SoftGrowth => Grade::SoftGrowth,
        growth::Grade::Superlinear => Grade::Superlinear,
        growth::Grade::QuadraticOrWorse => Grade::QuadraticOrWorse,
        growth::Grade::NotJudged(_) => Grade::NotJudged,
    }
}

fn reason(grade: growth::Grade, measured: usize) -> Option<String> {
    let growth::Grade::NotJudged(reason) = grade else { return None };
    Some(match reason {
        Reason::TooFewSizes { left_out: 0, .. } => {
            format!("a grade needs {MIN_SIZES} sizes, {measured} were measured")
        }
        Reason::TooFewSizes { usable, .. } => {
            format!(
                "a grade needs {MIN_SIZES} sizes with {MIN_ROUNDS} rounds each, {usable} of {measured} have them"
            )
        }
        Reason::TooNarrow { octaves } => {
            format!("a grade needs sizes over {MIN_OCTAVES:.0} octaves, these span {octaves:.1}")
        }
        Reason::TooNoisy { width } => {
            format!("too noisy: the interval of the exponent is {width:.2} wide, a grade needs {MAX_WIDTH}")
        }
    })
}

/// Superlinear growth is the fault of the form only where another form stays linear in the same runtime and table;
/// where none does, it may be that of the machine or the allocator, and the entry says so.
fn isolate(all: &mut [Growth]) {
    let linear: Vec<(String, String, String)> = all
        .iter()
        .filter(|growth| growth.grade == Grade::Linear)
        .map(|growth| (growth.suite.clone(), growth.table.clone(), growth.runtime.clone()))
        .collect();
    for growth in all {
        let superlinear = matches!(growth.grade, Grade::Superlinear | Grade::QuadraticOrWorse);
        let isolated = linear.iter().any(|(suite, table, runtime)| {
            (suite, table, runtime) == (&growth.suite, &growth.table, &growth.runtime)
        });
        if superlinear && !isolated {
            growth.reason =
                Some("growth seen, cause not isolated: no linear form of this runtime beside it".into());
        }
    }
}
