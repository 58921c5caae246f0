//! `blocking`: `size` tasks, started at once, of which one in so many blocks for a while: what do
//! the others wait?
//!
//! A task tells how long it was ready before it ran. The one that blocks sleeps in the system, on
//! its own thread, or wherever the variant has such a call done.

mod smol;
mod threads;
mod tokio;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::sdk::{CPU, Param, Run, Timing, WALL, Workload, now_ns};

/// The workload `blocking` with the variants of `runtime`; `None` where there is no way but its
/// own. The answer of an iteration is the number of tasks done.
pub fn workload(runtime: &str) -> Option<Workload> {
    let variants = match runtime {
        "tokio" => tokio::variants(),
        "smol" => smol::variants(),
        "threads" => threads::variants(),
        _ => return None,
    };
    let number = |name, default: u64, help| Param { name, default: json!(default), choices: &[], help };
    let params = vec![
        number("block_us", 1_000, "how long a task blocks that does, in microseconds"),
        number("every", 100, "one task in so many blocks, the first of them"),
    ];
    Some(Workload { name: "blocking", params, variants })
}

/// Calls that have blocked, in the present run.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Blocks the thread.
fn block(lasts: Duration) {
    thread::sleep(lasts);
    blocked();
}

/// Counts what a task waited for that others do not.
fn blocked() {
    BLOCKED.fetch_add(1, Ordering::Relaxed);
}

/// How long what was ready at that time has not run.
fn since(ready: u64) -> u64 {
    now_ns(WALL) - ready
}

/// What happens around the timed part of an iteration.
struct Burst<'r> {
    run: &'r Run,
    /// The request for one iteration.
    once: Run,
    /// Whether any task blocks.
    blocks: bool,
    lasts: Duration,
    every: u64,
    begun: [u64; 2],
    whole: Timing,
    waits: Vec<u64>,
}

impl<'r> Burst<'r> {
    fn new(run: &'r Run, blocks: bool) -> Self {
        BLOCKED.store(0, Ordering::Relaxed);
        Burst {
            run,
            once: Run { iterations: 1, ..run.clone() },
            blocks,
            lasts: Duration::from_micros(run.param("block_us")),
            every: run.param("every"),
            begun: [WALL, CPU].map(now_ns),
            whole: Timing::default(),
            waits: Vec::new(),
        }
    }

    /// Whether each task blocks, in the order in which they are started.
    fn tasks(&self) -> impl Iterator<Item = bool> + use<> {
        let (blocks, every) = (self.blocks, self.every);
        (0..self.run.size).map(move |task| blocks && task % every == 0)
    }

    /// To be called with what an iteration took, and what its tasks waited.
    fn add(&mut self, timing: Timing, waits: &[u64]) {
        self.whole.add(timing);
        self.waits.extend(waits);
    }

    /// The sample.
    fn report(mut self) -> Timing {
        self.waits.sort_unstable();
        let least = |percent: usize| self.waits[(self.waits.len() * percent).div_ceil(100) - 1];
        let told = [("wait_p50_ns", least(50)), ("wait_p99_ns", least(99)), ("wait_max_ns", least(100))];
        let mut whole = self.whole.beside(self.begun);
        whole.extra.extend(told.map(|(name, ns)| (name, ns.into())));
        whole.extra.insert("blocked", BLOCKED.load(Ordering::Relaxed).into());
        whole
    }
}
