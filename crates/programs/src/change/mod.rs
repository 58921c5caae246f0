//! What a person may be advised to do, and what becomes of a program when it is done.
//!
//! | module | changes |
//! |---|---|
//! | `alone` | which tasks run while all other workers wait |
//! | `reshape` | tasks are split, and tasks are put together |
//! | `waits` | parents are continued, stages overlap, long steps leave an event loop |

mod alone;
mod reshape;
mod waits;

use crate::{
    machine::{Order, Queues},
    program::{Body, Place, Program, Role, Step},
};
pub(crate) use reshape::MOST_TASKS;

/// One piece of advice, carried out to the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Put that many consecutive independent tasks into one.
    BatchTasks { by: u64 },
    /// Split each task, or each of one name, into that many equal ones. Each pays for its start.
    /// Without a name, stages of one task stay as they are. Any worker takes the pieces.
    SplitTasks { by: u64, name: Option<String> },
    /// Split the longest tasks so that no piece is longer than the longest one divided by this.
    /// Any worker takes the pieces.
    SplitLongest { name: Option<String>, into: u64 },
    /// Of the tasks that wait, the longest goes first.
    StartLongestFirst,
    /// Split the tasks that run while all other workers wait. Any worker takes the pieces.
    SplitAlone { into: u64 },
    /// A stage of one task begins as soon as what it needs is there.
    OverlapAlone,
    /// Workers take tasks one by one from one queue; what was divided beforehand is taken apart.
    ShareQueue,
    /// Parents end where they would wait, and what is left of them follows their children.
    ContinueInsteadOfWait,
    /// The host does nothing between runs, and garbage is collected elsewhere.
    RemovePauses,
    /// Long steps of an event loop move to a thread of their own.
    UnblockLoop,
    /// Run on that many workers.
    UseWorkers { count: u32 },
    /// No other process takes a core, and every worker has one.
    FreeCpus,
    /// That part of each critical section needs the lock, and the rest is done outside of it.
    ShortenLock { by: u64 },
    /// That many locks in place of one.
    ShardLock { into: u32 },
    /// The master hands out that many tasks in the time of one.
    SpeedUpMaster { by: u64 },
}

impl Program {
    /// The program with this change and no other. None where the change means nothing, or makes
    /// more than 120,000 tasks.
    pub fn with(&self, change: &Change) -> Option<Program> {
        let alone = match change {
            Change::SplitAlone { .. } => self.alone(&self.try_execute().ok()?),
            _ => Vec::new(),
        };
        self.with_alone(change, &alone)
    }

    /// As `with`, for a caller that has seen which tasks run alone.
    pub(crate) fn with_alone(&self, change: &Change, alone: &[bool]) -> Option<Program> {
        match change {
            Change::BatchTasks { by } => self.merge(*by as usize),
            Change::SplitTasks { by, name: None } => {
                let only_alone =
                    self.tasks.iter().all(|task| task.place == Place::Host || task.role == Role::Alone);
                self.split(true, |index| {
                    let task = &self.tasks[index];
                    if task.role == Role::Alone && !only_alone { 1 } else { *by }
                })
            }
            Change::SplitTasks { by, name: Some(name) } => {
                let name = self.named(name)?;
                self.split(true, |index| if self.tasks[index].name == name { *by } else { 1 })
            }
            Change::SplitLongest { name, into } => self.split_longest(name.as_deref(), *into),
            Change::StartLongestFirst => {
                let mut changed = self.clone();
                changed.machine.order = Order::LongestFirst;
                (self.machine.order != Order::LongestFirst).then_some(changed)
            }
            Change::SplitAlone { into } => self.split(true, |index| if alone[index] { *into } else { 1 }),
            Change::OverlapAlone => self.changed(|task| {
                let loose = !task.loose.is_empty();
                task.loose.clear();
                loose
            }),
            Change::ShareQueue => self.share(),
            Change::ContinueInsteadOfWait => self.continued(),
            Change::RemovePauses => {
                let mut changed = self.clone();
                changed.machine.collection = None;
                for task in changed.tasks.iter_mut().filter(|task| task.role == Role::Pause) {
                    task.body = Body::Work(0);
                }
                (changed != *self).then_some(changed)
            }
            Change::UnblockLoop => self.unblocked(),
            Change::UseWorkers { count } => self.on_workers(*count),
            Change::FreeCpus => {
                let mut changed = self.clone();
                changed.machine.cores = None;
                changed.machine.preempted.clear();
                (changed.machine != self.machine).then_some(changed)
            }
            Change::ShortenLock { by } => self.shortened(*by),
            Change::ShardLock { into } => {
                let mut index = 0;
                self.changed(|task| {
                    index += 1;
                    on_steps(task, |step| match step {
                        Step::Lock { lock, .. } => {
                            *lock = *lock * into + index % into;
                            true
                        }
                        // Who reads needs one shard as well.
                        Step::Read { lock, .. } => {
                            *lock = *lock * into + index % into;
                            true
                        }
                        _ => false,
                    })
                })
            }
            Change::SpeedUpMaster { by } => self.changed(|task| {
                if let (Role::Toll, Body::Work(ns)) = (task.role, &mut task.body) {
                    *ns /= by;
                    return true;
                }
                on_steps(task, |step| match step {
                    Step::Spawn { cost_ns, .. } if *cost_ns > 0 => {
                        *cost_ns /= by;
                        true
                    }
                    _ => false,
                })
            }),
        }
    }

    /// Applies a change to each task. None where none takes it.
    fn changed(&self, mut change: impl FnMut(&mut crate::program::Task) -> bool) -> Option<Program> {
        let mut changed = self.clone();
        let mut any = false;
        for task in &mut changed.tasks {
            any |= change(task);
        }
        any.then_some(changed)
    }

    fn named(&self, name: &str) -> Option<u16> {
        self.names.iter().position(|known| known == name).map(|at| at as u16)
    }

    /// Unpins tasks, and takes apart what was divided beforehand.
    fn share(&self) -> Option<Program> {
        let parts = |index: usize| match &self.tasks[index].body {
            Body::Parts(parts) if matches!(self.tasks[index].place, Place::Pinned(_) | Place::Open) => {
                parts.len()
            }
            _ => 1,
        };
        let all: usize = (0..self.tasks.len()).map(parts).sum();
        // Where there are too many parts, some stay together.
        let together = all.div_ceil(MOST_TASKS / 2);
        let apart = self.split(true, |index| parts(index).div_ceil(together) as u64);
        let mut changed = apart.unwrap_or_else(|| self.clone());
        for task in changed.tasks.iter_mut().filter(|task| matches!(task.place, Place::Pinned(_))) {
            task.place = Place::Open;
        }
        if changed.tasks == self.tasks {
            return None;
        }
        changed.machine.queues = Queues::Shared;
        Some(changed)
    }

    fn on_workers(&self, count: u32) -> Option<Program> {
        let pins = |task: &crate::program::Task| match task.place {
            Place::Pinned(worker) => worker < count,
            _ => true,
        };
        if count == 0 || count == self.machine.workers || !self.tasks.iter().all(pins) {
            return None;
        }
        let mut changed = self.clone();
        changed.machine.workers = count;
        Some(changed)
    }

    fn shortened(&self, by: u64) -> Option<Program> {
        self.changed(|task| {
            let Body::Steps(steps) = &mut task.body else { return false };
            let mut any = false;
            *steps = std::mem::take(steps)
                .into_iter()
                .flat_map(|step| match step {
                    Step::Lock { lock, ns } => {
                        any = true;
                        [Some(Step::Compute(ns - ns / by)), Some(Step::Lock { lock, ns: ns / by })]
                    }
                    Step::Read { lock, ns } => {
                        any = true;
                        [Some(Step::Compute(ns - ns / by)), Some(Step::Read { lock, ns: ns / by })]
                    }
                    other => [Some(other), None],
                })
                .flatten()
                .collect();
            any
        })
    }
}

/// Applies a change to the steps of a task.
fn on_steps(task: &mut crate::program::Task, mut change: impl FnMut(&mut Step) -> bool) -> bool {
    let Body::Steps(steps) = &mut task.body else { return false };
    let mut any = false;
    for step in steps {
        any |= change(step);
    }
    any
}
