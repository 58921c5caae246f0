//! Reads what the kernel's files say that affects figures, beyond the fingerprint.

use taskscale_model::{
    doctor::facts::{Facts, Group, Kernel, Load, Measured, Memory, Processors, ResourceLimits},
    missing::Reading,
};

use crate::machine::{
    self, Files,
    files::{number, reading},
    groups, parse, topology,
};

/// Reads a machine from its files alone and measures nothing. Reads some hundred small files on a
/// large machine, in a few ms.
pub fn read(files: &dyn Files) -> Facts {
    Facts {
        machine: machine::read_from(files),
        processors: processors(files),
        group: group(files),
        memory: memory(files),
        kernel: kernel(files),
        limits: limits(files),
        load: load(files),
        measured: Measured::default(),
    }
}

fn processors(files: &dyn Files) -> Processors {
    Processors {
        usable: machine::usable(files),
        cpus: topology::cpus(files),
        nodes: topology::nodes(files),
        numa_distance: topology::numa_distance(files),
        driver: reading(files, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "is empty", word),
        boost: boost(files),
        heat_events: topology::heat_events(files),
        on_battery: on_battery(files),
        product: product(files),
    }
}

/// Tells whether the clock may be boosted. `cpufreq/boost` says 1 for yes; Intel's driver says the
/// opposite in `no_turbo`.
fn boost(files: &dyn Files) -> Reading<bool> {
    let is = |path, yes: &str| files.text(path).ok().map(|text| text.trim() == yes);
    let found = is("/sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .or_else(|| is("/sys/devices/system/cpu/cpufreq/boost", "1"));
    found.map_or_else(
        || Reading::missing("the kernel does not show it (usual in a virtual machine)", ""),
        Reading::Value,
    )
}

/// Tells whether a battery of the machine (not of a mouse, whose `scope` is `Device`) is being
/// emptied.
fn on_battery(files: &dyn Files) -> Reading<bool> {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let of = |supply: &str, name: &str| {
        files.text(&format!("{SUPPLIES}/{supply}/{name}")).unwrap_or_default().trim().to_owned()
    };
    let supplies = files.names(SUPPLIES);
    let mut batteries = supplies
        .iter()
        .filter(|supply| of(supply, "type") == "Battery" && of(supply, "scope") != "Device")
        .peekable();
    if batteries.peek().is_none() {
        return Reading::missing("no battery is shown", "");
    }
    Reading::Value(batteries.any(|supply| of(supply, "status") == "Discharging"))
}

/// Reads vendor and product, as the firmware states them (DMI).
fn product(files: &dyn Files) -> Reading<String> {
    let of = |name| files.text(&format!("/sys/class/dmi/id/{name}")).ok().and_then(|text| word(&text));
    match (of("sys_vendor"), of("product_name")) {
        (None, None) => Reading::missing("the firmware does not name it", ""),
        (vendor, product) => {
            let both: Vec<String> = [vendor, product].into_iter().flatten().collect();
            Reading::Value(both.join(" "))
        }
    }
}

fn group(files: &dyn Files) -> Group {
    let (memory_limit, memory_used) = groups::memory(files);
    Group {
        throttling: groups::throttling(files),
        memory_limit,
        memory_used,
        threads_limit: groups::threads_limit(files),
    }
}

fn memory(files: &dyn Files) -> Memory {
    const MEMINFO: &str = "/proc/meminfo";
    Memory {
        available: reading(files, MEMINFO, "does not say what is available", |text| {
            parse::kilobytes(text, "MemAvailable:")
        }),
        swap_used: reading(files, MEMINFO, "does not say how much swap is used", |text| {
            parse::kilobytes(text, "SwapTotal:")?.checked_sub(parse::kilobytes(text, "SwapFree:")?)
        }),
        nodes: reading(files, "/proc/thread-self/status", "does not say which nodes are allowed", |text| {
            parse::list(text.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"))?)
        }),
        // The second word of each mapping is its policy (numa(7)); all follow that of the process.
        policy: reading(files, "/proc/self/numa_maps", "holds no policy", |text| {
            text.split_ascii_whitespace().nth(1).map(str::to_owned)
        }),
        huge_pages: reading(
            files,
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "has no choice in brackets",
            |text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned()),
        ),
    }
}

fn kernel(files: &dyn Files) -> Kernel {
    Kernel {
        randomised: number(files, "/proc/sys/kernel/randomize_va_space"),
        mitigations: mitigations(files),
        perf_paranoid: number(files, "/proc/sys/kernel/perf_event_paranoid"),
        hardware_counters: Reading::missing("not tried", ""),
        // The value is the 19th field (proc(5)). The second is a name in parentheses that may hold
        // spaces and parentheses.
        nice: reading(files, "/proc/thread-self/stat", "is cut off", |text| {
            text.rsplit_once(')')?.1.split_ascii_whitespace().nth(16)?.parse().ok()
        }),
    }
}

fn mitigations(files: &dyn Files) -> Reading<Vec<String>> {
    const DIRECTORY: &str = "/sys/devices/system/cpu/vulnerabilities";
    let mut names = files.names(DIRECTORY);
    if names.is_empty() {
        return Reading::missing("this kernel does not list weaknesses of the processor", "");
    }
    names.retain(|name| {
        files.text(&format!("{DIRECTORY}/{name}")).is_ok_and(|text| text.starts_with("Mitigation"))
    });
    Reading::Value(names)
}

fn limits(files: &dyn Files) -> ResourceLimits {
    const LIMITS: &str = "/proc/self/limits";
    let limit = |name| reading(files, LIMITS, "sets no limit", |text| soft_limit(text, name));
    ResourceLimits {
        open_files: limit("Max open files"),
        processes: limit("Max processes"),
        threads_max: number(files, "/proc/sys/kernel/threads-max"),
        pid_max: number(files, "/proc/sys/kernel/pid_max"),
        max_map_count: number(files, "/proc/sys/vm/max_map_count"),
    }
}

/// Returns the soft limit of a line of `/proc/self/limits`; `None` for `unlimited`.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn load(files: &dyn Files) -> Load {
    const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
    let current = files.text(&format!("{CLOCKS}/current_clocksource")).unwrap_or_default();
    Load {
        averages: reading(files, "/proc/loadavg", "holds no averages", |text| {
            let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
            Some([numbers.next()?, numbers.next()?, numbers.next()?])
        }),
        other_clocks: reading(files, &format!("{CLOCKS}/available_clocksource"), "is empty", |text| {
            let all = text.split_ascii_whitespace().filter(|name| *name != current.trim());
            Some(all.map(str::to_owned).collect())
        }),
    }
}

fn word(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Captured;

    #[test]
    fn turbo_has_two_names() {
        let of = |text: &str| boost(&Captured::parse(text)).value().copied();
        assert_eq!(of("== /sys/devices/system/cpu/intel_pstate/no_turbo\n0\n"), Some(true));
        assert_eq!(of("== /sys/devices/system/cpu/intel_pstate/no_turbo\n1\n"), Some(false));
        assert_eq!(of("== /sys/devices/system/cpu/cpufreq/boost\n1\n"), Some(true));
        assert_eq!(of("== /sys/devices/system/cpu/cpufreq/boost\n0\n"), Some(false));
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_mouse_is_no_battery_of_the_machine() {
        let of = |status: &str, scope: &str| {
            let battery = "/sys/class/power_supply/BAT0";
            on_battery(&Captured::parse(&format!(
                "== {battery}/type\nBattery\n== {battery}/status\n{status}\n== {battery}/scope\n{scope}\n"
            )))
        };
        assert_eq!(of("Discharging", "System"), Reading::Value(true));
        assert_eq!(of("Full", ""), Reading::Value(false));
        assert_eq!(of("Discharging", "Device").value(), None);
    }

    #[test]
    fn the_files_of_the_kernel_are_read() {
        let facts = read(&Captured::parse(
            "== /proc/thread-self/status\nName: a\nMems_allowed_list:\t0-1\n\
             == /proc/self/numa_maps\n55d0 bind:0 file=/bin/a mapped=1\n\
             == /proc/meminfo\nMemTotal: 100 kB\nMemAvailable: 60 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n\
             == /sys/kernel/mm/transparent_hugepage/enabled\nalways [madvise] never\n\
             == /proc/thread-self/stat\n12 (a) b)) R 1 12 1 0 -1 4194304 1 0 0 0 5 6 0 0 30 10 1 0 100\n\
             == /sys/devices/system/cpu/vulnerabilities/meltdown\nNot affected\n\
             == /sys/devices/system/cpu/vulnerabilities/spectre_v2\nMitigation: Retpolines\n\
             == /sys/devices/system/cpu/vulnerabilities/mds\nVulnerable\n\
             == /proc/self/limits\nLimit   Soft Limit   Hard Limit   Units\n\
             Max processes    unlimited   unlimited   processes\nMax open files   1024   524288   files\n\
             == /proc/loadavg\n0.52 0.70 0.30 2/181 4021\n\
             == /sys/devices/system/clocksource/clocksource0/current_clocksource\nhpet\n\
             == /sys/devices/system/clocksource/clocksource0/available_clocksource\nhpet acpi_pm\n\
             == /sys/class/dmi/id/product_name\nm7i.large\n== /sys/class/dmi/id/sys_vendor\nAmazon EC2\n",
        ));
        assert_eq!(facts.memory.available, Reading::Value(60 * 1024));
        assert_eq!(facts.memory.nodes, Reading::Value(vec![0, 1]));
        assert_eq!(facts.memory.policy, Reading::Value("bind:0".into()));
        assert_eq!(facts.memory.swap_used, Reading::Value(30 * 1024));
        assert_eq!(facts.memory.huge_pages, Reading::Value("madvise".into()));
        assert_eq!(facts.kernel.nice, Reading::Value(10));
        assert_eq!(facts.kernel.mitigations, Reading::Value(vec!["spectre_v2".into()]));
        assert_eq!(facts.limits.open_files, Reading::Value(1024));
        assert_eq!(facts.limits.processes.value(), None, "unlimited");
        assert_eq!(facts.load.averages, Reading::Value([0.52, 0.7, 0.3]));
        assert_eq!(facts.load.other_clocks, Reading::Value(vec!["acpi_pm".into()]));
        assert_eq!(facts.processors.product, Reading::Value("Amazon EC2 m7i.large".into()));
    }
}
