//! Plays a pattern to an observer, by a clock that is set.

use taskscale_live::{Clock, Observer, Options, SetClock};
use taskscale_model::digest::Digest;
use taskscale_sys::ticks::Rate;

use crate::patterns::{Pattern, Rim, Step};

/// A gap of at least this length is a wait, because the worker has no task.
const WAIT_NS: u64 = 3_000;

/// The digest of a pattern. Workers take turns in the order of time.
pub fn play(pattern: &Pattern, rim: Rim, exact: bool) -> Digest {
    // Ticks are nanoseconds, so nothing is rounded.
    let clock = SetClock::new(Rate::of_ns_per_4g(1 << 32));
    let observer = Observer::new(Options {
        workers: Some(pattern.workers.len() as u32),
        clock: Clock::Set(clock.clone()),
        exact,
        own_threads: rim != Rim::Neither,
        waits_are_told: rim == Rim::Told,
        ..Options::default()
    });
    let mut workers: Vec<_> = pattern
        .workers
        .iter()
        .enumerate()
        .map(|(index, steps)| (observer.worker(index as u32), steps.iter(), 0u64, 0u64))
        .collect();
    // The worker whose time is least is next. A step is a gap and a task, of at most some
    // milliseconds.
    while let Some((worker, steps, now, cpu)) =
        workers.iter_mut().filter(|(_, steps, ..)| steps.len() > 0).min_by_key(|(_, _, now, _)| *now)
    {
        let Some(Step { gap, task, waits, name }) = steps.next() else { break };
        clock.set_thread(worker.index());
        clock.set_ns(*now);
        if *gap >= WAIT_NS && rim == Rim::Told {
            worker.rests();
        }
        // A worker that finds no task spins for a while before it is parked.
        *cpu += gap.min(&20_000);
        *now += gap;
        clock.set_cpu_ns(*cpu);
        worker.begin_at(clock.set_ns(*now));
        *cpu += if *waits { 0 } else { *task };
        *now += task;
        clock.set_cpu_ns(*cpu);
        worker.end_at(clock.set_ns(*now), name.as_bytes());
    }
    observer.digest()
}
