//! Threads of the operating system: whoever blocks holds nothing that others need.

use std::thread::{Builder, JoinHandle};

use serde_json::json;

use super::{Burst, block, since};
use crate::{
    sdk::{Run, Timing, Variant, WALL, now_ns},
    workloads::fanout::{MAX_THREADS, WHY},
};

pub fn variants() -> Vec<Variant> {
    let variant = |(name, blocks): (&str, bool)| Variant {
        name: format!("thread/{name}"),
        creates_task: true,
        about: json!({ "max_size": MAX_THREADS, "note": WHY }),
        perform: Box::new(move |run| perform(run, blocks)),
    };
    [("without", false), ("inline", true)].map(variant).into()
}

fn perform(run: &Run, blocks: bool) -> Result<Timing, String> {
    let mut burst = Burst::new(run, blocks);
    for _ in 0..run.iterations {
        let mut waits = Vec::with_capacity(run.size as usize);
        let mut refused = None;
        let timing = burst.once.time(|_| {
            let mut threads: Vec<JoinHandle<u64>> = Vec::with_capacity(run.size as usize);
            for blocks in burst.tasks() {
                let (ready, lasts) = (now_ns(WALL), burst.lasts);
                let started = Builder::new().spawn(move || {
                    let wait = since(ready);
                    if blocks {
                        block(lasts);
                    }
                    wait
                });
                match started {
                    Ok(thread) => threads.push(thread),
                    Err(why) => refused = Some(why),
                }
            }
            for thread in threads {
                waits.extend(thread.join());
            }
            waits.len() as u64
        });
        if let Some(why) = refused {
            return Err(format!("after {} threads the system gives no further one: {why}", waits.len()));
        }
        burst.add(timing, &waits);
    }
    Ok(burst.report())
}
