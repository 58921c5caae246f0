//! The workload `drain` of the Rust probe with futures-util 0.3.17: cliff C2 of the suite `cliffs`.
//! Its control is the same source with the futures-util of the Rust probe, as
//! `FuturesUnordered/Mutex` of tokio.

use std::{io, sync::LazyLock};

use taskscale_probe_sdk::Probe;
use tokio::runtime::Runtime;

#[path = "../../src/workloads/drain.rs"]
mod drain;
#[path = "../../src/parts.rs"]
mod parts;

/// The runtime, started as the Rust probe starts it (`runtimes.rs` there) and as `#[tokio::main]`
/// does.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().expect("the system starts the threads of a tokio runtime")
});

fn main() -> io::Result<()> {
    let versions =
        concat!(env!("TASKSCALE_TOKIO_VERSION"), ", futures-util ", env!("TASKSCALE_FUTURES_UTIL_VERSION"));
    let probe = Probe {
        name: "tokio+futures-0.3.17",
        version: versions.to_owned(),
        workers: Some(RUNTIME.metrics().num_workers() as u64),
        workloads: vec![drain::workload(|| &RUNTIME, env!("TASKSCALE_FUTURES_UTIL_VERSION"))],
    };
    parts::in_parts(probe).serve()
}
