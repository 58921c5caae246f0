//! The real clock behind [`taskscale_bench::link::Clock`].

use taskscale_bench::link::Clock;
use taskscale_model::machine::Disturbance;
use taskscale_sys::{clock, disturbance::Meter};

/// Monotonic time and the machine's disturbance.
#[derive(Debug)]
pub struct RealClock(Meter);

impl RealClock {
    /// Starts to watch the machine.
    pub fn new() -> Self {
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
}
