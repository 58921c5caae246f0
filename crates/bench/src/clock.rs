//! The real [`crate::link::Clock`] of this machine.

use taskscale_model::machine::Disturbance;
use taskscale_sys::{clock, disturbance::Meter, machine};

use crate::link::Clock;

/// Monotonic time and the machine's disturbance.
#[derive(Debug)]
pub struct RealClock(Meter);

impl RealClock {
    /// Starts to watch the machine.
    pub fn start() -> Self {
        RealClock(Meter::new())
    }
}

impl Clock for RealClock {
    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn disturbance(&mut self) -> Disturbance {
        self.0.read()
    }

    fn memory_free(&self) -> Option<u64> {
        machine::memory_free()
    }
}
