//! Which changes are tried on a program.

use crate::{
    change::{Change, MOST_TASKS},
    execution::Execution,
    program::Program,
};

/// A change must be able to gain this much to be tried.
const HOPE: f64 = 1.02;
/// Most tasks that a tried split makes. It keeps a judgement short.
const TRIED: usize = MOST_TASKS / 2;

/// Executes the program with every sensible change. `take` is given each result, and returns its
/// speed-up.
pub(super) fn each(program: &Program, before: &Execution, mut take: impl FnMut(Change, &Execution) -> f64) {
    let alone = program.alone(before);
    let mut attempt = |change: Change| -> Option<f64> {
        let after = program.with_alone(&change, &alone)?.try_execute().ok()?;
        Some(take(change, &after))
    };
    // Changes of the machine or of what is to be done.
    for by in [4, 32] {
        attempt(Change::SpeedUpMaster { by });
    }
    attempt(Change::RemovePauses);
    attempt(Change::FreeCpus);
    attempt(Change::UnblockLoop);
    if let Some(cores) = program.machine.cores.filter(|cores| *cores < program.machine.workers) {
        attempt(Change::UseWorkers { count: cores });
    }
    // No other change beats all workers at work all the time.
    if before.time_ns as f64 <= bound(program) * HOPE {
        return;
    }
    for change in [
        Change::ShortenLock { by: 4 },
        Change::ShardLock { into: 8 },
        Change::OverlapAlone,
        Change::ShareQueue,
        Change::ContinueInsteadOfWait,
        Change::StartLongestFirst,
    ] {
        attempt(change);
    }
    let workers = u64::from(program.machine.workers);
    rising(&[2, 4, 16, 64, 256, 1024], |by| attempt(Change::BatchTasks { by }));
    if workers == 1 {
        // Pieces would wait for the same worker.
        return;
    }
    let queued = (0..program.tasks.len()).filter(|index| program.is_queued(*index)).count();
    let splits: Vec<u64> = [2, 4, 8, 32, 128, 512]
        .into_iter()
        .filter(|by| queued * *by as usize <= TRIED)
        .filter(|by| *by <= 2 || *by <= 8 * workers)
        .collect();
    rising(&splits, |by| attempt(Change::SplitTasks { by, name: None }));
    for name in top_names(program) {
        rising(&[4, workers.max(8)], |by| attempt(Change::SplitTasks { by, name: Some(name.clone()) }));
    }
    let pieces = [2, 4, workers, 4 * workers];
    rising(&pieces, |into| attempt(Change::SplitLongest { name: None, into }));
    if alone.contains(&true) {
        rising(&[4, workers, 4 * workers], |into| attempt(Change::SplitAlone { into }));
    }
}

/// Tries sizes in turn, until two in a row are worse than the best.
fn rising(sizes: &[u64], mut attempt: impl FnMut(u64) -> Option<f64>) {
    let (mut best, mut worse, mut last) = (0.0, 0, 0);
    for size in sizes.iter().copied().filter(|size| *size > 1) {
        if size <= last {
            continue;
        }
        last = size;
        let Some(speedup) = attempt(size) else { return };
        worse = if speedup > best { 0 } else { worse + 1 };
        best = speedup.max(best);
        if worse == 2 {
            return;
        }
    }
}

/// The time that the work takes where every worker works all the time.
fn bound(program: &Program) -> f64 {
    let machine = &program.machine;
    let speed: f64 = (0..machine.workers as usize).map(|worker| machine.speed(worker)).sum();
    let cores = machine.cores.map_or(speed, |cores| f64::from(cores).min(speed));
    program.work_ns() as f64 / cores
}

/// The names with most work, where there are several.
fn top_names(program: &Program) -> Vec<String> {
    if program.names.len() < 2 {
        return Vec::new();
    }
    let mut sums = vec![0; program.names.len()];
    for index in (0..program.tasks.len()).filter(|index| program.is_queued(*index)) {
        sums[usize::from(program.tasks[index].name)] += program.size(index);
    }
    let mut order: Vec<usize> = (0..sums.len()).filter(|name| sums[*name] > 0).collect();
    order.sort_by_key(|name| std::cmp::Reverse(sums[*name]));
    order.into_iter().take(3).map(|name| program.names[name].clone()).collect()
}

/// Whether half of the workers take the same time.
pub(super) fn fewer_workers_do(program: &Program, before: &Execution) -> bool {
    let machine = &program.machine;
    let half = machine.workers / 2;
    // What is done takes longer than that on half of the workers, whatever their order.
    if half == 0 || bound(program) * 2.0 > before.time_ns as f64 * 1.06 {
        return false;
    }
    let fewer = program.with_alone(&Change::UseWorkers { count: half }, &[]);
    fewer
        .and_then(|fewer| fewer.try_execute().ok())
        .is_some_and(|after| after.time_ns as f64 <= before.time_ns as f64 * HOPE)
}
