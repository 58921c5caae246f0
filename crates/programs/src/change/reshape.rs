//! Tasks are split, and tasks are put together.

use std::collections::HashMap;

use crate::program::{Body, NO_FAMILY, Place, Program, Role, Step, Task};

/// Most tasks that a change makes.
pub(crate) const MOST_TASKS: usize = 120_000;

/// Divides what a task does into at most that many pieces.
fn divide(body: &Body, into: u64) -> Vec<Body> {
    match body {
        Body::Work(ns) => {
            let pieces = into.min(*ns).max(1);
            (0..pieces).map(|piece| Body::Work(ns / pieces + u64::from(piece < ns % pieces))).collect()
        }
        Body::Parts(parts) => parts
            .chunks(parts.len().div_ceil(into as usize).max(1))
            .map(|chunk| Body::Parts(chunk.to_vec()))
            .collect(),
        Body::Steps(steps) => {
            let any = |is: fn(&Step) -> bool| steps.iter().any(is);
            if any(|step| matches!(step, Step::Spawn { .. } | Step::Join { .. })) {
                return vec![body.clone()];
            }
            if any(|step| matches!(step, Step::Call(_))) {
                let size = steps.len().div_ceil(into as usize).max(1);
                return steps.chunks(size).map(|chunk| Body::Steps(chunk.to_vec())).collect();
            }
            let scaled = steps
                .iter()
                .map(|step| match *step {
                    Step::Compute(ns) => Step::Compute(ns.div_ceil(into)),
                    Step::Block(ns) => Step::Block(ns.div_ceil(into)),
                    Step::Lock { lock, ns } => Step::Lock { lock, ns: ns.div_ceil(into) },
                    Step::Read { lock, ns } => Step::Read { lock, ns: ns.div_ceil(into) },
                    other => other,
                })
                .collect();
            vec![Body::Steps(scaled); into as usize]
        }
    }
}

/// What two tasks do, one after the other.
fn join(first: Body, second: &Body) -> Body {
    match (first, second) {
        (Body::Work(first), Body::Work(second)) => Body::Work(first + second),
        (Body::Parts(mut first), Body::Parts(second)) => {
            first.extend(second);
            Body::Parts(first)
        }
        (first, second) => {
            let mut steps = steps_of(&first);
            steps.extend(steps_of(second));
            Body::Steps(steps)
        }
    }
}

fn steps_of(body: &Body) -> Vec<Step> {
    match body {
        Body::Work(ns) => vec![Step::Compute(*ns)],
        Body::Parts(parts) => parts.iter().map(|ns| Step::Compute(*ns)).collect(),
        Body::Steps(steps) => steps.clone(),
    }
}

impl Program {
    /// Splits each task into as many pieces as asked, as far as it can be divided.
    pub(super) fn split(&self, unpin: bool, wanted: impl Fn(usize) -> u64) -> Option<Program> {
        let pieces: Vec<Vec<Body>> = (0..self.tasks.len())
            .map(|index| {
                let task = &self.tasks[index];
                let wanted = if self.is_queued(index) { wanted(index) } else { 1 };
                if wanted > MOST_TASKS as u64 {
                    Vec::new()
                } else if wanted > 1 {
                    divide(&task.body, wanted)
                } else {
                    vec![Body::Work(0)]
                }
            })
            .collect();
        let total: usize = pieces.iter().map(|pieces| pieces.len() + 1).sum();
        if pieces.iter().all(|pieces| pieces.len() == 1)
            || pieces.iter().any(Vec::is_empty)
            || total > 2 * MOST_TASKS
        {
            return None;
        }
        // The pieces of a task lie side by side, and behind them the point at which all are done.
        let mut first = Vec::with_capacity(pieces.len());
        let mut next = 0;
        for pieces in &pieces {
            first.push(next);
            next += if pieces.len() > 1 { pieces.len() as u32 + 1 } else { 1 };
        }
        if next as usize > MOST_TASKS {
            return None;
        }
        let done = |index: u32| {
            let count = pieces[index as usize].len() as u32;
            first[index as usize] + if count > 1 { count } else { 0 }
        };
        let mut tasks: Vec<Task> = Vec::with_capacity(next as usize);
        for (index, bodies) in pieces.iter().enumerate() {
            let old = &self.tasks[index];
            let mut base = Task { body: Body::Work(0), ..old.clone() };
            base.after
                .iter_mut()
                .chain(&mut base.loose)
                .for_each(|dependence| *dependence = done(*dependence));
            base.parent = old.parent.map(|parent| first[parent as usize]);
            if bodies.len() == 1 {
                tasks.push(Task { body: renumbered(&old.body, &pieces, &first), ..base });
                continue;
            }
            let place =
                if unpin && matches!(base.place, Place::Pinned(_)) { Place::Open } else { base.place };
            let start = tasks.len() as u32;
            for (piece, body) in bodies.iter().enumerate() {
                tasks.push(Task {
                    body: renumbered(body, &pieces, &first),
                    place,
                    role: Role::Plain,
                    answers: None,
                    origin: base.origin.wrapping_add((piece as u64) << 32),
                    ..base.clone()
                });
            }
            tasks.push(Task {
                after: (start..start + bodies.len() as u32).collect(),
                loose: Vec::new(),
                place: Place::Host,
                role: Role::Plain,
                family: NO_FAMILY,
                parent: None,
                arrives_ns: None,
                ..base
            });
        }
        Some(Program { tasks, ..self.clone_without_tasks() })
    }

    /// Splits the longest tasks: at most a tenth of all, and each more than twice the median.
    pub(super) fn split_longest(&self, name: Option<&str>, into: u64) -> Option<Program> {
        let name = match name {
            Some(name) => Some(self.named(name)?),
            None => None,
        };
        let sizes: Vec<u64> = (0..self.tasks.len())
            .map(|index| if self.is_queued(index) { self.size(index) } else { 0 })
            .collect();
        let named = |index: &usize| name.is_none_or(|name| self.tasks[*index].name == name);
        let mut queued: Vec<usize> = (0..sizes.len()).filter(|index| self.is_queued(*index)).collect();
        queued.sort_by_key(|index| std::cmp::Reverse(sizes[*index]));
        let median = sizes[*queued.get(queued.len() / 2)?];
        queued.truncate((queued.len() / 10).max(1));
        queued.retain(|index| sizes[*index] > 2 * median && named(index));
        let most = (sizes[*queued.first()?] / into).max(1);
        let long: std::collections::HashSet<usize> = queued.into_iter().collect();
        self.split(true, |index| if long.contains(&index) { sizes[index].div_ceil(most) } else { 1 })
    }

    /// Puts that many consecutive tasks of a family into one.
    pub(super) fn merge(&self, by: usize) -> Option<Program> {
        let starts = |body: &Body| {
            body.steps().iter().any(|step| matches!(step, Step::Spawn { .. } | Step::Join { .. }))
        };
        let mut to: Vec<u32> = Vec::with_capacity(self.tasks.len());
        let mut open: HashMap<(u32, Place, Option<u32>), (u32, usize)> = HashMap::new();
        let mut tasks: Vec<Task> = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            let fits = task.family != NO_FAMILY && !starts(&task.body);
            let group = open.get_mut(&(task.family, task.place, task.parent)).filter(|_| fits);
            match group {
                Some((at, count)) if *count < by => {
                    *count += 1;
                    to.push(*at);
                    put(&mut tasks[*at as usize], task);
                }
                _ => {
                    let at = tasks.len() as u32;
                    if fits {
                        open.insert((task.family, task.place, task.parent), (at, 1));
                    }
                    to.push(at);
                    tasks.push(task.clone());
                    debug_assert!(index >= at as usize);
                }
            }
        }
        if tasks.len() == self.tasks.len() {
            return None;
        }
        let mut started = vec![false; tasks.len()];
        for (at, task) in tasks.iter_mut().enumerate() {
            for list in [&mut task.after, &mut task.loose] {
                list.iter_mut().for_each(|first| *first = to[*first as usize]);
                list.sort_unstable();
                list.dedup();
                list.retain(|first| *first != at as u32);
            }
            task.parent = task.parent.map(|parent| to[parent as usize]);
            if let Body::Steps(steps) = &mut task.body {
                // A batch is handed out once.
                steps.retain_mut(|step| match step {
                    Step::Spawn { task, .. } => {
                        *task = to[*task as usize];
                        !std::mem::replace(&mut started[*task as usize], true)
                    }
                    Step::Call(task) => {
                        *task = to[*task as usize];
                        true
                    }
                    _ => true,
                });
            }
        }
        let merged = Program { tasks, ..self.clone_without_tasks() };
        merged.is_acyclic().then_some(merged)
    }

    fn clone_without_tasks(&self) -> Program {
        Program { tasks: Vec::new(), names: self.names.clone(), machine: self.machine.clone(), ..*self }
    }

    /// Whether some order serves all dependences.
    fn is_acyclic(&self) -> bool {
        let mut missing = vec![0u32; self.tasks.len()];
        let mut follows: Vec<Vec<u32>> = vec![Vec::new(); self.tasks.len()];
        for (index, task) in self.tasks.iter().enumerate() {
            let mut edge = |first: u32, then: u32| {
                missing[then as usize] += 1;
                follows[first as usize].push(then);
            };
            for first in task.after.iter().chain(&task.loose) {
                edge(*first, index as u32);
            }
            for step in task.body.steps() {
                if let Step::Spawn { task, .. } = step {
                    edge(index as u32, *task);
                }
            }
        }
        let mut free: Vec<u32> =
            (0..missing.len() as u32).filter(|index| missing[*index as usize] == 0).collect();
        let mut count = 0;
        while let Some(index) = free.pop() {
            count += 1;
            for then in &follows[index as usize] {
                missing[*then as usize] -= 1;
                if missing[*then as usize] == 0 {
                    free.push(*then);
                }
            }
        }
        count == missing.len()
    }
}

/// A body whose tasks have new numbers. A task in pieces is started piece by piece.
fn renumbered(body: &Body, pieces: &[Vec<Body>], first: &[u32]) -> Body {
    let Body::Steps(steps) = body else { return body.clone() };
    let mut new = Vec::with_capacity(steps.len());
    for step in steps {
        match *step {
            Step::Spawn { cost_ns, task } => {
                let (start, count) = (first[task as usize], pieces[task as usize].len() as u32);
                new.extend((start..start + count).map(|task| Step::Spawn { cost_ns, task }));
            }
            Step::Call(task) => new.push(Step::Call(first[task as usize])),
            other => new.push(other),
        }
    }
    Body::Steps(new)
}

/// Puts a task behind another into one.
fn put(group: &mut Task, task: &Task) {
    if let (Role::Toll, Body::Work(sum), Body::Work(ns)) = (group.role, &mut group.body, &task.body) {
        // A batch is handed out once.
        *sum = (*sum).max(*ns);
    } else {
        group.body = join(std::mem::replace(&mut group.body, Body::Work(0)), &task.body);
    }
    group.after.extend(&task.after);
    group.loose.extend(&task.loose);
    group.arrives_ns = group.arrives_ns.max(task.arrives_ns);
    group.priority = group.priority.max(task.priority);
    group.answers = match (group.answers, task.answers) {
        (Some((since, count)), Some((then, more))) => {
            let sum = u128::from(since) * u128::from(count) + u128::from(then) * u128::from(more);
            Some(((sum / u128::from(count + more)) as u64, count + more))
        }
        (one, other) => one.or(other),
    };
}
