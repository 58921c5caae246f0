//! Threads that take the number of the next task from a counter: no scheduler at all, and so what a
//! scheduler could reach.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use serde_json::json;

use super::{Body, Pool, variant_of};
use crate::sdk::Variant;

pub fn variant() -> Variant {
    let note = "threads, started in the timed part, take the number of the next task from a counter";
    variant_of::<Threads>("scope/counter", false, json!({ "note": note }))
}

struct Threads(usize);

impl Pool for Threads {
    fn start(workers: usize) -> Result<Self, String> {
        Ok(Threads(workers))
    }

    fn pass<B: Body>(&self, size: usize, body: &B) -> u64 {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut sum = 0u64;
            loop {
                let i = next.fetch_add(1, Relaxed);
                if i >= size {
                    return sum;
                }
                body.created();
                sum = sum.wrapping_add(body.result(i));
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.0).map(|_| scope.spawn(work)).collect();
            let sums = workers.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)));
            sums.fold(0, u64::wrapping_add)
        })
    }
}
