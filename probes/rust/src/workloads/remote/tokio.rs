//! tokio's tasks, spawned by a `Handle` from threads outside, or by tasks.

use super::{RAN, iteration, outside, shares, variant};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let outside = "Handle::spawn; the handle of the task is dropped";
    let loop_too = "Handle::spawn; the thread that waits in block_on runs the tasks";
    vec![
        variant("multi_thread/spawn", true, outside, |run| from_threads(run, Flavour::MultiThread)),
        variant("multi_thread/local", true, "tasks in place of the threads", from_tasks),
        variant("current_thread/spawn", true, loop_too, |run| from_threads(run, Flavour::CurrentThread)),
    ]
}

fn from_threads(run: &Run, flavour: Flavour) -> Result<Timing, String> {
    let runtime = flavour.runtime();
    let handle = runtime.handle();
    let submit = || drop(handle.spawn(async { RAN.one() }));
    outside(run, submit, |gate| {
        runtime.block_on(run.time_async(async |_| iteration(run, || gate.open()).await))
    })
}

fn from_tasks(run: &Run) -> Result<Timing, String> {
    let shares = shares(run)?;
    let begin = || {
        for share in shares.clone() {
            tokio::spawn(async move { (0..share).for_each(|_| drop(tokio::spawn(async { RAN.one() }))) });
        }
    };
    Ok(Flavour::MultiThread.runtime().block_on(run.time_async(async |_| iteration(run, begin).await)))
}
