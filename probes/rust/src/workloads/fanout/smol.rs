//! smol's tasks, on an executor that has a thread per core and on a local one inside `block_on`.

use std::{collections::VecDeque, sync::Arc};

use serde_json::json;

use super::{Body, Form, Order, Plan, variant};
use crate::{
    runtimes::{Spawn, smol_executor, smol_local},
    sdk::{Phases, Timing, Variant},
    workloads::latch::Latch,
};

pub fn variants() -> Vec<Variant> {
    vec![
        variant("executor/spawn", json!({"only": {"order": ["ordered", "discard"]}}), Shared),
        variant("block_on/spawn", json!({"only": {"order": ["ordered", "discard"]}}), Local),
    ]
}

/// An `Executor` with a thread per core. The root future is on the thread that called `block_on`,
/// which runs no tasks.
struct Shared;

impl Form for Shared {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        smol::block_on(all(plan, smol_executor(), &body))
    }
}

/// A `LocalExecutor`, with everything on the thread that called `block_on`.
struct Local;

impl Form for Local {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        smol_local(|local| smol::block_on(local.run(all(plan, local, &body))))
    }
}

async fn all<B: Body>(plan: &Plan<'_>, executor: &impl Spawn, body: &B) -> Timing {
    match (plan.order, plan.window) {
        (Order::Discard, None) => {
            plan.time_async(async |phases| detached(plan, executor, body, phases).await).await
        }
        (Order::Discard, Some(window)) => {
            plan.time_async(async |phases| detached_windowed(plan, window, executor, body, phases).await)
                .await
        }
        (_, None) => plan.time_async(async |phases| in_order(plan, executor, body, phases).await).await,
        (_, Some(window)) => {
            plan.time_async(async |phases| in_order_windowed(plan, window, executor, body, phases).await)
                .await
        }
    }
}

async fn in_order<B: Body>(plan: &Plan<'_>, executor: &impl Spawn, body: &B, phases: &mut Phases) -> u64 {
    let mut tasks = Vec::with_capacity(plan.size);
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        tasks.push(executor.spawn(async move { body.result(i) }));
    }
    phases.created();
    let mut results = Vec::with_capacity(plan.size);
    for task in tasks {
        results.push(task.await);
    }
    body.ordered(&results)
}

async fn in_order_windowed<B: Body>(
    plan: &Plan<'_>,
    window: usize,
    executor: &impl Spawn,
    body: &B,
    phases: &mut Phases,
) -> u64 {
    let mut tasks = VecDeque::with_capacity(window);
    let mut results = Vec::with_capacity(plan.size);
    for i in 0..plan.size {
        if tasks.len() == window
            && let Some(oldest) = tasks.pop_front()
        {
            results.push(oldest.await);
        }
        body.created();
        let body = body.clone();
        tasks.push_back(executor.spawn(async move { body.result(i) }));
    }
    phases.created();
    for task in tasks {
        results.push(task.await);
    }
    body.ordered(&results)
}

async fn detached<B: Body>(plan: &Plan<'_>, executor: &impl Spawn, body: &B, phases: &mut Phases) -> u64 {
    let latch = Latch::new(plan.size as u64, 0);
    for i in 0..plan.size {
        body.created();
        let (body, latch) = (body.clone(), Arc::clone(&latch));
        let task = executor.spawn(async move {
            body.discard(i);
            latch.leave();
        });
        task.detach();
    }
    phases.created();
    latch.done().await;
    body.discarded(plan.size)
}

async fn detached_windowed<B: Body>(
    plan: &Plan<'_>,
    window: usize,
    executor: &impl Spawn,
    body: &B,
    phases: &mut Phases,
) -> u64 {
    let latch = Latch::new(0, window as u64);
    for i in 0..plan.size {
        latch.enter().await;
        body.created();
        let (body, latch) = (body.clone(), Arc::clone(&latch));
        let task = executor.spawn(async move {
            body.discard(i);
            latch.leave();
        });
        task.detach();
    }
    phases.created();
    latch.done().await;
    body.discarded(plan.size)
}
