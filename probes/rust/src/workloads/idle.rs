//! `idle`: `size` milliseconds are watched, while `rate` tasks arrive a second.
//!
//! Task i arrives i steps of `1000 / rate` milliseconds after the beginning, however late the one
//! before it was. It adds a step to a count. A few tasks a millisecond apart come before, untimed:
//! threads start at the first of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use serde_json::json;
use smol::{Task, Timer};
use tokio::time::sleep_until;

use crate::{
    runtimes::{Flavour, Spawn, smol_executor, smol_local},
    sdk::{Param, Run, Timing, Variant, Workload},
};

/// The workload `idle` with the variants of `runtime`. The answer of an iteration is the count that
/// all tasks have added to: the milliseconds.
pub fn workload(runtime: &str) -> Workload {
    let rate = Param {
        name: "rate",
        default: json!(1000),
        choices: &[],
        help: "tasks that arrive a second: 1, 10, 100 or 1000",
    };
    let thread = "a thread of its own sleeps until each task arrives";
    let variants = match runtime {
        "tokio" => {
            let flavours = Flavour::ALL.map(|(name, flavour)| {
                let perform = move |run: &Run| on_tokio(run, flavour);
                variant(format!("{name}/sleep_until"), "the runtime's timer", perform)
            });
            let spawn = |ended: Arc<Ended>| drop(tokio().spawn(async move { ended.add() }));
            let perform = move |run: &Run| {
                tokio();
                outside(run, spawn)
            };
            let outside = variant("multi_thread/outside/spawn".into(), thread, perform);
            flavours.into_iter().chain([outside]).collect()
        }
        "smol" => {
            let timer = "async-io's timer, on a thread of its own or one that polls";
            let spawn = |ended: Arc<Ended>| smol_executor().spawn(async move { ended.add() }).detach();
            vec![
                variant("executor/Timer".into(), timer, on_executor),
                variant("block_on/Timer".into(), timer, on_this_thread),
                variant("executor/outside/spawn".into(), thread, move |run: &Run| outside(run, spawn)),
            ]
        }
        "rayon" => {
            let spawn = |ended: Arc<Ended>| rayon::spawn(move || ended.add());
            vec![variant("outside/spawn".into(), thread, move |run: &Run| outside(run, spawn))]
        }
        _ => {
            let spawn = |ended: Arc<Ended>| drop(thread::spawn(move || ended.add()));
            let inline = |ended: Arc<Ended>| ended.add();
            let floor = "no task: what a thread costs that sleeps and wakes";
            let mut inline = variant("sleep/inline".into(), floor, move |run: &Run| outside(run, inline));
            inline.creates_task = false;
            vec![
                variant("sleep/spawn".into(), "a thread for each task", move |run: &Run| outside(run, spawn)),
                inline,
            ]
        }
    };
    Workload { name: "idle", params: vec![rate], variants }
}

fn variant(
    name: String,
    note: &str,
    perform: impl Fn(&Run) -> Result<Timing, String> + Send + Sync + 'static,
) -> Variant {
    Variant { name, creates_task: true, about: json!({"note": note}), perform: Box::new(perform) }
}

fn tokio() -> &'static tokio::runtime::Runtime {
    Flavour::MultiThread.runtime()
}

/// Tasks that arrive: how many, and how many milliseconds apart.
#[derive(Clone, Copy)]
struct Arrivals {
    number: u64,
    step: u64,
}

impl Arrivals {
    /// Those that come before the timed part.
    const BEFORE: Arrivals = Arrivals { number: 20, step: 1 };

    fn of(run: &Run) -> Result<Self, String> {
        let rate: u64 = run.param("rate");
        if ![1, 10, 100, 1000].contains(&rate) {
            return Err(format!("rate is {rate}; give 1, 10, 100 or 1000"));
        }
        let step = 1000 / rate;
        if !run.size.is_multiple_of(step) {
            return Err(format!("in {} ms no whole number of tasks arrives at {rate} a second", run.size));
        }
        Ok(Arrivals { number: run.size / step, step })
    }

    /// When they arrive, from now on.
    fn times(self) -> impl Iterator<Item = Instant> {
        let begun = Instant::now();
        (1..=self.number).map(move |i| begun + Duration::from_millis(i * self.step))
    }
}

fn on_tokio(run: &Run, flavour: Flavour) -> Result<Timing, String> {
    async fn arriving(arrivals: Arrivals) -> u64 {
        let (count, step) = (Arc::new(AtomicU64::new(0)), arrivals.step);
        let mut tasks = Vec::with_capacity(arrivals.number as usize);
        for time in arrivals.times() {
            sleep_until(time.into()).await;
            let count = Arc::clone(&count);
            tasks.push(tokio::spawn(async move { count.fetch_add(step, Ordering::Relaxed) }));
        }
        for task in tasks {
            task.await.expect("a task that nobody aborts ends");
        }
        count.load(Ordering::Relaxed)
    }
    let arrivals = Arrivals::of(run)?;
    // As a task it runs on the runtime's own threads; the root of a runtime has one for itself.
    let one =
        async |arrivals| tokio::spawn(arriving(arrivals)).await.expect("a task that nobody aborts ends");
    Ok(flavour.with_timers().block_on(async {
        one(Arrivals::BEFORE).await;
        run.time_async(async |_| one(arrivals).await).await
    }))
}

/// On smol's executor, which threads drive.
fn on_executor(run: &Run) -> Result<Timing, String> {
    let arrivals = Arrivals::of(run)?;
    let executor = smol_executor();
    let one = async |arrivals| executor.spawn(arriving(executor, arrivals)).await;
    Ok(smol::block_on(async {
        one(Arrivals::BEFORE).await;
        run.time_async(async |_| one(arrivals).await).await
    }))
}

/// On a local executor of smol, which this thread drives.
fn on_this_thread(run: &Run) -> Result<Timing, String> {
    let arrivals = Arrivals::of(run)?;
    Ok(smol_local(|local| {
        smol::block_on(local.run(async {
            arriving(local, Arrivals::BEFORE).await;
            run.time_async(async |_| arriving(local, arrivals).await).await
        }))
    }))
}

async fn arriving(executor: &impl Spawn, arrivals: Arrivals) -> u64 {
    let (count, step) = (Arc::new(AtomicU64::new(0)), arrivals.step);
    let mut tasks: Vec<Task<u64>> = Vec::with_capacity(arrivals.number as usize);
    for time in arrivals.times() {
        Timer::at(time).await;
        let count = Arc::clone(&count);
        tasks.push(executor.spawn(async move { count.fetch_add(step, Ordering::Relaxed) }));
    }
    for task in tasks {
        task.await;
    }
    count.load(Ordering::Relaxed)
}

/// What tasks add to that a thread outside starts. The last of them wakes it.
struct Ended {
    count: AtomicU64,
    arrivals: Arrivals,
    waits: Thread,
}

impl Ended {
    fn add(&self) {
        let step = self.arrivals.step;
        if self.count.fetch_add(step, Ordering::Release) + step == self.arrivals.number * step {
            self.waits.unpark();
        }
    }
}

/// This thread, which no runtime knows, sleeps until each task arrives, and starts it.
fn outside(run: &Run, start: impl Fn(Arc<Ended>)) -> Result<Timing, String> {
    let one = |arrivals: Arrivals| {
        let ended = Arc::new(Ended { count: AtomicU64::new(0), arrivals, waits: thread::current() });
        for time in arrivals.times() {
            while let Some(left) = time.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            {
                thread::sleep(left);
            }
            start(Arc::clone(&ended));
        }
        loop {
            let count = ended.count.load(Ordering::Acquire);
            if count >= arrivals.number * arrivals.step {
                return count;
            }
            thread::park();
        }
    };
    let arrivals = Arrivals::of(run)?;
    one(Arrivals::BEFORE);
    Ok(run.time(|_| one(arrivals)))
}
