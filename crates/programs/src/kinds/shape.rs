//! Sizes: how many workers, how many tasks for each, and how long they are.

use crate::{
    draw::{Draw, Durations},
    graph::Graph,
};

/// Most tasks that a kind starts from. What is added to them fits below 50,000.
pub const MOST: usize = 36_000;
/// Shortest and longest mean of a task.
const TASK: (f64, f64) = (300.0, 5e8);
/// Shortest and longest time of the work on all workers.
const WINDOW: (f64, f64) = (3e6, 8e9);

/// The size of a program.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub workers: usize,
    /// Tasks per worker.
    pub each: usize,
    pub mean: f64,
}

impl Shape {
    /// A size within these numbers of workers and of tasks for each.
    pub fn draw(draw: &mut Draw, workers: (usize, usize), each: (usize, usize)) -> Shape {
        let most = (MOST / each.0).min(workers.1);
        let workers = draw.count(workers.0, most);
        let each = draw.count(each.0, each.1.min(MOST / workers));
        let least = WINDOW.0.max(each as f64 * TASK.0);
        let window = draw.log(least, WINDOW.1.min(each as f64 * TASK.1).max(least));
        Shape { workers, each, mean: window / each as f64 }
    }

    pub fn count(self) -> usize {
        self.workers * self.each
    }

    /// The work of one worker.
    pub fn window(self) -> f64 {
        self.each as f64 * self.mean
    }
}

/// Names that people give to tasks.
const NAMES: [&str; 12] = [
    "render", "parse", "solve", "tile", "encode", "shard", "lookup", "step", "chunk", "item", "block",
    "handle",
];

/// A name for the common tasks of a program.
pub fn common(draw: &mut Draw, graph: &mut Graph) -> u16 {
    let name = draw.pick(&NAMES);
    graph.name(name)
}

/// Tasks that depend on nothing yet. They have one or two names.
pub fn tasks(draw: &mut Draw, graph: &mut Graph, count: usize, durations: Durations, mean: f64) -> Vec<u32> {
    let name = common(draw, graph);
    let other = if draw.chance(0.25) { common(draw, graph) } else { name };
    let family = graph.family();
    (0..count)
        .map(|index| {
            let ns = durations.draw(draw, mean);
            graph.work(if index % 3 == 0 { other } else { name }, family, ns)
        })
        .collect()
}

/// Has tasks wait for what came before.
pub fn all_after(graph: &mut Graph, tasks: &[u32], first: Option<u32>) {
    if let Some(first) = first {
        for task in tasks {
            graph.after(*task, first);
        }
    }
}
