//! tokio's tasks: on a `Notify`, in `sleep`, on a `Mutex`.

use std::{future::Future, sync::Arc};

use serde_json::json;
use tokio::{
    sync::{Mutex, Notify},
    task::{self, JoinHandle},
    time,
};

use super::{HOUR, Patience, Watch, counted};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let variant = |(name, flavour)| Variant {
        name: format!("{name}/spawn"),
        creates_task: true,
        about: json!({}),
        perform: Box::new(move |run| perform(run, flavour)),
    };
    Flavour::ALL.into_iter().map(variant).collect()
}

fn perform(run: &Run, flavour: Flavour) -> Result<Timing, String> {
    let mut watch = Watch::new(run);
    let on: String = run.param("on");
    let runtime = if on == "timer" { flavour.with_timers() } else { flavour.runtime() };
    for _ in 0..run.iterations {
        runtime.block_on(async {
            match &*on {
                "timer" => {
                    let asleep = || async {
                        counted(time::sleep(HOUR)).await;
                        0
                    };
                    let wake = |tasks: &[JoinHandle<u64>]| tasks.iter().for_each(JoinHandle::abort);
                    park(&mut watch, flavour, asleep, wake).await
                }
                "lock" => {
                    let mutex = Arc::new(Mutex::new(()));
                    let held = Arc::clone(&mutex).lock_owned().await;
                    let queued = || {
                        let mutex = Arc::clone(&mutex);
                        async move {
                            drop(counted(mutex.lock()).await);
                            1
                        }
                    };
                    park(&mut watch, flavour, queued, |_| drop(held)).await
                }
                _ => {
                    let event = Arc::new(Notify::new());
                    let waiting = || {
                        let event = Arc::clone(&event);
                        async move {
                            counted(event.notified()).await;
                            1
                        }
                    };
                    park(&mut watch, flavour, waiting, |_| event.notify_waiters()).await
                }
            }
        })?;
    }
    Ok(watch.report())
}

/// One iteration: tasks of `make`, all of which wait until `wake`.
async fn park<F: Future<Output = u64> + Send + 'static>(
    watch: &mut Watch<'_>,
    flavour: Flavour,
    make: impl Fn() -> F,
    wake: impl FnOnce(&[JoinHandle<u64>]),
) -> Result<(), String> {
    watch.begin()?;
    let mut tasks = Vec::with_capacity(watch.run.size as usize);
    for _ in 0..watch.run.size {
        tasks.push(tokio::spawn(make()));
    }
    let mut patience = Patience::new(watch.run);
    match flavour {
        // The workers run them.
        Flavour::MultiThread => patience.sleep()?,
        Flavour::CurrentThread => {
            while !patience.ends()? {
                task::yield_now().await;
            }
            // Whoever only yielded has its turn before this one, and is then found to have ended.
            if tokio::spawn(task::yield_now()).await.is_err() {
                return Err("a task that yields was lost".to_owned());
            }
        }
    }
    watch.all_wait(tasks.iter().filter(|task| task.is_finished()).count())?;
    let mut all = Some((tasks, wake));
    let timing = watch.once.time_async(async |_| {
        let Some((tasks, wake)) = all.take() else { return 0 };
        wake(&tasks);
        let mut woken = 0;
        for task in tasks {
            woken += match task.await {
                Ok(value) => value,
                // A task that was aborted says so; a panic gives no value.
                Err(error) => u64::from(error.is_cancelled()),
            };
        }
        woken
    });
    let timing = timing.await;
    watch.add(timing);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(size: u64) -> Run {
        Run {
            id: 1,
            workload: "parked".into(),
            variant: "multi_thread/spawn".into(),
            size,
            iterations: 1,
            seed: 1,
            params: json!({"on": "event", "resident": false, "verify": true}).as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn a_task_that_does_not_wait_is_found() {
        let run = asked(3);
        let one_goes_on = |counts: bool| {
            let mut watch = Watch::new(&run);
            let made = std::sync::atomic::AtomicU64::new(0);
            let event = Arc::new(Notify::new());
            let make = || {
                let waits = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
                let event = Arc::clone(&event);
                async move {
                    if waits {
                        counted(event.notified()).await;
                    } else if counts {
                        counted(task::yield_now()).await;
                    }
                    1
                }
            };
            let parked = park(&mut watch, Flavour::CurrentThread, make, |_| event.notify_waiters());
            Flavour::CurrentThread.runtime().block_on(parked)
        };
        let _alone = super::super::tests::alone();
        let said = one_goes_on(true).expect_err("one was pending and went on");
        assert_eq!(said, "1 of 3 tasks ended before they were woken");
        let said = one_goes_on(false).expect_err("one never waited");
        assert_eq!(said, "2 of 3 tasks wait, and no further one begins to");
    }
}
