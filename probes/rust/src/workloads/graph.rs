//! `graph`: `size` tasks, some of which begin only when others are done. Each awaits the handles of
//! the tasks that it depends on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::json;

use super::{
    count::Count,
    fanout::body::{Body, Counted, Plain, Spun},
};
use crate::{
    runtimes::Flavour,
    sdk::{Param, Phases, Run, Timing, Variant, Workload},
};

/// The workload `graph` on tokio's two schedulers. The answer of an iteration is the sum of the
/// tasks' results.
pub fn workload() -> Workload {
    let pattern = Param {
        name: "pattern",
        default: json!("trivial"),
        choices: &["trivial", "chain", "tree", "stencil"],
        help: "which task waits for which",
    };
    let work = Param {
        name: "work",
        default: json!(0),
        choices: &[],
        help: "steps of spin per task; 0: the task gives 31 * i",
    };
    let both = Flavour::ALL.map(|(name, flavour)| Variant {
        name: format!("{name}/spawn"),
        creates_task: true,
        about: json!({"note": "each task awaits the shared handles of those that come before it"}),
        perform: Box::new(move |run| {
            let graph = Graph::new(run);
            let spun = Spun { seed: run.seed, work: run.param("work") };
            if run.param("verify") {
                let count = Arc::new(Count::default());
                let counted = Counted { count: Arc::clone(&count), spun };
                let timing = perform(flavour, run, graph, Proven::new(counted, graph));
                count.report(run, timing)
            } else if spun.work == 0 {
                Ok(perform(flavour, run, graph, Plain))
            } else {
                Ok(perform(flavour, run, graph, spun))
            }
        }),
    });
    Workload { name: "graph", params: vec![pattern, work], variants: both.into() }
}

/// Starts the tasks by `tokio::spawn` in their order, then awaits each in that order.
fn perform<B: Body>(flavour: Flavour, run: &Run, graph: Graph, body: B) -> Timing {
    flavour.runtime().block_on(run.time_async(async |phases: &mut Phases| {
        let mut tasks = Vec::with_capacity(graph.size);
        for i in 0..graph.size {
            body.created();
            let before = graph.before(i).map(|j| j.and_then(|j| tasks.get(j).cloned()));
            let body = body.clone();
            let task = tokio::spawn(async move {
                for other in before.into_iter().flatten() {
                    let _: u64 = other.await;
                }
                body.result(i)
            });
            // A handle fails if its task was aborted, which nobody does, or if it panicked, and
            // then passing the panic on is right.
            tasks.push(
                task.map(|result| result.expect("a task that nobody aborts gives its result")).shared(),
            );
        }
        phases.created();
        let mut results = Vec::with_capacity(graph.size);
        for task in tasks {
            results.push(task.await);
        }
        body.ordered(&results)
    }))
}

/// Which task depends on which. A task depends only on tasks with smaller numbers.
#[derive(Clone, Copy)]
struct Graph {
    pattern: Pattern,
    size: usize,
    /// The number of tasks in a step of the stencil.
    width: usize,
}

#[derive(Clone, Copy)]
enum Pattern {
    Trivial,
    Chain,
    Tree,
    Stencil,
}

impl Graph {
    fn new(run: &Run) -> Self {
        let pattern = match run.param("pattern") {
            "chain" => Pattern::Chain,
            "tree" => Pattern::Tree,
            "stencil" => Pattern::Stencil,
            _ => Pattern::Trivial,
        };
        let size = run.size as usize;
        Graph { pattern, size, width: size.isqrt() }
    }

    /// The tasks that must be done before task `i` begins.
    fn before(&self, i: usize) -> [Option<usize>; 3] {
        match self.pattern {
            Pattern::Trivial => [None; 3],
            Pattern::Chain => [i.checked_sub(1), None, None],
            Pattern::Tree => [i.checked_sub(1).map(|i| i / 2), None, None],
            Pattern::Stencil => {
                let Some(above) = i.checked_sub(self.width) else { return [None; 3] };
                let column = i % self.width;
                let left = (column > 0).then(|| above - 1);
                let right = (column + 1 < self.width).then_some(above + 1);
                [left, Some(above), right]
            }
        }
    }
}

/// A counted body that proves that each task began after those it depends on.
#[derive(Clone)]
struct Proven {
    counted: Counted,
    graph: Graph,
    state: Arc<State>,
}

struct State {
    done: Vec<AtomicBool>,
    /// The number of a task that began too early, plus 1; 0 if there was none.
    early: AtomicU64,
}

impl Proven {
    fn new(counted: Counted, graph: Graph) -> Self {
        let done = (0..graph.size).map(|_| AtomicBool::new(false)).collect();
        Proven { counted, graph, state: Arc::new(State { done, early: AtomicU64::new(0) }) }
    }
}

impl Body for Proven {
    fn created(&self) {
        self.counted.created();
    }

    fn result(&self, i: usize) -> u64 {
        let done = &self.state.done;
        if self.graph.before(i).into_iter().flatten().any(|j| !done[j].load(SeqCst)) {
            self.state.early.store(i as u64 + 1, SeqCst);
        }
        let result = self.counted.result(i);
        // Some tasks linger, so that other workers can run ahead of them. Tasks that take no time
        // would mostly come in the right order even if nothing held them to it.
        if i.is_multiple_of(16) {
            thread::sleep(Duration::from_micros(100));
        }
        done[i].store(true, SeqCst);
        result
    }

    fn ordered(&self, results: &[u64]) -> u64 {
        let early = self.state.early.load(SeqCst);
        assert!(early == 0, "task {} began before a task that it depends on was done", early.wrapping_sub(1));
        for done in &self.state.done {
            done.store(false, SeqCst);
        }
        self.counted.ordered(results)
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Pattern};

    #[test]
    fn the_patterns_are_those_of_the_protocol() {
        let before = |pattern| -> Vec<Vec<usize>> {
            let graph = Graph { pattern, size: 10, width: 3 };
            (0..10).map(|i| graph.before(i).into_iter().flatten().collect()).collect()
        };
        assert!(before(Pattern::Trivial).iter().all(Vec::is_empty));
        assert_eq!(before(Pattern::Chain)[..4], [vec![], vec![0], vec![1], vec![2]]);
        assert_eq!(before(Pattern::Tree)[..6], [vec![], vec![0], vec![0], vec![1], vec![1], vec![2]]);
        // There are three tasks in a step, and the first of a fourth step.
        let steps =
            [vec![0, 1], vec![0, 1, 2], vec![1, 2], vec![3, 4], vec![3, 4, 5], vec![4, 5], vec![6, 7]];
        assert_eq!(before(Pattern::Stencil)[3..], steps);
    }
}
