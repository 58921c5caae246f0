//! Which CPUs threads may use: what corresponds to a number of workers where there are none.

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The values of `workers` that threads can have here.
pub fn only() -> Value {
    if cfg!(target_os = "linux") { json!({}) } else { json!({"workers": ["cores"]}) }
}

/// Calls `body`, which starts threads. With `one` they and this thread share the first of the CPUs
/// that this thread may use.
#[cfg(target_os = "linux")]
pub fn on<T>(one: bool, body: impl FnOnce() -> T) -> Result<T, String> {
    let failed = |why| format!("the CPUs of this thread cannot be chosen: {why}");
    if !one {
        return Ok(body());
    }
    let all = sched_getaffinity(None).map_err(failed)?;
    let mut first = CpuSet::new();
    first.set((0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap_or_default());
    sched_setaffinity(None, &first).map_err(failed)?;
    let done = body();
    sched_setaffinity(None, &all).map_err(failed)?;
    Ok(done)
}

/// Calls `body`. No request has `one` here.
#[cfg(not(target_os = "linux"))]
pub fn on<T>(_one: bool, body: impl FnOnce() -> T) -> Result<T, String> {
    Ok(body())
}
