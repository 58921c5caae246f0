//! Threads of the operating system, on a condition variable.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, atomic::Ordering},
    thread::{Builder, JoinHandle},
};

use serde_json::json;

use super::{HOUR, Patience, WAITING, Watch};
use crate::{
    sdk::{Run, Timing, Variant},
    workloads::fanout::{MAX_THREADS, WHY},
};

pub fn variants() -> Vec<Variant> {
    let only = json!({"on": ["event", "timer"]});
    vec![Variant {
        name: "thread/spawn".to_owned(),
        creates_task: true,
        about: json!({"max_size": MAX_THREADS, "note": WHY, "only": only}),
        perform: Box::new(perform),
    }]
}

/// A flag that threads wait for.
#[derive(Default)]
struct Event {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    /// Waits, at most an hour where it has a time limit. A thread is counted while it holds the
    /// mutex that it lets go of by waiting: who holds it then sees only threads that wait.
    fn wait(&self, limited: bool) -> u64 {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        WAITING.fetch_add(1, Ordering::Release);
        let is_set = match limited {
            true => {
                let waited = self.changed.wait_timeout_while(is_set, HOUR, |is_set| !*is_set);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            false => {
                let waited = self.changed.wait_while(is_set, |is_set| !*is_set);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        u64::from(*is_set)
    }

    fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

fn perform(run: &Run) -> Result<Timing, String> {
    let mut watch = Watch::new(run);
    let limited = run.param::<String>("on") == "timer";
    for _ in 0..run.iterations {
        watch.begin()?;
        let event = Arc::new(Event::default());
        let mut threads: Vec<JoinHandle<u64>> = Vec::with_capacity(run.size as usize);
        for started in 0..run.size {
            let waits = Arc::clone(&event);
            match Builder::new().spawn(move || waits.wait(limited)) {
                Ok(thread) => threads.push(thread),
                Err(why) => {
                    event.set();
                    for thread in threads {
                        // What it gave is of no use to a run that fails.
                        let _ = thread.join();
                    }
                    return Err(format!("after {started} threads the system gives no further one: {why}"));
                }
            }
        }
        Patience::new(run).sleep()?;
        drop(event.is_set.lock().unwrap_or_else(PoisonError::into_inner));
        watch.all_wait(threads.iter().filter(|thread| thread.is_finished()).count())?;
        let mut all = Some(threads);
        let timing = watch.once.time(|_| {
            event.set();
            let joined = all.take().into_iter().flatten().map(|thread| thread.join().unwrap_or_default());
            joined.sum()
        });
        watch.add(timing);
    }
    Ok(watch.report())
}
