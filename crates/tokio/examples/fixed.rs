//! The patterns that tokio can have, as they are and with the digest's advice taken: one run, of
//! which one line of JSON is printed. `experiments/patterns-fixed/run` starts it and has the same
//! programs in other runtimes.
//!
//! ```sh
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p taskscale-tokio --example fixed \
//!     --target-dir target/unstable -- PATTERN as-is|fixed BY observed|plain
//! ```
//!
//! `BY` is the number in the advice: so many pieces of a task, or tasks in a batch.

#![allow(clippy::print_stdout, reason = "an example prints its figures")]

use std::{
    error::Error,
    future::poll_fn,
    hint::black_box,
    io,
    task::Poll,
    thread::sleep,
    time::{Duration, Instant},
};

use taskscale_sys::clock::process_cpu_ns;
use taskscale_tokio::{Live, observe};
use tokio::{
    runtime::Builder,
    task::{JoinSet, yield_now},
};

// Numbers and milliseconds are those of experiments/patterns-fixed/program.hpp, which says why.
const SLEEPERS: usize = 8;
const COMPUTING: usize = 2;
/// Items of each of some tasks that take turns, and the steps that an item takes, some 70 ns.
const TASKS: u64 = 50;
const ITEMS: u64 = 80_000;
const STEPS: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pattern, change, by, look] = words.as_slice() else {
        return Err("usage: fixed PATTERN as-is|fixed BY observed|plain".into());
    };
    if !cfg!(tokio_unstable) {
        return Err("polls are not seen: build with RUSTFLAGS=\"--cfg tokio_unstable\"".into());
    }
    if pattern == "KERNEL" || pattern == "FANOUT" {
        return fanout(pattern == "KERNEL", change.parse()?, by.parse()?, look == "observed");
    }
    let fixed = change == "fixed";
    let by = if fixed { by.parse()? } else { 1 };
    let workers = match pattern.as_str() {
        "SCHEDULING_OVERHEAD" => 1,
        "HEALTHY" => COMPUTING,
        _ => SLEEPERS,
    };
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers);
    let (rt, live) = if look == "observed" {
        let (rt, live) = observe(&mut builder).build()?;
        (rt, Some(live))
    } else {
        (builder.build()?, None)
    };
    let cpu_ns = || process_cpu_ns(std::process::id());
    let (cpu, begin) = (cpu_ns()?, Instant::now());
    match pattern.as_str() {
        "HEALTHY" => rt.block_on(at_once(100, || spin(4.0))),
        "SCHEDULING_OVERHEAD" => rt.block_on(turns(by)),
        "SERIAL_BOTTLENECK" => rt.block_on(rounds(by)),
        "LOAD_IMBALANCE" => rt.block_on(partitions(fixed, by)),
        "STRAGGLER_TASKS" => rt.block_on(straggler(by)),
        "UNDER_DECOMPOSITION" => rt.block_on(at_once(2 * by, move || hold(300.0 / by as f64))),
        _ => return Err(io::Error::other(format!("{pattern}: tokio cannot have it")).into()),
    }
    let (seconds, cpu) = (begin.elapsed().as_secs_f64(), (cpu_ns()? - cpu) as f64 / 1e9);
    drop(rt);
    print(seconds, cpu, live.as_ref());
    Ok(())
}

fn print(seconds: f64, cpu: f64, live: Option<&Live>) {
    let (text, digest) = live.map_or((0, "null".into()), |live| (live.to_string().len(), live.json()));
    println!("{{\"seconds\":{seconds:.9},\"cpu\":{cpu:.9},\"text\":{text},\"digest\":{digest}}}");
}

/// What `experiments/patterns-fixed/sweep` varies: so many tasks of `steps` steps, spawned by the
/// thread that blocks and awaited in order; or in place of them the steps alone.
fn fanout(kernel: bool, tasks: u64, steps: u64, observed: bool) -> Result<(), Box<dyn Error>> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1);
    let (rt, live) = if observed {
        let (rt, live) = observe(&mut builder).build()?;
        (rt, Some(live))
    } else {
        (builder.build()?, None)
    };
    // All at once, since there is no verdict on the few microseconds that 256 take, as many as the
    // suite spawns at a time.
    let pass = || {
        if kernel {
            return (0..tasks).for_each(|_| compute(steps));
        }
        rt.block_on(async {
            let spawn = |_| tokio::spawn(async move { compute(steps) });
            for task in (0..tasks).map(spawn).collect::<Vec<_>>() {
                task.await.unwrap_or_default();
            }
        });
    };
    // The first pass fetches memory from the system.
    pass();
    if let Some(live) = &live {
        live.clear();
    }
    let cpu_ns = || process_cpu_ns(std::process::id());
    let (cpu, begin) = (cpu_ns()?, Instant::now());
    pass();
    let (seconds, cpu) = (begin.elapsed().as_secs_f64(), (cpu_ns()? - cpu) as f64 / 1e9);
    print(seconds, cpu, live.as_ref());
    Ok(())
}

/// Holds a worker and no processor.
fn hold(ms: f64) {
    sleep(Duration::from_secs_f64(ms / 1e3));
}

/// Holds a worker and its processor, by the clock.
fn spin(ms: f64) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs_f64(ms / 1e3) {}
}

fn compute(steps: u64) {
    black_box((0..steps).fold(1, |value, step| black_box(value ^ step).wrapping_mul(0x5851_F42D)));
}

fn start(set: &mut JoinSet<()>, tasks: u64, work: impl Fn() + Clone + Send + 'static) {
    for _ in 0..tasks {
        let work = work.clone();
        set.spawn(async move { work() });
    }
}

async fn at_once(tasks: u64, work: impl Fn() + Clone + Send + 'static) {
    let mut set = JoinSet::new();
    start(&mut set, tasks, work);
    set.join_all().await;
}

/// Tasks that give way to each other after each item, or after `by` of them.
async fn turns(by: u64) {
    let mut set = JoinSet::new();
    for _ in 0..TASKS {
        set.spawn(async move {
            for _ in (0..ITEMS).step_by(by as usize) {
                (0..by).for_each(|_| compute(STEPS));
                give_way().await;
            }
        });
    }
    set.join_all().await;
}

/// To the end of the queue. tokio's own `yield_now` waits until the I/O driver had its turn, too.
async fn give_way() {
    let mut given = false;
    poll_fn(|context| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn rounds(pieces: u64) {
    for _ in 0..6 {
        at_once(pieces, move || hold(60.0 / pieces as f64)).await;
        at_once(16, || hold(5.0)).await;
    }
}

/// Each partition is one task of many steps, or each step is a task that any worker takes.
async fn partitions(fixed: bool, by: u64) {
    let mut set = JoinSet::new();
    for steps in [60, 10, 10, 10, 10, 10, 10, 10] {
        if fixed {
            start(&mut set, steps * by, move || hold(5.0 / by as f64));
        } else {
            set.spawn(async move {
                for _ in 0..steps {
                    hold(5.0);
                    yield_now().await;
                }
            });
        }
    }
    set.join_all().await;
}

async fn straggler(pieces: u64) {
    let mut set = JoinSet::new();
    start(&mut set, pieces, move || hold(400.0 / pieces as f64));
    start(&mut set, 160, || hold(2.0));
    set.join_all().await;
}
