//! A probe of your own, whole. Weigh it beside the built-in ones: taskscale run fanout --probe
//! my_probe.rs

use taskscale_probe_rust::sdk::{Param, Probe, Variant, Workload};

/// What one task does; change it. The tool checks the sum of 31 * i, so keep that while you try
/// this out.
#[inline(never)]
fn task(i: u64) -> u64 {
    31 * i
}

fn main() -> std::process::ExitCode {
    // What is set up out here is not timed, only what happens inside `run.time`.
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    // The workload, a name for the table, and how it is done; add as many variants as you like to
    // compare.
    let in_chunks = Variant::new("in_chunks", move |run| {
        Ok(run.time(|_phases| {
            runtime.block_on(async {
                let starts = (0..run.size).step_by(100).map(|start| (start, run.size.min(start + 100)));
                let tasks: Vec<_> =
                    starts.map(|(from, to)| tokio::spawn(async move { (from..to).map(task).sum::<u64>() })).collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.expect("a task of ours does not panic");
                }
                sum
            })
        }))
    });
    // `taskscale run fanout` asks by this parameter how results are to be collected: here, in
    // order.
    let order = Param::word("order", &["ordered"], "how results are collected");
    // Your runtime's name and version.
    Probe::new("mine", "1.0").workload(Workload::new("fanout").param(order).variant(in_chunks)).serve()
}
