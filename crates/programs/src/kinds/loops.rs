//! Event loops and async lanes.

use super::shape::{Shape, common};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{Body, Program, Step},
};

/// Steps of an event loop: their mean, how often one is long, and how long it is.
struct Steps {
    mean: f64,
    long: f64,
    times: f64,
}

/// Fills a loop with steps, from outside at these times or all at once.
fn event_loop(draw: &mut Draw, times: &[Option<f64>], steps: &Steps) -> Program {
    let mut graph = Graph::new();
    let (name, family) = (common(draw, &mut graph), graph.family());
    let blocking = if draw.chance(0.5) { graph.name("query") } else { name };
    let waits = draw.chance(0.5);
    let durations = Durations::mild(draw);
    for time in times {
        let ns = durations.draw(draw, steps.mean);
        let task = if draw.chance(steps.long) {
            let long = durations.draw(draw, steps.mean * steps.times);
            if waits {
                graph.add(blocking, family, Body::Steps(vec![Step::Compute(ns), Step::Block(long)]))
            } else {
                graph.work(blocking, family, long)
            }
        } else {
            graph.work(name, family, ns)
        };
        if let Some(time) = time {
            graph.get(task).arrives_ns = Some(*time as u64);
            graph.get(task).answers = Some((*time as u64, 1));
        }
    }
    let machine = Machine::usual(draw, 1, steps.mean, 0.05);
    let arrivals = times.iter().any(Option::is_some);
    Program { event_loop: true, arrivals, ..graph.on(machine) }
}

pub fn loop_blocked(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 1), (200, 20_000));
    let long = draw.log(3.0 / shape.each as f64, 0.05);
    // Long steps take a tenth of the time to nine tenths of it.
    let share = draw.uniform(0.1, 0.9);
    let times = share / (1.0 - share) / long;
    let mean = shape.mean * (1.0 - share);
    event_loop(draw, &vec![None; shape.count()], &Steps { mean, long, times })
}

pub fn loop_healthy(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (1, 1), (200, 20_000));
    event_loop(draw, &vec![None; shape.count()], &Steps { mean: shape.mean, long: 0.0, times: 1.0 })
}

/// Events at random times: their number, the load of the loop, and long steps.
fn of_events(draw: &mut Draw, load: f64, long: f64, times: f64) -> Program {
    let count = draw.count(100, 20_000);
    let span = draw.log(1e7, 2e10);
    let every = span / count as f64;
    let mean = (every * load / (1.0 - long + long * times)).max(100.0);
    let mut now = 0.0;
    let arrivals: Vec<Option<f64>> = (0..count)
        .map(|_| {
            now += draw.exponential(every);
            Some(now)
        })
        .collect();
    event_loop(draw, &arrivals, &Steps { mean, long, times })
}

/// Requests to a loop, some of which block it.
pub fn loop_of_requests(draw: &mut Draw) -> Program {
    let (load, long, times) = (draw.uniform(0.1, 0.85), draw.log(0.003, 0.05), draw.log(10.0, 1_000.0));
    of_events(draw, load, long, times)
}

pub fn loop_idle(draw: &mut Draw) -> Program {
    let load = draw.log(0.01, 0.4);
    of_events(draw, load, 0.0, 1.0)
}

/// Every connection has a lane of its own. Lanes wait for the network most of the time, and share
/// few cores.
pub fn async_lanes(draw: &mut Draw) -> Program {
    let shape = Shape::draw(draw, (4, 128), (5, 200));
    let mut graph = Graph::new();
    let (name, family) = (common(draw, &mut graph), graph.family());
    let (work, wait) = (Durations::mild(draw), Durations::any(draw));
    let busy = draw.log(0.01, 0.3);
    for index in 0..shape.count() {
        let ns = work.draw(draw, shape.mean * busy);
        let io = wait.draw(draw, shape.mean * (1.0 - busy));
        let steps = vec![Step::Compute(ns / 2 + 1), Step::Block(io), Step::Compute(ns / 2 + 1)];
        let task = graph.steps(name, family, steps);
        graph.pin(task, index % shape.workers);
    }
    let mut machine = Machine::usual(draw, shape.workers, shape.mean, 0.01);
    machine.cores = Some(draw.count(1, 4) as u32);
    graph.on(machine)
}
