//! Plain futures, polled by the thread that waits for them. The scheduler sees no task, so these
//! are lower bounds.

use futures_util::{
    future::join_all,
    stream::{FuturesUnordered, StreamExt},
};
use serde_json::json;

use super::{Body, Form, Plan, variant};
use crate::{
    runtimes::Flavour,
    sdk::{Phases, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let unordered = json!({"only": {"order": ["completion"]}});
    let join_all = json!({"only": {"order": ["ordered"]}});
    let both = Flavour::ALL.into_iter().flat_map(|(name, flavour)| {
        [
            variant(format!("{name}/FuturesUnordered"), unordered.clone(), Unordered(flavour)),
            variant(format!("{name}/join_all"), join_all.clone(), JoinAll(flavour)),
        ]
    });
    both.map(|one| Variant { creates_task: false, ..one }).collect()
}

/// `FuturesUnordered`, drained as futures finish.
struct Unordered(Flavour);

impl Form for Unordered {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        self.0.runtime().block_on(async {
            match plan.window {
                None => plan.time_async(async |phases| summed(plan, &body, phases).await).await,
                Some(window) => {
                    plan.time_async(async |phases| summed_windowed(plan, window, &body, phases).await).await
                }
            }
        })
    }
}

async fn summed<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let mut set = FuturesUnordered::new();
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        set.push(async move { body.result(i) });
    }
    phases.created();
    let mut sum = 0u64;
    while let Some(result) = set.next().await {
        sum = sum.wrapping_add(result);
    }
    sum
}

async fn summed_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let (mut set, mut sum) = (FuturesUnordered::new(), 0u64);
    for i in 0..plan.size {
        if set.len() == window
            && let Some(result) = set.next().await
        {
            sum = sum.wrapping_add(result);
        }
        body.created();
        let body = body.clone();
        set.push(async move { body.result(i) });
    }
    phases.created();
    while let Some(result) = set.next().await {
        sum = sum.wrapping_add(result);
    }
    sum
}

/// `join_all`; with a window, one `join_all` after another.
struct JoinAll(Flavour);

impl Form for JoinAll {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        self.0.runtime().block_on(async {
            match plan.window {
                None => plan.time_async(async |phases| joined(plan, &body, phases).await).await,
                Some(window) => {
                    plan.time_async(async |phases| joined_windowed(plan, window, &body, phases).await).await
                }
            }
        })
    }
}

async fn joined<B: Body>(plan: &Plan<'_>, body: &B, phases: &mut Phases) -> u64 {
    let mut futures = Vec::with_capacity(plan.size);
    for i in 0..plan.size {
        body.created();
        let body = body.clone();
        futures.push(async move { body.result(i) });
    }
    phases.created();
    body.ordered(&join_all(futures).await)
}

async fn joined_windowed<B: Body>(plan: &Plan<'_>, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let mut results = Vec::with_capacity(plan.size);
    for start in (0..plan.size).step_by(window) {
        let mut futures = Vec::with_capacity(window);
        for i in start..plan.size.min(start + window) {
            body.created();
            let body = body.clone();
            futures.push(async move { body.result(i) });
        }
        phases.created();
        results.extend(join_all(futures).await);
    }
    body.ordered(&results)
}
