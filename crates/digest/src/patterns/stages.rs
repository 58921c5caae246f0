//! Stages of their own, told by names: what runs under a name that never runs beside others has to
//! run alone, however long its tasks are.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::Evidence;

/// Fewer points of a name may all be alone by chance.
const FEWEST: u64 = 16;
/// What all other names have of the points with a task at least. A program of one kind of task has
/// no stages.
const OTHERS: f64 = 0.2;

/// A stage comes again and again. The last task of all runs alone as well, and where each task has
/// a name of its own its name has no other.
const TASKS: u64 = 2;

/// Of the points with one active worker, the share that names have which hardly ever run beside
/// others. O(points log names).
pub(super) fn alone_by_name(evidence: &Evidence<'_>) -> f64 {
    let mut names: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for point in evidence.profile.seen.iter().filter(|point| point.busy > 0) {
        let (seen, alone) = names.entry(point.who.name).or_default();
        *seen += 1;
        *alone += u64::from(point.active == 1);
    }
    let again = evidence.sums.names.costliest().into_iter().filter(|name| name.tasks >= TASKS);
    let again: BTreeSet<u32> = again.map(|name| name.mark).collect();
    let all: u64 = names.values().map(|(seen, _)| seen).sum();
    let solo: u64 = names.values().map(|(_, alone)| alone).sum();
    let is_stage = |(mark, (seen, alone)): &(&u32, &(u64, u64))| {
        **mark != 0
            && again.contains(*mark)
            && *seen >= FEWEST
            && (*seen - *alone) as f64 <= evidence.thresholds.overlap * *seen as f64
            && (all - seen) as f64 >= OTHERS * all as f64
    };
    let of_stages: u64 = names.iter().filter(is_stage).map(|(_, (_, alone))| alone).sum();
    if solo > 0 { of_stages as f64 / solo as f64 } else { 0.0 }
}
