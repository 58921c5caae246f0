//! `remote`: `size` tasks that threads hand to the runtime which are none of its workers.
//!
//! The threads are started before the timed part, and wait. Each iteration lets them go, all at
//! once, and ends when the last task has run. A task adds one to a count.

mod pools;
mod smol;
mod tokio;

use std::{
    future::poll_fn,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    thread,
};

use futures_util::task::AtomicWaker;
use serde_json::json;

use crate::sdk::{Param, Run, Timing, Variant, Workload};

const MOST_PRODUCERS: u64 = 64;

/// The workload `remote` with the variants of `runtime`. The answer of an iteration is the number
/// of tasks that have run.
pub fn workload(runtime: &str) -> Workload {
    let variants = match runtime {
        "tokio" => tokio::variants(),
        "smol" => smol::variants(),
        "rayon" => pools::of_rayon(),
        _ => pools::of_threads(),
    };
    let producers = Param {
        name: "producers",
        default: json!(1),
        choices: &[],
        help: "threads outside of the runtime that share the tasks",
    };
    Workload { name: "remote", params: vec![producers], variants }
}

/// A variant that hands tasks over in one way.
fn variant(
    name: &str,
    creates_task: bool,
    note: &str,
    perform: fn(&Run) -> Result<Timing, String>,
) -> Variant {
    let about = json!({ "note": note });
    Variant { name: name.to_owned(), creates_task, about, perform: Box::new(perform) }
}

/// The number of tasks of each producer: as even a share as can be.
fn shares(run: &Run) -> Result<Vec<u64>, String> {
    let (size, producers): (u64, u64) = (run.size, run.param("producers"));
    if !(1..=MOST_PRODUCERS).contains(&producers) {
        return Err(format!("producers is {producers}; give 1 to {MOST_PRODUCERS}"));
    }
    Ok((0..producers).map(|one| size / producers + u64::from(one < size % producers)).collect())
}

/// Calls `timed` while threads are there that call `submit` once for each of their tasks whenever
/// the gate opens. They end behind it.
fn outside(
    run: &Run,
    submit: impl Fn() + Sync,
    timed: impl FnOnce(&Gate) -> Timing,
) -> Result<Timing, String> {
    let shares = shares(run)?;
    let (gate, submit) = (&Gate::default(), &submit);
    thread::scope(|scope| {
        for share in &shares {
            scope.spawn(move || {
                let mut iteration = 1;
                while gate.pass(iteration) {
                    (0..*share).for_each(|_| submit());
                    iteration += 1;
                }
            });
        }
        gate.await_all(shares.len());
        let timing = timed(gate);
        gate.change(|state| state.closed = true);
        Ok(timing)
    })
}

/// What producers wait at.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How often it was opened.
    opened: u64,
    /// How many have come to it.
    came: usize,
    /// Whether it opens no more.
    closed: bool,
}

impl Gate {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Opens it for the next iteration.
    fn open(&self) {
        self.change(|state| state.opened += 1);
    }

    /// Waits until it was opened so often. Gives whether it was.
    fn pass(&self, iteration: u64) -> bool {
        if iteration == 1 {
            self.change(|state| state.came += 1);
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |state: &mut State| state.opened < iteration && !state.closed;
        let state = self.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        state.opened >= iteration
    }

    /// Waits until so many have come to it.
    fn await_all(&self, producers: usize) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(state, |state| state.came < producers));
    }
}

/// The tasks of the present iteration.
static RAN: Ran = Ran { count: AtomicU64::new(0), all: AtomicU64::new(0), waker: AtomicWaker::new() };

/// How many tasks have run, of how many, and whom the last one wakes.
struct Ran {
    count: AtomicU64,
    all: AtomicU64,
    waker: AtomicWaker,
}

impl Ran {
    /// Has it count to `all`.
    fn begin(&self, all: u64) {
        self.count.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Release);
    }

    /// What a task does.
    #[inline]
    fn one(&self) {
        if self.count.fetch_add(1, Ordering::AcqRel) + 1 == self.all.load(Ordering::Acquire) {
            self.waker.wake();
        }
    }

    /// Waits for all tasks and gives how many have run.
    async fn done(&self) -> u64 {
        let all = self.all.load(Ordering::Relaxed);
        poll_fn(|context| {
            self.waker.register(context.waker());
            match self.count.load(Ordering::Acquire) {
                count if count < all => Poll::Pending,
                count => Poll::Ready(count),
            }
        })
        .await
    }
}

/// An iteration: `begin` has the tasks started, and the last of them ends it.
async fn iteration(run: &Run, begin: impl FnOnce()) -> u64 {
    RAN.begin(run.size);
    begin();
    RAN.done().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(size: u64, producers: u64) -> Run {
        Run {
            id: 1,
            workload: "remote".into(),
            variant: String::new(),
            size,
            iterations: 2,
            seed: 0,
            params: json!({ "producers": producers }).as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn shares_differ_by_one_at_most() {
        assert_eq!(shares(&asked(11, 4)), Ok(vec![3, 3, 3, 2]));
        assert_eq!(shares(&asked(2, 3)), Ok(vec![1, 1, 0]));
    }

    #[test]
    fn no_producer_and_too_many_are_refused() {
        for runtime in crate::RUNTIMES {
            for variant in workload(runtime).variants {
                for producers in [0, 65] {
                    let said = (variant.perform)(&asked(1, producers)).unwrap_err();
                    let right = format!("producers is {producers}; give 1 to 64");
                    assert_eq!(said, right, "{runtime} {}", variant.name);
                }
            }
        }
    }

    #[test]
    fn tasks_come_from_other_threads_as_many_as_asked_for() {
        let seen = Mutex::new(std::collections::HashSet::new());
        let submit = || {
            seen.lock().unwrap().insert(thread::current().id());
            RAN.one();
        };
        let run = asked(12, 3);
        let timing = outside(&run, submit, |gate| {
            ::smol::block_on(run.time_async(async |_| iteration(&run, || gate.open()).await))
        });
        assert_eq!(timing.unwrap().answer, 24);
        let seen = seen.into_inner().unwrap();
        assert_eq!((seen.len(), seen.contains(&thread::current().id())), (3, false));
    }
}
