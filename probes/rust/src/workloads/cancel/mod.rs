//! `cancel`: `size` tasks that all wait for what never comes, cancelled and collected. Both are
//! timed. That all wait is made sure of as `parked` does it.

mod smol;
mod tokio;

use serde_json::json;

use crate::sdk::{Param, Run, Workload};

/// The workload `cancel` with the variants of `runtime`; `None` where tasks cannot be cancelled.
/// The answer of an iteration is the number of tasks that were seen cancelled.
pub fn workload(runtime: &str) -> Option<Workload> {
    let variants = match runtime {
        "tokio" => tokio::variants(),
        "smol" => smol::variants(),
        _ => return None,
    };
    let on = Param {
        name: "on",
        default: json!("event"),
        choices: &["event", "timer", "lock"],
        help: "what tasks wait for: an event; an hour to pass; a lock that is held",
    };
    let first = Param {
        name: "first",
        default: json!("oldest"),
        choices: &["oldest", "newest"],
        help: "which task is cancelled first",
    };
    Some(Workload { name: "cancel", params: vec![on, first], variants })
}

/// All of `tasks`, in the order in which they are to be cancelled.
fn in_order<T>(run: &Run, mut tasks: Vec<T>) -> Vec<T> {
    if run.param::<String>("first") == "newest" {
        tasks.reverse();
    }
    tasks
}

/// Refuses a task that has ended already.
fn all_wait(run: &Run, ended: usize) -> Result<(), String> {
    match ended {
        0 => Ok(()),
        _ => Err(format!("{ended} of {} tasks ended before they were cancelled", run.size)),
    }
}
