//! `workers`: threads that share the requests of each iteration, each with a loop of its own.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{Form, Work, observe::Observe};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing},
};

const MOST_WORKERS: u64 = 1000;

/// Whether the requests are shared among workers.
pub fn are_asked(run: &Run) -> bool {
    run.param::<u64>("workers") > 0
}

/// The number of loops that answer requests: one where no worker is asked for.
pub fn number(run: &Run) -> Result<usize, String> {
    match run.param("workers") {
        // At most a thousand, so nothing is cut off.
        asked @ 0..=MOST_WORKERS => Ok(asked.max(1) as usize),
        asked => Err(format!("workers is {asked}; give at most {MOST_WORKERS}")),
    }
}

/// How many of `size` requests worker `i` of `workers` answers.
fn share(size: u64, workers: u64, i: u64) -> u64 {
    size / workers + u64::from(i < size % workers)
}

/// Has each worker answer its share of every iteration in a thread of its own, which waits between
/// iterations. There is a worker for each observer.
pub fn together<O: Observe>(run: &Run, form: &impl Form, observers: &[O]) -> Result<Timing, String> {
    let number = observers.len() as u64;
    // What a worker does of an iteration is a run of its own, which is timed as any other is.
    let shares = (0..number).map(|i| Run { size: share(run.size, number, i), iterations: 1, ..run.clone() });
    let shares: Vec<Run> = shares.collect();
    let mut works = Vec::with_capacity(observers.len());
    for (one, observer) in shares.iter().zip(observers) {
        let mut work = Work::new(one, observer.clone())?;
        // A scheduler of many threads is there once for the process; workers share its threads.
        if let Flavour::CurrentThread = form.flavour() {
            let failed = |why: std::io::Error| format!("no runtime for a worker: {why}");
            work.runtime = Some(form.flavour().builder().build().map_err(failed)?);
        }
        works.push(work);
    }
    thread::scope(|scope| {
        let mut workers = Vec::with_capacity(works.len());
        for work in works {
            let (start, started) = channel();
            let (answer, answered) = channel();
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || answers(&started, &answer, form, work))
                .map_err(|why| format!("no thread for worker {} of {number}: {why}", workers.len() + 1))?;
            workers.push((start, answered, thread));
        }
        // A thread that has not begun yet is no part of the time.
        workers.iter().for_each(|(_, answered, _)| _ = answered.recv());
        let mut timing = run.time(|_| {
            workers.iter().for_each(|(start, ..)| _ = start.send(()));
            // A worker that is gone has panicked, which joining it tells.
            workers.iter().map(|(_, answered, _)| answered.recv().unwrap_or_default()).sum()
        });
        let mut walls = Vec::with_capacity(workers.len());
        for (start, _, thread) in workers {
            drop(start);
            walls.push(thread.join().map_err(|_| "a worker panicked".to_owned())??);
        }
        let requests: Vec<u64> = shares.iter().map(|one| run.iterations * one.size).collect();
        timing.extra.insert("worker_requests", requests.into());
        timing.extra.insert("worker_wall_ns", walls.into());
        Ok(timing)
    })
}

/// Answers a share of requests for each start, and tells that it is there before the first. Returns
/// the wall time of all shares, or what was wrong with the first wrong output.
fn answers<O: Observe>(
    started: &Receiver<()>,
    answer: &Sender<u64>,
    form: &impl Form,
    work: Work<'_, O>,
) -> Result<u64, String> {
    let mut wall_ns = 0;
    // Nobody who listens for an answer goes away first.
    _ = answer.send(0);
    for () in started {
        let timing = form.perform(&work);
        wall_ns += timing.wall_ns;
        _ = answer.send(timing.answer);
    }
    work.wrong.into_inner().map_or(Ok(wall_ns), Err)
}
