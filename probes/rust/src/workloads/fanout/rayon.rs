//! rayon's pool, called from outside as a program's main thread calls it. Each scope starts with a
//! hand-over.

use rayon::prelude::*;
use serde_json::json;

use super::{Body, Form, Order, Plan, variant};
use crate::sdk::{Phases, Timing, Variant};

pub fn variants() -> Vec<Variant> {
    let scope = json!({"only": {"order": ["ordered", "discard"]}});
    let par_iter = json!({
        "only": {"order": ["ordered", "discard"], "window": [0]},
        "note": "splits the range by need: far fewer jobs than units",
    });
    vec![
        variant("scope", scope, Scope),
        Variant { creates_task: false, ..variant("par_iter", par_iter, ParIter) },
    ]
}

/// `rayon::scope`, each task writing its own slot; with a window, one scope after another.
struct Scope;

impl Form for Scope {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        let window = plan.window.unwrap_or(plan.size);
        match plan.order {
            Order::Discard => plan.time(|phases| discarded(plan, window, &body, phases)),
            _ => plan.time(|phases| in_slots(plan, window, &body, phases)),
        }
    }
}

fn in_slots<B: Body>(plan: &Plan, window: usize, body: &B, phases: &mut Phases) -> u64 {
    let mut results = vec![0; plan.size];
    for (batch, slots) in results.chunks_mut(window).enumerate() {
        let start = batch * window;
        rayon::scope(|scope| {
            for (offset, slot) in slots.iter_mut().enumerate() {
                body.created();
                scope.spawn(move |_| *slot = body.result(start + offset));
            }
            phases.created();
        });
    }
    body.ordered(&results)
}

fn discarded<B: Body>(plan: &Plan, window: usize, body: &B, phases: &mut Phases) -> u64 {
    for start in (0..plan.size).step_by(window) {
        rayon::scope(|scope| {
            for i in start..plan.size.min(start + window) {
                body.created();
                scope.spawn(move |_| body.discard(i));
            }
            phases.created();
        });
    }
    body.discarded(plan.size)
}

/// A parallel iterator. It has no creation of its own to tell.
struct ParIter;

impl Form for ParIter {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        match plan.order {
            Order::Discard => plan.time(|_| {
                (0..plan.size).into_par_iter().for_each(|i| {
                    body.created();
                    body.discard(i);
                });
                body.discarded(plan.size)
            }),
            _ => plan.time(|_| {
                let unit = |i| {
                    body.created();
                    body.result(i)
                };
                let results: Vec<u64> = (0..plan.size).into_par_iter().map(unit).collect();
                body.ordered(&results)
            }),
        }
    }
}
