//! Simulates a machine that runs something else at random moments.

use fastrand::Rng;

/// How the machine takes the CPU away: at random moments (Poisson in running time), for random
/// slices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preemption {
    /// Mean running time of a worker between two losses, in ns.
    pub every: f64,
    /// Shortest and longest slice in ns. Slices are log-uniform between them.
    pub slice: (f64, f64),
    /// Whether the source of spans knows run delay. A live observer on Linux does, and a trace does
    /// not.
    pub known: bool,
}

impl Preemption {
    /// Draws a loss of 3 to 60 % of the time, in slices of a scheduler's size: 200 us to 30 ms.
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let shortest = log_uniform(rng, 200_000.0, 5e6);
        let slice = (shortest, shortest * log_uniform(rng, 1.0, 6.0));
        let mean = if slice.1 > slice.0 { (slice.1 - slice.0) / (slice.1 / slice.0).ln() } else { slice.0 };
        let share = log_uniform(rng, 0.03, 0.6);
        Preemption { every: mean * (1.0 - share) / share, slice, known: rng.bool() }
    }

    /// Returns the time lost while running for `time`.
    pub(crate) fn lost(&self, time: f64, rng: &mut Rng) -> f64 {
        let (mut ran, mut lost) = (0.0, 0.0);
        loop {
            ran -= self.every * (1.0 - rng.f64()).ln();
            if ran >= time {
                return lost;
            }
            lost += log_uniform(rng, self.slice.0, self.slice.1);
        }
    }
}

pub(crate) fn log_uniform(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.f64() * (high / low).ln()).exp()
}
