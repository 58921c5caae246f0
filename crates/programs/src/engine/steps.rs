//! What one worker does: it starts a task, goes through its steps, and ends it.

use crate::{
    draw::Draw,
    execution::Executed,
    program::{Body, Place, Step},
};

use super::{Engine, Event, Frame, Phase, locks::Claim, queues::Taken};

impl Engine<'_> {
    /// What it takes the worker to start this task.
    pub(super) fn cost(&mut self, worker: usize, taken: Taken) -> u64 {
        let dispatch = self.machine.dispatch;
        let origin = self.program.tasks[taken.task as usize].origin;
        let mut own = dispatch.own_ns;
        if dispatch.jitter > 0.0 && own > 0.0 {
            let varied = Draw::of(self.program.seed, origin).exponential(1.0);
            own *= 1.0 - dispatch.jitter + dispatch.jitter * varied;
        }
        own += dispatch.per_worker_ns * self.cores.running() as f64;
        if taken.stolen {
            own += dispatch.steal_ns;
        }
        if self.workers[worker].idle_since < self.now && self.workers[worker].phase == Phase::Idle {
            own += dispatch.wake_ns;
        }
        if dispatch.held_ns > 0.0 && (taken.shared || taken.stolen) {
            let served = self.queue_free.max(self.now as f64) + dispatch.held_ns;
            own += served - self.now as f64;
            self.queue_free = served;
        }
        own.round() as u64
    }

    /// Has a worker work this long, or longer where its core is shared or taken.
    pub(super) fn run(&mut self, worker: usize, work: u64) {
        let speed = self.machine.speed(worker);
        let wanted = if speed == 1.0 { work } else { (work as f64 / speed).round() as u64 };
        let state = &mut self.workers[worker];
        state.began = self.now;
        state.wanted = wanted;
        state.stopped = self.stopped;
        let now = self.cores.now();
        let end = match &mut state.turns {
            Some(turns) => turns.done(now, wanted),
            None => now + wanted,
        };
        self.cores.run_until(end, worker as u32);
        self.work_done += work;
    }

    /// A worker has done what `run` gave it.
    pub(super) fn finished(&mut self, worker: usize) {
        let state = &mut self.workers[worker];
        let elapsed = self.now - state.began - (self.stopped - state.stopped);
        state.cpu += state.wanted;
        state.delay += elapsed.saturating_sub(state.wanted);
        match state.phase {
            Phase::Starting(task) => {
                state.dispatch += elapsed;
                self.start(worker, task);
            }
            _ => self.step_done(worker),
        }
    }

    /// Begins the span of a task.
    pub(super) fn start(&mut self, worker: usize, task: u32) {
        self.enter(worker, task);
        self.proceed(worker);
    }

    fn enter(&mut self, worker: usize, task: u32) {
        self.runs_on[task as usize] = worker as u32;
        let state = &mut self.workers[worker];
        state.frames.push(Frame { task, step: 0, start: self.now, cpu: state.cpu, delay: state.delay });
    }

    /// The current step of the worker's innermost task is done.
    pub(super) fn step_done(&mut self, worker: usize) {
        let Some(frame) = self.workers[worker].frames.last_mut() else { return };
        let (task, step) = (frame.task, frame.step);
        frame.step += 1;
        let body = &self.program.tasks[task as usize].body;
        match body.steps().get(step).copied() {
            Some(Step::Lock { lock, .. }) => self.unlock(lock, false),
            Some(Step::Read { lock, .. }) => self.unlock(lock, true),
            Some(Step::Spawn { task, .. }) => self.spawn(worker, task),
            _ => {}
        }
        self.proceed(worker);
    }

    fn unlock(&mut self, lock: u32, reads: bool) {
        for claim in self.locks[lock as usize].give_back(reads) {
            self.workers[claim.worker as usize].phase = Phase::Running;
            self.run(claim.worker as usize, claim.ns);
        }
    }

    fn spawn(&mut self, worker: usize, task: u32) {
        if let Some(parent) = self.program.tasks[task as usize].parent {
            self.children[parent as usize] += 1;
        }
        self.release(task, Some(worker));
    }

    /// Goes on until the worker has to wait.
    pub(super) fn proceed(&mut self, worker: usize) {
        let program = self.program;
        loop {
            let Some(frame) = self.workers[worker].frames.last_mut() else { return };
            let (index, at) = (frame.task, frame.step);
            let step = match &program.tasks[index as usize].body {
                Body::Work(ns) => (at == 0).then_some(Step::Compute(*ns)),
                Body::Parts(parts) => parts.get(at).map(|ns| Step::Compute(*ns)),
                Body::Steps(steps) => steps.get(at).copied(),
            };
            match step {
                None => {
                    self.leave(worker);
                    if self.workers[worker].frames.is_empty() {
                        return;
                    }
                }
                Some(Step::Compute(ns)) => return self.occupy(worker, ns),
                Some(Step::Spawn { cost_ns, .. }) if cost_ns > 0 => return self.occupy(worker, cost_ns),
                Some(Step::Spawn { task, .. }) => {
                    frame.step += 1;
                    self.spawn(worker, task);
                }
                Some(Step::Block(ns)) => {
                    self.workers[worker].phase = Phase::Blocked;
                    return self.at(self.now + ns, Event::Unblock(worker as u32));
                }
                Some(Step::Lock { lock, ns }) => return self.claim(worker, lock, ns, false),
                Some(Step::Read { lock, ns }) => return self.claim(worker, lock, ns, true),
                Some(Step::Call(task)) => self.enter(worker, task),
                Some(Step::Join { .. }) if self.children[index as usize] == 0 => frame.step += 1,
                Some(Step::Join { help: false }) => {
                    self.workers[worker].phase = Phase::Joining;
                    return;
                }
                Some(Step::Join { help: true }) => {
                    self.workers[worker].phase = Phase::Helping;
                    self.freed.push_back(worker as u32);
                    return;
                }
            }
        }
    }

    fn occupy(&mut self, worker: usize, ns: u64) {
        self.workers[worker].phase = Phase::Running;
        self.run(worker, ns);
    }

    fn claim(&mut self, worker: usize, lock: u32, ns: u64, reads: bool) {
        if self.locks[lock as usize].ask(Claim { worker: worker as u32, ns, reads }) {
            self.occupy(worker, ns);
        } else {
            self.workers[worker].phase = Phase::Locked;
        }
    }

    /// Ends the innermost task of a worker. The task around it, if any, is where it was: a call is
    /// over, and a join looks again.
    fn leave(&mut self, worker: usize) {
        let state = &mut self.workers[worker];
        let Some(frame) = state.frames.pop() else { return };
        let task = &self.program.tasks[frame.task as usize];
        self.spans.push(Executed {
            task: frame.task,
            worker: worker as u32,
            start_ns: frame.start,
            end_ns: self.now,
            ready_ns: (task.place != Place::Inline).then(|| self.ready_at[frame.task as usize]),
            name: task.name,
            level: state.frames.len() as u16,
            cpu_ns: state.cpu - frame.cpu,
            run_delay_ns: state.delay - frame.delay,
        });
        self.complete.push(frame.task);
        match state.frames.last_mut() {
            Some(outer) => {
                let body = &self.program.tasks[outer.task as usize].body;
                if let Some(Step::Call(_)) = body.steps().get(outer.step) {
                    outer.step += 1;
                }
            }
            None => {
                state.phase = Phase::Idle;
                state.idle_since = self.now;
                self.freed.push_back(worker as u32);
            }
        }
    }

    /// Stops the world when a collection is due.
    pub(super) fn collect(&mut self) {
        let Some(collection) = self.machine.collection else { return };
        if self.collecting {
            return;
        }
        // Work beyond a multiple counts for the next one, however long the tasks are.
        let due = (self.work_done - self.collected) / collection.every_work_ns;
        self.collected += due * collection.every_work_ns;
        self.collections_due += due;
        if self.collections_due == 0 {
            return;
        }
        let works = |phase| matches!(phase, Phase::Starting(_) | Phase::Running | Phase::Blocked);
        if collection.between_tasks && self.workers.iter().any(|worker| works(worker.phase)) {
            return;
        }
        let pause = collection.pause_ns * std::mem::take(&mut self.collections_due);
        self.collecting = true;
        self.stopped += pause;
        self.cores.stop(true);
        self.at(self.now + pause, Event::Resume);
    }
}
