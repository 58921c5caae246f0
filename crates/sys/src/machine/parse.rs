//! Parses the texts of `/proc` and `/sys` about the machine, as pure functions.

/// Returns the name of the CPU from `/proc/cpuinfo`. ARM has no `model name`: there the board
/// (`Model`, `Hardware`) is taken, else implementer and part number, which name the core in ARM's
/// register of part numbers.
pub fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_string())
        })
    };
    // The keys are those of x86 and newer ARM; POWER and s390; RISC-V; boards such as the Raspberry
    // Pi.
    ["model name", "cpu", "uarch", "Model", "Hardware"].into_iter().find_map(value).or_else(|| {
        let (implementer, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("ARM implementer {implementer} part {part}"))
    })
}

/// Tells whether `/proc/cpuinfo` of an x86 has the flag `hypervisor`; `None` on others, which have
/// no such flag.
pub fn hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "flags").then_some(value)
    })?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the bytes of a line of `/proc/meminfo` such as `MemTotal:`.
pub fn kilobytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the numbers of a list such as `0-3,8,10-11`, in its order.
pub fn list(list: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // A kernel has at most 8,192 CPUs (NR_CPUS); a broken file must not ask for 16 GB.
        if last < first || last - first > 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\nmodel name\t: AMD EPYC 7763\n\
                       flags\t\t: fpu tsc hypervisor\n\nprocessor\t: 1\nmodel name\t: another\n";
    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
                       CPU part\t: 0xd0c\n";

    #[test]
    fn the_cpu_is_named() {
        assert_eq!(cpu_model(X86).as_deref(), Some("AMD EPYC 7763"));
        assert_eq!(cpu_model(ARM).as_deref(), Some("ARM implementer 0x41 part 0xd0c"));
        let board = format!("{ARM}\nModel\t\t: Raspberry Pi 4 Model B\n");
        assert_eq!(cpu_model(&board).as_deref(), Some("Raspberry Pi 4 Model B"));
        assert_eq!(cpu_model("model name\t: \nprocessor : 0\n"), None);
    }

    #[test]
    fn the_hypervisor_flag_is_a_word_of_its_own() {
        assert_eq!(hypervisor_flag(X86), Some(true));
        assert_eq!(hypervisor_flag("flags\t\t: fpu hypervisorless\n"), Some(false));
        assert_eq!(hypervisor_flag(ARM), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(kilobytes("MemFree: 1 kB\nMemTotal: 24684084 kB\n", "MemTotal:"), Some(24_684_084 * 1024));
        assert_eq!(kilobytes("MemFree: 1 kB\n", "MemTotal:"), None);
    }

    #[test]
    fn lists_are_taken_apart() {
        for (text, numbers) in [
            ("0\n", vec![0]),
            ("0-3", vec![0, 1, 2, 3]),
            ("0,2\n", vec![0, 2]),
            ("0-1,8,10-11", vec![0, 1, 8, 10, 11]),
        ] {
            assert_eq!(list(text), Some(numbers), "{text}");
        }
        for text in ["", "a", "3-1", "0,", "0--1", "0-4294967295"] {
            assert_eq!(list(text), None, "{text}");
        }
    }
}
