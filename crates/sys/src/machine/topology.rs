//! Reads what `/sys` says about each CPU.

use std::collections::BTreeSet;

use taskscale_model::{
    doctor::facts::{Cpu, Node},
    missing::Reading,
};

use super::{
    files::{Files, missing_outside_linux},
    parse,
};

const CPUS: &str = "/sys/devices/system/cpu";

/// Returns the largest number of hardware threads that share a core. Machines with two kinds of
/// core have cores with fewer.
pub fn threads_per_core(files: &dyn Files) -> Reading<u64> {
    match cpus(files).iter().map(|cpu| cpu.siblings.len() as u64).max() {
        Some(threads) if threads > 0 => Reading::Value(threads),
        _ if !cfg!(target_os = "linux") => missing_outside_linux("hardware threads per core"),
        _ => Reading::missing("/sys/devices/system/cpu shows no topology", "run where /sys is mounted"),
    }
}

/// Counts the memory nodes that are switched on.
pub fn numa_nodes(files: &dyn Files) -> Reading<u64> {
    let online = files.text("/sys/devices/system/node/online").ok();
    match online.and_then(|text| parse::list(&text)).map(|nodes| nodes.len() as u64) {
        Some(nodes) => Reading::Value(nodes),
        None if !cfg!(target_os = "linux") => missing_outside_linux("the number of NUMA nodes"),
        None => Reading::missing("this kernel shows no NUMA nodes", ""),
    }
}

/// Returns each memory node that is switched on, with its CPUs.
pub fn nodes(files: &dyn Files) -> Reading<Vec<Node>> {
    const NODES: &str = "/sys/devices/system/node";
    let online = files.text(&format!("{NODES}/online")).ok().and_then(|text| parse::list(&text));
    let of = |id: u32| {
        let text = files.text(&format!("{NODES}/node{id}/cpulist")).ok()?;
        // A node of memory alone has no CPUs.
        let cpus = if text.trim().is_empty() { Some(Vec::new()) } else { parse::list(&text) };
        Some(Node { id, cpus: cpus? })
    };
    match online.and_then(|ids| ids.into_iter().map(of).collect::<Option<Vec<_>>>()) {
        Some(nodes) => Reading::Value(nodes),
        None if !cfg!(target_os = "linux") => missing_outside_linux("which CPUs a NUMA node has"),
        None => Reading::missing("this kernel does not show which CPUs a NUMA node has", ""),
    }
}

/// Returns the largest distance between nodes over that of a node to itself (10 in ACPI's table,
/// the SLIT).
pub fn numa_distance(files: &dyn Files) -> Reading<f64> {
    let nodes = "/sys/devices/system/node";
    let names = files.names(nodes).into_iter().filter(|name| number_after("node", name).is_some());
    let distances = names.filter_map(|name| files.text(&format!("{nodes}/{name}/distance")).ok());
    let largest = distances
        .flat_map(|text| text.split_ascii_whitespace().filter_map(|d| d.parse().ok()).collect::<Vec<f64>>())
        .reduce(f64::max);
    largest.map_or_else(
        || Reading::missing("the firmware states no distances between NUMA nodes", ""),
        |largest| Reading::Value(largest / 10.0),
    )
}

/// Returns the distinct frequency governors of all CPUs, in order of the alphabet.
pub fn governors(files: &dyn Files) -> Vec<String> {
    let texts = numbers(files)
        .into_iter()
        .filter_map(|id| files.text(&format!("{CPUS}/cpu{id}/cpufreq/scaling_governor")).ok());
    let distinct: BTreeSet<String> = texts.map(|text| text.trim().to_string()).collect();
    distinct.into_iter().filter(|name| !name.is_empty()).collect()
}

/// Returns each CPU that is switched on, in order of its number.
pub fn cpus(files: &dyn Files) -> Vec<Cpu> {
    let online = files.text(&format!("{CPUS}/online")).ok().and_then(|text| parse::list(&text));
    let is_online = |id: &u32| online.as_ref().is_none_or(|online| online.contains(id));
    numbers(files).into_iter().filter(is_online).map(|id| cpu(files, id)).collect()
}

fn cpu(files: &dyn Files, id: u32) -> Cpu {
    let text = |name: &str| files.text(&format!("{CPUS}/cpu{id}/{name}")).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    Cpu {
        id,
        siblings: text("topology/thread_siblings_list")
            .and_then(|list| parse::list(&list))
            .unwrap_or_default(),
        capacity: number("cpu_capacity"),
        min_khz: number("cpufreq/cpuinfo_min_freq"),
        max_khz: number("cpufreq/cpuinfo_max_freq"),
        base_khz: number("cpufreq/base_frequency"),
    }
}

/// Says how often processors were slowed down for their temperature since boot. x86 with Intel's
/// sensors counts it for each core and for the package; this sums the counts of the cores over all
/// CPUs.
pub fn heat_events(files: &dyn Files) -> Reading<u64> {
    let counts = numbers(files).into_iter().filter_map(|id| {
        let path = format!("{CPUS}/cpu{id}/thermal_throttle/core_throttle_count");
        files.text(&path).ok()?.trim().parse::<u64>().ok()
    });
    counts.reduce(|sum, count| sum + count).map_or_else(
        || Reading::missing("the kernel does not count it for this processor", ""),
        Reading::Value,
    )
}

fn numbers(files: &dyn Files) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        files.names(CPUS).iter().filter_map(|name| number_after("cpu", name)).collect();
    numbers.sort_unstable();
    numbers
}

fn number_after(prefix: &str, name: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Captured;

    const TWO_CORES: &str = "== /sys/devices/system/cpu/online\n0-1,10\n\
        == /sys/devices/system/cpu/cpu10/topology/thread_siblings_list\n0,10\n\
        == /sys/devices/system/cpu/cpu10/thermal_throttle/core_throttle_count\n3\n\
        == /sys/devices/system/cpu/cpu0/topology/thread_siblings_list\n0,10\n\
        == /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\npowersave\n\
        == /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq\n4700000\n\
        == /sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count\n4\n\
        == /sys/devices/system/cpu/cpu1/topology/thread_siblings_list\n1\n\
        == /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor\nperformance\n\
        == /sys/devices/system/cpu/cpu11/topology/thread_siblings_list\n1,11\n\
        == /sys/devices/system/cpu/cpufreq/boost\n1\n\
        == /sys/devices/system/node/online\n0-1\n\
        == /sys/devices/system/node/node0/distance\n10 21\n\
        == /sys/devices/system/node/node1/distance\n21 10\n";

    #[test]
    fn each_cpu_that_is_on_is_described() {
        let files = Captured::parse(TWO_CORES);
        let cpus = cpus(&files);
        assert_eq!(cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>(), [0, 1, 10]);
        assert_eq!(cpus[0].siblings, [0, 10]);
        assert_eq!((cpus[0].max_khz, cpus[1].max_khz), (Some(4_700_000), None));
        assert_eq!(threads_per_core(&files), Reading::Value(2));
        assert_eq!(governors(&files), ["performance", "powersave"]);
        assert_eq!(heat_events(&files), Reading::Value(7));
    }

    #[test]
    fn distances_are_relative_to_the_own_node() {
        let files = Captured::parse(TWO_CORES);
        assert_eq!((numa_nodes(&files), numa_distance(&files)), (Reading::Value(2), Reading::Value(2.1)));
    }

    #[test]
    fn nodes_have_their_cpus() {
        let files = Captured::parse(
            "== /sys/devices/system/node/online\n0,2\n\
             == /sys/devices/system/node/node0/cpulist\n0-1,4\n\
             == /sys/devices/system/node/node2/cpulist\n\n",
        );
        let node = |id, cpus: &[u32]| Node { id, cpus: cpus.to_vec() };
        assert_eq!(nodes(&files), Reading::Value(vec![node(0, &[0, 1, 4]), node(2, &[])]));
        assert!(nodes(&Captured::parse("== /sys/devices/system/node/online\n0\n")).value().is_none());
    }

    #[test]
    fn nothing_shown_is_nothing_known() {
        let files = Captured::default();
        assert!(cpus(&files).is_empty() && governors(&files).is_empty());
        assert!(threads_per_core(&files).value().is_none() && heat_events(&files).value().is_none());
        assert!(numa_nodes(&files).value().is_none() && numa_distance(&files).value().is_none());
    }
}
