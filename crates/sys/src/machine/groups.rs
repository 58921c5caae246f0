//! Control groups, version 1 and 2: reads what the group of this process and those above it may use
//! (cgroups(7)).

use taskscale_model::{doctor::facts::Throttling, missing::Reading};

use super::files::{Files, missing_outside_linux};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Version 2; otherwise version 1.
    pub version2: bool,
    /// The path below which its files are.
    pub directory: String,
}

impl Group {
    fn text(&self, files: &dyn Files, version1: &str, version2: &str) -> Option<String> {
        let name = if self.version2 { version2 } else { version1 };
        files.text(&format!("{}/{name}", self.directory)).ok()
    }

    /// Returns the CPU quota in CPUs; `None` where this group sets none.
    fn cpus(&self, files: &dyn Files) -> Option<f64> {
        let quota = self.text(files, "cpu.cfs_quota_us", "cpu.max")?;
        let (quota, period) = match quota.trim().split_once(' ') {
            Some((quota, period)) => (quota.to_owned(), period.to_owned()),
            None => (quota, files.text(&format!("{}/cpu.cfs_period_us", self.directory)).ok()?),
        };
        // No limit is `max` in version 2, which is no number, and -1 in version 1.
        let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    }

    fn number(&self, files: &dyn Files, version1: &str, version2: &str) -> Option<u64> {
        self.text(files, version1, version2)?.trim().parse().ok()
    }

    /// Returns the memory limit in bytes. Version 1 writes the largest multiple of a page where
    /// there is none: no real limit is above 2^60.
    fn memory_limit(&self, files: &dyn Files) -> Option<u64> {
        self.number(files, "memory.limit_in_bytes", "memory.max").filter(|bytes| *bytes < 1 << 60)
    }
}

/// Returns the groups that hold this process under a controller, lowest first, from
/// `/proc/self/cgroup` and `/proc/self/mountinfo`.
pub fn groups(files: &dyn Files, controller: &str) -> Option<Vec<Group>> {
    let own = files.text("/proc/self/cgroup").ok()?;
    let mounts = files.text("/proc/self/mountinfo").unwrap_or_default();
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let version2 = controllers.is_empty();
        if !version2 && !controllers.split(',').any(|one| one == controller) {
            continue;
        }
        let Some((root, mount)) = mounts.lines().find_map(|line| mount_of(line, version2, controller)) else {
            continue;
        };
        // The mount in a container shows only a part of the hierarchy. A path outside of it cannot
        // be seen.
        let inner = if root == "/" { Some(path) } else { path.strip_prefix(root) };
        let mut inner = inner.filter(|inner| !inner.starts_with("/..")).unwrap_or("").trim_end_matches('/');
        loop {
            groups.push(Group { version2, directory: format!("{mount}{inner}") });
            match inner.rfind('/') {
                Some(end) => inner = &inner[..end],
                None => break,
            }
        }
    }
    Some(groups)
}

/// Returns root and mount point, if this line of mountinfo mounts the hierarchy that has the
/// controller.
fn mount_of<'a>(line: &'a str, version2: bool, controller: &str) -> Option<(&'a str, &'a str)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (filesystem, options) = (kind.next()?, kind.nth(1)?);
    let fits = match version2 {
        true => filesystem == "cgroup2",
        false => filesystem == "cgroup" && options.split(',').any(|option| option == controller),
    };
    fits.then_some((root, mount))
}

/// Returns the CPU quota in CPUs. Every group on the way up may set one; the smallest holds.
pub fn cpu_quota(files: &dyn Files) -> Reading<f64> {
    let Some(groups) = groups(files, "cpu") else { return not_there() };
    let quotas = groups.iter().filter_map(|group| group.cpus(files));
    quotas.reduce(f64::min).map_or_else(|| Reading::missing("no CPU quota is set", ""), Reading::Value)
}

/// Says how often a quota was used up, for the group that was kept waiting longest.
pub fn throttling(files: &dyn Files) -> Reading<Throttling> {
    let Some(groups) = groups(files, "cpu") else { return not_there() };
    let counters = groups
        .iter()
        .filter(|group| group.cpus(files).is_some())
        .filter_map(|group| parse_throttling(&files.text(&format!("{}/cpu.stat", group.directory)).ok()?));
    counters
        .max_by_key(|counters| counters.throttled_us)
        .map_or_else(|| Reading::missing("no CPU quota is set", ""), Reading::Value)
}

/// Parses `cpu.stat`: version 2 counts `throttled_usec`, version 1 `throttled_time` in ns.
fn parse_throttling(stat: &str) -> Option<Throttling> {
    let value = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    Some(Throttling {
        periods: value("nr_periods")?,
        throttled: value("nr_throttled")?,
        throttled_us: value("throttled_usec").or_else(|| Some(value("throttled_time")? / 1_000))?,
    })
}

/// Returns the smallest memory limit on the way up, and what the group that sets it uses; both in
/// bytes.
pub fn memory(files: &dyn Files) -> (Reading<u64>, Reading<u64>) {
    let Some(groups) = groups(files, "memory") else { return (not_there(), not_there()) };
    let limits = groups.iter().filter_map(|group| Some((group.memory_limit(files)?, group)));
    let Some((limit, group)) = limits.min_by_key(|(limit, _)| *limit) else {
        let none = || Reading::missing("no memory limit is set", "");
        return (none(), none());
    };
    let used = group.number(files, "memory.usage_in_bytes", "memory.current");
    let used = used.map_or_else(|| Reading::missing("the group does not say", ""), Reading::Value);
    (Reading::Value(limit), used)
}

/// Returns the smallest limit on threads on the way up.
pub fn threads_limit(files: &dyn Files) -> Reading<u64> {
    let Some(groups) = groups(files, "pids") else { return not_there() };
    let limits = groups.iter().filter_map(|group| group.number(files, "pids.max", "pids.max"));
    limits.min().map_or_else(|| Reading::missing("no limit is set", ""), Reading::Value)
}

fn not_there<T>() -> Reading<T> {
    if cfg!(target_os = "linux") {
        Reading::missing("this kernel has no control groups, or /proc is not mounted", "")
    } else {
        missing_outside_linux("control groups")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Captured;

    const V2: &str = "25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
    const V1: &str = "31 25 0:28 /docker/abc /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n\
                      30 25 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
                      33 25 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                      32 25 0:29 / /sys/fs/cgroup/unified ro - cgroup2 cgroup rw";

    fn machine(own: &str, mounts: &str, rest: &str) -> Captured {
        Captured::parse(&format!("== /proc/self/cgroup\n{own}\n== /proc/self/mountinfo\n{mounts}\n{rest}"))
    }

    fn directories(files: &Captured, controller: &str) -> Vec<String> {
        groups(files, controller).expect("groups").into_iter().map(|group| group.directory).collect()
    }

    #[test]
    fn every_group_on_the_way_up_is_asked() {
        let of = |own: &str, mounts: &str| directories(&machine(own, mounts, ""), "cpu");
        assert_eq!(
            of("0::/user.slice/a.scope", V2),
            ["/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]
        );
        assert_eq!(of("0::/", V2), ["/sys/fs/cgroup"]);
        assert_eq!(of("0::/../other", V2), ["/sys/fs/cgroup"]);
        assert!(of("0::/a", "").is_empty());
    }

    #[test]
    fn a_container_sees_its_part_of_version_1() {
        let files = machine("5:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc/inner", V1, "");
        let found = groups(&files, "cpu").expect("groups");
        assert!(found.iter().all(|group| !group.version2));
        assert_eq!(
            directories(&files, "cpu"),
            ["/sys/fs/cgroup/cpu,cpuacct/inner", "/sys/fs/cgroup/cpu,cpuacct"]
        );
    }

    #[test]
    fn the_lowest_quota_of_version_2_holds() {
        let quota = |inner: &str, outer: &str| {
            let rest = format!("== /sys/fs/cgroup/a/cpu.max\n{inner}\n== /sys/fs/cgroup/cpu.max\n{outer}\n");
            cpu_quota(&machine("0::/a", V2, &rest)).value().copied()
        };
        assert_eq!(quota("150000 100000", "max 100000"), Some(1.5));
        assert_eq!(quota("max 100000", "50000 100000"), Some(0.5));
        assert_eq!(quota("150000 100000", "50000 100000"), Some(0.5));
        assert_eq!(quota("max 100000", ""), None);
        assert_eq!(cpu_quota(&Captured::default()).value(), None);
    }

    #[test]
    fn version_1_has_a_file_for_each_number() {
        let with = |quota: &str| {
            let rest = format!(
                "== /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us\n{quota}\n\
                 == /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us\n100000\n\
                 == /sys/fs/cgroup/cpu,cpuacct/cpu.stat\nnr_periods 40\nnr_throttled 30\nthrottled_time 2500000000\n\
                 == /sys/fs/cgroup/memory/memory.limit_in_bytes\n{}\n\
                 == /sys/fs/cgroup/memory/memory.usage_in_bytes\n1000\n",
                if quota == "-1" { "9223372036854771712" } else { "1073741824" }
            );
            machine("4:cpu,cpuacct:/docker/abc\n6:memory:/docker/abc", V1, &rest)
        };
        let files = with("50000");
        assert_eq!(cpu_quota(&files), Reading::Value(0.5));
        let throttled = Throttling { periods: 40, throttled: 30, throttled_us: 2_500_000 };
        assert_eq!(throttling(&files), Reading::Value(throttled));
        assert_eq!(memory(&files), (Reading::Value(1 << 30), Reading::Value(1_000)));
        let files = with("-1");
        assert_eq!(cpu_quota(&files).value(), None);
        assert_eq!(throttling(&files).value(), None, "counters without a quota say nothing");
        assert_eq!(memory(&files).0.value(), None, "the largest number is no limit");
    }

    #[test]
    fn version_2_counts_throttling_in_microseconds() {
        let stat = "usage_usec 9\nnr_periods 10\nnr_throttled 3\nthrottled_usec 700\nnr_bursts 0\n";
        let counters = parse_throttling(stat).expect("counters");
        assert_eq!(counters, Throttling { periods: 10, throttled: 3, throttled_us: 700 });
        assert_eq!(parse_throttling("usage_usec 9\n"), None, "the root group has no quota to count");
    }

    #[test]
    fn the_lowest_number_of_threads_holds() {
        let rest = "== /sys/fs/cgroup/a/pids.max\nmax\n== /sys/fs/cgroup/pids.max\n512\n";
        assert_eq!(threads_limit(&machine("0::/a", V2, rest)), Reading::Value(512));
    }
}
