//! Programs whose tasks wait inside their spans: for locks, for input and output.

use super::shape::{Shape, common};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{Program, Step},
};

/// Tasks that work, hold a lock, and work again. The share is that of the lock in a task.
fn locked(draw: &mut Draw, shape: Shape, share: f64, sections: usize, reads: f64) -> Program {
    let mut graph = Graph::new();
    let (name, family, durations) = (common(draw, &mut graph), graph.family(), Durations::mild(draw));
    for _ in 0..shape.count() {
        let ns = durations.draw(draw, shape.mean) as f64;
        let held = (ns * share / sections as f64) as u64 + 1;
        let free = (ns * (1.0 - share) / (sections + 1) as f64) as u64 + 1;
        let mut steps = vec![Step::Compute(free)];
        for _ in 0..sections {
            let read = draw.chance(reads);
            steps.push(if read {
                Step::Read { lock: 0, ns: held }
            } else {
                Step::Lock { lock: 0, ns: held }
            });
            steps.push(Step::Compute(free));
        }
        graph.steps(name, family, steps);
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}

pub fn lock_convoy(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (3, 64), (30, 600));
    let share = (draw.log(1.3, 6.0) / shape.workers as f64).min(0.9);
    let sections = draw.count(1, 4);
    locked(draw, shape, share, sections, 0.0)
}

pub fn short_locks(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (30, 600));
    let share = draw.log(0.005, 0.15) / shape.workers as f64;
    let sections = draw.count(1, 4);
    locked(draw, shape, share, sections, 0.0)
}

pub fn readers_writer(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 64), (30, 600));
    let share = draw.uniform(0.05, 0.8);
    let reads = 1.0 - draw.log(0.005, 0.3);
    let sections = draw.count(1, 3);
    locked(draw, shape, share, sections, reads)
}

/// Tasks keep their workers while they wait for a disk or a network.
pub fn io_inside(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 64), (15, 600));
    let mut graph = Graph::new();
    let (name, family) = (common(draw, &mut graph), graph.family());
    let (work, wait) = (Durations::mild(draw), Durations::any(draw));
    let share = draw.uniform(0.1, 0.95);
    for _ in 0..shape.count() {
        let ns = work.draw(draw, shape.mean * (1.0 - share));
        let io = wait.draw(draw, shape.mean * share);
        graph.steps(
            name,
            family,
            vec![Step::Compute(ns / 2 + 1), Step::Block(io), Step::Compute(ns / 2 + 1)],
        );
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}
