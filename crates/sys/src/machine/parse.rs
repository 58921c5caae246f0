//! The texts of `/proc` and `/sys` about the machine, as pure functions.

/// The name of the CPU from `/proc/cpuinfo`. ARM has no `model name`; there the board (`Model`, `Hardware`) is
/// taken, else implementer and part number, which name the core in ARM's register of part numbers.
pub fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_string())
        })
    };
    // x86 and newer ARM; POWER and s390; RISC-V; boards such as the Raspberry Pi.
    ["model name", "cpu", "uarch", "Model", "Hardware"].into_iter().find_map(value).or_else(|| {
        let (implementer, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("ARM implementer {implementer} part {part}"))
    })
}

/// Whether `/proc/cpuinfo` of an x86 has the flag `hypervisor`; `None` on others, which have no such flag.
pub fn hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "flags").then_some(value)
    })?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
pub fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// How many numbers a list such as `0-3,8,10-11` holds.
pub fn list_length(list: &str) -> Option<u64> {
    let list = list.trim();
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').map(length).sum()
}

/// Where one control group states its CPU quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuotaPlace {
    /// Version 2: this file holds `QUOTA PERIOD`.
    Version2(String),
    /// Version 1: the directory of `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    Version1(String),
}

impl QuotaPlace {
    /// The quota in CPUs; `None` where this group sets none. `read` gives a file's text.
    pub fn cpus(&self, read: impl Fn(&str) -> Option<String>) -> Option<f64> {
        let (quota, period) = match self {
            QuotaPlace::Version2(path) => {
                let text = read(path)?;
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.to_string(), period.to_string())
            }
            QuotaPlace::Version1(directory) => (
                read(&format!("{directory}/cpu.cfs_quota_us"))?,
                read(&format!("{directory}/cpu.cfs_period_us"))?,
            ),
        };
        // No limit is `max` in version 2, which is no number, and -1 in version 1.
        let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    }
}

/// The places where the control group of this process and those above it may set a CPU quota, from `/proc/self/cgroup`
/// and `/proc/self/mountinfo` (cgroups(7), proc(5)).
pub fn quota_files(own: &str, mountinfo: &str) -> Vec<QuotaPlace> {
    let mut places = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let version2 = controllers.is_empty();
        if !version2 && !controllers.split(',').any(|controller| controller == "cpu") {
            continue;
        }
        let Some((root, mount)) = mountinfo.lines().find_map(|line| cpu_mount(line, version2)) else {
            continue;
        };
        // In a container the mount shows a part of the hierarchy only; a path outside of it cannot be seen.
        let inner = if root == "/" { Some(path) } else { path.strip_prefix(root) };
        let mut inner = inner.filter(|inner| !inner.starts_with("/..")).unwrap_or("").trim_end_matches('/');
        loop {
            places.push(match version2 {
                true => QuotaPlace::Version2(format!("{mount}{inner}/cpu.max")),
                false => QuotaPlace::Version1(format!("{mount}{inner}")),
            });
            match inner.rfind('/') {
                Some(end) => inner = &inner[..end],
                None => break,
            }
        }
    }
    places
}

/// Root and mount point, if this line of mountinfo mounts the hierarchy that has the CPU controller.
fn cpu_mount(line: &str, version2: bool) -> Option<(&str, &str)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (filesystem, options) = (kind.next()?, kind.nth(1)?);
    let fits = match version2 {
        true => filesystem == "cgroup2",
        false => filesystem == "cgroup" && options.split(',').any(|option| option == "cpu"),
    };
    fits.then_some((root, mount))
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
        assert_eq!(memory_bytes("MemTotal:       24684084 kB\nMemFree: 1 kB\n"), Some(24_684_084 * 1024));
        assert_eq!(memory_bytes("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn lists_are_counted() {
        for (list, length) in [("0\n", 1), ("0-3", 4), ("0,2\n", 2), ("0-3,8,10-11", 7)] {
            assert_eq!(list_length(list), Some(length), "{list}");
        }
        for list in ["", "a", "3-1", "0,", "0--1"] {
            assert_eq!(list_length(list), None, "{list}");
        }
    }

    #[test]
    fn quotas_are_in_cpus() {
        let version2 = |text: &str| {
            let place = QuotaPlace::Version2("f".into());
            place.cpus(|path| (path == "f").then(|| text.to_string()))
        };
        assert_eq!(version2("150000 100000\n"), Some(1.5));
        assert_eq!(version2("max 100000\n"), None);
        assert_eq!(version2(""), None);
        let version1 = |quota: &str| {
            let place = QuotaPlace::Version1("d".into());
            place.cpus(|path| match path {
                "d/cpu.cfs_quota_us" => Some(quota.to_string()),
                "d/cpu.cfs_period_us" => Some("100000\n".to_string()),
                _ => None,
            })
        };
        assert_eq!(version1("50000\n"), Some(0.5));
        assert_eq!(version1("-1\n"), None);
    }

    fn version2(path: &str) -> QuotaPlace {
        QuotaPlace::Version2(path.into())
    }

    #[test]
    fn every_group_on_the_way_up_is_asked() {
        let mounts = "25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(
            quota_files("0::/user.slice/a.scope\n", mounts),
            [
                version2("/sys/fs/cgroup/user.slice/a.scope/cpu.max"),
                version2("/sys/fs/cgroup/user.slice/cpu.max"),
                version2("/sys/fs/cgroup/cpu.max"),
            ]
        );
        assert_eq!(quota_files("0::/\n", mounts), [version2("/sys/fs/cgroup/cpu.max")]);
        assert_eq!(quota_files("0::/../other\n", mounts), [version2("/sys/fs/cgroup/cpu.max")]);
        assert_eq!(quota_files("0::/a\n", ""), []);
    }

    #[test]
    fn a_container_sees_its_part_of_version_1() {
        let mounts = "31 25 0:28 /docker/abc /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n\
                      30 25 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
                      32 25 0:29 / /sys/fs/cgroup/unified ro - cgroup2 cgroup rw\n";
        let own = "5:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc/inner\n";
        assert_eq!(
            quota_files(own, mounts),
            [
                QuotaPlace::Version1("/sys/fs/cgroup/cpu,cpuacct/inner".into()),
                QuotaPlace::Version1("/sys/fs/cgroup/cpu,cpuacct".into()),
            ]
        );
    }
}
