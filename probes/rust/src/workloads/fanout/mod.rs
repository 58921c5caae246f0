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
    let params = [
        Param::word("order", &["ordered", "completion", "discard"], "how results are collected"),
        Param::new("work", 0, "steps of spin per task; 0: the task gives 31 * i"),
        Param::new("window", 0, "most tasks alive at once; 0: all"),
        Param::new("extra_spin", 0, "steps of spin once per iteration: a slow-down to be found"),
    ];
    let workload = params.into_iter().fold(Workload::new("fanout"), Workload::param);
    variants.into_iter().fold(workload, Workload::variant)
}

/// A way of starting tasks and collecting their results, for any body.
trait Form: 'static {
    /// Does all iterations inside the timed part.
    fn perform<B: Body>(&self, plan: &Plan, body: B) -> Timing;
}

/// A variant that performs `form`. The kind of body is chosen here, once per request. So the loop
/// over tasks is compiled for each kind and has no branch on it.
fn variant(name: &str, orders: &[&str], form: impl Form) -> Variant {
    let perform = move |run: &Run| {
        let plan = Plan::new(run);
        let spun = Spun { seed: run.seed, work: run.integer("work") };
        if run.verify {
            let count = Arc::new(Count::default());
            let timing = form.perform(&plan, Counted { count: Arc::clone(&count), spun });
            count.report(run, timing)
        } else if spun.work == 0 {
            Ok(form.perform(&plan, Plain))
        } else {
            Ok(form.perform(&plan, spun))
        }
    };
    Variant::new(name, perform).only("order", orders.iter().copied())
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
        let order = match run.word("order") {
            "ordered" => Order::Ordered,
            "completion" => Order::Completion,
            _ => Order::Discard,
        };
        let window = run.integer("window");
        Plan {
            run,
            order,
            size: run.size as usize,
            window: (0 < window && window < run.size).then_some(window as usize),
            extra_spin: run.integer("extra_spin"),
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
