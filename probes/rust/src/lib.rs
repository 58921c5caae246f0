//! The Rust probe. It performs taskscale's workloads on tokio, rayon, smol and plain threads, and
//! times them.
//!
//! | module | holds |
//! |---|---|
//! | [`sdk`] | the protocol and the clocks, a package of its own that your own probe can import |
//! | [`workloads`] | `fanout`, `nop`, `spin`, `graph` and `drain`, one file or folder each |
//! | [`runtimes`] | the runtimes, each started once per process |

use std::{io::Write, process::ExitCode};

pub mod runtimes;
pub mod workloads;

pub use taskscale_probe_sdk as sdk;

/// The runtimes of this probe.
pub const RUNTIMES: [&str; 4] = ["tokio", "rayon", "smol", "threads"];

/// The probe of one of [`RUNTIMES`].
pub fn probe(runtime: &str) -> Option<sdk::Probe> {
    let probe = runtimes::probe(runtime)?
        .workload(workloads::fanout::workload(runtime))
        .workload(workloads::nop::workload(runtime))
        .workload(workloads::spin::workload());
    Some(match runtime {
        "tokio" => probe.workload(workloads::graph::workload()).workload(workloads::drain::workload(
            || runtimes::Flavour::MultiThread.runtime(),
            env!("TASKSCALE_FUTURES_UTIL_VERSION"),
        )),
        _ => probe,
    })
}

/// Serves the probe of `runtime` on standard input and output. Returns status 0 at the end of input
/// or after `exit`, 1 if a pipe failed, and 2 if there is no such runtime.
pub fn main(runtime: &str) -> ExitCode {
    match probe(runtime) {
        Some(probe) => probe.serve(),
        None => {
            let known = RUNTIMES.join(", ");
            // Nothing can be done if standard error is gone too.
            let _ =
                writeln!(std::io::stderr(), "no runtime {runtime:?} in this probe; choose one of {known}");
            ExitCode::from(2)
        }
    }
}
