//! `nop`: `size` tasks that do nothing, started and awaited.

use std::{sync::Arc, thread};

use serde_json::{Value, json};

use super::{
    count::Count,
    fanout::{MAX_THREADS, WHY},
};
use crate::{
    runtimes::{Flavour, Spawn, smol_executor, smol_local},
    sdk::{Param, Phases, Run, Timing, Variant, Workload},
};

/// The workload `nop` with the variants of `runtime`. The answer of an iteration is the number of
/// tasks done.
pub fn workload(runtime: &str) -> Workload {
    let variants = match runtime {
        "tokio" => {
            let both = Flavour::ALL
                .map(|(name, flavour)| variant(format!("{name}/spawn"), json!({}), Tokio(flavour)));
            both.into()
        }
        "rayon" => vec![variant("scope", json!({}), Rayon)],
        "smol" => {
            vec![variant("executor/spawn", json!({}), Smol), variant("block_on/spawn", json!({}), SmolLocal)]
        }
        "threads" => vec![variant("scope", json!({"max_size": MAX_THREADS, "note": WHY}), Threads)],
        _ => Vec::new(),
    };
    let live = Param {
        name: "live",
        default: json!(0),
        choices: &[],
        help: "tasks alive at once, in batches; 0: all",
    };
    Workload { name: "nop", params: vec![live], variants }
}

/// What a task does: nothing, or counting itself.
trait Body: Clone + Send + Sync + 'static {
    fn created(&self) {}
    fn run(&self) {}
    /// The answer after `size` tasks were joined.
    fn answer(&self, size: usize) -> u64 {
        size as u64
    }
}

impl Body for () {}

impl Body for Arc<Count> {
    fn created(&self) {
        Count::created(self);
    }

    fn run(&self) {
        self.executed(1);
    }

    fn answer(&self, _size: usize) -> u64 {
        self.take_sum()
    }
}

/// A way of starting tasks and waiting for them, `live` at a time.
trait Form: 'static {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing;
}

fn variant(name: impl Into<String>, about: Value, form: impl Form) -> Variant {
    let perform = move |run: &Run| {
        let live = match run.param("live") {
            0 => run.size,
            live => live.min(run.size),
        };
        if run.param("verify") {
            let count = Arc::new(Count::default());
            let timing = form.perform(run, live as usize, Arc::clone(&count));
            count.report(run, timing)
        } else {
            Ok(form.perform(run, live as usize, ()))
        }
    };
    Variant { name: name.into(), creates_task: true, about, perform: Box::new(perform) }
}

/// The sizes of the batches: `live` each, and the rest in the last.
fn batches(run: &Run, live: usize) -> impl Iterator<Item = usize> {
    let size = run.size as usize;
    (0..size).step_by(live).map(move |start| live.min(size - start))
}

/// `tokio::spawn`, with handles awaited in the order of creation.
struct Tokio(Flavour);

impl Form for Tokio {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing {
        self.0.runtime().block_on(run.time_async(async |phases: &mut Phases| {
            for batch in batches(run, live) {
                let mut handles = Vec::with_capacity(batch);
                for _ in 0..batch {
                    body.created();
                    let body = body.clone();
                    handles.push(tokio::spawn(async move { body.run() }));
                }
                phases.created();
                for handle in handles {
                    // This fails if the task panicked, and then passing the panic on is right.
                    // Nobody aborts the task.
                    handle.await.expect("a task that nobody aborts ends");
                }
            }
            body.answer(run.size as usize)
        }))
    }
}

/// `rayon::scope`, one per batch.
struct Rayon;

impl Form for Rayon {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing {
        let body = &body;
        run.time(|phases| {
            for batch in batches(run, live) {
                rayon::scope(|scope| {
                    for _ in 0..batch {
                        body.created();
                        scope.spawn(move |_| body.run());
                    }
                    phases.created();
                });
            }
            body.answer(run.size as usize)
        })
    }
}

/// An executor of smol with a thread per core.
struct Smol;

impl Form for Smol {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing {
        smol::block_on(spawned(run, live, smol_executor(), body))
    }
}

/// A local executor of smol inside `block_on`.
struct SmolLocal;

impl Form for SmolLocal {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing {
        smol_local(|local| smol::block_on(local.run(spawned(run, live, local, body))))
    }
}

async fn spawned<B: Body>(run: &Run, live: usize, executor: &impl Spawn, body: B) -> Timing {
    let one = async |phases: &mut Phases| {
        for batch in batches(run, live) {
            let mut tasks = Vec::with_capacity(batch);
            for _ in 0..batch {
                body.created();
                let body = body.clone();
                tasks.push(executor.spawn(async move { body.run() }));
            }
            phases.created();
            for task in tasks {
                task.await;
            }
        }
        body.answer(run.size as usize)
    };
    run.time_async(one).await
}

/// `std::thread::scope`, one per batch.
struct Threads;

impl Form for Threads {
    fn perform<B: Body>(&self, run: &Run, live: usize, body: B) -> Timing {
        let body = &body;
        run.time(|phases| {
            for batch in batches(run, live) {
                thread::scope(|scope| {
                    for _ in 0..batch {
                        body.created();
                        scope.spawn(move || body.run());
                    }
                    phases.created();
                });
            }
            body.answer(run.size as usize)
        })
    }
}
