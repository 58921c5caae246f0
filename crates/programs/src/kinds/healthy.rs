//! Programs with enough to do for all workers, as a rule.

use super::shape::{MOST, Shape, all_after, common, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Machine, Order, Queues},
    program::{Body, NO_FAMILY, Program, Step},
};

pub fn even_loop(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 128), (12, 2_000));
    let mut graph = Graph::new();
    let spread = draw.pick(&[0.0, 0.05, 0.3]);
    tasks(draw, &mut graph, shape.count(), Durations::Uniform { spread }, shape.mean);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

pub fn uneven_loop(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (40, 3_000));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// Tasks of some hundred nanoseconds, and a scheduler that is made for them.
pub fn small_tasks(draw: &mut Draw) -> Program {
    let mean = draw.log(300.0, 6_000.0);
    let each = draw.count((2.5e6 / mean) as usize + 1, MOST);
    let workers = draw.count(1, (MOST / each).clamp(1, 64));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    tasks(draw, &mut graph, each * workers, durations, mean);
    let mut machine = Machine::usual(draw, workers, mean, 0.06);
    machine.queues = Queues::Stealing;
    graph.on(machine)
}

pub fn fork_join_rounds(draw: &mut Draw) -> Program {
    let rounds = draw.count(2, 60);
    let shape = Shape::draw(draw, (1, 64), (12 * rounds, 80 * rounds));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let mut before = None;
    for _ in 0..rounds {
        let round = tasks(draw, &mut graph, shape.count() / rounds, durations, shape.mean);
        all_after(&mut graph, &round, before);
        before = Some(graph.barrier(&round));
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// Each task starts its children and ends.
pub fn spawn_tree(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (30, 2_000));
    let mut graph = Graph::new();
    let (arity, durations) = (draw.count(2, 8), Durations::mild(draw));
    let (name, leaf) = (graph.name("divide"), common(draw, &mut graph));
    let family = graph.family();
    let inner = shape.mean * draw.log(0.01, 0.3);
    let mut level = vec![graph.work(name, NO_FAMILY, inner as u64 + 1)];
    while level.len() * arity < shape.count() {
        let mut next = Vec::new();
        for parent in level {
            for _ in 0..arity {
                let ns = durations.draw(draw, inner);
                let child = graph.work(name, NO_FAMILY, ns);
                graph.after(child, parent);
                next.push(child);
            }
        }
        level = next;
    }
    let leaves = (shape.count() / level.len()).max(1);
    for parent in level {
        for _ in 0..leaves {
            let ns = durations.draw(draw, shape.mean);
            let child = graph.work(leaf, family, ns);
            graph.after(child, parent);
        }
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.queues = Queues::Stealing;
    machine.order = Order::Lifo;
    graph.on(machine)
}

/// A layered graph: each task waits for some tasks of the layer before.
pub fn wide_graph(draw: &mut Draw) -> Program {
    let layers = draw.count(3, 40);
    let shape = Shape::draw(draw, (1, 32), (6 * layers, 30 * layers));
    layered(draw, shape, layers, shape.count() / layers)
}

/// Layers of this width over tasks whose dependences are random.
pub fn layered(draw: &mut Draw, shape: Shape, layers: usize, width: usize) -> Program {
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let degree = draw.count(1, 4);
    let mut before: Vec<u32> = Vec::new();
    for _ in 0..layers {
        let layer = tasks(draw, &mut graph, width, durations, shape.mean);
        for task in layer.iter().filter(|_| !before.is_empty()) {
            for _ in 0..degree {
                let first = before[draw.below(before.len())];
                if !graph.get(*task).after.contains(&first) {
                    graph.after(*task, first);
                }
            }
        }
        before = layer;
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.06))
}

pub fn wide_wavefront(draw: &mut Draw) -> Program {
    let side = draw.count(24, 180);
    let workers = draw.count(1, (side / 12).max(1));
    wavefront(draw, side, workers)
}

/// Tiles of a square: each waits for the one above and the one to the left.
pub fn wavefront(draw: &mut Draw, side: usize, workers: usize) -> Program {
    let tiles = side * side;
    let window = draw.log(3e6, 4e9);
    let mean = (window * workers as f64 / tiles as f64).clamp(300.0, 5e8);
    let mut graph = Graph::new();
    let (name, durations) = (common(draw, &mut graph), Durations::mild(draw));
    let diagonals: Vec<u32> = (0..2 * side).map(|_| graph.family()).collect();
    for row in 0..side {
        for column in 0..side {
            let ns = durations.draw(draw, mean);
            let tile = graph.work(name, diagonals[row + column], ns);
            if row > 0 {
                graph.after(tile, tile - side as u32);
            }
            if column > 0 {
                graph.after(tile, tile - 1);
            }
        }
    }
    graph.on(Machine::usual(draw, workers, mean, 0.05))
}

/// Every stage serves many items at once.
pub fn parallel_pipeline(draw: &mut Draw) -> Program {
    let stages = draw.count(2, 8);
    let shape = Shape::draw(draw, (1, 48), (10 * stages, 200 * stages));
    let items = shape.count() / stages;
    let window = shape.workers * draw.count(3, 20);
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let stage: Vec<(u16, u32, f64)> = (0..stages)
        .map(|index| (graph.name(&format!("stage {index}")), graph.family(), draw.log(0.3, 3.0)))
        .collect();
    for item in 0..items {
        for (index, (name, family, scale)) in stage.iter().enumerate() {
            let ns = durations.draw(draw, shape.mean * scale);
            let id = graph.work(*name, *family, ns);
            if index > 0 {
                graph.after(id, id - 1);
            } else if item >= window {
                graph.after(id, id - (window * stages) as u32 + stages as u32 - 1);
            }
        }
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

pub fn priorities(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (30, 1_000));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    for task in tasks(draw, &mut graph, shape.count(), durations, shape.mean) {
        graph.get(task).priority = draw.below(10) as u32;
        // Some end with input or output.
        if draw.chance(0.02) {
            let io = (shape.mean * draw.uniform(0.0, 0.5)) as u64;
            let work = shape.mean as u64 + 1;
            graph.get(task).body = Body::Steps(vec![Step::Compute(work), Step::Block(io)]);
        }
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.order = Order::Priority;
    machine.queues = Queues::Shared;
    graph.on(machine)
}

/// More chains than workers.
pub fn many_chains(draw: &mut Draw) -> Program {
    let length = draw.count(3, 200);
    let shape = Shape::draw(draw, (1, 64), (6 * length, 40 * length));
    let durations = Durations::mild(draw);
    let mut graph = Graph::new();
    chains(draw, &mut graph, shape.count() / length, length, durations, shape.mean);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// Chains side by side.
pub fn chains(
    draw: &mut Draw,
    graph: &mut Graph,
    count: usize,
    length: usize,
    durations: Durations,
    mean: f64,
) {
    let mut before: Vec<u32> = Vec::new();
    for _ in 0..length {
        let links = tasks(draw, graph, count, durations, mean);
        for (link, first) in links.iter().zip(&before) {
            graph.after(*link, *first);
        }
        before = links;
    }
}
