//! Describes a machine in one line.

use taskscale_model::{machine::Machine, plain::clean};

/// Names processor, CPUs, memory, kernel and load of a machine, as far as they are known.
pub fn machine_words(machine: &Machine) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.push(machine.cpu_model.value().cloned().unwrap_or_else(|| "CPU model unknown".into()));
    match (machine.cpus_usable.value(), machine.cpus.value()) {
        (Some(usable), Some(all)) if usable < all => parts.push(format!("{usable} of {all} CPUs")),
        (Some(usable), _) => parts.push(format!("{usable} CPUs")),
        (None, Some(all)) => parts.push(format!("{all} CPUs")),
        (None, None) => {}
    }
    parts.extend(machine.cpu_quota.value().map(|quota| format!("quota {quota} CPUs")));
    parts.extend(
        machine.memory_bytes.value().map(|&bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))),
    );
    parts.extend(machine.kernel.value().cloned());
    parts.extend(machine.governor.value().map(|governor| format!("governor {governor}")));
    parts.extend(machine.virtualised.value().filter(|&&yes| yes).map(|_| "virtualised".to_owned()));
    parts.extend(machine.load_1m.value().map(|load| format!("load {load:.2} at start")));
    clean(&parts.join(", "))
}
