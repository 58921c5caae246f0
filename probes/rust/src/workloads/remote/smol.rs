//! smol's tasks, spawned on an executor from threads outside, or by tasks.

use super::{RAN, iteration, outside, shares, variant};
use crate::{
    runtimes::smol_executor,
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    vec![
        variant("executor/spawn", true, "Executor::spawn and detach", from_threads),
        variant("executor/local", true, "tasks in place of the threads", from_tasks),
    ]
}

fn from_threads(run: &Run) -> Result<Timing, String> {
    let submit = || smol_executor().spawn(async { RAN.one() }).detach();
    outside(run, submit, |gate| {
        smol::block_on(run.time_async(async |_| iteration(run, || gate.open()).await))
    })
}

fn from_tasks(run: &Run) -> Result<Timing, String> {
    let (shares, executor) = (shares(run)?, smol_executor());
    let begin = || {
        for share in shares.clone() {
            let task = async move { (0..share).for_each(|_| executor.spawn(async { RAN.one() }).detach()) };
            executor.spawn(task).detach();
        }
    };
    Ok(smol::block_on(run.time_async(async |_| iteration(run, begin).await)))
}
