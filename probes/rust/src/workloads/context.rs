//! `context`: `size` awaits, behind each of which a task reads one of the `variables` task-locals
//! that it has set.
//!
//! Two tasks share the awaits, each with values of its own, so a value of another task is wrong.
//! Without variables nothing is read.

use std::future::Future;

use serde_json::json;
use tokio::task::{LocalKey, yield_now};

use crate::{
    runtimes::Flavour,
    sdk::{Param, Run, Timing, Variant, Workload},
};

tokio::task_local! {
    static A: u64;
    static B: u64;
    static C: u64;
    static D: u64;
    static E: u64;
    static F: u64;
    static G: u64;
    static H: u64;
}

static ALL: [&LocalKey<u64>; 8] = [&A, &B, &C, &D, &E, &F, &G, &H];

/// The workload `context` on tokio. The answer of an iteration is the number of awaits behind which
/// the value was right.
pub fn workload() -> Workload {
    let variables = Param {
        name: "variables",
        default: json!(1),
        choices: &[],
        help: "task-locals that are set: 0, 1 or 8",
    };
    let both = |(name, flavour): (&str, Flavour)| {
        [
            variant(format!("{name}/task_local"), flavour, false, "yield_now()"),
            variant(format!("{name}/task_local/spawn"), flavour, true, "a task for each await"),
        ]
    };
    let variants = Flavour::ALL.into_iter().flat_map(both).collect();
    Workload { name: "context", params: vec![variables], variants }
}

fn variant(name: String, flavour: Flavour, spawns: bool, note: &str) -> Variant {
    let about = json!({"note": note});
    Variant { name, creates_task: spawns, about, perform: Box::new(move |run| perform(run, flavour, spawns)) }
}

fn perform(run: &Run, flavour: Flavour, spawns: bool) -> Result<Timing, String> {
    let count = match run.param::<u64>("variables") {
        0 => 0,
        1 => 1,
        8 => 8,
        other => return Err(format!("variables is {other}; give 0, 1 or 8")),
    };
    Ok(flavour.runtime().block_on(run.time_async(async |_| {
        let halves = [(run.size / 2, 1_000), (run.size - run.size / 2, 2_000)];
        let tasks = halves.map(|(awaits, first)| {
            let share = Share { awaits, first, count };
            match spawns {
                true => tokio::spawn(within(first, count, share.asking())),
                false => tokio::spawn(within(first, count, share.suspending())),
            }
        });
        let mut right = 0;
        for task in tasks {
            right += task.await.expect("a task that nobody aborts ends");
        }
        right
    })))
}

/// What a task does of the awaits, and the values of its variables, from the first on.
#[derive(Clone, Copy)]
struct Share {
    awaits: u64,
    first: u64,
    count: usize,
}

impl Share {
    /// Whether that variable has its value here. Without variables nothing is read.
    fn holds(self, at: usize) -> bool {
        self.count == 0 || ALL[at].try_with(|value| *value) == Ok(self.first + at as u64)
    }

    /// Gives way to others and then reads.
    async fn suspending(self) -> u64 {
        let (mut right, mut at) = (0, 0);
        for _ in 0..self.awaits {
            yield_now().await;
            right += u64::from(self.holds(at));
            at = if at + 1 < self.count { at + 1 } else { 0 };
        }
        right
    }

    /// Spawns a task that reads, and awaits it. A task of tokio inherits nothing: it is given its
    /// variables anew.
    async fn asking(self) -> u64 {
        let (mut right, mut at) = (0, 0);
        for _ in 0..self.awaits {
            let task = tokio::spawn(within(self.first, self.count, async move { self.holds(at) }));
            right += u64::from(task.await.expect("a task that nobody aborts ends"));
            at = if at + 1 < self.count { at + 1 } else { 0 };
        }
        right
    }
}

/// `future` where the first `count` variables, of 0, 1 or 8, have values from `first` on.
async fn within<T>(first: u64, count: usize, future: impl Future<Output = T>) -> T {
    match count {
        0 => future.await,
        1 => A.scope(first, future).await,
        _ => {
            let inner =
                E.scope(first + 4, F.scope(first + 5, G.scope(first + 6, H.scope(first + 7, future))));
            A.scope(first, B.scope(first + 1, C.scope(first + 2, D.scope(first + 3, inner)))).await
        }
    }
}
