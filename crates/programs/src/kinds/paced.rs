//! Programs that follow a clock: clients of a constant rate, the stages of frames, a master of
//! constant pace.

use super::shape::{MOST, Shape, common, tasks};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{NO_FAMILY, Program, Role},
};

/// Clients that each send at a constant rate, in bursts, and a little off their time.
pub fn paced_clients(draw: &mut Draw) -> Program {
    let workers = draw.count(1, 32);
    let clients = draw.pick(&[1, 1, 2, 3]);
    let burst = draw.pick(&[1, 1, 1, 2, 5]);
    let jitter = draw.pick(&[0.0, 0.02, 0.05, 0.2]);
    let ticks = draw.count(60, 3_000);
    let every = draw.log(2e4, 2e7);
    let load = draw.uniform(0.05, 0.9);
    let mean = every * load * workers as f64 / (clients * burst) as f64;
    let mut graph = Graph::new();
    let (name, family, durations) = (common(draw, &mut graph), graph.family(), Durations::any(draw));
    for _ in 0..clients {
        let phase = draw.unit() * every;
        for tick in 0..ticks {
            let at = phase + every * (tick as f64 + jitter * draw.unit());
            for _ in 0..burst {
                let ns = durations.draw(draw, mean);
                let task = graph.work(name, family, ns);
                graph.get(task).arrives_ns = Some(at as u64);
                graph.get(task).answers = Some((at as u64, 1));
            }
        }
    }
    Program { arrivals: true, ..graph.on(Machine::usual(draw, workers, mean, 0.05)) }
}

/// Frames of a screen or a camera, each of which goes through stages on threads of their own. No
/// stage takes as long as a frame lasts.
pub fn screen_stages(draw: &mut Draw) -> Program {
    let period = draw.pick(&[1e9 / 30.0, 1e9 / 60.0, 1e9 / 60.0, 1e9 / 120.0]);
    let stages = draw.count(2, 5);
    let parts = draw.pick(&[1, 1, 4]);
    let frames = draw.count(60, 900);
    let loads: Vec<f64> = (0..stages).map(|_| draw.uniform(0.1, 0.8)).collect();
    let mut graph = Graph::new();
    let names: Vec<u16> = (0..stages).map(|stage| graph.name(&format!("stage {stage}"))).collect();
    let mut before: Vec<Option<u32>> = vec![None; stages];
    for frame in 0..frames {
        let arrives = (frame as f64 * period) as u64;
        let mut last = None;
        for stage in 0..stages {
            for _ in 0..parts {
                let ns = period * loads[stage] * draw.uniform(0.9, 1.1) / parts as f64;
                let task = graph.work(names[stage], NO_FAMILY, ns as u64);
                graph.pin(task, stage);
                graph.get(task).arrives_ns = Some(arrives);
                graph.get(task).after.extend(last.into_iter().chain(before[stage]));
                (last, before[stage]) = (Some(task), Some(task));
            }
        }
        if let Some(last) = last {
            graph.get(last).answers = Some((arrives, 1));
        }
    }
    Program { arrivals: true, ..graph.on(Machine::usual(draw, stages, period / 10.0, 0.02)) }
}

/// A thread that is no worker makes the tasks one by one, each in nearly the same time.
pub fn steady_host(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (2, 32), (20, 400));
    let mut graph = Graph::new();
    let durations = Durations::any(draw);
    let toll = shape.mean / shape.workers as f64 * draw.log(1.2, 4.0);
    let jitter = draw.pick(&[0.0, 0.01, 0.1]);
    let all = tasks(draw, &mut graph, shape.count().min(MOST / 2), durations, shape.mean);
    let family = graph.family();
    let mut before: Vec<u32> = Vec::new();
    for task in all {
        let ns = toll * (1.0 + jitter * (draw.unit() - 0.5));
        let handed = graph.host(Role::Toll, ns as u64 + 1, &before);
        graph.get(handed).family = family;
        graph.after(task, handed);
        before = vec![handed];
    }
    graph.on(Machine::usual(draw, shape.workers, shape.mean, 0.03))
}
