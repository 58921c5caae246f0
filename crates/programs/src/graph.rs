//! Builds programs: tasks by name and family, dependences, barriers and pauses.

use crate::{
    machine::Machine,
    program::{Body, NO_FAMILY, Place, Program, Role, Step, Task},
};

/// A program that is being written.
#[derive(Debug, Default)]
pub struct Graph {
    pub tasks: Vec<Task>,
    names: Vec<String>,
    families: u32,
}

impl Graph {
    pub fn new() -> Graph {
        Graph::default()
    }

    /// The index of a name.
    pub fn name(&mut self, name: &str) -> u16 {
        if let Some(at) = self.names.iter().position(|known| known == name) {
            return at as u16;
        }
        self.names.push(name.to_string());
        (self.names.len() - 1) as u16
    }

    /// A new family: its tasks may be put together.
    pub fn family(&mut self) -> u32 {
        self.families += 1;
        self.families
    }

    /// A task with a body.
    pub fn add(&mut self, name: u16, family: u32, body: Body) -> u32 {
        let id = self.tasks.len() as u32;
        self.tasks.push(Task {
            name,
            body,
            after: Vec::new(),
            loose: Vec::new(),
            place: Place::Open,
            role: Role::Plain,
            family,
            parent: None,
            arrives_ns: None,
            priority: 0,
            answers: None,
            origin: u64::from(id),
        });
        id
    }

    /// A task that works.
    pub fn work(&mut self, name: u16, family: u32, ns: u64) -> u32 {
        self.add(name, family, Body::Work(ns))
    }

    /// A task that goes through steps.
    pub fn steps(&mut self, name: u16, family: u32, steps: Vec<Step>) -> u32 {
        self.add(name, family, Body::Steps(steps))
    }

    /// A task that is a stage of its own.
    pub fn alone(&mut self, name: u16, ns: u64) -> u32 {
        let id = self.work(name, NO_FAMILY, ns);
        self.tasks[id as usize].role = Role::Alone;
        id
    }

    /// A delay that no worker sees.
    pub fn host(&mut self, role: Role, ns: u64, after: &[u32]) -> u32 {
        let id = self.work(0, NO_FAMILY, ns);
        let task = &mut self.tasks[id as usize];
        task.place = Place::Host;
        task.role = role;
        task.after = after.to_vec();
        id
    }

    /// A point that all of these must have reached.
    pub fn barrier(&mut self, after: &[u32]) -> u32 {
        self.host(Role::Plain, 0, after)
    }

    pub fn get(&mut self, id: u32) -> &mut Task {
        &mut self.tasks[id as usize]
    }

    pub fn after(&mut self, id: u32, first: u32) {
        self.tasks[id as usize].after.push(first);
    }

    pub fn pin(&mut self, id: u32, worker: usize) {
        self.tasks[id as usize].place = Place::Pinned(worker as u32);
    }

    /// The program on a machine.
    pub fn on(mut self, machine: Machine) -> Program {
        if self.names.is_empty() {
            self.names.push(String::new());
        }
        Program { tasks: self.tasks, names: self.names, machine, seed: 0, arrivals: false, event_loop: false }
    }
}
