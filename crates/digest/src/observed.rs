//! What an observer says of itself and of the program, beside the spans.

/// What one observer says. An accumulator of which nobody said anything has none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Observed {
    /// The nanoseconds of each gap before a timed task that observing takes.
    pub of_gap_ns: u64,
    /// The tasks that were not timed.
    pub untimed: u64,
    /// What questions to the kernel took of all gaps.
    pub asked_ns: u64,
    /// Whether some tasks lay too deep in others to be counted.
    pub too_deep: bool,
    /// The share of the CPUs' time that the program uses and how many these are, if that is known.
    pub cpus_used: Option<(f64, u64)>,
}

impl Observed {
    /// Adds what another one says.
    pub fn merge(&mut self, other: &Self) {
        self.of_gap_ns = self.of_gap_ns.max(other.of_gap_ns);
        self.untimed = self.untimed.saturating_add(other.untimed);
        self.asked_ns = self.asked_ns.saturating_add(other.asked_ns);
        self.too_deep |= other.too_deep;
        self.cpus_used = self.cpus_used.or(other.cpus_used);
    }
}
