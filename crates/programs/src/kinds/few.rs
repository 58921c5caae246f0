//! Programs with less to do at once than there are workers, always or at times.

use super::{
    healthy::{chains, layered, wavefront},
    shape::{MOST, Shape, all_after, tasks},
};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{NO_FAMILY, Program},
};

/// Independent tasks of this number.
fn some(draw: &mut Draw, workers: usize, count: usize) -> Program {
    let mean = draw.log(3e6, 5e8);
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    tasks(draw, &mut graph, count, durations, mean);
    graph.on(Machine::usual(draw, workers, mean, 0.02))
}

pub fn too_few(draw: &mut Draw) -> Program {
    let workers = draw.count(3, 128);
    let count = draw.count(1, workers - 1);
    some(draw, workers, count)
}

/// A little more than one task per worker, or than two.
pub fn too_coarse(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 128);
    let count = (workers as f64 * draw.uniform(1.02, 2.9)).ceil() as usize;
    some(draw, workers, count)
}

/// Chains side by side, and fewer than workers: more workers than can ever be used.
pub fn few_lanes(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 128);
    let lanes = draw.count(1, workers - 1);
    let shape = Shape::draw(draw, (lanes, lanes), (10, 2_000));
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    chains(draw, &mut graph, lanes, shape.each, durations, shape.mean);
    graph.on(Machine::usual(draw, workers, shape.mean, 0.08))
}

/// Rounds one after the other, each with its own number of tasks and their mean.
fn rounds(draw: &mut Draw, workers: usize, of: &[(usize, f64)], mean: f64) -> Program {
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let mut before = None;
    for (count, mean) in of {
        let round = tasks(draw, &mut graph, (*count).max(1), durations, *mean);
        all_after(&mut graph, &round, before);
        before = Some(graph.barrier(&round));
    }
    graph.on(Machine::usual(draw, workers, mean, 0.04))
}

/// Phases in turn: tasks for all workers, and tasks for half of them.
pub fn half_width(draw: &mut Draw) -> Program {
    let phases = draw.count(1, 12);
    let shape = Shape::draw(draw, (2, 128), (6 * phases, 60 * phases));
    let full = shape.count() / phases;
    let share = draw.log(0.2, 4.0);
    let narrow = shape.mean * (shape.each / phases) as f64 * share;
    let pieces = draw.pick(&[1, 1, 4]);
    let phase = |_| [(full, shape.mean), ((shape.workers / 2).max(1) * pieces, narrow / pieces as f64)];
    let of: Vec<(usize, f64)> = (0..phases).flat_map(phase).collect();
    rounds(draw, shape.workers, &of, shape.mean)
}

/// Widths from one end to the other.
fn widths(draw: &mut Draw, rising: bool) -> Program {
    let steps = draw.count(4, 30);
    let workers = draw.count(2, 128);
    let top = (workers as f64 * draw.uniform(0.7, 3.0)).ceil();
    let mean = draw.log(3e5, 2e8);
    let mut of: Vec<(usize, f64)> =
        (1..=steps).map(|step| ((top * step as f64 / steps as f64).ceil() as usize, mean)).collect();
    if !rising {
        of.reverse();
    }
    rounds(draw, workers, &of, mean)
}

pub fn warm_up(draw: &mut Draw) -> Program {
    if draw.chance(0.6) {
        return widths(draw, true);
    }
    // Each task starts two more, and those go on for a while.
    let workers = draw.count(4, 128);
    let shape = Shape { workers, each: draw.count(3, 40), mean: draw.log(3e5, 1e8) };
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let mut layer = tasks(draw, &mut graph, 1, durations, shape.mean);
    while layer.len() < shape.workers {
        let next = tasks(draw, &mut graph, layer.len() * 2, durations, shape.mean);
        for (index, task) in next.iter().enumerate() {
            graph.after(*task, layer[index / 2]);
        }
        layer = next;
    }
    let rest = tasks(draw, &mut graph, shape.count().min(MOST), durations, shape.mean);
    for (index, task) in rest.iter().enumerate() {
        graph.after(*task, layer[index % layer.len()]);
    }
    graph.on(Machine::usual(draw, workers, shape.mean, 0.04))
}

pub fn declining(draw: &mut Draw) -> Program {
    widths(draw, false)
}

pub fn narrow_wavefront(draw: &mut Draw) -> Program {
    let side = draw.count(3, 60);
    let workers = draw.count((side / 2).max(2), 128);
    wavefront(draw, side, workers)
}

pub fn narrow_graph(draw: &mut Draw) -> Program {
    let layers = draw.count(5, 200);
    let workers = draw.count(3, 128);
    let width = draw.count(1, workers);
    let mean = draw.log(5e5, 5e9 / layers as f64);
    layered(draw, Shape { workers, each: 1, mean: mean.min(1e8) }, layers, width)
}

/// Each task starts its children and ends, and some children have most of what is below.
pub fn unbalanced_tree(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 128);
    let count = draw.count(20, 4_000);
    let mean = (draw.log(5e6, 2e9) * workers as f64 / count as f64).clamp(300.0, 2e8);
    let mut graph = Graph::new();
    let (name, durations) = (graph.name("visit"), Durations::any(draw));
    let skew = draw.uniform(0.6, 0.98);
    let mut open = vec![(None, count)];
    while let Some((parent, size)) = open.pop() {
        let ns = durations.draw(draw, mean);
        let task = graph.work(name, NO_FAMILY, ns);
        graph.get(task).after.extend(parent);
        let below = size - 1;
        let heavy = (below as f64 * skew).round() as usize;
        for size in [heavy, below - heavy].into_iter().filter(|size| *size > 0) {
            open.push((Some(task), size));
        }
    }
    graph.on(Machine::usual(draw, workers, mean, 0.05))
}
