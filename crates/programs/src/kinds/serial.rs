//! Programs in which one task at a time holds up the others.

use super::shape::{Shape, all_after, common, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{NO_FAMILY, Program},
};

/// A serial stage of a few tasks. Returns the first and the last.
fn stage(draw: &mut Draw, graph: &mut Graph, name: u16, ns: f64) -> (u32, u32) {
    let pieces = draw.pick(&[1, 1, 1, 3, 12]);
    let first = graph.alone(name, (ns / pieces as f64) as u64 + 1);
    let mut last = first;
    for _ in 1..pieces {
        let next = graph.alone(name, (ns / pieces as f64) as u64 + 1);
        graph.after(next, last);
        last = next;
    }
    (first, last)
}

pub fn serial_first(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (10, 600));
    let mut graph = Graph::new();
    let load = graph.name("load");
    let serial = shape.window() * draw.log(0.05, 2.0);
    let (_, last) = stage(draw, &mut graph, load, serial);
    let durations = Durations::mild(draw);
    let all = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    all_after(&mut graph, &all, Some(last));
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

pub fn serial_last(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 128), (10, 600));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let all = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let store = graph.name("store");
    let serial = shape.window() * draw.log(0.05, 2.0);
    let (first, _) = stage(draw, &mut graph, store, serial);
    let barrier = graph.barrier(&all);
    graph.after(first, barrier);
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}

/// Rounds with a serial stage in each.
fn periodic(draw: &mut Draw, loose: bool) -> Program {
    let rounds = draw.count(3, 80);
    let shape = Shape::draw(draw, (2, 64), (3 * rounds, 40 * rounds));
    let durations = Durations::mild(draw);
    let serial = shape.window() / rounds as f64 * draw.log(0.05, 2.5);
    let mut graph = Graph::new();
    let (name, update) = (common(draw, &mut graph), graph.name("update"));
    let mut parallel: Option<u32> = None;
    let mut stage: Option<u32> = None;
    for _ in 0..rounds {
        let family = graph.family();
        let ns = durations.draw(draw, serial);
        let alone = graph.alone(update, ns);
        // What a serial stage needs is the stage before. That it waits for the round is a habit.
        match (parallel, loose) {
            (Some(barrier), true) => graph.get(alone).loose.push(barrier),
            (Some(barrier), false) => graph.after(alone, barrier),
            _ => {}
        }
        graph.get(alone).after.extend(stage);
        let round: Vec<u32> = (0..shape.count() / rounds)
            .map(|_| {
                let ns = durations.draw(draw, shape.mean);
                let task = graph.work(name, family, ns);
                graph.after(task, alone);
                task
            })
            .collect();
        parallel = Some(graph.barrier(&round));
        stage = Some(alone);
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.05);
    machine.order = crate::machine::Order::Fifo;
    graph.on(machine)
}

pub fn serial_periodic(draw: &mut Draw) -> Program {
    periodic(draw, false)
}

pub fn serial_loose(draw: &mut Draw) -> Program {
    periodic(draw, true)
}

pub fn chain(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 128);
    let shape = Shape::draw(draw, (1, 1), (20, 20_000));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let links = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    for pair in links.windows(2) {
        graph.after(pair[1], pair[0]);
    }
    graph.on(Machine::usual(draw, workers, shape.mean, 0.2))
}

pub fn ping_pong(draw: &mut Draw) -> Program {
    token(draw, 2)
}

pub fn round_robin(draw: &mut Draw) -> Program {
    let workers = draw.count(3, 64);
    token(draw, workers)
}

/// A token goes from worker to worker, and who has it works.
fn token(draw: &mut Draw, workers: usize) -> Program {
    let shape = Shape::draw(draw, (1, 1), (10 * workers, 20_000));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let links = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    for (index, link) in links.iter().enumerate() {
        graph.pin(*link, index % workers);
        if index > 0 {
            graph.after(*link, links[index - 1]);
        }
    }
    graph.on(Machine::usual(draw, workers, shape.mean, 0.1))
}

/// As the factorisation of a matrix: a panel, then its updates, over less and less.
pub fn shrinking(draw: &mut Draw) -> Program {
    let side = draw.count(6, 44);
    let workers = draw.count(2, 64);
    let updates = (side * (side + 1) * (2 * side + 1)) / 6;
    let window = draw.log(3e6, 4e9);
    let mean = (window * workers as f64 / updates as f64).clamp(300.0, 5e8);
    let panel_ns = mean * draw.log(0.5, 6.0);
    let mut graph = Graph::new();
    let (panel, update) = (graph.name("panel"), graph.name("update"));
    let strict = draw.chance(0.5);
    let mut tiles: Vec<Option<u32>> = vec![None; side * side];
    let mut before = None;
    for step in 0..side {
        let family = graph.family();
        let first = graph.alone(panel, panel_ns as u64 + 1);
        if strict {
            graph.get(first).after.extend(before);
        } else {
            graph.get(first).after.extend(tiles[step * side + step]);
        }
        let mut round = Vec::new();
        for row in step + 1..side {
            for column in step + 1..side {
                let task = graph.work(update, family, mean as u64 + 1);
                graph.after(task, first);
                graph.get(task).after.extend(tiles[row * side + column]);
                tiles[row * side + column] = Some(task);
                round.push(task);
            }
        }
        before = Some(graph.barrier(&round));
    }
    graph.on(Machine::usual(draw, workers, mean, 0.05))
}

/// Tasks, then their results two by two.
pub fn reduction(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (2, 200));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let mut level = tasks(draw, &mut graph, shape.count(), durations, shape.mean);
    let combine = graph.name("combine");
    let mut mean = shape.mean * draw.log(0.05, 2.0);
    let growth = draw.pick(&[1.0, 1.0, 1.5]);
    while level.len() > 1 {
        let family = if level.len() > 3 { graph.family() } else { NO_FAMILY };
        level = level
            .chunks(2)
            .map(|pair| {
                let task = graph.work(combine, family, mean as u64 + 1);
                graph.get(task).after = pair.to_vec();
                task
            })
            .collect();
        mean *= growth;
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.05))
}
