//! An `Executor` of smol that so many threads drive.

use std::{sync::Arc, thread};

use serde_json::json;
use smol::{Executor, channel};

use super::{Body, Pool, no_thread, variant_of};
use crate::sdk::Variant;

pub fn variant() -> Variant {
    variant_of::<Smol>("executor/spawn", true, json!({ "note": "a task creates the others" }))
}

struct Smol {
    executor: Arc<Executor<'static>>,
    /// The threads end when this is dropped.
    _running: channel::Sender<()>,
}

impl Pool for Smol {
    fn start(workers: usize) -> Result<Self, String> {
        let executor = Arc::new(Executor::new());
        let (running, ended) = channel::bounded::<()>(1);
        for _ in 0..workers {
            let (executor, ended) = (Arc::clone(&executor), ended.clone());
            let drives = move || smol::block_on(executor.run(ended.recv()));
            thread::Builder::new().spawn(drives).map_err(no_thread(workers))?;
        }
        Ok(Smol { executor, _running: running })
    }

    fn pass<B: Body>(&self, size: usize, body: &B) -> u64 {
        let root = root(Arc::clone(&self.executor), size, body.clone());
        smol::block_on(self.executor.spawn(root))
    }
}

async fn root<B: Body>(executor: Arc<Executor<'static>>, size: usize, body: B) -> u64 {
    let mut tasks = Vec::with_capacity(size);
    for i in 0..size {
        body.created();
        let body = body.clone();
        tasks.push(executor.spawn(async move { body.result(i) }));
    }
    let mut results = Vec::with_capacity(size);
    for task in tasks {
        results.push(task.await);
    }
    body.ordered(&results)
}
