//! Spans within spans.

use super::shape::{MOST, Shape, all_after, common};
use crate::{
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Machine, Order, Queues},
    program::{Body, NO_FAMILY, Place, Program, Step},
};

/// A task that works between calls of others, down to this depth. Its own share of the work is the
/// same at each level.
fn caller(
    draw: &mut Draw,
    graph: &mut Graph,
    names: &[u16],
    family: u32,
    calls: usize,
    ns: f64,
    own: f64,
) -> u32 {
    let (name, rest) = (names[0], &names[1..]);
    if rest.is_empty() {
        return graph.work(name, family, ns as u64 + 1);
    }
    let between = (ns * own / (calls + 1) as f64) as u64 + 1;
    let mut steps = vec![Step::Compute(between)];
    for _ in 0..calls {
        let scale = draw.uniform(0.7, 1.3);
        let inner = caller(draw, graph, rest, NO_FAMILY, calls, ns * (1.0 - own) / calls as f64 * scale, own);
        graph.get(inner).place = Place::Inline;
        steps.push(Step::Call(inner));
        steps.push(Step::Compute(between));
    }
    if draw.chance(0.3) {
        // Its last call ends when it ends.
        steps.pop();
    }
    graph.steps(name, family, steps)
}

/// A loop over tasks that call others.
fn calling(draw: &mut Draw, depth: usize, calls: usize) -> Program {
    let tree: usize = (0..=depth as u32).map(|level| calls.pow(level)).sum();
    let most = (MOST / tree / 8).max(8);
    let shape = Shape::draw(draw, (1, most.min(64)), (8, most.max(9)));
    let count = shape.count().min(MOST / tree).max(1);
    let mut graph = Graph::new();
    let names: Vec<u16> = (0..=depth).map(|level| graph.name(&format!("level {level}"))).collect();
    let (family, durations, own) = (graph.family(), Durations::mild(draw), draw.uniform(0.02, 0.7));
    let mean = shape.window() * shape.workers as f64 / count as f64;
    for _ in 0..count {
        let ns = durations.draw(draw, mean) as f64;
        caller(draw, &mut graph, &names, family, calls, ns, own);
    }
    graph.on(Machine::usual(draw, shape.workers, mean, 0.05))
}

pub fn parents_compute(draw: &mut Draw) -> Program {
    let (depth, calls) = (draw.count(1, 2), draw.count(1, 12));
    calling(draw, depth, calls)
}

pub fn deep_calls(draw: &mut Draw) -> Program {
    let (depth, calls) = (draw.count(3, 6), draw.count(1, 3));
    calling(draw, depth, calls)
}

/// A tree whose inner tasks start children and wait for them.
struct Tree {
    arity: usize,
    depth: usize,
    inner_ns: f64,
    leaf_ns: f64,
    help: bool,
    leaves: Durations,
}

fn tree(draw: &mut Draw, graph: &mut Graph, of: &Tree, names: (u16, u16), level: usize) -> u32 {
    if level == of.depth {
        let ns = of.leaves.draw(draw, of.leaf_ns);
        return graph.work(names.1, NO_FAMILY, ns);
    }
    let children: Vec<u32> = (0..of.arity).map(|_| tree(draw, graph, of, names, level + 1)).collect();
    let mut steps = vec![Step::Compute(of.inner_ns as u64 + 1)];
    steps.extend(children.iter().map(|task| Step::Spawn { cost_ns: 0, task: *task }));
    steps.push(Step::Join { help: of.help });
    if draw.chance(0.7) {
        steps.push(Step::Compute(of.inner_ns as u64 / 2 + 1));
    }
    let parent = graph.steps(names.0, NO_FAMILY, steps);
    for child in children {
        graph.get(child).parent = Some(parent);
    }
    parent
}

/// Recursive fork and join. Who waits executes other tasks.
pub fn help_first(draw: &mut Draw) -> Program {
    let workers = draw.count(1, 64);
    let (arity, depth): (usize, usize) =
        draw.pick(&[(2, 6), (2, 8), (2, 10), (2, 13), (4, 4), (4, 6), (8, 3), (8, 4), (30, 2)]);
    let leaves = arity.pow(depth as u32) as f64;
    let leaf_ns = (draw.log(3e6, 5e9) * workers as f64 / leaves).clamp(300.0, 5e8);
    let inner_ns = leaf_ns * draw.log(0.01, 0.5);
    let mut graph = Graph::new();
    let names = (graph.name("divide"), common(draw, &mut graph));
    let leaves = Durations::any(draw);
    tree(draw, &mut graph, &Tree { arity, depth, inner_ns, leaf_ns, help: true, leaves }, names, 0);
    let mut machine = Machine::usual(draw, workers, leaf_ns, 0.05);
    machine.queues = Queues::Stealing;
    machine.order = Order::Lifo;
    graph.on(machine)
}

/// Recursive fork and join on threads that wait. There are more threads than waiting tasks.
pub fn waiting_tree(draw: &mut Draw) -> Program {
    let middle = draw.count(2, 30);
    let workers = middle + 1 + draw.count(1, 60);
    let arity = draw.count(2, (MOST / middle).min(200));
    let leaves = (middle * arity) as f64;
    let leaf_ns = (draw.log(3e6, 5e9) * workers as f64 / leaves).clamp(300.0, 5e8);
    let inner_ns = leaf_ns * draw.log(0.01, 0.5);
    let mut graph = Graph::new();
    let names = (graph.name("divide"), common(draw, &mut graph));
    let of = Tree { arity, depth: 2, inner_ns, leaf_ns, help: false, leaves: Durations::mild(draw) };
    let parents: Vec<u32> = (0..middle).map(|_| tree(draw, &mut graph, &of, names, 1)).collect();
    let mut steps: Vec<Step> = parents.iter().map(|task| Step::Spawn { cost_ns: 0, task: *task }).collect();
    steps.push(Step::Join { help: false });
    let root = graph.steps(names.0, NO_FAMILY, steps);
    for parent in parents {
        graph.get(parent).parent = Some(root);
    }
    graph.on(Machine::usual(draw, workers, leaf_ns, 0.05))
}

/// Some parents start tasks and keep their workers until all are done, round after round.
pub fn parents_wait(draw: &mut Draw) -> Program {
    let workers = draw.count(2, 64);
    let parents = draw.count(1, workers - 1);
    let rounds = draw.count(1, 30);
    let each = draw.count(2, (MOST / parents / rounds).clamp(2, 400));
    waiting(draw, workers, parents, rounds, each, false)
}

/// One span per phase covers all that is done in it. Its worker works too.
pub fn phases_help(draw: &mut Draw) -> Program {
    let (workers, rounds) = (draw.count(1, 64), draw.count(1, 30));
    let each = draw.count(8 * workers, (MOST / rounds).min(60 * workers).max(8 * workers));
    waiting(draw, workers, 1, rounds, each, true)
}

/// One span per phase covers all that is done in it. Its worker only waits.
pub fn phases_wait(draw: &mut Draw) -> Program {
    let (workers, rounds) = (draw.count(2, 64), draw.count(1, 30));
    let each = draw.count(8 * workers, (MOST / rounds).min(60 * workers).max(8 * workers));
    waiting(draw, workers, 1, rounds, each, false)
}

fn waiting(
    draw: &mut Draw,
    workers: usize,
    parents: usize,
    rounds: usize,
    each: usize,
    help: bool,
) -> Program {
    let all = (parents * rounds * each) as f64;
    let mean = (draw.log(3e6, 4e9) * workers as f64 / all).clamp(300.0, 5e8);
    let own = mean * draw.log(0.01, 1.0);
    let mut graph = Graph::new();
    let (phase, name, family) = (graph.name("phase"), common(draw, &mut graph), graph.family());
    let durations = Durations::mild(draw);
    let mut before = None;
    for _ in 0..rounds {
        let mut round = Vec::new();
        for worker in 0..parents {
            let children: Vec<u32> = (0..each)
                .map(|_| {
                    let ns = durations.draw(draw, mean);
                    graph.work(name, family, ns)
                })
                .collect();
            let mut steps = vec![Step::Compute(own as u64 + 1)];
            steps.extend(children.iter().map(|task| Step::Spawn { cost_ns: 0, task: *task }));
            steps.extend([Step::Join { help }, Step::Compute(own as u64 + 1)]);
            let parent = graph.add(phase, NO_FAMILY, Body::Steps(steps));
            graph.pin(parent, worker);
            for child in children {
                graph.get(child).parent = Some(parent);
            }
            round.push(parent);
        }
        all_after(&mut graph, &round, before);
        before = Some(graph.barrier(&round));
    }
    graph.on(Machine::usual(draw, workers, mean, 0.05))
}
