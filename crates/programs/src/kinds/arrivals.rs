//! Programs whose work comes from outside: servers, clients, frames, ticks.

use super::shape::{MOST, common};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::Machine,
    program::{NO_FAMILY, Program, Role},
};

/// A server: workers, requests, the mean work of one, and the mean time between two.
struct Server {
    workers: usize,
    requests: usize,
    mean: f64,
    every: f64,
}

impl Server {
    /// 5 to 90 % load. The span of arrivals is 5 ms to 20 s.
    fn draw(draw: &mut Draw, spans_each: usize) -> Server {
        let workers = draw.count(1, 64);
        let load = draw.uniform(0.05, 0.9);
        let requests = draw.count(60, MOST / spans_each);
        let span = draw.log(5e6, 2e10);
        let every = span / requests as f64;
        let mean = (every * load * workers as f64).clamp(300.0, span / 20.0);
        Server { workers, requests, mean, every: mean / load / workers as f64 }
    }

    fn machine(&self, draw: &mut Draw) -> Machine {
        Machine::usual(draw, self.workers, self.mean, 0.05)
    }
}

/// One task per request, which arrives at its time.
fn requests(draw: &mut Draw, graph: &mut Graph, times: &[f64], mean: f64) {
    let (name, family, durations) = (common(draw, graph), graph.family(), Durations::any(draw));
    for time in times {
        let ns = durations.draw(draw, mean);
        let task = graph.work(name, family, ns);
        graph.get(task).arrives_ns = Some(*time as u64);
        graph.get(task).answers = Some((*time as u64, 1));
    }
}

/// The program of a server.
fn serve(graph: Graph, machine: Machine) -> Program {
    Program { arrivals: true, ..graph.on(machine) }
}

pub fn poisson_server(draw: &mut Draw) -> Program {
    let server = Server::draw(draw, 1);
    let mut graph = Graph::new();
    let times = poisson(draw, &server);
    requests(draw, &mut graph, &times, server.mean);
    let machine = server.machine(draw);
    serve(graph, machine)
}

fn poisson(draw: &mut Draw, server: &Server) -> Vec<f64> {
    let mut now = 0.0;
    (0..server.requests)
        .map(|_| {
            now += draw.exponential(server.every);
            now
        })
        .collect()
}

pub fn periodic_server(draw: &mut Draw) -> Program {
    let server = Server::draw(draw, 1);
    let mut graph = Graph::new();
    let jitter = draw.pick(&[0.0, 0.2]);
    let times: Vec<f64> =
        (0..server.requests).map(|index| server.every * (index as f64 + jitter * draw.unit())).collect();
    requests(draw, &mut graph, &times, server.mean);
    let machine = server.machine(draw);
    serve(graph, machine)
}

/// Requests come in bursts.
pub fn bursty_server(draw: &mut Draw) -> Program {
    let server = Server::draw(draw, 1);
    let mut graph = Graph::new();
    let size = draw.count(2, 40);
    let mut now = 0.0;
    let mut times = Vec::new();
    while times.len() < server.requests {
        now += draw.exponential(server.every * size as f64);
        times.extend((0..draw.count(1, 2 * size)).map(|_| now));
    }
    times.truncate(server.requests);
    requests(draw, &mut graph, &times, server.mean);
    let machine = server.machine(draw);
    serve(graph, machine)
}

/// A request is parsed, served by some tasks at once, and answered.
pub fn forking_server(draw: &mut Draw) -> Program {
    let branches = draw.count(2, 8);
    let server = Server::draw(draw, branches + 2);
    let mut graph = Graph::new();
    let (parse, part, answer) = (graph.name("parse"), graph.name("part"), graph.name("answer"));
    let mean = server.mean / (branches as f64 + 1.0);
    let durations = Durations::any(draw);
    for time in poisson(draw, &server) {
        let [first_ns, last_ns] = [(); 2].map(|()| durations.draw(draw, mean / 2.0));
        let first = graph.work(parse, NO_FAMILY, first_ns);
        graph.get(first).arrives_ns = Some(time as u64);
        let parts: Vec<u32> = (0..branches)
            .map(|_| {
                let ns = durations.draw(draw, mean);
                let task = graph.work(part, NO_FAMILY, ns);
                graph.after(task, first);
                task
            })
            .collect();
        let last = graph.work(answer, NO_FAMILY, last_ns);
        graph.get(last).after = parts;
        graph.get(last).answers = Some((time as u64, 1));
    }
    let machine = Machine::usual(draw, server.workers, mean, 0.05);
    serve(graph, machine)
}

/// Clients that think, ask, and wait for the answer.
pub fn clients(draw: &mut Draw) -> Program {
    let workers = draw.count(1, 64);
    let load = draw.uniform(0.05, 0.9);
    let times = draw.log(2.0, 100.0);
    let mean = draw.log(1e4, 3e6);
    let think = mean * times;
    let clients = ((workers as f64 * load * (1.0 + times)).round() as usize).clamp(1, 2_000);
    let rounds = draw.count(3, (MOST / clients).clamp(3, 300));
    let mut graph = Graph::new();
    let (name, durations) = (common(draw, &mut graph), Durations::any(draw));
    for _ in 0..clients {
        let mut before = Vec::new();
        for _ in 0..rounds {
            let ns = draw.exponential(think) as u64 + 1;
            let thought = graph.host(Role::Plain, ns, &before);
            let ns = durations.draw(draw, mean);
            let task = graph.work(name, NO_FAMILY, ns);
            graph.after(task, thought);
            before = vec![task];
        }
    }
    let machine = Machine::usual(draw, workers, mean, 0.05);
    serve(graph, machine)
}

/// A frame every sixtieth of a second: some tasks, then one that shows them.
pub fn frames(draw: &mut Draw) -> Program {
    let period = draw.pick(&[1e9 / 60.0, 1e9 / 60.0, 1e9 / 144.0, 1e9 / 30.0]);
    let workers = draw.count(1, 32);
    let frames = draw.count(3, 600);
    let tasks = draw.count(2, (MOST / frames).clamp(2, 400));
    let load = draw.uniform(0.05, 0.7);
    let mean = (period * load * workers as f64 / tasks as f64).min(period * load * 0.5).max(300.0);
    let mut graph = Graph::new();
    let (update, show, durations) = (common(draw, &mut graph), graph.name("show"), Durations::mild(draw));
    let mut shown: Option<u32> = None;
    for frame in 0..frames {
        let arrives = (frame as f64 * period) as u64;
        let family = graph.family();
        let parts: Vec<u32> = (0..tasks)
            .map(|_| {
                let ns = durations.draw(draw, mean);
                let task = graph.work(update, family, ns);
                graph.get(task).arrives_ns = Some(arrives);
                graph.get(task).after.extend(shown);
                task
            })
            .collect();
        let last = graph.work(show, NO_FAMILY, (period * 0.02) as u64);
        graph.get(last).after = parts;
        graph.get(last).answers = Some((arrives, 1));
        shown = Some(last);
    }
    let machine = Machine::usual(draw, workers, mean, 0.05);
    serve(graph, machine)
}

/// Timers that each start a task now and then.
pub fn ticks(draw: &mut Draw) -> Program {
    let workers = draw.count(1, 16);
    let timers = draw.count(1, 20);
    let mut graph = Graph::new();
    let durations = Durations::mild(draw);
    let span = draw.log(1e7, 2e10);
    for _ in 0..timers {
        let every = span / draw.log(20.0, 1_500.0);
        let phase = draw.unit() * every;
        let times: Vec<f64> = (0..(span / every) as usize).map(|tick| phase + tick as f64 * every).collect();
        let load = draw.uniform(0.02, 0.7) * workers as f64 / timers as f64;
        let mean = (every * load.min(0.8)).max(300.0);
        let (name, family) = (common(draw, &mut graph), graph.family());
        for time in times {
            let ns = durations.draw(draw, mean);
            let task = graph.work(name, family, ns);
            graph.get(task).arrives_ns = Some(time as u64);
            graph.get(task).answers = Some((time as u64, 1));
        }
    }
    let machine = Machine::usual(draw, workers, span / 1e4, 0.02);
    serve(graph, machine)
}
