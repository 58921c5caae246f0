//! Time inside spans in which their thread did not run.

/// Time of spans of which the CPU time is known, without their children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OffCpu {
    /// All of it, in nanoseconds.
    pub told: u64,
    /// The part in which the thread did not run.
    pub off: u64,
}

impl OffCpu {
    /// Adds the time of one span and returns how much of it was off the CPU.
    pub(crate) fn add(&mut self, own: u64, cpu: u64) -> u64 {
        let off = own.saturating_sub(cpu);
        self.told = self.told.saturating_add(own);
        self.off = self.off.saturating_add(off);
        off
    }

    pub(super) fn merge(&mut self, other: OffCpu) {
        self.told = self.told.saturating_add(other.told);
        self.off = self.off.saturating_add(other.off);
    }
}
