//! A probe of your own, whole. Weigh it: taskscale run --probe my_probe.rs

use serde_json::json;
use taskscale_probe_rust::parts::in_parts;
use taskscale_probe_rust::sdk::{Param, Probe, Run, Variant, Workload};

/// What one task does; call your own code here, and still give 31 * i: the tool checks the sum of
/// those.
#[inline(never)]
fn task(i: u64) -> u64 {
    31 * i
}

fn main() -> std::io::Result<()> {
    // What is set up out here is not timed, only what happens inside `run.time`.
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    // How the work is done; add as many ways as you like to compare.
    let perform = move |run: &Run| {
        Ok(run.time(|_phases| {
            runtime.block_on(async {
                let starts = (0..run.size).step_by(100).map(|start| (start, run.size.min(start + 100)));
                let tasks: Vec<_> = starts
                    .map(|(from, to)| tokio::spawn(async move { (from..to).map(task).sum::<u64>() }))
                    .collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.expect("a task of ours does not panic");
                }
                sum
            })
        }))
    };
    // Its name for the table. `json!` may hold limits and a note.
    let in_chunks = Variant {
        name: "in_chunks".to_owned(),
        creates_task: true,
        about: json!({}),
        perform: Box::new(perform),
    };
    // `taskscale run fanout` asks by this parameter how results are to be collected: here, in
    // order.
    let order = Param {
        name: "order",
        default: json!("ordered"),
        choices: &["ordered"],
        help: "how results are collected",
    };
    let fanout = Workload { name: "fanout", params: vec![order], variants: vec![in_chunks] };
    // Your runtime's name and version.
    let probe = Probe { name: "mine", version: "1.0".to_owned(), workers: None, workloads: vec![fanout] };
    // A sample is done in parts, at random depths of the stack, so that processes differ less.
    in_parts(probe).serve()
}
