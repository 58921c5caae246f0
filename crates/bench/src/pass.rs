//! What is counted in the same processes. Counting alters a process: CPython is told to take each
//! object from malloc, V8 is told to sample its heap, a stop ends some calls that wait, valgrind
//! runs threads one at a time. What would be altered is counted in other processes.

use taskscale_model::metric::Metric;

/// A kind of processes that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// What the program, or its runtime, allocates.
    Memory,
    /// What is counted without altering anything.
    Calls,
    /// System calls by name.
    Traced,
    /// What the kernel tells of a process that it stops.
    Usage,
    /// The most resident memory.
    Peak,
    /// Instructions, by valgrind.
    Simulated,
}

/// All passes, in the order in which they are made.
const ALL: [Pass; 6] = [Pass::Memory, Pass::Calls, Pass::Traced, Pass::Usage, Pass::Peak, Pass::Simulated];

impl Pass {
    /// The passes that tell `asked`.
    pub fn for_metrics(asked: &[Metric]) -> Vec<Pass> {
        ALL.into_iter().filter(|pass| !pass.of(asked).is_empty()).collect()
    }

    /// Which of `asked` it tells.
    pub fn of(self, asked: &[Metric]) -> Vec<Metric> {
        use Metric::*;
        let all: &[Metric] = match self {
            Pass::Memory => &[Allocs, Bytes, Retains],
            Pass::Calls => &[Syscalls, Gc, Instructions],
            Pass::Traced => &[Syscalls],
            Pass::Usage => &[Switches, Faults],
            Pass::Peak => &[Rss],
            Pass::Simulated => &[Callgrind],
        };
        asked.iter().copied().filter(|metric| all.contains(metric)).collect()
    }
}
