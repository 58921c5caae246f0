//! One thread of the operating system per task, in `std::thread::scope`.

use std::{collections::VecDeque, panic::resume_unwind, thread};

use serde_json::json;

use super::{Body, Form, Order, Plan, variant};
use crate::sdk::{Phases, Timing, Variant};

/// The number of threads that a Linux with default settings bears. At 16,461 threads that wait,
/// `vm.max_map_count` (65,530) is used up.
pub const MAX_THREADS: u64 = 10_000;
/// The reason, for the description.
pub const WHY: &str = "one OS thread per task; the kernel's default limits end near 16,000 alive at once";

pub fn variants() -> Vec<Variant> {
    let about = json!({"only": {"order": ["ordered", "discard"]}, "max_size": MAX_THREADS, "note": WHY});
    vec![variant("scope", about, Scope)]
}

/// `std::thread::scope`, with threads joined in the order of creation. `discard` leaves the joining
/// to the scope. With a window, the oldest thread is joined before the next is started.
struct Scope;

impl Form for Scope {
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing {
        match (plan.order, plan.window) {
            (Order::Discard, None) => plan.time(|phases| discarded(plan, &body, phases)),
            (Order::Discard, Some(window)) => {
                plan.time(|phases| discarded_windowed(plan, window, &body, phases))
            }
            (_, None) => plan.time(|phases| in_order(plan, &body, phases)),
            (_, Some(window)) => plan.time(|phases| in_order_windowed(plan, window, &body, phases)),
        }
    }
}

fn in_order<B: Body>(plan: &Plan, body: &B, phases: &mut Phases) -> u64 {
    thread::scope(|scope| {
        let mut handles = Vec::with_capacity(plan.size);
        for i in 0..plan.size {
            body.created();
            handles.push(scope.spawn(move || body.result(i)));
        }
        phases.created();
        let mut results = Vec::with_capacity(plan.size);
        for handle in handles {
            results.push(joined(handle));
        }
        body.ordered(&results)
    })
}

fn in_order_windowed<B: Body>(plan: &Plan, window: usize, body: &B, phases: &mut Phases) -> u64 {
    thread::scope(|scope| {
        let mut handles = VecDeque::with_capacity(window);
        let mut results = Vec::with_capacity(plan.size);
        for i in 0..plan.size {
            if handles.len() == window
                && let Some(oldest) = handles.pop_front()
            {
                results.push(joined(oldest));
            }
            body.created();
            handles.push_back(scope.spawn(move || body.result(i)));
        }
        phases.created();
        for handle in handles {
            results.push(joined(handle));
        }
        body.ordered(&results)
    })
}

fn discarded<B: Body>(plan: &Plan, body: &B, phases: &mut Phases) -> u64 {
    thread::scope(|scope| {
        for i in 0..plan.size {
            body.created();
            scope.spawn(move || body.discard(i));
        }
        phases.created();
    });
    body.discarded(plan.size)
}

fn discarded_windowed<B: Body>(plan: &Plan, window: usize, body: &B, phases: &mut Phases) -> u64 {
    thread::scope(|scope| {
        let mut handles = VecDeque::with_capacity(window);
        for i in 0..plan.size {
            if handles.len() == window
                && let Some(oldest) = handles.pop_front()
            {
                joined(oldest);
            }
            body.created();
            handles.push_back(scope.spawn(move || body.discard(i)));
        }
        phases.created();
    });
    body.discarded(plan.size)
}

/// The result of a thread. If it panicked, the panic is passed on.
fn joined<T>(handle: thread::ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}
