//! `pingpong`: `size` round trips of a token between the two tasks of a pair, over `pairs` pairs.
//!
//! A task passes the token on and then waits until it comes back, so a round trip is two wake-ups.
//! Whoever answers adds one to the token, and whoever began counts the trip only if that was done.

mod affinity;
mod smol;
mod threads;
mod tokio;

use std::future::Future;

use serde_json::json;

use crate::sdk::{Param, Run, Workload};

/// The workload `pingpong` with the variants of `runtime`; `None` where tasks cannot wait for each
/// other. The answer of an iteration is the number of round trips.
pub fn workload(runtime: &str) -> Option<Workload> {
    let variants = match runtime {
        "tokio" => tokio::variants(),
        "smol" => smol::variants(),
        "threads" => threads::variants(),
        _ => return None,
    };
    let pairs = Param {
        name: "pairs",
        default: json!(1),
        choices: &[],
        help: "pairs of tasks that share the round trips",
    };
    let workers = Param {
        name: "workers",
        default: json!("cores"),
        choices: &["cores", "one"],
        help: "workers that run the tasks: one a core, or one; of threads: CPUs that they may use",
    };
    Some(Workload { name: "pingpong", params: vec![pairs, workers], variants })
}

/// Whether one worker runs all tasks.
fn is_one(run: &Run) -> bool {
    run.param::<String>("workers") == "one"
}

/// The round trips of each pair: as even a share as can be.
fn shares(run: &Run) -> impl Iterator<Item = u64> {
    let (size, pairs): (u64, u64) = (run.size, run.param("pairs"));
    (0..pairs).map(move |pair| size / pairs + u64::from(pair < size % pairs))
}

/// One end of a pair, which a task has.
trait End: Send + 'static {
    /// Passes the token to the other end.
    fn pass(&mut self, token: u64) -> impl Future<Output = ()> + Send;
    /// Waits for the token.
    fn take(&mut self) -> impl Future<Output = u64> + Send;
}

/// The task that begins. It gives the number of trips from which the token came back as it should.
async fn ping(mut end: impl End, trips: u64) -> u64 {
    let mut back = 0;
    for token in 0..trips {
        end.pass(token).await;
        back += u64::from(end.take().await == token + 1);
    }
    back
}

/// The task that answers.
async fn pong(mut end: impl End, trips: u64) {
    for _ in 0..trips {
        let token = end.take().await;
        end.pass(token + 1).await;
    }
}
