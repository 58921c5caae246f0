//! What the machine is: every reading that changes what a task costs, or why it could not be had.

mod parse;
mod topology;

use std::fs;

use taskscale_model::machine::Machine;
use taskscale_model::missing::Reading;

use crate::disturbance::parse_load;
use crate::ffi;

/// Reads the machine. Some dozen small files, under a millisecond; nothing is started and nothing is changed.
///
/// ```
/// let machine = taskscale_sys::machine::read();
/// assert_eq!(machine.fingerprint, taskscale_sys::machine::read().fingerprint);
/// ```
pub fn read() -> Machine {
    let cpuinfo = file("/proc/cpuinfo");
    let mut machine = Machine {
        cpu_model: parsed(&cpuinfo, "/proc/cpuinfo", "names no CPU model", "", parse::cpu_model),
        cpus_usable: cpus_usable(),
        cpus: cpus(),
        threads_per_core: topology::threads_per_core(),
        numa_nodes: topology::numa_nodes(),
        cpu_quota: cpu_quota(),
        governor: governor(),
        memory_bytes: memory_bytes(),
        kernel: kernel(),
        clock_source: clock_source(),
        load_1m: parsed(&file("/proc/loadavg"), "/proc/loadavg", "holds no load average", "", parse_load),
        virtualised: parsed(
            &cpuinfo,
            "/proc/cpuinfo",
            "does not say whether a hypervisor is below",
            "",
            virtualised,
        ),
        fingerprint: String::new(),
    };
    machine.fingerprint = fingerprint(&machine);
    machine
}

/// The hash of all readings but the load: equal on the same machine in the same state, across reboots.
///
/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv), over `name=value` lines; what is missing counts as missing
/// whatever its reason, so that a reworded message makes no other machine.
pub fn fingerprint(machine: &Machine) -> String {
    fn line<T: std::fmt::Display>(name: &str, reading: &Reading<T>) -> String {
        match reading.value() {
            Some(value) => format!("{name}={value}\n"),
            None => format!("{name} missing\n"),
        }
    }
    let lines = [
        line("cpu_model", &machine.cpu_model),
        line("cpus_usable", &machine.cpus_usable),
        line("cpus", &machine.cpus),
        line("threads_per_core", &machine.threads_per_core),
        line("numa_nodes", &machine.numa_nodes),
        line("cpu_quota", &machine.cpu_quota),
        line("governor", &machine.governor),
        // In whole GiB: the kernel keeps some MB for itself, and not the same at each boot.
        line("memory_gib", &gib(&machine.memory_bytes)),
        line("kernel", &machine.kernel),
        line("clock_source", &machine.clock_source),
        line("virtualised", &machine.virtualised),
    ];
    format!("{:016x}", fnv1a(&lines.concat()))
}

fn fnv1a(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn gib(bytes: &Reading<u64>) -> Reading<u64> {
    match bytes {
        Reading::Value(bytes) => Reading::Value((bytes + (1 << 29)) >> 30),
        Reading::Missing(missing) => Reading::Missing(missing.clone()),
    }
}

fn cpus_usable() -> Reading<u64> {
    // The affinity mask, not `available_parallelism`: that also counts the quota, which is a reading of its own.
    if let Some(count) = ffi::cpus_in_affinity_mask() {
        return Reading::Value(count);
    }
    match std::thread::available_parallelism() {
        Ok(count) => Reading::Value(count.get() as u64),
        Err(error) => {
            Reading::missing(format!("the system does not say how many CPUs may be used: {error}"), "")
        }
    }
}

fn cpus() -> Reading<u64> {
    if let Some(count) =
        file("/sys/devices/system/cpu/online").ok().and_then(|text| parse::list_length(&text))
    {
        return Reading::Value(count);
    }
    match ffi::cpus_online() {
        Some(count) => Reading::Value(count),
        None => Reading::missing("the system does not say how many CPUs it has", ""),
    }
}

fn cpu_quota() -> Reading<f64> {
    let Ok(own) = file("/proc/self/cgroup") else { return missing_outside_linux("control groups") };
    let mounts = file("/proc/self/mountinfo").unwrap_or_default();
    // Every group on the way up may set a limit; the lowest one holds.
    let quotas =
        parse::quota_files(&own, &mounts).into_iter().filter_map(|place| place.cpus(|path| file(path).ok()));
    match quotas.reduce(f64::min) {
        Some(quota) => Reading::Value(quota),
        None => Reading::missing("no CPU quota is set", ""),
    }
}

fn governor() -> Reading<String> {
    let governors = topology::governors();
    match governors.as_slice() {
        [] if !cfg!(target_os = "linux") => missing_outside_linux("a frequency governor"),
        [] => Reading::missing(
            "the kernel offers no frequency control (usual in a virtual machine)",
            "look at the host: its governor should be `performance`",
        ),
        [one] => Reading::Value(one.clone()),
        several => Reading::Value(several.join("+")),
    }
}

fn memory_bytes() -> Reading<u64> {
    if let Some(bytes) = file("/proc/meminfo").ok().and_then(|text| parse::memory_bytes(&text)) {
        return Reading::Value(bytes);
    }
    match ffi::physical_memory_bytes() {
        Some(bytes) => Reading::Value(bytes),
        None => Reading::missing("the system does not say how much memory it has", ""),
    }
}

fn kernel() -> Reading<String> {
    match ffi::kernel() {
        Some(kernel) => Reading::Value(kernel),
        None => Reading::missing("uname failed", ""),
    }
}

fn clock_source() -> Reading<String> {
    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    parsed(&file(PATH), PATH, "is empty", "", |text| {
        Some(text.trim().to_string()).filter(|name| !name.is_empty())
    })
}

fn virtualised(cpuinfo: &str) -> Option<bool> {
    // Xen guests without the CPU flag, and ARM guests, have their own signs.
    let signs = ["/sys/hypervisor/type", "/proc/device-tree/hypervisor"];
    if signs.iter().any(|sign| std::path::Path::new(sign).exists()) {
        return Some(true);
    }
    parse::hypervisor_flag(cpuinfo)
}

/// A file's text, or what stands in the way.
fn file(path: &str) -> Result<String, std::io::Error> {
    fs::read_to_string(path)
}

fn missing_outside_linux<T>(what: &str) -> Reading<T> {
    Reading::missing(format!("{what} can be read on Linux only"), "")
}

/// What `parse` finds in a file, or why it does not.
fn parsed<T>(
    text: &Result<String, std::io::Error>,
    path: &str,
    otherwise: &str,
    remedy: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Reading<T> {
    match text {
        Ok(text) => match parse(text) {
            Some(value) => Reading::Value(value),
            None => Reading::missing(format!("{path} {otherwise}"), remedy),
        },
        Err(_) if !cfg!(target_os = "linux") => missing_outside_linux(path),
        Err(error) => Reading::missing(
            format!("cannot read {path}: {error}"),
            "run where /proc and /sys are mounted and readable",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Machine {
        Machine {
            cpu_model: Reading::Value("AMD EPYC".into()),
            cpus_usable: Reading::Value(2),
            cpus: Reading::Value(2),
            threads_per_core: Reading::Value(1),
            numa_nodes: Reading::Value(1),
            cpu_quota: Reading::missing("none", ""),
            governor: Reading::missing("none", ""),
            memory_bytes: Reading::Value(24_684_084 * 1024),
            kernel: Reading::Value("Linux 6.18.44".into()),
            clock_source: Reading::Value("tsc".into()),
            load_1m: Reading::Value(1.5),
            virtualised: Reading::Value(true),
            fingerprint: String::new(),
        }
    }

    #[test]
    fn fnv_is_the_published_one() {
        // Test vectors of the draft's appendix C.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_fingerprint_survives_load_and_reboot() {
        let print = fingerprint(&example());
        let mut later = example();
        later.load_1m = Reading::Value(99.0);
        later.memory_bytes = Reading::Value(24_684_084 * 1024 - 3_000_000);
        later.governor = Reading::missing("in other words", "and with a remedy");
        assert_eq!(fingerprint(&later), print);
    }

    #[test]
    fn the_fingerprint_tells_machines_apart() {
        let mut prints = std::collections::BTreeSet::from([fingerprint(&example())]);
        let changes: [fn(&mut Machine); 11] = [
            |machine| machine.cpu_model = Reading::Value("AMD EPYC 2".into()),
            |machine| machine.cpus_usable = Reading::Value(1),
            |machine| machine.cpus = Reading::Value(4),
            |machine| machine.threads_per_core = Reading::Value(2),
            |machine| machine.numa_nodes = Reading::Value(2),
            |machine| machine.cpu_quota = Reading::Value(1.5),
            |machine| machine.governor = Reading::Value("powersave".into()),
            |machine| machine.memory_bytes = Reading::Value(8 << 30),
            |machine| machine.kernel = Reading::Value("Linux 6.19.0".into()),
            |machine| machine.clock_source = Reading::Value("hpet".into()),
            |machine| machine.virtualised = Reading::Value(false),
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut other = example();
            change(&mut other);
            assert!(prints.insert(fingerprint(&other)), "change {index} is not seen");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_read() {
        let machine = read();
        let usable = *machine.cpus_usable.value().expect("a count");
        assert!(usable >= 1 && usable <= *machine.cpus.value().expect("a count"));
        assert!(*machine.memory_bytes.value().expect("a size") > 64 << 20);
        assert!(machine.kernel.value().expect("a name").starts_with("Linux "));
        assert!(*machine.numa_nodes.value().unwrap_or(&1) >= 1);
        assert_eq!(machine.fingerprint.len(), 16);
    }
}
