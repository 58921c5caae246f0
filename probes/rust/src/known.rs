//! The runtimes that this probe serves, by name.

use std::{io::Write, process::ExitCode};

use crate::{parts, runtimes, sdk, workloads};

/// The runtimes of this probe.
pub const RUNTIMES: [&str; 4] = ["tokio", "rayon", "smol", "threads"];

/// The probe of one of [`RUNTIMES`].
pub fn probe(runtime: &str) -> Option<sdk::Probe> {
    let mut probe = runtimes::probe(runtime)?;
    probe.workloads.extend(of(runtime));
    Some(parts::in_parts(probe))
}

/// The names of the variants of `runtime`, which is not started.
pub fn variants(runtime: &str) -> impl Iterator<Item = String> {
    of(runtime).into_iter().flat_map(|workload| workload.variants).map(|variant| variant.name.to_string())
}

fn of(runtime: &str) -> Vec<sdk::Workload> {
    let mut all = vec![
        workloads::fanout::workload(runtime),
        workloads::nop::workload(runtime),
        workloads::spin::workload(),
    ];
    all.extend(workloads::parked::workload(runtime));
    all.extend(workloads::blocking::workload(runtime));
    all.extend(workloads::cancel::workload(runtime));
    all.extend(workloads::pingpong::workload(runtime));
    all.push(workloads::remote::workload(runtime));
    all.push(workloads::idle::workload(runtime));
    all.push(workloads::scale::workload(runtime));
    all.extend(workloads::bytes::workload(runtime));
    if runtime == "tokio" {
        let multi_thread = || runtimes::Flavour::MultiThread.runtime();
        let futures_util = env!("TASKSCALE_FUTURES_UTIL_VERSION");
        all.push(workloads::context::workload());
        all.push(workloads::graph::workload());
        all.push(workloads::interp::workload());
        all.push(workloads::drain::workload(multi_thread, futures_util));
    }
    all
}

/// Serves the probe of `runtime` on standard input and output. Returns status 0 at the end of input
/// or after `exit`, 1 if a pipe failed, and 2 if there is no such runtime.
pub fn main(runtime: &str) -> ExitCode {
    match probe(runtime) {
        // Nobody is left to be told that the pipe failed.
        Some(probe) => probe.serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => {
            let known = RUNTIMES.join(", ");
            // Nothing can be done if standard error is gone too.
            let _ =
                writeln!(std::io::stderr(), "no runtime {runtime:?} in this probe; choose one of {known}");
            ExitCode::from(2)
        }
    }
}
