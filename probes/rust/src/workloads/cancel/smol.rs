//! smol's tasks, each cancelled by its handle, all of which one `join_all` awaits.

use std::{future::Future, sync::Arc};

use futures_util::future::join_all;
use serde_json::json;
use smol::{Task, Timer, channel, future, lock::Mutex};

use super::{all_wait, in_order};
use crate::{
    runtimes::{Spawn, smol_executor, smol_local},
    sdk::{CPU, Run, Timing, Variant, WALL, now_ns},
    workloads::parked::{HOUR, Patience, begin, counted},
};

pub fn variants() -> Vec<Variant> {
    let variant = |name: &str, local| Variant {
        name: name.to_owned(),
        creates_task: true,
        about: json!({}),
        perform: Box::new(move |run| perform(run, local)),
    };
    vec![variant("executor/cancel", false), variant("block_on/cancel", true)]
}

fn perform(run: &Run, local: bool) -> Result<Timing, String> {
    let (begun, mut whole) = ([WALL, CPU].map(now_ns), Timing::default());
    let once = Run { iterations: 1, ..run.clone() };
    for _ in 0..run.iterations {
        whole.add(match local {
            true => smol_local(|local| smol::block_on(local.run(one(&once, local, local_turn()))))?,
            false => smol::block_on(one(&once, smol_executor(), None))?,
        });
    }
    Ok(whole.beside(begun))
}

/// What lets the tasks run where they have no threads of their own.
fn local_turn() -> Option<fn() -> future::YieldNow> {
    Some(future::yield_now)
}

async fn one(
    run: &Run,
    executor: &impl Spawn,
    turn: Option<fn() -> future::YieldNow>,
) -> Result<Timing, String> {
    match &*run.param::<String>("on") {
        "timer" => cancel(run, executor, turn, || async { _ = Timer::after(HOUR).await }).await,
        "lock" => {
            let mutex = Arc::new(Mutex::new(()));
            let _held = mutex.lock().await;
            let locked = |mutex: Arc<Mutex<()>>| async move { drop(mutex.lock().await) };
            cancel(run, executor, turn, || locked(Arc::clone(&mutex))).await
        }
        _ => {
            let (_never, receiver) = channel::bounded::<()>(1);
            let received = |receiver: channel::Receiver<()>| async move { _ = receiver.recv().await };
            cancel(run, executor, turn, || received(receiver.clone())).await
        }
    }
}

/// One iteration: tasks that wait for futures of `make`.
async fn cancel<F: Future<Output = ()> + Send + 'static>(
    run: &Run,
    executor: &impl Spawn,
    turn: Option<fn() -> future::YieldNow>,
    make: impl Fn() -> F,
) -> Result<Timing, String> {
    begin();
    let tasks: Vec<Task<()>> = (0..run.size).map(|_| executor.spawn(counted(make()))).collect();
    let mut patience = Patience::new(run);
    match turn {
        Some(turn) => {
            while !patience.ends()? {
                turn().await;
            }
        }
        None => patience.sleep()?,
    }
    all_wait(run, tasks.iter().filter(|task| task.is_finished()).count())?;
    let mut all = Some(in_order(run, tasks));
    let timing = run.time_async(async |_| {
        // Awaited one after the other, each would be a wake-up there and back.
        let ended = join_all(all.take().unwrap_or_default().into_iter().map(Task::cancel)).await;
        // A task that was cancelled gave nothing.
        ended.iter().filter(|ended| ended.is_none()).count() as u64
    });
    Ok(timing.await)
}
