//! smol's tasks: on a channel that is closed, on a `Timer`, on a `Mutex`.

use std::{future::Future, sync::Arc};

use serde_json::json;
use smol::{Task, Timer, channel, future, lock::Mutex};

use super::{HOUR, Patience, Watch, counted};
use crate::{
    runtimes::{Spawn, smol_executor, smol_local},
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let variant = |name: &str, local| Variant {
        name: name.to_owned(),
        creates_task: true,
        about: json!({}),
        perform: Box::new(move |run| perform(run, local)),
    };
    vec![variant("executor/spawn", false), variant("block_on/spawn", true)]
}

fn perform(run: &Run, local: bool) -> Result<Timing, String> {
    let mut watch = Watch::new(run);
    for _ in 0..run.iterations {
        match local {
            true => {
                smol_local(|local| smol::block_on(local.run(once(&mut watch, local, Threads::This))))?;
            }
            false => smol::block_on(once(&mut watch, smol_executor(), Threads::Others))?,
        }
    }
    Ok(watch.report())
}

/// Which threads run the tasks.
#[derive(Clone, Copy)]
enum Threads {
    This,
    Others,
}

async fn once(watch: &mut Watch<'_>, executor: &impl Spawn, threads: Threads) -> Result<(), String> {
    match &*watch.run.param::<String>("on") {
        "timer" => {
            let asleep = || async {
                counted(Timer::after(HOUR)).await;
                0
            };
            park(watch, executor, threads, asleep, || (), true).await
        }
        "lock" => {
            let mutex = Arc::new(Mutex::new(()));
            let held = mutex.lock_arc().await;
            let queued = || {
                let mutex = Arc::clone(&mutex);
                async move {
                    drop(counted(mutex.lock()).await);
                    1
                }
            };
            park(watch, executor, threads, queued, || drop(held), false).await
        }
        _ => {
            let (sender, receiver) = channel::bounded::<()>(1);
            let waiting = || {
                let receiver = receiver.clone();
                async move {
                    // It ends with an error: the channel was closed, which is what wakes all.
                    u64::from(counted(receiver.recv()).await.is_err())
                }
            };
            park(watch, executor, threads, waiting, || drop(sender), false).await
        }
    }
}

/// One iteration: tasks of `make`, all of which wait until `wake`, or until they are cancelled.
async fn park<F: Future<Output = u64> + Send + 'static>(
    watch: &mut Watch<'_>,
    executor: &impl Spawn,
    threads: Threads,
    make: impl Fn() -> F,
    wake: impl FnOnce(),
    cancels: bool,
) -> Result<(), String> {
    watch.begin()?;
    let mut tasks: Vec<Task<u64>> = Vec::with_capacity(watch.run.size as usize);
    for _ in 0..watch.run.size {
        tasks.push(executor.spawn(make()));
    }
    let mut patience = Patience::new(watch.run);
    match threads {
        Threads::Others => patience.sleep()?,
        Threads::This => {
            while !patience.ends()? {
                future::yield_now().await;
            }
            // Whoever only yielded has its turn before this one, and is then found to have ended.
            executor.spawn(future::yield_now()).await;
        }
    }
    watch.all_wait(tasks.iter().filter(|task| task.is_finished()).count())?;
    let mut all = Some((tasks, wake));
    let timing = watch.once.time_async(async |_| {
        let Some((tasks, wake)) = all.take() else { return 0 };
        wake();
        let mut woken = 0;
        for task in tasks {
            woken += match cancels {
                // A task that was cancelled gave nothing.
                true => u64::from(task.cancel().await.is_none()),
                false => task.await,
            };
        }
        woken
    });
    let timing = timing.await;
    watch.add(timing);
    Ok(())
}
