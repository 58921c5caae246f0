//! What can be measured of a row beside its result: the words of `--metrics`, and the counts that
//! each stands for.

use serde::{Deserialize, Serialize};

/// What `--metrics` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    Cpu,
    Wall,
    Allocs,
    Bytes,
    Rss,
    Syscalls,
    Switches,
    Faults,
    Gc,
    Instructions,
    Retains,
    Callgrind,
}

/// A metric in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    pub metric: Metric,
    /// As `--metrics` takes it.
    pub word: &'static str,
    /// Above its table.
    pub title: &'static str,
    pub unit: &'static str,
    /// When two runs of the same code give the same figure.
    pub exact: &'static str,
    /// What taking it costs the process, which is one of its own for all but the first two.
    pub cost: &'static str,
    /// What counts it, and where it is missing.
    pub by: &'static str,
    counts: &'static [Count],
}

/// All metrics, in the order in which they are listed.
pub const ALL: [About; 12] = [
    About {
        metric: Metric::Cpu,
        word: "cpu",
        title: "CPU time",
        unit: "ns per task",
        exact: "no: median with a 95 % interval",
        cost: "two readings of a clock per sample",
        by: "the process's CPU clock; always taken",
        counts: &[],
    },
    About {
        metric: Metric::Wall,
        word: "wall",
        title: "Wall time",
        unit: "ns per task",
        exact: "no: median with a 95 % interval",
        cost: "two readings of a clock per sample",
        by: "the monotonic clock; always taken",
        counts: &[],
    },
    About {
        metric: Metric::Allocs,
        word: "allocs",
        title: "Allocations",
        unit: "calls per task",
        exact: "where three processes agree within 0.1 %",
        cost: "below 1 ns a call",
        by: "a preloaded library around malloc; Go's own counter; the JVM, .NET and OCaml have none",
        counts: &[Count::Allocations],
    },
    About {
        metric: Metric::Bytes,
        word: "bytes",
        title: "Allocated bytes",
        unit: "bytes per task",
        exact: "where three processes agree within 0.1 %",
        cost: "below 1 ns a call",
        by: "as allocs; Go, JVM, .NET, OCaml and V8 by their own counters; V8's has no buffers of typed arrays, and a row that makes large ones says so",
        counts: &[Count::Bytes],
    },
    About {
        metric: Metric::Rss,
        word: "rss",
        title: "Peak memory",
        unit: "bytes per process",
        exact: "seldom: least, median and most of three processes",
        cost: "none while it runs",
        by: "the kernel's high-water mark, set back before; less that of one task; Linux",
        counts: &[Count::PeakResident],
    },
    About {
        metric: Metric::Syscalls,
        word: "syscalls",
        title: "System calls",
        unit: "calls per task",
        exact: "where all nine differences agree; with one thread",
        cost: "107 ns a call",
        by: "the kernel's tracepoint (root or CAP_PERFMON), else a tracer, which also names them; Linux",
        counts: &[Count::Syscalls],
    },
    About {
        metric: Metric::Switches,
        word: "switches",
        title: "Context switches",
        unit: "switches per task",
        exact: "no: the scheduler's doing",
        cost: "none while it runs",
        by: "the kernel's account of the process, its ended threads included; Linux",
        counts: &[Count::VoluntarySwitches, Count::InvoluntarySwitches],
    },
    About {
        metric: Metric::Faults,
        word: "faults",
        title: "Page faults",
        unit: "faults per task",
        exact: "seldom: allocators keep pages",
        cost: "none while it runs",
        by: "the kernel's account of the process; Linux",
        counts: &[Count::MinorFaults, Count::MajorFaults],
    },
    About {
        metric: Metric::Gc,
        word: "gc",
        title: "Garbage collection",
        unit: "collections in a million tasks, and ns of pause (wall time) per task",
        exact: "no: a collector has its own rhythm",
        cost: "two readings of the runtime's counters",
        by: "the counters of Go, JVM, V8, CPython, .NET and OCaml",
        counts: &[Count::Collections, Count::PauseNs],
    },
    About {
        metric: Metric::Instructions,
        word: "instructions",
        title: "Instructions",
        unit: "instructions per task",
        exact: "where three processes agree within 0.1 %",
        cost: "none while it runs",
        by: "the CPU's counters, which virtual machines seldom have: callgrind counts there",
        counts: &[Count::Instructions],
    },
    About {
        metric: Metric::Retains,
        word: "retains",
        title: "Retains and releases",
        unit: "calls per task",
        exact: "where three processes agree within 0.1 %",
        cost: "a few ns a call",
        by: "a library preloaded into Swift's runtime",
        counts: &[Count::Retains, Count::Releases],
    },
    About {
        metric: Metric::Callgrind,
        word: "callgrind",
        title: "Instructions by valgrind",
        unit: "instructions per task",
        exact: "where two processes agree within 0.1 %; threads run one at a time",
        cost: "30 to 60 times the CPU time",
        by: "valgrind, where it is installed; Linux; not of the JVM and .NET, which compile on threads beside the program",
        counts: &[Count::Simulated],
    },
];

impl Metric {
    /// Its words.
    pub fn about(self) -> &'static About {
        ALL.iter().find(|about| about.metric == self).unwrap_or(&ALL[0])
    }

    /// The counts that it stands for; none for a time.
    pub fn counts(self) -> &'static [Count] {
        self.about().counts
    }
}

impl std::str::FromStr for Metric {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = || ALL.map(|about| about.word).join(", ");
        let found = ALL.iter().find(|about| about.word == word);
        found.map(|about| about.metric).ok_or_else(|| format!("no metric {word:?}; there are: {}", known()))
    }
}

/// One count of what a process did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Calls that ask for memory, or objects that the runtime counts itself.
    Allocations,
    /// Bytes that these ask for.
    Bytes,
    Syscalls,
    /// A garbage collector's runs, of any generation.
    Collections,
    /// How long a garbage collector stopped the program.
    PauseNs,
    /// Threads that gave up their CPU: they waited.
    VoluntarySwitches,
    /// Threads whose CPU was taken from them.
    InvoluntarySwitches,
    /// Pages that were mapped without reading from a disk.
    MinorFaults,
    /// Pages that were read from a disk.
    MajorFaults,
    Instructions,
    /// Swift's `swift_retain`.
    Retains,
    /// Swift's `swift_release`.
    Releases,
    /// Instructions in user space, counted by valgrind.
    Simulated,
    /// The most resident memory, in bytes, beyond that of one task. It is the only count of a
    /// process, and not per task.
    PeakResident,
}

impl Count {
    /// All counts, in the order in which they are shown.
    pub const ALL: [Count; 14] = [
        Count::Allocations,
        Count::Bytes,
        Count::Syscalls,
        Count::Collections,
        Count::PauseNs,
        Count::VoluntarySwitches,
        Count::InvoluntarySwitches,
        Count::MinorFaults,
        Count::MajorFaults,
        Count::Instructions,
        Count::Retains,
        Count::Releases,
        Count::Simulated,
        Count::PeakResident,
    ];

    /// The name of its column.
    pub fn title(self) -> &'static str {
        match self {
            Count::Allocations => "allocations",
            Count::Bytes => "bytes",
            Count::Syscalls => "system calls",
            Count::Collections => "collections/M",
            Count::PauseNs => "GC pause ns",
            Count::VoluntarySwitches => "waits",
            Count::InvoluntarySwitches => "preemptions",
            Count::MinorFaults => "page faults",
            Count::MajorFaults => "disk faults",
            Count::Instructions => "instructions",
            Count::Retains => "retains",
            Count::Releases => "releases",
            Count::Simulated => "by valgrind",
            Count::PeakResident => "peak memory",
        }
    }

    /// The name of its metric in a summary, and the unit.
    pub fn in_summary(self) -> (&'static str, &'static str) {
        match self {
            Count::Allocations => ("allocations_per_task", "calls"),
            Count::Bytes => ("allocated_bytes_per_task", "bytes"),
            Count::Syscalls => ("syscalls_per_task", "calls"),
            Count::Collections => ("collections_per_task", "collections"),
            Count::PauseNs => ("collector_pause_per_task", "ns"),
            Count::VoluntarySwitches => ("voluntary_switches_per_task", "switches"),
            Count::InvoluntarySwitches => ("involuntary_switches_per_task", "switches"),
            Count::MinorFaults => ("minor_faults_per_task", "faults"),
            Count::MajorFaults => ("major_faults_per_task", "faults"),
            Count::Instructions => ("instructions_per_task", "instructions"),
            Count::Retains => ("retains_per_task", "calls"),
            Count::Releases => ("releases_per_task", "calls"),
            Count::Simulated => ("simulated_instructions_per_task", "instructions"),
            Count::PeakResident => ("peak_resident", "bytes"),
        }
    }

    /// Whether one process has one value, whatever its number of tasks.
    pub fn is_of_process(self) -> bool {
        self == Count::PeakResident
    }

    /// Whether the middle one of several requests tells it, although a collector's rhythm moves the
    /// others. What workers that park and wake do, three processes can agree on by chance.
    pub fn is_steady(self) -> bool {
        self.decides() && self != Count::Syscalls
    }

    /// Whether more of it in one version than in another is the code's doing, so that it may decide
    /// a comparison where it is exact. What a scheduler, a collector or the kernel does on its own
    /// account is not.
    pub fn decides(self) -> bool {
        use Count::*;
        matches!(self, Allocations | Bytes | Syscalls | Instructions | Retains | Releases | Simulated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_and_others_are_told_what_there_is() {
        for about in ALL {
            assert_eq!(about.word.parse(), Ok(about.metric));
            assert_eq!(about.metric.about(), &about);
        }
        let said = "memory".parse::<Metric>().unwrap_err();
        assert!(said.contains("\"memory\"") && said.contains("rss"), "{said}");
    }

    #[test]
    fn every_count_belongs_to_one_metric() {
        let of_metrics: Vec<Count> = ALL.iter().flat_map(|about| about.counts).copied().collect();
        assert_eq!(of_metrics.len(), Count::ALL.len());
        assert!(Count::ALL.iter().all(|count| of_metrics.contains(count)));
    }
}
