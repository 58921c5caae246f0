//! tokio's tasks: `spawn` and `JoinSet`, on both schedulers.

use std::{collections::VecDeque, sync::Arc};

use serde_json::json;
use tokio::task::{JoinHandle, JoinSet};

use super::{Body, Form, Order, Plan, variant};
use crate::{
    runtimes::Flavour,
    sdk::{Phases, Timing, Variant},
    workloads::latch::Latch,
};

/// Why `expect` is sound here: a handle fails if its task was aborted, which nobody does, or if it
/// panicked, and then passing the panic on is right.
const NOT_ABORTED: &str = "a task that nobody aborts gives its result";

pub fn variants() -> Vec<Variant> {
    let spawn = json!({"only": {"order": ["ordered", "discard"]}});
    let join_set = json!({"only": {"order": ["completion", "discard"]}});
    let both = Flavour::ALL.into_iter().flat_map(|(name, flavour)| {
        [
            variant(format!("{name}/spawn"), spawn.clone(), Spawn(flavour)),
            variant(format!("{name}/JoinSet"), join_set.clone(), Set(flavour)),
        ]
    });
    both.collect()
}

/// `tokio::spawn`, with handles awaited in the order of creation. `discard` drops them.
struct Spawn(Flavour);

impl Form for Spawn {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        self.0.runtime().block_on(async {
            match (plan.order, plan.window) {
                (Order::Discard, None) => {
                    plan.time_async(async |phases| detached(plan, &body, phases).await).await
                }
                (Order::Discard, Some(window)) => {
                    plan.time_async(async |phases| detached_windowed(plan, window, &body, phases).await).await
                }
                (_, None) => plan.time_async(async |phases| in_order(plan, &body, phases).await).await,
                (_, Some(window)) => {
                    plan.time_async(async |phases| in_order_windowed(plan, window, &body, phases).await).await
                }
            }
        })
    }
}

async fn in_order<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let mut handles = Vec::with_capacity(plan.size);
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        handles.push(tokio::spawn(async move { body.result(i) }));
    }
    phases.created();
    let mut results = Vec::with_capacity(plan.size);
    for handle in handles {
        results.push(handle.await.expect(NOT_ABORTED));
    }
    body.ordered(&results)
}

async fn in_order_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let mut handles: VecDeque<JoinHandle<u64>> = VecDeque::with_capacity(window);
    let mut results = Vec::with_capacity(plan.size);
    for i in 0..plan.size {
        if handles.len() == window
            && let Some(oldest) = handles.pop_front()
        {
            results.push(oldest.await.expect(NOT_ABORTED));
        }
        body.created();
        let body = body.clone();
        handles.push_back(tokio::spawn(async move { body.result(i) }));
    }
    phases.created();
    for handle in handles {
        results.push(handle.await.expect(NOT_ABORTED));
    }
    body.ordered(&results)
}

async fn detached<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let latch = Latch::new(plan.size as u64, 0);
    for i in 0..plan.size {
        body.created();
        let (body, latch) = (body.clone(), Arc::clone(&latch));
        tokio::spawn(async move {
            body.discard(i);
            latch.leave();
        });
    }
    phases.created();
    latch.done().await;
    body.discarded(plan.size)
}

async fn detached_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let latch = Latch::new(0, window as u64);
    for i in 0..plan.size {
        latch.enter().await;
        body.created();
        let (body, latch) = (body.clone(), Arc::clone(&latch));
        tokio::spawn(async move {
            body.discard(i);
            latch.leave();
        });
    }
    phases.created();
    latch.done().await;
    body.discarded(plan.size)
}

/// `JoinSet`, drained as tasks finish. `discard` ignores their results.
struct Set(Flavour);

impl Form for Set {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        self.0.runtime().block_on(async {
            match (plan.order, plan.window) {
                (Order::Discard, None) => {
                    plan.time_async(async |phases| drained(plan, &body, phases).await).await
                }
                (Order::Discard, Some(window)) => {
                    plan.time_async(async |phases| drained_windowed(plan, window, &body, phases).await).await
                }
                (_, None) => plan.time_async(async |phases| summed(plan, &body, phases).await).await,
                (_, Some(window)) => {
                    plan.time_async(async |phases| summed_windowed(plan, window, &body, phases).await).await
                }
            }
        })
    }
}

async fn summed<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let mut set = JoinSet::new();
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        set.spawn(async move { body.result(i) });
    }
    phases.created();
    let mut sum = 0u64;
    while let Some(result) = set.join_next().await {
        sum = sum.wrapping_add(result.expect(NOT_ABORTED));
    }
    sum
}

async fn summed_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let (mut set, mut sum) = (JoinSet::new(), 0u64);
    for i in 0..plan.size {
        if set.len() == window
            && let Some(result) = set.join_next().await
        {
            sum = sum.wrapping_add(result.expect(NOT_ABORTED));
        }
        body.created();
        let body = body.clone();
        set.spawn(async move { body.result(i) });
    }
    phases.created();
    while let Some(result) = set.join_next().await {
        sum = sum.wrapping_add(result.expect(NOT_ABORTED));
    }
    sum
}

async fn drained<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let mut set = JoinSet::new();
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        set.spawn(async move { body.discard(i) });
    }
    phases.created();
    while set.join_next().await.is_some() {}
    body.discarded(plan.size)
}

async fn drained_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let mut set = JoinSet::new();
    for i in 0..plan.size {
        if set.len() == window {
            set.join_next().await;
        }
        body.created();
        let body = body.clone();
        set.spawn(async move { body.discard(i) });
    }
    phases.created();
    while set.join_next().await.is_some() {}
    body.discarded(plan.size)
}
