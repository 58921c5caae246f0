//! Cold and settled figures: what the first sample of a fresh process cost, and which processes
//! were timed too early.

use std::collections::BTreeSet;

use taskscale_model::{
    run_file::{Kind, Time},
    summary::{Row, Settled},
};
use taskscale_stats::warmup::has_levelled;

use super::samples::RowSamples;
use taskscale_model::figure::count;

/// Process and CPU ns per task of the first sample of each cold process. The first process of a row
/// is not cold: it was verified and piloted. Neither is one that has worked at smaller sizes.
pub fn cold(one: &RowSamples<'_>) -> (Vec<u64>, Vec<f64>) {
    let fresh = one.starts.iter().filter(|start| start.first.kind == Kind::Warmup && !start.first.carried);
    fresh.map(|start| (start.process, start.first.per_task(Time::Cpu))).unzip()
}

/// How many of the timed processes had levelled off, by the rule that ended their warm-up. Only
/// code of a JIT compiler is judged, and none before the work that its probe asks for. Other code
/// has at most three warm-up samples in later processes, too few to tell.
pub fn settled(one: &RowSamples<'_>) -> Option<Settled> {
    if !one.row.jit {
        return None;
    }
    let timed: BTreeSet<u64> = one.processes().into_iter().collect();
    let levelled = |process: &u64| {
        one.starts.iter().find(|start| start.process == *process).is_some_and(|start| {
            let costs: Vec<f64> = start.unsettled.iter().map(|sample| sample.per_task(Time::Cpu)).collect();
            // A hostile file holds times whose sum does not fit.
            let worked = start.unsettled.iter().map(|sample| sample.cpu_ns);
            let worked_ns = worked.fold(0, u64::saturating_add);
            let asked_ns = one.row.settle_ms.unwrap_or(0).saturating_mul(1_000_000);
            worked_ns >= asked_ns && has_levelled(&costs)
        })
    };
    let processes = timed.iter().filter(|process| levelled(process)).count() as u64;
    Some(Settled { processes, of: timed.len() as u64 })
}

/// Says what to do about rows that were mostly timed too early.
pub fn note(rows: &[Row]) -> Option<String> {
    let early: Vec<(&Row, Settled)> = rows
        .iter()
        .filter_map(|row| Some((row, row.figures()?.settled?)))
        .filter(|(_, settled)| settled.mostly_not())
        .collect();
    let share = |settled: &Settled| settled.processes as f64 / settled.of as f64;
    let (worst, settled) = early.iter().min_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)))?;
    let rows = if early.len() == 1 { "1 row was".to_owned() } else { format!("{} rows were", early.len()) };
    Some(format!(
        "not settled: {rows} mostly timed before the cost of their fresh processes had levelled off; worst: {} {} at {}, \
         {} of {} processes had: raise --max-time, or run fewer rows",
        worst.key.runtime,
        worst.key.variant,
        count(worst.key.size),
        settled.processes,
        settled.of
    ))
}
