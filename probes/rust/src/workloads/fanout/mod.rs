//! `fanout`: start `size` tasks, collect `size` results.
//!
//! | module | holds |
//! |---|---|
//! | [`body`] | what a task does: `31 * i`, a spin, or either one counted |
//! | [`tokio`] | `spawn`, `JoinSet` |
//! | [`futures`] | `FuturesUnordered`, `join_all`: no tasks |
//! | [`rayon`] | `scope`, `par_iter` |
//! | [`smol`] | `spawn` on the executor and on a local one |
//! | [`threads`] | `std::thread::scope` |

pub(super) mod body;
mod futures;
mod rayon;
mod smol;
mod threads;
mod tokio;

use std::{hint::black_box, sync::Arc};

use serde_json::{Value, json};

use self::body::{Body, Counted, Plain, Spun};
pub use self::threads::{MAX_THREADS, WHY};
use super::{count::Count, spin::spin};
use crate::sdk::{Param, Phases, Run, Timing, Variant, Workload};

/// The workload `fanout` with the variants of `runtime`.
///
/// The answer of an iteration is the sum of the tasks' results. In the order `discard` a timed run
/// has no results, and the answer is the number of tasks started.
pub fn workload(runtime: &str) -> Workload {
    let variants = match runtime {
        "tokio" => [tokio::variants(), futures::variants()].into_iter().flatten().collect(),
        "rayon" => rayon::variants(),
        "smol" => smol::variants(),
        "threads" => threads::variants(),
        _ => Vec::new(),
    };
    let number = |name, help| Param { name, default: json!(0), choices: &[], help };
    let order = Param {
        name: "order",
        default: json!("ordered"),
        choices: &["ordered", "completion", "discard"],
        help: "how results are collected",
    };
    let params = vec![
        order,
        number("work", "steps of spin per task; 0: the task gives 31 * i"),
        number("window", "most tasks alive at once; 0: all"),
        number("extra_spin", "steps of spin once per iteration: a slow-down to be found"),
    ];
    Workload { name: "fanout", params, variants }
}

/// A way of starting tasks and collecting their results, for any body.
trait Form: 'static {
    /// Does all iterations inside the timed part.
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing;
}

/// A variant that performs `form`. The kind of body is chosen here, once per request. So the loop
/// over tasks is compiled for each kind and has no branch on it.
fn variant(name: impl Into<String>, about: Value, form: impl Form) -> Variant {
    let perform = move |run: &Run| {
        let plan = Plan::new(run);
        let spun = Spun { seed: run.seed, work: run.param("work") };
        if run.param("verify") {
            let count = Arc::new(Count::default());
            let timing = form.perform(&plan, Counted { count: Arc::clone(&count), spun });
            count.report(run, timing)
        } else if spun.work == 0 {
            Ok(form.perform(&plan, Plain))
        } else {
            Ok(form.perform(&plan, spun))
        }
    };
    Variant { name: name.into(), creates_task: true, about, perform: Box::new(perform) }
}

/// How results are collected.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Results go into an array indexed by task.
    Ordered,
    /// Results are collected as tasks finish.
    Completion,
    /// Results are not collected.
    Discard,
}

/// The values of a request.
struct Plan<'a> {
    run: &'a Run,
    order: Order,
    /// The number of tasks.
    size: usize,
    /// The most tasks alive at once; `None` if all may be.
    window: Option<usize>,
    extra_spin: u64,
}

impl<'a> Plan<'a> {
    fn new(run: &'a Run) -> Self {
        let order = match run.param("order") {
            "ordered" => Order::Ordered,
            "completion" => Order::Completion,
            _ => Order::Discard,
        };
        let window: u64 = run.param("window");
        Plan {
            run,
            order,
            size: run.size as usize,
            window: (0 < window && window < run.size).then_some(window as usize),
            extra_spin: run.param("extra_spin"),
        }
    }

    fn time(&self, mut one: impl FnMut(&mut Phases) -> u64) -> Timing {
        self.run.time(|phases| {
            let answer = one(phases);
            self.slow_down();
            answer
        })
    }

    async fn time_async(&self, mut one: impl AsyncFnMut(&mut Phases) -> u64) -> Timing {
        let one = async |phases: &mut Phases| {
            let answer = one(phases).await;
            self.slow_down();
            answer
        };
        self.run.time_async(one).await
    }

    fn slow_down(&self) {
        if self.extra_spin > 0 {
            black_box(spin(black_box(self.run.seed), self.extra_spin));
        }
    }
}
