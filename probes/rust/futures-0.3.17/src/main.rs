//! The workload `drain` of the Rust probe with futures-util 0.3.17: cliff C2 of the suite `cliffs`.
//! Its control is the same source with the futures-util of the Rust probe, as
//! `FuturesUnordered/Mutex` of tokio.

use std::{process::ExitCode, sync::LazyLock};

use taskscale_probe_sdk::Probe;
use tokio::runtime::Runtime;

#[path = "../../src/workloads/drain.rs"]
mod drain;

/// The runtime, started as the Rust probe starts it (`runtimes.rs` there) and as `#[tokio::main]`
/// does.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().expect("the system starts the threads of a tokio runtime")
});

fn main() -> ExitCode {
    let versions =
        concat!(env!("TASKSCALE_TOKIO_VERSION"), ", futures-util ", env!("TASKSCALE_FUTURES_UTIL_VERSION"));
    Probe::new("tokio+futures-0.3.17", versions)
        .workers(RUNTIME.metrics().num_workers() as u64)
        .workload(drain::workload(|| &RUNTIME, env!("TASKSCALE_FUTURES_UTIL_VERSION")))
        .serve()
}
