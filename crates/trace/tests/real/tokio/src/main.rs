//! Writes a trace of a small tokio program with tracing-chrome, and the totals that the program
//! counted itself.
//!
//!     export RUSTFLAGS="--cfg tokio_unstable --remap-path-prefix=$(echo ~/.cargo/registry/src/*)=registry"
//!     cargo run --release -- threaded OUT
//!     cargo run --release -- async OUT
//!
//! gives `OUT.json` and `OUT.totals.json`. The folder of the sources is renamed at compile time, so
//! that the trace, which tracing-chrome writes with their paths, names no machine and needs no
//! change afterwards.

use std::{
    fs,
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use tracing_chrome::{ChromeLayerBuilder, TraceStyle};
use tracing_subscriber::prelude::*;

const WORKERS: usize = 2;

static TASKS: AtomicU64 = AtomicU64::new(0);
static POLLS: AtomicU64 = AtomicU64::new(0);
static DROPS: AtomicU64 = AtomicU64::new(0);
static BUSY_NS: AtomicU64 = AtomicU64::new(0);
static MAIN_POLLS: AtomicU64 = AtomicU64::new(0);
static MAIN_BUSY_NS: AtomicU64 = AtomicU64::new(0);

/// Counts and times the polls of a future.
struct Counted<F> {
    inner: Pin<Box<F>>,
    polls: &'static AtomicU64,
    busy_ns: &'static AtomicU64,
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let began = Instant::now();
        let poll = self.inner.as_mut().poll(context);
        self.busy_ns.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
        self.polls.fetch_add(1, Relaxed);
        poll
    }
}

impl<F> Drop for Counted<F> {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Relaxed);
    }
}

fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> tokio::task::JoinHandle<()> {
    TASKS.fetch_add(1, Relaxed);
    tokio::spawn(Counted { inner: Box::pin(future), polls: &POLLS, busy_ns: &BUSY_NS })
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

async fn program() {
    let mut handles = Vec::new();
    for _ in 0..15 {
        handles.push(spawn(async {}));
    }
    for _ in 0..12 {
        handles.push(spawn(async { spin(Duration::from_micros(300)) }));
    }
    for _ in 0..8 {
        handles.push(spawn(async {
            for _ in 0..3 {
                spin(Duration::from_micros(100));
                tokio::task::yield_now().await;
            }
        }));
    }
    for _ in 0..6 {
        handles.push(spawn(async {
            spin(Duration::from_micros(50));
            tokio::time::sleep(Duration::from_millis(2)).await;
            spin(Duration::from_micros(50));
        }));
    }
    for handle in handles {
        handle.await.expect("no task panics");
    }
    // This task is given up before it ends: it is polled once, and dropped while it sleeps.
    let given_up = spawn(async { tokio::time::sleep(Duration::from_secs(3600)).await });
    while POLLS.load(Relaxed) < 15 + 12 + 8 * 4 + 6 * 2 + 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    given_up.abort();
    given_up.await.expect_err("it was given up");
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (style, out) = (args.next().expect("threaded or async"), args.next().expect("where to write"));
    let trace_style = match &*style {
        "threaded" => TraceStyle::Threaded,
        "async" => TraceStyle::Async,
        other => panic!("{other} is not a style"),
    };
    let (layer, guard) = ChromeLayerBuilder::new()
        .file(format!("{out}.json"))
        .include_args(true)
        .trace_style(trace_style)
        .build();
    // The filter keeps what tokio says about its tasks. It drops timers and semaphores, which are
    // many.
    let tasks =
        tracing_subscriber::filter::filter_fn(|metadata| metadata.target().starts_with("tokio::task"));
    tracing_subscriber::registry().with(layer.with_filter(tasks)).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_time().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(Counted { inner: Box::pin(program()), polls: &MAIN_POLLS, busy_ns: &MAIN_BUSY_NS });
    drop(runtime);
    drop(guard);
    let totals = [
        ("workers", WORKERS as u64),
        ("tasks", TASKS.load(Relaxed)),
        ("polls", POLLS.load(Relaxed)),
        ("busy_ns", BUSY_NS.load(Relaxed)),
        ("main_polls", MAIN_POLLS.load(Relaxed)),
        ("main_busy_ns", MAIN_BUSY_NS.load(Relaxed)),
        ("drops", DROPS.load(Relaxed)),
    ];
    let members: Vec<String> = totals.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    fs::write(format!("{out}.totals.json"), format!("{{{}}}\n", members.join(", "))).expect("written");
}
