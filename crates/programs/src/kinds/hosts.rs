//! Programs that are held up from outside of their tasks.

use super::shape::{Shape, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Collection, Machine, Preemption},
    program::{Program, Role},
};

/// Runs one after the other. Between them the host reads its input, or writes its report.
pub fn host_pauses(draw: &mut Draw) -> Program {
    let runs = draw.count(2, 60);
    let shape = Shape::draw(draw, (1, 64), (6 * runs, 40 * runs));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let pause = shape.window() / runs as f64 * draw.log(0.03, 4.0);
    let vary = Durations::any(draw);
    let mut before = None;
    for _ in 0..runs {
        let run = tasks(draw, &mut graph, shape.count() / runs, durations, shape.mean);
        for task in &run {
            graph.get(*task).after.extend(before);
        }
        let ns = vary.draw(draw, pause);
        before = Some(graph.host(Role::Pause, ns, &run));
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// A loop on a machine.
fn disturbed(draw: &mut Draw, shape: Shape, machine: Machine) -> Program {
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    graph.on(machine)
}

fn collection(draw: &mut Draw, between_tasks: bool) -> Program {
    let shape = Shape::draw(draw, (1, 64), (30, 600));
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    let every = shape.window() / draw.log(2.0, 100.0);
    machine.collection = Some(Collection {
        every_work_ns: (every * shape.workers as f64) as u64 + 1,
        pause_ns: (every * draw.log(0.03, 1.5)) as u64 + 1,
        between_tasks,
    });
    disturbed(draw, shape, machine)
}

pub fn collect_between(draw: &mut Draw) -> Program {
    collection(draw, true)
}

pub fn collect_inside(draw: &mut Draw) -> Program {
    collection(draw, false)
}

/// Another process that runs for this share of the time.
fn process(draw: &mut Draw, share: f64) -> Preemption {
    let for_ns = draw.log(5e4, 8e6);
    Preemption { every_ns: for_ns * (1.0 - share) / share, for_ns }
}

pub fn preempted_one(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 16), (10, 600));
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    let worker = draw.below(shape.workers);
    let share = draw.uniform(0.1, 0.8);
    machine.preempted = vec![None; shape.workers];
    machine.preempted[worker] = Some(process(draw, share));
    disturbed(draw, shape, machine)
}

pub fn preempted_all(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (10, 600));
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    let share = draw.log(0.03, 0.7);
    machine.preempted = (0..shape.workers).map(|_| Some(process(draw, share))).collect();
    disturbed(draw, shape, machine)
}

/// More workers than cores.
pub fn oversubscribed(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (10, 200));
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.03);
    machine.cores = Some(draw.count((shape.workers / 8).max(1), shape.workers - 1) as u32);
    machine.switching = draw.uniform(0.0, 0.2);
    disturbed(draw, shape, machine)
}
