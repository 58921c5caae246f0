//! What was read of a machine and measured on it, before any conclusion.

use crate::{machine::Machine, missing::Reading};

/// Everything that a checkup rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub machine: Machine,
    pub processors: Processors,
    pub group: Group,
    pub memory: Memory,
    pub kernel: Kernel,
    pub limits: ResourceLimits,
    pub load: Load,
    pub measured: Measured,
}

/// Processors, their kinds and their clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Processors {
    /// Numbers of the CPUs that this process may use, ascending.
    pub usable: Reading<Vec<u32>>,
    /// Every CPU that is switched on, ascending.
    pub cpus: Vec<Cpu>,
    /// The NUMA nodes that are switched on, each with its CPUs, ascending.
    pub nodes: Reading<Vec<Node>>,
    /// The largest distance between two NUMA nodes over that of a node to itself, as the firmware
    /// states it (SLIT).
    pub numa_distance: Reading<f64>,
    /// What sets the frequency: `intel_pstate`, `acpi-cpufreq`.
    pub driver: Reading<String>,
    /// Whether the clock may rise above its nominal frequency.
    pub boost: Reading<bool>,
    /// How often the processors were slowed down for their temperature since boot, in total.
    pub heat_events: Reading<u64>,
    /// Whether the machine runs on battery.
    pub on_battery: Reading<bool>,
    /// The machine or the virtual machine, where it names itself: `Amazon EC2 m7i.large`.
    pub product: Reading<String>,
}

/// A NUMA node with the CPUs that are next to its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub id: u32,
    pub cpus: Vec<u32>,
}

/// One CPU as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cpu {
    pub id: u32,
    /// Numbers of all hardware threads of its core, its own included; empty where the kernel does
    /// not tell.
    pub siblings: Vec<u32>,
    /// Its speed in proportion to the fastest CPU, which has 1,024 (`cpu_capacity`; Arm and RISC-V,
    /// newer x86).
    pub capacity: Option<u64>,
    pub min_khz: Option<u64>,
    /// Boost included.
    pub max_khz: Option<u64>,
    /// The nominal frequency.
    pub base_khz: Option<u64>,
}

/// What a control group may use and what it was denied. The groups above it count too.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// How often its CPU quota was used up since the group was made.
    pub throttling: Reading<Throttling>,
    /// Memory that it may use, in bytes: the lowest limit on the way up.
    pub memory_limit: Reading<u64>,
    /// Memory that the group with that limit uses, in bytes.
    pub memory_used: Reading<u64>,
    /// Threads that it may have: the lowest limit on the way up.
    pub threads_limit: Reading<u64>,
}

/// Counters of a CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttling {
    /// Periods in which something ran.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled: u64,
    /// Time in which threads were kept from running, in us.
    pub throttled_us: u64,
}

/// Memory of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// What programs can get without swapping, in bytes.
    pub available: Reading<u64>,
    /// Swap space in use, in bytes; 0 where there is none.
    pub swap_used: Reading<u64>,
    /// The nodes that this process may have memory of, ascending.
    pub nodes: Reading<Vec<u32>>,
    /// How the kernel chooses among them: `default` (the node of the CPU that touches a page
    /// first), `bind:0`, `prefer:0`, `interleave:0-1`.
    pub policy: Reading<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Reading<String>,
}

/// What the kernel does to every program, and what it lets this tool see.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Address space layout randomisation: 0 is none, 1 is all but the heap, 2 is all.
    pub randomised: Reading<u64>,
    /// Weaknesses of the processor that the kernel works around: `spectre_v2` and so on.
    pub mitigations: Reading<Vec<String>>,
    /// The value of `kernel.perf_event_paranoid`.
    pub perf_paranoid: Reading<i64>,
    /// Whether hardware counters (instructions) can be opened, by a trial.
    pub hardware_counters: Reading<()>,
    /// Niceness of this process, which its children inherit.
    pub nice: Reading<i64>,
}

/// Limits that cap a thread per task.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceLimits {
    /// The number of files that a process may have open.
    pub open_files: Reading<u64>,
    /// The number of processes and threads that this user may have.
    pub processes: Reading<u64>,
    /// The number of threads of the whole machine.
    pub threads_max: Reading<u64>,
    /// The number of process and thread ids of the whole machine.
    pub pid_max: Reading<u64>,
    /// Memory mappings of one process. A thread takes two: its stack and the guard below.
    pub max_map_count: Reading<u64>,
}

/// What else runs, by the kernel's averages.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The average number of threads that ran or wanted to, over 1, 5 and 15 minutes.
    pub averages: Reading<[f64; 3]>,
    /// Clocks that the kernel could use in place of the chosen one.
    pub other_clocks: Reading<Vec<String>>,
}

/// What was measured, all of it within a few seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// What reading each clock costs.
    pub clocks: Vec<ClockCost>,
    /// CPU time of the cheapest system call, in ns.
    pub system_call_ns: Option<f64>,
    /// Repetitions of a fixed piece of work.
    pub slices: Vec<Slice>,
    /// CPU time of each pass of a fixed walk through memory that fits a cache which cores share, in
    /// ns.
    pub walks: Vec<u64>,
    /// The same work with another CPU busy, and with it left alone.
    pub neighbours: Vec<Neighbour>,
    /// How far the kernel's counters moved during `slices`.
    pub moved: Moved,
}

/// What one clock costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockCost {
    pub clock: Clock,
    /// CPU time of one reading, in ns: the cheapest of several batches.
    pub cost_ns: f64,
    /// The smallest step between two readings, in ns. It is never below the time between them.
    pub step_ns: u64,
}

/// A clock that samples are timed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The monotonic clock.
    Wall,
    /// CPU time of the calling thread.
    ThreadCpu,
    /// CPU time of all threads of the process.
    ProcessCpu,
}

/// One pass of a fixed piece of work by a thread that never sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    pub wall_ns: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// Time in which the thread waited for a CPU; `None` where the kernel does not say.
    pub delay_ns: Option<u64>,
}

/// How the work of one CPU depends on another CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// The CPU that worked.
    pub cpu: u32,
    /// The CPU that was busy or left alone.
    pub other: u32,
    /// Whether the kernel says that both are one core.
    pub siblings: bool,
    /// CPU time of the same work in ns, pair by pair: with the other CPU left alone, and with it
    /// busy.
    pub pairs: Vec<(f64, f64)>,
}

/// How far counters moved; `None` where the kernel has none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moved {
    /// Wall time between the two readings, in ns.
    pub elapsed_ns: u64,
    /// CPU time of this process between the readings, in ns.
    pub own_cpu_ns: u64,
    /// CPU time of everything on the machine, this process included, in ns.
    pub all_cpu_ns: Option<u64>,
    /// Time that the hypervisor took, over all CPUs, in ns.
    pub steal_ns: Option<u64>,
    /// Time in which some thread waited for a CPU, in us (PSI).
    pub cpu_pressure_us: Option<u64>,
    /// Time in which some thread waited for memory, in us (PSI).
    pub memory_pressure_us: Option<u64>,
    /// Time in which the quota of this process's control group kept it from running, in us.
    pub throttled_us: Option<u64>,
    /// How often a processor was slowed down for its temperature.
    pub heat_events: Option<u64>,
    /// Pages written to or read from swap.
    pub swapped_pages: Option<u64>,
}
