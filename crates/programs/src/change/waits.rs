//! Parents are continued, and long steps leave an event loop.

use crate::program::{Body, NO_FAMILY, Place, Program, Role, Step, Task};

impl Program {
    /// Parents end where they would wait. What is left of them is a task that follows their
    /// children.
    pub(super) fn continued(&self) -> Option<Program> {
        let joins = |task: &Task| task.body.steps().iter().any(|step| matches!(step, Step::Join { .. }));
        if !self.tasks.iter().any(joins) {
            return None;
        }
        let mut tasks = self.tasks.clone();
        // The task that ends what each task was.
        let mut done: Vec<u32> = (0..tasks.len() as u32).collect();
        let mut children: Vec<(u32, Vec<u32>)> = Vec::new();
        for index in 0..self.tasks.len() {
            let old = &self.tasks[index];
            if !joins(old) || old.place == Place::Inline {
                continue;
            }
            let mut parts: Vec<Vec<Step>> = vec![Vec::new()];
            for step in old.body.steps() {
                match step {
                    Step::Join { .. } => parts.push(Vec::new()),
                    other => parts.last_mut()?.push(*other),
                }
            }
            let mut parts = parts.into_iter();
            let mut steps = parts.next()?;
            let mut at = index as u32;
            for rest in parts {
                let started = steps.iter().filter_map(|step| match step {
                    Step::Spawn { task, .. } => Some(*task),
                    _ => None,
                });
                let started: Vec<u32> = started.collect();
                tasks[at as usize].body = Body::Steps(std::mem::take(&mut steps));
                let next = tasks.len() as u32;
                children.push((next, started));
                // What has nothing left to do is a point in time.
                let place = if rest.is_empty() { Place::Host } else { old.place };
                tasks.push(Task {
                    body: Body::Work(0),
                    after: vec![at],
                    loose: Vec::new(),
                    place,
                    arrives_ns: None,
                    family: NO_FAMILY,
                    ..old.clone()
                });
                at = next;
                steps = rest;
            }
            tasks[at as usize].body = if steps.is_empty() { Body::Work(0) } else { Body::Steps(steps) };
            tasks[index].answers = if at == index as u32 { old.answers } else { None };
            done[index] = at;
        }
        let old_tasks = self.tasks.len();
        for (index, task) in tasks.iter_mut().enumerate() {
            // No parent waits any more.
            task.parent = None;
            if index < old_tasks {
                task.after.iter_mut().chain(&mut task.loose).for_each(|first| *first = done[*first as usize]);
            }
        }
        for (next, started) in children {
            tasks[next as usize].after.extend(started.iter().map(|child| done[*child as usize]));
        }
        Some(Program { tasks, names: self.names.clone(), machine: self.machine.clone(), ..*self })
    }

    /// Steps of an event loop that are longer than three usual ones move to a second worker.
    pub(super) fn unblocked(&self) -> Option<Program> {
        if self.machine.workers != 1 {
            return None;
        }
        let mut sizes: Vec<u64> = (0..self.tasks.len())
            .filter(|index| self.is_queued(*index))
            .map(|index| self.size(index))
            .collect();
        sizes.sort_unstable();
        let usual = *sizes.get(sizes.len() / 2)?;
        let long: Vec<bool> = (0..self.tasks.len())
            .map(|index| {
                let task = &self.tasks[index];
                let starts = task.body.steps().iter().any(|step| matches!(step, Step::Spawn { .. }));
                self.is_queued(index) && !starts && self.size(index) > 3 * usual
            })
            .collect();
        let count = long.iter().filter(|long| **long).count();
        if count == 0 || count * 5 > sizes.len() {
            return None;
        }
        let mut changed = self.clone();
        changed.machine.workers = 2;
        for (index, task) in changed.tasks.iter_mut().enumerate() {
            if matches!(task.place, Place::Open | Place::Pinned(_)) {
                task.place = Place::Pinned(u32::from(long[index]));
            }
            if task.role == Role::Alone {
                task.role = Role::Plain;
            }
        }
        Some(changed)
    }
}
