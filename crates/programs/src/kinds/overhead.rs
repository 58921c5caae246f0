//! Programs whose tasks are small for what it takes to start them, as a rule.

use super::{
    healthy::chains,
    shape::{MOST, Shape, all_after, common, tasks},
};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Dispatch, Machine, Queues},
    program::{NO_FAMILY, Program, Role, Step},
};

/// Many small tasks: workers, tasks for each, mean.
fn small(draw: &mut Draw, least_workers: usize) -> Shape {
    let mean = draw.log(300.0, 100_000.0);
    let least = (2.5e6 / mean) as usize + 50;
    let each = draw.count(least, (MOST / least_workers).max(least));
    let workers = draw.count(least_workers, (MOST / each).clamp(least_workers, 128));
    Shape { workers, each, mean }
}

pub fn tiny_tasks(draw: &mut Draw) -> Program {
    let shape = small(draw, 1);
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.dispatch.own_ns = shape.mean * draw.log(0.15, 6.0);
    graph.on(machine)
}

/// One lock guards the queue.
pub fn contended_queue(draw: &mut Draw) -> Program {
    let shape = small(draw, 2);
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.queues = Queues::Shared;
    machine.dispatch.held_ns = shape.mean / shape.workers as f64 * draw.log(0.7, 6.0);
    graph.on(machine)
}

pub fn growing_dispatch(draw: &mut Draw) -> Program {
    let shape = small(draw, 2);
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.dispatch.per_worker_ns = shape.mean / shape.workers as f64 * draw.log(0.2, 4.0);
    graph.on(machine)
}

pub fn tiny_chains(draw: &mut Draw) -> Program {
    let shape = small(draw, 1);
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let length = draw.count(4, 60);
    chains(draw, &mut graph, (shape.count() / length).max(1), length, durations, shape.mean);
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.dispatch.own_ns = shape.mean * draw.log(0.15, 4.0);
    graph.on(machine)
}

/// Short rounds, as a loop with a small body in parallel makes them.
pub fn tiny_rounds(draw: &mut Draw) -> Program {
    let shape = small(draw, 1);
    let rounds = draw.count(4, (shape.each / 8).max(4));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let mut before = None;
    for _ in 0..rounds {
        let round = tasks(draw, &mut graph, (shape.count() / rounds).max(1), durations, shape.mean);
        all_after(&mut graph, &round, before);
        before = Some(graph.barrier(&round));
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    let own_ns = shape.mean * draw.log(0.1, 3.0);
    machine.dispatch = Dispatch { own_ns, wake_ns: own_ns * draw.uniform(0.0, 4.0), ..machine.dispatch };
    graph.on(machine)
}

/// A thread that is no worker hands out the tasks, slowly.
pub fn slow_host(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (8, 400));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let toll = shape.mean / shape.workers as f64 * draw.log(0.5, 6.0);
    let all = tasks(draw, &mut graph, shape.count().min(MOST / 2), durations, shape.mean);
    let family = graph.family();
    let mut before: Vec<u32> = Vec::new();
    for task in all {
        let handed = graph.host(Role::Toll, toll as u64 + 1, &before);
        graph.get(handed).family = family;
        graph.after(task, handed);
        before = vec![handed];
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}

/// One of the workers hands out the tasks to the others, slowly.
pub fn slow_master(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (8, 400));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let toll = shape.mean / (shape.workers - 1) as f64 * draw.log(0.5, 6.0);
    let all = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let steps = |tasks: &[u32]| {
        tasks.iter().map(|task| Step::Spawn { cost_ns: toll as u64 + 1, task: *task }).collect()
    };
    // One span, or one for each batch that it hands out.
    let (master, collect) = (graph.name("dispatch"), common(draw, &mut graph));
    let spans = draw.pick(&[1, 1, 20, all.len()]);
    let mut before = None;
    for batch in all.chunks(all.len().div_ceil(spans)) {
        let id = graph.steps(master, NO_FAMILY, steps(batch));
        graph.pin(id, 0);
        graph.get(id).after.extend(before);
        graph.get(id).role = Role::Alone;
        before = Some(id);
    }
    if draw.chance(0.3) {
        let end = graph.work(collect, NO_FAMILY, shape.mean as u64 + 1);
        graph.get(end).after = all;
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}
