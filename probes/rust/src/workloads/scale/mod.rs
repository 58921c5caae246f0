//! `scale`: `size` tasks that a given number of workers shares.
//!
//! A pool has just so many threads that run tasks. Whoever asks waits meanwhile: what creates the
//! tasks runs on a worker too. Pools are started before the timed part, and kept for later
//! requests.

mod rayon;
mod smol;
mod threads;
mod tokio;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::count::Count;
use super::fanout::body::{Body, Counted, Plain, Spun};
use crate::sdk::{Param, Run, Timing, Variant, Workload};

const MOST_WORKERS: u64 = 1000;

/// The workload `scale` with the variants of `runtime`. The answer of an iteration is the sum of
/// the tasks' results.
pub fn workload(runtime: &str) -> Workload {
    let variants = match runtime {
        "tokio" => vec![tokio::variant()],
        "rayon" => vec![rayon::variant()],
        "smol" => vec![smol::variant()],
        _ => vec![threads::variant()],
    };
    let number = |name, default: u64, help| Param { name, default: json!(default), choices: &[], help };
    let params = vec![
        number("workers", 1, "threads that run tasks"),
        number("work", 0, "steps of spin per task; 0: the task gives 31 * i"),
    ];
    Workload { name: "scale", params, variants }
}

/// Threads that run tasks, and what they are given.
trait Pool: Sized + Send + 'static {
    /// Starts so many.
    fn start(workers: usize) -> Result<Self, String>;

    /// Does all tasks once, and gives the sum of their results.
    fn pass<B: Body>(&self, size: usize, body: &B) -> u64;
}

/// The pool of the last request, with its number of workers.
type Kept<P> = Mutex<Option<(u64, P)>>;

fn variant_of<P: Pool>(name: &str, creates_task: bool, about: Value) -> Variant {
    let kept: Kept<P> = Mutex::new(None);
    let perform = Box::new(move |run: &Run| perform(run, &kept));
    Variant { name: name.to_owned(), creates_task, about, perform }
}

fn perform<P: Pool>(run: &Run, kept: &Kept<P>) -> Result<Timing, String> {
    let workers: u64 = run.param("workers");
    if !(1..=MOST_WORKERS).contains(&workers) {
        return Err(format!("workers is {workers}; give 1 to {MOST_WORKERS}"));
    }
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match kept.take().filter(|(of, _)| *of == workers) {
        Some((_, pool)) => pool,
        // At most a thousand, so nothing is cut off.
        None => P::start(workers as usize)?,
    };
    let (_, pool) = kept.insert((workers, pool));
    let size = run.size as usize;
    let spun = Spun { seed: run.seed, work: run.param("work") };
    if run.param("verify") {
        let count = Arc::new(Count::default());
        let body = Counted { count: Arc::clone(&count), spun };
        let timing = run.time(|_| pool.pass(size, &body));
        return count.report(run, timing);
    }
    Ok(match spun.work {
        0 => run.time(|_| pool.pass(size, &Plain)),
        _ => run.time(|_| pool.pass(size, &spun)),
    })
}

/// Why a pool could not start.
fn no_thread(workers: usize) -> impl Fn(std::io::Error) -> String {
    move |why| format!("the system gives no {workers} threads: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_worker_and_too_many_are_refused() {
        for runtime in crate::RUNTIMES {
            let workload = workload(runtime);
            for workers in [0, MOST_WORKERS + 1] {
                let run = Run {
                    id: 1,
                    workload: "scale".into(),
                    variant: String::new(),
                    size: 1,
                    iterations: 1,
                    seed: 0,
                    params: json!({ "workers": workers, "work": 0 }).as_object().cloned().unwrap(),
                };
                let said = (workload.variants[0].perform)(&run).unwrap_err();
                assert_eq!(said, format!("workers is {workers}; give 1 to 1000"), "{runtime}");
            }
        }
    }
}
