//! Executes a program, event by event.
//!
//! Workers, tasks and locks change at moments only: a worker finishes a piece of work, a delay is
//! over, a task arrives. Everything that follows at the same moment is done before workers look
//! for their next tasks.

mod clock;
mod locks;
mod queues;
mod steps;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use crate::{
    execution::{Executed, Execution, Stuck},
    machine::{Machine, Order, Wake},
    program::{Body, Place, Program, Step},
};
use clock::{Cores, Turns};
use locks::Lock;
use queues::Ready;

/// What a worker is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Looks for a task, or sleeps until there is one.
    Idle,
    /// Starts this task.
    Starting(u32),
    /// Inside a step that needs a core.
    Running,
    /// Inside a step that needs time only.
    Blocked,
    /// Waits for a lock.
    Locked,
    /// Waits for the children of its innermost task.
    Joining,
    /// As `Joining`, and would take another task meanwhile.
    Helping,
}

#[derive(Debug)]
struct Frame {
    task: u32,
    step: usize,
    start: u64,
    cpu: u64,
    delay: u64,
}

#[derive(Debug)]
struct Worker {
    frames: Vec<Frame>,
    phase: Phase,
    idle_since: u64,
    /// Sums over its life.
    cpu: u64,
    delay: u64,
    dispatch: u64,
    /// What it runs now: since when, how long on the clock of work, and what stopped the world.
    began: u64,
    wanted: u64,
    stopped: u64,
    turns: Option<Turns>,
}

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrival(u32),
    Delay(u32),
    Unblock(u32),
    Resume,
}

struct Engine<'a> {
    program: &'a Program,
    machine: &'a Machine,
    now: u64,
    cores: Cores,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    turn: u64,
    workers: Vec<Worker>,
    idle: Vec<u32>,
    /// Workers that have just ended a task.
    freed: VecDeque<u32>,
    /// Workers for which a pinned task became ready.
    called: Vec<u32>,
    ready: Ready,
    locks: Vec<Lock>,
    /// The tasks that follow each task, from `follows_at[task]`.
    follows: Vec<u32>,
    follows_at: Vec<u32>,
    missing: Vec<u32>,
    ready_at: Vec<u64>,
    runs_on: Vec<u32>,
    children: Vec<u32>,
    complete: Vec<u32>,
    completed: usize,
    last: u64,
    queue_free: f64,
    answered: (f64, u64),
    work_done: u64,
    collected: u64,
    /// Collections that are due.
    collections_due: u64,
    collecting: bool,
    stopped: u64,
    spans: Vec<Executed>,
}

/// Executes a program.
pub fn run(program: &Program) -> Result<Execution, Stuck> {
    let mut engine = Engine::new(program);
    engine.begin();
    while engine.next() {}
    engine.end()
}

impl<'a> Engine<'a> {
    fn new(program: &'a Program) -> Engine<'a> {
        let machine = &program.machine;
        let count = program.tasks.len();
        let mut missing = vec![0u32; count];
        let mut follows_at = vec![0u32; count + 1];
        let mut locks = 0;
        for (index, task) in program.tasks.iter().enumerate() {
            missing[index] += (task.after.len() + task.loose.len()) as u32;
            missing[index] += u32::from(task.arrives_ns.is_some());
            // A caller starts it, and no queue ever holds it.
            missing[index] += u32::from(task.place == Place::Inline);
            for first in task.after.iter().chain(&task.loose) {
                follows_at[*first as usize + 1] += 1;
            }
            for step in task.body.steps() {
                match *step {
                    Step::Spawn { task, .. } => missing[task as usize] += 1,
                    Step::Lock { lock, .. } | Step::Read { lock, .. } => locks = locks.max(lock + 1),
                    _ => {}
                }
            }
        }
        for index in 0..count {
            follows_at[index + 1] += follows_at[index];
        }
        let mut at = follows_at.clone();
        let mut follows = vec![0u32; follows_at[count] as usize];
        for (index, task) in program.tasks.iter().enumerate() {
            for first in task.after.iter().chain(&task.loose) {
                follows[at[*first as usize] as usize] = index as u32;
                at[*first as usize] += 1;
            }
        }
        let worker = |index: usize| Worker {
            frames: Vec::new(),
            phase: Phase::Idle,
            idle_since: 0,
            cpu: 0,
            delay: 0,
            dispatch: 0,
            began: 0,
            wanted: 0,
            stopped: 0,
            turns: machine
                .preempted
                .get(index)
                .copied()
                .flatten()
                .map(|turns| Turns::new(turns, program.seed, index as u64)),
        };
        Engine {
            program,
            machine,
            now: 0,
            cores: Cores::new(machine.cores, machine.switching),
            events: BinaryHeap::new(),
            turn: 0,
            workers: (0..machine.workers as usize).map(worker).collect(),
            // The lowest is woken first, whatever the rule.
            idle: match machine.wake {
                Wake::LastIdle => (0..machine.workers).rev().collect(),
                _ => (0..machine.workers).collect(),
            },
            freed: VecDeque::new(),
            called: Vec::new(),
            ready: Ready::new(machine),
            locks: (0..locks).map(|_| Lock::default()).collect(),
            follows,
            follows_at,
            missing,
            ready_at: vec![0; count],
            runs_on: vec![u32::MAX; count],
            children: vec![0; count],
            complete: Vec::new(),
            completed: 0,
            last: 0,
            queue_free: 0.0,
            answered: (0.0, 0),
            work_done: 0,
            collected: 0,
            collections_due: 0,
            collecting: false,
            stopped: 0,
            spans: Vec::with_capacity(count),
        }
    }

    fn begin(&mut self) {
        for index in 0..self.program.tasks.len() as u32 {
            if let Some(at) = self.program.tasks[index as usize].arrives_ns {
                self.at(at, Event::Arrival(index));
            }
            if self.missing[index as usize] == 0 {
                self.make_ready(index, None);
            }
        }
        self.settle();
        self.assign();
    }

    fn at(&mut self, time: u64, event: Event) {
        self.turn += 1;
        self.events.push(Reverse((time, self.turn, event)));
    }

    fn next_time(&self) -> Option<u64> {
        let event = self.events.peek().map(|Reverse((time, ..))| *time);
        let work = self.cores.next().map(|wait| self.now + wait);
        event.into_iter().chain(work).min()
    }

    /// Goes to the next moment. False when nothing is left to happen.
    fn next(&mut self) -> bool {
        let Some(time) = self.next_time() else { return false };
        self.cores.pass(time - self.now);
        self.now = time;
        loop {
            if let Some(Reverse((_, _, event))) =
                self.events.peek().copied().filter(|Reverse((at, ..))| *at <= time)
            {
                self.events.pop();
                self.happen(event);
            } else if let Some(worker) = self.cores.finished() {
                self.finished(worker as usize);
            } else {
                break;
            }
            self.settle();
        }
        self.collect();
        self.assign();
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival(task) => self.release(task, None),
            Event::Delay(task) => self.complete.push(task),
            Event::Unblock(worker) => self.step_done(worker as usize),
            Event::Resume => {
                self.cores.stop(false);
                self.collecting = false;
            }
        }
    }

    /// One thing less that a task waits for.
    fn release(&mut self, task: u32, by: Option<usize>) {
        self.missing[task as usize] -= 1;
        if self.missing[task as usize] == 0 {
            self.make_ready(task, by);
        }
    }

    fn make_ready(&mut self, index: u32, by: Option<usize>) {
        self.ready_at[index as usize] = self.now;
        let task = &self.program.tasks[index as usize];
        let rank = match self.machine.order {
            Order::LongestFirst => self.program.size(index as usize),
            _ => u64::from(task.priority),
        };
        match task.place {
            Place::Host => match &task.body {
                Body::Work(ns) if *ns > 0 => self.at(self.now + ns, Event::Delay(index)),
                _ => self.complete.push(index),
            },
            Place::Pinned(worker) => {
                self.ready.pin(worker as usize, index, rank);
                self.called.push(worker);
            }
            Place::Open => self.ready.put(by, index, rank),
            Place::Inline => {}
        }
    }

    /// Follows up on tasks that are complete.
    fn settle(&mut self) {
        while let Some(index) = self.complete.pop() {
            self.completed += 1;
            let task = &self.program.tasks[index as usize];
            let by = (task.place != Place::Host).then(|| self.runs_on[index as usize] as usize);
            if by.is_some() {
                self.last = self.now;
            }
            if let Some((since, count)) = task.answers {
                self.answered.0 += (self.now as f64 - since as f64) * f64::from(count);
                self.answered.1 += u64::from(count);
            }
            for at in self.follows_at[index as usize]..self.follows_at[index as usize + 1] {
                self.release(self.follows[at as usize], by);
            }
            if let Some(parent) = task.parent {
                self.child_complete(parent);
            }
        }
    }

    fn child_complete(&mut self, parent: u32) {
        self.children[parent as usize] -= 1;
        let worker = self.runs_on[parent as usize];
        if self.children[parent as usize] > 0 || worker == u32::MAX {
            return;
        }
        let state = &self.workers[worker as usize];
        let waits = state.frames.last().is_some_and(|frame| frame.task == parent);
        if waits && state.phase == Phase::Joining {
            self.step_done(worker as usize);
        } else if waits && state.phase == Phase::Helping {
            // A worker that is still among the freed would meet its task twice.
            self.idle.retain(|idle| *idle != worker);
            self.freed.retain(|freed| *freed != worker);
            self.step_done(worker as usize);
        }
    }

    /// Gives workers that have none their next tasks.
    fn assign(&mut self) {
        while !self.collecting && self.collections_due == 0 {
            if let Some(worker) = self.freed.pop_front() {
                if !self.take_up(worker as usize) {
                    self.workers[worker as usize].idle_since = self.now;
                    self.idle.push(worker);
                }
            } else if let Some(worker) = self.called.pop() {
                if let Some(at) = self.idle.iter().position(|idle| *idle == worker) {
                    self.idle.remove(at);
                    self.freed.push_back(worker);
                }
            } else if self.ready.has_open() && !self.idle.is_empty() {
                let worker = match self.machine.wake {
                    Wake::LastIdle => self.idle.remove(self.idle.len() - 1),
                    Wake::FirstIdle => self.idle.remove(0),
                    Wake::Lowest => {
                        let lowest = (0..self.idle.len()).min_by_key(|at| self.idle[*at]).unwrap_or(0);
                        self.idle.remove(lowest)
                    }
                };
                self.take_up(worker as usize);
            } else {
                break;
            }
            self.settle();
            self.collect();
        }
    }

    /// Has a worker take its next task. False where there is none for it.
    fn take_up(&mut self, worker: usize) -> bool {
        let Some(taken) = self.ready.take(worker) else { return false };
        let cost = self.cost(worker, taken);
        if cost == 0 {
            self.start(worker, taken.task);
        } else {
            self.workers[worker].phase = Phase::Starting(taken.task);
            self.run(worker, cost);
        }
        true
    }

    fn end(self) -> Result<Execution, Stuck> {
        let tasks = self.program.tasks.len();
        if self.completed < tasks {
            return Err(Stuck { complete: self.completed, tasks });
        }
        let (sum, count) = self.answered;
        Ok(Execution {
            spans: self.spans,
            names: self.program.names.clone(),
            time_ns: self.last,
            response_ns: (count > 0).then(|| sum / count as f64),
            workers: self.machine.workers,
            run_delay_ns: self.workers.iter().map(|worker| worker.delay).collect(),
            dispatch_ns: self.workers.iter().map(|worker| worker.dispatch).collect(),
        })
    }
}
