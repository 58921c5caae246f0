//! Where ready times are known, idle time needs no guess: either no task waits, or one does.

use taskscale_model::{
    digest::{Queue, QueueShares, no_ready_times},
    missing::Reading,
};

use crate::{accumulator::Accumulator, finish::quantiles_of, profile::Profile, waits::Waits};

/// The share of tasks with a ready time from which idle time is divided. Of others, any number may
/// wait unseen.
const ENOUGH: f64 = 0.9;
/// The fewest points of the window: a share is then within 18 % of *workers x window*, by two
/// standard errors.
const POINTS: u64 = 32;

/// Flows without a task, as a share of all, up to which those of the others stand for all.
const LOST: f64 = 0.1;

/// Reads a settled accumulator, whose source has `untold` flows that tell no ready time. O(points).
pub fn queue(sums: &Accumulator, profile: &Profile, untold: u64) -> Reading<Queue> {
    let Some(waits) = &sums.waits else { return no_ready_times() };
    let flows = untold + waits.delays.count();
    if untold as f64 > LOST * flows as f64 {
        return Reading::missing(
            format!(
                "of {flows} flows {untold} were not found to end in a task, and the others are no sample"
            ),
            "write each end of a flow beside its slice, or sort the file by time",
        );
    }
    let count = waits.delays.count() as f64;
    let tasks = sums.sums.durations.count() as f64;
    let nested: u64 = sums.active().map(|(_, worker)| worker.nested).sum();
    // A task that another one calls waits in no queue.
    let queued = (tasks - nested as f64).max(1.0);
    let known = (count / tasks.max(1.0)).min(1.0);
    let timed = waits.timed as f64;
    let shares = if timed < ENOUGH * count {
        // One wait that stands for 16 is there for a sixteenth of the time and then 16 times.
        Reading::missing(
            format!(
                "one in {:.0} tasks was timed, and whether none waits is seen of all only",
                count / timed
            ),
            "time every task: the observer's `exact`",
        )
    } else if count < ENOUGH * queued {
        Reading::missing(
            format!(
                "ready times of {:.0} % of the tasks are known, and others may wait unseen",
                known * 100.0
            ),
            "observe only tasks that tell theirs; in a trace choose these by --cat or --name",
        )
    } else {
        shares(sums, profile, waits)
    };
    Reading::Value(Queue { delay: quantiles_of(&waits.delays), known, shares })
}

fn shares(sums: &Accumulator, profile: &Profile, waits: &Waits) -> Reading<QueueShares> {
    let counts = waits.counts();
    let (mut points, mut starved, mut dispatch, mut saturated) = (0u64, 0u64, 0u64, 0u64);
    for (_, cell) in sums.sums.grid.cells() {
        let in_window = profile.start <= cell.at && cell.at - profile.start < profile.window as i64;
        let Some(waiting) = counts.at(cell.at).filter(|_| in_window) else { continue };
        let idle = profile.workers.saturating_sub(u64::from(cell.busy));
        points += 1;
        dispatch += idle.min(waiting);
        starved += idle.saturating_sub(waiting);
        saturated += u64::from(idle == 0 && waiting > 0);
    }
    if points < POINTS {
        return Reading::missing(
            "tasks became ready so long before the first start that the window is too short a part of it",
            "record from when the tasks are submitted",
        );
    }
    // Time in tasks is known exactly, and how the rest is divided from the points.
    let total = profile.workers as f64 * profile.window as f64;
    let rest = (1.0 - sums.busy() as f64 / total).max(0.0);
    let part = |share: u64| match starved + dispatch {
        0 => 0.0,
        all => rest * share as f64 / all as f64,
    };
    Reading::Value(QueueShares {
        // Without an idle point the rest is too little for the points to see.
        starved: if starved + dispatch == 0 { rest } else { part(starved) },
        dispatch: part(dispatch),
        saturated: saturated as f64 / points as f64,
    })
}
