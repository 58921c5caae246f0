//! Which tasks run one at a time.

use std::collections::HashSet;

use crate::{
    execution::Execution,
    program::{Program, Role},
};

impl Program {
    /// The tasks that run one at a time: stages of one task by design, and what was seen again and
    /// again. A task is seen so when it ran for most of its time while no other worker did. A name
    /// is seen so when no two of its tasks ever ran at once, and one did most of the time.
    pub fn alone(&self, execution: &Execution) -> Vec<bool> {
        if self.machine.workers == 1 {
            return vec![false; self.tasks.len()];
        }
        let mut alone: Vec<bool> = self.tasks.iter().map(|task| task.role == Role::Alone).collect();
        let mut events: Vec<(u64, bool, u32)> = Vec::new();
        for span in execution.spans.iter().filter(|span| span.level == 0) {
            events.push((span.start_ns, true, span.task));
            events.push((span.end_ns, false, span.task));
        }
        events.sort_unstable();
        let mut open = HashSet::new();
        let mut times = vec![0; self.tasks.len()];
        let mut of_name = vec![(0u32, false, 0u64); self.names.len()];
        let mut since = 0;
        for (time, starts, task) in events {
            if let (1, Some(only)) = (open.len(), open.iter().next()) {
                times[*only as usize] += time - since;
            }
            since = time;
            let (running, together, sum) = &mut of_name[usize::from(self.tasks[task as usize].name)];
            if starts {
                open.insert(task);
                *running += 1;
                *together |= *running > 1;
                *sum += self.size(task as usize);
            } else {
                open.remove(&task);
                *running -= 1;
            }
        }
        let serial = |index: usize| {
            let (_, together, sum) = of_name[usize::from(self.tasks[index].name)];
            !together && sum * 2 > execution.time_ns && self.is_queued(index)
        };
        let seen: Vec<usize> = (0..times.len())
            .filter(|index| times[*index] * 2 > self.size(*index).max(1) || serial(*index))
            .collect();
        if seen.len() > 1 {
            for index in seen {
                alone[index] = true;
            }
        }
        alone
    }

    /// The program on the workers that ran a task in this execution, as who is not told their
    /// number takes it to be.
    pub fn on_seen_workers(&self, execution: &Execution) -> Program {
        let workers = self.machine.workers as usize;
        let mut ran = vec![false; workers];
        for span in &execution.spans {
            ran[span.worker as usize] = true;
        }
        let seen: Vec<usize> = (0..workers).filter(|worker| ran[*worker]).collect();
        let mut program = self.clone();
        if seen.len() == workers || seen.is_empty() {
            return program;
        }
        let machine = &mut program.machine;
        machine.workers = seen.len() as u32;
        machine.speeds = seen.iter().map(|worker| self.machine.speed(*worker)).collect();
        machine.preempted =
            seen.iter().map(|worker| self.machine.preempted.get(*worker).copied().flatten()).collect();
        for task in &mut program.tasks {
            if let crate::program::Place::Pinned(worker) = &mut task.place {
                *worker = seen.iter().position(|known| known == &(*worker as usize)).unwrap_or(0) as u32;
            }
        }
        program
    }
}
