//! What `/sys` says of each CPU.

use std::collections::BTreeSet;
use std::fs;

use taskscale_model::missing::Reading;

use super::{file, missing_outside_linux, parse};

/// The largest number of hardware threads that share a core. Machines with two kinds of core have cores with fewer.
pub fn threads_per_core() -> Reading<u64> {
    let lists = of_each_cpu("topology/thread_siblings_list");
    match lists.iter().filter_map(|list| parse::list_length(list)).max() {
        Some(threads) => Reading::Value(threads),
        None if !cfg!(target_os = "linux") => missing_outside_linux("hardware threads per core"),
        None => Reading::missing("/sys/devices/system/cpu shows no topology", "run where /sys is mounted"),
    }
}

/// Memory nodes that are switched on.
pub fn numa_nodes() -> Reading<u64> {
    match file("/sys/devices/system/node/online").ok().and_then(|text| parse::list_length(&text)) {
        Some(nodes) => Reading::Value(nodes),
        None if !cfg!(target_os = "linux") => missing_outside_linux("the number of NUMA nodes"),
        None => Reading::missing("this kernel shows no NUMA nodes", ""),
    }
}

/// The distinct frequency governors of all CPUs, in order of the alphabet.
pub fn governors() -> Vec<String> {
    let distinct: BTreeSet<String> =
        of_each_cpu("cpufreq/scaling_governor").into_iter().map(|text| text.trim().to_string()).collect();
    distinct.into_iter().filter(|name| !name.is_empty()).collect()
}

/// The text of `/sys/devices/system/cpu/cpuN/<name>` for each CPU that has it.
fn of_each_cpu(name: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu") else { return Vec::new() };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let digits =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("cpu"));
            digits
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .filter_map(|path| fs::read_to_string(path.join(name)).ok())
        .collect()
}
