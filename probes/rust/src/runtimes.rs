//! The runtimes. Each is started once per process, outside the timed part, and serves every later
//! request.

use std::{
    future::{self, Future},
    sync::{LazyLock, OnceLock},
    thread,
};

use smol::{Executor, LocalExecutor, Task};

use crate::sdk::{self, Probe};

/// A probe of `runtime` that names its version and workers and has no workloads yet. `None` if
/// there is no such runtime.
pub fn probe(runtime: &str) -> Option<Probe> {
    let (name, version, workers) = match runtime {
        "tokio" => {
            let workers = Flavour::MultiThread.runtime().metrics().num_workers();
            ("tokio", env!("TASKSCALE_TOKIO_VERSION"), Some(workers))
        }
        "rayon" => ("rayon", env!("TASKSCALE_RAYON_VERSION"), Some(rayon::current_num_threads())),
        "smol" => ("smol", env!("TASKSCALE_SMOL_VERSION"), Some(cores())),
        // Threads are the standard library's, so their version is the compiler's: "rustc 1.95.0
        // (...)".
        "threads" => ("threads", sdk::TOOLCHAIN.split(' ').nth(1).unwrap_or("unknown"), None),
        _ => return None,
    };
    let workers = workers.map(|workers| workers as u64);
    // Tasks are allocated by the C library. musl's makes those of tokio and rayon cost a third more
    // (docs/guides/install.md), so figures say that they are of it.
    let library = if cfg!(target_env = "musl") { ", musl" } else { "" };
    Some(Probe { name, version: format!("{version}{library}"), workers, workloads: Vec::new() })
}

/// The two schedulers of tokio.
#[derive(Clone, Copy)]
pub enum Flavour {
    /// The scheduler that `#[tokio::main]` starts: one worker per core, with the root future on the
    /// thread that called `block_on`.
    MultiThread,
    /// The scheduler that runs everything on the thread that called `block_on`.
    CurrentThread,
}

impl Flavour {
    /// Both, with the first part of the names of their variants.
    pub const ALL: [(&str, Flavour); 2] =
        [("multi_thread", Flavour::MultiThread), ("current_thread", Flavour::CurrentThread)];

    /// The runtime of this flavour.
    ///
    /// # Panics
    /// If the system gives no thread for a worker. The reply to the request then says so.
    pub fn runtime(self) -> &'static tokio::runtime::Runtime {
        static MULTI_THREAD: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
        static CURRENT_THREAD: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
        let cell = match self {
            Flavour::MultiThread => &MULTI_THREAD,
            Flavour::CurrentThread => &CURRENT_THREAD,
        };
        // Without the drivers of I/O and timers: no workload but a server needs one, and a worker
        // that waits in epoll takes longer to wake than one that waits on a condition variable.
        cell.get_or_init(|| self.builder().build().expect("the system starts the threads of a tokio runtime"))
    }

    /// The runtime of this flavour with the driver of timers, which that of other workloads does
    /// without.
    ///
    /// # Panics
    /// If the system gives no thread for a worker. The reply to the request then says so.
    pub fn with_timers(self) -> &'static tokio::runtime::Runtime {
        static MULTI_THREAD: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
        static CURRENT_THREAD: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
        let cell = match self {
            Flavour::MultiThread => &MULTI_THREAD,
            Flavour::CurrentThread => &CURRENT_THREAD,
        };
        let made = || self.builder().enable_time().build();
        cell.get_or_init(|| made().expect("the system starts the threads of a tokio runtime"))
    }

    /// What makes a runtime of this flavour.
    pub fn builder(self) -> tokio::runtime::Builder {
        match self {
            Flavour::MultiThread => tokio::runtime::Builder::new_multi_thread(),
            Flavour::CurrentThread => tokio::runtime::Builder::new_current_thread(),
        }
    }
}

/// smol's executor, which one thread per core drives, as in the example of its documentation.
pub fn smol_executor() -> &'static Executor<'static> {
    static EXECUTOR: LazyLock<&'static Executor<'static>> = LazyLock::new(|| {
        let executor: &'static Executor<'static> = Box::leak(Box::new(Executor::new()));
        for _ in 0..cores() {
            thread::spawn(|| smol::block_on(executor.run(future::pending::<()>())));
        }
        executor
    });
    &EXECUTOR
}

/// Calls `body` with this thread's local executor of smol.
pub fn smol_local<T>(body: impl FnOnce(&LocalExecutor<'static>) -> T) -> T {
    thread_local! {
        static LOCAL: LocalExecutor<'static> = const { LocalExecutor::new() };
    }
    LOCAL.with(body)
}

/// What smol's two executors have in common: they start tasks.
pub trait Spawn {
    /// Starts `future` as a task.
    fn spawn<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Task<T>;
}

impl Spawn for Executor<'static> {
    #[inline]
    fn spawn<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Task<T> {
        Executor::spawn(self, future)
    }
}

impl Spawn for LocalExecutor<'static> {
    #[inline]
    fn spawn<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Task<T> {
        LocalExecutor::spawn(self, future)
    }
}

/// The number of cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get())
}
