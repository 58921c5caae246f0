//! `drain`: `size` futures that all wait for one tokio `Mutex`, collected by `FuturesUnordered` as
//! they finish.
//!
//! This file is compiled twice, with the futures-util of this package and with 0.3.17
//! (`futures-0.3.17/`), so that the two differ in nothing else. In 0.3.17 it is a cliff, which was
//! mended in 0.3.19 (futures-rs issue 2526 and pull request 2527). tokio lets a task take a lock,
//! or anything else of its own, 128 times in one poll. After that it answers "pending" and wakes at
//! once, so that the task yields. `FuturesUnordered` is one task. The old one polls all of its n
//! futures in vain before it yields, n / 128 times. The mended one yields after two futures that
//! woke themselves.

use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::json;
use taskscale_probe_sdk::{CPU, Run, Timing, Variant, WALL, Workload, now_ns};
use tokio::{runtime::Runtime, sync::Mutex};

/// The workload `drain` on a runtime of tokio's. `futures_util` is the version that was linked. The
/// answer of an iteration is the number of futures collected.
pub fn workload(runtime: fn() -> &'static Runtime, futures_util: &str) -> Workload {
    let note = format!("futures-util {futures_util}; plain futures that wait for the same tokio Mutex");
    let variant = Variant {
        name: "FuturesUnordered/Mutex".to_owned(),
        creates_task: false,
        about: json!({"note": note}),
        perform: Box::new(move |run| Ok(runtime().block_on(waiting_for_one(run)))),
    };
    Workload { name: "drain", params: vec![], variants: vec![variant] }
}

/// Times the drain from the release of the lock on. None of the futures has been polled before,
/// because `collect` polls none. Each asks for the lock at its first poll, inside the timed part.
async fn waiting_for_one(run: &Run) -> Timing {
    let once = Run { iterations: 1, ..run.clone() };
    let (begun, mut whole) = ([WALL, CPU].map(now_ns), Timing::default());
    for _ in 0..run.iterations {
        let mutex = Mutex::new(());
        let mut held = Some(mutex.lock().await);
        let mut waiting: FuturesUnordered<_> =
            (0..run.size).map(|_| async { drop(mutex.lock().await) }).collect();
        let drained = async |_: &mut _| {
            held = None;
            let mut collected = 0u64;
            while waiting.next().await.is_some() {
                collected += 1;
            }
            collected
        };
        whole.add(once.time_async(drained).await);
    }
    whole.beside(begun)
}
