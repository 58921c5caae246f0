//! Closures for a pool of threads: rayon's, or threads that share a channel.

use std::{sync::mpsc, thread};

use super::{RAN, iteration, outside, shares, variant};
use crate::sdk::{Run, Timing, Variant};

pub fn of_rayon() -> Vec<Variant> {
    let injector = "rayon::spawn: the global pool's injector";
    vec![
        variant("spawn", true, injector, |run| to_pool(run, || rayon::spawn(|| RAN.one()))),
        variant("spawn/local", true, "tasks in place of the threads", from_tasks),
    ]
}

pub fn of_threads() -> Vec<Variant> {
    let note = "a function is sent to the one thread that receives, and called there";
    vec![variant("mpsc", false, note, to_thread)]
}

fn to_pool(run: &Run, submit: impl Fn() + Sync) -> Result<Timing, String> {
    outside(run, submit, |gate| {
        smol::block_on(run.time_async(async |_| iteration(run, || gate.open()).await))
    })
}

fn from_tasks(run: &Run) -> Result<Timing, String> {
    let shares = shares(run)?;
    let begin = || {
        for share in shares.clone() {
            rayon::spawn(move || (0..share).for_each(|_| rayon::spawn(|| RAN.one())));
        }
    };
    Ok(smol::block_on(run.time_async(async |_| iteration(run, begin).await)))
}

fn to_thread(run: &Run) -> Result<Timing, String> {
    let (sender, receiver) = mpsc::channel::<fn()>();
    thread::scope(move |scope| {
        scope.spawn(move || receiver.into_iter().for_each(|task| task()));
        // The thread ends when the sender is dropped, with this closure.
        to_pool(run, || sender.send(|| RAN.one()).expect("the thread receives"))
    })
}
