//! Programs whose tasks or whose workers differ much.

use super::shape::{MOST, Shape, all_after, common, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Machine, Order, Queues},
    program::{Body, Program},
};

/// A loop in which some tasks take a share of the window each.
fn stragglers(draw: &mut Draw, count: usize) -> Program {
    let shape = Shape::draw(draw, (2, 128), (6, 400));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let all = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let named = draw.chance(0.3).then(|| graph.name("large"));
    let late = draw.chance(0.6);
    for _ in 0..count.min(all.len() / 4) {
        let at = if late { all.len() - 1 - draw.below(all.len() / 4) } else { draw.below(all.len()) };
        let task = graph.get(all[at]);
        task.body = Body::Work((shape.window() * draw.log(0.3, 3.0)) as u64 + 1);
        task.name = named.unwrap_or(task.name);
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

pub fn one_straggler(draw: &mut Draw) -> Program {
    stragglers(draw, 1)
}

pub fn several_stragglers(draw: &mut Draw) -> Program {
    let count = draw.count(2, 12);
    stragglers(draw, count)
}

pub fn heavy_tail(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (4, 200));
    let mut graph = Graph::new();
    let alpha = draw.uniform(1.1, 1.8);
    tasks(draw, &mut graph, shape.count(), Durations::HeavyTail { alpha }, shape.mean);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

pub fn two_sizes(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (4, 100));
    let mut graph = Graph::new();
    let durations = Durations::Bimodal { share: draw.log(0.005, 0.3), times: draw.log(4.0, 100.0) };
    tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// What an iteration costs by its place in the loop.
fn slope(draw: &mut Draw) -> impl Fn(f64) -> f64 + use<> {
    let (kind, power, from, depth) =
        (draw.below(3), draw.uniform(0.5, 3.0), draw.uniform(0.0, 0.9), draw.log(2.0, 10.0));
    move |place: f64| match kind {
        // Triangular loops.
        0 => (power + 1.0) * place.powf(power),
        1 => (power + 1.0) * (1.0 - place).powf(power),
        // A dense region.
        _ => {
            if place >= from && place < from + 0.1 {
                depth
            } else {
                (10.0 - depth) / 9.0
            }
        }
    }
}

/// A loop of pinned tasks: the same count for each worker, in one piece.
pub fn static_loop(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (10, 800));
    let mut graph = Graph::new();
    let (name, family, cost) = (common(draw, &mut graph), graph.family(), slope(draw));
    let cyclic = draw.chance(0.1);
    for index in 0..shape.count() {
        let place = index as f64 / shape.count() as f64;
        let id = graph.work(name, family, (shape.mean * cost(place)) as u64 + 1);
        graph.pin(id, if cyclic { index % shape.workers } else { index / shape.each });
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}

/// A loop in one span per worker, or in a few.
pub fn static_chunks(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (16, 200));
    let mut graph = Graph::new();
    let (name, cost, durations) = (common(draw, &mut graph), slope(draw), Durations::mild(draw));
    let loops = draw.pick(&[1, 1, 3, 10]);
    let mut before = None;
    for _ in 0..loops {
        let family = graph.family();
        let all: Vec<u64> = (0..shape.count())
            .map(|index| {
                let ns = durations.draw(draw, shape.mean / loops as f64) as f64;
                (ns * cost(index as f64 / shape.count() as f64)) as u64 + 1
            })
            .collect();
        let mut chunks = Vec::new();
        for (worker, parts) in all.chunks(shape.each).enumerate() {
            let id = graph.add(name, family, Body::Parts(parts.to_vec()));
            graph.pin(id, worker);
            chunks.push(id);
        }
        all_after(&mut graph, &chunks, before);
        before = Some(graph.barrier(&chunks));
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}

/// Tasks go to workers by a key, and some keys are frequent.
pub fn skewed_pins(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (10, 600));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let skew = draw.log(0.1, 1.2);
    let weights: Vec<f64> = (1..=shape.workers).map(|rank| (rank as f64).powf(-skew)).collect();
    let total: f64 = weights.iter().sum();
    for task in tasks(draw, &mut graph, shape.count(), durations, shape.mean) {
        let mut left = draw.unit() * total;
        let worker = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        graph.pin(task, worker.unwrap_or(0));
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}

/// Some workers are slower, and tasks are pinned or not.
pub fn slow_workers(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (10, 600));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let pinned = draw.chance(0.6);
    for (index, task) in tasks(draw, &mut graph, shape.count(), durations, shape.mean).iter().enumerate() {
        if pinned {
            graph.pin(*task, index % shape.workers);
        }
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.03);
    let (slow, speed) = (draw.uniform(0.05, 0.6), draw.uniform(0.3, 0.9));
    machine.speeds = (0..shape.workers).map(|_| if draw.chance(slow) { speed } else { 1.0 }).collect();
    graph.on(machine)
}

/// Rounds with a task for each worker.
pub fn uneven_rounds(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (4, 300));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    // The same worker has more in each round, or another one does. What a worker has are elements
    // of one length, as a rule.
    let fixed = draw.chance(0.5);
    let elements = draw.pick(&[1, 4, 16, 50]) as u64;
    let shares: Vec<u64> = (0..shape.workers).map(|_| durations.draw(draw, shape.mean)).collect();
    let mut before = None;
    for _ in 0..shape.each {
        let round = tasks(draw, &mut graph, shape.workers, durations, shape.mean);
        for (worker, task) in round.iter().enumerate() {
            graph.pin(*task, worker);
            let Body::Work(drawn) = graph.get(*task).body else { continue };
            let ns = if fixed { shares[worker] } else { drawn };
            let unit = (shape.mean as u64 / elements).max(1);
            let count = (ns / unit).max(1);
            if elements > 1 {
                graph.get(*task).body = Body::Parts(vec![ns / count; count as usize]);
            }
        }
        all_after(&mut graph, &round, before);
        before = Some(graph.barrier(&round));
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// Maps, then one reducer per partition of the keys.
pub fn map_reduce(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (6, 300));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let (map, reduce) = (graph.name("map"), graph.name("reduce"));
    let family = graph.family();
    let maps: Vec<u32> = (0..shape.count())
        .map(|_| {
            let ns = durations.draw(draw, shape.mean);
            graph.work(map, family, ns)
        })
        .collect();
    let shuffle = graph.barrier(&maps);
    let partitions = shape.workers * draw.count(1, 4);
    let keys = draw.count(partitions, (partitions * 60).min(MOST / 8).max(partitions));
    let skew = draw.uniform(0.0, 1.3);
    let weights: Vec<f64> = (1..=keys).map(|rank| (rank as f64).powf(-skew)).collect();
    let total: f64 = weights.iter().sum();
    let all = shape.window() * shape.workers as f64 * draw.log(0.1, 1.5);
    let mut parts: Vec<Vec<u64>> = vec![Vec::new(); partitions];
    for weight in weights {
        parts[draw.below(partitions)].push((all * weight / total) as u64 + 1);
    }
    let family = graph.family();
    for keys in parts.into_iter().filter(|keys| !keys.is_empty()) {
        let task = graph.add(reduce, family, Body::Parts(keys));
        graph.after(task, shuffle);
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.04);
    machine.queues = Queues::Shared;
    machine.order = Order::Fifo;
    graph.on(machine)
}
