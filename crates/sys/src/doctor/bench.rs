//! The clocks and the fixed piece of work that a machine is measured with.

use std::hint::black_box;

use taskscale_model::doctor::facts::Clock;

use super::raw;
use crate::{clock, delay};

/// The clocks and the work of a measurement. Tests use a made-up one, so that no test depends on a
/// machine.
pub trait Bench {
    /// Reads a clock in nanoseconds. Only differences mean something.
    fn clock_ns(&mut self, clock: Clock) -> u64;

    /// Returns how long this thread has waited for a CPU; `None` where the kernel does not say.
    fn run_delay_ns(&mut self) -> Option<u64>;

    /// Does a fixed piece of work `steps` times, without sleeping, allocating or a system call.
    fn work(&mut self, steps: u64);

    /// Makes the cheapest system call.
    fn system_call(&mut self);
}

/// Measures with the calling thread of this process.
#[derive(Debug)]
pub struct ThisThread(());

impl ThisThread {
    /// Takes the clocks of the calling thread. The value must not be moved to another thread, whose
    /// clocks it would read.
    #[allow(clippy::new_without_default, reason = "as with a meter, nothing is a default about it")]
    pub fn new() -> Self {
        ThisThread(())
    }
}

impl Bench for ThisThread {
    fn clock_ns(&mut self, which: Clock) -> u64 {
        match which {
            Clock::Wall => clock::monotonic_ns(),
            Clock::ThreadCpu => raw::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID),
            Clock::ProcessCpu => raw::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID),
        }
    }

    fn run_delay_ns(&mut self) -> Option<u64> {
        delay::run_delay_ns()
    }

    fn work(&mut self, steps: u64) {
        spin(steps);
    }

    fn system_call(&mut self) {
        raw::cheapest_system_call();
    }
}

/// Runs eight linear congruential generators side by side (multiplier and increment of Knuth's
/// MMIX), so that the multiplier of the core never waits for a result. A busy hardware thread of
/// the same core slows this work down. One chain of dependent steps would leave room for it.
pub(super) fn spin(steps: u64) {
    let mut lanes: [u64; 8] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    for _ in 0..steps {
        for lane in &mut lanes {
            *lane = lane.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
    }
    black_box(lanes);
}
