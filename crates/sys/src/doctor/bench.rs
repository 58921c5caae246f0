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

    /// Takes `steps` steps of a fixed walk through [`WALKED`] bytes, each to where the last one
    /// points.
    fn walk(&mut self, steps: u64);

    /// Makes the cheapest system call.
    fn system_call(&mut self);
}

/// The bytes that a walk touches. 2,048 tasks of half a kilobyte hold as many; they fill a core's
/// own cache (0.5 to 2 MiB) or exceed it, so that a step feels who else uses the caches.
pub const WALKED: usize = 1 << 20;

/// A cache line that names the next one of the walk.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line(u32);

/// Links lines to one cycle through all of them, in an order that no prefetcher foresees
/// (Sattolo's algorithm, drawn by the generator of [`spin`]).
fn cycle() -> Vec<Line> {
    let mut order: Vec<u32> = (0..(WALKED / size_of::<Line>()) as u32).collect();
    let mut state = 1_u64;
    for last in (1..order.len()).rev() {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        order.swap(last, (state >> 33) as usize % last);
    }
    order.into_iter().map(Line).collect()
}

/// Measures with the calling thread of this process.
#[derive(Debug)]
pub struct ThisThread {
    lines: Vec<Line>,
    at: u32,
}

impl ThisThread {
    /// Takes the clocks of the calling thread, and [`WALKED`] bytes. The value must not be moved to
    /// another thread, whose clocks it would read.
    #[allow(clippy::new_without_default, reason = "as with a meter, nothing is a default about it")]
    pub fn new() -> Self {
        ThisThread { lines: cycle(), at: 0 }
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

    fn walk(&mut self, steps: u64) {
        for _ in 0..steps {
            self.at = self.lines[self.at as usize].0;
        }
        black_box(self.at);
    }

    fn system_call(&mut self) {
        raw::cheapest_system_call();
    }
}

/// Multiplier and increment of Knuth's MMIX.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Runs eight linear congruential generators side by side, so that the multiplier of the core never
/// waits for a result. A busy hardware thread of the same core slows this work down. One chain of
/// dependent steps would leave room for it.
pub(super) fn spin(steps: u64) {
    let mut lanes: [u64; 8] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    for _ in 0..steps {
        for lane in &mut lanes {
            *lane = lane.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        }
    }
    black_box(lanes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_comes_back_once_it_has_touched_every_line() {
        let mut bench = ThisThread::new();
        let lines = bench.lines.len();
        assert_eq!(lines * 64, WALKED);
        for step in 1..=lines {
            bench.walk(1);
            assert_eq!(bench.at == 0, step == lines, "step {step}");
        }
    }
}
