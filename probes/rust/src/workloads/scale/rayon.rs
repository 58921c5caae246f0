//! `rayon::scope` in a pool of so many threads.

use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::json;

use super::{Body, Pool, variant_of};
use crate::sdk::Variant;

pub fn variant() -> Variant {
    variant_of::<Rayon>("scope", true, json!({ "note": "a worker of the pool creates the tasks" }))
}

struct Rayon(ThreadPool);

impl Pool for Rayon {
    fn start(workers: usize) -> Result<Self, String> {
        let pool = ThreadPoolBuilder::new().num_threads(workers).build();
        pool.map(Rayon).map_err(|why| format!("the system gives no {workers} threads: {why}"))
    }

    fn pass<B: Body>(&self, size: usize, body: &B) -> u64 {
        self.0.install(|| {
            let mut results = vec![0; size];
            rayon::scope(|scope| {
                for (i, slot) in results.iter_mut().enumerate() {
                    body.created();
                    scope.spawn(move |_| *slot = body.result(i));
                }
            });
            body.ordered(&results)
        })
    }
}
