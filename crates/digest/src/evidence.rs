//! The evidence for a diagnosis.

use taskscale_model::digest::QueueShares;

use crate::{
    accumulator::Accumulator, calibrate::Dispatch, histogram::middle, profile::Profile, releases::Releases,
    thresholds::Thresholds, ticks::Ticks,
};

/// All quantities from which patterns are decided.
pub(crate) struct Evidence<'a> {
    pub thresholds: &'a Thresholds,
    pub sums: &'a Accumulator,
    pub profile: &'a Profile,
    pub dispatch: &'a Dispatch,
    /// Whether the spans were in order, so that gaps are known.
    pub ordered: bool,
    pub resolution_ns: u64,
    /// The share of *workers x window* that may have been a task's.
    pub unknown: f64,
    pub parent_self: Option<f64>,
    /// `None` where no CPU time of a task is known.
    pub blocked: Option<Blocked>,
    pub releases: Releases,
    /// The clock that sets when tasks begin; `None` where none is seen.
    pub ticks: Option<Ticks>,
    /// Whether the source may record an event loop.
    pub may_hold_loops: bool,
    /// What idle workers and waiting tasks had of each other; `None` where ready times are not
    /// known.
    pub queue: Option<QueueShares>,
}

/// Sources whose tasks are operators, kernels, build steps or tasks of a pool: one worker of these
/// is no event loop.
const WITHOUT_LOOPS: [&str; 10] =
    ["pytorch", "bazel", "clang", "ninja", "taskflow", "tfprof", "tfp", "ray", "ray-tasks", "dask"];

/// Whether a source of this format may record an event loop.
pub(crate) fn may_hold_loops(format: &str) -> bool {
    !WITHOUT_LOOPS.contains(&format)
}

/// Why workers are idle, where ready times tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleWhile {
    /// Hardly any task waits meanwhile.
    NothingWaits,
    /// Tasks wait nearly all the time: for the runtime, for a pause, or for other workers.
    TasksWait,
    /// Both, or ready times are not known.
    Unclear,
}

/// The shares of idle time in which a task waits, up to which none does and from which on they do.
/// In simulated programs hardly any lies between them: a queue that is empty has up to 0.2, a queue
/// that hands over slowly 0.9 and more, tasks that belong to one worker 0.5 and more.
const WAITING: (f64, f64) = (0.3, 0.6);

/// Time inside tasks in which they neither ran nor waited for a CPU, as shares of *workers x
/// window*.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocked {
    /// In spans that contain no others.
    pub leaves: f64,
    /// In spans that contain others, outside those; `None` where no CPU time of such a span is
    /// known. Live observers ask for that of tasks that contain no others.
    pub parents: Option<f64>,
    /// Whether this is known of all tasks. Otherwise it is a part.
    pub all_known: bool,
}

impl Evidence<'_> {
    /// What is known of all tasks about waiting inside them.
    pub fn all_blocked(&self) -> Option<Blocked> {
        self.blocked.filter(|blocked| blocked.all_known)
    }

    /// What is known of parents that neither run nor wait for a CPU.
    pub fn blocked_parents(&self) -> Option<f64> {
        self.blocked.and_then(|blocked| blocked.parents)
    }

    /// Whether tasks wait while workers are idle.
    pub fn idle_while(&self) -> IdleWhile {
        let Some(queue) = self.queue else { return IdleWhile::Unclear };
        let idle = queue.starved + queue.dispatch;
        let waiting = if idle > 0.0 { queue.dispatch / idle } else { 0.5 };
        if waiting <= WAITING.0 {
            IdleWhile::NothingWaits
        } else if waiting >= WAITING.1 {
            IdleWhile::TasksWait
        } else {
            IdleWhile::Unclear
        }
    }

    /// What is the runtime's of a share `dispatch` of *workers x window*: all but what observing
    /// took. The program does not lose that unobserved.
    pub fn runtimes(&self, dispatch: f64) -> f64 {
        let total = self.profile.workers as f64 * self.profile.window as f64;
        let observing = if total > 0.0 { self.dispatch.observer_ns as f64 / total } else { 0.0 };
        (dispatch - observing).max(0.0)
    }

    /// The share of the CPUs' time that the program leaves; 1 if it is not known, and where each
    /// worker may have a CPU: idle workers of some runtimes spin.
    pub fn cpus_free(&self) -> f64 {
        match self.sums.what_was_observed().cpus_used {
            Some((used, cpus)) if self.profile.workers > cpus => 1.0 - used,
            _ => 1.0,
        }
    }

    /// The number of gaps that are no hand-overs.
    pub fn pauses(&self) -> u64 {
        self.sums.sums.gaps.count().saturating_sub(self.dispatch.count)
    }

    /// The time in gaps that are no hand-overs.
    pub fn paused_ns(&self) -> u64 {
        self.sums.sums.gaps.sum().saturating_sub(self.dispatch.sum_ns)
    }

    /// How many tasks of each worker that ran lie in no other.
    pub fn steps(&self) -> impl Iterator<Item = u64> {
        self.sums.active().map(|(_, worker)| worker.tasks - worker.nested)
    }

    /// The mean of the longest tasks that ran while workers waited, weighted by waiting.
    pub fn longest_meanwhile(&self) -> f64 {
        let both: Vec<f64> = self
            .profile
            .solo_by_longest
            .iter()
            .zip(&self.profile.shared_by_longest)
            .map(|(solo, shared)| solo + shared)
            .collect();
        mean_bucket(&both)
    }
}

/// The mean duration of a distribution over buckets; 0 if it is empty.
pub(crate) fn mean_bucket(shares: &[f64]) -> f64 {
    let weight: f64 = shares.iter().sum();
    let sum: f64 = shares.iter().enumerate().map(|(index, share)| share * middle(index) as f64).sum();
    if weight > 0.0 { sum / weight } else { 0.0 }
}
