//! `tokio::spawn` on so many worker threads.

use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::{Body, Pool, no_thread, variant_of};
use crate::sdk::Variant;

pub fn variant() -> Variant {
    variant_of::<Tokio>("multi_thread/spawn", true, json!({ "note": "a task creates the others" }))
}

struct Tokio(Runtime);

impl Pool for Tokio {
    fn start(workers: usize) -> Result<Self, String> {
        Builder::new_multi_thread().worker_threads(workers).build().map(Tokio).map_err(no_thread(workers))
    }

    fn pass<B: Body>(&self, size: usize, body: &B) -> u64 {
        let root = self.0.spawn(root(size, body.clone()));
        self.0.block_on(root).expect("a task that nobody aborts gives its result")
    }
}

async fn root<B: Body>(size: usize, body: B) -> u64 {
    let mut handles = Vec::with_capacity(size);
    for i in 0..size {
        body.created();
        let body = body.clone();
        handles.push(tokio::spawn(async move { body.result(i) }));
    }
    let mut results = Vec::with_capacity(size);
    for handle in handles {
        results.push(handle.await.expect("a task that nobody aborts gives its result"));
    }
    body.ordered(&results)
}
