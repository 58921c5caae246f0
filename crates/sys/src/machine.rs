//! Reads what the machine is: each reading that changes what a task costs, or why it could not be
//! had.

pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod parse;
pub(crate) mod topology;

use taskscale_model::machine::Machine;
use taskscale_model::missing::Reading;

pub use files::{Captured, Files, ThisMachine};

use crate::disturbance::parse_load;
use crate::ffi;
use files::{missing_outside_linux, reading};

/// Reads the machine. Reads some dozen small files in under a millisecond; starts and changes
/// nothing.
///
/// ```
/// let machine = taskscale_sys::machine::read();
/// assert_eq!(machine.fingerprint, taskscale_sys::machine::read().fingerprint);
/// ```
pub fn read() -> Machine {
    let mut machine = read_from(&ThisMachine);
    // The C library may know what the files do not say, where they are not mounted or the system is
    // not Linux.
    let usable = || {
        let all = || std::thread::available_parallelism().ok().map(|count| count.get() as u64);
        ffi::cpus_in_affinity_mask().or_else(all)
    };
    or_else(&mut machine.cpus_usable, usable);
    or_else(&mut machine.cpus, ffi::cpus_online);
    or_else(&mut machine.memory_bytes, ffi::physical_memory_bytes);
    or_else(&mut machine.kernel, ffi::kernel);
    machine.fingerprint = fingerprint(&machine);
    machine
}

/// Reads how many bytes of memory a process may still take: what the kernel can give without
/// swapping, and no more than a control group allows. What others of the group use is not taken
/// off, since most of it is files that give way.
pub fn memory_free() -> Option<u64> {
    memory_free_of(&ThisMachine)
}

fn memory_free_of(files: &dyn Files) -> Option<u64> {
    let available = parse::kilobytes(&files.text("/proc/meminfo").ok()?, "MemAvailable:")?;
    let limit = groups::memory(files).0.value().copied();
    Some(limit.map_or(available, |limit| limit.min(available)))
}

fn or_else<T>(reading: &mut Reading<T>, other: impl FnOnce() -> Option<T>) {
    if let Reading::Missing(_) = reading
        && let Some(value) = other()
    {
        *reading = Reading::Value(value);
    }
}

/// Reads a machine from its files alone.
pub fn read_from(files: &dyn Files) -> Machine {
    const CPUINFO: &str = "/proc/cpuinfo";
    const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut machine = Machine {
        cpu_model: reading(files, CPUINFO, "names no CPU model", parse::cpu_model),
        cpus_usable: count(usable(files)),
        cpus: count(online(files)),
        threads_per_core: topology::threads_per_core(files),
        numa_nodes: topology::numa_nodes(files),
        cpu_quota: groups::cpu_quota(files),
        governor: governor(files),
        memory_bytes: reading(files, "/proc/meminfo", "states no total", |text| {
            parse::kilobytes(text, "MemTotal:")
        }),
        kernel: kernel(files),
        clock_source: reading(files, CLOCK, "is empty", |text| {
            Some(text.trim().to_string()).filter(|name| !name.is_empty())
        }),
        load_1m: reading(files, "/proc/loadavg", "holds no load average", parse_load),
        virtualised: reading(files, CPUINFO, "does not say whether a hypervisor is below", |cpuinfo| {
            virtualised(files, cpuinfo)
        }),
        fingerprint: String::new(),
    };
    machine.fingerprint = fingerprint(&machine);
    machine
}

/// Hashes all readings but the load. The hash is equal on the same machine in the same state,
/// across reboots.
///
/// It is FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv), over `name=value` lines. What is
/// missing counts as missing whatever its reason, so that a reworded message makes no other
/// machine.
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
        // Memory is in whole GiB: the kernel keeps some MB for itself, and not the same at each
        // boot.
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

fn count(cpus: Reading<Vec<u32>>) -> Reading<u64> {
    match cpus {
        Reading::Value(cpus) => Reading::Value(cpus.len() as u64),
        Reading::Missing(missing) => Reading::Missing(missing),
    }
}

fn online(files: &dyn Files) -> Reading<Vec<u32>> {
    reading(files, "/sys/devices/system/cpu/online", "holds no list of CPUs", parse::list)
}

/// Returns the numbers of the CPUs that this thread may use: its affinity mask, without those that
/// are switched off. `available_parallelism` also counts the quota, which is a reading of its own.
pub(crate) fn usable(files: &dyn Files) -> Reading<Vec<u32>> {
    let allowed = reading(files, "/proc/thread-self/status", "states no affinity", |status| {
        parse::list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
    });
    let Reading::Value(mut allowed) = allowed else { return allowed };
    if let Reading::Value(online) = online(files) {
        allowed.retain(|cpu| online.contains(cpu));
    }
    Reading::Value(allowed)
}

fn governor(files: &dyn Files) -> Reading<String> {
    let governors = topology::governors(files);
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

/// Returns name and release, as `uname -sr` prints them.
fn kernel(files: &dyn Files) -> Reading<String> {
    let word = |path| reading(files, path, "is empty", |text| Some(text.trim().to_owned()));
    match (word("/proc/sys/kernel/ostype"), word("/proc/sys/kernel/osrelease")) {
        (Reading::Value(name), Reading::Value(release)) => Reading::Value(format!("{name} {release}")),
        (Reading::Missing(missing), _) | (_, Reading::Missing(missing)) => Reading::Missing(missing),
    }
}

fn virtualised(files: &dyn Files, cpuinfo: &str) -> Option<bool> {
    // Xen guests without the CPU flag, and ARM guests, have their own signs.
    if files.text("/sys/hypervisor/type").is_ok() || !files.names("/proc/device-tree/hypervisor").is_empty() {
        return Some(true);
    }
    parse::hypervisor_flag(cpuinfo)
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
        // The test vectors are of the draft's appendix C.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn memory_is_free_as_far_as_a_group_allows() {
        let meminfo = "== /proc/meminfo\nMemTotal: 4194304 kB\nMemAvailable: 2097152 kB\n";
        assert_eq!(memory_free_of(&Captured::parse(meminfo)), Some(2 << 30));
        let group = "== /proc/self/cgroup\n0::/a\n== /proc/self/mountinfo\n\
                     25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n== /sys/fs/cgroup/a/memory.max\n1000000\n";
        assert_eq!(memory_free_of(&Captured::parse(&format!("{meminfo}{group}"))), Some(1_000_000));
        assert_eq!(memory_free_of(&Captured::default()), None);
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
