//! Pipelines, producers and consumers.

use super::shape::{MOST, Shape, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{NO_FAMILY, Program, Role, Step},
};

/// A pipeline. Serial stages take their items in order, one at a time.
struct Pipeline {
    workers: usize,
    items: usize,
    /// The mean of each stage, and whether it is serial.
    stages: Vec<(f64, bool)>,
    /// How many items fit between two stages.
    buffer: usize,
}

fn pipeline(draw: &mut Draw, of: &Pipeline) -> Program {
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let stages = of.stages.len() as u32;
    let names: Vec<(u16, u32)> =
        (0..stages).map(|stage| (graph.name(&format!("stage {stage}")), graph.family())).collect();
    for item in 0..of.items as u32 {
        for stage in 0..stages {
            let (mean, serial) = of.stages[stage as usize];
            let (name, family) = names[stage as usize];
            let ns = durations.draw(draw, mean);
            let id = graph.work(name, family, ns);
            if stage > 0 {
                graph.after(id, id - 1);
            }
            if serial && item > 0 {
                graph.after(id, id - stages);
            }
            // An item that the next stage has taken makes room.
            if stage + 1 < stages && item as usize > of.buffer {
                graph.after(id, id + 1 - stages * (of.buffer as u32 + 1));
            }
        }
    }
    let mean = of.stages.iter().map(|(mean, _)| mean).sum::<f64>() / f64::from(stages);
    graph.on(Machine::usual(draw, of.workers, mean, 0.05))
}

/// The number of items of a pipeline, and the mean of a stage.
fn size(draw: &mut Draw, stages: usize) -> (usize, f64) {
    let items = draw.count(20, MOST / stages);
    let mean = draw.log(3e6, 4e9) / items as f64;
    (items, mean.clamp(300.0, 5e8))
}

/// One serial stage is slower than the rest.
pub fn slow_stage(draw: &mut Draw) -> Program {
    let stages = draw.count(2, 8);
    let (items, mean) = size(draw, stages);
    let slow = draw.below(stages);
    let serial = draw.chance(0.5);
    let stages = (0..stages)
        .map(|stage| if stage == slow { (mean * draw.log(1.5, 8.0), true) } else { (mean, serial) })
        .collect();
    let (workers, buffer) = (draw.count(2, 32), draw.count(1, 64));
    pipeline(draw, &Pipeline { workers, items, stages, buffer })
}

/// Serial stages of about one length, with little room between them.
pub fn bounded_buffers(draw: &mut Draw) -> Program {
    let stages = draw.count(2, 8);
    let (items, mean) = size(draw, stages);
    let stages: Vec<(f64, bool)> = (0..stages).map(|_| (mean * draw.log(0.6, 1.7), true)).collect();
    let workers = draw.count(1, stages.len() + 2);
    let buffer = draw.count(1, 8);
    pipeline(draw, &Pipeline { workers, items, stages, buffer })
}

/// A worker makes items, and the others are done with them sooner.
pub fn slow_producer(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (8, 400));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let every = shape.mean / (shape.workers - 1) as f64 * draw.log(1.2, 10.0);
    let consume = tasks(draw, &mut graph, shape.count().min(MOST / 2), durations, shape.mean);
    let produce = graph.name("produce");
    let mut before = None;
    for task in consume {
        let ns = durations.draw(draw, every);
        let made = graph.alone(produce, ns);
        graph.get(made).after.extend(before);
        graph.pin(made, 0);
        graph.after(task, made);
        before = Some(made);
    }
    graph.on(Machine::usual(draw, shape.workers, every.min(shape.mean), 0.05))
}

/// A worker makes items faster than a few others take them. A buffer holds it up.
pub fn slow_consumers(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 64);
    let consumers = draw.count(1, workers - 1);
    let items = draw.count(20, MOST / 2);
    let consume_ns = (draw.log(3e6, 4e9) * consumers as f64 / items as f64).clamp(300.0, 5e8);
    let every = consume_ns / consumers as f64 * draw.log(0.02, 0.8);
    let buffer = draw.count(1, 100) + consumers;
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let (produce, consume) = (graph.name("produce"), graph.name("consume"));
    let family = graph.family();
    let mut taken: Vec<u32> = Vec::new();
    let mut before = None;
    for item in 0..items {
        let task = graph.work(consume, family, 1);
        let ns = durations.draw(draw, consume_ns);
        graph.get(task).body = crate::program::Body::Work(ns);
        graph.pin(task, 1 + item % consumers);
        let made = graph.steps(produce, NO_FAMILY, vec![Step::Spawn { cost_ns: every as u64 + 1, task }]);
        graph.pin(made, 0);
        graph.get(made).role = Role::Alone;
        graph.get(made).after.extend(before);
        if item >= buffer {
            graph.after(made, taken[item - buffer]);
        }
        taken.push(task);
        before = Some(made);
    }
    graph.on(Machine::usual(draw, workers, every, 0.05))
}
