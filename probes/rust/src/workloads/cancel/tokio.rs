//! tokio's tasks: each aborted by its handle, all by their `JoinSet`; and futures that are dropped.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Waker},
};

use serde_json::json;
use tokio::{
    sync::{Mutex, Notify},
    task::{self, JoinError, JoinHandle, JoinSet},
    time,
};

use super::{all_wait, in_order};
use crate::{
    runtimes::Flavour,
    sdk::{CPU, Run, Timing, Variant, WALL, now_ns},
    workloads::parked::{HOUR, Patience, begin, counted},
};

/// A way of cancelling.
#[derive(Clone, Copy)]
enum Way {
    /// `JoinHandle::abort` of each, then each awaited.
    Abort,
    /// `JoinSet::abort_all`, then each joined.
    AbortAll,
    /// Futures without a task, each in a box, polled once and dropped.
    Drop,
}

pub fn variants() -> Vec<Variant> {
    let mut variants = Vec::new();
    for (flavour_name, flavour) in Flavour::ALL {
        variants.push(variant(format!("{flavour_name}/abort"), flavour, Way::Abort, json!({})));
        let about = json!({"only": {"first": ["oldest"]}});
        variants.push(variant(format!("{flavour_name}/JoinSet::abort_all"), flavour, Way::AbortAll, about));
    }
    let about = json!({"note": "boxed futures without a task, polled once, then dropped"});
    variants.push(variant("drop".to_owned(), Flavour::CurrentThread, Way::Drop, about));
    variants
}

fn variant(name: String, flavour: Flavour, way: Way, about: serde_json::Value) -> Variant {
    let creates_task = !matches!(way, Way::Drop);
    Variant { name, creates_task, about, perform: Box::new(move |run| perform(run, flavour, way)) }
}

fn perform(run: &Run, flavour: Flavour, way: Way) -> Result<Timing, String> {
    let (begun, mut whole) = ([WALL, CPU].map(now_ns), Timing::default());
    let on: String = run.param("on");
    let runtime = if on == "timer" { flavour.with_timers() } else { flavour.runtime() };
    let once = Run { iterations: 1, ..run.clone() };
    for _ in 0..run.iterations {
        let timing = runtime.block_on(async {
            match &*on {
                "timer" => cancel(&once, flavour, way, || time::sleep(HOUR)).await,
                "lock" => {
                    let mutex = Arc::new(Mutex::new(()));
                    let _held = mutex.lock().await;
                    let locked = |mutex: Arc<Mutex<()>>| async move { drop(mutex.lock().await) };
                    cancel(&once, flavour, way, || locked(Arc::clone(&mutex))).await
                }
                _ => {
                    let event = Arc::new(Notify::new());
                    let notified = |event: Arc<Notify>| async move { event.notified().await };
                    cancel(&once, flavour, way, || notified(Arc::clone(&event))).await
                }
            }
        })?;
        whole.add(timing);
    }
    Ok(whole.beside(begun))
}

/// One iteration: tasks that wait for futures of `make`.
async fn cancel<F: Future<Output = ()> + Send + 'static>(
    run: &Run,
    flavour: Flavour,
    way: Way,
    make: impl Fn() -> F,
) -> Result<Timing, String> {
    begin();
    match way {
        Way::Abort => {
            let tasks: Vec<JoinHandle<()>> = (0..run.size).map(|_| tokio::spawn(counted(make()))).collect();
            until_all(run, flavour).await?;
            all_wait(run, tasks.iter().filter(|task| task.is_finished()).count())?;
            let mut all = Some(in_order(run, tasks));
            let timing = run.time_async(async |_| {
                let tasks = all.take().unwrap_or_default();
                tasks.iter().for_each(JoinHandle::abort);
                let mut cancelled = 0;
                for task in tasks {
                    cancelled += u64::from(task.await.is_err_and(|why| why.is_cancelled()));
                }
                cancelled
            });
            Ok(timing.await)
        }
        Way::AbortAll => {
            let mut tasks = JoinSet::new();
            for _ in 0..run.size {
                tasks.spawn(counted(make()));
            }
            until_all(run, flavour).await?;
            // What has ended can be joined at once.
            all_wait(run, usize::from(tasks.try_join_next().is_some()))?;
            let timing = run.time_async(async |_| {
                tasks.abort_all();
                let mut cancelled = 0;
                while let Some(ended) = tasks.join_next().await {
                    cancelled += u64::from(ended.is_err_and(|why: JoinError| why.is_cancelled()));
                }
                cancelled
            });
            Ok(timing.await)
        }
        Way::Drop => {
            let mut futures: Vec<Pin<Box<_>>> = Vec::with_capacity(run.size as usize);
            DROPPED.store(0, Ordering::Relaxed);
            let mut nobody = Context::from_waker(Waker::noop());
            let mut ended = 0;
            for _ in 0..run.size {
                let waits = make();
                let mut future = Box::pin(async move {
                    let _seen = Seen;
                    waits.await;
                });
                ended += usize::from(future.as_mut().poll(&mut nobody).is_ready());
                futures.push(future);
            }
            all_wait(run, ended)?;
            let mut all = Some(in_order(run, futures));
            Ok(run.time(|_| {
                drop(all.take());
                DROPPED.load(Ordering::Relaxed)
            }))
        }
    }
}

/// Futures that were dropped, in the present iteration.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Sees that the future which holds it is dropped.
struct Seen;

impl Drop for Seen {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits for all tasks to wait.
async fn until_all(run: &Run, flavour: Flavour) -> Result<(), String> {
    let mut patience = Patience::new(run);
    match flavour {
        // The workers run them.
        Flavour::MultiThread => patience.sleep()?,
        Flavour::CurrentThread => {
            while !patience.ends()? {
                task::yield_now().await;
            }
        }
    }
    Ok(())
}
